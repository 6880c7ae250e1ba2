//! The audit log as admins read it: the newest entries first, each filter with an index of its own, so that a page costs the same
//! however long the log is. A condition names the index's columns as one row value: the planner can follow no other order.

use crate::{
    error::Error,
    id::{Id, OrgId},
    model::{AuditActor, AuditEntry},
    store::{
        Link,
        dialect::{fetch_all, fetch_scalar, row, statements},
    },
    time::Timestamp,
};

pub(crate) struct Audit<L>(pub(in crate::store) L);

/// The numbers of the entries to read: from the newest below `below` down to `from`, `rows` of them at most.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub(crate) below: i64,
    pub(crate) from: i64,
    pub(crate) rows: i64,
}

/// What entries have in common; an empty text sets no condition.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Chosen<'a> {
    pub(crate) user: &'a str,
    pub(crate) actor: &'a str,
    pub(crate) kind: &'a str,
}

/// The number of the last entry that came from another deployment, or of the one that tells of it. Whose ids such entries name is the
/// word of a file: the name of somebody who does not belong to the organization must not be told for it.
macro_rules! imported {
    () => {
        "COALESCE((SELECT MAX(i.sequence) FROM tenant_auth_events i WHERE i.org_id = $1 AND i.kind = 'org.imported'), 0)"
    };
}

