//! Turning events into deliveries, one for each webhook of the organization that selected the kind. It happens in the worker,
//! so that a mutation pays for one row however many webhooks there are; an event is taken and its deliveries are written in one
//! transaction, so that every event is turned exactly once.

use crate::{
    builder::TenantAuth,
    error::Error,
    id::{DeliveryId, Id},
    store::{NewDelivery, Tx, UndeliveredEvent},
    time::Timestamp,
};

/// Events turned in one transaction.
const EVENTS: u32 = 20;
/// Webhooks read at a time: an organization may have more than fit in memory comfortably.
const WEBHOOKS: u32 = 100;

/// Turns one batch of events; `true` when there was any.
pub(crate) async fn fan_out(auth: &TenantAuth) -> Result<bool, Error> {
    let events = auth.store().read().await?.events().undelivered(EVENTS).await?;
    if events.is_empty() {
        return Ok(false);
    }
    let now = auth.now();
    let mut tx = auth.store().begin().await?;
    for event in &events {
        if tx.events().take(&event.id).await? {
            turn(auth, &mut tx, event, now).await?;
        }
    }
    tx.commit(now, auth.entropy()).await?;
    Ok(true)
}

async fn turn(auth: &TenantAuth, tx: &mut Tx, event: &UndeliveredEvent, now: Timestamp) -> Result<(), Error> {
    let mut after = String::new();
    loop {
        let webhooks = tx.webhooks().active_after(&event.org_id, &after, WEBHOOKS).await?;
        for webhook in webhooks.iter().filter(|webhook| webhook.events.includes(&event.kind)) {
            let id: DeliveryId = Id::generate(now, auth.entropy());
            let delivery = NewDelivery {
                id: &id,
                org_id: &event.org_id,
                webhook_id: &webhook.id,
                event_id: &event.id,
                event_kind: &event.kind,
            };
            tx.deliveries().insert(&delivery, now).await?;
        }
        match webhooks.last() {
            Some(last) => after = last.id.as_str().to_owned(),
            None => return Ok(()),
        }
    }
}
