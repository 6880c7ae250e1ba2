//! Fan-out of the outbox: turning events into deliveries, one for each webhook of the organization that selected the kind. A worker
//! does it, so that a request writes one row however many webhooks there are. Of its own life a webhook is told nothing: what its receiver
//! gets first is what it was made for, and whoever takes a webhook away tells its receiver nothing of it. An event is taken and its deliveries are written in
//! one transaction, so that every event is turned exactly once.

use std::collections::{BTreeSet, HashMap};

use serde::Deserialize;

use super::slots::FreeSlots;
use crate::{
    error::Error,
    id::{EventId, OrgId, WebhookId},
    model::EventKind,
    store::{DueEndpoint, Subscriber, Tx, UndeliveredEvent},
};

/// How many deliveries end a transaction early; the other events wait for the next. SQLite has one writer at a time, so
/// transactions must be short.
const DELIVERIES: usize = 500;

/// Events that this worker took, and where they go.
#[derive(Debug)]
pub(super) struct FanOut<'a> {
    pub(super) planned: Vec<Planned<'a>>,
    /// The payload of each event, byte for byte.
    pub(super) payloads: HashMap<EventId, String>,
    /// How many of the events had to wait for another transaction.
    pub(super) left: usize,
}

/// A delivery to be written.
#[derive(Debug)]
pub(super) struct Planned<'a> {
    pub(super) event: &'a UndeliveredEvent,
    pub(super) webhook: WebhookId,
    /// Whether it has a free slot, so that it is claimed as it is written.
    pub(super) has_slot: bool,
}

/// Takes events and plans their deliveries. Endpoints whose earlier deliveries are due serve those first; their new ones wait.
pub(super) async fn fan_out<'a>(
    tx: &mut Tx,
    events: &'a [UndeliveredEvent],
    due: &[DueEndpoint],
    free: &mut FreeSlots<'_>,
) -> Result<FanOut<'a>, Error> {
    let orgs: BTreeSet<&OrgId> = events.iter().map(|event| &event.org_id).collect();
    let mut subscribers: HashMap<OrgId, Vec<Subscriber>> = HashMap::new();
    for subscriber in tx.delivery_queue().subscribers(orgs).await? {
        subscribers.entry(subscriber.org_id.clone()).or_default().push(subscriber);
    }
    let selecting = |event: &UndeliveredEvent| {
        let those = subscribers.get(&event.org_id).map_or(&[][..], Vec::as_slice);
        let kind = event.kind.clone();
        those.iter().filter(move |subscriber| subscriber.events.includes(&kind))
    };
    let mut made = 0;
    let fitting = events.iter().take_while(|event| {
        let is_room = made < DELIVERIES;
        made += selecting(event).count();
        is_room
    });
    let (now, later) = events.split_at(fitting.count());
    let payloads = tx.delivery_queue().take(now).await?;
    let backlog: BTreeSet<&WebhookId> = due.iter().map(|endpoint| &endpoint.id).collect();
    let mut planned = Vec::new();
    for event in now {
        let Some(payload) = payloads.get(&event.id) else { continue };
        let itself = webhook_of_life(&event.kind, payload);
        for Subscriber { endpoint, .. } in selecting(event).filter(|one| itself.as_ref() != Some(&one.endpoint.id)) {
            let has_slot = !backlog.contains(&endpoint.id) && free.of(endpoint) > 0;
            if has_slot {
                free.promise(endpoint, 1);
            }
            planned.push(Planned { event, webhook: endpoint.id.clone(), has_slot });
        }
    }
    Ok(FanOut { planned, payloads, left: later.len() })
}

/// The part of a payload that names a webhook.
#[derive(Deserialize)]
struct Told {
    data: Option<TellingOfWebhook>,
}

#[derive(Deserialize)]
struct TellingOfWebhook {
    webhook: NamedWebhook,
}

#[derive(Deserialize)]
struct NamedWebhook {
    id: String,
}

/// The webhook whose life an event tells, which is the one that is not told of it; `None` for every other event (behaviour.md, B291).
fn webhook_of_life(kind: &str, payload: &str) -> Option<WebhookId> {
    EventKind::parse(kind).filter(|kind| kind.is_of_a_webhooks_life())?;
    let told: Told = serde_json::from_str(payload).ok()?;
    told.data.map(|data| WebhookId::from_stored(data.webhook.id))
}
