//! Organizations whose next event may not be told yet. Each is waited for by a task of its own, so that nobody else's events wait with it,
//! and so that the wait goes on when whoever asks for the next event stops asking and asks again.

use std::collections::HashSet;

use tokio::task::{JoinError, JoinSet};

use super::until_told;
use crate::{id::OrgId, service::TenantAuth};

#[derive(Default)]
pub(super) struct Held {
    orgs: HashSet<OrgId>,
    waits: JoinSet<OrgId>,
}

impl Held {
    /// Holds an organization until all its events up to the newest may be told.
    pub(super) fn hold(&mut self, auth: &TenantAuth, org: &OrgId, newest: i64) {
        if self.orgs.insert(org.clone()) {
            let (auth, org) = (auth.clone(), org.clone());
            self.waits.spawn(async move {
                until_told(&auth, &org, newest).await;
                org
            });
        }
    }

    pub(super) fn has(&self, org: &OrgId) -> bool {
        self.orgs.contains(org)
    }

    /// Waits for an organization that is held no longer; for ever, when none is held.
    pub(super) async fn released(&mut self) -> Option<OrgId> {
        match self.waits.join_next().await {
            Some(done) => self.release(done),
            None => std::future::pending().await,
        }
    }

    /// The same without waiting.
    pub(super) fn try_released(&mut self) -> Option<OrgId> {
        let done = self.waits.try_join_next()?;
        self.release(done)
    }

    /// When a wait did not come to its end, nobody is held any longer: whose events may not be told yet is found out again.
    fn release(&mut self, done: Result<OrgId, JoinError>) -> Option<OrgId> {
        match done {
            Ok(org) => {
                self.orgs.remove(&org);
                Some(org)
            }
            Err(_) => {
                *self = Self::default();
                None
            }
        }
    }
}
