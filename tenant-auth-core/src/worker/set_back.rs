//! A clock that was set back: what it scheduled before lies in its future, and would wait for as long again as the clock was wrong. Each
//! such wait is counted anew, from now, so that a retry comes when its schedule says and a lease holds as long as ever.

use super::Worker;
use crate::{error::Error, time::CLOCKS_DIFFER};

/// How many rows one transaction changes. SQLite has one writer at a time, so transactions must be short.
const BATCH: i64 = 1_000;

impl Worker {
    /// Brings back the mails and deliveries that were scheduled in what is the future now. It only reads where there are none.
    pub(super) async fn bring_back(&self) -> Result<(), Error> {
        loop {
            let latest = self.auth.now().plus(CLOCKS_DIFFER);
            let mut reader = self.auth.store().read().await?;
            let (mails, deliveries) = (reader.mails().any_ahead(latest).await?, reader.delivery_queue().any_ahead(latest).await?);
            drop(reader);
            let mut brought = 0;
            if mails {
                let mut tx = self.auth.begin().await?;
                brought += tx.mails().bring_back(latest, BATCH).await?;
                tx.commit().await?;
            }
            if deliveries {
                let mut tx = self.auth.begin().await?;
                brought += tx.delivery_queue().bring_back(latest, BATCH).await?;
                tx.commit().await?;
            }
            if brought == 0 {
                return Ok(());
            }
            tracing::warn!(
                brought,
                "the clock was set back; mails and deliveries that waited for its former time are counted anew"
            );
        }
    }
}
