//! The change log on PostgreSQL. Transactions commit in any order, so no number of a row can be a reader's place. The place is the
//! snapshot of the last look: what is visible now and was not then has a transaction number of at least its `xmax`, or stood in its
//! list of running transactions. Exact whatever runs, rolls back or stays open meanwhile.

use std::{
    pin::pin,
    time::{Duration, Instant},
};

use sqlx::PgConnection;

use super::{After, LIMIT, Seen};
use crate::{
    error::Error,
    store::{
        ChangedRow, Postgres,
        dialect::{row, statements, traced},
        failure, patience,
    },
};

/// The longest life of the connection: after a failover it may still lead to a node that was set aside.
const LIFETIME: Duration = Duration::from_secs(60);

statements! {
    LOOK = "
        SELECT pg_current_snapshot()::text AS snapshot, i.token || '.' || i.tableoid::text AS incarnation,
               m.mark AS mark, m.freshness AS freshness, m.usable AS usable, c.kind AS kind, c.id AS id
          FROM tenant_auth_incarnation i
         CROSS JOIN tenant_auth_memory m
          LEFT JOIN (SELECT kind, id FROM tenant_auth_changes WHERE xid >= $1
                      UNION ALL
                     SELECT kind, id FROM tenant_auth_changes WHERE xid = ANY ($2)) c ON TRUE
         LIMIT $3";
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
    SWEEP = "
        DELETE FROM tenant_auth_changes
         WHERE ctid = ANY (ARRAY(SELECT c.ctid
                                   FROM tenant_auth_memory m
                                   JOIN tenant_auth_changes c ON c.xid < pg_snapshot_xmax(m.previous::pg_snapshot)::text::bigint
                                  WHERE m.one = 1 AND pg_visible_in_snapshot(c.xid::text::xid8, m.previous::pg_snapshot)
                                  LIMIT $1))";
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
    }
}

/// The connection of the looks.
#[derive(Debug)]
pub(super) struct Eye {
    connection: PgConnection,
    opened: Instant,
}

impl Eye {
    pub(super) async fn open(postgres: &Postgres) -> Result<Self, Error> {
        let connection = postgres.connect_alone().await.map_err(failure::of)?;
        Ok(Self { connection, opened: Instant::now() })
    }

    pub(super) fn is_young(&self) -> bool {
        self.opened.elapsed() < LIFETIME
    }

    /// On a standby this fails, for an unlogged table cannot be read there.
    pub(super) async fn look(&mut self, after: &After) -> Result<Seen, Error> {
        let mut rows = self.rows(after).await?;
        if rows.is_empty() {
            // After a crash or a failover, or for the first time. Of several processes one makes the row.
            let making = sqlx::query(MAKE_INCARNATION).execute(&mut self.connection);
            patience::answered(pin!(making)).await.map_err(failure::of)?;
            rows = self.rows(after).await?;
        }
        let first = rows.first().ok_or_else(|| Error::internal("the row of the memory is gone"))?;
        Ok(Seen {
            after: after_snapshot(&first.snapshot).ok_or_else(|| Error::internal("a snapshot that cannot be read"))?,
            incarnation: first.incarnation.clone(),
            mark: first.mark,
            freshness: first.freshness,
            usable: first.usable,
            rows: rows.into_iter().filter_map(|row| row.kind.zip(row.id)).collect(),
        })
    }

    async fn rows(&mut self, after: &After) -> Result<Vec<SeenRow>, Error> {
        let asked = sqlx::query_as::<_, SeenRow>(LOOK).bind(after.next).bind(&after.unfinished).bind(LIMIT);
        let rows = |rows: &Vec<SeenRow>| rows.len() as u64;
        let asked = pin!(asked.fetch_all(&mut self.connection));
        traced("::sql::changes::LOOK", rows, pin!(patience::answered(asked))).await
    }
}

/// Reads `xmin:xmax:xip,xip`: what comes at `xmax` or later, and what was running.
fn after_snapshot(snapshot: &str) -> Option<After> {
    let mut parts = snapshot.split(':');
    let (_, xmax, running) = (parts.next()?, parts.next()?, parts.next()?);
    let unfinished = running.split(',').filter(|number| !number.is_empty()).map(|number| number.parse().ok());
    Some(After { next: xmax.parse().ok()?, unfinished: unfinished.collect::<Option<_>>()? })
}

pub(in crate::store) async fn note(connection: &mut PgConnection, rows: &[ChangedRow]) -> Result<(), Error> {
    let orgs: Vec<Option<&str>> = rows.iter().map(|row| row.org_id.as_ref().map(crate::id::Id::as_str)).collect();
    let kinds: Vec<&str> = rows.iter().map(|row| row.subject.as_str()).collect();
    let ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    let noting = pin!(async {
        let noted = sqlx::query(NOTE).bind(orgs).bind(kinds).bind(ids).execute(connection).await;
        noted.map(|done| done.rows_affected())
    });
    traced("::sql::changes::NOTE", |rows| *rows, pin!(patience::answered(noting))).await.map(drop)
}

pub(in crate::store) async fn move_mark(connection: &mut PgConnection, mark: i64) -> Result<bool, Error> {
    let moving = pin!(async { sqlx::query(MOVE_MARK).bind(mark).execute(connection).await.map(|done| done.rows_affected()) });
    Ok(traced("::sql::changes::MOVE_MARK", |rows| *rows, pin!(patience::answered(moving))).await? == 1)
}

pub(in crate::store) async fn sweep(connection: &mut PgConnection, most: i64) -> Result<u64, Error> {
    let sweeping = pin!(async { sqlx::query(SWEEP).bind(most).execute(connection).await.map(|done| done.rows_affected()) });
    traced("::sql::changes::SWEEP", |rows| *rows, pin!(patience::answered(sweeping))).await
}

#[cfg(test)]
mod tests {
    use super::{After, after_snapshot};

    #[test]
    fn a_snapshot_is_a_place_in_the_log() {
        let read = |text| after_snapshot(text).map(|After { next, unfinished }| (next, unfinished));
        assert_eq!(read("16833:16835:"), Some((16_835, vec![])));
        assert_eq!(read("16833:16840:16833,16837"), Some((16_840, vec![16_833, 16_837])));
        assert_eq!(read("16833"), None);
        assert_eq!(read("1:2:x"), None);
    }
}
