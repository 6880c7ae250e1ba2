//! The change log on SQLite: one writer, so the numbers of the log stand in the order of the commits, and "above the last number" is
//! exact.

use sqlx::{SqliteConnection, SqlitePool};

use super::{LIMIT, PastIncarnation, Place, Seen, SeenChange};
use crate::{
    error::Error,
    id::OrgId,
    store::{
        ChangedRow, MARKS_KEPT, Sqlite,
        database_file::DatabaseFile,
        dialect::{row, statements},
        failure,
        statement::Statement,
    },
};

statements! {
    // `sqlite_sequence`: the largest number there ever was, also after a sweep of all rows.
    LOOK = "
        SELECT COALESCE((SELECT seq FROM sqlite_sequence WHERE name = 'tenant_auth_changes'), 0) AS newest,
               i.token AS incarnation, m.mark AS mark, m.freshness AS freshness, m.usable AS usable,
               c.kind AS kind, c.id AS id, c.org_id AS org_id, c.seq AS number
          FROM tenant_auth_memory m
          JOIN tenant_auth_incarnation i ON i.one = m.one
          LEFT JOIN tenant_auth_changes c ON c.seq >= $1
         WHERE m.one = 1
         ORDER BY c.seq
         LIMIT $2";
    SINCE = "
        SELECT COALESCE((SELECT seq FROM sqlite_sequence WHERE name = 'tenant_auth_changes'), 0) AS newest,
               i.token AS incarnation, m.mark AS mark, m.freshness AS freshness, m.usable AS usable,
               c.kind AS kind, c.id AS id, c.org_id AS org_id, c.seq AS number
          FROM tenant_auth_memory m
          JOIN tenant_auth_incarnation i ON i.one = m.one
          LEFT JOIN (SELECT kind, id, org_id, seq FROM tenant_auth_changes WHERE org_id = $1 AND seq >= $2
                      UNION ALL
                     SELECT kind, id, org_id, seq
                       FROM tenant_auth_changes
                      WHERE org_id IS NULL AND seq >= $2 AND kind <> 'user') c ON TRUE
         WHERE m.one = 1
         LIMIT $3";
    NOTE = "
        INSERT INTO tenant_auth_changes (org_id, kind, id)
        SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]')
          FROM json_each($1)";
    MOVE_MARK = "
        UPDATE tenant_auth_memory
           SET mark = mark + 1, previous = newest,
               newest = COALESCE((SELECT seq FROM sqlite_sequence WHERE name = 'tenant_auth_changes'), 0)
         WHERE one = 1 AND mark = $1";
    SWEEP = "
        DELETE FROM tenant_auth_changes
         WHERE seq IN (SELECT seq
                         FROM tenant_auth_changes
                        WHERE seq <= (SELECT k.place
                                        FROM tenant_auth_memory m
                                        JOIN tenant_auth_marks k ON k.mark = m.mark - $2
                                       WHERE m.one = 1)
                        ORDER BY seq
                        LIMIT $1)";
    END_INCARNATION = "
        INSERT INTO tenant_auth_past_incarnations (token, ended_at)
        SELECT token, COALESCE((SELECT seq FROM sqlite_sequence WHERE name = 'tenant_auth_changes'), 0)
          FROM tenant_auth_incarnation
         WHERE one = 1";
    BEGIN_INCARNATION = "UPDATE tenant_auth_incarnation SET token = lower(hex(randomblob(16))) WHERE one = 1";
    FORGET_INCARNATIONS = "
        DELETE FROM tenant_auth_past_incarnations
         WHERE number <= (SELECT MAX(number) FROM tenant_auth_past_incarnations) - $1";
    PAST_INCARNATIONS = "SELECT token, ended_at FROM tenant_auth_past_incarnations";
}

/// How many former incarnations are known. A cursor of an older one is too old.
const INCARNATIONS: i64 = 256;

