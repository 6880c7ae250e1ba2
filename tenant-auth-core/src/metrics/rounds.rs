//! When each of the worker's loops last did what was due. A loop whose rounds fail, or do not end, shows by the age of its last good
//! one, whatever the other loops do. A round that has much to do is not late while it gets on, for some hours: one that never ends gets on,
//! too. After one that failed only a good one counts, for what fails at its end each time gets on before that. Ages are those of a steady clock, which nobody sets.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use super::Label;

/// A loop of the worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkerLoop {
    Deliveries,
    Mails,
    ResetRequests,
    SignUps,
    Removals,
    Sweep,
}

impl Label for WorkerLoop {
    const NAME: &'static str = "loop";
    const ALL: &'static [Self] = &[Self::Deliveries, Self::Mails, Self::ResetRequests, Self::SignUps, Self::Removals, Self::Sweep];

    fn index(self) -> usize {
        self as usize
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Deliveries => "deliveries",
            Self::Mails => "mails",
            Self::ResetRequests => "reset_requests",
            Self::SignUps => "sign_ups",
            Self::Removals => "removals",
            Self::Sweep => "sweep",
        }
    }
}

/// So long after a good round what the next one gets done counts, before that one has ended.
const LONGEST_ROUND: Duration = Duration::from_secs(6 * 3_600);

/// The last rounds, by the index of their loop.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    /// In milliseconds of the steady clock and one more; 0 before the first.
    last: [AtomicU64; WorkerLoop::ALL.len()],
    /// The same of the last that was done.
    last_done: [AtomicU64; WorkerLoop::ALL.len()],
    /// Whether a round failed since the last good one.
    has_failed: [AtomicBool; WorkerLoop::ALL.len()],
}

impl Rounds {
    /// Notes a round that did what was due.
    pub(crate) fn done(&self, of: WorkerLoop, steady: Duration) {
        self.set_failed(of, false);
        for last in [&self.last, &self.last_done].into_iter().filter_map(|last| last.get(of.index())) {
            last.store(stamp(steady), Relaxed);
        }
    }

    /// Notes that a part of what is due is done, in a round that goes on.
    pub(crate) fn gets_on(&self, of: WorkerLoop, steady: Duration) {
        let has_failed = self.has_failed.get(of.index()).is_some_and(|failed| failed.load(Relaxed));
        let done = self.last_done.get(of.index()).and_then(|last| passed(last, steady));
        let is_endless = done.is_some_and(|done| done > LONGEST_ROUND);
        if let Some(last) = self.last.get(of.index()).filter(|_| !has_failed && !is_endless) {
            last.store(stamp(steady), Relaxed);
        }
    }

    /// Notes that a round fails.
    pub(crate) fn fails(&self, of: WorkerLoop) {
        self.set_failed(of, true);
    }

    fn set_failed(&self, of: WorkerLoop, failed: bool) {
        if let Some(has_failed) = self.has_failed.get(of.index()) {
            has_failed.store(failed, Relaxed);
        }
    }

    /// How long ago the last round of each loop was; nothing of a loop that does not run in this process.
    pub(crate) fn ages(&self, steady: Duration) -> impl Iterator<Item = (WorkerLoop, Duration)> {
        WorkerLoop::ALL.iter().zip(&self.last).filter_map(move |(of, last)| Some((*of, passed(last, steady)?)))
    }
}

/// A time as it is kept.
fn stamp(steady: Duration) -> u64 {
    millis(steady).saturating_add(1)
}

/// How long ago a kept time was.
fn passed(kept: &AtomicU64, steady: Duration) -> Option<Duration> {
    match kept.load(Relaxed) {
        0 => None,
        kept => Some(Duration::from_millis(millis(steady).saturating_sub(kept - 1))),
    }
}

fn millis(steady: Duration) -> u64 {
    u64::try_from(steady.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::assert_in_order;

    #[test]
    fn loops_stand_where_their_index_says() {
        assert_in_order::<WorkerLoop>();
    }

    #[test]
    fn each_loop_has_the_age_of_its_own_round() {
        let rounds = Rounds::default();
        rounds.done(WorkerLoop::Mails, Duration::ZERO);
        rounds.done(WorkerLoop::Sweep, Duration::from_secs(7));
        let ages: Vec<_> = rounds.ages(Duration::from_secs(10)).collect();
        assert_eq!(ages, [(WorkerLoop::Mails, Duration::from_secs(10)), (WorkerLoop::Sweep, Duration::from_secs(3))]);
    }

    #[test]
    fn a_round_that_gets_on_is_not_late_unless_the_one_before_failed() {
        let rounds = Rounds::default();
        let age = |now| rounds.ages(Duration::from_secs(now)).next().map(|(_, age)| age.as_secs());
        rounds.done(WorkerLoop::Sweep, Duration::ZERO);
        rounds.gets_on(WorkerLoop::Sweep, Duration::from_secs(600));
        assert_eq!(age(610), Some(10));
        rounds.fails(WorkerLoop::Sweep);
        rounds.gets_on(WorkerLoop::Sweep, Duration::from_secs(660));
        assert_eq!(age(670), Some(70));
        rounds.done(WorkerLoop::Sweep, Duration::from_secs(700));
        rounds.gets_on(WorkerLoop::Sweep, Duration::from_secs(800));
        assert_eq!(age(800), Some(0));
    }

    #[test]
    fn a_round_that_never_ends_is_late_however_it_gets_on() {
        let rounds = Rounds::default();
        let age = |now| rounds.ages(now).next().map(|(_, age)| age);
        let minute = Duration::from_secs(60);
        rounds.done(WorkerLoop::Sweep, Duration::ZERO);
        rounds.gets_on(WorkerLoop::Sweep, LONGEST_ROUND);
        assert_eq!(age(LONGEST_ROUND), Some(Duration::ZERO));
        rounds.gets_on(WorkerLoop::Sweep, LONGEST_ROUND + minute);
        assert_eq!(age(LONGEST_ROUND + 2 * minute), Some(2 * minute));
        rounds.done(WorkerLoop::Sweep, LONGEST_ROUND + 3 * minute);
        rounds.gets_on(WorkerLoop::Sweep, LONGEST_ROUND + 4 * minute);
        assert_eq!(age(LONGEST_ROUND + 4 * minute), Some(Duration::ZERO));
    }
}
