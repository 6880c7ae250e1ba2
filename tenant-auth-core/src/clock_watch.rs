//! The watch over the clock: whether it was set forward while the process runs. What is deleted because its time has come is not brought
//! back when the clock is put right, so nothing is deleted by a clock that is ahead of the time that has passed on a steady
//! (monotonic) one. What the clock was when the process started is believed.

use std::{
    sync::atomic::{AtomicI64, Ordering::Relaxed},
    time::Duration,
};

use crate::{ports::Clock, time::Timestamp};

/// By how much a clock that is kept right may be set forward between two looks, and more: NTP mends less at once, and what an hour
/// brings to its end would have ended soon.
const PLAUSIBLE: Duration = Duration::from_secs(3_600);

/// By how much the clock is ahead of the steady one, in milliseconds: the most that was plausible. A clock that is set back and put right
/// again has not leapt.
#[derive(Debug)]
pub(crate) struct ClockWatch(AtomicI64);

impl ClockWatch {
    /// Begins to watch; what the clock says now is believed.
    pub(crate) fn over(clock: &dyn Clock) -> Self {
        Self(distance(clock).into())
    }

    /// How far the clock is ahead of where it would be had nobody set it; `None` where that is plausible. It ends when the clock is put
    /// right, and with the process.
    pub(crate) fn leap(&self, clock: &dyn Clock) -> Option<Duration> {
        let distance = distance(clock);
        let ahead = Timestamp::from_millis(distance).since(Timestamp::from_millis(self.0.load(Relaxed)));
        if ahead > PLAUSIBLE {
            return Some(ahead);
        }
        self.0.fetch_max(distance, Relaxed);
        None
    }
}

fn distance(clock: &dyn Clock) -> i64 {
    clock.now().millis().saturating_sub(i64::try_from(clock.steady().as_millis()).unwrap_or(i64::MAX))
}

#[cfg(all(test, feature = "testing"))]
mod tests {
    use super::*;
    use crate::ports::MockClock;

    const HOUR: Duration = PLAUSIBLE;

    #[test]
    fn time_that_passes_is_no_leap_and_a_clock_that_is_set_forward_is() {
        let clock = MockClock::at(Timestamp::from_millis(1_000));
        let watch = ClockWatch::over(&clock);
        clock.advance(HOUR * 9_000);
        assert_eq!(watch.leap(&clock), None);
        clock.set(clock.now().plus(HOUR));
        assert_eq!(watch.leap(&clock), None, "an hour is plausible");
        clock.set(clock.now().plus(HOUR * 2));
        assert_eq!(watch.leap(&clock), Some(HOUR * 2));
        clock.advance(HOUR * 3);
        assert_eq!(watch.leap(&clock), Some(HOUR * 2), "it is as wrong as before");
        clock.set(clock.now().minus(HOUR * 2));
        assert_eq!(watch.leap(&clock), None);
    }

    #[test]
    fn a_clock_that_was_set_back_is_put_right() {
        let clock = MockClock::at(Timestamp::from_secs(1_000_000_000));
        let watch = ClockWatch::over(&clock);
        clock.set(clock.now().minus(HOUR * 24));
        assert_eq!(watch.leap(&clock), None);
        clock.advance(HOUR);
        clock.set(clock.now().plus(HOUR * 24));
        assert_eq!(watch.leap(&clock), None);
    }
}
