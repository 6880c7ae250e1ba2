//! Request counters and durations, by method, route template and status. A request that matches no route is counted under `none`,
//! and a method that HTTP does not define under `other`: a client that invents paths and methods adds no series. A request is counted
//! without a lock, in the counters of its route, which the router holds.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU16, AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use http::Method;
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeLabelSet},
    metrics::{MetricType, exemplar::Exemplar},
    registry::{Registry, Unit},
};

/// Histogram buckets in seconds: a verification takes one or two milliseconds, a login the time of a hash.
const BOUNDS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

/// The route label of a request that matches no route.
const NO_ROUTE: &str = "none";

/// More statuses than one operation has.
const STATUSES: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: &'static str,
    route: &'static str,
    status: u16,
}

type Route = [(&'static str, &'static str); 1];

/// The counters of one method on one route template.
#[derive(Debug, Default)]
pub(crate) struct RouteCounts {
    by_status: [StatusCount; STATUSES],
    buckets: [AtomicU64; BOUNDS.len() + 1],
    nanos: AtomicU64,
}

/// How many answers had a status; the status is 0 until one had.
#[derive(Debug, Default)]
struct StatusCount {
    status: AtomicU16,
    count: AtomicU64,
}

impl StatusCount {
    /// Makes this the place of a status, unless it became another's meanwhile.
    fn takes(&self, status: u16) -> bool {
        self.status.compare_exchange(0, status, Relaxed, Relaxed).map_or_else(|present| present == status, |_| true)
    }
}

impl RouteCounts {
    fn count(&self, status: u16, time: Duration) {
        let is_its = |place: &&StatusCount| {
            let present = place.status.load(Relaxed);
            present == status || (present == 0 && place.takes(status))
        };
        if let Some(place) = self.by_status.iter().find(is_its) {
            place.count.fetch_add(1, Relaxed);
        }
        let seconds = time.as_secs_f64();
        let bucket = BOUNDS.iter().position(|bound| seconds <= *bound).unwrap_or(BOUNDS.len());
        if let Some(bucket) = self.buckets.get(bucket) {
            bucket.fetch_add(1, Relaxed);
        }
        self.nanos.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Relaxed);
    }
}

/// Counters and times of the requests that were answered.
#[derive(Debug, Clone, Default)]
pub(crate) struct Requests(Arc<Mutex<ByRoute>>);

/// By route template and method.
type ByRoute = BTreeMap<(&'static str, &'static str), Arc<RouteCounts>>;

/// A request in progress. It is counted when this value is dropped: with status 500 unless another was set, so that a handler that
/// panics is counted, too.
#[derive(Debug)]
pub(crate) struct Watched<'r> {
    requests: &'r Requests,
    method: &'static str,
    route: &'static str,
    counts: Option<&'r RouteCounts>,
    status: u16,
    started: Instant,
}

impl Requests {
    pub(super) fn registered(registry: &mut Registry) -> Self {
        let requests = Self::default();
        registry.register_collector(Box::new(requests.clone()));
        requests
    }

    /// The counters of a method on a route template.
    pub(crate) fn of(&self, method: &Method, template: &'static str) -> Arc<RouteCounts> {
        self.counts(known(method), template)
    }

    /// Starts the clock of a request.
    pub(crate) fn watch(&self, method: &Method) -> Watched<'_> {
        self.watch_since(method, Instant::now())
    }

    /// The same for a request whose clock runs already.
    pub(crate) fn watch_since(&self, method: &Method, started: Instant) -> Watched<'_> {
        let method = known(method);
        Watched { requests: self, method, route: NO_ROUTE, counts: None, status: 500, started }
    }

    fn counts(&self, method: &'static str, route: &'static str) -> Arc<RouteCounts> {
        Arc::clone(self.all().entry((route, method)).or_default())
    }

    fn all(&self) -> MutexGuard<'_, ByRoute> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'r> Watched<'r> {
    /// Sets the route template that the request matched, and the counters of its method there if they are at hand.
    pub(crate) fn matched(&mut self, template: &'static str, counts: Option<&'r RouteCounts>) {
        self.route = template;
        self.counts = counts;
    }

    /// Sets the status of the response.
    pub(crate) fn answered(&mut self, status: u16) {
        self.status = status;
    }

    /// The route template that the request matched, or `none`.
    pub(crate) fn route(&self) -> &'static str {
        self.route
    }

    /// The time since the request began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        let time = self.started.elapsed();
        match self.counts {
            Some(counts) => counts.count(self.status, time),
            None => self.requests.counts(self.method, self.route).count(self.status, time),
        }
    }
}

