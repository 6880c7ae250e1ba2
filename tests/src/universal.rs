//! Universal rules: what every answer obeys (behaviour.md, B2 and B3), checked on each one that comes back, so that any scenario
//! catches a violation, also one that it is not about.

use serde_json::Value;

use crate::{BASE, CookieRules, Request, Response, logs, promises, response::shape};

/// Panics, showing the answer and what was logged of the request, when a rule is broken.
pub(crate) fn check(request: &Request, response: &Response, cookies: &CookieRules) {
    let broken = broken_rules(request, response, cookies);
    assert!(broken.is_empty(), "{broken:#?}\n{}\nlogged:\n{}", response.shown(), logged(response));
}

/// What the service logged of the request: the answer does not tell why the service failed.
fn logged(response: &Response) -> String {
    response.headers_named("X-Request-Id").first().map(|id| logs::lines_with(id).join("\n")).unwrap_or_default()
}

fn broken_rules(request: &Request, response: &Response, cookies: &CookieRules) -> Vec<String> {
    let mut broken = Vec::new();
    let mut rule = |holds: bool, text: &str| {
        if !holds {
            broken.push(text.to_owned());
        }
    };
    let header = |name| response.headers_named(name);
    let path = request.path.split('?').next().unwrap_or_default();
    let is_document = |name: &str| path.strip_prefix(BASE) == Some(name) && response.status == 200;
    let is_jwks = is_document("/.well-known/jwks.json") || is_document("/.well-known/audit-keys.json");
    let is_page = is_document("/docs") || is_document("/docs.css") || is_document("/docs.js") || is_document("/logo");
    let is_file = is_document("/org/audit/export");

    rule(response.status < 500 || request.may_fail, "no request makes the service fail");
    rule(matches!(header("X-Request-Id")[..], [id] if !id.is_empty()), "one X-Request-Id");
    rule(header("X-Content-Type-Options") == ["nosniff"], "X-Content-Type-Options: nosniff");
    match header("Cache-Control")[..] {
        [value] if is_jwks => rule(value.contains("max-age=300"), "key sets may be kept for 300 seconds"),
        [value] => rule(value == "no-store", "Cache-Control: no-store"),
        _ => rule(false, "one Cache-Control"),
    }
    let retry_after = header("Retry-After").iter().any(|value| value.parse::<u32>().is_ok());
    rule(!matches!(response.status, 429 | 503) || retry_after, "an integer Retry-After");
    let challenge: &[&str] = if response.status == 401 { &["Bearer"] } else { &[] };
    rule(header("WWW-Authenticate") == challenge, "WWW-Authenticate: Bearer beside 401 alone");
    rule(response.status != 405 || header("Allow").len() == 1, "Allow beside 405");
    rule(!response.body.contains("$argon2"), "no password hash leaves the service");

    if response.status == 204 || request.method == "HEAD" {
        rule(response.body.is_empty(), "no body");
    } else {
        rule(
            is_page || is_file || matches!(header("Content-Type")[..], [kind] if kind.starts_with("application/json")),
            "Content-Type: application/json",
        );
        if !is_jwks && !is_page && !is_file && !is_document("/openapi.json") {
            rule(is_envelope(response), "the JSON envelope");
        }
    }
    if !is_document("/openapi.json") {
        odd_values("", response.json(), &mut broken);
    }
    broken.extend(promises::broken(request, response));
    for cookie in response.cookies() {
        broken.extend(cookies.complaint(&cookie));
    }
    broken
}

/// `{status: "success", data: {…}}`, or `{status: "error", message, code}`, perhaps with `field`; nothing beside.
fn is_envelope(response: &Response) -> bool {
    let body = response.json();
    if !body.is_object() {
        return false;
    }
    match (body["status"].as_str(), &shape(body)[..]) {
        (Some("success"), ["data", "status"]) => response.status < 400 && body["data"].is_object(),
        (Some("error"), ["code", "message", "status"] | ["code", "field", "message", "status"]) => {
            response.status >= 400
                && is_code(response.code())
                && !response.message().trim().is_empty()
                && response.json().get("field").is_some() == response.field().is_some()
                && names_its_field(response)
        }
        _ => false,
    }
}

/// The message of a malformed request begins with the part at fault, which `field` names unless that is the whole body.
fn names_its_field(response: &Response) -> bool {
    let named = response.message().split_once(": ").map(|(part, _)| part).filter(|part| !["", "body"].contains(part));
    match response.code() {
        "invalid_request" => response.field() == named,
        "weak_password" => response.field().is_some_and(|field| matches!(field, "password" | "newPassword")),
        "wrong_password" => response.field().is_some_and(|field| matches!(field, "password" | "currentPassword")),
        // An acceptance names the invite, for it has no address.
        "already_member" => response.field().is_some_and(|field| matches!(field, "email" | "token")),
        "already_invited" => response.field() == Some("email"),
        "slug_taken" | "slug_reserved" => response.field().is_some_and(|field| field.ends_with("slug")),
        "wrong_code" => response.field() == Some("code"),
        "invalid_link" | "invalid_invite" => response.field() == Some("token"),
        "invalid_slug" => response.field() == Some("X-Org-Slug"),
        _ => response.field().is_none(),
    }
}

fn is_code(code: &str) -> bool {
    !code.is_empty() && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Ids and times have one form wherever they stand (behaviour.md, B21 and B22). Metadata is the customer's, and not looked at.
fn odd_values(key: &str, value: &Value, broken: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            fields.iter().filter(|(name, _)| *name != "metadata").for_each(|(name, value)| odd_values(name, value, broken))
        }
        Value::Array(items) => items.iter().for_each(|item| odd_values("", item, broken)),
        Value::String(text) if matches!(key, "id" | "userId") && !is_id(text) => broken.push(format!("{key} {text} is no id")),
        Value::String(text) if is_time_key(key) && !is_time(text) => {
            broken.push(format!("{key} {text} is no ISO 8601 time with milliseconds"))
        }
        _ => {}
    }
}

fn is_time_key(key: &str) -> bool {
    matches!(key, "createdAt" | "expiresAt" | "joinedAt" | "lastUsedAt" | "authTime")
}

/// A known prefix and a body of 26 characters.
fn is_id(text: &str) -> bool {
    let known = ["usr", "mem", "org", "inv", "ses", "key", "dpk", "whk", "evt", "dlv"];
    text.split_once('_').is_some_and(|(prefix, body)| {
        known.contains(&prefix) && body.len() == 26 && body.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    })
}

/// `2026-11-20T08:21:00.123Z`
fn is_time(text: &str) -> bool {
    let pattern = b"0000-00-00T00:00:00.000Z";
    text.len() == pattern.len()
        && text.bytes().zip(pattern).all(|(have, want)| if *want == b'0' { have.is_ascii_digit() } else { have == *want })
}
