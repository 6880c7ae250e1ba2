//! PostgreSQL: one pool of connections. Statements, lock waits, idle transactions and waits for a connection have time limits, so
//! that one stuck client cannot hold the connections of all organizations for long.

use std::{fmt, sync::Arc, time::Duration};

use sqlx::{
    AssertSqlSafe, Connection, Executor, PgConnection, PgPool,
    pool::PoolConnectionMetadata,
    postgres::{PgConnectOptions, PgPoolOptions},
};

use super::{
    StoreOptions,
    eyes::Eyes,
    failure, migrations, options,
    outlived::{self, Renewal},
    patience, postgres_url, rights,
    sql::probe,
    stall,
};
use crate::{config::SetupError, error::Error};

/// The time limit for getting a connection from the pool, or opening one. Longer than a lock is waited for (`lock_timeout`): requests
/// that wait for a lock give their connections back before those behind them are refused.
const ACQUIRE: Duration = Duration::from_secs(5);
/// The longest life of a connection. After a failover a connection may still lead to the old node, or to the new one while it was a
/// standby.
const LIFETIME: Duration = Duration::from_secs(60);
/// How long a connection that answered counts as alive. A database that goes away fails the requests of such a moment in any case.
const TRUSTED: Duration = Duration::from_millis(100);
/// Said to the database by each new connection: as a statement and not with the greeting, which poolers such as pgbouncer refuse.
/// `enable_seqscan`: a plan is made once per connection and kept. A plan made while a table was empty would read the whole table until
/// the table is analyzed. Every statement here has its index; one that has none is still planned, as a whole read that EXPLAIN shows
/// with a huge cost. `jit`: compiling a plan costs more than running it. `synchronous_commit`: a commit is durable before others see
/// it; what was remembered of one that a crash took back would be wrong.
const SESSION: &str = "SET statement_timeout = '15s'; SET lock_timeout = '4s'; SET idle_in_transaction_session_timeout = '10s'; \
     SET enable_seqscan = off; SET jit = off; \
     SELECT set_config('synchronous_commit', 'local', false) WHERE current_setting('synchronous_commit') = 'off'";
/// For what takes as long as it takes.
const WITHOUT_LIMITS: &str = "SET statement_timeout = 0; SET lock_timeout = 0";
/// A query of some 140 KiB with less memory than that, so that it needs a temporary file.
pub(super) const TAKE_ROOM: &str = "SELECT set_config('work_mem', '64kB', true); SELECT count(*) FROM generate_series(1, 10000)";

/// A PostgreSQL database.
#[derive(Clone)]
pub struct Postgres {
    pool: PgPool,
    connecting: Arc<PgConnectOptions>,
    renewal: Renewal,
    eyes: Eyes,
}

/// Without the options of its connections, which hold the password.
impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Postgres").field("pool", &self.pool).finish_non_exhaustive()
    }
}

impl Postgres {
    /// Connects to `postgres://user:password@host:port/database` with the default options. A database that is not there is created,
    /// where the user may create one.
    ///
    /// # Errors
    /// [`SetupError::Config`] for a URL that is none, [`Error::Unavailable`] when the server does not answer.
    pub async fn connect(url: &str) -> Result<Self, SetupError> {
        Self::connect_with(url, StoreOptions::default()).await
    }

    /// Connects to a database.
    ///
    /// # Errors
    /// As [`Postgres::connect`].
    pub async fn connect_with(url: &str, options: StoreOptions) -> Result<Self, SetupError> {
        let connecting = postgres_url::parse(url)?.application_name("tenant-auth");
        let renewal = Renewal::default();
        let renewing = renewal.clone();
        let pool = PgPoolOptions::new()
            .max_connections(options.connections.max(1))
            .acquire_timeout(ACQUIRE)
            .max_lifetime(LIFETIME)
            .after_connect(|connection, _| Box::pin(async move { connection.execute(SESSION).await.map(drop) }))
            .after_release(|connection, _| Box::pin(stall::answers(connection)))
            .test_before_acquire(false)
            .before_acquire(move |connection, known| {
                let is_renewed = renewing.concerns(known.age);
                Box::pin(is_usable(connection, known, is_renewed))
            });
        let pool = match pool.clone().connect_with(connecting.clone()).await {
            Err(error) if is_missing_database(&error) && !options.create => return Err(options::absent().into()),
            Err(error) if is_missing_database(&error) => {
                create_database(&connecting).await?;
                pool.connect_with(connecting.clone()).await.map_err(failure::of)?
            }
            Err(sqlx::Error::PoolTimedOut) => return Err(failure::of(reason(&connecting).await).into()),
            connected => connected.map_err(failure::of)?,
        };
        Ok(Self { pool, connecting: Arc::new(connecting), renewal, eyes: Eyes::default() })
    }

