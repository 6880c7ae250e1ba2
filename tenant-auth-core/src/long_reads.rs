//! The turns of long reads: searches and filters that no index serves, each of which may read all that its organization has. The turns are
//! shared out among organizations, and leave connections to everything else: one tenant's searches must not be all tenants' wait.

use std::{
    collections::HashMap,
    pin::pin,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    deadline,
    error::{Error, Overload},
    id::OrgId,
};

/// How many an organization has at a time.
const OF_ORGANIZATION: usize = 2;
/// How long is waited for a turn: as long as for a connection.
const PATIENCE: Duration = Duration::from_secs(8);

/// The long reads of this process.
#[derive(Debug)]
pub(crate) struct LongReads {
    all: Arc<Semaphore>,
    /// Of the organizations that read or wait now.
    of_organizations: Mutex<HashMap<OrgId, Weak<Semaphore>>>,
}

/// A turn, given back when dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    _of_all: OwnedSemaphorePermit,
    _of_organization: OwnedSemaphorePermit,
}

impl LongReads {
    /// With so many connections, of which half are for them.
    pub(crate) fn among(connections: u32) -> Self {
        let most = usize::try_from(connections / 2).unwrap_or(usize::MAX).max(1);
        Self { all: Arc::new(Semaphore::new(most)), of_organizations: Mutex::default() }
    }

    /// Waits for a turn of this organization.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when none is free in time.
    pub(crate) async fn turn(&self, org: &OrgId) -> Result<Turn, Error> {
        let own = self.of_organization(org);
        let waiting = async {
            // First its own: while an organization waits for itself it keeps nobody else waiting.
            let of_organization = own.acquire_owned().await.map_err(Error::internal)?;
            let of_all = Arc::clone(&self.all).acquire_owned().await.map_err(Error::internal)?;
            Ok(Turn { _of_all: of_all, _of_organization: of_organization })
        };
        deadline::wait(PATIENCE, pin!(waiting)).await.map_err(|_| Error::from(Overload::LongReads))?
    }

    fn of_organization(&self, org: &OrgId) -> Arc<Semaphore> {
        let mut known = self.of_organizations.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = known.get(org).and_then(Weak::upgrade) {
            return own;
        }
        known.retain(|_, of_other| of_other.strong_count() > 0);
        let own = Arc::new(Semaphore::new(OF_ORGANIZATION));
        known.insert(org.clone(), Arc::downgrade(&own));
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Id;

    fn org(number: usize) -> OrgId {
        Id::from_stored(format!("org_{number}"))
    }

    #[tokio::test(start_paused = true)]
    async fn an_organization_has_two_at_a_time_and_keeps_no_other_waiting() {
        let reads = LongReads::among(10);
        let first = reads.turn(&org(1)).await.expect("a turn");
        let _second = reads.turn(&org(1)).await.expect("a second one");
        assert!(matches!(reads.turn(&org(1)).await, Err(Error::Unavailable(_))), "no third one");
        reads.turn(&org(2)).await.expect("another's turn");
        drop(first);
        reads.turn(&org(1)).await.expect("a turn that is free again");
    }

    #[tokio::test(start_paused = true)]
    async fn all_together_have_half_of_the_connections() {
        let reads = LongReads::among(10);
        let mut turns = Vec::new();
        for number in 0..5 {
            turns.push(reads.turn(&org(number)).await.expect("a turn"));
        }
        assert!(matches!(reads.turn(&org(5)).await, Err(Error::Unavailable(_))), "the others are for everything else");
        turns.clear();
        reads.turn(&org(5)).await.expect("all are free again");
        LongReads::among(1).turn(&org(1)).await.expect("where there is one connection, too");
    }

    #[tokio::test]
    async fn nothing_is_kept_of_organizations_that_read_no_more() {
        let reads = LongReads::among(10);
        for number in 0..1_000 {
            reads.turn(&org(number)).await.expect("a turn");
        }
        assert!(reads.of_organizations.lock().expect("no panic").len() <= 2);
    }
}
