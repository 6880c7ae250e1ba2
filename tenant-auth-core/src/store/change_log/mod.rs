//! The change log as a process reads it: a [`Looker`] sees each committed change exactly once, whatever order transactions commit
//! in, and learns when it cannot know what it missed. What is remembered of the database is true while a look says so; nothing rests
//! on notifications, on leases or on two machines' clocks.
//!
//! What must stay true: one look is one statement, run to its end, on a connection of its own (a busy pool must not make every
//! request wait, and a standby must not answer). A look that cannot tell what changed since the last one says so
//! ([`Sight::everything`]): the first one, one after a failed one, another incarnation of the database (crash, failover, restore), more
//! than one mark of the sweep since the last, or too many rows.

#[cfg(feature = "postgres")]
pub(super) mod postgres;
#[cfg(feature = "sqlite")]
pub(super) mod sqlite;

use std::{io, time::Duration};

use super::{Engine, Store, change::Subject, failure};
use crate::error::Error;

/// Runs the same function of either engine's module on its connection.
macro_rules! by_engine {
    ($conn:expr, $engine:ident, $connection:ident => $call:expr) => {
        match $conn {
            #[cfg(feature = "sqlite")]
            $crate::store::Conn::Sqlite($connection) => {
                use $crate::store::change_log::sqlite as $engine;
                $call
            }
            #[cfg(feature = "postgres")]
            $crate::store::Conn::Postgres($connection) => {
                use $crate::store::change_log::postgres as $engine;
                $call
            }
        }
    };
}
pub(super) use by_engine;

/// The most rows that one look returns; above, everything may have changed.
const MOST: usize = 10_000;
/// [`MOST`] and one row more, which tells that there are more.
const LIMIT: i64 = 10_001;
/// How long a look may take, its connection included. A database that does not answer such a statement by then stands still.
const PATIENCE: Duration = Duration::from_secs(3);

/// What a look saw.
#[derive(Debug, Clone)]
pub(crate) struct Sight {
    /// Whether anything may have changed since the last look: what is remembered no longer counts.
    pub(crate) everything: bool,
    /// What changed since the last look. Empty when everything may have.
    pub(crate) named: Vec<Named>,
    /// Which database answered.
    pub(crate) incarnation: String,
    /// The longest freshness that any process of the deployment announced, in milliseconds; 0: none remembers.
    pub(crate) freshness: u64,
    /// The longest that any process may use, in milliseconds.
    pub(crate) usable: u64,
}

/// A row that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) subject: Subject,
    pub(crate) id: String,
}

/// What an engine's look returns.
struct Seen {
    after: After,
    incarnation: String,
    mark: i64,
    freshness: i64,
    usable: i64,
    rows: Vec<(String, String)>,
}

/// Where the next look begins: at `next`, and among what was unfinished below it. Numbers of the log on SQLite, of transactions on
/// PostgreSQL.
#[derive(Debug, Clone, PartialEq, Eq)]
struct After {
    next: i64,
    unfinished: Vec<i64>,
}

impl After {
    /// Before the first look: nothing is asked for.
    const NOTHING: Self = Self { next: i64::MAX, unfinished: Vec::new() };
}

/// Reads the log, look after look. Dropped in the middle of a look or after a failed one, it forgets where it was.
#[derive(Debug)]
pub(crate) struct Looker {
    store: Store,
    eye: Option<Eye>,
    last: Option<Last>,
}

/// What the last look left.
#[derive(Debug)]
struct Last {
    after: After,
    incarnation: String,
    mark: i64,
}

/// The connection of the looks.
#[derive(Debug)]
enum Eye {
    #[cfg(feature = "sqlite")]
    Sqlite(sqlite::Eye),
    #[cfg(feature = "postgres")]
    Postgres(postgres::Eye),
}

impl Looker {
    pub(crate) fn new(store: Store) -> Self {
        Self { store, eye: None, last: None }
    }

    /// Looks. Whatever was committed and told before this began is seen by it, or was by a former look.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the database does not answer in time, or is a standby, or its file was replaced.
    pub(crate) async fn look(&mut self) -> Result<Sight, Error> {
        // Taken, and put back when all went well: whatever interrupts this, the next look says that everything may have changed.
        let (eye, last) = (self.eye.take(), self.last.take());
        let after = last.as_ref().map_or(After::NOTHING, |last| last.after.clone());
        let looking = tokio::time::timeout(PATIENCE, looked(&self.store, eye, &after));
        let late = |late| Err(failure::of(sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, late))));
        let (eye, seen) = looking.await.unwrap_or_else(late)?;
        self.eye = Some(eye);
        let is_continued = last.is_some_and(|last| {
            last.incarnation == seen.incarnation
                && (last.mark..=last.mark.saturating_add(1)).contains(&seen.mark)
                && last.after.next <= seen.after.next
        });
        let named: Option<Vec<Named>> = seen.rows.into_iter().map(named).collect();
        let named = named.filter(|rows| is_continued && rows.len() <= MOST);
        self.last = Some(Last { after: seen.after, incarnation: seen.incarnation.clone(), mark: seen.mark });
        Ok(Sight {
            everything: named.is_none(),
            named: named.unwrap_or_default(),
            incarnation: seen.incarnation,
            freshness: u64::try_from(seen.freshness).unwrap_or(0),
            usable: u64::try_from(seen.usable).unwrap_or(0),
        })
    }
}

/// `None` for a subject of a later version.
fn named((kind, id): (String, String)) -> Option<Named> {
    Subject::parse(&kind).map(|subject| Named { subject, id })
}

/// Looks with the connection that there is; when it turns out to be gone, or there is none, with a new one.
async fn looked(store: &Store, eye: Option<Eye>, after: &After) -> Result<(Eye, Seen), Error> {
    if let Some(mut eye) = eye
        && eye.is_young()
        && let Ok(seen) = eye.look(after).await
    {
        return Ok((eye, seen));
    }
    let mut eye = Eye::open(store).await?;
    let seen = eye.look(after).await?;
    Ok((eye, seen))
}

impl Eye {
    async fn open(store: &Store) -> Result<Self, Error> {
        match &store.0 {
            #[cfg(feature = "sqlite")]
            Engine::Sqlite(sqlite) => Ok(Self::Sqlite(sqlite::Eye::open(sqlite))),
            #[cfg(feature = "postgres")]
            Engine::Postgres(postgres) => postgres::Eye::open(postgres).await.map(Self::Postgres),
        }
    }

    /// Whether the connection may serve another look.
    fn is_young(&self) -> bool {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(_) => true,
            #[cfg(feature = "postgres")]
            Self::Postgres(eye) => eye.is_young(),
        }
    }

    async fn look(&mut self, after: &After) -> Result<Seen, Error> {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(eye) => eye.look(after).await,
            #[cfg(feature = "postgres")]
            Self::Postgres(eye) => eye.look(after).await,
        }
    }
}
