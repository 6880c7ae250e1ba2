//! An event as flows state it: what happened, in which organization, and who caused it. `outbox.rs` writes it at the commit.

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::{
    error::Error,
    id::{ApiKeyId, DeliveryId, UserId, WebhookId},
    model::{EventKind, OrgRef},
};

/// The causer of an event.
#[derive(Debug, Clone)]
pub(crate) enum Actor {
    User(UserId),
    #[expect(dead_code, reason = "no write is open to API keys yet; the payload names the type")]
    ApiKey(ApiKeyId),
    System,
}

/// An event of one organization, not yet written.
#[derive(Debug)]
pub(crate) struct Event {
    pub(super) kind: EventKind,
    pub(super) org: OrgRef,
    pub(super) actor: Actor,
    pub(super) data: Box<RawValue>,
    pub(super) audience: Audience,
}

/// The webhooks that an event is sent to.
#[derive(Debug)]
pub(super) enum Audience {
    /// Every webhook that selected its kind.
    Subscribers,
    /// One webhook, also when it did not select the kind.
    Only(WebhookId, DeliveryId),
}

impl Event {
    /// Makes an event. `data` holds REST objects by name, and never a secret.
    pub(crate) fn new(kind: EventKind, org: impl Into<OrgRef>, actor: Actor, data: &impl Serialize) -> Result<Self, Error> {
        let data = to_raw_value(data).map_err(Error::internal)?;
        Ok(Self { kind, org: org.into(), actor, data, audience: Audience::Subscribers })
    }

    /// Sends the event to one webhook only, as this delivery.
    pub(crate) fn only_to(mut self, webhook: &WebhookId, delivery: &DeliveryId) -> Self {
        self.audience = Audience::Only(webhook.clone(), delivery.clone());
        self
    }

    pub(super) fn kind(&self) -> EventKind {
        self.kind
    }
}
