//! Recording of attempts: the delivery's state and the endpoint's health. An endpoint that answered 410 Gone, or whose deliveries
//! have all failed for five days, is disabled; the organization's admins get a mail and its other webhooks an event. That waits for the
//! organization, which may be held, and so goes on beside the loop that serves all of them.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use tokio::{
    sync::Semaphore,
    task::{Id as TaskId, JoinError, JoinSet},
};

use super::{
    attempt::{Endpoint, Outcome},
    ending,
};
use crate::{
    error::Error,
    event::{DisableReason, EventKind, WebhookData},
    id::WebhookId,
    mail::{self, Letter},
    metrics::DeliveryOutcome,
    model::{DeliveryError, DeliveryStatus, WebhookStatus},
    service::TenantAuth,
    store::{Actor, Attempted, ClaimedDelivery, Event, Judged, Vital},
    time::Timestamp,
};

/// How long an endpoint fails before it is disabled (behaviour.md, B105).
const GIVEN_UP_AFTER: Duration = Duration::from_secs(120 * 3_600);

/// How many webhooks are disabled at once at most: each waits with a connection of its own.
const AT_ONCE: u32 = 2;
/// Of so many connections one may wait so.
const ONE_OF: u32 = 4;
/// How many webhooks may be about to be disabled.
const MOST: usize = 1_000;

/// An endpoint that is given up.
pub(super) struct Hopeless {
    called: Arc<Endpoint>,
    reason: DisableReason,
    /// When the outcome was recorded that says so.
    recorded_at: Timestamp,
}

/// What the outcomes of one round say about one endpoint.
struct Health {
    called: Arc<Endpoint>,
    succeeded: bool,
    gone: bool,
}

/// Records outcomes in one transaction. Lock order: webhooks by id, each before its deliveries, as every other writer takes them;
/// so writers cannot deadlock. Returns the endpoints that are to be disabled.
pub(super) async fn record(auth: &TenantAuth, outcomes: &[Outcome]) -> Result<Vec<Hopeless>, Error> {
    let mut endpoints: BTreeMap<WebhookId, Health> = BTreeMap::new();
    for outcome in outcomes {
        let fresh = || Health { called: Arc::clone(&outcome.endpoint), succeeded: false, gone: false };
        let health = endpoints.entry(outcome.endpoint.webhook.id.clone()).or_insert_with(fresh);
        health.succeeded |= outcome.succeeded();
        health.gone |= outcome.gone;
    }
    let mut tx = auth.begin().await?;
    let now = tx.now();
    let vitals = endpoints.iter().map(|(webhook, health)| Vital { webhook, is_failing: health.is_failing() });
    tx.delivery_queue().mark(&vitals.collect::<Vec<_>>()).await?;
    let judged = outcomes.iter().map(|Outcome { claim, attempted, .. }| Judged { claim, attempted: *attempted });
    tx.delivery_queue().record(judged).await?;
    tx.commit().await?;
    outcomes.iter().for_each(|outcome| tell(auth, outcome));
    let hopeless = endpoints.into_values().filter_map(|health| {
        let reason = health.hopeless(now)?;
        Some(Hopeless { called: health.called, reason, recorded_at: now })
    });
    Ok(hopeless.collect())
}

/// The webhooks that are being disabled, each in a task of its own.
pub(super) struct Disablings {
    turns: Arc<Semaphore>,
    tasks: JoinSet<()>,
    webhooks: HashMap<TaskId, WebhookId>,
}

/// How many webhooks are disabled at once with so many connections.
fn turns(connections: u32) -> usize {
    (connections / ONE_OF).clamp(1, AT_ONCE) as usize
}

impl Disablings {
    pub(super) fn new(auth: &TenantAuth) -> Self {
        let turns = Semaphore::new(turns(auth.store().connections()));
        Self { turns: Arc::new(turns), tasks: JoinSet::new(), webhooks: HashMap::new() }
    }

