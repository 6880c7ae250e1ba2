//! Decoding of the remote server's answers. The server has checked its values, so a newer server's rules are not second-guessed
//! here; but a word this version does not know (a role, a status) gives no access, and a clear refusal is distinguished from a
//! fault.

use std::time::{Duration, UNIX_EPOCH};

use reqwest::header::{self, HeaderMap};
use serde::{Deserialize, de::DeserializeOwned};

use super::{
    exchange::{Answer, unavailable},
    remembered::Told,
};
use crate::{
    error::Error,
    http::{ErrorCode, Renewed, cookies},
    ports::{Clock, SystemClock},
    principal::Principal,
    secret::SignedToken,
    time::Timestamp,
    value::Slug,
};

#[derive(Deserialize)]
struct Success<T> {
    data: T,
}

#[derive(Deserialize)]
struct ErrorBody {
    #[serde(default)]
    code: String,
}

#[derive(Deserialize)]
struct Verdict {
    valid: bool,
}

/// What `POST /public/verify` said of a token.
pub(super) fn verification(org: &Slug, answer: &Answer) -> Result<Option<Principal>, Error> {
    if answer.status != 200 {
        return Err(refusal(answer));
    }
    if !data::<Verdict>(answer)?.valid {
        return Ok(None);
    }
    let principal = data::<Principal>(answer)?;
    if principal.org.slug != *org {
        return Err(unavailable("a verification that is not about this organization"));
    }
    Ok(Some(principal))
}

fn data<T: DeserializeOwned>(answer: &Answer) -> Result<T, Error> {
    serde_json::from_slice::<Success<T>>(&answer.body)
        .map(|success| success.data)
        .map_err(|error| unavailable(&format!("a verification that cannot be read: {error}")))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Changes {
    cursor: String,
    everything: bool,
    #[serde(flatten)]
    named: Named,
    key_expires_at: Option<Timestamp>,
}

/// What is named of one organization, or of all.
#[derive(Deserialize)]
#[serde(untagged)]
enum Named {
    OfAll { orgs: Vec<ChangedOrganization> },
    OfOne { sessions: Vec<String>, users: Vec<String> },
}

#[derive(Deserialize)]
struct ChangedOrganization {
    id: String,
    everything: bool,
    sessions: Vec<String>,
    users: Vec<String>,
}

impl Named {
    /// The ids of all that answers may rest on.
    fn ids(self) -> Vec<String> {
        let of_one = |sessions: Vec<String>, users| sessions.into_iter().chain(users);
        let of_org = |org: ChangedOrganization| of_one(org.sessions, org.users).chain(org.everything.then_some(org.id));
        match self {
            Self::OfAll { orgs } => orgs.into_iter().flat_map(of_org).collect(),
            Self::OfOne { sessions, users } => of_one(sessions, users).collect(),
        }
    }
}

/// What `GET /public/changes` said; `None` when that is not clear.
pub(super) fn told(answer: &Answer) -> Option<Told> {
    let Changes { cursor, everything, named, key_expires_at } = data(answer).ok()?;
    let named = (!everything).then(|| named.ids());
    Some(Told { cursor, named, key_expires_at, ahead: ahead(&answer.headers, SystemClock.now()) })
}

/// How far the server's clock is ahead of this machine's, as far as the `Date` of an answer that came now shows it.
fn ahead(headers: &HeaderMap, now: Timestamp) -> Duration {
    let date =
        headers.get(header::DATE).and_then(|value| value.to_str().ok()).and_then(|text| httpdate::parse_http_date(text).ok());
    let seconds = date.and_then(|date| i64::try_from(date.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok());
    seconds.map_or(Duration::ZERO, |seconds| Timestamp::from_secs(seconds).since(now))
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
    let code = serde_json::from_slice::<ErrorBody>(&answer.body).map(|body| body.code).unwrap_or_default();
    match ErrorCode::parse(&code).filter(|code| code.status() == answer.status) {
        Some(ErrorCode::SessionRequired) => Error::SessionRequired,
        Some(ErrorCode::WrongOrganization) => Error::WrongOrganization,
        Some(ErrorCode::UnknownOrganization) => Error::UnknownOrganization,
        Some(ErrorCode::InvalidApiKey) => Error::internal(
            "the server refuses the key: give RemoteVerifier a live one, and show a deployment key from within its networks (--from)",
        ),
        Some(ErrorCode::MissingScope) => Error::internal("the API key lacks the scope `verify`: create one that has it"),
        _ if answer.status == ErrorCode::RateLimited.status() => Error::RateLimited { retry_after: retry_after(answer) },
        _ => unavailable(&format!("status {} {code:?}", answer.status)),
    }
}

/// As long as the server says, within reason.
fn retry_after(answer: &Answer) -> Duration {
    let stated = answer.headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    Duration::from_secs(stated.unwrap_or(1).clamp(1, 3_600))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_ahead_is_told_by_the_date() {
        let now = Timestamp::parse("2026-11-20T08:21:00Z").expect("a time");
        let of = |date: &'static str| {
            let headers = HeaderMap::from_iter([(header::DATE, header::HeaderValue::from_static(date))]);
            ahead(&headers, now)
        };
        assert_eq!(of("Fri, 20 Nov 2026 09:21:00 GMT"), Duration::from_secs(3_600));
        for date in ["Fri, 20 Nov 2026 08:20:00 GMT", "Thu, 01 Jan 1970 00:00:00 GMT", "tomorrow", ""] {
            assert_eq!(of(date), Duration::ZERO, "{date}");
        }
        assert_eq!(ahead(&HeaderMap::new(), now), Duration::ZERO);
    }
}
