//! A check for the tests: prepares every statement on a real database of either engine. Unknown columns and syntax errors show
//! here, not at three in the morning.

use sqlx::{Executor, SqlSafeStr};

use super::{Conn, Link, Store, repositories::STATEMENTS};
use crate::error::Error;

impl Store {
    /// The statements that this database does not take, each with its reason; none, when all is well.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the database is away.
    pub async fn unpreparable_statements(&self) -> Result<Vec<String>, Error> {
        let mut reader = self.read().await?;
        let mut refused = Vec::new();
        for (name, sql) in STATEMENTS.concat() {
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
