//! Writes of one statement, for what is done so often that a message to the database counts. On PostgreSQL such a statement commits by
//! itself, without BEGIN and COMMIT, and the server gathers commits; on SQLite, which has one writer and no messages, those that come
//! together share a transaction ([`GroupCommit`](super::group_commit::GroupCommit)). So none may rest on another that its request made.

#[cfg(feature = "sqlite")]
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

#[cfg(feature = "sqlite")]
use super::group_commit::{Durability, GroupCommit};
use super::{
    Engine, Transactions, Tx,
    one_write::{OneWrite, Written},
};
#[cfg(feature = "postgres")]
use super::{Postgres, failure, patience, transaction::Transaction};
use crate::{error::Error, throttle::Limit, time::Timestamp, token::RefreshToken};

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

/// Does writes of one statement. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct OneStatements {
    transactions: Transactions,
    #[cfg(feature = "sqlite")]
    on_disk: Arc<GroupCommit>,
    #[cfg(feature = "sqlite")]
    fleeting: Arc<GroupCommit>,
}

impl OneStatements {
    pub(crate) fn new(transactions: &Transactions) -> Self {
        #[cfg(feature = "sqlite")]
        let group = |durability| Arc::new(GroupCommit::new(transactions.clone(), durability));
        Self {
            transactions: transactions.clone(),
            #[cfg(feature = "sqlite")]
            on_disk: group(Durability::OnDisk),
            #[cfg(feature = "sqlite")]
            fleeting: group(Durability::Fleeting),
        }
    }

    /// Rotates a refresh token, and returns the time of it; `None` as [`Sessions::rotate`](super::Sessions::rotate). It is waited for as
    /// a COMMIT is: when the answer is lost, whether it happened is unknown, and a client that tries again within the reuse grace gets
    /// the tokens that there are.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the database refused or did not answer.
    pub(crate) async fn rotate(&self, token: &RefreshToken, good_for: Duration) -> Result<Option<Timestamp>, Error> {
        let rotation = Rotation { token: token.clone(), good_for };
        let written = match &self.transactions.store().0 {
            #[cfg(feature = "sqlite")]
            Engine::Sqlite(_) => self.on_disk.write(Arc::new(rotation)).await?,
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
        match &self.transactions.store().0 {
            #[cfg(feature = "sqlite")]
            Engine::Sqlite(_) => self.fleeting.write(Arc::new(reservation)).await,
            #[cfg(feature = "postgres")]
            Engine::Postgres(postgres) => self.write_alone(postgres, &reservation).await,
        }
    }

    /// Those who wait for a commit that is on the disk.
    #[cfg(all(test, feature = "sqlite"))]
    pub(super) fn on_disk(&self) -> &GroupCommit {
        &self.on_disk
    }

    /// On a connection of PostgreSQL that commits by itself.
    #[cfg(feature = "postgres")]
    async fn write_alone(&self, postgres: &Postgres, write: &dyn OneWrite) -> Result<Written, Error> {
        let acquired = patience::within(patience::CONNECTION, Box::pin(postgres.pool().acquire())).await;
        let mut tx = self.transactions.wrapped(Transaction::PostgresAlone(acquired.map_err(failure::of)?));
        let written = Written::by(write, &mut tx).await?;
        if written.is_done {
            tx.commit().await?;
        }
        Ok(written)
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