    /// Migrates under sqlx's advisory lock: when several servers start together, one migrates and the others wait. On a large database a
    /// version may take minutes, so no time limit holds then, and the connection goes afterwards.
    pub(super) async fn migrate(&self) -> Result<(), Error> {
        let migrator = migrations::migrator(&migrations::POSTGRES);
        let mut connection = self.pool.acquire().await.map_err(failure::of)?;
        let book = sqlx::query_as(migrations::POSTGRES.book).fetch_all(&mut *connection).await;
        if !book.is_ok_and(|book| migrations::is_done(&migrator, &book)) {
            connection.close_on_drop();
            connection.execute(WITHOUT_LIMITS).await.map_err(failure::of)?;
            migrator.run_direct(None, &mut *connection, false).await.map_err(migrations::failure)?;
        }
        rights::judge(&mut connection).await
    }

    /// Tries to write: commits a row, and fills a temporary file where the tables are, because a row that finds room in a page there is
    /// would not notice a full disk. Both are one message, so that the database never waits for this process with the row locked.
    pub(super) async fn try_writing(&self) -> Result<(), Error> {
        let trial = AssertSqlSafe(format!("{TAKE_ROOM}; {}", probe::WRITE));
        patience::answered(Box::pin(sqlx::raw_sql(trial).execute(&self.pool))).await.map(drop).map_err(failure::of)
    }

    /// Has the pool's connections replaced before their next use: one beside them was lost.
    pub(super) fn renew(&self) {
        self.renewal.of_all();
    }

    /// A connection beside the pool, unless that is closed.
    pub(super) async fn connect_alone(&self) -> sqlx::Result<PgConnection> {
        if self.pool.is_closed() {
            return Err(sqlx::Error::PoolClosed);
        }
        let mut connection = PgConnection::connect_with(&self.connecting).await?;
        connection.execute(SESSION).await?;
        Ok(connection)
    }

    pub(super) fn pool(&self) -> &PgPool {
        &self.pool
    }

    pub(super) fn eyes(&self) -> &Eyes {
        &self.eyes
    }

    /// Closes the pool and the connections beside it.
    pub(super) async fn close(&self) {
        let closing = self.pool.close(); // closed from here on: nothing is opened any more
        self.eyes.close().await;
        closing.await;
    }
}

/// Whether a connection out of the pool is given out. It was asked when it came back, so it is asked again only when it has been idle:
/// a question before each statement doubles the round trips of a read.
async fn is_usable(connection: &mut PgConnection, known: PoolConnectionMetadata, is_renewed: bool) -> sqlx::Result<bool> {
    if is_renewed || outlived::is(known.age) {
        return Ok(false);
    }
    if known.idle_for >= TRUSTED || outlived::is_doubted(known.idle_for) {
        connection.ping().await?;
    }
    Ok(true)
}

/// Why no connection was got in time: a pool tries again and again, and keeps to itself what came of it. A server that answers
/// by now may be asked again, also where it has the database yet to be created.
async fn reason(connecting: &PgConnectOptions) -> sqlx::Error {
    let trying = async { PgConnection::connect_with(connecting).await?.execute(SESSION).await };
    match tokio::time::timeout(Duration::from_secs(1), trying).await {
        Ok(Err(error)) if !is_missing_database(&error) => error,
        _ => sqlx::Error::PoolTimedOut,
    }
}

/// SQLSTATE `invalid_catalog_name`.
pub(super) fn is_missing_database(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(|error| error.code()).is_some_and(|code| code == "3D000")
}

/// Creates the database, through the maintenance database that every server has. When several processes start together, one creates
/// it.
async fn create_database(options: &PgConnectOptions) -> Result<(), Error> {
    let name = options.get_database().unwrap_or_else(|| options.get_username()).to_owned();
    let mut connection = PgConnection::connect_with(&options.clone().database("postgres")).await.map_err(failure::of)?;
    // A name cannot be a parameter of a statement; it comes from the operator's own setting, and is quoted.
    let statement = AssertSqlSafe(format!("CREATE DATABASE \"{}\"", name.replace('"', "\"\"")));
    match sqlx::raw_sql(statement).execute(&mut connection).await {
        Err(error) if !is_taken_name(&error) => {
            tracing::error!(%error, database = name, "the database does not exist and could not be created; create it");
            Err(failure::of(error))
        }
        _ => connection.close().await.map_err(failure::of),
    }
}

/// Another process created the database in the meantime: `duplicate_database`, or the unique index that decided the race.
fn is_taken_name(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(|error| error.code()).is_some_and(|code| ["42P04", "23505"].contains(&&*code))
}
