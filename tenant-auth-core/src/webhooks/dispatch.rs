//! The delivery loop of a worker. It works in rounds: what waits is claimed and what was attempted is recorded, in transactions that
//! take in one batch what has come together; each attempt runs in a task of its own. The first event after a pause is served at
//! once, and further rounds keep a distance, so that batches grow with the load. An outcome that is not recorded is attempted again
//! by the worker that finds the lease expired. So delivery is at least once, and never twice at the same time while the servers'
//! clocks differ by less than what an attempt leaves of the lease's margin.

use std::{future::Future, pin::pin, sync::Arc, time::Duration};

use tokio::{
    sync::watch,
    task::{Id as TaskId, JoinError, JoinSet},
    time::Instant,
};

use super::{
    attempt::{Ended, Outcome, attempt},
    look::Look,
    outcome::{Disablings, give_back, record},
    serve::{Claimed, serve},
    slots::Slots,
};
use crate::{
    error::Error,
    id::WebhookId,
    metrics::WorkerLoop,
    service::TenantAuth,
    store::{ClaimedDelivery, Work},
};

/// The least time between the beginnings of two rounds.
const DISTANCE: Duration = Duration::from_millis(25);
/// How long successes may wait to be recorded together. Failures do not wait: they decide how many attempts an endpoint gets.
const RECORD_WITHIN: Duration = Duration::from_millis(50);
/// How often due deliveries are looked for when no commit of this process wakes the loop: another process may have left some. Also
/// how long the loop rests after an error.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The least time until a delivery that becomes due is looked for.
const SOONEST: Duration = Duration::from_millis(20);

/// The delivery loop's state. One per worker.
pub(crate) struct Dispatcher {
    auth: TenantAuth,
    filled: watch::Receiver<()>,
    attempts: JoinSet<Result<Ended, Error>>,
    slots: Slots,
    look: Look,
    /// Outcomes that are not recorded yet.
    outcomes: Vec<Outcome>,
    /// Claims that came to nothing.
    given_back: Vec<(WebhookId, ClaimedDelivery)>,
    disablings: Disablings,
    /// When outcomes must be recorded.
    record_at: Option<Instant>,
    /// When to look for what waits.
    look_at: Instant,
    /// When the soonest retry is due that this worker knows of.
    retry_at: Option<Instant>,
    /// Whether deliveries wait for a slot to become free.
    is_short: bool,
    /// Before this, no round begins.
    rests_until: Instant,
}

type Done = Result<(TaskId, Result<Ended, Error>), JoinError>;

impl Dispatcher {
    pub(crate) fn new(auth: &TenantAuth) -> Self {
        let now = Instant::now();
        Self {
            auth: auth.clone(),
            filled: auth.work_left(Work::Deliveries),
            attempts: JoinSet::new(),
            slots: Slots::default(),
            look: Look::default(),
            outcomes: Vec::new(),
            given_back: Vec::new(),
            disablings: Disablings::new(auth),
            record_at: None,
            look_at: now,
            retry_at: None,
            is_short: false,
            rests_until: now,
        }
    }

    /// Runs until `shutdown` is ready. Attempts that are running then are finished and recorded; no other begins.
    pub(crate) async fn run_until(mut self, shutdown: impl Future<Output = ()>) {
        let mut shutdown = pin!(shutdown);
        loop {
            let next = [self.record_at, self.retry_at].into_iter().flatten().fold(self.look_at, Instant::min).max(self.rests_until);
            tokio::select! {
                biased;
                () = &mut shutdown => break,
                Some(done) = self.attempts.join_next_with_id() => self.finish(done),
                Ok(()) = self.filled.changed() => self.look_at = Instant::now(),
                () = self.look.tellable.more() => self.look_at = Instant::now(),
                () = tokio::time::sleep_until(next) => self.round_or_rest().await,
            }
        }
        self.slots.send_home();
        self.wait_and_record().await;
        if let Err(error) = self.record().await {
            tracing::warn!(error = %error.causes(), "the outcome of the last deliveries was not recorded; they are made again");
        }
        self.disablings.stop().await;
    }

