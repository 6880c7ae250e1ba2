//! The loop that fulfils requests for reset mails, beside the sending of mails: a mail server that is slow delays no request, and a
//! flood of requests no mail.

use std::{future::Future, pin::pin, time::Duration};

use super::Worker;
use crate::{account::fulfil_reset_requests, error::Error, metrics::WorkerLoop, store::Work};

/// How often requests are looked for when no commit of this process wakes the loop: another process may have left some.
const LOOK_EVERY: Duration = Duration::from_secs(5);

impl Worker {
    pub(super) async fn fulfil_requests_until(&self, shutdown: impl Future<Output = ()>) {
        let mut shutdown = pin!(shutdown);
        let mut filled = self.auth.work_left(Work::ResetRequests);
        loop {
            filled.borrow_and_update();
            let worked = self.fulfil_some().await.unwrap_or_else(|error| {
                tracing::warn!(error = %error.causes(), "requests for reset mails cannot be fulfilled; it is tried again shortly");
                false
            });
            let pause = if worked { Duration::ZERO } else { LOOK_EVERY };
            tokio::select! {
                biased;
                () = &mut shutdown => return,
                _ = filled.changed(), if !worked => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// Fulfils some requests; `true` when there were any.
    pub(super) async fn fulfil_some(&self) -> Result<bool, Error> {
        let worked = fulfil_reset_requests(&self.auth).await?;
        self.auth.worked(WorkerLoop::ResetRequests);
        Ok(worked)
    }
}
