//! Who is served when. Every endpoint has a few places of its own, one that fails has a single one, and all that fail together
//! have a quarter of what there is: a hanging endpoint delays nobody. Claims are made and outcomes recorded by one task, in
//! transactions that take whatever has come together meanwhile; attempts run beside it.

use std::{collections::HashMap, future::Future, pin::pin, time::Duration};

use tokio::{
    sync::watch,
    task::{Id as TaskId, JoinError, JoinSet},
};

use super::{
    attempt::{Endpoint, Outcome, attempt},
    fan_out::fan_out,
    outcome::record,
};
use crate::{
    builder::TenantAuth,
    error::Error,
    id::WebhookId,
    model::{Webhook, WebhookStatus},
    store::{ClaimedDelivery, Tx},
    time::Timestamp,
};

/// Attempts of this process at once.
const PLACES: usize = 128;
/// Of these, for one endpoint.
const PLACES_OF_ONE: usize = 8;
/// Of these, for all endpoints that fail.
const PLACES_OF_FAILING: usize = 32;
/// Endpoints looked at in one round; the next round goes on after them.
const ENDPOINTS: u32 = 200;
/// Beyond an attempt's own timeout, nobody else tries a claimed delivery for this long: resolving and recording take time too.
const LEASE_MARGIN: Duration = Duration::from_secs(30);
/// How often is looked for what another process left, when nothing else wakes this one.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Delivers. One per worker.
pub(crate) struct Dispatcher {
    auth: TenantAuth,
    filled: watch::Receiver<()>,
    attempts: JoinSet<Result<Outcome, Error>>,
    /// Whose attempts are running.
    running: HashMap<TaskId, Serving>,
    /// The endpoint the last round ended with.
    after: String,
}

/// Whom a place is taken by.
#[derive(Debug, Clone)]
struct Serving {
    webhook: Webhook,
}

type Done = Result<(TaskId, Result<Outcome, Error>), JoinError>;

impl Dispatcher {
    pub(crate) fn new(auth: &TenantAuth) -> Self {
        let (attempts, running) = (JoinSet::new(), HashMap::new());
        Self { auth: auth.clone(), filled: auth.outbox_filled(), attempts, running, after: String::new() }
    }

    /// Delivers until `shutdown` is ready; attempts that are running then are finished and recorded.
    pub(crate) async fn run_until(mut self, shutdown: impl Future<Output = ()>) {
        let mut shutdown = pin!(shutdown);
        let mut finished = Vec::new();
        loop {
            self.filled.borrow_and_update();
            let worked = self.round(std::mem::take(&mut finished)).await;
            let pause = if worked { Duration::ZERO } else { self.pause().await };
            tokio::select! {
                biased;
                () = &mut shutdown => break,
                Some(done) = self.attempts.join_next_with_id() => finished.push(done),
                _ = self.filled.changed(), if !worked => {}
                () = tokio::time::sleep(pause) => {}
            }
            while let Some(done) = self.attempts.try_join_next_with_id() {
                finished.push(done);
            }
        }
        self.settle(finished).await;
    }

    /// Delivers what is due, and what that makes due, and waits for it.
    pub(crate) async fn drain(mut self) -> Result<(), Error> {
        loop {
            let worked = self.step().await?;
            let mut finished = Vec::new();
            while let Some(done) = self.attempts.join_next_with_id().await {
                finished.push(done);
            }
            if !worked && finished.is_empty() {
                return Ok(());
            }
            self.record(finished).await?;
        }
    }

    /// Records what has finished and takes on what is due; `true` when there was something to take on.
    async fn round(&mut self, finished: Vec<Done>) -> bool {
        let recorded = self.record(finished).await;
        let worked = self.step().await;
        if let Some(error) = recorded.err().or_else(|| worked.as_ref().err().map(|_| Error::Unavailable)) {
            tracing::warn!(%error, "deliveries cannot be claimed or recorded; they are tried again shortly");
        }
        worked.unwrap_or(false)
    }

    /// After the shutdown.
    async fn settle(mut self, mut finished: Vec<Done>) {
        while let Some(done) = self.attempts.join_next_with_id().await {
            finished.push(done);
        }
        if let Err(error) = self.record(finished).await {
            tracing::warn!(%error, "the outcome of the last deliveries was not recorded; they are made again");
        }
    }

    async fn step(&mut self) -> Result<bool, Error> {
        let turned = fan_out(&self.auth).await?;
        Ok(self.claim().await? || turned)
    }

