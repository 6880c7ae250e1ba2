//! Timeouts of one connection: its state, and the deadline of the next step.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Poll, ready},
    time::Duration,
};

use tokio::time::{Instant, sleep_until};

/// The timeout of a request head: from accepting, or from the first byte of a later head, to the head's end.
const HEAD: Duration = Duration::from_secs(10);
/// The idle timeout between an answer and the next request (keep-alive).
const IDLE: Duration = Duration::from_secs(75);
/// The write timeout: how long a client may take nothing of an answer.
const STUCK: Duration = Duration::from_secs(30);

/// The state of a connection; shared with the search for the idlest one.
#[derive(Debug)]
pub(super) struct Pulse(Mutex<Beat>);

#[derive(Debug)]
struct Beat {
    /// Requests whose answer was not handed over yet; HTTP/1.1 has one at a time.
    requests: u32,
    /// When the first byte of the head that is being read came.
    head_since: Option<Instant>,
    /// When something last came, left or was answered.
    last: Instant,
    /// Since when the client has taken nothing of what there is to write.
    stuck_since: Option<Instant>,
}

/// The cost of closing a connection; the one with the lowest is closed first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Worth {
    is_answering: bool,
    last: Instant,
}

impl Pulse {
    /// A connection that was just accepted: its first head is due.
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self(Mutex::new(Beat { requests: 0, head_since: Some(now), last: now, stuck_since: None }))
    }

    /// Bytes arrived: between requests they begin the next head.
    pub(super) fn read(&self) {
        let mut beat = self.beat();
        beat.last = Instant::now();
        if beat.requests == 0 && beat.head_since.is_none() {
            beat.head_since = Some(beat.last);
        }
    }

    /// The client took something.
    pub(super) fn wrote(&self) {
        let mut beat = self.beat();
        beat.last = Instant::now();
        beat.stuck_since = None;
        // A head that came while an answer was still leaving is looked at after that.
        beat.head_since = beat.head_since.map(|_| beat.last);
    }

    /// The client takes nothing at the moment.
    pub(super) fn is_stuck(&self) {
        self.beat().stuck_since.get_or_insert_with(Instant::now);
    }

    /// The head is complete: the service has the request now, and the service's own time limits apply.
    pub(super) fn asked(&self) {
        let mut beat = self.beat();
        beat.requests += 1;
        beat.head_since = None;
    }

    /// The answer was handed over.
    pub(super) fn answered(&self) {
        let mut beat = self.beat();
        beat.requests = beat.requests.saturating_sub(1);
        beat.last = Instant::now();
    }

    pub(super) fn worth(&self) -> Worth {
        let beat = self.beat();
        Worth { is_answering: beat.requests > 0, last: beat.last }
    }

    /// Resolves when the client has exceeded a timeout. Poll it after the connection and in the same task, because the connection's
    /// progress moves the deadline.
    pub(super) async fn overdue(&self) {
        let mut alarm = pin!(sleep_until(Instant::now()));
        poll_fn(|context| {
            while let Some(deadline) = self.deadline() {
                if deadline <= Instant::now() {
                    return Poll::Ready(());
                }
                if alarm.deadline() != deadline {
                    alarm.as_mut().reset(deadline);
                }
                ready!(alarm.as_mut().poll(context));
            }
            Poll::Pending
        })
        .await;
    }

    fn deadline(&self) -> Option<Instant> {
        let beat = self.beat();
        match (beat.stuck_since, beat.requests, beat.head_since) {
            (Some(since), ..) => Some(since + STUCK),
            (None, 1.., _) => None,
            (None, 0, Some(since)) => Some(since + HEAD),
            (None, 0, None) => Some(beat.last + IDLE),
        }
    }

    fn beat(&self) -> MutexGuard<'_, Beat> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whole seconds until it is overdue.
    async fn left(pulse: &Pulse) -> u64 {
        let since = Instant::now();
        pulse.overdue().await;
        since.elapsed().as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn each_step_has_its_time() {
        let pulse = Pulse::new();
        pulse.read();
        assert_eq!(left(&pulse).await, 10, "dripping does not lengthen a head's time");

        let pulse = Pulse::new();
        pulse.asked();
        assert_eq!(pulse.deadline(), None, "the service has its own deadlines");
        pulse.wrote();
        pulse.answered();
        assert_eq!(pulse.deadline(), Some(Instant::now() + IDLE));
        tokio::time::advance(Duration::from_secs(60)).await;
        pulse.read();
        assert_eq!(left(&pulse).await, 10, "a later head's time begins with its first byte");
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_is_not_taken_is_cut_and_a_slow_reader_is_not() {
        let pulse = Pulse::new();
        pulse.asked();
        for _ in 0..10 {
            pulse.is_stuck();
            tokio::time::advance(Duration::from_secs(29)).await;
            pulse.wrote();
        }
        pulse.answered();
        pulse.is_stuck();
        assert_eq!(left(&pulse).await, 30);
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_that_came_early_waits_for_the_answer_before_it() {
        let pulse = Pulse::new();
        pulse.asked();
        pulse.answered();
        pulse.is_stuck();
        pulse.read();
        tokio::time::advance(Duration::from_secs(20)).await;
        pulse.wrote();
        assert_eq!(left(&pulse).await, 10);
    }

    #[tokio::test(start_paused = true)]
    async fn the_idlest_is_worth_least_and_an_answer_in_the_making_more() {
        let old = Pulse::new();
        let busy = Pulse::new();
        busy.asked();
        tokio::time::advance(Duration::from_secs(1)).await;
        let new = Pulse::new();
        assert!(old.worth() < new.worth() && new.worth() < busy.worth());
    }
}
