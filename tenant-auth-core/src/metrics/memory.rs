//! The meter of answers from memory: how often the memory knew, how often this process looked for changes, and how long changes that
//! narrow a right waited for their acknowledgement.

use std::time::Duration;

use prometheus_client::{
    metrics::{counter::Counter, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};

/// Histogram buckets in seconds: five quarters of a freshness from 20 ms to 1 s.
const BOUNDS: [f64; 7] = [0.01, 0.03, 0.07, 0.15, 0.3, 0.7, 1.5];

/// The meter. Clones count together.
#[derive(Debug, Clone)]
pub(crate) struct MemoryMeter {
    looks: Counter,
    hits: Counter,
    misses: Counter,
    waited: Histogram,
    polls: Gauge,
}

impl MemoryMeter {
    pub(crate) fn registered(registry: &mut Registry) -> Self {
        let (looks, hits, misses) = (Counter::default(), Counter::default(), Counter::default());
        let waited = Histogram::new(BOUNDS);
        registry.register("memory_looks", "Looks for changes that others made", looks.clone());
        registry.register("memory_hits", "Sessions, keys and organizations that were remembered", hits.clone());
        registry.register("memory_misses", "Those that were asked of the database", misses.clone());
        let help = "How long changes that end or narrow a right waited before they were told";
        registry.register_with_unit("acknowledgement_wait", help, Unit::Seconds, waited.clone());
        let polls = Gauge::default();
        registry.register("change_polls", "Backends that wait for changes now", polls.clone());
        Self { looks, hits, misses, waited, polls }
    }

    pub(crate) fn looked(&self) {
        self.looks.inc();
    }

    pub(crate) fn asked(&self, is_known: bool) {
        if is_known { &self.hits } else { &self.misses }.inc();
    }

    pub(crate) fn poll_began(&self) {
        self.polls.inc();
    }

    pub(crate) fn poll_ended(&self) {
        self.polls.dec();
    }

    pub(crate) fn waited(&self, time: Duration) {
        self.waited.observe(time.as_secs_f64());
    }
}