    /// Claims what is due at endpoints that have places left, and starts the attempts.
    async fn claim(&mut self) -> Result<bool, Error> {
        if self.auth.sender().is_none() {
            return Ok(false);
        }
        let now = self.auth.now();
        let due = self.auth.store().read().await?.deliveries().due_endpoints(now, &self.after, ENDPOINTS).await?;
        self.after = match due.last() {
            Some(last) if due.len() == ENDPOINTS as usize => last.as_str().to_owned(),
            _ => String::new(),
        };
        let open: Vec<&WebhookId> = due.iter().filter(|id| self.taken_by(id) < PLACES_OF_ONE).collect();
        if open.is_empty() || self.running.len() >= PLACES {
            return Ok(false);
        }
        let mut tx = self.auth.store().begin().await?;
        let mut claimed = Vec::new();
        let mut promised = Promised::default();
        for id in open {
            let Some(webhook) = tx.webhooks().endpoint(id).await? else { continue };
            let claims = self.claim_of(&mut tx, &webhook, &mut promised, now).await?;
            if !claims.is_empty() {
                claimed.push((webhook, claims));
            }
        }
        tx.commit(now, self.auth.entropy()).await?;
        let worked = !claimed.is_empty();
        for (webhook, claims) in claimed {
            self.start(webhook, claims, now).await?;
        }
        Ok(worked)
    }

    async fn claim_of(
        &self,
        tx: &mut Tx,
        webhook: &Webhook,
        promised: &mut Promised,
        now: Timestamp,
    ) -> Result<Vec<ClaimedDelivery>, Error> {
        if webhook.status == WebhookStatus::Disabled {
            // It was disabled while an event was being turned into this.
            tx.deliveries().cancel_pending(&webhook.id).await?;
            return Ok(Vec::new());
        }
        let places = self.places_for(webhook, promised);
        if places == 0 {
            return Ok(Vec::new());
        }
        let lease = now.plus(self.auth.config().webhook_timeout + LEASE_MARGIN);
        let limit = u32::try_from(places).unwrap_or(u32::MAX);
        let claims = tx.deliveries().claim(&webhook.id, now, lease, limit).await?;
        promised.all += claims.len();
        promised.failing += if webhook.failing_since.is_some() { claims.len() } else { 0 };
        Ok(claims)
    }

    /// How many more attempts may run at this endpoint now.
    fn places_for(&self, webhook: &Webhook, promised: &Promised) -> usize {
        let left = PLACES.saturating_sub(self.running.len() + promised.all);
        let taken = self.taken_by(&webhook.id);
        if webhook.failing_since.is_none() {
            return left.min(PLACES_OF_ONE.saturating_sub(taken));
        }
        let failing = self.running.values().filter(|serving| serving.webhook.failing_since.is_some()).count();
        left.min(PLACES_OF_FAILING.saturating_sub(failing + promised.failing)).min(1_usize.saturating_sub(taken))
    }

    fn taken_by(&self, webhook: &WebhookId) -> usize {
        self.running.values().filter(|serving| serving.webhook.id == *webhook).count()
    }

    async fn start(&mut self, webhook: Webhook, claims: Vec<ClaimedDelivery>, now: Timestamp) -> Result<(), Error> {
        let endpoint = std::sync::Arc::new(Endpoint::read(&self.auth, webhook.clone(), now).await?);
        for claim in claims {
            let (auth, endpoint) = (self.auth.clone(), endpoint.clone());
            let task = self.attempts.spawn(async move {
                let sender = auth.sender().ok_or_else(|| Error::internal("no sender"))?;
                attempt(&auth, sender, &endpoint, claim).await
            });
            self.running.insert(task.id(), Serving { webhook: webhook.clone() });
        }
        Ok(())
    }

    /// Frees the places of what has finished, and records it.
    async fn record(&mut self, finished: Vec<Done>) -> Result<(), Error> {
        let mut outcomes = Vec::new();
        for done in finished {
            let (task, outcome) = match done {
                Ok((task, outcome)) => (task, outcome),
                Err(panic) => (panic.id(), Err(Error::internal(panic))),
            };
            let Some(serving) = self.running.remove(&task) else { continue };
            match outcome {
                Ok(outcome) => outcomes.push((serving.webhook, outcome)),
                Err(error) => {
                    tracing::warn!(webhook = %serving.webhook.id, %error, "an attempt could not be made; it is made again after its lease");
                }
            }
        }
        if outcomes.is_empty() { Ok(()) } else { record(&self.auth, outcomes).await }
    }

    /// How long nothing becomes due, as far as anybody knows.
    async fn pause(&self) -> Duration {
        let now = self.auth.now();
        let next = match self.auth.store().read().await {
            Ok(mut reader) => reader.deliveries().next_due(now).await.ok().flatten(),
            Err(_) => None,
        };
        next.map_or(LOOK_EVERY, |due| due.since(now).clamp(Duration::from_millis(20), LOOK_EVERY))
    }
}

/// Places given away in the round that is being made.
#[derive(Debug, Default)]
struct Promised {
    all: usize,
    failing: usize,
}
