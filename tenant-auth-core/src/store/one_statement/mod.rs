//! Writes of one statement, for what is done so often that a message to the database and a commit count. Those that come together are
//! done together ([`Gathering`]): rotations as `sql/rotation.rs` tells, and reservations, of which PostgreSQL gathers the commits itself,
//! in one transaction of SQLite's one writer. Each has a guard of its own, so that none rests on another.

use std::time::Duration;

use async_trait::async_trait;
use tokio::{runtime::Handle, time::Instant};

use super::{
    Engine, Transactions, Tx,
    gathering::{Gathering, Numbered, Question},
    sql::rotation::{OfHeld, Rotated, Rotation},
};
use crate::{error::Error, throttle::Limit, time::Timestamp, token::RefreshToken};

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

/// Makes a reservation, as [`Throttles::reserve`](super::sql::throttles::Throttles::reserve), with a lease of this length.
#[cfg(feature = "sqlite")]
#[derive(Debug, Clone)]
struct Reservation {
    limit: Limit,
    lease: Duration,
}

/// Does writes of one statement. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct OneStatements {
    transactions: Transactions,
    rotations: Gathering<Rotation>,
    #[cfg(feature = "sqlite")]
    reservations: Gathering<Reservation>,
}

impl OneStatements {
    /// Writes into this database, by tasks of this runtime.
    pub(crate) fn new(transactions: &Transactions, runtime: &Handle) -> Self {
        Self {
            transactions: transactions.clone(),
            rotations: Gathering::new(transactions.clone(), runtime.clone()),
            #[cfg(feature = "sqlite")]
            reservations: Gathering::new(transactions.clone(), runtime.clone()),
        }
    }

    /// Rotates a refresh token, and returns the time of it; `None` as [`Sessions::rotate`](super::Sessions::rotate). It is waited for as
    /// a COMMIT is: when the answer is lost, whether it happened is unknown, and a client that tries again within the reuse grace gets
    /// the tokens that there are.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the database refused or did not answer.
    pub(crate) async fn rotate(&self, token: &RefreshToken, good_for: Duration) -> Result<Option<Timestamp>, Error> {
        self.rotations.ask(Rotation { token: token.clone(), good_for }).await
    }

    /// Makes a reservation, which need not be on the disk: a failure counts without it. It is not done where the limit is reached or the
    /// key is blocked.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the database refused or did not answer.
    pub(crate) async fn reserve(&self, limit: &Limit, lease: Duration) -> Result<Written, Error> {
        match &self.transactions.store().0 {
            #[cfg(feature = "sqlite")]
            Engine::Sqlite(_) => {
                let written = self.reservations.ask(Reservation { limit: limit.clone(), lease }).await?;
                written.ok_or_else(|| Error::internal("a reservation was neither made nor refused"))
            }
            #[cfg(feature = "postgres")]
            Engine::Postgres(_) => {
                let mut tx = self.transactions.begin_alone().await?;
                let (at, began) = (tx.now(), Instant::now());
                let is_done = tx.throttles().reserve_alone(limit, at.plus(lease)).await?;
                if is_done {
                    tx.commit().await?;
                }
                Ok(Written { at, began, is_done })
            }
        }
    }
}

#[cfg(feature = "sqlite")]
impl Reservation {
    async fn make(&self, tx: &mut Tx) -> Result<Written, Error> {
        let (at, began) = (tx.now(), Instant::now());
        let is_done = tx.throttles().reserve(&self.limit, at.plus(self.lease)).await?;
        Ok(Written { at, began, is_done })
    }
}

#[async_trait]
impl Question for Rotation {
    type Desk = Transactions;
    type Ready = Tx;
    type Answer = Timestamp;

    const WRITES: bool = true;

    async fn ready(desk: &Transactions) -> Result<Tx, Error> {
        match &desk.store().0 {
            #[cfg(feature = "sqlite")]
            Engine::Sqlite(_) => desk.begin().await,
            #[cfg(feature = "postgres")]
            Engine::Postgres(_) => desk.begin_alone().await,
        }
    }

    async fn ask(tx: Tx, rotations: &[Self]) -> Result<Vec<Numbered<Timestamp>>, Error> {
        Self::rotate(tx, rotations, OfHeld::Tell).await
    }

    async fn ask_alone(tx: Tx, rotation: Self) -> Result<Option<Timestamp>, Error> {
        let rotated = Self::rotate(tx, &[rotation], OfHeld::Wait).await?;
        rotated.into_iter().next().map(|(_, at)| at).transpose()
    }
}

impl Rotation {
    async fn rotate(mut tx: Tx, rotations: &[Self], held: OfHeld) -> Result<Vec<Numbered<Timestamp>>, Error> {
        let (at, rotated) = (tx.now(), tx.sessions().rotate(rotations, held).await?);
        if rotated.iter().any(|(_, rotated)| *rotated == Rotated::Done) {
            tx.commit().await?;
        }
        let told = |rotated| match rotated {
            Rotated::Done => Ok(at),
            Rotated::Held => Err(Error::unavailable("another transaction holds the session")),
        };
        Ok(rotated.into_iter().map(|(number, rotated)| (number, told(rotated))).collect())
    }
}

#[cfg(feature = "sqlite")]
#[async_trait]
impl Question for Reservation {
    type Desk = Transactions;
    type Ready = Tx;
    type Answer = Written;

    const WRITES: bool = true;

    async fn ready(desk: &Transactions) -> Result<Tx, Error> {
        desk.begin_fleeting().await
    }

    async fn ask(mut tx: Tx, reservations: &[Self]) -> Result<Vec<Numbered<Written>>, Error> {
        let mut written = Vec::with_capacity(reservations.len());
        for (number, reservation) in (0..).zip(reservations) {
            written.push((number, reservation.make(&mut tx).await?));
        }
        if written.iter().any(|(_, written)| written.is_done) {
            tx.commit().await?;
        }
        Ok(written.into_iter().map(|(number, written)| (number, Ok(written))).collect())
    }
}

#[cfg(all(test, feature = "testing", feature = "sqlite"))]
mod tests;
