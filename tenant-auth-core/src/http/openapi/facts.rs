//! Facts for the OpenAPI document that an operation's types state: who may call, what comes in, what goes out. The traits of
//! callers, inputs and answers ask for these facts, so that no operation compiles without them.

use serde_json::Value;
use utoipa::openapi::{RefOr, Schema};

use crate::model::{DeploymentScope, Scope};

/// The credential that authenticates a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Credential {
    /// None, or a secret in the request itself, such as a link's token.
    None,
    /// The access token, as a cookie or a Bearer.
    Session,
    /// The refresh token's cookie or, without it, the refresh token in the body.
    RefreshOrBody,
    /// The access token or the refresh token's cookie.
    SessionOrRefresh,
    /// The partial token's cookie.
    Partial,
    /// An API key with this scope.
    ApiKey(Scope),
}

/// The effect of an operation on the session cookies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cookies {
    /// No effect.
    Kept,
    /// Success sets the session's cookies, or the partial token's cookie for the second step.
    Set,
    /// Success sets the session's cookies and clears the partial token's.
    Completed,
    /// Success and 401 `session_required` clear all three cookies.
    Cleared,
}

/// Whether a caller names an organization in `X-Org-Slug` (behaviour.md, B5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OrgSlug {
    Required,
    /// Beside a session, whose organization it is. A deployment key needs none.
    OfSession,
    /// With a key of an organization. Without it, a deployment key asks about all.
    OfOneOrganization,
    /// Not looked at.
    Ignored,
}

/// The facts of a kind of caller.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallerFacts {
    pub(crate) who: &'static str,
    pub(crate) credential: Credential,
    pub(crate) org_slug: OrgSlug,
    /// Whether the client's address is counted, so that a backend may state it in `X-Client-IP`.
    pub(crate) seen_from: bool,
    pub(crate) cookies: Cookies,
    /// The scope by which a deployment key may call in place of the credential.
    pub(crate) deployment_key: Option<DeploymentScope>,
}

impl CallerFacts {
    /// Whether a key with the scope `proxy` is looked at beside `X-Client-IP`, where this caller calls this path.
    pub(crate) fn takes_proxy_key(&self, path: &str) -> bool {
        self.seen_from && path.starts_with("/auth/")
    }
}

/// Anybody who names an organization; the facts of every other caller begin with these.
pub(crate) const ANYBODY: CallerFacts = CallerFacts {
    who: "anybody",
    credential: Credential::None,
    org_slug: OrgSlug::Required,
    seen_from: false,
    cookies: Cookies::Kept,
    deployment_key: None,
};

/// The facts of a handler's input.
#[derive(Default)]
pub(crate) struct InputFacts {
    /// The types of the path's parameters, in order.
    pub(crate) path: Vec<RefOr<Schema>>,
    /// The parameters of the query that are read, by their names in `document.rs`.
    pub(crate) query: Vec<&'static str>,
    pub(crate) body: Option<BodyFacts>,
}

/// The facts of a request body.
pub(crate) struct BodyFacts {
    pub(crate) schema: RefOr<Schema>,
    /// Whether an empty body is refused.
    pub(crate) required: bool,
}

/// The facts of a successful answer.
pub(crate) enum AnswerFacts {
    /// Data in the envelope.
    Enveloped(Value),
    /// A document without the envelope.
    Plain { content_type: &'static str, schema: Value },
}
