//! The store: persistence on SQLite or PostgreSQL. Flows see a [`Reader`] (one connection, no transaction) or a [`Tx`] (a unit of
//! work: one write transaction), and reach the repositories through either: `tx.members().find(org, user)`. Every query is written
//! once, in `sql/`, for both engines. Only this module names sqlx.
//!
//! What must stay true: every method on something an organization owns takes the organization first; nothing outside learns
//! which engine runs; a transaction records what it touched and writes its events last, in `commit`.

mod attempt_log;
mod chain_head;
mod chaining;
mod change;
mod change_log;
#[cfg(any(test, feature = "testing"))]
mod check;
mod claim;
#[cfg(feature = "sqlite")]
mod database_file;
mod deed;
mod deployment_log;
mod dialect;
mod engine_transaction;
mod event;
#[cfg(feature = "postgres")]
mod eyes;
mod failure;
mod freshness;
mod gathering;
mod home;
mod key_record;
mod lookups;
mod marks;
mod migrations;
mod one_statement;
mod options;
mod outbox;
mod outlived;
mod patience;
mod payload;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "postgres")]
mod postgres_url;
mod repositories;
#[cfg(feature = "postgres")]
mod rights;
mod row;
mod running;
mod sql;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(feature = "postgres")]
mod stall;
mod statement;
mod survey;
mod transaction;
mod work;

pub use migrations::SchemaError;
pub use options::StoreOptions;
#[cfg(feature = "postgres")]
pub use postgres::Postgres;
#[cfg(feature = "sqlite")]
pub use sqlite::Sqlite;
pub use survey::Survey;

#[cfg(all(feature = "testing", feature = "sqlite"))]
pub(crate) use change::Change as KnownChange;
pub(crate) use change::Subject;
pub(crate) use change_log::{Looker, Named, PastIncarnation, Place, Sight};
pub(crate) use claim::Claim;
pub(crate) use deed::{Deed as DeploymentDeed, SignUpLimit, SignUpRefusal};
pub(crate) use dialect::Link;
pub(crate) use event::{Actor, ErasedPerson, Event, FormerSelf};
pub(crate) use failure::is_orphan;
pub(crate) use key_record::{Asked, DeploymentReach, KeyRecord, Reach};
pub(crate) use lookups::Lookups;
pub(crate) use marks::{MARKS_KEPT, Marks};
pub(crate) use one_statement::OneStatements;
pub(crate) use sql::{
    audit::{Chosen, Span},
    audit_keys::AuditKeyRecord,
    deliveries::NewDelivery,
    delivery_batches::{Held, Judged, QueuedDelivery, Subscriber, Vital},
    delivery_queue::{Attempted, ClaimedDelivery, DueEndpoint},
    erasing::{Erasing, ToldEvent},
    event_feed::NewestEvent,
    events::UndeliveredEvent,
    exports::{ExportedChain, ExportedEntry, ExportedMember},
    imports::{ArrivedMember, ImportedAccount, ImportedFactor, ImportedSecret},
    invites::{InviteRecord, NewInvite},
    links::{LinkPurpose, MailedLink, ResetRequest},
    live_session::{LiveSession, Witnessed},
    logins::{Entry, Known},
    mail_queue::PASSED_OVER,
    mails::{ClaimedMail, MailKind, OutgoingMail},
    members::{MEMBERS_AT_ONCE, Members},
    pending_logins::PendingLogin,
    person::{
        Deed, PersonAccount, PersonCounter, PersonDeed, PersonEntry, PersonFormerId, PersonInvite, PersonLink, PersonLogin,
        PersonMail, PersonMembership, PersonNetwork, PersonReset, PersonSession, PersonSignUp,
    },
    removed::{FreeRemoval, Leaving},
    sealed::SealedColumn,
    sessions::Ended,
    sign_ups::{SignUpLink, SignUpRequest},
    signing_keys::SigningKeyRecord,
    sweep::{Retention, Swept},
    tallies::{DAYS_SHOWN, DayTally},
    throttles::{BlockRow, ThrottleState},
    users::Account,
    webhooks::{Ending, EndingWebhook, SealedSecret},
};
pub(crate) use statement::Conn;
pub(crate) use transaction::{Committed, Context, FollowUp, Transactions, Tx};
pub(crate) use work::{Announcements, LeftWork, Work};

use tokio::runtime::Handle;

use crate::{
    config::{ConfigError, Setting, SetupError},
    error::Error,
    ports::OsEntropy,
};
use change::{Change, ChangedRow};
use engine_transaction::Transaction;
use home::{AtHome, Home};

/// A database, opened and ready. Made by [`Sqlite::open`], [`Postgres::connect`] or [`Store::open`].
#[derive(Clone, Debug)]
pub struct Store(Engine, Home);

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
        Self(Engine::Sqlite(sqlite), Home::default())
    }
}

#[cfg(feature = "postgres")]
impl From<Postgres> for Store {
    fn from(postgres: Postgres) -> Self {
        Self(Engine::Postgres(postgres), Home::default())
    }
}

