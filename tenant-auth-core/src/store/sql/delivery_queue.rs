//! The delivery queue: due deliveries and their leases. A due delivery is claimed by moving its next attempt to the end of a lease.
//! A claim is recognised by its attempt number, so that a worker whose lease ran out cannot overwrite the outcome of the next
//! attempt. Due deliveries are found endpoint by endpoint, so that the backlog of one endpoint does not hide the others'. Lock
//! order: a webhook before its deliveries.

use crate::{
    error::Error,
    id::{DeliveryId, EventId, Id, WebhookId},
    model::{DeliveryAttempt, DeliveryStatus},
    store::{
        Link, Tx,
        dialect::{execute, fetch_all, fetch_optional, fetch_scalar, row, statements},
        sql::waiting::WaitingRow,
    },
    time::Timestamp,
};

pub(crate) struct DeliveryQueue<L>(pub(in crate::store) L);

/// An endpoint with at least one due delivery.
#[derive(Debug, Clone)]
pub(crate) struct DueEndpoint {
    pub(crate) id: WebhookId,
    pub(crate) is_failing: bool,
    /// How many of its deliveries are due, where that was counted.
    pub(crate) due: Option<usize>,
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
    /// What the delivery has come to.
    pub(crate) status: DeliveryStatus,
    pub(crate) next_attempt_at: Option<Timestamp>,
    pub(crate) made: DeliveryAttempt,
}

statements! {
    FIRST_DUE = "
        SELECT d.webhook_id AS id, COUNT(*) AS due,
               (SELECT failing_since FROM tenant_auth_webhooks WHERE id = d.webhook_id) AS failing_since
          FROM (SELECT webhook_id
                  FROM tenant_auth_deliveries
                 WHERE next_attempt_at <= $1
                 ORDER BY next_attempt_at
                 LIMIT $2) d
         GROUP BY d.webhook_id
         ORDER BY d.webhook_id";
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
        RETURNING id, event_id, attempts";
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
    CountedRow {
        id: String,
        due: i64,
        failing_since: Option<i64>,
    }
}

row! {
    ClaimedRow {
        id: String,
        event_id: String,
        attempts: i64,
    }
}

impl<L: Link> DeliveryQueue<L> {
    /// Up to `limit` endpoints with due deliveries whose ids come after `after`, in the order of their ids.
    pub(crate) async fn due_endpoints(mut self, now: Timestamp, after: &str, limit: usize) -> Result<Vec<DueEndpoint>, Error> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = fetch_all!(self.0, EndpointRow, DUE_ENDPOINTS, now.millis(), after, limit)?;
        let due =
            |row: EndpointRow| DueEndpoint { id: Id::from_stored(row.id), is_failing: row.failing_since.is_some(), due: None };
        Ok(rows.into_iter().map(due).collect())
    }

    /// The endpoints of all due deliveries, in the order of their ids; `None` when `most` or more deliveries are due. Unlike
    /// [`DeliveryQueue::due_endpoints`], it never walks endpoints that only wait.
    pub(crate) async fn few_due(mut self, now: Timestamp, most: usize) -> Result<Option<Vec<DueEndpoint>>, Error> {
        let limit = i64::try_from(most).unwrap_or(i64::MAX);
        let rows = fetch_all!(self.0, CountedRow, FIRST_DUE, now.millis(), limit)?;
        let due = |row: CountedRow| DueEndpoint {
            id: Id::from_stored(row.id),
            is_failing: row.failing_since.is_some(),
            due: usize::try_from(row.due).ok(),
        };
        let all: Vec<DueEndpoint> = rows.into_iter().map(due).collect();
        Ok((all.iter().filter_map(|endpoint| endpoint.due).sum::<usize>() < most).then_some(all))
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
        let payloads = self.payloads(rows.iter().map(|row| row.event_id.as_str())).await?;
        let claimed = |row: ClaimedRow| ClaimedDelivery {
            payload: payloads.get(row.event_id.as_str()).cloned(),
            id: Id::from_stored(row.id),
            event_id: Id::from_stored(row.event_id),
            attempt: row.attempts,
            lease_until,
        };
        Ok(rows.into_iter().map(claimed).collect())
    }

    /// Counts the waits of a batch of deliveries that were scheduled after `latest` from now on, and returns their number.
    pub(crate) async fn bring_back(mut self, latest: Timestamp, batch: i64) -> Result<u64, Error> {
        let now = self.0.now();
        execute!(self.0, BRING_BACK, now.millis(), latest.millis(), batch)
    }
}
