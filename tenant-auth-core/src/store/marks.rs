//! The marks of the change log's sweep, as this process sets them: one about every minute, by whichever process comes first. What was
//! visible [`MARKS_KEPT`] marks ago is swept. So no reader's clock decides how long a change can be read: it compares the numbers of the marks.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use super::Transactions;
use crate::{error::Error, time::Timestamp};

/// How many marks ago a change must have been visible to be swept. A mark stands for [`STANDS`] at least, by the clock of whoever sets the
/// next one: a backend that remembers may come back after ten minutes and is told what it missed.
pub(crate) const MARKS_KEPT: i64 = 12;

/// How long a mark stands at least, however often a scheduler comes by.
const STANDS: Duration = Duration::from_secs(55);

/// The mark that this process saw set, and since when.
#[derive(Debug, Default)]
pub(crate) struct Marks(Mutex<Option<(i64, Timestamp)>>);

impl Marks {
    /// Sets the next mark, if this process saw the last one stand for a minute. Where the clock was set back meanwhile, that begins anew.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub(crate) async fn advance(&self, transactions: &Transactions, now: impl Fn() -> Timestamp + Send) -> Result<(), Error> {
        let seen = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((mark, since)) = seen {
            let at = now();
            if at < since {
                *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((mark, at));
            }
            if at < since.plus(STANDS) {
                return Ok(());
            }
            self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
            let mut tx = transactions.begin().await?;
            tx.changes().move_mark(mark).await?;
            tx.commit().await?;
        }
        let mark = transactions.store().read().await?.changes().mark().await?;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((mark, now()));
        Ok(())
    }
}
