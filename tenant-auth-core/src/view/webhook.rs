//! Webhooks and their deliveries as JSON. Signing secrets are shown once, when they are made, and never with the webhook.

use serde::Serialize;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::view;
use crate::{
    hex,
    id::{DeliveryId, EventId, UserId, WebhookId},
    model::{Delivery, DeliveryAttempt, DeliveryDetails, DeliveryError, DeliveryStatus, EventSelection, Webhook, WebhookStatus},
    time::Timestamp,
    value::{Description, WebhookUrl},
};

view! {
    /// An organization's subscription to its events.
    pub WebhookView of Webhook as Webhook {
        /// `whk_…`
        id: WebhookId,
        /// Where deliveries are sent.
        url: WebhookUrl,
        /// Which kinds of events it gets.
        events: EventSelection,
        /// For people to tell webhooks apart; may be empty.
        description: Description,
        /// A disabled webhook gets nothing.
        status: WebhookStatus,
        /// Its maker; none when that account was deleted.
        created_by: Option<UserId>,
        /// When it was made.
        created_at: Timestamp,
    }
}

/// What events of a webhook's life tell of it, to the other webhooks and to whoever reads the feed: not its URL, for many services put the
/// credential of their receiver into the path.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = ToldWebhook))]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToldWebhookView {
    /// `whk_…`
    id: WebhookId,
    /// The host of the URL that deliveries are sent to.
    host: String,
    /// SHA-256 of that URL, as `GET /org/webhooks` shows it: 64 lower-case hexadecimal digits.
    url_digest: String,
    /// Which kinds of events it gets.
    events: EventSelection,
    /// For people to tell webhooks apart; may be empty.
    description: Description,
    /// A disabled webhook gets nothing.
    status: WebhookStatus,
    /// Its maker; none when that account was deleted.
    created_by: Option<UserId>,
    /// When it was made.
    created_at: Timestamp,
}

impl From<&Webhook> for ToldWebhookView {
    fn from(webhook: &Webhook) -> Self {
        Self {
            id: webhook.id.clone(),
            host: webhook.url.host().to_string(),
            url_digest: hex::of(&Sha256::digest(webhook.url.as_str())),
            events: webhook.events.clone(),
            description: webhook.description.clone(),
            status: webhook.status,
            created_by: webhook.created_by.clone(),
            created_at: webhook.created_at,
        }
    }
}

view! {
    /// One event on its way to one webhook.
    pub DeliveryView of Delivery as Delivery {
        /// `dlv_…`
        id: DeliveryId,
        /// The event; also the `webhook-id` of every attempt.
        event_id: EventId,
        /// The event's kind.
        event: String,
        /// How far it has come.
        status: DeliveryStatus,
        /// Attempts begun so far.
        attempts: i64,
        /// The HTTP status of the last answer.
        last_status_code: Option<i64>,
        /// Why the last attempt failed; none after success.
        last_error: Option<DeliveryError>,
        /// When it is tried next, if it is.
        next_attempt_at: Option<Timestamp>,
        /// When it was caused.
        created_at: Timestamp,
    }
}

/// A delivery with what it sends and what came of each attempt.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = DeliveryDetails))]
#[serde(rename_all = "camelCase")]
pub struct DeliveryDetailsView {
    #[serde(flatten)]
    delivery: DeliveryView,
    /// The body of its next attempt; null when the event is gone. Its `data` are null once they were erased.
    #[cfg_attr(feature = "http", schema(value_type = Option<std::collections::BTreeMap<String, serde_json::Value>>))]
    payload: Option<Box<RawValue>>,
    /// What came of each attempt, the first first.
    attempt_log: Vec<DeliveryAttemptView>,
}

/// What came of one attempt to deliver.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = DeliveryAttempt))]
#[serde(rename_all = "camelCase")]
struct DeliveryAttemptView {
    /// When it began.
    at: Timestamp,
    /// The HTTP status of the answer.
    status_code: Option<u16>,
    /// Why it failed; none for a success.
    error: Option<DeliveryError>,
    /// How long it took, in milliseconds.
    duration_ms: u64,
}

impl From<&DeliveryDetails> for DeliveryDetailsView {
    fn from(details: &DeliveryDetails) -> Self {
        let DeliveryDetails { delivery, payload, attempt_log } = details;
        Self {
            delivery: delivery.into(),
            payload: payload.clone().and_then(|payload| RawValue::from_string(payload).ok()),
            attempt_log: attempt_log.iter().map(DeliveryAttemptView::from).collect(),
        }
    }
}

impl From<&DeliveryAttempt> for DeliveryAttemptView {
    fn from(attempt: &DeliveryAttempt) -> Self {
        let DeliveryAttempt { at, status_code, error, took } = *attempt;
        Self { at, status_code, error, duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX) }
    }
}
