//! Webhooks and their deliveries. Signing secrets live in the store, sealed, not here.

use super::{DeliveryError, DeliveryStatus, EventSelection, WebhookStatus};
use crate::{
    id::{DeliveryId, EventId, OrgId, UserId, WebhookId},
    time::Timestamp,
    value::{Description, WebhookUrl},
};

/// An organization's subscription to its events.
#[derive(Debug, Clone)]
pub struct Webhook {
    /// `whk_…`
    pub id: WebhookId,
    /// The organization whose events it gets.
    pub org_id: OrgId,
    /// Where deliveries are sent.
    pub url: WebhookUrl,
    /// Which kinds of events it gets.
    pub events: EventSelection,
    /// For people to tell webhooks apart; may be empty.
    pub description: Description,
    /// A disabled webhook gets nothing.
    pub status: WebhookStatus,
    /// Its maker; none when that account was deleted.
    pub created_by: Option<UserId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Since when every attempt failed.
    pub failing_since: Option<Timestamp>,
}

/// One event on its way to one webhook.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// `dlv_…`
    pub id: DeliveryId,
    /// The event; also the `webhook-id` of every attempt.
    pub event_id: EventId,
    /// The event's kind.
    pub event: String,
    /// How far it has come.
    pub status: DeliveryStatus,
    /// Attempts begun so far.
    pub attempts: i64,
    /// The HTTP status of the last answer.
    pub last_status_code: Option<i64>,
    /// Why the last attempt failed; none after success.
    pub last_error: Option<DeliveryError>,
    /// When it is tried next, if it is.
    pub next_attempt_at: Option<Timestamp>,
    /// When it was caused.
    pub created_at: Timestamp,
}
