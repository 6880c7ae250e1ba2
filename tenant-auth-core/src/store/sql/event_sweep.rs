//! The sweep of events (retention of the audit log): removes the beginning of an organization's chain, and keeps the number and the hash
//! with which the rest begins. An event that waits for a delivery stays with all that came after it; deliveries that are over go with it.

use crate::{
    error::Error,
    id::{Id, OrgId},
    store::{
        Link, Tx,
        dialect::{execute, fetch_all, fetch_scalar, row, statements},
        sql::{event_chain::EventChain, sweep::BATCH},
    },
    time::Timestamp,
};

/// How many organizations are looked up at once.
const ORGANIZATIONS: i64 = 1_000;

pub(crate) struct EventSweep<L>(pub(in crate::store) L);

statements! {
    AGED = "SELECT COALESCE(MIN(created_at), $1 + 1) AS number FROM tenant_auth_events WHERE created_at <= $1";
    // One whose first event is needed is passed by. By the first event of each organization, one step of an index, and not by all events
    // that are old.
    FIRST_EVENTS = "
        SELECT s.org_id AS org_id,
               EXISTS (SELECT 1
                         FROM tenant_auth_events f
                        WHERE f.org_id = s.org_id
                          AND f.sequence = s.first_sequence
                          AND f.created_at <= $1
                          AND f.hash IS NOT NULL
                          AND NOT EXISTS (SELECT 1 FROM tenant_auth_outbox WHERE event_id = f.id)
                          AND NOT EXISTS (SELECT 1 FROM tenant_auth_deliveries WHERE event_id = f.id AND status = 'pending'))
               AS is_old
          FROM tenant_auth_event_sequences s
         WHERE s.org_id > $2
         ORDER BY s.org_id
         LIMIT $3";
    OLDEST = "
        SELECT sequence, hash,
               EXISTS (SELECT 1 FROM tenant_auth_outbox WHERE event_id = tenant_auth_events.id)
               OR EXISTS (SELECT 1 FROM tenant_auth_deliveries WHERE event_id = tenant_auth_events.id AND status = 'pending')
               AS is_needed
          FROM tenant_auth_events
         WHERE org_id = $1 AND created_at <= $3
         ORDER BY sequence
         LIMIT $2";
    REMOVE_DELIVERIES = "
        DELETE FROM tenant_auth_deliveries
         WHERE event_id IN (SELECT id FROM tenant_auth_events WHERE org_id = $1 AND sequence <= $2)
           AND status <> 'pending'";
    REMOVE = "DELETE FROM tenant_auth_events WHERE org_id = $1 AND sequence <= $2";
}

row! { FirstRow { org_id: String, is_old: bool, } }
row! {
    OldRow {
        sequence: i64,
        hash: Option<String>,
        is_needed: bool,
    }
}

impl<L: Link> EventSweep<L> {
    /// Whether any event happened at `until` or before.
    pub(crate) async fn has_old_events(mut self, until: Timestamp) -> Result<bool, Error> {
        let oldest = fetch_scalar!(self.0, i64, AGED, until.millis())?;
        Ok(oldest.is_some_and(|oldest| oldest <= until.millis()))
    }

    /// Some organizations after `after`, in the order of their ids, each with whether its first event happened at `until` or before and may
    /// be removed.
    pub(crate) async fn first_events(mut self, after: &str, until: Timestamp) -> Result<Vec<(OrgId, bool)>, Error> {
        let rows = fetch_all!(self.0, FirstRow, FIRST_EVENTS, until.millis(), after, ORGANIZATIONS)?;
        Ok(rows.into_iter().map(|row| (Id::from_stored(row.org_id), row.is_old)).collect())
    }
}

impl EventSweep<&mut Tx> {
    /// Removes a batch of an organization's events that happened at `until` or before, the first before the others, and returns their
    /// number. After a full batch there may be more.
    pub(crate) async fn shorten(mut self, org: &OrgId, until: Timestamp) -> Result<u64, Error> {
        if EventChain(&mut *self.0).head(org).await?.is_none() {
            return Ok(0);
        }
        let oldest = fetch_all!(self.0, OldRow, OLDEST, org.as_str(), BATCH, until.millis())?;
        let old = oldest.into_iter().take_while(|row| !row.is_needed);
        let chained = old.map_while(|row| row.hash.map(|hash| (row.sequence, hash)));
        let Some((sequence, hash)) = chained.last() else { return Ok(0) };
        execute!(self.0, REMOVE_DELIVERIES, org.as_str(), sequence)?;
        let removed = execute!(self.0, REMOVE, org.as_str(), sequence)?;
        EventChain(&mut *self.0).begin_after(org, sequence, &hash).await?;
        Ok(removed)
    }
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use sqlx::{ConnectOptions, Row, sqlite::SqliteConnectOptions};

    use crate::store::{Sqlite, Store};

    /// With hundreds of thousands of old events, too, an organization costs a step of an index.
    #[tokio::test]
    async fn old_events_are_found_by_the_first_of_each_organization() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("events.db");
        let store = Store::from(Sqlite::open(&path.display().to_string()).await.expect("opens"));
        store.migrate().await.expect("migrates");
        store.close().await;
        let mut connection = SqliteConnectOptions::new().filename(&path).connect().await.expect("a connection");
        let plan = sqlx::query(sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {}", super::FIRST_EVENTS)));
        let steps = plan.fetch_all(&mut connection).await.expect("a plan");
        let steps: Vec<String> = steps.iter().map(|step| step.get("detail")).collect();
        let by_sequence = |step: &String| step.starts_with("SEARCH f ") && step.ends_with("(org_id=? AND sequence=?)");
        assert!(steps[0].starts_with("SEARCH s ") && steps.iter().any(by_sequence), "{steps:#?}");
        assert!(!steps.iter().any(|step| step.contains("TEMP B-TREE")), "{steps:#?}");
    }
}
