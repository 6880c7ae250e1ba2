//! Background work: deliveries, mails, requests for reset mails, links to sign up with, the removal of organizations and the sweep of
//! expired rows, each in a loop of its own, so that a slow mail server delays no webhook. Work is claimed with a lease, done outside any
//! transaction and recorded afterwards. So several workers, in one process or many, share the work, and when one of them dies, another
//! takes over once the lease has expired.

mod mails;
mod old_events;
mod removals;
mod reset_requests;
mod rounds;
mod scrape;
mod set_back;
mod sign_ups;

use std::{future::Future, pin::pin, time::Duration};

use tokio::sync::watch;

use crate::{
    audit::checkpoints,
    error::Error,
    metrics::{Label, WorkerLoop},
    org::revoke_ended_invites,
    service::TenantAuth,
    store::{Retention, Swept},
    webhooks::{Dispatcher, LANES},
};
use mails::Post;

/// The interval of the sweep.
const SWEEP_EVERY: Duration = Duration::from_secs(60);
/// How long a stop waits for mails: most are sent within it, and what hangs is let go and tried again once its lease has expired.
const STOP_WITHIN: Duration = Duration::from_secs(3);
/// Between the first rounds of two loops. All at once they would open a connection each, which stays: on SQLite that is a thread with a
/// cache and the whole schema of its own.
const APART: Duration = Duration::from_millis(20);

/// The background worker of a service. Run at least one for mails to be sent, events to be delivered and expired rows to be
/// deleted.
#[derive(Clone, Debug)]
pub struct Worker {
    auth: TenantAuth,
}

impl TenantAuth {
    /// A background worker of this service.
    pub fn worker(&self) -> Worker {
        Worker { auth: self.clone() }
    }
}

impl Worker {
    /// The most attempts of deliveries and mails that one worker makes at a time. Each may have a connection of its own, and so a file
    /// descriptor; those that a sender keeps open between attempts (`HttpSender::CONNECTIONS`) come on top.
    pub const ATTEMPTS: usize = LANES + mails::CONNECTIONS;

    /// Runs until `shutdown` is ready. Deliveries that are being made then are finished; mails have three seconds, and what is not
    /// sent by then is tried again after its lease, 45 seconds at most. A sweep or a removal ends where it stands, and goes on with the
    /// next worker.
    pub async fn run_until(&self, shutdown: impl Future<Output = ()>) {
        let (stop, stopped) = watch::channel(false);
        let announce = async {
            shutdown.await;
            stop.send_replace(true);
        };
        // A loop whose first round fails or does not end is late from here on.
        WorkerLoop::ALL.iter().for_each(|of| self.auth.worked(*of));
        // Boxed, so that a host does not carry the loops about in its own futures.
        let deliveries = Box::pin(Dispatcher::new(&self.auth).run_until(told(stopped.clone())));
        let mails = Box::pin(after(1, Post::new(&self.auth).run_until(told(stopped.clone()))));
        let requests = Box::pin(after(2, self.fulfil_requests_until(told(stopped.clone()))));
        let sign_ups = Box::pin(after(3, self.mail_sign_ups_until(told(stopped.clone()))));
        let removals = Box::pin(after(4, self.remove_until(told(stopped.clone()))));
        let sweep = Box::pin(after(5, self.sweep_until(told(stopped))));
        tokio::join!(announce, deliveries, mails, requests, sign_ups, removals, sweep);
    }

    /// Runs one round: delivers and sends what is due, removes organizations, then sweeps. For tests and for hosts with a scheduler of
    /// their own. It takes as long as its slowest mail, which a mail server may take ten minutes over ([`Mailer::time_limit`]).
    ///
    /// [`Mailer::time_limit`]: crate::ports::Mailer::time_limit
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the database is away, and at the end of the round when an organization could not be told of a blocked
    /// login, as while it is held; what could not be delivered or sent is no error.
    pub async fn tick(&self) -> Result<(), Error> {
        let told = self.auth.tell_blocked_logins().await;
        Dispatcher::new(&self.auth).drain().await?;
        self.auth.worked(WorkerLoop::Deliveries);
        while self.fulfil_some().await? {}
        while self.mail_some().await? {}
        Post::new(&self.auth).drain().await?;
        self.auth.worked(WorkerLoop::Mails);
        self.remove().await?;
        self.sweep().await?;
        told
    }

