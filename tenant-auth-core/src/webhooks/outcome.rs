//! Recording of attempts: the delivery's state and the endpoint's health. An endpoint that answered 410 Gone, or whose deliveries
//! have all failed for five days, is disabled; the organization's admins get a mail and its other webhooks an event.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

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
    model::{DeliveryError, DeliveryStatus, Webhook, WebhookStatus},
    service::TenantAuth,
    store::{Actor, Attempted, ClaimedDelivery, Event, Judged, Vital},
    time::Timestamp,
};

/// How long an endpoint fails before it is disabled (behaviour.md, B105).
const GIVEN_UP_AFTER: Duration = Duration::from_secs(120 * 3_600);

/// What the outcomes of one round say about one endpoint.
struct Health {
    called: Arc<Endpoint>,
    succeeded: bool,
    gone: bool,
}

/// Records outcomes in one transaction. Lock order: webhooks by id, each before its deliveries, as every other writer takes them;
/// so writers cannot deadlock.
pub(super) async fn record(auth: &TenantAuth, outcomes: &[Outcome]) -> Result<(), Error> {
    let mut endpoints: BTreeMap<WebhookId, Health> = BTreeMap::new();
    for outcome in outcomes {
        let fresh = || Health { called: Arc::clone(&outcome.endpoint), succeeded: false, gone: false };
        let health = endpoints.entry(outcome.endpoint.webhook.id.clone()).or_insert_with(fresh);
        health.succeeded |= outcome.succeeded();
        health.gone |= outcome.gone;
    }
    let mut tx = auth.begin().await?;
    let now = tx.now();
    let vitals = endpoints.iter().map(|(webhook, health)| Vital { webhook, is_failing: !health.succeeded });
    tx.delivery_queue().mark(&vitals.collect::<Vec<_>>()).await?;
    let judged = outcomes.iter().map(|Outcome { claim, attempted, .. }| Judged { claim, attempted: *attempted });
    tx.delivery_queue().record(judged).await?;
    tx.commit().await?;
    outcomes.iter().for_each(|outcome| tell(auth, outcome));
    for health in endpoints.into_values() {
        if let Some(reason) = health.hopeless(now) {
            let called = &health.called.webhook;
            if let Err(error) = disable(auth, called, reason).await {
                tracing::warn!(webhook = %called.id, error = %error.causes(), "a webhook could not be disabled; it is when its next attempt fails");
            }
        }
    }
    Ok(())
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
    fn hopeless(&self, now: Timestamp) -> Option<DisableReason> {
        let failed_for = self.called.webhook.failing_since.map_or(Duration::ZERO, |since| now.since(since));
        match self {
            Self { gone: true, .. } => Some(DisableReason::Gone),
            Self { succeeded: false, .. } if failed_for >= GIVEN_UP_AFTER => Some(DisableReason::Failing),
            _ => None,
        }
    }
}

/// Disables a webhook, unless its URL or its health has changed since the attempt.
async fn disable(auth: &TenantAuth, called: &Webhook, reason: DisableReason) -> Result<(), Error> {
    let mut tx = auth.begin().await?;
    let Some(org) = tx.organizations().lock(&called.org_id).await? else { return Ok(()) };
    // The row is held because another worker may record a success at the same time.
    let Some(mut webhook) = tx.webhooks().hold(&called.org_id, &called.id).await? else { return Ok(()) };
    let healed = reason == DisableReason::Failing && webhook.failing_since != called.failing_since;
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
