//! The delivery queue: due deliveries and their leases. A due delivery is claimed by moving its next attempt to the end of a lease.
//! A claim is recognised by its attempt number, so that a worker whose lease ran out cannot overwrite the outcome of the next
//! attempt. Due deliveries are found endpoint by endpoint, so that the backlog of one endpoint does not hide the others'. Lock
//! order: a webhook before its deliveries.

use crate::{
    error::Error,
    id::{DeliveryId, EventId, Id, WebhookId},
    model::{DeliveryError, DeliveryStatus},
    store::{
        Link, Tx,
        dialect::{execute, fetch_all, fetch_optional, fetch_scalar, on_either, row, statements},
        sql::waiting::WaitingRow,
    },
    time::Timestamp,
};

pub(crate) struct DeliveryQueue<L>(pub(in crate::store) L);

/// An endpoint with at least one due delivery.
#[derive(Debug)]
pub(crate) struct DueEndpoint {
    pub(crate) id: WebhookId,
    pub(crate) is_failing: bool,
}

/// A delivery claimed by this worker, to be attempted now.
#[derive(Debug, Clone)]
pub(crate) struct ClaimedDelivery {
    pub(crate) id: DeliveryId,
    pub(crate) event_id: EventId,
    /// This attempt's number, from 1.
    pub(crate) attempt: i64,
    /// The request body, byte for byte; `None` when the event is gone.
    pub(crate) payload: Option<String>,
    /// The end of the lease: from then on another worker may make the next attempt.
    pub(crate) lease_until: Timestamp,
}

/// The result of an attempt.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attempted {
    pub(crate) status: DeliveryStatus,
    pub(crate) status_code: Option<u16>,
    pub(crate) error: Option<DeliveryError>,
    pub(crate) next_attempt_at: Option<Timestamp>,
}

/// How many rows a statement with a VALUES list writes at once: it always has this many rows, and unused ones are NULL.
pub(super) const AT_ONCE: usize = 8;

statements! {
    // A loose index scan: one step of the index per endpoint with pending deliveries, however many deliveries each has.
    DUE_ENDPOINTS = "
        WITH RECURSIVE endpoints (id) AS (
            SELECT MIN(webhook_id) FROM tenant_auth_deliveries WHERE next_attempt_at IS NOT NULL AND webhook_id > $2
             UNION ALL
            SELECT (SELECT MIN(webhook_id) FROM tenant_auth_deliveries
                     WHERE next_attempt_at IS NOT NULL AND webhook_id > endpoints.id)
              FROM endpoints
             WHERE endpoints.id IS NOT NULL
        )
        SELECT id, (SELECT failing_since FROM tenant_auth_webhooks WHERE id = endpoints.id) AS failing_since
          FROM endpoints
         WHERE id IS NOT NULL
           AND (SELECT MIN(next_attempt_at) FROM tenant_auth_deliveries WHERE webhook_id = endpoints.id AND next_attempt_at IS NOT NULL) <= $1
         LIMIT $3";
    NEXT_DUE = "SELECT COALESCE(MIN(next_attempt_at), 0) AS number FROM tenant_auth_deliveries WHERE next_attempt_at > $1";
    AHEAD = "SELECT scheduled_at AS number FROM tenant_auth_deliveries WHERE next_attempt_at > $1 AND scheduled_at > $1 LIMIT 1";
    BRING_BACK = "
        UPDATE tenant_auth_deliveries
           SET next_attempt_at = next_attempt_at - (scheduled_at - $1), scheduled_at = $1
         WHERE id IN (SELECT id FROM tenant_auth_deliveries WHERE next_attempt_at > $2 AND scheduled_at > $2 LIMIT $3)
           AND next_attempt_at > $2 AND scheduled_at > $2";
    CLAIM = "
        UPDATE tenant_auth_deliveries
           SET attempts = attempts + 1, next_attempt_at = $3, scheduled_at = $2
         WHERE id IN (SELECT id
                        FROM tenant_auth_deliveries
                       WHERE webhook_id = $1 AND next_attempt_at <= $2
                       ORDER BY next_attempt_at
                       LIMIT $4)
           AND next_attempt_at <= $2
        RETURNING id, event_id, attempts,
                  (SELECT payload FROM tenant_auth_events WHERE id = tenant_auth_deliveries.event_id) AS payload";
    POSTPONE = "
        UPDATE tenant_auth_deliveries
           SET next_attempt_at = $3, scheduled_at = $2
         WHERE webhook_id = $1 AND next_attempt_at <= $2";
    RECORD = "
        UPDATE tenant_auth_deliveries
           SET status = $3, last_status_code = $4, last_error = $5, next_attempt_at = $6, scheduled_at = $7
         WHERE id = $1 AND attempts = $2 AND status = 'pending'";
    RECORD_SUCCESSES = "
        UPDATE tenant_auth_deliveries
           SET status = 'succeeded', last_status_code = done.column3, last_error = NULL, next_attempt_at = NULL
          FROM (VALUES (CAST($1 AS TEXT), CAST($2 AS BIGINT), CAST($3 AS BIGINT)), ($4, $5, $6), ($7, $8, $9), ($10, $11, $12),
                       ($13, $14, $15), ($16, $17, $18), ($19, $20, $21), ($22, $23, $24)) AS done
         WHERE id = done.column1 AND attempts = done.column2 AND status = 'pending'";
    // The count stops at 10000, so that a large backlog does not make the metrics slow.
    WAITING = "
        SELECT COUNT(*) AS waiting, COALESCE(MIN(d.next_attempt_at), 0) AS oldest
          FROM (SELECT next_attempt_at
                  FROM tenant_auth_deliveries
                 WHERE next_attempt_at IS NOT NULL
                 ORDER BY next_attempt_at
                 LIMIT 10000) d";
}

