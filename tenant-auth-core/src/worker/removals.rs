//! The loop that removes organizations: it orders the deletion of those that nobody came back to, reminds their admins, begins removals
//! whose time has come, and deletes what is left of those that have begun. A large organization takes a while, so the loop stands beside
//! the others. So does a webhook that was disabled or deleted with a long backlog, whose deliveries are ended here, too.

use std::{
    future::Future,
    pin::pin,
    time::{Duration, Instant},
};

use super::Worker;
use crate::{error::Error, metrics::WorkerLoop, operator::Removal, webhooks::finish_ended};

const LOOK_EVERY: Duration = Duration::from_secs(5);
/// How long a round works at what is left of webhooks, and then of organizations, so that others are reminded and begun meanwhile.
const AT_MOST: Duration = Duration::from_secs(10);

impl Worker {
    pub(super) async fn remove_until(&self, shutdown: impl Future<Output = ()>) {
        let mut shutdown = pin!(shutdown);
        loop {
            let removing = async {
                if let Err(error) = self.remove().await {
                    tracing::warn!(error = %error.causes(), "removing organizations failed; it is tried again shortly");
                }
                tokio::time::sleep(LOOK_EVERY).await;
            };
            // Dropped wherever it stands: each transaction of a removal stands alone, and another worker goes on after the lease.
            tokio::select! {
                biased;
                () = &mut shutdown => return,
                () = removing => {}
            }
        }
    }

    /// Does what there is to do now, for a while; no organization is removed while the clock may be wrong, for nothing undoes that.
    pub(super) async fn remove(&self) -> Result<(), Error> {
        let ended = finish_ended(&self.auth, AT_MOST).await;
        if self.auth.clock_leap().is_none() {
            self.remove_due().await?;
        }
        ended?;
        self.auth.worked(WorkerLoop::Removals);
        Ok(())
    }

    async fn remove_due(&self) -> Result<(), Error> {
        self.auth.delete_forsaken().await?;
        self.auth.remind_of_deletions().await?;
        self.auth.begin_due_removals().await?;
        let began = Instant::now();
        while let Some(removal) = Removal::take(&self.auth).await? {
            let org = removal.org().clone();
            if let Err(error) = remove_some(removal, began).await {
                // It is taken again after its lease; the others go on.
                tracing::warn!(organization_id = %org, error = %error.causes(), "removing an organization failed; it is tried again shortly");
            }
            if began.elapsed() >= AT_MOST {
                break;
            }
        }
        Ok(())
    }
}

async fn remove_some(mut removal: Removal, began: Instant) -> Result<(), Error> {
    while removal.go_on().await? {
        if began.elapsed() >= AT_MOST {
            return removal.set_down().await;
        }
    }
    Ok(())
}
