//! The audit log as admins read it: the newest entries first, each filter with an index of its own, so that a page costs the same
//! however long the log is. A page is walked entry by entry, each found by the one above it, until an entry has something else: one
//! scan of PostgreSQL would not end there, but read on through all that is below in the index. There a step names the index's columns as
//! one row value: the planner can follow no other order. SQLite would look only at the first of them, and is told each by itself.

use std::cmp::Reverse;

use crate::{
    error::Error,
    id::{Id, OrgId},
    model::{AuditActor, AuditEntry},
    store::{
        Link,
        dialect::{fetch_all, fetch_all_of, fetch_scalar, row, statements},
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

/// Entries of the log, from what follows.
macro_rules! entries {
    ($($rest:expr),+) => {
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
          ", $($rest),+)
    };
}

/// Where the entries below the last one begin in the index, as PostgreSQL finds it.
#[cfg(feature = "postgres")]
macro_rules! as_row {
    ($([$column:literal $value:literal])+) => {
        concat!("(", $("n.", $column, ", ",)+ "n.sequence) < (", $($value, ", ",)+ "page.sequence)")
    };
}

/// The same as SQLite finds it.
#[cfg(feature = "sqlite")]
macro_rules! one_by_one {
    ($([$column:literal $value:literal])+) => { concat!($("n.", $column, " = ", $value, " AND ",)+ "n.sequence < page.sequence") };
}

/// The page of the entries in which these columns have these values, in the order of an index of them. It comes in no order.
macro_rules! walk {
    ($place:ident $([$column:literal $value:literal])+ $($condition:literal)?) => {
        concat!("
          WITH RECURSIVE page (sequence, length) AS (
              SELECT CAST($2 AS BIGINT), CAST(0 AS BIGINT)
               UNION ALL
              SELECT (SELECT CASE WHEN ", $("n.", $column, " = ", $value, " AND ",)+ "n.sequence >= $3 THEN n.sequence END
                        FROM tenant_auth_events n
                       WHERE n.org_id = $1 AND n.hash IS NOT NULL ", $("AND n.", $column, " IS NOT NULL ",)+ $($condition,)?
                      " AND ", $place!($([$column $value])+), "
                       ORDER BY ", $("n.", $column, " DESC, ",)+ "n.sequence DESC
                       LIMIT 1),
                     page.length + 1
                FROM page
               WHERE page.sequence IS NOT NULL AND page.length < $4
          )", entries!("FROM page JOIN tenant_auth_events e ON e.org_id = $1 AND e.sequence = page.sequence WHERE page.length > 0"))
    };
}

/// The statements of an engine.
macro_rules! walks {
    ($engine:ident, $place:ident) => {
        pub(in crate::store) mod $engine {
            use crate::store::dialect::statements;

            statements! {
                pub(super) OF_KIND = walk!($place ["kind" "$5"]);
                pub(super) OF_ACTOR = walk!($place ["actor_id" "$5"]);
                pub(super) OF_ACTOR_AND_KIND = walk!($place ["actor_id" "$5"] ["kind" "$6"]);
                pub(super) ABOUT_USER = walk!($place ["user_id" "$5"]);
                pub(super) ABOUT_USER_BY_ACTOR = walk!($place ["user_id" "$5"] ["actor_id" "$6"]);
                pub(super) ABOUT_USER_AND_KIND =
                    walk!($place ["user_id" "$5"] ["kind" "$6"] "AND ($7 = '' OR n.actor_id = $7)");
            }
        }
    };
}

#[cfg(feature = "postgres")]
walks!(postgres, as_row);
#[cfg(feature = "sqlite")]
walks!(sqlite, one_by_one);

statements! {
    LATEST = entries!("
          FROM tenant_auth_events e
         WHERE e.org_id = $1 AND e.hash IS NOT NULL AND e.sequence < $2 AND e.sequence >= $3
         ORDER BY e.sequence DESC
         LIMIT $4");
    HASH_OF = "SELECT hash FROM tenant_auth_events WHERE org_id = $1 AND sequence = $2 AND hash IS NOT NULL";
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
            ("", "", kind) => fetch_all_of!(self.0, EntryRow, OF_KIND, org, below, from, rows, kind),
            ("", actor, "") => fetch_all_of!(self.0, EntryRow, OF_ACTOR, org, below, from, rows, actor),
            ("", actor, kind) => fetch_all_of!(self.0, EntryRow, OF_ACTOR_AND_KIND, org, below, from, rows, actor, kind),
            (user, "", "") => fetch_all_of!(self.0, EntryRow, ABOUT_USER, org, below, from, rows, user),
            (user, actor, "") => fetch_all_of!(self.0, EntryRow, ABOUT_USER_BY_ACTOR, org, below, from, rows, user, actor),
            (user, actor, kind) => fetch_all_of!(self.0, EntryRow, ABOUT_USER_AND_KIND, org, below, from, rows, user, kind, actor),
        }?;
        let mut entries: Vec<AuditEntry> = rows.into_iter().map(AuditEntry::from).collect();
        entries.sort_unstable_by_key(|entry| Reverse(entry.sequence));
        Ok(entries)
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
            (super::sqlite::OF_KIND, "tenant_auth_events_by_kind (org_id=? AND kind=? AND sequence<?)"),
            (super::sqlite::OF_ACTOR, "tenant_auth_events_by_actor (org_id=? AND actor_id=? AND sequence<?)"),
            (
                super::sqlite::OF_ACTOR_AND_KIND,
                "tenant_auth_events_by_actor_and_kind (org_id=? AND actor_id=? AND kind=? AND sequence<?)",
            ),
            (super::sqlite::ABOUT_USER, "tenant_auth_events_by_user (org_id=? AND user_id=? AND sequence<?)"),
            (
                super::sqlite::ABOUT_USER_BY_ACTOR,
                "tenant_auth_events_by_user_and_actor (org_id=? AND user_id=? AND actor_id=? AND sequence<?)",
            ),
            (
                super::sqlite::ABOUT_USER_AND_KIND,
                "tenant_auth_events_by_user_and_kind (org_id=? AND user_id=? AND kind=? AND sequence<?)",
            ),
        ] {
            let plan = sqlx::query(sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}")));
            let rows = plan.fetch_all(&mut connection).await.expect("a plan");
            let plan: Vec<String> = rows.iter().map(|row| row.get("detail")).collect();
            assert!(plan.iter().any(|step| step.contains(index)), "{sql}\n{plan:#?}");
            let scans = |step: &String| step.starts_with("SCAN") && !["SCAN page", "SCAN CONSTANT ROW"].contains(&step.as_str());
            assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE") || scans(step)), "{sql}\n{plan:#?}");
        }
    }
}
