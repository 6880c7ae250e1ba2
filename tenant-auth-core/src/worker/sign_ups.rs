//! The loop that mails the links of sign-up, beside the sending of other mails: a flood of requests delays no organization's mail.

use std::{future::Future, pin::pin, time::Duration};

use tokio::time::timeout;

use super::{STOP_WITHIN, Worker};
use crate::{error::Error, metrics::WorkerLoop, org::SignUpPost, store::Work};

/// How often requests are looked for when no commit of this process wakes the loop.
const LOOK_EVERY: Duration = Duration::from_secs(5);

impl Worker {
    pub(super) async fn mail_sign_ups_until(&self, shutdown: impl Future<Output = ()>) {
        let mut shutdown = pin!(shutdown);
        let mut filled = self.auth.work_left(Work::SignUps);
        let mut post = SignUpPost::new(&self.auth);
        loop {
            filled.borrow_and_update();
            let working = async {
                if let Err(error) = self.begin_some(&mut post).await {
                    tracing::warn!(error = %error.causes(), "links to sign up with cannot be mailed; it is tried again shortly");
                    tokio::time::sleep(LOOK_EVERY).await;
                    return;
                }
                let one_is_done = async {
                    while let Some(ended) = post.ended().await {
                        match ended {
                            Ok(true) => return,
                            // Another worker claimed it.
                            Ok(false) => {}
                            Err(error) => warn(&error),
                        }
                    }
                    std::future::pending().await
                };
                tokio::select! {
                    () = one_is_done => {}
                    _ = filled.changed() => {}
                    () = tokio::time::sleep(LOOK_EVERY) => {}
                }
            };
            // Dropped wherever it stands: the attempts go on.
            tokio::select! {
                biased;
                () = &mut shutdown => break,
                () = working => {}
            }
        }
        let ending = async {
            while let Some(ended) = post.ended().await {
                drop(ended.inspect_err(warn));
            }
        };
        if timeout(STOP_WITHIN, ending).await.is_err() {
            tracing::info!("links to sign up with that are being mailed are let go; they are tried again after their leases");
        }
    }

    /// Mails some links; `true` when there were any to mail.
    pub(super) async fn mail_some(&self) -> Result<bool, Error> {
        let worked = SignUpPost::new(&self.auth).round().await?;
        self.auth.worked(WorkerLoop::SignUps);
        Ok(worked)
    }

    /// Begins to mail what is due.
    async fn begin_some(&self, post: &mut SignUpPost) -> Result<(), Error> {
        post.begin().await?;
        self.auth.worked(WorkerLoop::SignUps);
        Ok(())
    }
}

fn warn(error: &Error) {
    tracing::warn!(error = %error.causes(), "what became of a link to sign up with was not recorded");
}