row! {
    EndpointRow {
        id: String,
        failing_since: Option<i64>,
    }
}

row! {
    ClaimedRow {
        id: String,
        event_id: String,
        attempts: i64,
        payload: Option<String>,
    }
}

impl<L: Link> DeliveryQueue<L> {
    /// Up to `limit` endpoints with due deliveries whose ids come after `after`, in the order of their ids.
    pub(crate) async fn due_endpoints(mut self, now: Timestamp, after: &str, limit: u32) -> Result<Vec<DueEndpoint>, Error> {
        let rows = fetch_all!(self.0, EndpointRow, DUE_ENDPOINTS, now.millis(), after, i64::from(limit))?;
        let due = |row: EndpointRow| DueEndpoint { id: Id::from_stored(row.id), is_failing: row.failing_since.is_some() };
        Ok(rows.into_iter().map(due).collect())
    }

    /// When the next delivery becomes due that is not due yet.
    pub(crate) async fn next_due(mut self, now: Timestamp) -> Result<Option<Timestamp>, Error> {
        let due = fetch_scalar!(self.0, i64, NEXT_DUE, now.millis())?.unwrap_or(0);
        Ok((due != 0).then(|| Timestamp::from_millis(due)))
    }

    /// Whether a delivery waits that was scheduled after `latest`.
    pub(crate) async fn any_ahead(mut self, latest: Timestamp) -> Result<bool, Error> {
        Ok(fetch_scalar!(self.0, i64, AHEAD, latest.millis())?.is_some())
    }

    /// How many deliveries wait, counted up to ten thousand, and the earliest due time among them.
    pub(crate) async fn waiting(mut self) -> Result<(u64, Option<Timestamp>), Error> {
        Ok(WaitingRow::told(fetch_optional!(self.0, WaitingRow, WAITING)?))
    }
}

impl DeliveryQueue<&mut Tx> {
    /// Claims up to `limit` due deliveries of an endpoint with a lease until `lease_until`; no other worker gets them before its
    /// end.
    pub(crate) async fn claim(
        mut self,
        endpoint: &WebhookId,
        lease_until: Timestamp,
        limit: u32,
    ) -> Result<Vec<ClaimedDelivery>, Error> {
        let now = self.0.now();
        let limit = i64::from(limit);
        let rows = fetch_all!(self.0, ClaimedRow, CLAIM, endpoint.as_str(), now.millis(), lease_until.millis(), limit)?;
        let claimed = |row: ClaimedRow| ClaimedDelivery {
            id: Id::from_stored(row.id),
            event_id: Id::from_stored(row.event_id),
            attempt: row.attempts,
            payload: row.payload,
            lease_until,
        };
        Ok(rows.into_iter().map(claimed).collect())
    }

    /// Moves the due deliveries of an endpoint to `until`.
    pub(crate) async fn postpone(mut self, endpoint: &WebhookId, until: Timestamp) -> Result<(), Error> {
        let now = self.0.now();
        execute!(self.0, POSTPONE, endpoint.as_str(), now.millis(), until.millis())?;
        Ok(())
    }

    /// Counts the waits of a batch of deliveries that were scheduled after `latest` from now on, and returns their number.
    pub(crate) async fn bring_back(mut self, latest: Timestamp, batch: i64) -> Result<u64, Error> {
        let now = self.0.now();
        execute!(self.0, BRING_BACK, now.millis(), latest.millis(), batch)
    }

    /// Records successful attempts, each with its status code, unless the delivery was cancelled or claimed again in the meantime.
    pub(crate) async fn record_successes(mut self, attempts: &[(&ClaimedDelivery, Option<u16>)]) -> Result<(), Error> {
        for some in attempts.chunks(AT_ONCE) {
            on_either!(self.0, RECORD_SUCCESSES, |rows| *rows, connection => {
                let mut record = sqlx::query(RECORD_SUCCESSES);
                for row in 0..AT_ONCE {
                    let (claim, code) = some.get(row).map_or((None, None), |(claim, code)| (Some(*claim), *code));
                    record = record.bind(claim.map(|claim| claim.id.as_str())).bind(claim.map(|claim| claim.attempt));
                    record = record.bind(code.map(i64::from));
                }
                async { record.execute(connection).await.map(|done| done.rows_affected()) }
            })?;
        }
        Ok(())
    }

    /// Records an attempt's result, unless the delivery was cancelled or claimed again in the meantime.
    pub(crate) async fn record(mut self, claim: &ClaimedDelivery, attempted: Attempted) -> Result<(), Error> {
        let now = self.0.now();
        execute!(
            self.0,
            RECORD,
            claim.id.as_str(),
            claim.attempt,
            attempted.status.as_str(),
            attempted.status_code.map(i64::from),
            attempted.error.map(DeliveryError::as_str),
            attempted.next_attempt_at.map(Timestamp::millis),
            now.millis()
        )?;
        Ok(())
    }
}
