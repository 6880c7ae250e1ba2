//! A check for the tests: prepares every statement on a real database of either engine. Unknown columns and syntax errors show
//! here, not at three in the morning.

use sqlx::{Executor, SqlSafeStr};

#[cfg(all(feature = "testing", feature = "sqlite"))]
use super::{ChangedRow, Tx, change::Subject};
use super::{Conn, Link, Store, change_log::by_engine, repositories::STATEMENTS, sql::delivery_batches};
use crate::error::Error;

impl Store {
    /// The statements that this database does not take, each with its reason; none, when all is well.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the database is away.
    pub async fn unpreparable_statements(&self) -> Result<Vec<String>, Error> {
        let mut reader = self.read().await?;
        let mut refused = Vec::new();
        let own = by_engine!((&mut reader).conn(), engine, _connection => engine::ALL);
        let batches = match (&mut reader).conn() {
            #[cfg(feature = "sqlite")]
            Conn::Sqlite(_) => delivery_batches::sqlite::ALL,
            #[cfg(feature = "postgres")]
            Conn::Postgres(_) => delivery_batches::postgres::ALL,
        };
        for (name, sql) in [STATEMENTS.concat(), own.to_vec(), batches.to_vec()].concat() {
            let prepared = match (&mut reader).conn() {
                #[cfg(feature = "sqlite")]
                Conn::Sqlite(connection) => connection.prepare(sql.into_sql_str()).await.map(drop),
                #[cfg(feature = "postgres")]
                Conn::Postgres(connection) => connection.prepare(sql.into_sql_str()).await.map(drop),
            };
            if let Err(error) = prepared {
                refused.push(format!("{name}: {error}"));
            }
        }
        Ok(refused)
    }
}

#[cfg(all(feature = "testing", feature = "sqlite"))]
impl Tx {
    /// Writes a change of each of these sessions into the log now, and not at the commit.
    pub(crate) async fn note_now(&mut self, ids: &[String]) -> Result<(), Error> {
        let org_id = Some(crate::id::Id::from_stored("org_x".to_owned()));
        let row = |id: &String| ChangedRow { subject: Subject::Session, id: id.clone(), org_id: org_id.clone() };
        self.changes().note(&ids.iter().map(row).collect::<Vec<_>>()).await
    }
}
