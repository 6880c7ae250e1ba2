//! The change log on PostgreSQL. Transactions commit in any order, so no number of a row can be a reader's place. The place is the
//! snapshot of the last look: what is visible now and was not then has a transaction number of at least its `xmax`, or stood in its
//! list of running transactions. Exact whatever runs, rolls back or stays open meanwhile.

use std::{
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use sqlx::PgConnection;

use super::{LIMIT, Place, Seen, SeenChange};
use crate::{
    error::Error,
    id::OrgId,
    store::{
        ChangedRow, MARKS_KEPT, Postgres,
        dialect::{row, statements},
        eyes::Shared,
        failure, patience,
        statement::Statement,
    },
};

/// The longest life of the connection: after a failover it may still lead to a node that was set aside.
const LIFETIME: Duration = Duration::from_secs(60);

statements! {
    // A dump brings the token along; the transaction that wrote its row is another one then.
    LOOK = "
        SELECT pg_current_snapshot()::text AS snapshot, i.token || '.' || i.tableoid::text || '.' || i.xmin::text AS incarnation,
               m.mark AS mark, m.freshness AS freshness, m.usable AS usable,
               c.kind AS kind, c.id AS id, c.org_id AS org_id, c.xid AS number
          FROM tenant_auth_incarnation i
         CROSS JOIN tenant_auth_memory m
          LEFT JOIN (SELECT kind, id, org_id, xid FROM tenant_auth_changes WHERE xid >= $1
                      UNION ALL
                     SELECT kind, id, org_id, xid FROM tenant_auth_changes WHERE xid = ANY ($2)) c ON TRUE
         LIMIT $3";
    SINCE = "
        SELECT pg_current_snapshot()::text AS snapshot, i.token || '.' || i.tableoid::text || '.' || i.xmin::text AS incarnation,
               m.mark AS mark, m.freshness AS freshness, m.usable AS usable,
               c.kind AS kind, c.id AS id, c.org_id AS org_id, c.xid AS number
          FROM tenant_auth_incarnation i
         CROSS JOIN tenant_auth_memory m
          LEFT JOIN (SELECT kind, id, org_id, xid FROM tenant_auth_changes WHERE org_id = $1 AND xid >= $2
                      UNION ALL
                     SELECT kind, id, org_id, xid FROM tenant_auth_changes WHERE org_id = $1 AND xid = ANY ($3)
                      UNION ALL
                     SELECT kind, id, org_id, xid FROM tenant_auth_changes WHERE org_id IS NULL AND xid >= $2 AND kind <> 'user'
                      UNION ALL
                     SELECT kind, id, org_id, xid
                       FROM tenant_auth_changes
                      WHERE org_id IS NULL AND xid = ANY ($3) AND kind <> 'user') c ON TRUE
         LIMIT $4";
    MAKE_INCARNATION = "
        INSERT INTO tenant_auth_incarnation (one, token)
        VALUES (1, gen_random_uuid()::text)
        ON CONFLICT (one) DO NOTHING";
    NOTE = "
        INSERT INTO tenant_auth_changes (org_id, kind, id)
        SELECT r.org_id, r.kind, r.id FROM UNNEST($1::text[], $2::text[], $3::text[]) AS r (org_id, kind, id)";
    MOVE_MARK = "
        UPDATE tenant_auth_memory
           SET mark = mark + 1, previous = newest, newest = pg_current_snapshot()::text
         WHERE one = 1 AND mark = $1";
    // A dump that was restored elsewhere brought rows and marks of another server's transaction numbers: marks of the future decide
    // nothing, and rows of the future go.
    SWEEP = "
        DELETE FROM tenant_auth_changes
         WHERE ctid = ANY (ARRAY((SELECT c.ctid
                                    FROM tenant_auth_memory m
                                    JOIN tenant_auth_marks k ON k.mark = m.mark - $2
                                    JOIN tenant_auth_changes c ON c.xid < pg_snapshot_xmax(k.place::pg_snapshot)::text::bigint
                                   WHERE m.one = 1
                                     AND pg_snapshot_xmax(k.place::pg_snapshot) <= pg_snapshot_xmax(pg_current_snapshot())
                                     AND pg_visible_in_snapshot(c.xid::text::xid8, k.place::pg_snapshot)
                                   LIMIT $1)
                                 UNION ALL
                                 (SELECT ctid
                                    FROM tenant_auth_changes
                                   WHERE xid >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint
                                   LIMIT $1)))";
}

row! {
    SeenRow {
        snapshot: String,
        incarnation: String,
        mark: i64,
        freshness: i64,
        usable: i64,
        kind: Option<String>,
        id: Option<String>,
        org_id: Option<String>,
        number: Option<i64>,
    }
}

/// The connection of the looks.
#[derive(Debug)]
pub(super) struct Eye {
    connection: Arc<Shared>,
    opened: Instant,
}

impl Eye {
    pub(super) async fn open(postgres: &Postgres) -> Result<Self, Error> {
        let connection = postgres.connect_alone().await.map_err(failure::of)?;
        let connection = Arc::new(Shared::new(Some(connection)));
        postgres.eyes().note(&connection, postgres.pool()).map_err(failure::of)?;
        Ok(Self { connection, opened: Instant::now() })
    }

    pub(super) fn is_young(&self) -> bool {
        self.opened.elapsed() < LIFETIME
    }

    /// On a standby this fails, for an unlogged table cannot be read there.
    pub(super) async fn look(&mut self, after: &Place) -> Result<Seen, Error> {
        let mut shared = self.connection.lock().await;
        let connection = shared.as_mut().ok_or_else(|| failure::of(sqlx::Error::PoolClosed))?;
        let mut rows = looked(connection, after).await?;
        if rows.is_empty() {
            // After a crash or a failover, or for the first time. Of several processes one makes the row.
            let making = sqlx::query(MAKE_INCARNATION).execute(&mut *connection);
            patience::answered(pin!(making)).await.map_err(failure::of)?;
            rows = looked(connection, after).await?;
        }
        seen(rows)
    }
}

async fn looked(connection: &mut PgConnection, after: &Place) -> Result<Vec<SeenRow>, Error> {
    let query = sqlx::query(LOOK).bind(after.next).bind(&after.unfinished).bind(LIMIT);
    Statement::of_postgres("::sql::changes::LOOK", connection, query).all().await
}

/// What changed of one organization, or of all, since a place that the log still reaches back to.
pub(in crate::store) async fn since(connection: &mut PgConnection, place: &Place, org: Option<&OrgId>) -> Result<Seen, Error> {
    let Some(org) = org else { return seen(looked(connection, place).await?) };
    let query = sqlx::query(SINCE).bind(org.as_str()).bind(place.next).bind(&place.unfinished).bind(LIMIT);
    seen(Statement::of_postgres("::sql::changes::SINCE", connection, query).all().await?)
}

fn seen(rows: Vec<SeenRow>) -> Result<Seen, Error> {
    let first = rows.first().ok_or_else(|| Error::internal("the row of the memory is gone"))?;
    let change = |row: SeenRow| Some(SeenChange { kind: row.kind?, id: row.id?, org_id: row.org_id, number: row.number? });
    Ok(Seen {
        place: place_of(&first.snapshot).ok_or_else(|| Error::internal("a snapshot that cannot be read"))?,
        incarnation: first.incarnation.clone(),
        mark: first.mark,
        freshness: first.freshness,
        usable: first.usable,
        rows: rows.into_iter().filter_map(change).collect(),
    })
}

/// Reads `xmin:xmax:xip,xip`: what comes at `xmax` or later, and what was running.
fn place_of(snapshot: &str) -> Option<Place> {
    let mut parts = snapshot.split(':');
    let (_, xmax, running) = (parts.next()?, parts.next()?, parts.next()?);
    let unfinished = running.split(',').filter(|number| !number.is_empty()).map(|number| number.parse().ok());
    Some(Place { next: xmax.parse().ok()?, unfinished: unfinished.collect::<Option<_>>()? })
}

pub(in crate::store) async fn note(connection: &mut PgConnection, rows: &[ChangedRow]) -> Result<(), Error> {
    let orgs: Vec<Option<&str>> = rows.iter().map(|row| row.org_id.as_ref().map(crate::id::Id::as_str)).collect();
    let kinds: Vec<&str> = rows.iter().map(|row| row.subject.as_str()).collect();
    let ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    let query = sqlx::query(NOTE).bind(orgs).bind(kinds).bind(ids);
    Statement::of_postgres("::sql::changes::NOTE", connection, query).changed().await.map(drop)
}

pub(in crate::store) async fn move_mark(connection: &mut PgConnection, mark: i64) -> Result<bool, Error> {
    Ok(Statement::of_postgres("::sql::changes::MOVE_MARK", connection, sqlx::query(MOVE_MARK).bind(mark)).changed().await? == 1)
}

pub(in crate::store) async fn sweep(connection: &mut PgConnection, most: i64) -> Result<u64, Error> {
    let query = sqlx::query(SWEEP).bind(most).bind(MARKS_KEPT);
    Statement::of_postgres("::sql::changes::SWEEP", connection, query).changed().await
}

#[cfg(test)]
mod tests {
    use super::{Place, place_of};

    #[test]
    fn a_snapshot_is_a_place_in_the_log() {
        let read = |text| place_of(text).map(|Place { next, unfinished }| (next, unfinished));
        assert_eq!(read("16833:16835:"), Some((16_835, vec![])));
        assert_eq!(read("16833:16840:16833,16837"), Some((16_840, vec![16_833, 16_837])));
        assert_eq!(read("16833"), None);
        assert_eq!(read("1:2:x"), None);
    }
}
