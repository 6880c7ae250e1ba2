//! Events in their order, for the feed.

use crate::{
    error::Error,
    id::{EventId, Id, OrgId},
    store::{
        Link,
        dialect::{fetch_all, fetch_all_of, fetch_optional, fetch_scalar, row, statements},
        payload::KeptEvent,
        sql::events::{KeptRow, kept},
    },
};

pub(crate) struct EventFeed<L>(pub(in crate::store) L);

statements! {
    // What another deployment wrote, before the organization was moved here, is no part of the feed.
    REACH = "
        SELECT s.sequence AS newest,
               COALESCE((SELECT MIN(sequence) FROM tenant_auth_events WHERE org_id = $1), s.sequence + 1) AS oldest,
               COALESCE((SELECT MAX(sequence) FROM tenant_auth_events WHERE org_id = $1 AND kind = 'org.imported'), 0) AS imported
          FROM tenant_auth_event_sequences s
         WHERE s.org_id = $1
           AND EXISTS (SELECT 1 FROM tenant_auth_organizations o WHERE o.id = s.org_id AND o.removed_at IS NULL)";
    SEQUENCE_OF = "SELECT sequence FROM tenant_auth_events WHERE org_id = $1 AND id = $2";
    AFTER = concat!("
        SELECT ", kept!(), "
          FROM tenant_auth_events
         WHERE org_id = $1 AND sequence > $2
         ORDER BY sequence
         LIMIT $3");
    NEWEST_OF_ALL = "
        SELECT s.org_id AS org_id, s.sequence AS sequence,
               (SELECT e.id FROM tenant_auth_events e WHERE e.org_id = s.org_id AND e.sequence = s.sequence) AS event_id
          FROM tenant_auth_event_sequences s
         WHERE s.org_id > $1
           AND EXISTS (SELECT 1 FROM tenant_auth_organizations o WHERE o.id = s.org_id AND o.removed_at IS NULL)
         ORDER BY s.org_id
         LIMIT $2";
}

/// The heads of some organizations, whose ids are one parameter, a JSON array: the engines read one by functions of their own.
#[cfg(feature = "sqlite")]
pub(in crate::store) mod sqlite {
    use crate::store::dialect::statements;

    statements! {
        pub(super) NEWEST_OF = "
            SELECT org_id, sequence
              FROM tenant_auth_event_sequences
             WHERE org_id IN (SELECT value FROM json_each($1))";
    }
}

#[cfg(feature = "postgres")]
pub(in crate::store) mod postgres {
    use crate::store::dialect::statements;

    statements! {
        pub(super) NEWEST_OF = "
            SELECT org_id, sequence
              FROM tenant_auth_event_sequences
             WHERE org_id = ANY (ARRAY(SELECT json_array_elements_text(CAST($1 AS json))))";
    }
}

row! {
    ReachRow {
        newest: i64,
        oldest: i64,
        imported: i64,
    }
}
row! {
    HeadRow {
        org_id: String,
        sequence: i64,
    }
}

row! {
    NewestRow {
        org_id: String,
        sequence: i64,
        event_id: Option<String>,
    }
}

/// The last event of an organization.
#[derive(Debug)]
pub(crate) struct NewestEvent {
    pub(crate) org: OrgId,
    /// Its number; 0 where there was none yet.
    pub(crate) sequence: i64,
    /// `None` where retention removed it.
    pub(crate) id: Option<EventId>,
}

/// How far an organization's events reach, by their numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reach {
    /// The oldest that is kept; one more than the newest where none is.
    pub(crate) oldest: i64,
    pub(crate) newest: i64,
    /// The import of the organization, by which it began here; 0 where it was made here.
    pub(crate) imported: i64,
}

impl<L: Link> EventFeed<L> {
    /// How far the organization's events reach; `None` when the organization is gone.
    pub(crate) async fn reach(mut self, org: &OrgId) -> Result<Option<Reach>, Error> {
        let row = fetch_optional!(self.0, ReachRow, REACH, org.as_str())?;
        Ok(row.map(|ReachRow { newest, oldest, imported }| Reach { oldest: oldest.max(imported), newest, imported }))
    }

    /// The number of an event of the organization; `None` when it is not there.
    pub(crate) async fn sequence_of(mut self, org: &OrgId, event: &EventId) -> Result<Option<i64>, Error> {
        fetch_scalar!(self.0, i64, SEQUENCE_OF, org.as_str(), event.as_str())
    }

    /// Events after a number, in their order.
    pub(crate) async fn after(mut self, org: &OrgId, sequence: i64, most: u32) -> Result<Vec<KeptEvent>, Error> {
        let rows = fetch_all!(self.0, KeptRow, AFTER, org.as_str(), sequence, i64::from(most))?;
        Ok(rows.into_iter().map(KeptEvent::from).collect())
    }

    /// The last event of each organization after this one, in the order of their ids.
    pub(crate) async fn newest_of_all(mut self, after: &str, most: u32) -> Result<Vec<NewestEvent>, Error> {
        let rows = fetch_all!(self.0, NewestRow, NEWEST_OF_ALL, after, i64::from(most))?;
        let newest = |row: NewestRow| NewestEvent {
            org: Id::from_stored(row.org_id),
            sequence: row.sequence,
            id: row.event_id.map(Id::from_stored),
        };
        Ok(rows.into_iter().map(newest).collect())
    }

    /// The number of the last event of each of these organizations.
    pub(crate) async fn newest_of(mut self, orgs: &[OrgId]) -> Result<Vec<(OrgId, i64)>, Error> {
        let ids = serde_json::to_string(&orgs.iter().map(Id::as_str).collect::<Vec<_>>()).map_err(Error::internal)?;
        Ok(heads(fetch_all_of!(self.0, HeadRow, NEWEST_OF, ids.as_str())?))
    }
}

fn heads(rows: Vec<HeadRow>) -> Vec<(OrgId, i64)> {
    rows.into_iter().map(|row| (Id::from_stored(row.org_id), row.sequence)).collect()
}
