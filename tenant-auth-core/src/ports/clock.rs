//! The port for time. Every expiry, rate limiter and retry schedule asks the [`Clock`], so that a test can move time instead of
//! waiting for it.

use std::{fmt, time::Duration};

use crate::time::Timestamp;

/// A source of the current time.
pub trait Clock: fmt::Debug + Send + Sync {
    /// The current time.
    fn now(&self) -> Timestamp;

    /// How much time has passed since some moment, on a clock that nobody sets (monotonic): it tells time that passed from a clock that
    /// was set. By default [`Clock::now`] itself, as of a clock that nobody sets.
    fn steady(&self) -> Duration {
        Duration::from_millis(u64::try_from(self.now().millis()).unwrap_or(0))
    }
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

    fn steady(&self) -> Duration {
        steady()
    }
}

/// The time since some moment, on a clock that nobody sets and that runs on while the machine sleeps (CLOCK_BOOTTIME; tokio's and the
/// standard library's stand still then). Read without a system call.
#[cfg(unix)]
pub(crate) fn steady() -> Duration {
    use rustix::time::{ClockId, clock_gettime};

    #[cfg(any(target_os = "linux", target_os = "android"))]
    const STEADY: ClockId = ClockId::Boottime;
    // Elsewhere this clock runs on during sleep (macOS), or there is none that does.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const STEADY: ClockId = ClockId::Monotonic;

    let time = clock_gettime(STEADY);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(not(unix))]
pub(crate) fn steady() -> Duration {
    static FIRST: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    FIRST.elapsed()
}

/// A clock that stands still until it is moved.
#[cfg(feature = "testing")]
#[derive(Debug)]
pub struct MockClock {
    now: std::sync::atomic::AtomicI64,
    /// By how much it was set, in milliseconds: no time passed by that.
    set_by: std::sync::atomic::AtomicI64,
}

#[cfg(feature = "testing")]
impl MockClock {
    /// Stands at `start`.
    pub fn at(start: Timestamp) -> Self {
        Self { now: start.millis().into(), set_by: 0.into() }
    }

    /// Moves forward by `step`.
    pub fn advance(&self, step: Duration) {
        self.now.store(self.now().plus(step).millis(), std::sync::atomic::Ordering::SeqCst);
    }

    /// Is set to this time, as a clock that is wrong, or is put right: no time passes.
    pub fn set(&self, time: Timestamp) {
        use std::sync::atomic::Ordering::SeqCst;

        let before = self.now.swap(time.millis(), SeqCst);
        self.set_by.fetch_add(time.millis() - before, SeqCst);
    }
}

#[cfg(feature = "testing")]
impl Clock for MockClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.now.load(std::sync::atomic::Ordering::SeqCst))
    }

    fn steady(&self) -> Duration {
        let passed = self.now().millis() - self.set_by.load(std::sync::atomic::Ordering::SeqCst);
        Duration::from_millis(u64::try_from(passed).unwrap_or(0))
    }
}
