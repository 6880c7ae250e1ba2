//! Why a request was refused, in words for its developer: which check refused, what it saw, and what would have passed. It is said from
//! outside, by the request and the answer, so that nothing in the service itself knows of it.

use serde::{Deserialize, Serialize};
use tenant_auth_core::Timestamp;

use super::{
    local::Site,
    seen::{Claims, Seen},
};

/// A refusal's envelope.
#[derive(Debug, Deserialize)]
pub(super) struct Answered {
    code: String,
    message: String,
}

/// Why a request was refused.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Explanation {
    pub(super) code: String,
    pub(super) check: &'static str,
    pub(super) saw: String,
    pub(super) would_pass: String,
}

impl Explanation {
    /// Of this refusal of this request.
    pub(super) fn of(seen: &Seen, answered: &Answered, site: &Site, at: Timestamp) -> Self {
        let (check, saw, would_pass) = reasons(seen, answered, site, at);
        Self { code: answered.code.clone(), check, saw, would_pass }
    }
}

fn reasons(seen: &Seen, answered: &Answered, site: &Site, at: Timestamp) -> (&'static str, String, String) {
    let slug = seen.organization.as_deref().map_or_else(|| "no X-Org-Slug".to_owned(), |slug| format!("X-Org-Slug: {slug}"));
    let (said, operation) = (answered.message.clone(), format!("{} {}", seen.method, seen.path));
    match answered.code.as_str() {
        "invalid_slug" => ("the organization", slug, "X-Org-Slug once, lower case, such as acme".to_owned()),
        "unknown_organization" => ("the organization", slug, "the slug of an organization that exists".to_owned()),
        "wrong_organization" => (
            "the caller",
            format!("a session of another organization, and {slug}"),
            "the slug of the organization in which the person logged in".to_owned(),
        ),
        "forbidden_origin" if seen.shows_deployment_key => {
            ("the deployment key", of_a_browser(seen), "the same from a server, without any of them".to_owned())
        }
        "forbidden_origin" => (
            "the browser's origin",
            match (&seen.origin, &seen.fetch_site) {
                (Some(origin), _) => format!("Origin: {origin}"),
                (None, Some(site)) => format!("Sec-Fetch-Site: {site}"),
                (None, None) => "neither Origin nor Sec-Fetch-Site".to_owned(),
            },
            "an origin that the settings (allowed_origins) or the organization's allowedOrigins name; a backend sends no Origin"
                .to_owned(),
        ),
        "session_required" => session(seen, at),
        "second_factor_failed" => {
            let saw =
                token_or_none("a partial_token cookie", seen.partial.as_ref(), ("pt+jwt", "used, or beside a wrong code"), at);
            ("the login's second step", saw, "the partial_token cookie of a login that waits for it, and a right code".to_owned())
        }
        "invalid_api_key" => ("the caller", format!("{}, and {slug}", seen.api_key), live_key(seen)),
        "missing_scope" => ("the caller's scope", seen.api_key.clone(), said),
        "admin_required" | "operator_required" => ("the caller's role", seen.caller().0.to_owned(), said),
        "unsupported_media_type" => (
            "the body",
            seen.content_type.as_deref().map_or_else(|| "no Content-Type".to_owned(), |kind| format!("Content-Type: {kind}")),
            "Content-Type: application/json, UTF-8, without Content-Encoding".to_owned(),
        ),
        "not_found" => ("the route", operation, format!("a path of {}, with an id that is this organization's", site.docs())),
        "method_not_allowed" => ("the route", operation, "a method that the Allow header names".to_owned()),
        "invalid_request" => {
            let (part, mended) = malformed(seen, &said, site);
            (part, said, mended)
        }
        "body_too_large" | "request_timeout" => ("the body", operation, said),
        "rate_limited" => ("the rate limits", said, "the same after Retry-After; POST /dev/clock moves the time".to_owned()),
        "suspended" => (
            "the membership or its organization",
            said,
            "the same once an org_admin reactivates the member, or an operator the organization".to_owned(),
        ),
        "unavailable" => ("the service's state", said, "the same after Retry-After".to_owned()),
        "internal" => ("a defect", said, "see the log under the request id".to_owned()),
        _ => ("the rule of this operation", operation, said),
    }
}

/// What of it no server sends beside a deployment key.
fn of_a_browser(seen: &Seen) -> String {
    let shown =
        [(seen.origin.is_some(), "Origin"), (seen.fetch_site.is_some(), "Sec-Fetch-Site"), (seen.states_client, "X-Client-IP")];
    let shown: Vec<_> = shown.into_iter().filter(|(is_there, _)| *is_there).map(|(_, name)| name).collect();
    shown.join(", ")
}

/// The key that counts at this path.
fn live_key(seen: &Seen) -> String {
    let operation = seen.operation();
    let of_deployment = |scope: &str| format!("a live deployment key with the scope {scope} in X-API-Key");
    if operation.starts_with("/org") {
        of_deployment("admin")
    } else if operation.starts_with("/admin") {
        of_deployment("organizations")
    } else {
        "a live key of this very organization in X-API-Key, or a deployment key".to_owned()
    }
}

