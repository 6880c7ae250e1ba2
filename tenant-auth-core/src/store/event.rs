//! An event as flows state it: what happened, in which organization, and who caused it. `outbox.rs` writes it at the commit.

use serde_json::value::{RawValue, to_raw_value};

use crate::{
    audit::context::RequestContext,
    error::Error,
    event::EventData,
    id::{ApiKeyId, DeliveryId, DeploymentKeyId, EventId, OrgId, UserId, WebhookId},
    model::{EventKind, OrgRef},
};

/// The causer of an event.
#[derive(Debug, Clone)]
pub(crate) enum Actor {
    User(UserId),
    #[expect(dead_code, reason = "no write is open to API keys yet; the payload names the type")]
    ApiKey(ApiKeyId),
    DeploymentKey(DeploymentKeyId),
    System,
}

/// An event of one organization, not yet written.
#[derive(Debug)]
pub(crate) struct Event {
    pub(super) kind: EventKind,
    pub(super) org: OrgRef,
    pub(super) actor: Actor,
    /// Whom the event is about.
    pub(super) about: Option<UserId>,
    pub(super) data: Box<RawValue>,
    pub(super) audience: Audience,
    /// The request behind the event, where it is not the one that the transaction serves.
    pub(super) request: Option<RequestContext>,
}

/// A person who is erased by a transaction, once its events are written.
#[derive(Debug, Clone)]
pub(crate) struct ErasedPerson {
    pub(crate) user: UserId,
    /// Every organization that was told of them.
    pub(crate) orgs: Vec<OrgId>,
    /// As whom imported logs know them.
    pub(crate) former: Vec<FormerSelf>,
    /// Events that hold their address and not their id.
    pub(crate) addressed: Vec<EventId>,
}

/// Somebody as the log of an imported organization knows them, who has an account of another id here.
#[derive(Debug, Clone)]
pub(crate) struct FormerSelf {
    pub(crate) org: OrgRef,
    pub(crate) id: UserId,
    /// The number of the event that tells of the import: what has this id from there on is somebody else's.
    pub(crate) before: i64,
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
    pub(crate) fn new(kind: EventKind, org: impl Into<OrgRef>, actor: Actor, data: &impl EventData) -> Result<Self, Error> {
        let about = data.about().cloned();
        let data = to_raw_value(data).map_err(Error::internal)?;
        Ok(Self { kind, org: org.into(), actor, about, data, audience: Audience::Subscribers, request: None })
    }

    /// Sends the event to one webhook only, as this delivery.
    pub(crate) fn only_to(mut self, webhook: &WebhookId, delivery: &DeliveryId) -> Self {
        self.audience = Audience::Only(webhook.clone(), delivery.clone());
        self
    }

    /// Says whom the event is about, where its data name nobody by id: it is erased with the person.
    pub(crate) fn about(mut self, user: &UserId) -> Self {
        self.about = Some(user.clone());
        self
    }

    /// Tells the context of this request.
    pub(crate) fn of_request(mut self, request: RequestContext) -> Self {
        self.request = Some(request);
        self
    }

    pub(super) fn kind(&self) -> EventKind {
        self.kind
    }
}
