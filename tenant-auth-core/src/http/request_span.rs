//! The span of a request (`tracing`): the log lines and the spans of everything that is done for the request lie below it. Its parent
//! is the span that the caller of [`Service::call`](super::Service::call) is in, so that a host's own trace goes through.

use ::http::Method;
use tracing::{Span, field::Empty};

use crate::value::Slug;

/// What is known of a request so far. It holds no path, no body, no token and no address: logs and traces are kept elsewhere.
#[derive(Clone, Debug)]
pub(crate) struct RequestSpan(Span);

impl RequestSpan {
    /// Begins below the current span.
    pub(super) fn begin(request_id: &str, method: &Method) -> Self {
        Self(tracing::info_span!(
            target: "tenant_auth::requests", "request",
            request_id, %method, route = Empty, organization = Empty, status = Empty,
        ))
    }

    /// The span itself.
    pub(super) fn span(&self) -> &Span {
        &self.0
    }

    /// The request matched this route's template.
    pub(super) fn matched(&self, template: &'static str) {
        self.0.record("route", template);
    }

    /// The request is sent to this organization, which exists.
    pub(crate) fn in_organization(&self, slug: &Slug) {
        self.0.record("organization", slug.as_str());
    }

    /// The request was answered.
    pub(super) fn answered(&self, status: u16) {
        self.0.record("status", status);
    }
}