/// The part of the request that breaks a rule, and what would pass. A request without a body breaks it in its query.
fn malformed(seen: &Seen, said: &str, site: &Site) -> (&'static str, String) {
    let field = said.split_once(": ").map(|(field, _)| field).filter(|field| !field.contains(' '));
    let Some(field) = field else { return ("the rule of this operation", said.to_owned()) };
    let part = match field {
        "Authorization" => "a header",
        "request" => "the request",
        _ if seen.method == "GET" => "the query",
        _ => "the body",
    };
    (part, format!("the same with {field} mended; {} shows what each may be", site.docs()))
}

/// Which token counts at this path, and what can be seen of it without its keys.
fn session(seen: &Seen, at: Timestamp) -> (&'static str, String, String) {
    const ENDED: &str = "superseded by a refresh, logged out, revoked, or signed by other keys";
    let (saw, would_pass) = match seen.operation() {
        "/auth/refresh" => (
            token_or_none("a refresh_token cookie", seen.refresh.as_ref(), ("rt+jwt", ENDED), at),
            "the latest refresh_token cookie of a live session of this organization",
        ),
        "/auth/verify-2fa" => (
            token_or_none("a partial_token cookie", seen.partial.as_ref(), ("pt+jwt", "sent twice, or used"), at),
            "one partial_token cookie, of a login that waits for its second step",
        ),
        _ => {
            let (what, claims) = seen.caller();
            let saw = claims.map_or_else(|| what.to_owned(), |claims| token(what, claims, ("at+jwt", ENDED), at));
            (saw, "a live access token of this organization")
        }
    };
    ("the caller", saw, would_pass.to_owned())
}

fn token_or_none(what: &str, claims: Option<&Claims>, expected: (&str, &str), at: Timestamp) -> String {
    claims.map_or_else(|| format!("not even {what}"), |claims| token(what, claims, expected, at))
}

/// `expected` is the type that counts, and why a token of it that has not expired may be refused.
fn token(what: &str, claims: &Claims, (wanted, otherwise): (&str, &str), at: Timestamp) -> String {
    let (Some(kind), Some(end)) = (&claims.kind, claims.expires_at) else {
        return format!("{what} that is no token of this service");
    };
    if kind != wanted {
        return format!("{what} of the type {kind}; only {wanted} counts here");
    }
    let ago = (at.millis() / 1_000).saturating_sub(end);
    if ago >= 0 { format!("{what} that expired {ago} s ago") } else { format!("{what} that has not expired: {otherwise}") }
}

#[cfg(test)]
mod tests {
    use axum::{body::Body, extract::Request};
    use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

    use super::*;

    fn seen(request: axum::http::request::Builder) -> Seen {
        Seen::of(&request.body(Body::empty()).expect("a request"))
    }

    fn site() -> Site {
        Site::of(&"http://localhost/base/".parse().expect("a URL"))
    }

    fn explained(seen: &Seen, code: &str) -> Explanation {
        let answered = Answered { code: code.to_owned(), message: "said".to_owned() };
        Explanation::of(seen, &answered, &site(), Timestamp::from_millis(1_700_000_000_000))
    }

