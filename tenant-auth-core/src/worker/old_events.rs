//! The sweep of events (retention of the audit log), log by log: which ones to shorten is read outside of any transaction, each once in a
//! sweep, and each is shortened in transactions of its own. So a log that cannot be shortened, because its organization is held for long or
//! its first event is needed, keeps no other from it and is not walked again.

use super::Worker;
use crate::{
    error::Error,
    id::OrgId,
    metrics::WorkerLoop,
    store::{Retention, Swept},
    time::Timestamp,
};

impl Worker {
    /// Within it, why a log could not be shortened: the last one's reason.
    pub(super) async fn delete_old_events(&self, retention: Retention) -> Result<Result<(), Error>, Error> {
        let Some(until) = retention.events_until(self.auth.now()) else { return Ok(Ok(())) };
        match self.auth.store().read().await?.event_sweep().has_old_events(until).await {
            Ok(true) => {}
            Ok(false) => return Ok(Ok(())),
            Err(error) => return Ok(Err(error)),
        }
        let mut after = String::new();
        let mut shortened = Ok(());
        loop {
            let orgs = match self.auth.store().read().await?.event_sweep().first_events(&after, until).await {
                Ok(orgs) => orgs,
                Err(error) => return Ok(Err(error)),
            };
            let Some((last, _)) = orgs.last() else { return Ok(shortened) };
            last.as_str().clone_into(&mut after);
            for (org, _) in orgs.iter().filter(|(_, is_old)| *is_old) {
                if let Err(error) = self.shorten(org, until).await? {
                    tracing::warn!(organization_id = %org, error = %error.causes(), "an audit log was not shortened; it is tried again in a minute");
                    self.auth.fails(WorkerLoop::Sweep);
                    shortened = Err(error);
                }
            }
        }
    }

    /// Within it, why this log could not be shortened. The error of a database that lets nothing begin is everybody's.
    async fn shorten(&self, org: &OrgId, until: Timestamp) -> Result<Result<(), Error>, Error> {
        loop {
            let mut tx = self.auth.begin().await?;
            let deleting = async {
                let deleted = tx.event_sweep().shorten(org, until).await?;
                tx.commit().await?;
                Ok(deleted)
            };
            match deleting.await {
                Ok(deleted) => {
                    self.auth.metrics().swept(Swept::Events, deleted);
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
