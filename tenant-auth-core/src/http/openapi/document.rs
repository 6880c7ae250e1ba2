//! The OpenAPI document as a whole: the operations of all rows, and what they share.

use serde_json::{Map, Value, json};
use utoipa::PartialSchema;

use super::{
    events, flat,
    operation::{self, Shared},
    schemas::Schemas,
};
use crate::{
    http::{
        error_code::ErrorCode,
        route::{Described, Group},
    },
    model::{DeliveryStatus, Role, SortOrder, Status},
    value::{ReturnAddress, SearchText},
};

const ABOUT: &str = "Authentication for applications that serve several organizations.\n\n\
Every request names its organization in `X-Org-Slug`. Every answer is `{\"status\": \"success\", \"data\": …}` or \
`{\"status\": \"error\", \"code\": …, \"message\": …}`: `code` is stable, `message` is for people. Clients must tolerate new fields.\n\n\
People hold sessions: an access token (cookie `access_token`, or `Authorization: Bearer`) and a refresh token (cookie \
`refresh_token`). Backends hold API keys (`X-API-Key`).\n\n\
A browser's request that changes something is refused with 403 `forbidden_origin` unless its page is of the public URL, the \
organization's `appUrl` or one of its `allowedOrigins`. `GET` is also `HEAD`.";

/// The document of these groups of rows, served below `server`.
pub(super) fn of(groups: &[Group<Described>], server: &str) -> Value {
    let Operations { paths, webhooks, schemas, refusals } = operations(groups);
    let (components, _) = schemas.finish();
    let mut components = flat::flattened(&components);
    components.insert("Error".to_owned(), error());
    components.insert("ErrorCode".to_owned(), json!(ErrorCode::schema()));
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Tenant Auth",
            "version": env!("CARGO_PKG_VERSION"),
            "description": ABOUT,
            "license": { "name": env!("CARGO_PKG_LICENSE"), "identifier": env!("CARGO_PKG_LICENSE") },
        },
        "servers": [{ "url": server }],
        "tags": groups.iter().map(|group| json!({ "name": group.name, "description": group.about })).collect::<Value>(),
        "paths": paths,
        "webhooks": webhooks,
        "components": {
            "schemas": components,
            "responses": refusals,
            "parameters": shared_parameters(),
            "headers": shared_headers(),
            "securitySchemes": security_schemes(),
        },
    });
    flat::keep_what_is_named(&mut document);
    document
}

/// The operations by path, and the components they refer to.
pub(super) struct Operations {
    paths: Map<String, Value>,
    /// What webhooks send, by the kind of event.
    webhooks: Map<String, Value>,
    pub(super) schemas: Schemas,
    refusals: Shared,
}

pub(super) fn operations(groups: &[Group<Described>]) -> Operations {
    let (mut paths, mut schemas, mut refusals) = (Map::new(), Schemas::default(), Shared::default());
    for (group, row) in groups.iter().flat_map(|group| group.rows.iter().map(move |row| (group, row))) {
        let path = paths.entry(row.path).or_insert_with(|| json!({}));
        path[row.method.as_str().to_lowercase()] = operation::of(row, group.name, &mut refusals);
        schemas.merge(&row.facts().schemas);
    }
    let webhooks = events::webhooks(&mut schemas);
    Operations { paths, webhooks, schemas, refusals }
}

fn error() -> Value {
    json!({
        "type": "object",
        "description": "Why a request was refused.",
        "required": ["status", "code", "message"],
        "properties": {
            "status": { "type": "string", "const": "error" },
            "code": { "$ref": "#/components/schemas/ErrorCode" },
            "message": { "type": "string", "description": "For people; what to do next.", "minLength": 1 },
            "field": {
                "type": "string",
                "description": "Where one part of the request is at fault: its path in the body (`scopes[1]`), or the name of the \
                                parameter or header.",
                "minLength": 1,
            },
        },
    })
}

