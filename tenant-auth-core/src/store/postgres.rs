//! PostgreSQL: one pool. Statements, locks and idle transactions are bounded in time, and a lock is waited for less long than a
//! connection: one stuck peer costs the writers of its organization errors, and nobody else a connection.

use std::{str::FromStr, time::Duration};

use sqlx::{
    PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};

use super::migrations;
use crate::error::Error;

/// A PostgreSQL database.
#[derive(Clone, Debug)]
pub struct Postgres {
    pool: PgPool,
}

impl Postgres {
    /// Connects to `postgres://user:password@host:port/database` with at most `connections` connections.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a URL that is none, [`Error::Unavailable`] when the server does not answer.
    pub async fn connect(url: &str, connections: u32) -> Result<Self, Error> {
        let options = PgConnectOptions::from_str(url)
            .map_err(|_| Error::invalid("database_url", "must be postgres://user:password@host:port/database"))?
            .application_name("tenant-auth")
            .options([("statement_timeout", "15s"), ("lock_timeout", "4s"), ("idle_in_transaction_session_timeout", "10s")]);
        let pool = PgPoolOptions::new()
            .max_connections(connections.max(1))
            .acquire_timeout(Duration::from_secs(5))
            .connect_with(options)
            .await?;
        Ok(Self { pool })
    }

    /// Under sqlx's advisory lock: of several servers starting together one migrates.
    pub(super) async fn migrate(&self) -> Result<(), Error> {
        let mut connection = self.pool.acquire().await?;
        migrations::migrator(migrations::POSTGRES).run_direct(None, &mut *connection, false).await.map_err(migrations::failure)
    }

    pub(super) fn pool(&self) -> &PgPool {
        &self.pool
    }
}