    async fn sweep_until(&self, shutdown: impl Future<Output = ()>) {
        let mut shutdown = pin!(shutdown);
        loop {
            let sweeping = async {
                if let Err(error) = self.sweep().await {
                    tracing::warn!(error = %error.causes(), "sweeping failed; it is tried again in a minute");
                }
                tokio::time::sleep(SWEEP_EVERY).await;
            };
            // Dropped wherever it stands: each transaction of a sweep stands alone.
            tokio::select! {
                biased;
                () = &mut shutdown => return,
                () = sweeping => {}
            }
        }
    }

    /// Deletes what has ended, tells of invites that ended with their keys, and signs the audit logs that are due.
    pub(crate) async fn sweep(&self) -> Result<(), Error> {
        let swept = self.sweep_once().await;
        match swept {
            Ok(()) => self.auth.worked(WorkerLoop::Sweep),
            Err(_) => self.auth.fails(WorkerLoop::Sweep),
        }
        swept
    }

    async fn sweep_once(&self) -> Result<(), Error> {
        self.bring_back().await?;
        Box::pin(revoke_ended_invites(&self.auth)).await;
        Box::pin(self.auth.marks().advance(self.auth.transactions(), || self.auth.now())).await?;
        if let Some(leap) = self.auth.clock_leap() {
            tracing::error!(
                seconds = leap.as_secs(),
                "the clock was set forward by more than an hour; nothing is deleted or signed until it is put right, or until a restart says that it is"
            );
            return Ok(());
        }
        let swept = self.delete_ended().await;
        checkpoints::sign_due(&self.auth).await?;
        swept
    }

    /// Deletes each kind, also where another could not be deleted, for it waits behind a lock or takes too long. The error is the last
    /// one's, or that of a database that lets nothing begin.
    async fn delete_ended(&self) -> Result<(), Error> {
        let config = self.auth.config();
        let longest_token = config.generation_ttl().max(config.login.partial_token_ttl);
        let days = |days: u32| Duration::from_secs(24 * 3_600 * u64::from(days));
        let retention = Retention {
            grace: config.sessions.refresh_grace,
            longest_token,
            events: Some(config.audit.retention_days).filter(|kept| *kept > 0).map(days),
            contexts: days(config.audit.context_days),
        };
        let mut swept = Ok(());
        for kind in Swept::ALL {
            let deleted = match kind {
                Swept::Events => self.delete_old_events(retention).await?,
                kind => self.delete_kind(kind, retention).await?,
            };
            if let Err(error) = deleted {
                tracing::warn!(?kind, error = %error.causes(), "what has ended of a kind was not deleted");
                self.auth.fails(WorkerLoop::Sweep);
                swept = Err(error);
            }
        }
        swept
    }

    /// Within it, why this kind could not be deleted.
    async fn delete_kind(&self, kind: Swept, retention: Retention) -> Result<Result<(), Error>, Error> {
        loop {
            let mut tx = self.auth.begin().await?;
            let deleting = async {
                let deleted = tx.sweep().run(kind, retention).await?;
                tx.commit().await?;
                Ok(deleted)
            };
            match deleting.await {
                Ok(deleted) => {
                    self.auth.metrics().swept(kind, deleted);
                    self.auth.gets_on(WorkerLoop::Sweep);
                    if deleted < Swept::BATCH {
                        return Ok(Ok(()));
                    }
                }
                Err(error) => return Ok(Err(error)),
            }
        }
    }
}

/// A loop, once so many others have begun.
async fn after(others: u32, begun: impl Future<Output = ()>) {
    tokio::time::sleep(APART * others).await;
    begun.await;
}

/// Ready once the flag is up, or its sender is gone.
async fn told(mut flag: watch::Receiver<bool>) {
    let _ = flag.wait_for(|up| *up).await;
}
