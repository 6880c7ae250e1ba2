//! What collectors and their dashboards look for in a span (OpenTelemetry's semantic conventions): its kind, a name for each operation,
//! the attributes of HTTP, and whether it failed. It is put in the place of our names on the way out and not in the spans themselves: the
//! log shows those, and in a program that embeds the library the span of the server is that program's own.

use std::borrow::Cow;

use opentelemetry::{
    KeyValue, Value,
    trace::{SpanKind, Status},
};
use opentelemetry_sdk::trace::SpanData;

/// Whoever calls may make up others, and each name of a span is a series at the collector.
const METHODS: [&str; 9] = ["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"];

/// The span as the conventions have it.
pub(super) fn conventional(mut span: SpanData) -> SpanData {
    if span.name == "request" {
        of_request(&mut span);
    } else if span.name == "delivery" {
        span.attributes.push(KeyValue::new("http.request.method", "POST"));
        status_code(&mut span);
        of_attempt(&mut span, "succeeded");
    } else if span.name == "mail" {
        of_attempt(&mut span, "sent");
    }
    span
}

fn of_request(span: &mut SpanData) {
    span.span_kind = SpanKind::Server;
    let method = method(span).unwrap_or("HTTP");
    let route = renamed(span, "route", "http.route").map(|route| route.as_str().into_owned());
    span.name = route.map_or(Cow::Borrowed(method), |route| format!("{method} {route}").into());
    if let Some(code) = status_code(span).filter(|code| *code >= 500) {
        fail(span, code.to_string());
    }
}

/// An attempt to hand something to another server, which failed unless this came of it.
fn of_attempt(span: &mut SpanData, well: &str) {
    span.span_kind = SpanKind::Client;
    let outcome = span.attributes.iter().find(|attribute| attribute.key.as_str() == "outcome");
    let failed = outcome.map(|outcome| outcome.value.as_str().into_owned()).filter(|outcome| outcome != well);
    if let Some(failed) = failed {
        fail(span, failed);
    }
}

fn fail(span: &mut SpanData, why: String) {
    span.status = Status::error("");
    span.attributes.push(KeyValue::new("error.type", why));
}

/// The method, if it is one that the conventions know.
fn method(span: &mut SpanData) -> Option<&'static str> {
    let value = renamed(span, "method", "http.request.method")?;
    let known = METHODS.into_iter().find(|known| *known == value.as_str());
    if known.is_none() {
        *value = Value::from("_OTHER");
    }
    known
}

/// The status of the answer, as the number that it is.
fn status_code(span: &mut SpanData) -> Option<i64> {
    let value = renamed(span, "status", "http.response.status_code")?;
    let code = value.as_str().parse().ok()?;
    *value = Value::I64(code);
    Some(code)
}

/// An attribute's value, with the attribute under another name.
fn renamed<'s>(span: &'s mut SpanData, name: &str, conventional: &'static str) -> Option<&'s mut Value> {
    let attribute = span.attributes.iter_mut().find(|attribute| attribute.key.as_str() == name)?;
    attribute.key = conventional.into();
    Some(&mut attribute.value)
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use opentelemetry::{InstrumentationScope, SpanId, trace::SpanContext};
    use opentelemetry_sdk::trace::{SpanEvents, SpanLinks};

    use super::*;

    fn exported(name: &'static str, attributes: &[(&'static str, &'static str)]) -> SpanData {
        conventional(SpanData {
            span_context: SpanContext::empty_context(),
            parent_span_id: SpanId::INVALID,
            parent_span_is_remote: false,
            span_kind: SpanKind::Internal,
            name: name.into(),
            start_time: SystemTime::UNIX_EPOCH,
            end_time: SystemTime::UNIX_EPOCH,
            attributes: attributes.iter().map(|(key, value)| KeyValue::new(*key, *value)).collect(),
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: Status::Unset,
            instrumentation_scope: InstrumentationScope::default(),
        })
    }

    fn value<'s>(span: &'s SpanData, key: &str) -> Option<&'s Value> {
        span.attributes.iter().find(|attribute| attribute.key.as_str() == key).map(|attribute| &attribute.value)
    }

    #[test]
    fn a_request_is_a_servers_named_by_method_and_route_and_fails_from_500_on() {
        let refused = exported("request", &[("request_id", "req_1"), ("method", "GET"), ("route", "/org"), ("status", "401")]);
        assert_eq!((&*refused.name, &refused.span_kind, &refused.status), ("GET /org", &SpanKind::Server, &Status::Unset));
        assert_eq!(value(&refused, "http.response.status_code"), Some(&Value::I64(401)));
        assert_eq!(value(&refused, "http.route"), Some(&Value::from("/org")));
        assert!(value(&refused, "request_id").is_some() && value(&refused, "status").is_none());
        let failed = exported("request", &[("method", "BREW"), ("status", "503")]);
        assert_eq!((&*failed.name, &failed.status), ("HTTP", &Status::error("")));
        assert_eq!(value(&failed, "http.request.method"), Some(&Value::from("_OTHER")));
        assert_eq!(value(&failed, "error.type"), Some(&Value::from("503")));
    }

    #[test]
    fn an_attempt_is_a_clients_and_fails_unless_it_went_well() {
        let attempts =
            [("mail", "sent", false), ("mail", "retried", true), ("delivery", "succeeded", false), ("delivery", "timeout", true)];
        for (name, outcome, is_failed) in attempts {
            let span = exported(name, &[("outcome", outcome)]);
            assert_eq!((&*span.name, &span.span_kind), (name, &SpanKind::Client));
            assert_eq!(span.status != Status::Unset, is_failed, "{name} {outcome}");
        }
        assert_eq!(exported("statement", &[]).span_kind, SpanKind::Internal);
    }
}
