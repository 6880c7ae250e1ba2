//! The storage contract. A [`Store`] is SQLite or PostgreSQL; flows see a [`Reader`] (one connection, no transaction) or a
//! [`Tx`] (a write transaction), and reach the repositories through either: `tx.members().find(org, user)`. Every query is
//! written once, in `sql/`, for both engines. Only this module names sqlx.
//!
//! What must stay true: every method on something an organization owns takes the organization first; nothing outside learns
//! which engine runs; a transaction records what it touched and writes its events last, in `commit`.

#[cfg(any(test, feature = "testing"))]
mod check;
mod dialect;
mod failure;
mod migrations;
mod outbox;
#[cfg(feature = "postgres")]
mod postgres;
mod sql;
#[cfg(feature = "sqlite")]
mod sqlite;

#[cfg(feature = "postgres")]
pub use postgres::Postgres;
#[cfg(feature = "sqlite")]
pub use sqlite::Sqlite;

pub(crate) use dialect::{Conn, Link};
pub(crate) use failure::is_orphan;
pub(crate) use outbox::{Actor, Event, MailKind, OutgoingMail};
pub(crate) use sql::{
    deliveries::{Attempted, ClaimedDelivery, DueEndpoint, NewDelivery},
    events::UndeliveredEvent,
    invites::{InviteRecord, NewInvite},
    links::{MailedLink, Purpose, ResetRequest},
    mails::ClaimedMail,
    members::MemberRecord,
    pending_logins::PendingLogin,
    sealed::SealedColumn,
    sessions::Ended,
    signing_keys::SigningKeyRecord,
    standing::Standing,
    sweep::{Retention, SWEEP_BATCH, Swept},
    users::Account,
    webhooks::{SealedSecret, Subscriber},
};

use crate::{error::Error, model::EventKind, time::Timestamp};

/// A database, opened and ready. Made by [`Sqlite::open`], [`Postgres::connect`] or [`Store::open`].
#[derive(Clone, Debug)]
pub struct Store(Engine);

#[derive(Clone, Debug)]
enum Engine {
    #[cfg(feature = "sqlite")]
    Sqlite(Sqlite),
    #[cfg(feature = "postgres")]
    Postgres(Postgres),
}

#[cfg(feature = "sqlite")]
impl From<Sqlite> for Store {
    fn from(sqlite: Sqlite) -> Self {
        Self(Engine::Sqlite(sqlite))
    }
}

#[cfg(feature = "postgres")]
impl From<Postgres> for Store {
    fn from(postgres: Postgres) -> Self {
        Self(Engine::Postgres(postgres))
    }
}

impl Store {
    /// Opens the database a URL names: `sqlite:path/to/file.db` or `postgres://user@host/name`. `connections` bounds the pool.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a URL of another scheme or of a database this build leaves out, [`Error::Unavailable`] when the
    /// database does not answer.
    pub async fn open(url: &str, connections: u32) -> Result<Self, Error> {
        match url.split(':').next().unwrap_or_default() {
            #[cfg(feature = "sqlite")]
            "sqlite" => Ok(Sqlite::open(url, connections).await?.into()),
            #[cfg(feature = "postgres")]
            "postgres" | "postgresql" => Ok(Postgres::connect(url, connections).await?.into()),
            _ => Err(Error::invalid(
                "database_url",
                "must start with sqlite: or postgres:, and this build must include that database",
            )),
        }
    }

    /// Creates or updates the tables; of several processes starting together one does it and the others wait.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the database is away, [`Error::Internal`] when it was migrated by a newer version.
    pub async fn migrate(&self) -> Result<(), Error> {
        match &self.0 {
            #[cfg(feature = "sqlite")]
            Engine::Sqlite(sqlite) => sqlite.migrate().await,
            #[cfg(feature = "postgres")]
            Engine::Postgres(postgres) => postgres.migrate().await,
        }
    }

    /// A connection for reading. On SQLite reads never queue behind a writer; on PostgreSQL both share one pool.
    pub(crate) async fn read(&self) -> Result<Reader, Error> {
        match &self.0 {
            #[cfg(feature = "sqlite")]
            Engine::Sqlite(sqlite) => Ok(Reader::Sqlite(sqlite.readers().acquire().await.map_err(failure::of)?)),
            #[cfg(feature = "postgres")]
            Engine::Postgres(postgres) => Ok(Reader::Postgres(postgres.pool().acquire().await.map_err(failure::of)?)),
        }
    }

    /// A write transaction. Dropped without [`Tx::commit`] it leaves nothing behind.
    pub(crate) async fn begin(&self) -> Result<Tx, Error> {
        let transaction = match &self.0 {
            #[cfg(feature = "sqlite")]
            Engine::Sqlite(sqlite) => {
                Transaction::Sqlite(sqlite.writer().begin_with("BEGIN IMMEDIATE").await.map_err(failure::of)?)
            }
            #[cfg(feature = "postgres")]
            Engine::Postgres(postgres) => Transaction::Postgres(postgres.pool().begin().await.map_err(failure::of)?),
        };
        Ok(Tx { transaction, touched: Vec::new(), events: Vec::new(), fills_outbox: false })
    }

