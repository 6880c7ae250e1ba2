//! The loop that mails the links of sign-up, beside the sending of other mails: a flood of requests delays no organization's mail.

use std::{future::Future, pin::pin, time::Duration};

use super::Worker;
use crate::{error::Error, metrics::WorkerLoop, org::mail_sign_up_links, store::Work};

/// How often requests are looked for when no commit of this process wakes the loop.
const LOOK_EVERY: Duration = Duration::from_secs(5);

impl Worker {
    pub(super) async fn mail_sign_ups_until(&self, shutdown: impl Future<Output = ()>) {
        let mut shutdown = pin!(shutdown);
        let mut filled = self.auth.work_left(Work::SignUps);
        loop {
            filled.borrow_and_update();
            let working = async {
                let worked = self.mail_some().await.unwrap_or_else(|error| {
                    tracing::warn!(error = %error.causes(), "links to sign up with cannot be mailed; it is tried again shortly");
                    false
                });
                if !worked {
                    tokio::select! {
                        _ = filled.changed() => {}
                        () = tokio::time::sleep(LOOK_EVERY) => {}
                    }
                }
            };
            // Dropped wherever it stands: what was claimed is tried again after its lease.
            tokio::select! {
                biased;
                () = &mut shutdown => return,
                () = working => {}
            }
        }
    }

    /// Mails some links; `true` when there were any to mail.
    pub(super) async fn mail_some(&self) -> Result<bool, Error> {
        let worked = mail_sign_up_links(&self.auth).await?;
        self.auth.worked(WorkerLoop::SignUps);
        Ok(worked)
    }
}
