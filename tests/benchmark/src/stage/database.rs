//! A database beside the service's own access to it: for rows in bulk and for what only its engine can say.

use std::{fmt, str::FromStr};

use sqlx::{
    AssertSqlSafe, ConnectOptions, Connection, Executor, PgConnection, Row, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteSynchronous},
};

use crate::Failure;

/// One of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Engine {
    Sqlite,
    Postgres,
}

/// A database by its URL.
#[derive(Debug, Clone)]
pub(crate) struct Database {
    pub(crate) engine: Engine,
    pub(crate) url: String,
}

/// A connection past the service.
#[derive(Debug)]
pub(crate) enum Raw {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl Database {
    /// Connects. References are not checked on it: filler refers only to filler.
    pub(crate) async fn raw(&self) -> Result<Raw, Failure> {
        Ok(match self.engine {
            Engine::Sqlite => {
                let options = SqliteConnectOptions::from_str(&self.url)?.foreign_keys(false).synchronous(SqliteSynchronous::Off);
                Raw::Sqlite(options.connect().await?)
            }
            Engine::Postgres => {
                let mut connection = PgConnection::connect(&self.url).await?;
                connection.execute("SET session_replication_role = replica").await?;
                connection.execute("SET synchronous_commit = off").await?;
                Raw::Postgres(connection)
            }
        })
    }
}

impl Raw {
    /// Runs statements.
    pub(crate) async fn execute(&mut self, sql: impl Into<String>) -> Result<(), Failure> {
        let sql = sqlx::raw_sql(AssertSqlSafe(sql.into()));
        match self {
            Self::Sqlite(connection) => sql.execute(connection).await.map(drop)?,
            Self::Postgres(connection) => sql.execute(connection).await.map(drop)?,
        }
        Ok(())
    }

    /// Runs an `INSERT … SELECT` whose `{rows}` stand for `rows`: arrays, each reached as `value`.
    pub(crate) async fn insert(&mut self, sql: &str, rows: &[Vec<String>]) -> Result<(), Failure> {
        let rows = serde_json::to_string(rows)?;
        match self {
            Self::Sqlite(connection) => {
                let sql = sql.replace("{rows}", "json_each($1)");
                sqlx::query(AssertSqlSafe(sql)).bind(rows).execute(connection).await.map(drop)?;
            }
            Self::Postgres(connection) => {
                let sql = sql.replace("{rows}", "json_array_elements($1::json) AS rows (value)");
                sqlx::query(AssertSqlSafe(sql)).bind(rows).execute(connection).await.map(drop)?;
            }
        }
        Ok(())
    }

    /// The last column of every row, a text.
    pub(crate) async fn texts(&mut self, sql: impl Into<String>) -> Result<Vec<String>, Failure> {
        let sql = sqlx::raw_sql(AssertSqlSafe(sql.into()));
        let texts = match self {
            Self::Sqlite(connection) => {
                sql.fetch_all(connection).await?.iter().map(|row| row.try_get(row.len() - 1)).collect::<Result<_, _>>()
            }
            Self::Postgres(connection) => {
                sql.fetch_all(connection).await?.iter().map(|row| row.try_get(row.len() - 1)).collect::<Result<_, _>>()
            }
        };
        Ok(texts?)
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        })
    }
}