    /// Runs until nothing is due and no attempt is in flight. For tests and `Worker::tick`.
    pub(crate) async fn drain(mut self) -> Result<(), Error> {
        self.look.is_restless = true;
        while self.serve().await? || !self.slots.are_all_free() || self.look.tellable.is_waiting() {
            self.wait().await;
            self.record().await?;
            self.disablings.finish().await;
            if self.look.tellable.is_waiting() {
                self.look.tellable.more().await;
            }
        }
        Ok(())
    }

    async fn round_or_rest(&mut self) {
        self.rests_until = Instant::now() + DISTANCE;
        match self.round().await {
            Ok(()) => self.auth.worked(WorkerLoop::Deliveries),
            Err(error) => {
                tracing::warn!(error = %error.causes(), "deliveries cannot be claimed or recorded; they are tried again shortly");
                let later = Instant::now() + LOOK_EVERY;
                (self.rests_until, self.look_at) = (later, later);
            }
        }
    }

    /// Records finished attempts and starts due ones.
    async fn round(&mut self) -> Result<(), Error> {
        let recorded = self.record().await;
        let now = Instant::now();
        let is_retry_due = self.retry_at.is_some_and(|retry_at| retry_at <= now);
        if (is_retry_due || self.look_at <= now) && !self.serve().await? {
            self.look_at = self.look_at.min(Instant::now() + self.pause().await);
        }
        recorded
    }

    /// Looks for what waits, claims it while slots are free, and starts the attempts; `true` when there was work.
    async fn serve(&mut self) -> Result<bool, Error> {
        let began = Instant::now();
        let mut free = self.slots.free_slots();
        if self.auth.sender().is_none() {
            free.close();
        }
        let has_slots = !free.are_none();
        let waiting = self.look.take(&self.auth, has_slots).await?;
        let served = serve(&self.auth, &waiting, &mut free).await?;
        self.look.served(&waiting, &free);
        self.look.turned(&waiting.events, served.cut_off);
        let worked = !waiting.events.is_empty() || !served.claimed.is_empty();
        self.is_short = served.leaves_deliveries || !has_slots;
        self.retry_at = self.retry_at.filter(|retry_at| *retry_at > began);
        // What others leave is looked for in time all the same.
        let again_at = if served.leaves_events { Some(began) } else { self.look.again_at };
        self.look_at = again_at.unwrap_or(began + LOOK_EVERY);
        served.unserved.into_iter().for_each(|webhook| self.slots.set_aside(webhook));
        self.start(served.claimed);
        Ok(worked)
    }

    fn start(&mut self, claimed: Vec<Claimed>) {
        for Claimed { endpoint, claim } in claimed {
            let lanes = self.slots.lanes(&endpoint.webhook.id, endpoint.webhook.failing_since.is_some());
            let task = self.attempts.spawn(attempt(self.auth.clone(), lanes, Arc::clone(&endpoint), claim));
            self.slots.take(task.id(), &endpoint.webhook.id);
        }
    }

    /// Frees the slots of attempts that have ended and keeps their outcomes for `record`.
    fn finish(&mut self, done: Done) {
        self.finish_one(done);
        while let Some(done) = self.attempts.try_join_next_with_id() {
            self.finish_one(done);
        }
        if self.is_short {
            self.look_at = Instant::now();
        }
    }

