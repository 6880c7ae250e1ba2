//! Claiming deliveries with a lease. In one transaction for all endpoints, each endpoint is locked and as many of its due
//! deliveries as it has free slots get the lease's end as their next due time; so two workers never send the same delivery at once.

use std::time::Duration;

use super::{attempt::Endpoint, slots::FreeSlots};
use crate::{
    error::Error,
    id::WebhookId,
    model::{Webhook, WebhookStatus},
    service::TenantAuth,
    store::{ClaimedDelivery, DueEndpoint, Tx},
};

/// The lease is this much longer than an attempt's timeout: up to 5 s for resolving the name, the rest for recording the outcome
/// and for differences between the servers' clocks.
pub(super) const LEASE_MARGIN: Duration = Duration::from_secs(15);

/// An endpoint and the deliveries claimed for it.
#[derive(Debug)]
pub(super) struct Claimed {
    pub(super) endpoint: Endpoint,
    pub(super) claims: Vec<ClaimedDelivery>,
}

/// Claims as many deliveries as there are free slots, in the order of the endpoints' ids (the lock order of webhooks).
pub(super) async fn claim(auth: &TenantAuth, due: &[DueEndpoint], free: &mut FreeSlots<'_>) -> Result<Vec<Claimed>, Error> {
    if !due.iter().any(|endpoint| free.of(endpoint) > 0) {
        return Ok(Vec::new());
    }
    let mut tx = auth.begin().await?;
    let mut claimed = Vec::new();
    for endpoint in due {
        let slots = free.of(endpoint);
        if slots == 0 {
            continue;
        }
        if let Some(one) = claim_at(auth, &mut tx, &endpoint.id, slots).await? {
            free.promise(endpoint, one.claims.len());
            claimed.push(one);
        }
    }
    tx.commit().await?;
    Ok(claimed)
}

async fn claim_at(auth: &TenantAuth, tx: &mut Tx, due: &WebhookId, slots: usize) -> Result<Option<Claimed>, Error> {
    let lease_until = tx.now().plus(auth.config().webhooks.timeout + LEASE_MARGIN);
    let Some(held) = tx.webhooks().hold_endpoint(due).await? else { return Ok(None) };
    match open(tx, held).await? {
        Ok(endpoint) if endpoint.webhook.status == WebhookStatus::Disabled => {
            // The webhook was disabled while an event was being turned into this delivery.
            tx.deliveries().cancel_pending(due).await?;
            Ok(None)
        }
        Ok(endpoint) => {
            let limit = u32::try_from(slots).unwrap_or(u32::MAX);
            let claims = tx.delivery_queue().claim(due, lease_until, limit).await?;
            Ok((!claims.is_empty()).then_some(Claimed { endpoint, claims }))
        }
        Err(error) => {
            // The defect is this one endpoint's (a row or a secret that cannot be read); the other endpoints' deliveries must not
            // wait for it.
            tracing::error!(webhook = %due, error = %error.causes(), "a webhook cannot be read; its deliveries wait");
            tx.delivery_queue().postpone(due, lease_until).await?;
            Ok(None)
        }
    }
}

/// Opens the secrets that are live now. The outer error is the database's, the inner one the endpoint's.
async fn open(tx: &mut Tx, held: Result<Webhook, Error>) -> Result<Result<Endpoint, Error>, Error> {
    let webhook = match held {
        Ok(webhook) => webhook,
        Err(error) => return Ok(Err(error)),
    };
    let now = tx.now();
    let stored = tx.webhooks().secrets(&webhook.org_id, &webhook.id, now).await?;
    Ok(Endpoint::open(tx, webhook, &stored))
}
