//! Deliveries as records: the log that an org_admin reads, new deliveries, and their cancellation. Attempting them is the queue's
//! business (`delivery_queue.rs`).

use crate::{
    error::Error,
    id::{DeliveryId, EventId, Id, OrgId, WebhookId},
    model::{Delivery, DeliveryDetails, DeliveryError, DeliveryStatus},
    page::Bounds,
    store::{
        Link, Tx, Work, attempt_log,
        dialect::{execute, fetch_batch, fetch_optional, fetch_scalar, row, statements},
        payload::KeptEvent,
        sql::{
            event_chain::EventChain,
            events::{KeptRow, kept},
        },
    },
    time::{CLOCKS_DIFFER, Timestamp},
};

pub(crate) struct Deliveries<L>(pub(in crate::store) L);

/// A delivery to insert.
#[derive(Debug)]
pub(crate) struct NewDelivery<'a> {
    pub(crate) id: &'a DeliveryId,
    pub(crate) org_id: &'a OrgId,
    pub(crate) webhook_id: &'a WebhookId,
    pub(crate) event_id: &'a EventId,
    pub(crate) event_kind: &'a str,
}

statements! {
    LIST = "
        SELECT id, event_id, event_kind, status, attempts, last_status_code, last_error, next_attempt_at, created_at
          FROM tenant_auth_deliveries
         WHERE org_id = $4 AND webhook_id = $5 AND (created_at, id) > ($1, $2) AND ($6 = '' OR status = $6)
         ORDER BY created_at, id
         LIMIT $3";
    LIST_DESCENDING = "
        SELECT id, event_id, event_kind, status, attempts, last_status_code, last_error, next_attempt_at, created_at
          FROM tenant_auth_deliveries
         WHERE org_id = $4 AND webhook_id = $5 AND (created_at, id) < ($1, $2) AND ($6 = '' OR status = $6)
         ORDER BY created_at DESC, id DESC
         LIMIT $3";
    FIND = "
        SELECT id, event_id, event_kind, status, attempts, last_status_code, last_error, next_attempt_at, created_at
          FROM tenant_auth_deliveries
         WHERE org_id = $1 AND webhook_id = $2 AND id = $3";
    ATTEMPT_LOG = "SELECT attempt_log FROM tenant_auth_deliveries WHERE org_id = $1 AND webhook_id = $2 AND id = $3";
    EVENT = concat!("SELECT ", kept!(), " FROM tenant_auth_events WHERE org_id = $1 AND id = $2");
    INSERT = "
        INSERT INTO tenant_auth_deliveries
               (id, org_id, webhook_id, event_id, event_kind, status, attempts, next_attempt_at, scheduled_at, created_at)
        VALUES ($1, $2, $3, $4, $5, 'pending', 0, $6, $6, $6)";
    // A delivery of the future was made before the clock was set back. Events bear its former time for longer: times in a log never go
    // back.
    NTH_LATEST = "
        SELECT e.created_at AS number
          FROM tenant_auth_deliveries d
          JOIN tenant_auth_events e ON e.org_id = d.org_id AND e.id = d.event_id
         WHERE d.org_id = $1 AND d.webhook_id = $2 AND d.created_at > $3 AND d.created_at <= $5 AND d.event_kind = 'webhook.test'
           AND e.created_at > $3
         GROUP BY e.id, e.created_at
         ORDER BY e.created_at DESC
         LIMIT 1 OFFSET $4";
    // In the order of an index each, so that a batch does not read what the ones before it left dead.
    CANCEL_SOME = "
        UPDATE tenant_auth_deliveries
           SET status = 'cancelled', next_attempt_at = NULL
         WHERE id IN (SELECT id
                        FROM tenant_auth_deliveries
                       WHERE webhook_id = $1 AND next_attempt_at IS NOT NULL
                       ORDER BY next_attempt_at
                       LIMIT $2)
           AND next_attempt_at IS NOT NULL";
    DELETE_SOME = "
        DELETE FROM tenant_auth_deliveries
         WHERE id IN (SELECT id
                        FROM tenant_auth_deliveries
                       WHERE org_id = $1 AND webhook_id = $2
                       ORDER BY created_at, id
                       LIMIT $3)";
}

row! {
    DeliveryRow {
        id: String,
        event_id: String,
        event_kind: String,
        status: String,
        attempts: i64,
        last_status_code: Option<i64>,
        last_error: Option<String>,
        next_attempt_at: Option<i64>,
        created_at: i64,
    }
}