    fn finish_one(&mut self, done: Done) {
        let (task, outcome) = match done {
            Ok((task, outcome)) => (task, outcome),
            Err(panic) => (panic.id(), Err(Error::internal(panic))),
        };
        let webhook = self.slots.free(task);
        match outcome {
            Ok(Ended::Attempted(outcome)) => {
                self.slots.learn(&outcome.endpoint.webhook.id, outcome.succeeded(), outcome.attempted.made.took);
                let patience = if outcome.succeeded() { RECORD_WITHIN } else { Duration::ZERO };
                self.record_by(Instant::now() + patience);
                self.outcomes.push(outcome);
            }
            Ok(Ended::GivenBack(webhook, claim)) => {
                self.slots.has_slowed(&webhook);
                self.record_by(Instant::now());
                self.given_back.push((webhook, claim));
            }
            Err(error) => {
                let webhook = webhook.as_ref().map(|webhook| webhook.as_str());
                tracing::warn!(webhook, error = %error.causes(), "an attempt could not be made; it is made again after its lease");
            }
        }
    }

    fn record_by(&mut self, by: Instant) {
        self.record_at = Some(self.record_at.map_or(by, |record_at| record_at.min(by)));
    }

    /// Waits for the attempts that are running, and records meanwhile what has come to an end: others may take at once what was given
    /// back.
    async fn wait_and_record(&mut self) {
        loop {
            let record_at = self.record_at.map_or(self.rests_until, |record_at| record_at.max(self.rests_until));
            tokio::select! {
                biased;
                done = self.attempts.join_next_with_id() => match done {
                    Some(done) => self.finish(done),
                    None => return,
                },
                () = tokio::time::sleep_until(record_at), if self.record_at.is_some() => {
                    self.rests_until = Instant::now() + DISTANCE;
                    if self.record().await.is_err() {
                        self.rests_until = Instant::now() + LOOK_EVERY;
                    }
                }
            }
        }
    }

    /// Waits for the attempts that are running.
    async fn wait(&mut self) {
        while let Some(done) = self.attempts.join_next_with_id().await {
            self.finish(done);
        }
    }

    /// Records outcomes and gives claims back. When the database is unavailable, each is kept for the next try until its lease expires.
    async fn record(&mut self) -> Result<(), Error> {
        let recorded = self.record_outcomes().await;
        let given_back = self.give_back().await;
        let is_all_done = self.outcomes.is_empty() && self.given_back.is_empty();
        self.record_at = (!is_all_done).then(Instant::now);
        recorded.and(given_back)
    }

    async fn record_outcomes(&mut self) -> Result<(), Error> {
        if self.outcomes.is_empty() {
            return Ok(());
        }
        let recorded = record(&self.auth, &self.outcomes).await;
        let recorded = recorded.map(|hopeless| self.disablings.begin(&self.auth, hopeless));
        let now = self.auth.now();
        let retries = self.outcomes.iter().filter_map(|outcome| outcome.attempted.next_attempt_at);
        if let Some(soonest) = retries.min() {
            let retry_at = Instant::now() + soonest.since(now).max(SOONEST);
            self.retry_at = Some(self.retry_at.map_or(retry_at, |known| known.min(retry_at)));
        }
        match recorded {
            Err(Error::Unavailable(_)) => self.outcomes.retain(|outcome| now < outcome.claim.lease_until),
            _ => self.outcomes.clear(),
        }
        recorded
    }

    async fn give_back(&mut self) -> Result<(), Error> {
        if self.given_back.is_empty() {
            return Ok(());
        }
        let given_back = give_back(&self.auth, &self.given_back).await;
        let now = self.auth.now();
        match given_back {
            Err(Error::Unavailable(_)) => self.given_back.retain(|(_, claim)| now < claim.lease_until),
            _ => self.given_back.clear(),
        }
        self.look_at = Instant::now();
        given_back
    }

    /// How long this worker may sleep: until the next delivery is due, at most `LOOK_EVERY`.
    async fn pause(&self) -> Duration {
        let now = self.auth.now();
        let next = match self.auth.store().read().await {
            Ok(mut reader) => reader.delivery_queue().next_due(now).await.ok().flatten(),
            Err(_) => None,
        };
        next.map_or(LOOK_EVERY, |due| due.since(now).clamp(SOONEST, LOOK_EVERY))
    }
}