fn shared_parameters() -> Value {
    json!({
        "OrgSlug": {
            "name": "X-Org-Slug", "in": "header", "required": true,
            "description": "The organization, once and exactly as it is.",
            "schema": { "$ref": "#/components/schemas/Slug" },
        },
        "OrgSlugOfSession": {
            "name": "X-Org-Slug", "in": "header", "required": false,
            "description": "The organization of the session, once and exactly as it is. Required unless a deployment key calls.",
            "schema": { "$ref": "#/components/schemas/Slug" },
        },
        "OrgSlugOfOne": {
            "name": "X-Org-Slug", "in": "header", "required": false,
            "description": "The organization, once and exactly as it is. Required with a key of the organization; without it a \
                deployment key asks about all organizations.",
            "schema": { "$ref": "#/components/schemas/Slug" },
        },
        "ClientIp": {
            "name": "X-Client-IP", "in": "header", "required": false,
            "description": "The person's address, stated by a backend that forwards the request. Believed beside an `X-API-Key` \
                with the scope `proxy`, ignored otherwise.",
            "schema": { "type": "string", "examples": ["203.0.113.9"] },
        },
        "ProxyKey": {
            "name": "X-API-Key", "in": "header", "required": false,
            "description": "The key of a backend that forwards the request; ignored without the scope `proxy`.",
            "schema": { "type": "string" },
        },
        "Limit": {
            "name": "limit", "in": "query", "required": false,
            "description": "The most entries to answer with.",
            "schema": { "type": "integer", "minimum": 1, "maximum": crate::page::MOST, "default": crate::page::MOST },
        },
        "Cursor": {
            "name": "cursor", "in": "query", "required": false,
            "description": "The `nextCursor` of the page before, with the same filter and order.",
            "schema": { "type": "string", "pattern": "^[A-Za-z0-9_-]+$" },
        },
        "Order": {
            "name": "order", "in": "query", "required": false,
            "description": "Which entries come first: the oldest (`asc`) or the latest (`desc`).",
            "schema": { "type": "string", "enum": SortOrder::WORDS, "default": SortOrder::default().as_str() },
        },
        "After": {
            "name": "after", "in": "query", "required": false,
            "description": "The `cursor` of the answer before. One that is unknown or too old is answered with `everything`.",
            "schema": { "type": "string", "pattern": r"^[^\u0000]*$" },
        },
        "Wait": {
            "name": "wait", "in": "query", "required": false,
            "description": "How long to wait for a change, in milliseconds.",
            "schema": { "type": "integer", "minimum": 0, "maximum": 1_000, "default": 0 },
        },
        "AfterEvent": {
            "name": "after", "in": "query", "required": false,
            "description": "The `sequence` or the `id` of an event; without it, from the oldest that is kept.",
            "schema": { "type": "string", "pattern": "^([0-9]{1,19}|evt_[0-9a-z]{26})$" },
        },
        "EventLimit": {
            "name": "limit", "in": "query", "required": false,
            "description": "How many events at most. A page holds 1 MiB of them at most.",
            "schema": { "type": "integer", "minimum": 1, "maximum": 1_000, "default": 100 },
        },
        "MemberSearch": {
            "name": "q", "in": "query", "required": false,
            "description": "A part of the member's name or address, in any case, without wildcards. Empty: all.",
            "schema": { "type": "string", "maxLength": SearchText::MAX, "pattern": r"^[^\u0000]*$" },
        },
        "Search": {
            "name": "search", "in": "query", "required": false,
            "description": "A part of an API key's name, of an invite's address, of an organization's name or slug, of a webhook's URL or description, of a session's User-Agent or address, in any case, without wildcards. Empty: all.",
            "schema": { "type": "string", "maxLength": SearchText::MAX, "pattern": r"^[^\u0000]*$" },
        },
        "Next": {
            "name": "next", "in": "query", "required": false,
            "description": "Where to return: answered as `next` if the organization's people may be sent there.",
            "schema": { "type": "string", "maxLength": ReturnAddress::LONGEST, "pattern": r"^[^\u0000]*$" },
        },
        "RoleFilter": {
            "name": "role", "in": "query", "required": false,
            "description": "Only members with this role.",
            "schema": { "type": "string", "enum": Role::WORDS },
        },
        "StatusFilter": {
            "name": "status", "in": "query", "required": false,
            "description": "Only members whose membership is in this state.",
            "schema": { "type": "string", "enum": Status::WORDS },
        },
        "StateFilter": {
            "name": "state", "in": "query", "required": false,
            "description": "Only organizations that are in this state.",
            "schema": { "type": "string", "enum": Status::WORDS },
        },
        "ActorFilter": {
            "name": "actor", "in": "query", "required": false,
            "description": "Only entries that this person or API key caused; an id.",
            "schema": { "type": "string", "pattern": r"^[^\u0000]*$" },
        },
        "UserFilter": {
            "name": "user", "in": "query", "required": false,
            "description": "Only entries about this person; an id.",
            "schema": { "type": "string", "pattern": r"^[^\u0000]*$" },
        },
        "KindFilter": {
            "name": "kind", "in": "query", "required": false,
            "description": "Only entries of these kinds, with commas between them; groups such as `member.*`, or `*`.",
            "schema": { "type": "string", "pattern": r"^[^\u0000]*$" },
        },
        "From": {
            "name": "from", "in": "query", "required": false,
            "description": "Only entries of this time or later.",
            "schema": { "type": "string", "format": "date-time" },
        },
        "To": {
            "name": "to", "in": "query", "required": false,
            "description": "Only entries before this time.",
            "schema": { "type": "string", "format": "date-time" },
        },
        "DeliveryStatusFilter": {
            "name": "status", "in": "query", "required": false,
            "description": "Only deliveries that have come so far.",
            "schema": { "type": "string", "enum": DeliveryStatus::WORDS },
        },
    })
}

fn shared_headers() -> Value {
    json!({
        "RequestId": {
            "description": "Identifies the request in the server's log.", "required": true,
            "schema": { "type": "string", "minLength": 1 },
        },
        "RetryAfter": {
            "description": "Seconds to wait.", "required": true,
            "schema": { "type": "integer", "minimum": 1 },
        },
        "Allow": {
            "description": "The methods this path answers.", "required": true,
            "schema": { "type": "string" },
        },
        "Challenge": {
            "description": "The scheme by which a token may be sent.", "required": true,
            "schema": { "type": "string" },
        },
    })
}

fn security_schemes() -> Value {
    let cookie = |name: &str, about: &str| json!({ "type": "apiKey", "in": "cookie", "name": name, "description": about });
    json!({
        "accessCookie": cookie("access_token", "The access token, as a login sets it."),
        "refreshCookie": cookie("refresh_token", "The refresh token, as a login sets it."),
        "partialCookie": cookie("partial_token", "Between the two steps of a login."),
        "bearer": {
            "type": "http", "scheme": "bearer", "bearerFormat": "JWT",
            "description": "The access token, for callers that are no browsers. It goes before the cookie.",
        },
        "apiKey": {
            "type": "apiKey", "in": "header", "name": "X-API-Key",
            "description": "An organization's API key. It must never reach a browser. The scope an operation needs stands beside it.",
        },
        "deploymentKey": {
            "type": "apiKey", "in": "header", "name": "X-API-Key",
            "description": "A deployment key: the credential of the product that runs the deployment, good in every organization. The \
                scope an operation needs stands beside it. 403 `forbidden_origin` beside `Origin`, `Sec-Fetch-Site` or `X-Client-IP`.",
        },
    })
}
