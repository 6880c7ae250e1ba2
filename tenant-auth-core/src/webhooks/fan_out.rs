//! Fan-out of the outbox: turning an event into deliveries, one for each webhook of the organization that selected the kind. A
//! worker does it, so that a request writes one row however many webhooks there are. The event is taken and its deliveries are
//! written in one transaction, so that every event is turned exactly once.

use std::collections::{HashMap, hash_map::Entry};

use crate::{
    error::Error,
    id::{DeliveryId, OrgId, WebhookId},
    model::EventKind,
    service::TenantAuth,
    store::{Subscriber, Tx, UndeliveredEvent, is_orphan},
};

/// How many events one transaction turns.
const EVENTS: u32 = 50;
/// How many deliveries end a transaction early; the other events wait for the next. SQLite has one writer at a time, so
/// transactions must be short.
const DELIVERIES: usize = 500;

/// Turns one batch of events into deliveries; `true` when there was an event.
pub(super) async fn fan_out(auth: &TenantAuth) -> Result<bool, Error> {
    let events = auth.store().read().await?.events().undelivered(EVENTS).await?;
    if events.is_empty() {
        return Ok(false);
    }
    if events.iter().any(|event| EventKind::parse(&event.kind).is_none_or(EventKind::tells_of_less)) {
        // A subscriber that hears of an ending may ask any process at once, so none may know of what was before.
        auth.memory().acknowledge(true).await;
    }
    let mut tx = auth.begin().await?;
    let mut subscribers = HashMap::new();
    let mut made = 0;
    for event in &events {
        if made < DELIVERIES && tx.events().take(&event.id).await? {
            let those = of(&mut subscribers, &mut tx, &event.org_id).await?;
            made += match turn(&mut tx, event, those).await {
                // A webhook was deleted after its row was read. The next look at the batch does not see that webhook.
                Err(error) if is_orphan(&error) => return Ok(true),
                turned => turned?,
            };
        }
    }
    tx.commit().await?;
    Ok(true)
}

/// An organization's active webhooks, read once per batch.
async fn of<'a>(known: &'a mut HashMap<OrgId, Vec<Subscriber>>, tx: &mut Tx, org: &OrgId) -> Result<&'a [Subscriber], Error> {
    Ok(match known.entry(org.clone()) {
        Entry::Occupied(found) => found.into_mut(),
        Entry::Vacant(missing) => missing.insert(tx.webhooks().subscribers(org).await?),
    })
}

async fn turn(tx: &mut Tx, event: &UndeliveredEvent, subscribers: &[Subscriber]) -> Result<usize, Error> {
    let selecting = subscribers.iter().filter(|subscriber| subscriber.events.includes(&event.kind));
    let deliveries: Vec<(DeliveryId, &WebhookId)> = selecting.map(|subscriber| (tx.new_id(), &subscriber.id)).collect();
    tx.deliveries().insert_many(event, &deliveries).await?;
    Ok(deliveries.len())
}
