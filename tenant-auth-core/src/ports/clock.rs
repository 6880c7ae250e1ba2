//! The port for time. Every expiry, rate limiter and retry schedule asks the [`Clock`], so that a test can move time instead of
//! waiting for it.

use std::fmt;

use crate::time::Timestamp;

/// A source of the current time.
pub trait Clock: fmt::Debug + Send + Sync {
    /// The current time.
    fn now(&self) -> Timestamp;
}

/// The operating system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the system clock")]
    fn now(&self) -> Timestamp {
        let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
    }
}

/// A clock that stands still until it is moved.
#[cfg(feature = "testing")]
#[derive(Debug)]
pub struct MockClock(std::sync::atomic::AtomicI64);

#[cfg(feature = "testing")]
impl MockClock {
    /// Stands at `start`.
    pub fn at(start: Timestamp) -> Self {
        Self(std::sync::atomic::AtomicI64::new(start.millis()))
    }

    /// Moves forward by `step`.
    pub fn advance(&self, step: std::time::Duration) {
        self.0.store(self.now().plus(step).millis(), std::sync::atomic::Ordering::SeqCst);
    }
}

#[cfg(feature = "testing")]
impl Clock for MockClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(std::sync::atomic::Ordering::SeqCst))
    }
}
