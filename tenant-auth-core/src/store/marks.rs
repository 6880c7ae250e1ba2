//! The marks of the change log's sweep, as this process sets them: one about every minute, by whichever process comes first. What was
//! visible [`MARKS_KEPT`] marks ago is swept. So nobody's clock decides how long a change can be read: a reader compares the numbers of the marks.

use std::sync::{Mutex, PoisonError};

use super::Transactions;
use crate::error::Error;

/// How many marks ago a change must have been visible to be swept. A mark stands for a minute at least, by the clock of whoever sets the
/// next one: a backend that remembers may come back after ten minutes and is told what it missed.
pub(crate) const MARKS_KEPT: i64 = 12;

/// The mark that was set when this process last came by.
#[derive(Debug, Default)]
pub(crate) struct Marks(Mutex<Option<i64>>);

impl Marks {
    /// Sets the next mark, if no other process has done so since this process came by last.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub(crate) async fn advance(&self, transactions: &Transactions) -> Result<(), Error> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mark) = known {
            let mut tx = transactions.begin().await?;
            tx.changes().move_mark(mark).await?;
            tx.commit().await?;
        }
        let mark = transactions.store().read().await?.changes().mark().await?;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(mark);
        Ok(())
    }
}
