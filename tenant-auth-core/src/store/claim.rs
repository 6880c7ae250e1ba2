//! The right to remember. Before a process answers from memory, it announces its freshness, so that whoever acknowledges changes
//! waits long enough. On SQLite one process at a time has this right, by an operating system's lock beside the database file; its own
//! changes need not wait then.

use std::time::Duration;

#[cfg(feature = "sqlite")]
use super::database_file::MemoryLock;
use super::{Engine, Store, sql::changes::ANNOUNCEMENT};
use crate::error::Error;

/// The right to remember, held until it is dropped.
#[derive(Debug)]
pub(crate) enum Claim {
    /// No other process remembers.
    #[cfg(feature = "sqlite")]
    Sole(MemoryLock),
    /// Other processes may remember, too.
    #[cfg(feature = "postgres")]
    Shared,
}

impl Claim {
    /// Whether no other process has it.
    pub(crate) fn is_sole(&self) -> bool {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sole(_) => true,
            #[cfg(feature = "postgres")]
            Self::Shared => false,
        }
    }

    /// Checks that the right is still there.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the file of the lock was removed: another process may have taken a new one.
    pub(crate) fn is_held(&self) -> Result<(), Error> {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sole(lock) => lock.is_in_place(),
            #[cfg(feature = "postgres")]
            Self::Shared => Ok(()),
        }
    }
}

impl Store {
    /// Announces that this process remembers for so long, and claims the right to; `None` when another process has it.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the database does not take the announcement.
    pub(crate) async fn claim_memory(&self, freshness: Duration) -> Result<Option<Claim>, Error> {
        let millis = i64::try_from(freshness.as_millis()).unwrap_or(i64::MAX);
        match &self.0 {
            #[cfg(feature = "sqlite")]
            Engine::Sqlite(sqlite) => {
                let Some(lock) = sqlite.file().lock_memory()? else { return Ok(None) };
                self.set_freshness(ANNOUNCEMENT, millis).await?;
                Ok(Some(Claim::Sole(lock)))
            }
            #[cfg(feature = "postgres")]
            Engine::Postgres(_) => {
                self.set_freshness(ANNOUNCEMENT, millis).await?;
                Ok(Some(Claim::Shared))
            }
        }
    }
}
