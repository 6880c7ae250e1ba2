//! Request counters and durations, by method, route template and status. A request that matches no route is counted under `none`,
//! and a method that HTTP does not define under `other`: a client that invents paths and methods adds no series.

use std::time::{Duration, Instant};

use http::Method;
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, histogram::Histogram},
    registry::{Registry, Unit},
};

/// Histogram buckets in seconds: a verification takes one or two milliseconds, a login the time of a hash.
const BOUNDS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

/// The route label of a request that matches no route.
const NO_ROUTE: &str = "none";

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: &'static str,
    route: &'static str,
    status: u16,
}

type Route = [(&'static str, &'static str); 1];

/// Counters and times of the requests that were answered.
#[derive(Debug)]
pub(crate) struct Requests {
    total: Family<RequestLabels, Counter>,
    seconds: Family<Route, Histogram, fn() -> Histogram>,
}

/// A request in progress. It is counted when this value is dropped: with status 500 unless another was set, so that a handler that
/// panics is counted, too.
#[derive(Debug)]
pub(crate) struct Watched<'r> {
    requests: &'r Requests,
    labels: RequestLabels,
    started: Instant,
}

impl Requests {
    pub(super) fn registered(registry: &mut Registry) -> Self {
        let total = Family::default();
        let seconds: Family<Route, Histogram, fn() -> Histogram> = Family::new_with_constructor(|| Histogram::new(BOUNDS));
        registry.register("http_requests", "Requests answered", total.clone());
        let help = "Time from a request's arrival, its body read, to its answer";
        registry.register_with_unit("http_request_duration", help, Unit::Seconds, seconds.clone());
        Self { total, seconds }
    }

    /// Starts the clock of a request.
    pub(crate) fn watch(&self, method: &Method) -> Watched<'_> {
        let labels = RequestLabels { method: known(method), route: NO_ROUTE, status: 500 };
        Watched { requests: self, labels, started: Instant::now() }
    }
}

impl Watched<'_> {
    /// Sets the route template that the request matched.
    pub(crate) fn matched(&mut self, template: &'static str) {
        self.labels.route = template;
    }

    /// Sets the status of the response.
    pub(crate) fn answered(&mut self, status: u16) {
        self.labels.status = status;
    }

    /// The route template that the request matched, or `none`.
    pub(crate) fn route(&self) -> &'static str {
        self.labels.route
    }

    /// The time since the request began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        self.requests.total.get_or_create(&self.labels).inc();
        self.requests.seconds.get_or_create(&[("route", self.labels.route)]).observe(self.started.elapsed().as_secs_f64());
    }
}

fn known(method: &Method) -> &'static str {
    const KNOWN: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    KNOWN.into_iter().find(|name| *name == method.as_str()).unwrap_or("other")
}
