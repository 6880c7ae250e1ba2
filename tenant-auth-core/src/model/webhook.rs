//! Webhooks and their deliveries. Signing secrets live in the store, sealed, not here.

use std::{fmt, time::Duration};

use super::{DeliveryError, DeliveryStatus, EventSelection, WebhookStatus};
use crate::{
    id::{DeliveryId, EventId, OrgId, UserId, WebhookId},
    time::Timestamp,
    value::{Description, WebhookUrl},
};

/// An organization's subscription to its events.
#[derive(Debug, Clone)]
#[non_exhaustive]
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
#[non_exhaustive]
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

/// A delivery with what it sends and what came of it.
#[derive(Clone)]
#[non_exhaustive]
pub struct DeliveryDetails {
    /// The delivery as the log lists it.
    pub delivery: Delivery,
    /// The body that its next attempt sends, byte for byte, and that its last one sent unless personal data were wiped from it since.
    /// JSON; none when the event is gone.
    pub payload: Option<String>,
    /// The attempts whose outcome was recorded, the first first. One whose delivery was cancelled meanwhile, or whose server stopped,
    /// is missing.
    pub attempt_log: Vec<DeliveryAttempt>,
}

impl fmt::Debug for DeliveryDetails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { delivery, payload: _, attempt_log } = self; // the payload is personal data
        f.debug_struct("DeliveryDetails").field("delivery", delivery).field("attempt_log", attempt_log).finish_non_exhaustive()
    }
}

/// What came of one attempt to deliver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeliveryAttempt {
    /// When it began.
    pub at: Timestamp,
    /// The HTTP status of the answer; none without one.
    pub status_code: Option<u16>,
    /// Why it failed; none for a success.
    pub error: Option<DeliveryError>,
    /// How long it took, in milliseconds once it is kept: finding the address, connecting, and the answer's head.
    pub took: Duration,
}
