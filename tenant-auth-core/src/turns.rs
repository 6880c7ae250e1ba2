//! Turns at what all organizations of a process share and a single one could take for itself: each organization has few at a time, so
//! that one tenant's wait is not all tenants' wait.

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

/// How many organizations may be remembered before unused ones are forgotten; so memory stays bounded.
const MANY: usize = 256;

/// The turns at one kind of work.
#[derive(Debug)]
pub(crate) struct Turns {
    all: Arc<Semaphore>,
    of_organizations: Mutex<HashMap<OrgId, Weak<Semaphore>>>,
    of_each: usize,
    patience: Duration,
    full: Overload,
}

/// One turn, given back when dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    _of_all: OwnedSemaphorePermit,
    _of_organization: OwnedSemaphorePermit,
}

impl Turns {
    /// Searches and filters that no index serves, each of which may read all that its organization has: half of the connections are left
    /// to everything else. A turn is waited for as long as a connection.
    pub(crate) fn of_long_reads(connections: u32) -> Self {
        let all = usize::try_from(connections / 2).unwrap_or(usize::MAX).max(1);
        Self::new(all, 2, Duration::from_secs(8), Overload::LongReads)
    }

    /// Lookups of the names of new webhooks. The system's resolver blocks a thread for as long as a name server is silent.
    pub(crate) fn of_name_lookups() -> Self {
        Self::new(32, 1, Duration::from_secs(10), Overload::WebhookLookups)
    }

    fn new(all: usize, of_each: usize, patience: Duration, full: Overload) -> Self {
        Self { all: Arc::new(Semaphore::new(all)), of_organizations: Mutex::default(), of_each, patience, full }
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
        deadline::wait(self.patience, pin!(waiting)).await.map_err(|_| Error::from(self.full))?
    }

    fn of_organization(&self, org: &OrgId) -> Arc<Semaphore> {
        let mut known = self.of_organizations.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = known.get(org).and_then(Weak::upgrade) {
            return own;
        }
        if known.len() >= MANY {
            known.retain(|_, of_other| of_other.strong_count() > 0);
        }
        let own = Arc::new(Semaphore::new(self.of_each));
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
    async fn an_organization_has_few_at_a_time_and_keeps_no_other_waiting() {
        let (busy, other) = (org(1), org(2));
        for (turns, of_each) in [(Turns::of_long_reads(10), 2), (Turns::of_name_lookups(), 1)] {
            let mut taken = Vec::new();
            for _ in 0..of_each {
                taken.push(turns.turn(&busy).await.expect("a turn"));
            }
            let began = tokio::time::Instant::now();
            assert!(matches!(turns.turn(&busy).await, Err(Error::Unavailable(_))), "no further one");
            assert_eq!(began.elapsed(), turns.patience);
            let (next, ()) = tokio::join!(turns.turn(&busy), async {
                turns.turn(&other).await.expect("another's turn");
                taken.pop();
            });
            next.expect("a turn that is free again");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn all_together_have_so_many() {
        for (turns, all) in [(Turns::of_long_reads(10), 5), (Turns::of_long_reads(1), 1), (Turns::of_name_lookups(), 32)] {
            let mut taken = Vec::new();
            for number in 0..all {
                taken.push(turns.turn(&org(number)).await.expect("a turn"));
            }
            assert!(matches!(turns.turn(&org(all)).await, Err(Error::Unavailable(_))), "no further one");
            taken.clear();
            turns.turn(&org(all)).await.expect("all are free again");
        }
    }

    #[tokio::test]
    async fn little_is_kept_of_organizations_that_wait_no_more() {
        let turns = Turns::of_long_reads(10);
        for number in 0..1_000 {
            turns.turn(&org(number)).await.expect("a turn");
        }
        assert!(turns.of_organizations.lock().expect("no panic").len() <= MANY);
    }
}