    /// Begins to disable webhooks. One that is being disabled, or finds too many before it, is left to its next attempt that fails.
    pub(super) fn begin(&mut self, auth: &TenantAuth, hopeless: Vec<Hopeless>) {
        while let Some(ended) = self.tasks.try_join_next_with_id() {
            self.forget(ended);
        }
        for hopeless in hopeless {
            let webhook = hopeless.called.webhook.id.clone();
            if self.webhooks.len() >= MOST || self.webhooks.values().any(|other| *other == webhook) {
                continue;
            }
            let (auth, turns) = (auth.clone(), Arc::clone(&self.turns));
            let turn = Arc::clone(&turns).try_acquire_owned();
            let task = self.tasks.spawn(async move {
                let turn = match turn {
                    Ok(turn) => Ok(turn),
                    Err(_) => turns.acquire_owned().await,
                };
                let Ok(_turn) = turn else { return };
                if let Err(error) = disable(&auth, &hopeless).await {
                    tracing::warn!(webhook = %hopeless.called.webhook.id, error = %error.causes(), "a webhook could not be disabled; it is when its next attempt fails");
                }
            });
            self.webhooks.insert(task.id(), webhook);
        }
    }

    /// Waits until all of them are disabled.
    pub(super) async fn finish(&mut self) {
        while let Some(ended) = self.tasks.join_next_with_id().await {
            self.forget(ended);
        }
    }

    /// Waits for those that have their turn, and leaves the others to their next attempts.
    pub(super) async fn stop(&mut self) {
        self.turns.close();
        self.finish().await;
    }

    fn forget(&mut self, ended: Result<(TaskId, ()), JoinError>) {
        let task = match ended {
            Ok((task, ())) => task,
            Err(panic) => {
                let (task, error) = (panic.id(), Error::internal(panic));
                tracing::error!(error = %error.causes(), "a webhook could not be disabled");
                task
            }
        };
        self.webhooks.remove(&task);
    }
}

/// Gives claims back whose attempts were not made: they are due again, and the attempt does not count.
pub(super) async fn give_back(auth: &TenantAuth, claims: &[(WebhookId, ClaimedDelivery)]) -> Result<(), Error> {
    let mut tx = auth.begin().await?;
    let mut webhooks: Vec<_> = claims.iter().map(|(webhook, _)| webhook).collect();
    webhooks.sort_unstable();
    webhooks.dedup();
    tx.delivery_queue().hold(webhooks).await?;
    tx.delivery_queue().give_back(claims.iter().map(|(_, claim)| claim)).await?;
    tx.commit().await
}

fn tell(auth: &TenantAuth, outcome: &Outcome) {
    let Outcome { endpoint, claim, attempted, .. } = outcome;
    auth.metrics().delivery(counted(attempted));
    tracing::debug!(
        webhook = %endpoint.webhook.id, delivery = %claim.id, attempt = claim.attempt,
        status = attempted.status.as_str(), code = attempted.made.status_code, error = attempted.made.error.map(|error| error.as_str()),
        "a delivery was attempted"
    );
}

fn counted(attempted: &Attempted) -> DeliveryOutcome {
    match (attempted.status, attempted.made.error) {
        (DeliveryStatus::Succeeded, _) => DeliveryOutcome::Succeeded,
        (_, Some(DeliveryError::Blocked)) => DeliveryOutcome::Blocked,
        (DeliveryStatus::Pending, _) => DeliveryOutcome::Retried,
        (DeliveryStatus::Failed, _) => DeliveryOutcome::Failed,
        (DeliveryStatus::Cancelled, _) => DeliveryOutcome::Cancelled,
    }
}

impl Health {
    /// An endpoint that is gone fails, whatever else it answered: by that it is told whether it was repaired before it is disabled.
    fn is_failing(&self) -> bool {
        !self.succeeded || self.gone
    }

    fn hopeless(&self, now: Timestamp) -> Option<DisableReason> {
        let failed_for = self.called.webhook.failing_since.map_or(Duration::ZERO, |since| now.since(since));
        match self {
            Self { gone: true, .. } => Some(DisableReason::Gone),
            Self { succeeded: false, .. } if failed_for >= GIVEN_UP_AFTER => Some(DisableReason::Failing),
            _ => None,
        }
    }
}