impl Collector for Requests {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let all = self.all();
        let mut total = encoder.encode_descriptor("http_requests", "Requests answered", None, MetricType::Counter)?;
        for (&(route, method), counts) in &*all {
            for place in &counts.by_status {
                let (status, count) = (place.status.load(Relaxed), place.count.load(Relaxed));
                if count > 0 {
                    total
                        .encode_family(&RequestLabels { method, route, status })?
                        .encode_counter(&count, None::<&Exemplar<Route, f64>>)?;
                }
            }
        }
        let help = "Time from a request's arrival, its body read, to its answer";
        let mut seconds = encoder.encode_descriptor("http_request_duration", help, Some(&Unit::Seconds), MetricType::Histogram)?;
        for (route, times) in times(&all) {
            if times.count() > 0 {
                let route: Route = [("route", route)];
                let sum = Duration::from_nanos(times.nanos).as_secs_f64();
                seconds.encode_family(&route)?.encode_histogram::<Route>(sum, times.count(), &times.buckets(), None)?;
            }
        }
        Ok(())
    }
}

/// The times of one route, of all its methods.
#[derive(Default)]
struct Times {
    buckets: [u64; BOUNDS.len() + 1],
    nanos: u64,
}

impl Times {
    fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    fn buckets(&self) -> Vec<(f64, u64)> {
        BOUNDS.into_iter().chain([f64::INFINITY]).zip(self.buckets).collect()
    }
}

fn times(all: &ByRoute) -> BTreeMap<&'static str, Times> {
    let mut by_route = BTreeMap::<_, Times>::new();
    for (&(route, _), counts) in all {
        let times = by_route.entry(route).or_default();
        for (sum, bucket) in times.buckets.iter_mut().zip(&counts.buckets) {
            *sum += bucket.load(Relaxed);
        }
        times.nanos += counts.nanos.load(Relaxed);
    }
    by_route
}

fn known(method: &Method) -> &'static str {
    const KNOWN: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    KNOWN.into_iter().find(|name| *name == method.as_str()).unwrap_or("other")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_counted_by_method_route_and_status_and_timed_by_route() {
        let mut registry = Registry::with_prefix("tenant_auth");
        let requests = Requests::registered(&mut registry);
        let counts = requests.of(&Method::GET, "/org");
        for (method, status, counts) in
            [(Method::GET, 200, Some(&*counts)), (Method::GET, 404, Some(&counts)), (Method::HEAD, 200, None)]
        {
            let mut watched = requests.watch(&method);
            watched.matched("/org", counts);
            watched.answered(status);
        }
        drop(requests.watch(&Method::from_bytes(b"BREW").expect("a method")));
        counts.count(200, Duration::from_secs(20));
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).expect("is written");
        for line in [
            "tenant_auth_http_requests_total{method=\"GET\",route=\"/org\",status=\"200\"} 2",
            "tenant_auth_http_requests_total{method=\"GET\",route=\"/org\",status=\"404\"} 1",
            "tenant_auth_http_requests_total{method=\"HEAD\",route=\"/org\",status=\"200\"} 1",
            "tenant_auth_http_requests_total{method=\"other\",route=\"none\",status=\"500\"} 1",
            "tenant_auth_http_request_duration_seconds_count{route=\"/org\"} 4",
            "tenant_auth_http_request_duration_seconds_bucket{le=\"10.0\",route=\"/org\"} 3",
            "tenant_auth_http_request_duration_seconds_bucket{le=\"+Inf\",route=\"/org\"} 4",
        ] {
            assert!(text.lines().any(|written| written == line), "{line} is not in\n{text}");
        }
    }
}
