//! What is kept of a request, to tell later why it was refused. Whatever may be a credential is described or masked, and never kept.

use axum::{
    extract::Request,
    http::{HeaderMap, header},
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::Value;

/// Longer ones are no slugs.
const LONGEST_SLUG: usize = 63;
/// As long as the longest id.
const LONGEST_PLAIN: usize = 32;

/// What is kept of a request. Credentials are described, not kept.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) method: String,
    /// Without the token that a path may hold, and without the query's values.
    pub(super) path: String,
    pub(super) organization: Option<String>,
    pub(super) origin: Option<String>,
    pub(super) fetch_site: Option<String>,
    pub(super) states_client: bool,
    pub(super) content_type: Option<String>,
    pub(super) api_key: String,
    pub(super) shows_deployment_key: bool,
    pub(super) bearer: Option<Claims>,
    pub(super) access: Option<Claims>,
    pub(super) refresh: Option<Claims>,
    pub(super) partial: Option<Claims>,
}

/// What of a token helps to tell why it was refused; its signature is not looked at.
#[derive(Debug)]
pub(super) struct Claims {
    pub(super) kind: Option<String>,
    pub(super) expires_at: Option<i64>,
}

impl Seen {
    pub(super) fn of(request: &Request) -> Self {
        let headers = request.headers();
        let (api_key, cookie) = (text(headers, "x-api-key"), |name| cookie(headers, name).map(|token| claims(&token)));
        Self {
            method: request.method().to_string(),
            path: masked_path(request),
            organization: text(headers, "x-org-slug").map(|slug| slug_or_masked(&slug).to_owned()),
            origin: text(headers, "origin"),
            fetch_site: text(headers, "sec-fetch-site"),
            states_client: headers.contains_key("x-client-ip"),
            content_type: text(headers, "content-type"),
            api_key: described_key(api_key.as_deref()),
            shows_deployment_key: api_key.is_some_and(|key| key.starts_with("dk_live_")),
            bearer: bearer(headers).map(claims),
            access: cookie("access_token"),
            refresh: cookie("refresh_token"),
            partial: cookie("partial_token"),
        }
    }

    /// The path below the API's base, without the query.
    pub(super) fn operation(&self) -> &str {
        let below = self.path.split_once("/api/v1").map_or("", |(_, below)| below);
        below.split('?').next().unwrap_or_default()
    }

    /// What the caller shows, and the token of it that is looked at.
    pub(super) fn caller(&self) -> (&'static str, Option<&Claims>) {
        match (&self.bearer, &self.access) {
            (Some(claims), _) => ("a Bearer token", Some(claims)),
            (None, Some(claims)) => ("an access_token cookie", Some(claims)),
            (None, None) if self.refresh.is_some() => ("a refresh_token cookie alone", None),
            (None, None) => ("no session: neither a Bearer token nor an access_token cookie", None),
        }
    }
}

/// What kind of key it seems to be; never the key.
fn described_key(key: Option<&str>) -> String {
    match key {
        None => "no X-API-Key".to_owned(),
        Some(key) if key.starts_with("pk_live_") => format!("an API key of {} characters", key.len()),
        Some(key) if key.starts_with("dk_live_") => format!("a deployment key of {} characters", key.len()),
        Some(_) => "a text in X-API-Key that begins neither with pk_live_ nor with dk_live_".to_owned(),
    }
}

/// The path and the names in its query, each part masked that is no plain word or id: it may be a token.
fn masked_path(request: &Request) -> String {
    let path = request.uri().path().split('/').map(plain_or_masked).collect::<Vec<_>>().join("/");
    let names = request.uri().query().into_iter().flat_map(|query| query.split('&')).map(|parameter| {
        parameter
            .split_once('=')
            .map_or_else(|| plain_or_masked(parameter).to_owned(), |(name, _)| format!("{}=***", plain_or_masked(name)))
    });
    let query = names.collect::<Vec<_>>().join("&");
    if query.is_empty() { path } else { format!("{path}?{query}") }
}

/// Words of paths and ids are lower case and short; tokens and keys are neither.
fn plain_or_masked(part: &str) -> &str {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-' | b'.');
    if part.len() <= LONGEST_PLAIN && part.bytes().all(is_plain) { part } else { "***" }
}

/// What is too long for a mistyped word must look like a slug: it may be a token that stands in the wrong header.
fn slug_or_masked(slug: &str) -> &str {
    let is_slug = slug.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if slug.len() <= LONGEST_PLAIN || (is_slug && slug.len() <= LONGEST_SLUG) { slug } else { "***" }
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

/// As the service reads it: a header that is no text is an empty token.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().unwrap_or("Bearer ");
    let (scheme, token) = value.split_once(' ').unwrap_or((value, ""));
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(present, _)| *present == name).map(|(_, value)| value.to_owned())
}

fn claims(token: &str) -> Claims {
    let part = |place: usize, name: &str| {
        let part = URL_SAFE_NO_PAD.decode(token.split('.').nth(place)?).ok()?;
        serde_json::from_slice::<Value>(&part).ok()?.get(name).cloned()
    };
    let kind = part(0, "typ").and_then(|kind| kind.as_str().map(str::to_owned));
    Claims { kind, expires_at: part(1, "exp").and_then(|end| end.as_i64()) }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn seen(request: axum::http::request::Builder) -> Seen {
        Seen::of(&request.body(Body::empty()).expect("a request"))
    }

    #[test]
    fn nothing_that_may_be_a_credential_is_kept() {
        const SECRETS: [&str; 6] = ["t0ken", "T0ken", "pk_live_x", "c00kie", "curs0r", "rand0m"];
        let request =
            Request::get("/api/v1/org/invites/T0ken/accept?cursor=curs0r&search=rand0m&T0ken").header("x-api-key", "pk_live_x");
        let seen = seen(request.header("cookie", "a=b; access_token=c00kie").header("authorization", "Bearer t0ken"));
        assert_eq!(seen.path, "/api/v1/org/invites/***/accept?cursor=***&search=***&***");
        let kept = format!("{seen:?}");
        assert!(SECRETS.iter().all(|secret| !kept.contains(secret)), "{kept}");
        let id = Request::delete("/api/v1/org/invites/inv_1");
        assert_eq!(super::tests::seen(id).path, "/api/v1/org/invites/inv_1", "an id is no secret");
    }

    #[test]
    fn a_slug_is_shown_and_what_may_be_a_token_is_not() {
        let (slug, token) = ("a".repeat(LONGEST_SLUG), "q3Zl0cW9yZ2FuaXphdGlvbnMgYXJlIG5vdCBzZWNyZXQ");
        for (sent, kept) in [("acme", "acme"), ("Acme!", "Acme!"), (&slug, &slug), (token, "***"), (&format!("{slug}a"), "***")] {
            let seen = seen(Request::get("/api/v1/org").header("x-org-slug", sent));
            assert_eq!(seen.organization.as_deref(), Some(kept));
        }
    }
}
