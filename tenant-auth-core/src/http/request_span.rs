//! The span of a request (`tracing`): the log lines and the spans of everything that is done for the request lie below it. Its
//! parent is the span that the caller of [`Service::call`](super::Service::call) is in, so that a host's own trace goes through.

use ::http::Method;
use tracing::{Span, field::Empty};

use crate::{metrics::Watched, value::Slug};

/// The span of a request, with what is known of the request so far. It contains no path, body, token or address, because logs and
/// traces leave the service.
#[derive(Clone, Debug)]
pub(crate) struct RequestSpan(Span);

impl RequestSpan {
    /// Begins the span as a child of the current one.
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

    /// Records the route's template that the request matched.
    pub(super) fn matched(&self, template: &'static str) {
        self.0.record("route", template);
    }

    /// Records the organization that the request is sent to. Call it only for an organization that exists.
    pub(crate) fn in_organization(&self, slug: &Slug) {
        self.0.record("organization", slug.as_str());
    }

    /// Records the status of the answer.
    pub(super) fn answered(&self, status: u16) {
        self.0.record("status", status);
    }
}

/// Says in the log that a request was answered.
pub(super) fn log_answer(watched: &Watched<'_>, request_id: &str, method: &Method, status: u16) {
    tracing::debug!(
        target: "tenant_auth::requests", %request_id, %method, route = watched.route(), status,
        micros = watched.elapsed().as_micros(), "answered",
    );
}
