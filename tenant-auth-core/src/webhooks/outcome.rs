//! What attempts leave behind: the delivery's state and its endpoint's health. An endpoint that is gone, or at which nothing has
//! succeeded for five days, is disabled; its organization's admins and its other webhooks are told.

use std::{collections::BTreeMap, time::Duration};

use super::attempt::Outcome;
use crate::{
    builder::TenantAuth,
    error::Error,
    event::{DisableReason, EventKind, WebhookData},
    id::WebhookId,
    letters::Letter,
    mail,
    metrics::DeliveryOutcome,
    model::{DeliveryError, DeliveryStatus, Webhook, WebhookStatus},
    store::{Actor, Attempted, Event},
    time::Timestamp,
};

/// An endpoint that fails this long is disabled (contract section 6).
const GIVEN_UP_AFTER: Duration = Duration::from_secs(120 * 3_600);

/// What a round brought for one endpoint.
struct Health {
    webhook: Webhook,
    succeeded: bool,
    gone: bool,
}

/// Records outcomes in one transaction, webhooks before deliveries and both by id: the order every writer of them keeps.
pub(super) async fn record(auth: &TenantAuth, mut outcomes: Vec<(Webhook, Outcome)>) -> Result<(), Error> {
    let now = auth.now();
    let mut endpoints: BTreeMap<WebhookId, Health> = BTreeMap::new();
    for (webhook, outcome) in &outcomes {
        let fresh = || Health { webhook: webhook.clone(), succeeded: false, gone: false };
        let health = endpoints.entry(webhook.id.clone()).or_insert_with(fresh);
        health.succeeded |= outcome.attempted.status == DeliveryStatus::Succeeded;
        health.gone |= outcome.gone;
    }
    outcomes.sort_by(|(_, a), (_, b)| a.claim.id.cmp(&b.claim.id));
    let mut tx = auth.store().begin().await?;
    for (id, health) in &endpoints {
        match health.succeeded {
            true => tx.webhooks().mark_well(id).await?,
            false => tx.webhooks().mark_failing(id, now).await?,
        }
    }
    for (webhook, outcome) in &outcomes {
        let attempted = &outcome.attempted;
        tracing::debug!(
            webhook = %webhook.id, delivery = %outcome.claim.id, attempt = outcome.claim.attempt,
            status = attempted.status.as_str(), code = attempted.status_code, error = attempted.error.map(|error| error.as_str()),
            "a delivery was attempted"
        );
        tx.deliveries().record(&outcome.claim, *attempted).await?;
    }
    tx.commit(now, auth.entropy()).await?;
    for (_, outcome) in &outcomes {
        auth.metrics().delivery(counted(&outcome.attempted));
    }
    for health in endpoints.into_values() {
        if let Some(reason) = health.hopeless(now) {
            disable(auth, &health.webhook, reason).await?;
        }
    }
    Ok(())
}

fn counted(attempted: &Attempted) -> DeliveryOutcome {
    match (attempted.status, attempted.error) {
        (DeliveryStatus::Succeeded, _) => DeliveryOutcome::Succeeded,
        (_, Some(DeliveryError::Blocked)) => DeliveryOutcome::Blocked,
        (DeliveryStatus::Pending, _) => DeliveryOutcome::Retried,
        (DeliveryStatus::Failed, _) => DeliveryOutcome::Failed,
        (DeliveryStatus::Cancelled, _) => DeliveryOutcome::Cancelled,
    }
}

impl Health {
    fn hopeless(&self, now: Timestamp) -> Option<DisableReason> {
        let failed_for = self.webhook.failing_since.map_or(Duration::ZERO, |since| now.since(since));
        match self {
            Self { gone: true, .. } => Some(DisableReason::Gone),
            Self { succeeded: false, .. } if failed_for >= GIVEN_UP_AFTER => Some(DisableReason::Failing),
            _ => None,
        }
    }
}

/// Disables a webhook that is still as it was when it was called.
async fn disable(auth: &TenantAuth, called: &Webhook, reason: DisableReason) -> Result<(), Error> {
    let now = auth.now();
    let mut tx = auth.store().begin().await?;
    let Some(org) = tx.organizations().lock(&called.org_id).await? else { return Ok(()) };
    let Some(mut webhook) = tx.webhooks().find(&called.org_id, &called.id).await? else { return Ok(()) };
    let healed = reason == DisableReason::Failing && webhook.failing_since.is_none();
    if webhook.status == WebhookStatus::Disabled || webhook.url != called.url || healed {
        return Ok(());
    }
    webhook.status = WebhookStatus::Disabled;
    tx.webhooks().update(&webhook).await?;
    tx.deliveries().cancel_pending(&webhook.id).await?;
    let data = WebhookData { webhook: &webhook, reason: Some(reason) };
    tx.push(Event::new(EventKind::WebhookDisabled, (&org.id, &org.slug), Actor::System, &data)?);
    let host = webhook.url.host().to_string();
    let notice = Letter::WebhookDisabled { organization: &org.name, host: &host, reason };
    mail::tell_admins(auth, &mut tx, &org.id, &notice, now).await?;
    auth.commit(tx, now).await
}
