//! What leaves with a commit: events and mails are rows of the transaction that causes them. An acknowledged change is never
//! without its event, and nothing is announced that was rolled back.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::{
    Tx,
    sql::{deliveries::NewDelivery, events::EventRecord},
};
use crate::{
    error::Error,
    id::{ApiKeyId, DeliveryId, EventId, MailId, OrgId, UserId, WebhookId},
    model::{EventKind, OrgRef},
    time::Timestamp,
};

/// Who caused something.
#[derive(Debug, Clone)]
pub(crate) enum Actor {
    User(UserId),
    #[expect(dead_code, reason = "no write is open to API keys yet; the payload names the type")]
    ApiKey(ApiKeyId),
    System,
}

/// Something that happened in one organization.
#[derive(Debug)]
pub(crate) struct Event {
    kind: EventKind,
    org: OrgRef,
    actor: Actor,
    data: Box<RawValue>,
    audience: Audience,
}

/// Who an event is sent to.
#[derive(Debug)]
enum Audience {
    /// Every webhook that selected its kind.
    Subscribers,
    /// One webhook, whatever it selected.
    Only(WebhookId, DeliveryId),
}

impl Event {
    /// `data` holds REST objects by name, and never a secret.
    pub(crate) fn new(kind: EventKind, org: impl Into<OrgRef>, actor: Actor, data: &impl Serialize) -> Result<Self, Error> {
        let data = to_raw_value(data).map_err(Error::internal)?;
        Ok(Self { kind, org: org.into(), actor, data, audience: Audience::Subscribers })
    }

    /// Sends it to one webhook only, as this delivery.
    pub(crate) fn only_to(mut self, webhook: &WebhookId, delivery: &DeliveryId) -> Self {
        self.audience = Audience::Only(webhook.clone(), delivery.clone());
        self
    }

    pub(super) fn kind(&self) -> EventKind {
        self.kind
    }
}

/// The payload as subscribers get it (contract section 6).
#[derive(Serialize)]
struct Payload<'a> {
    id: &'a EventId,
    #[serde(rename = "type")]
    kind: &'static str,
    timestamp: Timestamp,
    sequence: i64,
    org: &'a OrgRef,
    actor: PayloadActor<'a>,
    data: &'a RawValue,
}

#[derive(Serialize)]
struct PayloadActor<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    id: Option<&'a str>,
}

impl Actor {
    fn payload(&self) -> PayloadActor<'_> {
        match self {
            Self::User(id) => PayloadActor { kind: "user", id: Some(id.as_str()) },
            Self::ApiKey(id) => PayloadActor { kind: "api_key", id: Some(id.as_str()) },
            Self::System => PayloadActor { kind: "system", id: None },
        }
    }
}

/// Numbers and stores the events of a transaction, organization by organization in the order of their ids: two transactions
/// that share several organizations cannot wait for each other in a circle.
pub(super) async fn write(tx: &mut Tx, events: Vec<Event>) -> Result<(), Error> {
    let mut by_org: BTreeMap<OrgId, Vec<Event>> = BTreeMap::new();
    for event in events {
        by_org.entry(event.org.id.clone()).or_default().push(event);
    }
    for (org_id, events) in by_org {
        let count = i64::try_from(events.len()).map_err(Error::internal)?;
        let Some(last) = tx.events().advance(&org_id, count).await? else { continue };
        for (event, sequence) in events.iter().zip(last - count + 1..) {
            let id: EventId = tx.new_id();
            let payload = Payload {
                id: &id,
                kind: event.kind.as_str(),
                timestamp: tx.now(),
                sequence,
                org: &event.org,
                actor: event.actor.payload(),
                data: &event.data,
            };
            let payload = serde_json::to_string(&payload).map_err(Error::internal)?;
            let kind = event.kind.as_str();
            let published = matches!(event.audience, Audience::Subscribers);
            tx.events().insert(EventRecord { id: &id, org_id: &org_id, sequence, kind, payload, published }).await?;
            if let Audience::Only(webhook_id, delivery) = &event.audience {
                let delivery = NewDelivery { id: delivery, org_id: &org_id, webhook_id, event_id: &id, event_kind: kind };
                tx.deliveries().insert(&delivery).await?;
            }
        }
    }
    Ok(())
}
