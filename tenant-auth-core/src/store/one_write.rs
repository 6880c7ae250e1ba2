//! A write of one statement, whoever runs it. It has a guard of its own, which finds nothing to do where the write was done before.

use async_trait::async_trait;
use tokio::time::Instant;

use super::Tx;
use crate::{error::Error, time::Timestamp};

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

impl Written {
    pub(super) async fn by(write: &dyn OneWrite, tx: &mut Tx) -> Result<Self, Error> {
        let (at, began) = (tx.now(), Instant::now());
        Ok(Self { at, began, is_done: write.run(tx).await? })
    }
}
