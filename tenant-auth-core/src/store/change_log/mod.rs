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
use crate::{error::Error, id::OrgId};

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
    /// The mark of the sweep that was set then.
    pub(crate) mark: i64,
    /// How far the look saw.
    pub(crate) place: Place,
}

/// A row that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) subject: Subject,
    pub(crate) id: String,
    /// The organization that the change concerns; `None`: each.
    pub(crate) org_id: Option<OrgId>,
    /// The row's number, by which a [`Place`] tells whether it saw the row.
    pub(crate) number: i64,
}

/// A life of a SQLite database that is over. Its file can be put back to an earlier state, and the numbers of the log then come a
/// second time. So a process that gives out places begins a new incarnation before the first one, and notes how far the former came:
/// a place from beyond that end is of a life that was undone. On PostgreSQL the token's row becomes another one by itself, in a crash,
/// in a failover and when a dump is restored.
#[derive(Debug)]
pub(crate) struct PastIncarnation {
    pub(crate) token: String,
    /// The first number of the log that was not given out in it.
    pub(crate) end: i64,
}

/// What an engine's look returns.
pub(super) struct Seen {
    place: Place,
    incarnation: String,
    mark: i64,
    freshness: i64,
    usable: i64,
    rows: Vec<SeenChange>,
}

/// A row of the log as an engine returns it.
struct SeenChange {
    kind: String,
    id: String,
    org_id: Option<String>,
    number: i64,
}

/// A place in the log: what comes after it stands at `next` or later, or was unfinished below. Numbers of the log on SQLite, of
/// transactions on PostgreSQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) next: i64,
    pub(crate) unfinished: Vec<i64>,
}

impl Place {
    /// Before the first look: nothing is asked for.
    const NOTHING: Self = Self { next: i64::MAX, unfinished: Vec::new() };

    /// Whether a row that is visible now was not yet at this place.
    pub(crate) fn precedes(&self, number: i64) -> bool {
        number >= self.next || self.unfinished.contains(&number)
    }

    /// Whether everything that was visible at this place was at `later`, too.
    pub(crate) fn is_within(&self, later: &Self) -> bool {
        self.next <= later.next && later.unfinished.iter().all(|number| self.precedes(*number))
    }
}

impl Store {
    /// Has all connections replaced before their next use, where they can be lost.
    fn renew(&self) {
        match &self.0 {
            #[cfg(feature = "sqlite")]
            Engine::Sqlite(_) => {}
            #[cfg(feature = "postgres")]
            Engine::Postgres(postgres) => postgres.renew(),
        }
    }

    /// Begins a new incarnation where the engine does not do so by itself.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub(crate) async fn begin_incarnation(&self) -> Result<(), Error> {
        match &self.0 {
            #[cfg(feature = "sqlite")]
            Engine::Sqlite(database) => sqlite::begin_incarnation(database).await,
            #[cfg(feature = "postgres")]
            Engine::Postgres(_) => Ok(()),
        }
    }

    /// The incarnations that are over and whose places still mean something.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub(crate) async fn past_incarnations(&self) -> Result<Vec<PastIncarnation>, Error> {
        match &self.0 {
            #[cfg(feature = "sqlite")]
            Engine::Sqlite(database) => sqlite::past_incarnations(database).await,
            #[cfg(feature = "postgres")]
            Engine::Postgres(_) => Ok(Vec::new()),
        }
    }
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
    place: Place,
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
        let after = last.as_ref().map_or(Place::NOTHING, |last| last.place.clone());
        let looking = tokio::time::timeout(PATIENCE, looked(&self.store, eye, &after));
        let late = |late| Err(failure::of(sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, late))));
        let (eye, seen) = looking.await.unwrap_or_else(late)?;
        self.eye = Some(eye);
        let is_continued = last.is_some_and(|last| {
            last.incarnation == seen.incarnation
                && (last.mark..=last.mark.saturating_add(1)).contains(&seen.mark)
                && last.place.next <= seen.place.next
        });
        let sight = seen.sight(is_continued);
        self.last = Some(Last { place: sight.place.clone(), incarnation: sight.incarnation.clone(), mark: sight.mark });
        Ok(sight)
    }
}

impl Seen {
    /// What this says to a reader; `is_continued`: that it missed nothing before.
    pub(super) fn sight(self, is_continued: bool) -> Sight {
        let named: Option<Vec<Named>> = self.rows.into_iter().map(named).collect();
        let named = named.filter(|rows| is_continued && rows.len() <= MOST);
        Sight {
            everything: named.is_none(),
            named: named.unwrap_or_default(),
            incarnation: self.incarnation,
            freshness: u64::try_from(self.freshness).unwrap_or(0),
            usable: u64::try_from(self.usable).unwrap_or(0),
            mark: self.mark,
            place: self.place,
        }
    }
}

/// `None` for a subject of another version.
fn named(row: SeenChange) -> Option<Named> {
    let subject = Subject::parse(&row.kind)?;
    Some(Named { subject, id: row.id, org_id: row.org_id.map(OrgId::from_stored), number: row.number })
}

/// Looks with the connection that there is; when it turns out to be gone, or there is none, with a new one.
async fn looked(store: &Store, eye: Option<Eye>, after: &Place) -> Result<(Eye, Seen), Error> {
    if let Some(mut eye) = eye.filter(Eye::is_young) {
        match eye.look(after).await {
            Ok(seen) => return Ok((eye, seen)),
            // Those of the pool went the same way; one that was used a moment ago would be given out without a question.
            Err(_) => store.renew(),
        }
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

    async fn look(&mut self, after: &Place) -> Result<Seen, Error> {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(eye) => eye.look(after).await,
            #[cfg(feature = "postgres")]
            Self::Postgres(eye) => eye.look(after).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Place;

    fn place(next: i64, unfinished: &[i64]) -> Place {
        Place { next, unfinished: unfinished.to_vec() }
    }

    #[test]
    fn a_place_lies_within_one_that_saw_all_it_saw() {
        let here = place(10, &[4, 7]);
        for later in [place(10, &[4, 7]), place(10, &[]), place(12, &[4, 11]), place(30, &[10, 7])] {
            assert!(here.is_within(&later), "{later:?}");
        }
        for other in [place(9, &[]), place(12, &[5]), place(12, &[4, 9])] {
            assert!(!here.is_within(&other), "{other:?}");
        }
        assert!(here.precedes(10) && here.precedes(7) && !here.precedes(5));
    }
}
