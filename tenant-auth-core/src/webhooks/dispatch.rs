//! The delivery loop of a worker. One task claims due deliveries and records outcomes, in transactions that take in batches what
//! has come together; each attempt runs in a task of its own. An outcome that is not recorded is attempted again by the worker that
//! finds the lease expired. So delivery is at least once, and never twice at the same time while the servers' clocks differ by less
//! than the lease's margin.

use std::{future::Future, pin::pin, sync::Arc, time::Duration};

use tokio::{
    sync::watch,
    task::{Id as TaskId, JoinError, JoinSet},
};

use super::{
    attempt::{Outcome, attempt},
    claim::{Claimed, claim},
    fan_out::fan_out,
    outcome::record,
    slots::Slots,
};
use crate::{error::Error, service::TenantAuth};

/// How many endpoints one transaction looks at.
const ENDPOINTS: u32 = 200;
/// How often due deliveries are looked for when no commit of this process wakes the loop: another process may have left some.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The delivery loop's state. One per worker.
pub(crate) struct Dispatcher {
    auth: TenantAuth,
    filled: watch::Receiver<()>,
    attempts: JoinSet<Result<Outcome, Error>>,
    slots: Slots,
    /// Outcomes that are not recorded yet.
    outcomes: Vec<Outcome>,
    /// Round robin: the endpoint that got the last slot when slots ran out. The next round begins after it.
    after: String,
}

type Done = Result<(TaskId, Result<Outcome, Error>), JoinError>;

impl Dispatcher {
    pub(crate) fn new(auth: &TenantAuth) -> Self {
        let (filled, attempts) = (auth.outbox_filled(), JoinSet::new());
        Self { auth: auth.clone(), filled, attempts, slots: Slots::default(), outcomes: Vec::new(), after: String::new() }
    }

    /// Runs until `shutdown` is ready. Attempts that are running then are finished and recorded.
    pub(crate) async fn run_until(mut self, shutdown: impl Future<Output = ()>) {
        let mut shutdown = pin!(shutdown);
        loop {
            self.filled.borrow_and_update();
            let pause = match self.round().await {
                Ok(true) => Duration::ZERO,
                Ok(false) => self.pause().await,
                Err(error) => {
                    tracing::warn!(error = %error.causes(), "deliveries cannot be claimed or recorded; they are tried again shortly");
                    LOOK_EVERY
                }
            };
            tokio::select! {
                biased;
                () = &mut shutdown => break,
                Some(done) = self.attempts.join_next_with_id() => self.finish(done),
                _ = self.filled.changed(), if !pause.is_zero() => {}
                () = tokio::time::sleep(pause) => {}
            }
            while let Some(done) = self.attempts.try_join_next_with_id() {
                self.finish(done);
            }
        }
        self.wait().await;
        if let Err(error) = self.record().await {
            tracing::warn!(error = %error.causes(), "the outcome of the last deliveries was not recorded; they are made again");
        }
    }

    /// Runs until nothing is due and no attempt is in flight. For tests and `Worker::tick`.
    pub(crate) async fn drain(mut self) -> Result<(), Error> {
        while self.step().await? || !self.slots.are_all_free() {
            self.wait().await;
            self.record().await?;
        }
        Ok(())
    }

    /// Records finished attempts and starts due ones; `true` when there was work.
    async fn round(&mut self) -> Result<bool, Error> {
        let recorded = self.record().await;
        let worked = self.step().await?;
        recorded.map(|()| worked)
    }

    async fn step(&mut self) -> Result<bool, Error> {
        let turned = fan_out(&self.auth).await?;
        Ok(self.serve().await? || turned)
    }

    /// Claims due deliveries endpoint by endpoint, beginning where slots ran out the last time, until slots or endpoints run out.
    async fn serve(&mut self) -> Result<bool, Error> {
        if self.auth.sender().is_none() {
            return Ok(false);
        }
        let mut after = std::mem::take(&mut self.after);
        let mut is_last_lap = after.is_empty();
        let mut worked = false;
        loop {
            let now = self.auth.now();
            let mut free = self.slots.free_slots();
            if free.are_none() {
                self.after = after;
                return Ok(worked);
            }
            let due = self.auth.store().read().await?.delivery_queue().due_endpoints(now, &after, ENDPOINTS).await?;
            let claimed = claim(&self.auth, &due, &mut free).await?;
            let ran_out = free.are_none();
            worked |= !claimed.is_empty();
            let last_served = claimed.last().map(|claimed| claimed.endpoint.webhook.id.as_str().to_owned());
            self.start(claimed);
            if let Some(last) = last_served.filter(|_| ran_out) {
                self.after = last;
                return Ok(worked);
            }
            match due.last() {
                Some(last) if due.len() == ENDPOINTS as usize => last.id.as_str().clone_into(&mut after),
                _ if is_last_lap => return Ok(worked),
                _ => {
                    after.clear();
                    is_last_lap = true;
                }
            }
        }
    }

    fn start(&mut self, claimed: Vec<Claimed>) {
        for Claimed { endpoint, claims } in claimed {
            let endpoint = Arc::new(endpoint);
            for claim in claims {
                let task = self.attempts.spawn(attempt(self.auth.clone(), Arc::clone(&endpoint), claim));
                self.slots.take(task.id(), &endpoint.webhook);
            }
        }
    }

    /// Frees the slot of an attempt that has ended and keeps its outcome for `record`.
    fn finish(&mut self, done: Done) {
        let (task, outcome) = match done {
            Ok((task, outcome)) => (task, outcome),
            Err(panic) => (panic.id(), Err(Error::internal(panic))),
        };
        let webhook = self.slots.free(task);
        match outcome {
            Ok(outcome) => {
                self.slots.learn(&outcome.endpoint.webhook.id, outcome.succeeded(), outcome.took);
                self.outcomes.push(outcome);
            }
            Err(error) => {
                let webhook = webhook.as_ref().map(|webhook| webhook.as_str());
                tracing::warn!(webhook, error = %error.causes(), "an attempt could not be made; it is made again after its lease");
            }
        }
    }

    /// Waits for the attempts that are running.
    async fn wait(&mut self) {
        while let Some(done) = self.attempts.join_next_with_id().await {
            self.finish(done);
        }
    }

    /// Records outcomes. When the database is unavailable, each outcome is kept for the next try until its lease expires.
    async fn record(&mut self) -> Result<(), Error> {
        if self.outcomes.is_empty() {
            return Ok(());
        }
        let recorded = record(&self.auth, &self.outcomes).await;
        let now = self.auth.now();
        match recorded {
            Err(Error::Unavailable(_)) => self.outcomes.retain(|outcome| now < outcome.claim.lease_until),
            _ => self.outcomes.clear(),
        }
        recorded
    }

    /// How long this worker may sleep: until the next delivery is due, at most `LOOK_EVERY`.
    async fn pause(&self) -> Duration {
        let now = self.auth.now();
        let next = match self.auth.store().read().await {
            Ok(mut reader) => reader.delivery_queue().next_due(now).await.ok().flatten(),
            Err(_) => None,
        };
        next.map_or(LOOK_EVERY, |due| due.since(now).clamp(Duration::from_millis(20), LOOK_EVERY))
    }
}
