//! Group commit: writes of one statement that come together share one transaction of SQLite's one writer. A commit waits for the disk, and
//! what waits for the writer can wait for the same disk: whoever gets the writer does the writes of all who wait, and tells them
//! after the commit. Each write is guarded by its own statement, so none of them rests on another; one that finds nothing to do leaves
//! the others as they are.
//!
//! A transaction that fails, or whose leader is dropped, takes all of its writes with it. Each is tried again by itself then, so that
//! nobody's failure is another's. Where a COMMIT's outcome was unknown, the guard of the second try finds what the first did.

use std::{
    collections::VecDeque,
    fmt,
    pin::pin,
    sync::{Arc, PoisonError},
};

use tokio::sync::{Mutex, MutexGuard, oneshot};

use super::{
    Tx,
    one_write::{OneWrite, Written},
    patience,
    transaction::Transactions,
};
use crate::{deadline, error::Error};

/// The most writes of one transaction: it must stay short, for others wait for the writer, too.
const MOST: usize = 64;

/// How a transaction of a group commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Durability {
    /// On the disk when it is told.
    OnDisk,
    /// With the next commit that is: for what nobody misses after a power failure.
    Fleeting,
}

/// Those who wait for the writer with a write of one statement.
pub(super) struct GroupCommit {
    transactions: Transactions,
    durability: Durability,
    waiting: std::sync::Mutex<VecDeque<Waiting>>,
    /// Held by the leader.
    turn: Mutex<()>,
}

struct Waiting {
    write: Arc<dyn OneWrite>,
    told: oneshot::Sender<Written>,
}

/// How leading ended.
enum Led {
    Done,
    /// Each of the group tries again by itself.
    Failed,
    /// Nobody else's write was concerned.
    FailedAlone(Error),
}

/// What somebody who waits gets first.
enum Heard<'a> {
    /// The turn to lead.
    Turn(MutexGuard<'a, ()>),
    /// The end of a transaction that held the write: what became of it, or nothing where the transaction failed.
    End(Option<Written>),
}

impl GroupCommit {
    pub(super) fn new(transactions: Transactions, durability: Durability) -> Self {
        Self { transactions, durability, waiting: Default::default(), turn: Mutex::default() }
    }

    /// Does a write together with those that wait beside it.
    ///
    /// # Errors
    /// As [`OneWrite::run`]; [`Error::Unavailable`] when the writer does not become free in time.
    pub(super) async fn write(&self, write: Arc<dyn OneWrite>) -> Result<Written, Error> {
        let (told, mut hears) = oneshot::channel();
        self.waiting().push_back(Waiting { write: Arc::clone(&write), told });
        loop {
            let hearing = pin!(async {
                tokio::select! {
                    biased;
                    end = &mut hears => Heard::End(end.ok()),
                    turn = self.turn.lock() => Heard::Turn(turn),
                }
            });
            match deadline::wait_in_request(patience::WRITER, hearing).await.map_err(Error::unavailable)? {
                Heard::Turn(_turn) => match self.lead().await {
                    Led::Done | Led::Failed => {} // the end is heard
                    Led::FailedAlone(error) => return Err(error),
                },
                Heard::End(Some(written)) => return Ok(written),
                Heard::End(None) => return self.write_alone(&*write).await,
            }
        }
    }

    /// Does the writes of all who wait once the writer is free.
    async fn lead(&self) -> Led {
        let tx = match self.begin().await {
            Ok(tx) => tx,
            Err(error) => return Led::FailedAlone(error),
        };
        let group = self.take();
        match write_all(tx, &group).await {
            Ok(written) => {
                for (waiting, written) in group.into_iter().zip(written) {
                    let _ = waiting.told.send(written); // who has gone needs no answer
                }
                Led::Done
            }
            Err(error) if group.len() == 1 => Led::FailedAlone(error),
            Err(_) => Led::Failed,
        }
    }

    async fn write_alone(&self, write: &dyn OneWrite) -> Result<Written, Error> {
        let mut tx = self.begin().await?;
        let written = Written::by(write, &mut tx).await?;
        if written.is_done {
            tx.commit().await?;
        }
        Ok(written)
    }

    async fn begin(&self) -> Result<Tx, Error> {
        match self.durability {
            Durability::OnDisk => self.transactions.begin().await,
            Durability::Fleeting => self.transactions.begin_fleeting().await,
        }
    }

    /// Those who wait, the first ones first, without those who have gone.
    fn take(&self) -> Vec<Waiting> {
        let mut waiting = self.waiting();
        waiting.retain(|waiting| !waiting.told.is_closed());
        let most = waiting.len().min(MOST);
        waiting.drain(..most).collect()
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, VecDeque<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn write_all(mut tx: Tx, group: &[Waiting]) -> Result<Vec<Written>, Error> {
    let mut written = Vec::with_capacity(group.len());
    for waiting in group {
        written.push(Written::by(&*waiting.write, &mut tx).await?);
    }
    if written.iter().any(|written| written.is_done) {
        tx.commit().await?;
    }
    Ok(written)
}

impl fmt::Debug for GroupCommit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GroupCommit({:?}, {} waiting)", self.durability, self.waiting().len())
    }
}

#[cfg(test)]
mod tests;
