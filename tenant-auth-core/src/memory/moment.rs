//! Durations as this process measures them, for how old a look is. The clock runs on while the machine sleeps, and the wall clock is
//! asked as well: the larger of the two differences counts. No two machines' clocks are compared.

use std::time::Duration;

use crate::ports::steady;

/// A point in time of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Nanoseconds of the clock that never goes back.
    pub(crate) steady: u64,
    /// Nanoseconds of the wall clock.
    pub(crate) wall: u64,
}

impl Moment {
    /// Now. Two reads without a system call.
    pub(crate) fn now() -> Self {
        Self { steady: nanos(steady()), wall: nanos(wall()) }
    }

    /// How long ago `earlier` was; without an end when the wall clock went back meanwhile.
    pub(crate) fn since(self, earlier: Self) -> Duration {
        match (self.steady.checked_sub(earlier.steady), self.wall.checked_sub(earlier.wall)) {
            (Some(steady), Some(wall)) => Duration::from_nanos(steady.max(wall)),
            _ => Duration::MAX,
        }
    }

    /// How long ago `earlier` was by the clock that is never set: the least that has passed, where the wall clock may have been set on.
    pub(crate) fn steadily_since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.steady.saturating_sub(earlier.steady))
    }
}

#[expect(clippy::disallowed_methods, reason = "how old a look is, is no time of the product")]
fn wall() -> Duration {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default()
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_difference_counts_and_a_wall_clock_that_went_back_is_no_duration() {
        let at = |steady, wall| Moment { steady, wall };
        assert_eq!(at(30, 1_020).since(at(10, 1_010)), Duration::from_nanos(20));
        assert_eq!(at(30, 1_060).since(at(10, 1_010)), Duration::from_nanos(50));
        assert_eq!(at(30, 1_000).since(at(10, 1_010)), Duration::MAX);
        assert_eq!(at(5, 1_020).since(at(10, 1_010)), Duration::MAX);
        let before = Moment::now();
        std::thread::sleep(Duration::from_millis(2));
        assert!((2..1_000).contains(&Moment::now().since(before).as_millis()));
    }
}
