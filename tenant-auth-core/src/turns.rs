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
    /// Those of all organizations together.
    all: Arc<Semaphore>,
    of_organizations: Mutex<HashMap<OrgId, Weak<Semaphore>>>,
    of_each: usize,
    patience: Duration,
    full: Full,
}

/// What a refusal names: the turns of an organization, which are its own affair, or those of all.
#[derive(Debug, Clone, Copy)]
struct Full {
    of_organization: Overload,
    of_all: Overload,
}

/// One turn, given back when dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    _of_all: OwnedSemaphorePermit,
    _of_organization: OwnedSemaphorePermit,
}

impl Turns {
    /// Searches and filters that no index serves, each of which may read all that its organization has: half of the connections are left
    /// to everything else. A turn is waited for as long as a connection. Where there are few of all, an organization has one, or it alone
    /// would keep all others waiting.
    pub(crate) fn of_long_reads(connections: u32) -> Self {
        let all = usize::try_from(connections / 2).unwrap_or(usize::MAX).max(1);
        let full = Full { of_organization: Overload::LongReads, of_all: Overload::LongReadsOfAll };
        Self::new(all, if all > 2 { 2 } else { 1 }, Duration::from_secs(8), full)
    }

    /// Lookups of the names of new webhooks. The system's resolver blocks a thread for as long as a name server is silent.
    pub(crate) fn of_name_lookups() -> Self {
        let full = Full { of_organization: Overload::WebhookLookups, of_all: Overload::WebhookLookupsOfAll };
        Self::new(32, 1, Duration::from_secs(10), full)
    }

    /// Writes of callers. All those of an organization lock its row, and whoever waits for the row holds a connection: an organization has
    /// a third of them, rounded up, so that where there are a few its next write comes while one commits. All together leave a quarter of
    /// them, rounded up, to everything else: whoever signs up a few organizations could hold all otherwise. A turn is waited for as long as
    /// SQLite's one writer.
    pub(crate) fn of_writes(connections: u32) -> Self {
        let turns = |most: u32| usize::try_from(most).unwrap_or(usize::MAX).max(1);
        let all = turns(connections - connections.div_ceil(4));
        let full = Full { of_organization: Overload::Writes, of_all: Overload::WritesOfAll };
        Self::new(all, turns(connections.div_ceil(3)), Duration::from_secs(10), full)
    }

    fn new(all: usize, of_each: usize, patience: Duration, full: Full) -> Self {
        Self { all: Arc::new(Semaphore::new(all)), of_organizations: Mutex::default(), of_each, patience, full }
    }

    /// Waits for a turn of this organization.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when none is free in time.
    pub(crate) async fn turn(&self, org: &OrgId) -> Result<Turn, Error> {
        let own = self.of_organization(org);
        let mut full = self.full.of_organization;
        let waiting = async {
            // First its own: while an organization waits for itself it keeps nobody else waiting.
            let of_organization = own.acquire_owned().await.map_err(Error::internal)?;
            full = self.full.of_all;
            let of_all = Arc::clone(&self.all).acquire_owned().await.map_err(Error::internal)?;
            Ok(Turn { _of_all: of_all, _of_organization: of_organization })
        };
        let turn = deadline::wait(self.patience, pin!(waiting)).await;
        turn.map_err(|_| Error::from(full))?
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

    /// What a refusal says is full.
    fn full(refused: Result<Turn, Error>) -> Option<Overload> {
        match refused {
            Err(Error::Unavailable(cause)) => cause.downcast_ref().copied(),
            _ => None,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_organization_has_few_at_a_time_and_keeps_no_other_waiting() {
        let (busy, other) = (org(1), org(2));
        for (turns, of_each, own) in
            [(Turns::of_long_reads(10), 2, Overload::LongReads), (Turns::of_name_lookups(), 1, Overload::WebhookLookups)]
        {
            let mut taken = Vec::new();
            for _ in 0..of_each {
                taken.push(turns.turn(&busy).await.expect("a turn"));
            }
            let began = tokio::time::Instant::now();
            assert_eq!(full(turns.turn(&busy).await), Some(own), "no further one");
            assert_eq!(began.elapsed(), turns.patience);
            let (next, ()) = tokio::join!(turns.turn(&busy), async {
                turns.turn(&other).await.expect("another's turn");
                taken.pop();
            });
            next.expect("a turn that is free again");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_organizations_writes_have_a_third_of_the_connections_and_all_leave_a_quarter() {
        for (connections, of_each, all) in
            [(0, 1, 1), (1, 1, 1), (2, 1, 1), (3, 1, 2), (4, 2, 3), (6, 2, 4), (8, 3, 6), (10, 4, 7), (30, 10, 22)]
        {
            let turns = Turns::of_writes(connections);
            let mut taken = Vec::new();
            for _ in 0..of_each {
                taken.push(turns.turn(&org(1)).await.expect("a turn"));
            }
            assert_eq!(full(turns.turn(&org(1)).await), Some(Overload::Writes), "with {connections}");
            for other in of_each..all {
                taken.push(turns.turn(&org(2 + other)).await.expect("another's turn"));
            }
            assert_eq!(full(turns.turn(&org(2 + all)).await), Some(Overload::WritesOfAll), "the rest is left, with {connections}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn of_few_connections_no_organization_takes_what_all_have() {
        for connections in 1..6 {
            let turns = Turns::of_long_reads(connections);
            let _one = turns.turn(&org(1)).await.expect("a turn");
            assert_eq!(full(turns.turn(&org(1)).await), Some(Overload::LongReads), "its own affair, with {connections}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn all_together_have_so_many() {
        let (reads, lookups) = (Overload::LongReadsOfAll, Overload::WebhookLookupsOfAll);
        for (turns, all, shared) in
            [(Turns::of_long_reads(10), 5, reads), (Turns::of_long_reads(1), 1, reads), (Turns::of_name_lookups(), 32, lookups)]
        {
            let mut taken = Vec::new();
            for number in 0..all {
                taken.push(turns.turn(&org(number)).await.expect("a turn"));
            }
            assert_eq!(full(turns.turn(&org(all)).await), Some(shared), "no further one");
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
