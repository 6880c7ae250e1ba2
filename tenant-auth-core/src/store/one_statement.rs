//! A write of one statement, for what is done so often that a message to the database counts. On PostgreSQL such a statement commits by
//! itself, without BEGIN and COMMIT, and the server gathers commits; on SQLite, which has one writer and no messages, those that come
//! together share a transaction ([`GroupCommit`](super::group_commit::GroupCommit)).
//!
//! The type admits one write and ends with it: a second one would not be undone with the first. Each has a guard of its own, which finds
//! nothing to do where the write was done before.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use tokio::time::Instant;

#[cfg(feature = "sqlite")]
use super::group_commit::{Durability, GroupCommit};
use super::{Engine, Transactions, Tx};
#[cfg(feature = "postgres")]
use super::{Postgres, failure, patience, transaction::Transaction};
use crate::{error::Error, throttle::Limit, time::Timestamp, token::RefreshToken};

/// A write of one statement.
#[async_trait]
pub(super) trait OneWrite: Send + Sync {
    /// Does it; `false` when its guard found nothing to do.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the database refused or did not answer.
    async fn run(&self, tx: &mut Tx) -> Result<bool, Error>;
}

/// What became of a write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Written {
    /// The time of its transaction.
    pub(crate) at: Timestamp,
    /// When that was, for durations.
    pub(crate) began: Instant,
    /// `false` when its guard found nothing to do.
    pub(crate) is_done: bool,
}

/// Rotates a refresh token, as [`Sessions::rotate`](super::Sessions::rotate); the next one is good for so long.
struct Rotation {
    token: RefreshToken,
    good_for: Duration,
}

/// Makes a reservation, as [`Throttles::reserve`](super::sql::throttles::Throttles::reserve), with a lease of this length.
struct Reservation {
    limit: Limit,
    lease: Duration,
}

/// Who waits for the writer with one statement.
#[cfg(feature = "sqlite")]
#[derive(Debug)]
pub(super) struct Groups {
    pub(super) on_disk: GroupCommit,
    fleeting: GroupCommit,
}

#[cfg(feature = "sqlite")]
impl Default for Groups {
    fn default() -> Self {
        Self { on_disk: GroupCommit::new(Durability::OnDisk), fleeting: GroupCommit::new(Durability::Fleeting) }
    }
}

impl Transactions {
    /// Rotates a refresh token, and returns the time of it; `None` as [`Sessions::rotate`](super::Sessions::rotate). It is waited for as
    /// a COMMIT is: when the answer is lost, whether it happened is unknown, and a client that tries again within the reuse grace gets
    /// the tokens that there are.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the database refused or did not answer.
    pub(crate) async fn rotate(&self, token: &RefreshToken, good_for: Duration) -> Result<Option<Timestamp>, Error> {
        let rotation = Rotation { token: token.clone(), good_for };
        let written = match &self.store().0 {
            #[cfg(feature = "sqlite")]
            Engine::Sqlite(_) => self.groups().on_disk.write(self, Arc::new(rotation)).await?,
            #[cfg(feature = "postgres")]
            Engine::Postgres(postgres) => self.write_alone(postgres, &rotation).await?,
        };
        Ok(written.is_done.then_some(written.at))
    }

    /// Makes a reservation; nobody misses it after a power failure. It is not done where the limit is reached or the key is blocked.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the database refused or did not answer.
    pub(crate) async fn reserve(&self, limit: &Limit, lease: Duration) -> Result<Written, Error> {
        let reservation = Reservation { limit: limit.clone(), lease };
        match &self.store().0 {
            #[cfg(feature = "sqlite")]
            Engine::Sqlite(_) => self.groups().fleeting.write(self, Arc::new(reservation)).await,
            #[cfg(feature = "postgres")]
            Engine::Postgres(postgres) => self.write_alone(postgres, &reservation).await,
        }
    }

    /// On a connection of PostgreSQL that commits by itself.
    #[cfg(feature = "postgres")]
    async fn write_alone(&self, postgres: &Postgres, write: &dyn OneWrite) -> Result<Written, Error> {
        let acquired = patience::within(patience::CONNECTION, Box::pin(postgres.pool().acquire())).await;
        let mut tx = self.wrapped(Transaction::PostgresAlone(acquired.map_err(failure::of)?));
        let written = Written::by(write, &mut tx).await?;
        if written.is_done {
            tx.commit().await?;
        }
        Ok(written)
    }
}

impl Written {
    pub(super) async fn by(write: &dyn OneWrite, tx: &mut Tx) -> Result<Self, Error> {
        let (at, began) = (tx.now(), Instant::now());
        Ok(Self { at, began, is_done: write.run(tx).await? })
    }
}

#[async_trait]
impl OneWrite for Rotation {
    async fn run(&self, tx: &mut Tx) -> Result<bool, Error> {
        let idle_until = tx.now().plus(self.good_for);
        tx.sessions().rotate(&self.token, idle_until).await
    }
}

#[async_trait]
impl OneWrite for Reservation {
    async fn run(&self, tx: &mut Tx) -> Result<bool, Error> {
        let until = tx.now().plus(self.lease);
        tx.throttles().reserve(&self.limit, until).await
    }
}
