//! When each of the worker's loops last did what was due. A loop whose rounds fail, or do not end, shows by the age of its last good
//! one, whatever the other loops do. A round that has much to do is not late while it gets on; after one that failed only a good one
//! counts, for what fails at its end each time gets on before that. Ages are those of a steady clock, which nobody sets.

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

/// The last rounds, by the index of their loop.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    /// In milliseconds of the steady clock and one more; 0 before the first.
    last: [AtomicU64; WorkerLoop::ALL.len()],
    /// Whether a round failed since the last good one.
    has_failed: [AtomicBool; WorkerLoop::ALL.len()],
}

impl Rounds {
    /// Notes a round that did what was due.
    pub(crate) fn done(&self, of: WorkerLoop, steady: Duration) {
        self.set_failed(of, false);
        self.gets_on(of, steady);
    }

    /// Notes that a part of what is due is done, in a round that goes on.
    pub(crate) fn gets_on(&self, of: WorkerLoop, steady: Duration) {
        let has_failed = self.has_failed.get(of.index()).is_some_and(|failed| failed.load(Relaxed));
        if let Some(last) = self.last.get(of.index()).filter(|_| !has_failed) {
            last.store(millis(steady).saturating_add(1), Relaxed);
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
        let passed = move |last: &AtomicU64| match last.load(Relaxed) {
            0 => None,
            last => Some(Duration::from_millis(millis(steady).saturating_sub(last - 1))),
        };
        WorkerLoop::ALL.iter().zip(&self.last).filter_map(move |(of, last)| Some((*of, passed(last)?)))
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
}
