//! Webhooks and their deliveries as JSON. Signing secrets are shown once, when they are made, and never with the webhook.

use super::view;
use crate::{
    id::{DeliveryId, EventId, UserId, WebhookId},
    model::{Delivery, DeliveryError, DeliveryStatus, EventSelection, Webhook, WebhookStatus},
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