    /// The pools as they are now.
    pub(crate) fn pools(&self) -> Vec<Pool> {
        match &self.0 {
            #[cfg(feature = "sqlite")]
            Engine::Sqlite(sqlite) => {
                vec![Pool::of("sqlite", "writer", sqlite.writer()), Pool::of("sqlite", "readers", sqlite.readers())]
            }
            #[cfg(feature = "postgres")]
            Engine::Postgres(postgres) => vec![Pool::of("postgres", "shared", postgres.pool())],
        }
    }

    /// Closes every connection, after those in use come back.
    pub async fn close(&self) {
        match &self.0 {
            #[cfg(feature = "sqlite")]
            Engine::Sqlite(sqlite) => sqlite.close().await,
            #[cfg(feature = "postgres")]
            Engine::Postgres(postgres) => postgres.pool().close().await,
        }
    }
}

/// How many connections a pool has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pool {
    pub(crate) engine: &'static str,
    pub(crate) name: &'static str,
    /// The most it opens.
    pub(crate) most: u32,
    pub(crate) open: u32,
    pub(crate) idle: u32,
}

impl Pool {
    fn of<DB: sqlx::Database>(engine: &'static str, name: &'static str, pool: &sqlx::Pool<DB>) -> Self {
        let idle = u32::try_from(pool.num_idle()).unwrap_or(u32::MAX);
        Self { engine, name, most: pool.options().get_max_connections(), open: pool.size(), idle }
    }
}

/// A connection for reading.
pub(crate) enum Reader {
    #[cfg(feature = "sqlite")]
    Sqlite(sqlx::pool::PoolConnection<sqlx::Sqlite>),
    #[cfg(feature = "postgres")]
    Postgres(sqlx::pool::PoolConnection<sqlx::Postgres>),
}

/// A write transaction: what it touched and what happened in it leave with its commit.
pub(crate) struct Tx {
    transaction: Transaction,
    touched: Vec<Touched>,
    events: Vec<Event>,
    fills_outbox: bool,
}

enum Transaction {
    #[cfg(feature = "sqlite")]
    Sqlite(sqlx::Transaction<'static, sqlx::Sqlite>),
    #[cfg(feature = "postgres")]
    Postgres(sqlx::Transaction<'static, sqlx::Postgres>),
}

/// Something a cached answer may rest on, changed by a transaction.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Touched {
    pub(crate) kind: &'static str,
    pub(crate) id: String,
}

impl Tx {
    /// Says that an event happened in this transaction; it is written at the commit.
    pub(crate) fn push(&mut self, event: Event) {
        self.events.push(event);
    }

    /// What happened in this transaction so far.
    pub(crate) fn event_kinds(&self) -> Vec<EventKind> {
        self.events.iter().map(Event::kind).collect()
    }

    /// Records that there is something for the worker. Called by the repositories, never by flows.
    fn fill_outbox(&mut self) {
        self.fills_outbox = true;
    }

    /// Records that what is known of this thing is no longer true. Called by the repositories, never by flows.
    fn touch(&mut self, kind: &'static str, id: &str) {
        self.touched.push(Touched { kind, id: id.to_owned() });
    }

    /// Writes the change notes and the events, then commits. The event sequences come last: they are the rows that
    /// transactions of several organizations share.
    pub(crate) async fn commit(self, now: Timestamp, ids: &dyn crate::ports::Entropy) -> Result<(), Error> {
        self.finish(now, ids).await.map(drop)
    }

    /// Commits; `true` when there is something for the worker now.
    pub(crate) async fn finish(mut self, now: Timestamp, ids: &dyn crate::ports::Entropy) -> Result<bool, Error> {
        self.touched.sort();
        self.touched.dedup();
        for touched in std::mem::take(&mut self.touched) {
            self.changes().note(&touched, now).await?;
        }
        let events = std::mem::take(&mut self.events);
        outbox::write(&mut self, events, now, ids).await?;
        let fills_outbox = self.fills_outbox;
        match self.transaction {
            #[cfg(feature = "sqlite")]
            Transaction::Sqlite(transaction) => transaction.commit().await.map_err(failure::of)?,
            #[cfg(feature = "postgres")]
            Transaction::Postgres(transaction) => transaction.commit().await.map_err(failure::of)?,
        }
        Ok(fills_outbox)
    }
}

/// Gives a [`Reader`] and a [`Tx`] their repositories.
macro_rules! repositories {
    ($($name:ident: $module:ident::$repository:ident,)*) => {
        impl Reader { $(
            #[allow(dead_code, clippy::allow_attributes, reason = "both hands get every repository; not each is read outside a transaction")]
            pub(crate) fn $name(&mut self) -> sql::$module::$repository<&mut Reader> {
                sql::$module::$repository(self)
            }
        )* }
        impl Tx { $(
            pub(crate) fn $name(&mut self) -> sql::$module::$repository<&mut Tx> {
                sql::$module::$repository(self)
            }
        )* }
    };
}

repositories! {
    organizations: organizations::Organizations,
    users: users::Users,
    members: members::Members,
    sessions: sessions::Sessions,
    invites: invites::Invites,
    api_keys: api_keys::ApiKeys,
    mails: mails::Mails,
    events: events::Events,
    webhooks: webhooks::Webhooks,
    deliveries: deliveries::Deliveries,
    changes: changes::Changes,
    signing_keys: signing_keys::SigningKeys,
    sweep: sweep::Sweep,
    throttles: throttles::Throttles,
    second_factors: second_factors::SecondFactors,
    pending_logins: pending_logins::PendingLogins,
    links: links::Links,
    sealed: sealed::Sealed,
}

#[cfg(test)]
mod tests;
