//! One operation of the OpenAPI document, made of one row: parameters, security, body, success and every refusal.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::{AnswerFacts, CallerFacts, Cookies, Credential, InputFacts, OrgSlug};
use crate::http::{
    error_code::ErrorCode,
    route::{Described, Row},
};

/// The extension in which a response says which codes it can have. Their schema is one for all (behaviour.md, B210).
pub(super) const CODES: &str = "x-codes";

/// Refusals that look the same wherever they occur, by code.
pub(super) type Shared = BTreeMap<&'static str, Value>;

/// The operation of a row that is shown under `tag`.
pub(super) fn of(row: &Row<Described>, tag: &str, shared: &mut Shared) -> Value {
    let (Described { caller, input, .. }, words) = (row.facts(), row.words());
    let mut operation = json!({
        "tags": [tag],
        "operationId": words.id,
        "summary": words.summary,
        "description": format!("{} For {}.", words.description, caller.who),
        "parameters": parameters(row, caller, input),
        "security": security(caller),
        "responses": responses(row, shared),
    });
    if let Some(body) = &input.body {
        let absent = if body.required { "" } else { " No body at all means an empty object." };
        operation["requestBody"] = json!({
            "required": body.required,
            "description": format!("A JSON object in UTF-8, of at most 64 KiB, without `Content-Encoding`. Unknown fields are ignored.{absent}"),
            "content": { "application/json": { "schema": body.schema } },
        });
    }
    operation
}

fn component(kind: &str, name: &str) -> Value {
    json!({ "$ref": format!("#/components/{kind}/{name}") })
}

fn parameters(row: &Row<Described>, caller: &CallerFacts, input: &InputFacts) -> Value {
    let names = row.path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
    let path =
        names.zip(&input.path).map(|(name, schema)| json!({ "name": name, "in": "path", "required": true, "schema": schema }));
    let mut shared = Vec::new();
    shared.extend(match caller.org_slug {
        OrgSlug::Required => Some("OrgSlug"),
        OrgSlug::OfSession => Some("OrgSlugOfSession"),
        OrgSlug::OfOneOrganization => Some("OrgSlugOfOne"),
        OrgSlug::Ignored => None,
    });
    if caller.takes_proxy_key(row.path) {
        shared.extend(["ClientIp", "ProxyKey"]);
    }
    shared.extend(&input.query);
    path.chain(shared.into_iter().map(|name| component("parameters", name))).collect()
}

/// The alternatives, by the names of `document.rs`. For a key, the array names the scope (OpenAPI 3.1, Security Requirement Object).
fn security(caller: &CallerFacts) -> Value {
    let mut alternatives = match caller.credential {
        Credential::None => vec![],
        Credential::Session => vec![json!({ "accessCookie": [] }), json!({ "bearer": [] })],
        // An empty alternative is none: the token stands in the body then.
        Credential::RefreshOrBody => vec![json!({ "refreshCookie": [] }), json!({})],
        Credential::SessionOrRefresh => {
            vec![json!({ "accessCookie": [] }), json!({ "bearer": [] }), json!({ "refreshCookie": [] })]
        }
        Credential::Partial => vec![json!({ "partialCookie": [] })],
        Credential::ApiKey(scope) => vec![json!({ "apiKey": [scope.as_str()] }), json!({ "deploymentKey": [scope.as_str()] })],
    };
    alternatives.extend(caller.deployment_key.map(|scope| json!({ "deploymentKey": [scope.as_str()] })));
    alternatives.into()
}

fn responses(row: &Row<Described>, shared: &mut Shared) -> Value {
    let Described { caller, answer, .. } = row.facts();
    let mut responses = Map::new();
    responses.insert(row.success().to_string(), success(caller, answer));
    let mut by_status: BTreeMap<u16, BTreeSet<&'static str>> = BTreeMap::new();
    for code in row.refusals().iter().chain([&ErrorCode::MethodNotAllowed]) {
        by_status.entry(code.status()).or_default().insert(code.as_str());
    }
    for (status, refusals) in by_status {
        let refusal = refusal(status, &refusals, caller);
        // Alone, and with nothing that depends on the caller, it is written once for all.
        let response = match refusals.first() {
            Some(code) if refusals.len() == 1 && *code != ErrorCode::SessionRequired.as_str() => {
                shared.insert(code, refusal);
                component("responses", code)
            }
            _ => refusal,
        };
        responses.insert(status.to_string(), response);
    }
    Value::Object(responses)
}

fn success(caller: &CallerFacts, answer: &AnswerFacts) -> Value {
    let mut headers = Map::from_iter([("X-Request-Id".to_owned(), component("headers", "RequestId"))]);
    let cookies = match caller.cookies {
        Cookies::Kept => None,
        Cookies::Set => Some("access_token and refresh_token; or partial_token, where a second step is required."),
        Cookies::Completed => Some("access_token and refresh_token; partial_token is cleared."),
        Cookies::Cleared => Some("access_token, refresh_token and partial_token are cleared."),
    };
    if let Some(which) = cookies {
        headers.insert("Set-Cookie".to_owned(), set_cookie(which, true));
    }
    let (content_type, schema) = match answer {
        AnswerFacts::Enveloped(data) => {
            let properties = json!({ "status": { "type": "string", "const": "success" }, "data": data });
            ("application/json", json!({ "type": "object", "required": ["status", "data"], "properties": properties }))
        }
        AnswerFacts::Plain { content_type, schema } => (*content_type, schema.clone()),
    };
    json!({ "description": "Done.", "headers": headers, "content": { content_type: { "schema": schema } } })
}

fn refusal(status: u16, refusals: &BTreeSet<&'static str>, caller: &CallerFacts) -> Value {
    let mut headers = Map::from_iter([("X-Request-Id".to_owned(), component("headers", "RequestId"))]);
    if matches!(status, 429 | 503) {
        headers.insert("Retry-After".to_owned(), component("headers", "RetryAfter"));
    }
    if status == ErrorCode::SessionRequired.status() {
        headers.insert("WWW-Authenticate".to_owned(), component("headers", "Challenge"));
    }
    if status == ErrorCode::MethodNotAllowed.status() {
        headers.insert("Allow".to_owned(), component("headers", "Allow"));
    }
    if refusals.contains(ErrorCode::SessionRequired.as_str()) {
        let which = match caller.cookies {
            Cookies::Cleared => "access_token, refresh_token and partial_token are cleared beside `session_required`.",
            Cookies::Kept | Cookies::Set | Cookies::Completed => {
                "Where cookies have a Domain and a token came with two values: the host-only ones expire."
            }
        };
        headers.insert("Set-Cookie".to_owned(), set_cookie(which, false));
    }
    json!({
        "description": refusals.iter().map(|code| format!("`{code}`")).collect::<Vec<_>>().join(", "),
        "headers": headers,
        "content": { "application/json": { "schema": component("schemas", "Error") } },
        CODES: refusals,
    })
}

/// HTTP's only header that comes several times and cannot be joined: the schema is that of one.
fn set_cookie(which: &str, required: bool) -> Value {
    json!({
        "description": format!("{which} Each is HttpOnly and Secure, with Path=/."),
        "required": required,
        "schema": { "type": "string" },
    })
}
