//! Decoding of the remote server's answers. The server has checked its values, so a newer server's rules are not second-guessed
//! here; but a word this version does not know (a role, a status) gives no access, and a clear refusal is distinguished from a
//! fault.

use std::time::Duration;

use reqwest::header;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::exchange::{Answer, unavailable};
use crate::{
    error::Error,
    http::{Renewed, codes, cookies},
    id::{Id, Kind},
    model::{AccountRole, AuthMethod, Profile, Role, Status, User},
    principal::{Principal, PrincipalMembership, PrincipalOrg, PrincipalSession},
    secret::SignedToken,
    time::Timestamp,
    value::{DisplayName, Email, Metadata, Plan, Slug},
};

#[derive(Deserialize)]
struct Success<T> {
    data: T,
}

#[derive(Deserialize)]
struct Refusal {
    #[serde(default)]
    code: String,
}

#[derive(Deserialize)]
struct Verification<'a> {
    valid: bool,
    user: Option<UserWords>,
    #[serde(borrow)]
    membership: Option<MembershipWords<'a>>,
    org: Option<OrgWords>,
    session: Option<SessionWords>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UserWords {
    id: String,
    name: String,
    email: String,
    role: AccountRole,
    is_email_verified: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MembershipWords<'a> {
    role: Role,
    status: Status,
    joined_at: Timestamp,
    #[serde(borrow)]
    metadata: &'a RawValue,
}

#[derive(Deserialize)]
struct OrgWords {
    id: String,
    name: String,
    slug: String,
    plan: String,
    status: Status,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionWords {
    id: String,
    amr: Vec<AuthMethod>,
    auth_time: Timestamp,
    expires_at: Timestamp,
}

/// What `POST /public/verify` said of a token.
pub(super) fn verification(org: &Slug, answer: &Answer) -> Result<Option<Principal>, Error> {
    if answer.status != 200 {
        return Err(refusal(answer));
    }
    let Success { data } = serde_json::from_slice::<Success<Verification<'_>>>(&answer.body)
        .map_err(|error| unavailable(&format!("a verification that cannot be read: {error}")))?;
    if !data.valid {
        return Ok(None);
    }
    match principal(data) {
        Some(principal) if principal.org.slug == *org => Ok(Some(principal)),
        _ => Err(unavailable("a verification that is not about this organization, or not whole")),
    }
}

fn principal(data: Verification<'_>) -> Option<Principal> {
    let (user, membership, org, session) = (data.user?, data.membership?, data.org?, data.session?);
    Some(Principal {
        user: User {
            id: id(&user.id)?,
            name: DisplayName::from_stored(user.name),
            email: Email::from_stored(user.email),
            role: user.role,
            is_email_verified: user.is_email_verified,
            profile: Profile::default(),
        },
        membership: PrincipalMembership {
            role: membership.role,
            status: membership.status,
            joined_at: membership.joined_at,
            metadata: Metadata::from_stored(membership.metadata.get().to_owned()).ok()?,
        },
        org: PrincipalOrg {
            id: id(&org.id)?,
            name: DisplayName::from_stored(org.name),
            slug: Slug::from_stored(org.slug),
            plan: Plan::from_stored(org.plan),
            status: org.status,
        },
        session: PrincipalSession {
            id: id(&session.id)?,
            amr: session.amr,
            auth_time: session.auth_time,
            expires_at: session.expires_at,
        },
    })
}

fn id<K: Kind>(text: &str) -> Option<Id<K>> {
    text.parse().ok()
}

/// The next tokens, as `POST /auth/refresh` sets them.
pub(super) fn renewal(answer: &Answer) -> Result<Renewed, Error> {
    if answer.status != 200 {
        return Err(refusal(answer));
    }
    match cookies::of_session(answer.headers.get_all(header::SET_COOKIE).iter()) {
        (Some(access), cookies) => Ok(Renewed::new(SignedToken::new(access), cookies)),
        (None, _) => Err(unavailable("a refresh without cookies")),
    }
}

/// A refusal that is clear by its code. A key that is refused is this backend's set-up, and not the person's session.
fn refusal(answer: &Answer) -> Error {
    let code = serde_json::from_slice::<Refusal>(&answer.body).map(|refusal| refusal.code).unwrap_or_default();
    let is = |known: codes::Code| answer.status == known.status && code == known.code;
    match () {
        () if is(codes::SESSION_REQUIRED) => Error::SessionRequired,
        () if is(codes::WRONG_ORGANIZATION) => Error::WrongOrganization,
        () if is(codes::UNKNOWN_ORGANIZATION) => Error::UnknownOrganization,
        () if is(codes::INVALID_API_KEY) => Error::internal("the server refuses the API key: give RemoteVerifier::key a live one"),
        () if is(codes::MISSING_SCOPE) => Error::internal("the API key lacks the scope `verify`: create one that has it"),
        () if answer.status == codes::RATE_LIMITED.status => Error::RateLimited { retry_after: retry_after(answer) },
        () => unavailable(&format!("status {} {code:?}", answer.status)),
    }
}

/// As long as the server says, within reason.
fn retry_after(answer: &Answer) -> Duration {
    let stated = answer.headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    Duration::from_secs(stated.unwrap_or(1).clamp(1, 3_600))
}
