//! Continuing a caller's trace (W3C Trace Context). Anybody may send a `traceparent`, so nothing is taken from it but the two ids: not
//! whether to sample, no `tracestate` and no `baggage`.

use std::collections::HashMap;

use axum::{
    Router,
    extract::Request,
    http::{HeaderMap, HeaderValue},
    middleware::{self, Next},
    response::Response,
};
use opentelemetry::{
    Context,
    propagation::TextMapPropagator,
    trace::{FutureExt, SpanContext, TraceContextExt, TraceFlags, TraceState},
};
use opentelemetry_sdk::propagation::TraceContextPropagator;

const TRACEPARENT: &str = "traceparent";

/// The routes, with each request's span as a child of the span that its `traceparent` names.
pub(crate) fn continued(routes: Router) -> Router {
    routes.layer(middleware::from_fn(continue_trace))
}

async fn continue_trace(request: Request, next: Next) -> Response {
    match parent(request.headers()) {
        Some(parent) => next.run(request).with_context(Context::new().with_remote_span_context(parent)).await,
        None => next.run(request).await,
    }
}

/// The caller's span, where the header is sent once and well-formed.
fn parent(headers: &HeaderMap) -> Option<SpanContext> {
    let mut values = headers.get_all(TRACEPARENT).iter().map(HeaderValue::to_str);
    let (Some(Ok(value)), None) = (values.next(), values.next()) else { return None };
    let alone = HashMap::from([(TRACEPARENT.to_owned(), value.to_owned())]);
    let told = TraceContextPropagator::new().extract_with_context(&Context::new(), &alone);
    let span = told.span();
    let told = span.span_context();
    told.is_valid().then(|| SpanContext::new(told.trace_id(), told.span_id(), TraceFlags::SAMPLED, true, TraceState::default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

    fn headers(of: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in of {
            headers.append(*name, HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn a_stranger_chooses_two_ids_and_nothing_else() {
        let sent = headers(&[(TRACEPARENT, VALUE), ("tracestate", "evil=1"), ("baggage", "user=root")]);
        let parent = parent(&sent).expect("a well-formed header");
        assert_eq!(parent.trace_id().to_string(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(parent.span_id().to_string(), "00f067aa0ba902b7");
        assert!(parent.is_sampled() && parent.is_remote(), "the header says not to sample");
        assert_eq!(parent.trace_state(), &TraceState::default());
    }

    #[test]
    fn a_header_that_is_doubled_or_malformed_begins_a_new_trace() {
        assert!(parent(&headers(&[(TRACEPARENT, VALUE), (TRACEPARENT, VALUE)])).is_none());
        for value in ["", "ff", "00-0-0-00", "00-00000000000000000000000000000000-00f067aa0ba902b7-01"] {
            assert!(parent(&headers(&[(TRACEPARENT, value)])).is_none(), "{value}");
        }
    }
}
