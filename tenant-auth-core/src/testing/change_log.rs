//! The change log below the public interface, for the tests of its rules in this repository. It may change in any release.

use crate::{
    error::Error,
    service::TenantAuth,
    store::{KnownChange, Looker, Store, Transactions, Tx},
};

/// The names of the changes that end or narrow a right: the table of which each row has a test.
pub fn narrowing_changes() -> Vec<&'static str> {
    KnownChange::narrowing()
}

/// The log of a service's database.
#[derive(Debug, Clone)]
pub struct ChangeLog(Transactions);

/// A transaction that has written into the log and is not committed. Dropped, it is rolled back.
pub struct OpenChange(Tx);

/// A reader of the log.
#[derive(Debug)]
pub struct ChangeReader(Looker);

/// What a look saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// Whether anything may have changed.
    pub everything: bool,
    /// What changed since the last look.
    pub ids: Vec<String>,
    /// Which database answered.
    pub incarnation: String,
}

impl ChangeLog {
    /// The log of this service's database.
    pub fn of(auth: &TenantAuth) -> Self {
        Self(auth.transactions().clone())
    }

    /// Begins a transaction and writes these ids.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn write(&self, ids: &[String]) -> Result<OpenChange, Error> {
        let mut tx = self.0.begin().await?;
        tx.note_now(ids).await?;
        Ok(OpenChange(tx))
    }

    /// A reader that has not looked yet.
    pub fn reader(&self) -> ChangeReader {
        Self::reader_of(self.0.store().clone())
    }

    /// A reader of the log of a database that no service runs on.
    pub fn reader_of(store: Store) -> ChangeReader {
        ChangeReader(Looker::new(store))
    }
}

impl OpenChange {
    /// Commits.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn commit(self) -> Result<(), Error> {
        self.0.commit().await
    }
}

impl ChangeReader {
    /// Looks.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn look(&mut self) -> Result<Look, Error> {
        let sight = self.0.look().await?;
        let ids = sight.named.into_iter().map(|named| named.id).collect();
        Ok(Look { everything: sight.everything, ids, incarnation: sight.incarnation })
    }
}

impl std::fmt::Debug for OpenChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenChange").finish_non_exhaustive()
    }
}
