//! The meter of a queue of jobs that wait for a thread: how many wait, how long they wait, and how long they run.

use std::time::Instant;

use prometheus_client::{
    metrics::{counter::Counter, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};

/// Histogram buckets in seconds: a hash takes 10 to 25 ms, and a full queue of hashes seconds.
const BOUNDS: [f64; 10] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

/// The meter of one queue. Clones count together.
#[derive(Debug, Clone)]
pub(crate) struct WorkMeter {
    waiting: Gauge,
    running: Gauge,
    refused: Counter,
    waited: Histogram,
    worked: Histogram,
}

/// A job in the queue.
#[derive(Debug)]
pub(crate) struct QueuedJob {
    meter: WorkMeter,
    since: Instant,
}

/// A job that a thread runs.
#[derive(Debug)]
pub(crate) struct Running {
    meter: WorkMeter,
    since: Instant,
}

impl WorkMeter {
    /// A meter that is not registered, so that no scrape shows it.
    pub(crate) fn unread() -> Self {
        Self {
            waiting: Gauge::default(),
            running: Gauge::default(),
            refused: Counter::default(),
            waited: Histogram::new(BOUNDS),
            worked: Histogram::new(BOUNDS),
        }
    }

    pub(super) fn registered(registry: &mut Registry, name: &str) -> Self {
        let meter = Self::unread();
        registry.register(format!("{name}_waiting"), "Jobs in the queue", meter.waiting.clone());
        registry.register(format!("{name}_running"), "Jobs at work", meter.running.clone());
        registry.register(
            format!("{name}_refused"),
            "Jobs refused: no place in the queue, or too long in it",
            meter.refused.clone(),
        );
        registry.register_with_unit(format!("{name}_wait"), "Time in the queue", Unit::Seconds, meter.waited.clone());
        registry.register_with_unit(name, "Time at work", Unit::Seconds, meter.worked.clone());
        meter
    }

    /// Counts a job into the queue. Dropping the result counts the job out.
    pub(crate) fn wait(&self) -> QueuedJob {
        self.waiting.inc();
        QueuedJob { meter: self.clone(), since: Instant::now() }
    }

    /// Counts a job that was refused: it got no place in the queue, lost it, or waited in it for too long.
    pub(crate) fn refused(&self) {
        self.refused.inc();
    }
}

impl QueuedJob {
    /// The job leaves the queue and starts.
    pub(crate) fn run(self) -> Running {
        self.meter.waited.observe(self.since.elapsed().as_secs_f64());
        self.meter.running.inc();
        Running { meter: self.meter.clone(), since: Instant::now() }
    }
}

impl Drop for QueuedJob {
    fn drop(&mut self) {
        self.meter.waiting.dec();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.meter.running.dec();
        self.meter.worked.observe(self.since.elapsed().as_secs_f64());
    }
}
