//! Attempts to send a mail, of the outbox as of sign-up: the lease of a claim, the time limit of an attempt, and the retry schedule.

use std::time::Duration;

use crate::time::Timestamp;

/// The lease of a claimed mail, during which no other worker tries it. What a process that died had claimed goes out after it.
pub(crate) const LEASE: Duration = Duration::from_secs(45);
/// The time limit of one attempt; within the lease by more than the outcome takes to record and the servers' clocks differ.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
/// The retry schedule: the wait after each failed attempt; the last one repeats (behaviour.md, B111).
pub(crate) const RETRIES: [Duration; 5] = [
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_secs(5 * 60),
    Duration::from_secs(30 * 60),
    Duration::from_secs(3_600),
];

/// The wait after the failure of the attempt with this number, from 1.
pub(crate) fn wait_after(attempt: i64) -> Duration {
    let tried = usize::try_from(attempt).unwrap_or(1).saturating_sub(1);
    let [.., last] = RETRIES;
    RETRIES.get(tried).copied().unwrap_or(last)
}

/// For recording what came of an attempt, and for clocks that differ.
const MARGIN: Duration = Duration::from_secs(5);

/// Whether so little is left of a claim's lease that another worker might begin before an attempt ends: the answer to the commit of the
/// claim came late. The mail is not sent then, so that nobody gets it twice; after the lease it is tried again.
pub(crate) fn comes_too_late(lease_until: Timestamp, now: Timestamp) -> bool {
    lease_until.since(now) < PATIENCE + MARGIN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_wait_repeats() {
        assert_eq!([0, 1, 2, 5, 6, 100].map(|attempt| wait_after(attempt).as_secs()), [5, 5, 30, 3_600, 3_600, 3_600]);
    }

    #[test]
    fn an_attempt_that_would_outlast_its_lease_comes_too_late() {
        let claimed_at = Timestamp::from_millis(0);
        let until = claimed_at.plus(LEASE);
        assert!(!comes_too_late(until, claimed_at) && !comes_too_late(until, claimed_at.plus(LEASE - PATIENCE - MARGIN)));
        assert!(comes_too_late(until, claimed_at.plus(LEASE - PATIENCE - MARGIN + Duration::from_millis(1))));
        assert!(comes_too_late(until, until.plus(LEASE)));
    }
}
