//! The last look, as every request reads it to judge whether it is fresh: without a lock.

use std::time::Duration;

use super::{
    moment::Moment,
    sync::{AtomicU64, Ordering},
};

/// A reader that meets a writer may see parts of two looks, and then takes the age of the older one: both clocks only grow, and when the
/// wall clock is set back, nothing is fresh.
#[derive(Debug, Default)]
pub(super) struct LastLook {
    /// 0: there is none that counts.
    steady: AtomicU64,
    wall: AtomicU64,
    freshness: AtomicU64,
}

/// When the last look began, and how long it may be used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Last {
    pub(super) began: Moment,
    pub(super) freshness: Duration,
}

impl LastLook {
    /// The last look, if it counts.
    pub(super) fn read(&self) -> Option<Last> {
        let steady = self.steady.load(Ordering::Acquire);
        let began = Moment { steady, wall: self.wall.load(Ordering::Acquire) };
        (steady != 0).then(|| Last { began, freshness: Duration::from_nanos(self.freshness.load(Ordering::Acquire)) })
    }

    /// A look counts from now on. Called after it was applied.
    pub(super) fn publish(&self, began: Moment, freshness: Duration) {
        let nanos = u64::try_from(freshness.as_nanos()).unwrap_or(u64::MAX);
        self.freshness.store(nanos, Ordering::Release);
        self.wall.store(began.wall, Ordering::Release);
        self.steady.store(began.steady, Ordering::Release);
    }

    /// None counts any more.
    pub(super) fn withdraw(&self) {
        self.steady.store(0, Ordering::Release);
    }
}
