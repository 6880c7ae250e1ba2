//! The outbox of events: each is written in the transaction of its change and numbered within its organization. An event waits for
//! fan-out only if its organization has an active webhook at that moment.

use crate::{
    error::Error,
    id::{EventId, Id, OrgId},
    store::{
        Link, Tx,
        dialect::{fetch_all, fetch_optional, row, statements},
        sql::waiting::WaitingRow,
    },
    time::Timestamp,
};

pub(crate) struct Events<L>(pub(in crate::store) L);

statements! {
    ADVANCE = "
        UPDATE tenant_auth_event_sequences
           SET sequence = sequence + $2
         WHERE org_id = $1
        RETURNING sequence";
    INSERT = "
        INSERT INTO tenant_auth_events (id, org_id, sequence, kind, payload, created_at, undelivered)
        VALUES ($1, $2, $3, $4, $5, $6,
                $7 AND EXISTS (SELECT 1 FROM tenant_auth_webhooks WHERE org_id = $2 AND status = 'active'))
        RETURNING undelivered";
    UNDELIVERED = "
        SELECT id, org_id, kind
          FROM tenant_auth_events
         WHERE undelivered
         ORDER BY created_at, id
         LIMIT $1";
    WAITING = "
        SELECT COUNT(*) AS waiting, COALESCE(MIN(e.created_at), 0) AS oldest
          FROM (SELECT created_at
                  FROM tenant_auth_events
                 WHERE undelivered
                 ORDER BY created_at, id
                 LIMIT 10000) e";
}

row! { SequenceRow { sequence: i64, } }
row! { UndeliveredRow { undelivered: bool, } }
row! {
    EventRow {
        id: String,
        org_id: String,
        kind: String,
    }
}

/// A row of the outbox.
#[derive(Debug)]
pub(in crate::store) struct EventRecord<'a> {
    pub(in crate::store) id: &'a EventId,
    pub(in crate::store) org_id: &'a OrgId,
    pub(in crate::store) sequence: i64,
    pub(in crate::store) kind: &'static str,
    pub(in crate::store) payload: String,
    /// Whether the event goes to every webhook that selected its kind.
    pub(in crate::store) published: bool,
}

/// An event that waits for fan-out into deliveries.
#[derive(Debug)]
pub(crate) struct UndeliveredEvent {
    pub(crate) id: EventId,
    pub(crate) org_id: OrgId,
    pub(crate) kind: String,
}

impl<L: Link> Events<L> {
    /// Up to `limit` events that wait for fan-out, the oldest first.
    pub(crate) async fn undelivered(mut self, limit: u32) -> Result<Vec<UndeliveredEvent>, Error> {
        let rows = fetch_all!(self.0, EventRow, UNDELIVERED, i64::from(limit))?;
        let event =
            |row: EventRow| UndeliveredEvent { id: Id::from_stored(row.id), org_id: Id::from_stored(row.org_id), kind: row.kind };
        Ok(rows.into_iter().map(event).collect())
    }

    /// How many events wait for fan-out, counted up to ten thousand, and since when the oldest of them has waited.
    pub(crate) async fn waiting(mut self) -> Result<(u64, Option<Timestamp>), Error> {
        Ok(WaitingRow::told(fetch_optional!(self.0, WaitingRow, WAITING)?))
    }
}

impl Events<&mut Tx> {
    /// Reserves `count` sequence numbers and returns the last; `None` when the organization is gone.
    pub(in crate::store) async fn advance(mut self, org: &OrgId, count: i64) -> Result<Option<i64>, Error> {
        Ok(fetch_optional!(self.0, SequenceRow, ADVANCE, org.as_str(), count)?.map(|row| row.sequence))
    }

    pub(in crate::store) async fn insert(mut self, event: EventRecord<'_>) -> Result<(), Error> {
        let now = self.0.now();
        let stored = fetch_optional!(
            self.0,
            UndeliveredRow,
            INSERT,
            event.id.as_str(),
            event.org_id.as_str(),
            event.sequence,
            event.kind,
            event.payload.as_str(),
            now.millis(),
            event.published
        )?;
        if stored.is_some_and(|row| row.undelivered) {
            self.0.fill_outbox();
        }
        Ok(())
    }
}
