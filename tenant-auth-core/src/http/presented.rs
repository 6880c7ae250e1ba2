//! Credentials and other headers of a request that must occur once and be text, or be absent.

use ::http::{HeaderMap, HeaderValue};

use super::refusal::Refusal;

/// The error of a header that is sent twice or is no text.
#[derive(Debug)]
pub(crate) struct AmbiguousHeader;

/// The only value of a header; `None` when it is absent, an error when it is sent twice or is no text.
pub(crate) fn single<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, AmbiguousHeader> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_| AmbiguousHeader),
        (Some(_), Some(_)) => Err(AmbiguousHeader),
    }
}

/// Refuses two `Authorization` headers: servers and proxies differ in which of the two they believe.
pub(crate) fn single_authorization(headers: &HeaderMap) -> Result<(), Refusal> {
    match headers.get_all("authorization").iter().count() {
        0 | 1 => Ok(()),
        _ => Err(Refusal::invalid("Authorization", "must be sent once")),
    }
}

/// The token of a Bearer (RFC 6750), if there is one. A header that is no text counts as a Bearer with an empty token, so that the
/// cookies are not tried in its place.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get("authorization")?.to_str().unwrap_or("Bearer ");
    let (scheme, token) = value.split_once(' ').unwrap_or((value, ""));
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Whether a browser says by `Sec-Fetch-Site` that the request comes from another site. Needed where a browser sends no `Origin`.
pub(crate) fn is_cross_site(headers: &HeaderMap) -> bool {
    let said = |value: &HeaderValue| value.as_bytes() != b"same-origin" && value.as_bytes() != b"none";
    headers.get_all("sec-fetch-site").iter().any(said)
}