row! {
    SeenRow {
        newest: i64,
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

row! { PastRow { token: String, ended_at: i64, } }

/// The connection of the looks, which closes with the store, and the file it reads.
#[derive(Debug)]
pub(super) struct Eye {
    connection: SqlitePool,
    file: DatabaseFile,
}

impl Eye {
    pub(super) fn open(sqlite: &Sqlite) -> Self {
        Self { connection: sqlite.looks().clone(), file: sqlite.file().clone() }
    }

    pub(super) async fn look(&mut self, after: &Place) -> Result<Seen, Error> {
        // A removed file can be read for ever, and never changes.
        self.file.is_in_place()?;
        let mut connection = self.connection.acquire().await.map_err(failure::of)?;
        looked(&mut connection, after).await
    }
}

async fn looked(connection: &mut SqliteConnection, after: &Place) -> Result<Seen, Error> {
    seen(Statement::on_sqlite("::sql::changes::LOOK", connection, LOOK, &[&after.next, &LIMIT]).all().await?)
}

/// What changed of one organization, or of all, since a place that the log still reaches back to.
pub(in crate::store) async fn since(connection: &mut SqliteConnection, place: &Place, org: Option<&OrgId>) -> Result<Seen, Error> {
    let Some(org) = org else { return looked(connection, place).await };
    seen(Statement::on_sqlite("::sql::changes::SINCE", connection, SINCE, &[&org.as_str(), &place.next, &LIMIT]).all().await?)
}

/// Ends the incarnation and begins another one.
pub(in crate::store) async fn begin_incarnation(sqlite: &Sqlite) -> Result<(), Error> {
    let mut transaction = sqlite.begin().await?;
    let forgetting = sqlx::query(FORGET_INCARNATIONS).bind(INCARNATIONS);
    for statement in [sqlx::query(END_INCARNATION), sqlx::query(BEGIN_INCARNATION), forgetting] {
        statement.execute(&mut *transaction).await.map_err(failure::of)?;
    }
    transaction.commit().await.map_err(failure::of)
}

/// The incarnations that are over.
pub(in crate::store) async fn past_incarnations(sqlite: &Sqlite) -> Result<Vec<PastIncarnation>, Error> {
    let mut connection = sqlite.looks().acquire().await.map_err(failure::of)?;
    let rows = Statement::on_sqlite("::sql::changes::PAST_INCARNATIONS", &mut connection, PAST_INCARNATIONS, &[]).all::<PastRow>();
    let rows = rows.await?;
    Ok(rows.into_iter().map(|row| PastIncarnation { token: row.token, end: row.ended_at.saturating_add(1) }).collect())
}

fn seen(rows: Vec<SeenRow>) -> Result<Seen, Error> {
    let first = rows.first().ok_or_else(|| Error::internal("the row of the memory is gone"))?;
    let change = |row: SeenRow| Some(SeenChange { kind: row.kind?, id: row.id?, org_id: row.org_id, number: row.number? });
    Ok(Seen {
        place: Place { next: first.newest.saturating_add(1), unfinished: Vec::new() },
        incarnation: first.incarnation.clone(),
        mark: first.mark,
        freshness: first.freshness,
        usable: first.usable,
        rows: rows.into_iter().filter_map(change).collect(),
    })
}

pub(in crate::store) async fn note(connection: &mut SqliteConnection, rows: &[ChangedRow]) -> Result<(), Error> {
    let rows: Vec<_> = rows.iter().map(|row| (&row.org_id, row.subject.as_str(), &row.id)).collect();
    let rows = serde_json::to_string(&rows).map_err(Error::internal)?;
    Statement::on_sqlite("::sql::changes::NOTE", connection, NOTE, &[&rows]).changed().await.map(drop)
}

pub(in crate::store) async fn move_mark(connection: &mut SqliteConnection, mark: i64) -> Result<bool, Error> {
    Ok(Statement::on_sqlite("::sql::changes::MOVE_MARK", connection, MOVE_MARK, &[&mark]).changed().await? == 1)
}

pub(in crate::store) async fn sweep(connection: &mut SqliteConnection, most: i64) -> Result<u64, Error> {
    Statement::on_sqlite("::sql::changes::SWEEP", connection, SWEEP, &[&most, &MARKS_KEPT]).changed().await
}