impl From<DeliveryRow> for Delivery {
    fn from(row: DeliveryRow) -> Self {
        Self {
            id: Id::from_stored(row.id),
            event_id: Id::from_stored(row.event_id),
            event: row.event_kind,
            status: DeliveryStatus::parse(&row.status).unwrap_or(DeliveryStatus::Cancelled),
            attempts: row.attempts,
            last_status_code: row.last_status_code,
            last_error: row.last_error.as_deref().and_then(DeliveryError::parse),
            next_attempt_at: row.next_attempt_at.map(Timestamp::from_millis),
            created_at: Timestamp::from_millis(row.created_at),
        }
    }
}

impl<L: Link> Deliveries<L> {
    /// The deliveries to a webhook, of one status or of all.
    pub(crate) async fn list(
        mut self,
        org: &OrgId,
        webhook: &WebhookId,
        status: Option<DeliveryStatus>,
        bounds: &Bounds,
    ) -> Result<Vec<Delivery>, Error> {
        let (org, webhook, status) = (org.as_str(), webhook.as_str(), status.map_or("", DeliveryStatus::as_str));
        let rows = fetch_batch!(self.0, DeliveryRow, LIST, LIST_DESCENDING, bounds, org, webhook, status)?;
        Ok(rows.into_iter().map(Delivery::from).collect())
    }

    pub(crate) async fn find(mut self, org: &OrgId, webhook: &WebhookId, delivery: &DeliveryId) -> Result<Option<Delivery>, Error> {
        Ok(fetch_optional!(self.0, DeliveryRow, FIND, org.as_str(), webhook.as_str(), delivery.as_str())?.map(Delivery::from))
    }

    /// A delivery with what it sends and what came of each attempt.
    pub(crate) async fn details(
        mut self,
        org: &OrgId,
        webhook: &WebhookId,
        id: &DeliveryId,
    ) -> Result<Option<DeliveryDetails>, Error> {
        let (org, webhook, id) = (org.as_str(), webhook.as_str(), id.as_str());
        let Some(row) = fetch_optional!(self.0, DeliveryRow, FIND, org, webhook, id)? else { return Ok(None) };
        let log = fetch_scalar!(self.0, String, ATTEMPT_LOG, org, webhook, id)?.unwrap_or_default();
        let delivery = Delivery::from(row);
        let event = fetch_optional!(self.0, KeptRow, EVENT, org, delivery.event_id.as_str())?.map(KeptEvent::from);
        let payload = event.map(|event| event.payload()).transpose()?;
        Ok(Some(DeliveryDetails { delivery, payload, attempt_log: attempt_log::read(&log) }))
    }
}

impl Deliveries<&mut Tx> {
    /// When the `nth` latest test after `since` was requested; `None` when there are fewer. One that is delivered again is no other test.
    pub(crate) async fn nth_latest_test(
        mut self,
        org: &OrgId,
        webhook: &WebhookId,
        since: Timestamp,
        nth: u32,
    ) -> Result<Option<Timestamp>, Error> {
        let (offset, latest) = (i64::from(nth) - 1, self.0.now().plus(CLOCKS_DIFFER).millis());
        let row = fetch_scalar!(self.0, i64, NTH_LATEST, org.as_str(), webhook.as_str(), since.millis(), offset, latest)?;
        Ok(row.map(Timestamp::from_millis))
    }

    /// Stores a further delivery of an event; `false` when the event is gone. The sweep holds the organization's chain while it removes
    /// events that nothing waits for, and so does this.
    pub(crate) async fn insert_again(mut self, delivery: &NewDelivery<'_>) -> Result<bool, Error> {
        EventChain(&mut *self.0).head(delivery.org_id).await?;
        let (org, event) = (delivery.org_id.as_str(), delivery.event_id.as_str());
        if fetch_optional!(self.0, KeptRow, EVENT, org, event)?.is_none() {
            return Ok(false);
        }
        self.insert(delivery).await?;
        Ok(true)
    }

    /// Stores a delivery that is due at once.
    pub(crate) async fn insert(mut self, delivery: &NewDelivery<'_>) -> Result<(), Error> {
        let now = self.0.now();
        self.0.leave(Work::Deliveries);
        execute!(
            self.0,
            INSERT,
            delivery.id.as_str(),
            delivery.org_id.as_str(),
            delivery.webhook_id.as_str(),
            delivery.event_id.as_str(),
            delivery.event_kind,
            now.millis()
        )?;
        Ok(())
    }

    /// Cancels up to `most` pending deliveries of an endpoint, those due first before the others, and returns their number.
    pub(crate) async fn cancel_some(mut self, endpoint: &WebhookId, most: i64) -> Result<u64, Error> {
        execute!(self.0, CANCEL_SOME, endpoint.as_str(), most)
    }

    /// Deletes up to `most` deliveries to a webhook, the oldest first, and returns their number.
    pub(crate) async fn delete_some(mut self, org: &OrgId, webhook: &WebhookId, most: i64) -> Result<u64, Error> {
        execute!(self.0, DELETE_SOME, org.as_str(), webhook.as_str(), most)
    }
}
