//! A transaction of the database, whichever it is: how each kind begins, and how it commits.

#[cfg(feature = "postgres")]
use super::patience;
use super::{Engine, Store, failure, home::AtHome, statement::Conn};
use crate::error::Error;

/// Dropped without [`Transaction::commit`] it leaves nothing behind.
pub(super) enum Transaction {
    #[cfg(feature = "sqlite")]
    Sqlite(AtHome<sqlx::Transaction<'static, sqlx::Sqlite>>),
    #[cfg(feature = "postgres")]
    Postgres(AtHome<sqlx::Transaction<'static, sqlx::Postgres>>),
    /// For one statement, which commits by itself.
    #[cfg(feature = "postgres")]
    PostgresAlone(AtHome<sqlx::pool::PoolConnection<sqlx::Postgres>>),
}

/// What a transaction is for.
#[derive(Clone, Copy)]
pub(super) enum Purpose {
    Write,
    /// A write whose commit need not be on the disk when it is acknowledged.
    FleetingWrite,
    /// Reads that all see one moment. It locks nothing.
    Snapshot,
    /// A write of one statement, which commits by itself on PostgreSQL.
    #[cfg(feature = "postgres")]
    OneStatement,
}

impl Store {
    pub(super) async fn begin_for(&self, purpose: Purpose) -> Result<Transaction, Error> {
        let Self(engine, home) = self;
        match engine {
            #[cfg(feature = "sqlite")]
            Engine::Sqlite(sqlite) => {
                let beginning = async {
                    match purpose {
                        Purpose::FleetingWrite => sqlite.begin_fleeting().await,
                        Purpose::Snapshot => sqlite.begin_snapshot().await,
                        Purpose::Write => sqlite.begin().await,
                        #[cfg(feature = "postgres")]
                        Purpose::OneStatement => sqlite.begin().await,
                    }
                };
                home.keep(Box::pin(beginning)).await.map(|begun| Transaction::Sqlite(home.keep(begun)))
            }
            #[cfg(feature = "postgres")]
            Engine::Postgres(postgres) => {
                let statement = match purpose {
                    Purpose::Write => "BEGIN",
                    Purpose::FleetingWrite => "BEGIN; SET LOCAL synchronous_commit = off",
                    Purpose::Snapshot => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
                    Purpose::OneStatement => {
                        let acquiring = home.keep(Box::pin(postgres.pool().acquire()));
                        let acquired = patience::within(patience::CONNECTION, acquiring).await.map_err(failure::of)?;
                        return Ok(Transaction::PostgresAlone(home.keep(acquired)));
                    }
                };
                let begun =
                    patience::begun(home.keep(Box::pin(postgres.pool().begin_with(statement)))).await.map_err(failure::of)?;
                Ok(Transaction::Postgres(home.keep(begun)))
            }
        }
    }
}

impl Transaction {
    pub(super) fn conn(&mut self) -> Conn<'_> {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(transaction) => Conn::Sqlite(transaction),
            #[cfg(feature = "postgres")]
            Self::Postgres(transaction) => Conn::Postgres(transaction),
            #[cfg(feature = "postgres")]
            Self::PostgresAlone(connection) => Conn::Postgres(connection),
        }
    }

    /// # Errors
    /// [`Error::Unavailable`] when the database refused or did not answer. Where it did not answer it may be committed all the same.
    pub(super) async fn commit(self) -> Result<(), Error> {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(transaction) => transaction.ended(|begun| Box::pin(begun.commit())).await.map_err(failure::of_commit),
            #[cfg(feature = "postgres")]
            Self::Postgres(transaction) => {
                let committing = transaction.ended(|begun| Box::pin(begun.commit()));
                patience::committed(committing).await.map_err(failure::of_commit)
            }
            #[cfg(feature = "postgres")]
            Self::PostgresAlone(connection) => {
                drop(connection);
                Ok(())
            }
        }
    }
}