/// Disables a webhook, unless its URL has changed since the attempt, it was enabled anew or it has answered.
async fn disable(auth: &TenantAuth, hopeless: &Hopeless) -> Result<(), Error> {
    let Hopeless { called, reason, recorded_at } = hopeless;
    let (called, reason) = (&called.webhook, *reason);
    let mut tx = auth.begin().await?;
    let Some(org) = tx.organizations().lock(&called.org_id).await? else { return Ok(()) };
    // The row is held because another worker may record a success at the same time.
    let Some(mut webhook) = tx.webhooks().hold(&called.org_id, &called.id).await? else { return Ok(()) };
    // One that is gone may not have failed before that attempt, and one that has healed may have failed again since.
    let healed = webhook.failing_since.is_none_or(|since| since > *recorded_at)
        || reason == DisableReason::Failing && webhook.failing_since != called.failing_since;
    if webhook.status == WebhookStatus::Disabled || webhook.url != called.url || healed {
        return Ok(());
    }
    webhook.status = WebhookStatus::Disabled;
    tx.webhooks().update(&webhook).await?;
    ending::cancel_pending(&mut tx, &webhook).await?;
    let data = WebhookData::disabled(&webhook, reason);
    tx.push(Event::new(EventKind::WebhookDisabled, &org, Actor::System, &data)?);
    let host = webhook.url.host().to_string();
    let notice = Letter::WebhookDisabled { organization: &org.name, host: &host, reason };
    // A receiver that answers 410 and an admin who enables the webhook again could mail the others without end.
    match mail::tell_admins_counted(&mut tx, &org.id, &notice).await {
        Err(Error::RateLimited { .. }) => {}
        told => told?,
    }
    tx.commit().await?;
    tracing::warn!(webhook = %webhook.id, organization_id = %org.id, ?reason, "a webhook was disabled");
    Ok(())
}

#[cfg(all(test, feature = "testing", feature = "sqlite"))]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use crate::{
        model::EventSelection,
        testing::TestAuth,
        webhooks::{NewWebhook, WebhookUpdate},
    };

    #[test]
    fn a_small_pool_has_one_connection_that_waits_to_disable() {
        assert_eq!([1, 4, 7, 8, 100].map(turns), [1, 1, 1, 2, 2]);
    }

    #[tokio::test]
    async fn a_webhook_that_was_enabled_anew_or_answered_is_not_disabled() {
        let test = TestAuth::new().await;
        test.resolver.answer("hooks.acme.example", [Ipv4Addr::new(93, 184, 216, 34).into()]);
        let admin = test.org_admin().await;
        let events = EventSelection::parse(&["org.updated"]).expect("a kind");
        let new = NewWebhook { url: "https://hooks.acme.example/inbox".to_owned(), events, description: Default::default() };
        let called = admin.create_webhook(new).await.expect("a public target").webhook;
        let fails = async |health: Health| {
            let mut tx = test.auth.begin().await.expect("the writer");
            let vital = Vital { webhook: &called.id, is_failing: health.is_failing() };
            tx.delivery_queue().mark(&[vital]).await.expect("an answer");
            let recorded_at = tx.now();
            tx.commit().await.expect("commits");
            recorded_at
        };
        let endpoint = || Arc::new(Endpoint { webhook: called.clone(), secrets: Vec::new() });
        let health = |succeeded: bool, gone: bool| Health { called: endpoint(), succeeded, gone };
        let status_then = async |recorded_at: Timestamp| {
            let hopeless = Hopeless { called: endpoint(), reason: DisableReason::Gone, recorded_at };
            disable(&test.auth, &hopeless).await.expect("an answer");
            admin.webhook(&called.id).await.expect("it is there").status
        };
        let gone_at = fails(health(false, true)).await;
        for status in [WebhookStatus::Disabled, WebhookStatus::Active] {
            let update = WebhookUpdate { status: Some(status), ..WebhookUpdate::default() };
            admin.update_webhook(&called.id, update).await.expect("a change");
        }
        assert_eq!(status_then(gone_at).await, WebhookStatus::Active, "enabled anew");
        test.clock.advance(Duration::from_secs(1));
        fails(health(false, false)).await;
        assert_eq!(status_then(gone_at).await, WebhookStatus::Active, "enabled anew, and has failed once since");
        let gone_at = fails(health(false, true)).await;
        fails(health(true, false)).await;
        assert_eq!(status_then(gone_at).await, WebhookStatus::Active, "it has answered");
        test.clock.advance(Duration::from_secs(1));
        fails(health(false, false)).await;
        assert_eq!(status_then(gone_at).await, WebhookStatus::Active, "it has answered, and failed once since");
        let gone_at = fails(health(true, true)).await;
        assert_eq!(status_then(gone_at).await, WebhookStatus::Disabled, "gone beside an answer of before");
    }
}
