//! Who may call, for each kind of caller: what a request must bring, whether the person's address counts, and what happens to
//! the session cookies.

use crate::{
    caller::{Member, OrgAdmin, Tenant},
    http::endpoints::{Anyone, Asked, BackendWith, Guest, Leaver, Needed, Refresher, Waiting},
    model::Scope,
    operator::DeploymentAdmin,
};

/// What tells who calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Credential {
    /// Nothing does, or what stands in the request itself, such as a link's token.
    None,
    /// The access token, as a cookie or a Bearer.
    Session,
    /// The refresh token's cookie.
    Refresh,
    /// The access token or the refresh token's cookie.
    SessionOrRefresh,
    /// The partial token's cookie.
    Partial,
    /// An API key with this scope.
    ApiKey(Scope),
}

/// What an answer does to the session cookies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cookies {
    /// Nothing.
    Kept,
    /// Success sets those of the session, or the one that leads to the second step.
    Set,
    /// Success sets those of the session and clears the partial token's.
    Completed,
    /// All three are cleared, by success and by 401 `session_required`.
    Cleared,
}

/// What is known of a kind of caller.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallerFacts {
    pub(crate) who: &'static str,
    pub(crate) credential: Credential,
    /// Whether `X-Org-Slug` is required (contract section 1).
    pub(crate) names_organization: bool,
    /// Whether it is counted where the request comes from, so that a backend may state it.
    pub(crate) seen_from: bool,
    pub(crate) cookies: Cookies,
}

/// A kind of caller that can be described.
pub(crate) trait DescribedCaller {
    /// What is known of it.
    const FACTS: CallerFacts;
}

const ANYBODY: CallerFacts = CallerFacts {
    who: "anybody",
    credential: Credential::None,
    names_organization: true,
    seen_from: false,
    cookies: Cookies::Kept,
};

const MEMBER: CallerFacts = CallerFacts { who: "any active member", credential: Credential::Session, seen_from: true, ..ANYBODY };

impl DescribedCaller for Anyone {
    const FACTS: CallerFacts = CallerFacts { names_organization: false, ..ANYBODY };
}

impl DescribedCaller for Tenant {
    const FACTS: CallerFacts = ANYBODY;
}

impl DescribedCaller for Guest {
    const FACTS: CallerFacts = CallerFacts { seen_from: true, cookies: Cookies::Set, ..ANYBODY };
}

impl DescribedCaller for Refresher {
    const FACTS: CallerFacts =
        CallerFacts { who: "whoever holds a refresh token", credential: Credential::Refresh, ..Guest::FACTS };
}

impl DescribedCaller for Waiting {
    const FACTS: CallerFacts = CallerFacts {
        who: "whoever has taken the first step of a login",
        credential: Credential::Partial,
        cookies: Cookies::Completed,
        ..Guest::FACTS
    };
}

impl DescribedCaller for Leaver {
    const FACTS: CallerFacts = CallerFacts {
        who: "whoever has a session",
        credential: Credential::SessionOrRefresh,
        cookies: Cookies::Cleared,
        ..ANYBODY
    };
}

impl DescribedCaller for Member {
    const FACTS: CallerFacts = MEMBER;
}

impl DescribedCaller for DeploymentAdmin {
    const FACTS: CallerFacts = CallerFacts { who: "an operator of the deployment", seen_from: false, ..MEMBER };
}

impl DescribedCaller for OrgAdmin {
    const FACTS: CallerFacts = CallerFacts { who: "an org_admin", ..MEMBER };
}

impl<S: Needed> DescribedCaller for BackendWith<S> {
    const FACTS: CallerFacts = CallerFacts { credential: Credential::ApiKey(S::SCOPE), ..Asked::FACTS };
}

impl DescribedCaller for Asked {
    const FACTS: CallerFacts =
        CallerFacts { who: "a backend with an API key", credential: Credential::ApiKey(Scope::Verify), ..ANYBODY };
}