    #[test]
    fn a_session_is_explained_by_what_its_token_says() {
        let token = |typ: &str, exp: i64| {
            let part = |text: String| URL_SAFE_NO_PAD.encode(text);
            format!("Bearer {}.{}.x", part(format!(r#"{{"typ":"{typ}"}}"#)), part(format!(r#"{{"exp":{exp}}}"#)))
        };
        let ended = "that has not expired: superseded by a refresh, logged out, revoked, or signed by other keys";
        let none = "no session: neither a Bearer token nor an access_token cookie";
        for (authorization, saw) in [
            (token("at+jwt", 1_699_999_990), "a Bearer token that expired 10 s ago".to_owned()),
            (token("at+jwt", 1_700_000_010), format!("a Bearer token {ended}")),
            (token("at+jwt", 1_700_000_010).replace("Bearer", "bEARER"), format!("a Bearer token {ended}")),
            (token("rt+jwt", 1_699_999_990), "a Bearer token of the type rt+jwt; only at+jwt counts here".to_owned()),
            ("Bearer rubbish".to_owned(), "a Bearer token that is no token of this service".to_owned()),
            ("Basic x".to_owned(), none.to_owned()),
        ] {
            let seen = seen(Request::get("/api/v1/org").header("authorization", &authorization));
            let explained = explained(&seen, "session_required");
            assert_eq!((explained.saw, explained.check), (saw, "the caller"));
            assert_eq!(explained.would_pass, "a live access token of this organization");
        }
        for (path, cookie, kind) in [("refresh", "refresh_token", "rt+jwt"), ("verify-2fa", "partial_token", "pt+jwt")] {
            let path = format!("/api/v1/auth/{path}");
            let old = token(kind, 1_699_999_990).replace("Bearer ", &format!("{cookie}="));
            let with_it = explained(&seen(Request::post(&path).header("cookie", old)), "session_required");
            assert_eq!(with_it.saw, format!("a {cookie} cookie that expired 10 s ago"));
            let without = explained(&seen(Request::post(&path)), "session_required");
            assert_eq!(without.saw, format!("not even a {cookie} cookie"));
            assert!(without.would_pass.contains(cookie), "{without:?}");
        }
    }

    #[test]
    fn each_check_tells_what_it_saw() {
        let seen = seen(Request::post("/api/v1/auth/login").header("x-org-slug", "Acme").header("origin", "https://evil.example"));
        for (code, saw) in [
            ("invalid_slug", "X-Org-Slug: Acme"),
            ("forbidden_origin", "Origin: https://evil.example"),
            ("invalid_api_key", "no X-API-Key, and X-Org-Slug: Acme"),
            ("unsupported_media_type", "no Content-Type"),
            ("not_found", "POST /api/v1/auth/login"),
            ("weak_password", "POST /api/v1/auth/login"),
        ] {
            assert_eq!(explained(&seen, code).saw, saw);
        }
        assert_eq!(explained(&seen, "weak_password").would_pass, "said");
        assert!(explained(&seen, "not_found").would_pass.starts_with("a path of /base/api/v1/docs,"), "below the public URL");
    }

    #[test]
    fn a_key_is_explained_by_its_kind_and_the_path() {
        let key = |path: &str| Request::get(path).header("x-api-key", "dk_live_x");
        let beside = seen(key("/api/v1/org").header("sec-fetch-site", "cross-site").header("x-client-ip", "192.0.2.1"));
        let beside = explained(&beside, "forbidden_origin");
        assert_eq!((beside.check, beside.saw.as_str()), ("the deployment key", "Sec-Fetch-Site, X-Client-IP"));
        assert_eq!(beside.would_pass, "the same from a server, without any of them");
        for (path, passing) in [
            ("/api/v1/org/members?limit=1", "a live deployment key with the scope admin in X-API-Key"),
            ("/api/v1/admin/organizations", "a live deployment key with the scope organizations in X-API-Key"),
            ("/api/v1/public/members", "a live key of this very organization in X-API-Key, or a deployment key"),
        ] {
            assert_eq!(explained(&seen(key(path)), "invalid_api_key").would_pass, passing);
        }
    }

    #[test]
    fn what_breaks_a_rule_is_named_with_its_part() {
        for (method, message, part, passing) in [
            ("GET", "limit: must be a number", "the query", "the same with limit mended; /base/api/v1/docs shows what each may be"),
            ("POST", "name: is required", "the body", "the same with name mended; /base/api/v1/docs shows what each may be"),
            (
                "GET",
                "Authorization: must be sent once",
                "a header",
                "the same with Authorization mended; /base/api/v1/docs shows what each may be",
            ),
            ("POST", "Name one first.", "the rule of this operation", "Name one first."),
        ] {
            let seen = seen(axum::http::request::Builder::new().method(method).uri("/api/v1/org"));
            let answered = Answered { code: "invalid_request".to_owned(), message: message.to_owned() };
            let explained = Explanation::of(&seen, &answered, &site(), Timestamp::from_millis(0));
            assert_eq!((explained.check, explained.would_pass.as_str()), (part, passing));
        }
    }

    #[test]
    fn every_code_names_its_check() {
        for (check, codes) in [
            ("the organization", "invalid_slug unknown_organization"),
            ("the caller", "wrong_organization session_required invalid_api_key"),
            ("the login's second step", "second_factor_failed"),
            ("the caller's scope", "missing_scope"),
            ("the caller's role", "admin_required operator_required"),
            ("the browser's origin", "forbidden_origin"),
            ("the body", "unsupported_media_type body_too_large request_timeout"),
            ("the route", "not_found method_not_allowed"),
            ("the rate limits", "rate_limited"),
            ("the membership or its organization", "suspended"),
            ("the service's state", "unavailable"),
            ("a defect", "internal"),
            (
                "the rule of this operation",
                "invalid_request weak_password invalid_invite invalid_link wrong_code last_admin cannot_target_self \
                 operator_organization wrong_password invalid_credentials not_a_member not_admitted already_member already_invited \
                 account_exists two_factor_enabled two_factor_not_set_up limit_reached already_rotated webhook_disabled \
                 deletion_scheduled slug_taken email_taken events_expired",
            ),
        ] {
            for code in codes.split(' ') {
                assert!(tenant_auth_core::http::ErrorCode::parse(code).is_some(), "{code}");
                assert_eq!(explained(&seen(Request::get("/api/v1/org")), code).check, check, "{code}");
            }
        }
    }
}