macro_rules! entries {
    ($($condition:literal)+) => {
        concat!("
        SELECT e.sequence, e.id, e.kind, e.created_at, e.actor_type, e.actor_id, e.user_id, e.context, e.data, e.hash,
               CASE WHEN e.actor_type = 'user'
                    THEN (SELECT u.name
                            FROM tenant_auth_users u
                           WHERE u.id = e.actor_id
                             AND (e.sequence > ", imported!(), "
                                  OR EXISTS (SELECT 1 FROM tenant_auth_memberships m WHERE m.org_id = $1 AND m.user_id = u.id)))
                    WHEN e.actor_type = 'api_key'
                    THEN (SELECT name FROM tenant_auth_api_keys WHERE org_id = e.org_id AND id = e.actor_id)
                    WHEN e.actor_type = 'deployment_key' AND e.sequence > ", imported!(), "
                    THEN (SELECT name FROM tenant_auth_deployment_keys WHERE id = e.actor_id) END AS actor_name
          FROM tenant_auth_events e
         WHERE e.org_id = $1 AND e.hash IS NOT NULL ", $($condition),+, "
         LIMIT $4")
    };
}

statements! {
    LATEST = entries!("AND e.sequence < $2 AND e.sequence >= $3 ORDER BY e.sequence DESC");
    OF_KIND = entries!("AND (e.kind, e.sequence) < ($5, $2) AND (e.kind, e.sequence) >= ($5, $3) ORDER BY e.kind DESC, e.sequence DESC");
    OF_ACTOR = entries!("
           AND (e.actor_id, e.sequence) < ($5, $2) AND (e.actor_id, e.sequence) >= ($5, $3) AND e.actor_id IS NOT NULL
         ORDER BY e.actor_id DESC, e.sequence DESC");
    OF_ACTOR_AND_KIND = entries!("
           AND (e.actor_id, e.kind, e.sequence) < ($5, $6, $2) AND (e.actor_id, e.kind, e.sequence) >= ($5, $6, $3)
           AND e.actor_id IS NOT NULL
         ORDER BY e.actor_id DESC, e.kind DESC, e.sequence DESC");
    ABOUT_USER = entries!("
           AND (e.user_id, e.sequence) < ($5, $2) AND (e.user_id, e.sequence) >= ($5, $3) AND e.user_id IS NOT NULL
         ORDER BY e.user_id DESC, e.sequence DESC");
    ABOUT_USER_BY_ACTOR = entries!("
           AND (e.user_id, e.actor_id, e.sequence) < ($5, $6, $2) AND (e.user_id, e.actor_id, e.sequence) >= ($5, $6, $3)
           AND e.user_id IS NOT NULL AND e.actor_id IS NOT NULL
         ORDER BY e.user_id DESC, e.actor_id DESC, e.sequence DESC");
    HASH_OF = "SELECT hash FROM tenant_auth_events WHERE org_id = $1 AND sequence = $2 AND hash IS NOT NULL";
    ABOUT_USER_AND_KIND = entries!("
           AND (e.user_id, e.kind, e.sequence) < ($5, $6, $2) AND (e.user_id, e.kind, e.sequence) >= ($5, $6, $3)
           AND e.user_id IS NOT NULL AND ($7 = '' OR e.actor_id = $7)
         ORDER BY e.user_id DESC, e.kind DESC, e.sequence DESC");
    // A binary search: times of an organization never go back, and numbers have no gap. The middle is computed so that it cannot overflow.
    FIRST_SINCE = "
        WITH RECURSIVE search (low, high) AS (
            SELECT first_sequence, chained + 1 FROM tenant_auth_event_sequences WHERE org_id = $1
             UNION ALL
            SELECT CASE WHEN COALESCE((SELECT created_at FROM tenant_auth_events
                                        WHERE org_id = $1 AND sequence = search.low + (search.high - search.low) / 2), 0) < $2
                        THEN search.low + (search.high - search.low) / 2 + 1 ELSE search.low END,
                   CASE WHEN COALESCE((SELECT created_at FROM tenant_auth_events
                                        WHERE org_id = $1 AND sequence = search.low + (search.high - search.low) / 2), 0) < $2
                        THEN search.high ELSE search.low + (search.high - search.low) / 2 END
              FROM search
             WHERE search.low < search.high
        )
        SELECT low FROM search WHERE low >= high";
}

row! {
    EntryRow {
        sequence: i64,
        id: String,
        kind: String,
        created_at: i64,
        actor_type: Option<String>,
        actor_id: Option<String>,
        actor_name: Option<String>,
        user_id: Option<String>,
        context: Option<String>,
        data: Option<String>,
        hash: Option<String>,
    }
}

impl From<EntryRow> for AuditEntry {
    fn from(row: EntryRow) -> Self {
        Self {
            sequence: row.sequence,
            id: Id::from_stored(row.id),
            kind: row.kind,
            at: Timestamp::from_millis(row.created_at),
            actor: AuditActor { kind: row.actor_type.unwrap_or_default(), id: row.actor_id, name: row.actor_name },
            user: row.user_id.map(Id::from_stored),
            context: row.context.and_then(|context| serde_json::from_str(&context).ok().flatten()),
            data: row.data,
            hash: row.hash.unwrap_or_default(),
        }
    }
}

impl<L: Link> Audit<L> {
    /// Entries, the newest first.
    pub(crate) async fn list(mut self, org: &OrgId, span: Span, chosen: Chosen<'_>) -> Result<Vec<AuditEntry>, Error> {
        let (org, Span { below, from, rows }, Chosen { user, actor, kind }) = (org.as_str(), span, chosen);
        let rows = match (user, actor, kind) {
            ("", "", "") => fetch_all!(self.0, EntryRow, LATEST, org, below, from, rows),
            ("", "", kind) => fetch_all!(self.0, EntryRow, OF_KIND, org, below, from, rows, kind),
            ("", actor, "") => fetch_all!(self.0, EntryRow, OF_ACTOR, org, below, from, rows, actor),
            ("", actor, kind) => fetch_all!(self.0, EntryRow, OF_ACTOR_AND_KIND, org, below, from, rows, actor, kind),
            (user, "", "") => fetch_all!(self.0, EntryRow, ABOUT_USER, org, below, from, rows, user),
            (user, actor, "") => fetch_all!(self.0, EntryRow, ABOUT_USER_BY_ACTOR, org, below, from, rows, user, actor),
            (user, actor, kind) => fetch_all!(self.0, EntryRow, ABOUT_USER_AND_KIND, org, below, from, rows, user, kind, actor),
        }?;
        Ok(rows.into_iter().map(AuditEntry::from).collect())
    }

    /// The hash of an entry.
    pub(crate) async fn hash_of(mut self, org: &OrgId, sequence: i64) -> Result<Option<String>, Error> {
        fetch_scalar!(self.0, String, HASH_OF, org.as_str(), sequence)
    }

    /// The number of the first entry that is kept and happened at this time or later; the number after the last where there is none.
    pub(crate) async fn first_since(mut self, org: &OrgId, time: Timestamp) -> Result<i64, Error> {
        Ok(fetch_scalar!(self.0, i64, FIRST_SINCE, org.as_str(), time.millis())?.unwrap_or(i64::MAX))
    }
}

#[cfg(test)]
mod tests {
    #[cfg(feature = "sqlite")]
    #[tokio::test]
    async fn no_filter_scans() {
        use sqlx::{ConnectOptions, Row, sqlite::SqliteConnectOptions};

        use crate::store::Sqlite;

        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("audit.db");
        let store = crate::Store::from(Sqlite::open(&path.display().to_string()).await.expect("opens"));
        store.migrate().await.expect("migrates");
        store.close().await;
        let mut connection = SqliteConnectOptions::new().filename(&path).connect().await.expect("a connection");
        for (sql, index) in [
            (super::LATEST, "sqlite_autoindex_tenant_auth_events_2 (org_id=? AND sequence>? AND sequence<?)"),
            (super::OF_KIND, "tenant_auth_events_by_kind (org_id=? AND "),
            (super::OF_ACTOR, "tenant_auth_events_by_actor (org_id=? AND "),
            (super::OF_ACTOR_AND_KIND, "tenant_auth_events_by_actor_and_kind (org_id=? AND "),
            (super::ABOUT_USER, "tenant_auth_events_by_user (org_id=? AND "),
            (super::ABOUT_USER_BY_ACTOR, "tenant_auth_events_by_user_and_actor (org_id=? AND "),
            (super::ABOUT_USER_AND_KIND, "tenant_auth_events_by_user_and_kind (org_id=? AND "),
        ] {
            let plan = sqlx::query(sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}")));
            let rows = plan.fetch_all(&mut connection).await.expect("a plan");
            let plan: Vec<String> = rows.iter().map(|row| row.get("detail")).collect();
            assert!(plan.iter().any(|step| step.contains(index)), "{sql}\n{plan:#?}");
            assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE") || step.starts_with("SCAN")), "{sql}\n{plan:#?}");
        }
    }
}