impl Store {
    /// Opens the database a URL names, with the default options: `sqlite:path/to/file.db` or `postgres://user@host/name`.
    ///
    /// # Errors
    /// [`SetupError::Config`] for a URL of another scheme or of a database this build leaves out, [`Error::Unavailable`] when the
    /// database does not answer.
    pub async fn open(url: &str) -> Result<Self, SetupError> {
        Self::open_with(url, StoreOptions::default()).await
    }

    /// Opens the database a URL names.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub async fn open_with(url: &str, options: StoreOptions) -> Result<Self, SetupError> {
        match url.split(':').next().unwrap_or_default() {
            #[cfg(feature = "sqlite")]
            "sqlite" => Ok(Sqlite::open_with(url, options).await?.into()),
            #[cfg(feature = "postgres")]
            "postgres" | "postgresql" => Ok(Postgres::connect_with(url, options).await?.into()),
            _ => Err(ConfigError::new(
                Setting::DatabaseUrl,
                "must start with sqlite: or postgres:, and this build must include that database",
            )
            .into()),
        }
    }

    /// Creates or updates the tables; of several processes starting together one does it and the others wait.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the database is away, [`Error::Internal`] when it was migrated by a newer version.
    pub async fn migrate(&self) -> Result<(), Error> {
        match &self.0 {
            #[cfg(feature = "sqlite")]
            Engine::Sqlite(sqlite) => sqlite.migrate().await?,
            #[cfg(feature = "postgres")]
            Engine::Postgres(postgres) => postgres.migrate().await?,
        }
        self.chain_former_events(&OsEntropy).await
    }

    /// The same with the connections on this runtime, whichever one calls.
    pub(crate) fn on(self, runtime: Handle) -> Self {
        Self(self.0, Home::on(runtime))
    }

    /// A connection for reading. On SQLite reads never queue behind a writer; on PostgreSQL both share one pool.
    pub(crate) async fn read(&self) -> Result<Reader, Error> {
        // On the heap: waiting for a connection is the largest part of what a request holds, and is moved about with it, also where
        // it is answered from memory.
        match &self.0 {
            #[cfg(feature = "sqlite")]
            Engine::Sqlite(sqlite) => Ok(Reader::Sqlite(self.1.keep(self.1.keep(Box::pin(sqlite.acquire())).await?))),
            #[cfg(feature = "postgres")]
            Engine::Postgres(postgres) => {
                let acquiring = self.1.keep(Box::pin(postgres.pool().acquire()));
                let acquired = patience::within(patience::CONNECTION, acquiring).await.map_err(failure::of)?;
                Ok(Reader::Postgres(self.1.keep(acquired)))
            }
        }
    }

    /// Tries whether the database takes writes: writes and commits a row, which is always the same one.
    pub(crate) async fn try_writing(&self) -> Result<(), Error> {
        match &self.0 {
            #[cfg(feature = "sqlite")]
            Engine::Sqlite(sqlite) => sqlite.try_writing().await,
            #[cfg(feature = "postgres")]
            Engine::Postgres(postgres) => postgres.try_writing().await,
        }
    }

    /// The present sizes of the connection pools.
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

    /// How many connections reads have, those of writes included where they share them.
    pub(crate) fn connections(&self) -> u32 {
        self.pools().iter().map(|pool| pool.most).max().unwrap_or(1)
    }

    /// How many connections there may be at once, for reads and writes together.
    pub(crate) fn most_connections(&self) -> u32 {
        self.pools().iter().map(|pool| pool.most).sum()
    }

    /// Returns once another file stands where SQLite's was opened, with the words for it; never on PostgreSQL. A program should end then:
    /// the database that it opened is not there any more, and what it remembers is of no use. Until then everything is refused, as while
    /// the file is away.
    pub async fn replaced(&self) -> Error {
        match &self.0 {
            #[cfg(feature = "sqlite")]
            Engine::Sqlite(sqlite) => sqlite.file().replaced().await,
            #[cfg(feature = "postgres")]
            Engine::Postgres(_) => std::future::pending().await,
        }
    }

    /// Closes every connection, after those in use come back.
    pub async fn close(&self) {
        match &self.0 {
            #[cfg(feature = "sqlite")]
            Engine::Sqlite(sqlite) => sqlite.close().await,
            #[cfg(feature = "postgres")]
            Engine::Postgres(postgres) => postgres.close().await,
        }
    }
}

/// The sizes of one connection pool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pool {
    pub(crate) engine: &'static str,
    pub(crate) name: &'static str,
    /// The most connections the pool opens.
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
    Sqlite(AtHome<sqlx::pool::PoolConnection<sqlx::Sqlite>>),
    #[cfg(feature = "postgres")]
    Postgres(AtHome<sqlx::pool::PoolConnection<sqlx::Postgres>>),
}

#[cfg(test)]
mod tests;
