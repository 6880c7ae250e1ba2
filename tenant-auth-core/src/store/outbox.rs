//! The outbox: events are written as rows of the transaction that causes them, as mails are. So a committed change always has its
//! event, and a change that was rolled back has none.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;

use super::{
    Actor, Event, Tx,
    event::Audience,
    sql::{deliveries::NewDelivery, events::EventRecord},
};
use crate::{
    error::Error,
    id::{EventId, OrgId},
    time::Timestamp,
    value::Slug,
};

/// The payload as subscribers get it (behaviour.md, B94).
#[derive(Serialize)]
struct Payload<'a> {
    id: &'a EventId,
    #[serde(rename = "type")]
    kind: &'static str,
    timestamp: Timestamp,
    sequence: i64,
    org: PayloadOrg<'a>,
    actor: PayloadActor<'a>,
    data: &'a RawValue,
}

#[derive(Serialize)]
struct PayloadOrg<'a> {
    id: &'a OrgId,
    slug: &'a Slug,
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

impl Tx {
    /// Numbers and stores the events of this transaction. Lock order: event sequences by organization id, so that two transactions
    /// with several organizations in common cannot deadlock.
    pub(super) async fn write_events(&mut self, events: Vec<Event>) -> Result<(), Error> {
        let mut by_org: BTreeMap<OrgId, Vec<Event>> = BTreeMap::new();
        for event in events {
            by_org.entry(event.org.id.clone()).or_default().push(event);
        }
        for (org_id, events) in by_org {
            let count = i64::try_from(events.len()).map_err(Error::internal)?;
            let Some(last) = self.events().advance(&org_id, count).await? else { continue };
            for (event, sequence) in events.iter().zip(last - count + 1..) {
                let id: EventId = self.new_id();
                let payload = Payload {
                    id: &id,
                    kind: event.kind.as_str(),
                    timestamp: self.now(),
                    sequence,
                    org: PayloadOrg { id: &event.org.id, slug: &event.org.slug },
                    actor: event.actor.payload(),
                    data: &event.data,
                };
                let payload = serde_json::to_string(&payload).map_err(Error::internal)?;
                let kind = event.kind.as_str();
                let published = matches!(event.audience, Audience::Subscribers);
                self.events().insert(EventRecord { id: &id, org_id: &org_id, sequence, kind, payload, published }).await?;
                if let Audience::Only(webhook_id, delivery) = &event.audience {
                    let delivery = NewDelivery { id: delivery, org_id: &org_id, webhook_id, event_id: &id, event_kind: kind };
                    self.deliveries().insert(&delivery).await?;
                }
            }
        }
        Ok(())
    }
}
