//! A write of one statement, for what is done so often that a message to the database counts. On PostgreSQL such a statement commits by
//! itself, without BEGIN and COMMIT; on SQLite, which has one writer and no messages, it is an ordinary transaction.
//!
//! The type admits one write and ends with it: a second one would not be undone with the first.

use super::{Engine, Transactions, Tx};
#[cfg(feature = "postgres")]
use super::{failure, patience, transaction::Transaction};
use crate::{error::Error, throttle::Limit, time::Timestamp, token::RefreshToken};

/// A connection for one write.
pub(crate) struct OneStatement(Tx);

impl Transactions {
    /// Takes a connection for one write.
    pub(crate) async fn one_statement(&self) -> Result<OneStatement, Error> {
        match &self.store().0 {
            #[cfg(feature = "sqlite")]
            Engine::Sqlite(_) => Ok(OneStatement(self.begin().await?)),
            #[cfg(feature = "postgres")]
            Engine::Postgres(postgres) => {
                let acquired = patience::within(patience::CONNECTION, Box::pin(postgres.pool().acquire())).await;
                Ok(OneStatement(self.wrapped(Transaction::PostgresAlone(acquired.map_err(failure::of)?))))
            }
        }
    }

    /// The same for what nobody misses after a power failure; on PostgreSQL it commits as any statement does.
    pub(crate) async fn one_fleeting_statement(&self) -> Result<OneStatement, Error> {
        match &self.store().0 {
            #[cfg(feature = "sqlite")]
            Engine::Sqlite(_) => Ok(OneStatement(self.begin_fleeting().await?)),
            #[cfg(feature = "postgres")]
            Engine::Postgres(_) => self.one_statement().await,
        }
    }
}

impl OneStatement {
    /// The time of the write.
    pub(crate) fn now(&self) -> Timestamp {
        self.0.now()
    }

    /// Rotates a refresh token, as [`Sessions::rotate`](super::Sessions::rotate). It is waited for as a COMMIT is: when the answer is
    /// lost, whether it happened is unknown, and a client that tries again within the reuse grace gets the tokens that there are.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the database refused or did not answer.
    pub(crate) async fn rotate(mut self, token: &RefreshToken, idle_until: Timestamp) -> Result<bool, Error> {
        let rotated = self.0.sessions().rotate(token, idle_until).await?;
        if rotated {
            self.0.commit().await?;
        }
        Ok(rotated)
    }

    /// Makes a reservation, as [`Throttles::reserve`](super::sql::throttles::Throttles::reserve).
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the database refused or did not answer.
    pub(crate) async fn reserve(mut self, limit: &Limit, lease_until: Timestamp) -> Result<bool, Error> {
        let reserved = self.0.throttles().reserve(limit, lease_until).await?;
        if reserved {
            self.0.commit().await?;
        }
        Ok(reserved)
    }
}
