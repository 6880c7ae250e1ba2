//! Events as they are read: what waits for fan-out, and what is told of an event, which is rendered from its row
//! ([`KeptEvent::payload`]). `event_chain.rs` writes them.

use crate::{
    error::Error,
    id::{EventId, Id, OrgId},
    model::OrgRef,
    store::{
        Link,
        dialect::{fetch_all, fetch_optional, fetch_scalars, row, statements},
        payload::KeptEvent,
        sql::waiting::WaitingRow,
    },
    time::Timestamp,
    value::Slug,
};

pub(crate) struct Events<L>(pub(in crate::store) L);

statements! {
    UNDELIVERED = "
        SELECT e.id, e.org_id, e.sequence, e.kind, e.created_at
          FROM (SELECT event_id AS id, org_id, sequence, kind, created_at FROM tenant_auth_outbox ORDER BY event_id LIMIT $1) e
         ORDER BY e.created_at, e.org_id, e.sequence";
    // A loose index scan: one step of an index for each organization, however many events each has.
    WAITING_ORGANIZATIONS = "
        WITH RECURSIVE queues (org_id) AS (
            SELECT MIN(org_id) FROM tenant_auth_outbox WHERE org_id > $1
             UNION ALL
            SELECT (SELECT MIN(org_id) FROM tenant_auth_outbox WHERE org_id > queues.org_id)
              FROM queues
             WHERE queues.org_id IS NOT NULL
        )
        SELECT org_id
          FROM queues
         WHERE org_id IS NOT NULL
         LIMIT $2";
    UNDELIVERED_OF = "
        SELECT event_id AS id, org_id, sequence, kind, created_at
          FROM tenant_auth_outbox
         WHERE org_id = $1
         ORDER BY sequence
         LIMIT $2";
    WAITING = "
        SELECT COUNT(*) AS waiting, COALESCE(MIN(e.created_at), 0) AS oldest
          FROM (SELECT created_at FROM tenant_auth_outbox ORDER BY event_id LIMIT 10000) e";
    BEHIND = "
        SELECT org_id
          FROM tenant_auth_event_sequences
         WHERE org_id > $1 AND chained < sequence
         ORDER BY org_id
         LIMIT $2";
}

row! {
    EventRow {
        id: String,
        org_id: String,
        sequence: i64,
        kind: String,
        created_at: i64,
    }
}
row! {
    KeptRow {
        id: String,
        org_id: String,
        slug: String,
        sequence: i64,
        kind: String,
        created_at: i64,
        actor_type: Option<String>,
        actor_id: Option<String>,
        data: Option<String>,
        payload: Option<String>,
    }
}

/// The columns of an event as it is kept.
macro_rules! kept {
    () => {
        "id, org_id, (SELECT slug FROM tenant_auth_organizations WHERE id = tenant_auth_events.org_id) AS slug, sequence, kind, \
         created_at, actor_type, actor_id, data, payload"
    };
}
pub(in crate::store) use kept;

impl From<KeptRow> for KeptEvent {
    fn from(row: KeptRow) -> Self {
        let KeptRow { id, org_id, slug, sequence, kind, created_at, actor_type, actor_id, data, payload } = row;
        Self {
            id: Id::from_stored(id),
            org: OrgRef { id: Id::from_stored(org_id), slug: Slug::from_stored(slug) },
            sequence,
            kind,
            at: Timestamp::from_millis(created_at),
            actor_type: actor_type.unwrap_or_default(),
            actor_id,
            data,
            whole: payload,
        }
    }
}

/// An event that waits for fan-out into deliveries.
#[derive(Debug)]
pub(crate) struct UndeliveredEvent {
    pub(crate) id: EventId,
    pub(crate) org_id: OrgId,
    /// Its number in the organization. An organization's events become visible in this order.
    pub(crate) sequence: i64,
    pub(crate) kind: String,
    /// When it happened; in an organization never before an earlier event.
    pub(crate) at: Timestamp,
}

/// A limit as statements take it.
fn at_most(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

impl From<EventRow> for UndeliveredEvent {
    fn from(EventRow { id, org_id, sequence, kind, created_at }: EventRow) -> Self {
        let at = Timestamp::from_millis(created_at);
        Self { id: Id::from_stored(id), org_id: Id::from_stored(org_id), sequence, kind, at }
    }
}

impl<L: Link> Events<L> {
    /// Up to `limit` events that wait for fan-out, the oldest first.
    pub(crate) async fn undelivered(mut self, limit: usize) -> Result<Vec<UndeliveredEvent>, Error> {
        let rows = fetch_all!(self.0, EventRow, UNDELIVERED, at_most(limit))?;
        Ok(rows.into_iter().map(UndeliveredEvent::from).collect())
    }

    /// Up to `limit` organizations after this id that have events which wait for fan-out, in the order of their ids.
    pub(crate) async fn waiting_organizations(mut self, after: &str, limit: usize) -> Result<Vec<OrgId>, Error> {
        let rows = fetch_scalars!(self.0, String, WAITING_ORGANIZATIONS, after, at_most(limit))?;
        Ok(rows.into_iter().map(Id::from_stored).collect())
    }

    /// Up to `limit` events of an organization that wait for fan-out, in their order.
    pub(crate) async fn undelivered_of(mut self, org: &OrgId, limit: usize) -> Result<Vec<UndeliveredEvent>, Error> {
        let rows = fetch_all!(self.0, EventRow, UNDELIVERED_OF, org.as_str(), at_most(limit))?;
        Ok(rows.into_iter().map(UndeliveredEvent::from).collect())
    }

    /// How many events wait for fan-out, counted up to ten thousand, and since when the oldest of them has waited.
    pub(crate) async fn waiting(mut self) -> Result<(u64, Option<Timestamp>), Error> {
        Ok(WaitingRow::told(fetch_optional!(self.0, WaitingRow, WAITING)?))
    }

    /// The organizations after this id that have events which are not chained, in the order of their ids.
    pub(in crate::store) async fn behind(mut self, after: &str, limit: i64) -> Result<Vec<OrgId>, Error> {
        Ok(fetch_scalars!(self.0, String, BEHIND, after, limit)?.into_iter().map(Id::from_stored).collect())
    }
}
