//! The short way to an answer: `POST /public/verify` about a token that was verified before, asked in the form in which backends ask. It
//! gives what the whole way would give, and gives way to it for everything else, each refusal included. It waits for nothing, so it takes
//! no place in flight and needs no deadline (behaviour.md, B241).

use std::{sync::Arc, time::Instant};

use ::http::{HeaderMap, Method, StatusCode, header};

use super::{
    Body, Request,
    answered::{Answered, json_headers},
    presented,
    request_span::{RequestSpan, log_answer},
};
use crate::{
    metrics::{Requests, RouteCounts},
    service::TenantAuth,
    value::Slug,
};

const TEMPLATE: &str = "/public/verify";
/// What JSON takes for white space (RFC 8259, section 2): less than Rust does.
const JSON_SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

/// The short way to answers of one service.
#[derive(Debug)]
pub(super) struct ToldBefore {
    path: Box<str>,
    counts: Arc<RouteCounts>,
}

impl ToldBefore {
    pub(super) fn new(base: &str, requests: &Requests) -> Self {
        Self { path: format!("{base}{TEMPLATE}").into(), counts: requests.of(&Method::POST, TEMPLATE) }
    }

    /// The answer; `None` when the request has to go the whole way.
    pub(super) fn answer(&self, auth: &TenantAuth, request: &Request, traced: &RequestSpan, request_id: &str) -> Option<Answered> {
        let uri = request.uri();
        if *request.method() != Method::POST || uri.path() != &*self.path || uri.query().is_some() {
            return None;
        }
        let (started, headers) = (Instant::now(), request.headers());
        let slug = presented::single(headers, "x-org-slug").ok()??;
        let key = presented::single(headers, "x-api-key").ok()??;
        let token = token_of(request.body()).filter(|_| are_plain(headers))?;
        let slug = Slug::parse(slug).ok()?;
        let body = auth.told_before(&slug, key, token)?;
        let mut watched = auth.metrics().requests().watch_since(&Method::POST, started);
        watched.matched(TEMPLATE, Some(&self.counts));
        watched.answered(200);
        traced.matched(TEMPLATE);
        traced.in_organization(&slug);
        traced.answered(200);
        log_answer(&watched, request_id, &Method::POST, 200);
        Some(Answered { status: StatusCode::OK, headers: json_headers(), body: body.into(), cause: None })
    }
}

/// Whether a request has no header but those that change nothing about an answer, and a body of plain JSON. A header that is new to the
/// whole way is no such header.
fn are_plain(headers: &HeaderMap) -> bool {
    let changes_nothing = |name: &header::HeaderName| {
        matches!(
            name.as_str(),
            "accept"
                | "accept-encoding"
                | "accept-language"
                | "connection"
                | "content-length"
                | "content-type"
                | "forwarded"
                | "host"
                | "traceparent"
                | "tracestate"
                | "user-agent"
                | "via"
                | "x-api-key"
                | "x-forwarded-for"
                | "x-forwarded-host"
                | "x-forwarded-proto"
                | "x-org-slug"
                | "x-real-ip"
                | "x-request-id"
        )
    };
    let mut types = headers.get_all(header::CONTENT_TYPE).iter();
    let is_json = types.next().is_some_and(|value| value == "application/json") && types.next().is_none();
    is_json && headers.keys().all(changes_nothing)
}

/// The text in a body that consists of a token alone. Whether it is one that JSON would write just so is not looked at: only the text of
/// a genuine token is ever found, and that has no character that JSON escapes.
fn token_of(body: &Body) -> Option<&str> {
    let Body::Complete(bytes) = body else { return None };
    let value = str::from_utf8(bytes).ok()?.strip_prefix(r#"{"token":"#)?.strip_suffix('}')?;
    value.trim_matches(JSON_SPACE).strip_prefix('"')?.strip_suffix('"')
}

#[cfg(all(test, feature = "testing", feature = "sqlite"))]
mod tests;
