//! A circuit breaker before a server that hangs: a question that timed out costs one request its patience, and those that come in the
//! next moments are refused at once. Then one request at a time asks again (a probe), and none waits for another's probe
//! (behaviour.md, B212).

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// How long nobody asks a server that let a question time out: as long as 503 asks its receivers to wait.
const PAUSE: Duration = Duration::from_secs(2);

/// Whether the server is asked.
#[derive(Default)]
pub(super) struct Breaker(Mutex<State>);

#[derive(Default)]
struct State {
    /// When a question timed out that nothing has been answered since.
    hung: Option<Instant>,
    /// Whether somebody is asking again.
    is_probed: bool,
    /// When the server last answered a question that the breaker lets through.
    answered: Option<Instant>,
    /// When it last answered a question in the background.
    heard: Option<Instant>,
    /// When such an answer made up for a question that timed out, since one that the breaker lets through was answered.
    forgiven: Option<Instant>,
}

/// A question that may be asked. Dropped without an outcome, as when its request was given up, it decides nothing.
pub(super) struct Attempt<'a> {
    breaker: &'a Breaker,
    began: Instant,
    is_probe: bool,
}

impl Breaker {
    /// The right to ask the server; `None` while it is not to be asked.
    pub(super) fn begin(&self, now: Instant) -> Option<Attempt<'_>> {
        let mut state = self.state();
        let is_probe = match state.hung {
            None => false,
            Some(hung) if !state.is_probed && now.saturating_duration_since(hung) >= PAUSE => true,
            Some(_) => return None,
        };
        state.is_probed |= is_probe;
        Some(Attempt { breaker: self, began: now, is_probe })
    }

    /// The server answered a question that the breaker was not asked about. It may hang at the others alone: such an answer makes up for
    /// one timeout, and from then on they are judged by themselves.
    pub(super) fn heard(&self, now: Instant) {
        let mut state = self.state();
        state.heard = Some(now);
        if state.hung.is_some() && state.forgiven.is_none() {
            state.forgiven = Some(now);
            state.hung = None;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Attempt<'_> {
    /// The server answered, whatever it was.
    pub(super) fn answered(self, now: Instant) {
        let mut state = self.breaker.state();
        (state.answered, state.hung, state.forgiven) = (Some(now), None, None);
    }

    /// Nothing came in time. Where something was answered meanwhile, it was this question that was slow, and not the server.
    pub(super) fn hung(self, now: Instant) {
        let mut state = self.breaker.state();
        let is_since = |at: Option<Instant>| at.is_some_and(|at| at > self.began);
        let is_alive = is_since(state.answered) || is_since(state.forgiven);
        if !is_alive && state.forgiven.is_none() && is_since(state.heard) {
            state.forgiven = Some(now);
        } else if !is_alive && (self.is_probe || state.hung.is_none()) {
            state.hung = Some(now);
        }
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if self.is_probe {
            self.breaker.state().is_probed = false;
        }
    }
}

impl fmt::Debug for Breaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Breaker(open: {})", self.state().hung.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(start: Instant, seconds: u64) -> Instant {
        start + Duration::from_secs(seconds)
    }

    #[test]
    fn a_server_that_hangs_costs_one_request_its_patience_and_a_probe_now_and_then() {
        let (breaker, start) = (Breaker::default(), Instant::now());
        let (first, second) = (breaker.begin(start).expect("closed"), breaker.begin(start).expect("closed"));
        first.hung(at(start, 5));
        assert!(breaker.begin(at(start, 6)).is_none(), "refused at once");
        second.hung(at(start, 6)); // began before: the pause is not longer for it
        let probe = breaker.begin(at(start, 7)).expect("a probe");
        assert!(breaker.begin(at(start, 8)).is_none(), "nobody waits for the probe");
        probe.hung(at(start, 12));
        assert!(breaker.begin(at(start, 13)).is_none());
        breaker.begin(at(start, 14)).expect("a probe").answered(at(start, 14));
        for _ in 0..2 {
            breaker.begin(at(start, 14)).expect("closed").answered(at(start, 15));
        }
    }

    #[test]
    fn one_slow_question_closes_nothing_while_others_are_answered() {
        let (breaker, start) = (Breaker::default(), Instant::now());
        let slow = breaker.begin(start).expect("closed");
        breaker.begin(at(start, 1)).expect("closed").answered(at(start, 2));
        slow.hung(at(start, 5));
        assert!(breaker.begin(at(start, 5)).is_some());
    }

    #[test]
    fn an_answer_in_the_background_counts() {
        let (breaker, start) = (Breaker::default(), Instant::now());
        let (first, second) = (breaker.begin(start).expect("closed"), breaker.begin(at(start, 1)).expect("closed"));
        first.hung(at(start, 5));
        assert!(breaker.begin(at(start, 5)).is_none());
        breaker.heard(at(start, 6));
        second.hung(at(start, 6)); // began before: over the same connections
        breaker.begin(at(start, 6)).expect("closed").answered(at(start, 7));
        breaker.begin(at(start, 7)).expect("closed").hung(at(start, 12));
        breaker.heard(at(start, 13));
        assert!(breaker.begin(at(start, 13)).is_some(), "as at first");
    }

    #[test]
    fn answers_in_the_background_do_not_hide_that_the_questions_hang() {
        let (breaker, start) = (Breaker::default(), Instant::now());
        let mut now = 0;
        let mut wait = |seconds| {
            now += seconds;
            breaker.heard(at(start, now)); // all the time
            at(start, now)
        };
        for _ in 0..2 {
            let attempt = breaker.begin(wait(1)).expect("closed");
            attempt.hung(wait(5));
        }
        for _ in 0..3 {
            assert!(breaker.begin(wait(1)).is_none());
            breaker.begin(wait(1)).expect("a probe").hung(wait(5));
        }
        wait(2);
        breaker.begin(wait(0)).expect("a probe").answered(wait(1));
        assert!(breaker.begin(wait(0)).is_some());
    }

    #[test]
    fn a_probe_that_was_given_up_leaves_the_next_request_to_ask() {
        let (breaker, start) = (Breaker::default(), Instant::now());
        breaker.begin(start).expect("closed").hung(start);
        drop(breaker.begin(at(start, 2)).expect("a probe"));
        assert!(breaker.begin(at(start, 2)).is_some());
    }
}
