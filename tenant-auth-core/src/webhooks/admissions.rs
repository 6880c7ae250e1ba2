//! Concurrency limits of the name lookups for new webhooks. The system's resolver blocks a thread for as long as a name server is
//! silent, so lookups are few; and one organization has one at a time, so that slow names of one tenant hold up nobody else.

use std::{
    collections::HashMap,
    pin::pin,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

use crate::{
    deadline,
    error::{Error, Overload},
    id::OrgId,
};

/// The concurrency limit of one process.
const LOOKUPS: usize = 32;
/// How long a lookup waits for the one before it in its organization, and for a free place in the process.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many organizations may be remembered before unused entries are removed; so memory stays bounded.
const MANY: usize = 256;

/// The places for lookups in this process.
#[derive(Debug)]
pub(crate) struct Admissions {
    process: Semaphore,
    organizations: Mutex<HashMap<OrgId, Weak<Semaphore>>>,
}

/// The right to look up one name; given back when dropped.
#[derive(Debug)]
pub(super) struct Place<'a> {
    _organization: OwnedSemaphorePermit,
    _process: SemaphorePermit<'a>,
}

impl Default for Admissions {
    fn default() -> Self {
        Self { process: Semaphore::new(LOOKUPS), organizations: Mutex::default() }
    }
}

impl Admissions {
    /// Waits for the organization's place, then for one of the process.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when neither becomes free in time.
    pub(super) async fn enter(&self, org: &OrgId) -> Result<Place<'_>, Error> {
        let entering = async {
            let organization = self.of(org).acquire_owned().await?;
            Ok::<_, tokio::sync::AcquireError>(Place { _organization: organization, _process: self.process.acquire().await? })
        };
        let entered = deadline::wait(PATIENCE, pin!(entering)).await;
        entered.map_err(|_| Overload::WebhookLookups)?.map_err(Error::internal)
    }

    fn of(&self, org: &OrgId) -> Arc<Semaphore> {
        let mut organizations = self.organizations.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = organizations.get(org).and_then(Weak::upgrade) {
            return place;
        }
        if organizations.len() >= MANY {
            organizations.retain(|_, place| place.strong_count() > 0);
        }
        let place = Arc::new(Semaphore::new(1));
        organizations.insert(org.clone(), Arc::downgrade(&place));
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{id::Id, ports::OsEntropy, time::Timestamp};

    fn organization() -> OrgId {
        Id::generate(Timestamp::from_millis(0), &OsEntropy)
    }

    #[tokio::test(start_paused = true)]
    async fn an_organization_looks_up_one_name_at_a_time_and_hinders_no_other() {
        let (admissions, slow) = (Admissions::default(), organization());
        let first = admissions.enter(&slow).await.expect("a place");
        let began = tokio::time::Instant::now();
        assert!(matches!(admissions.enter(&slow).await, Err(Error::Unavailable(_))), "its only place is taken");
        assert_eq!(began.elapsed(), PATIENCE);
        let (second, ()) = tokio::join!(admissions.enter(&slow), async {
            let _others: Vec<_> = all_others(&admissions).await;
            drop(first);
        });
        assert!(second.is_ok(), "it waits for its turn");
    }

    /// One lookup for each of as many other organizations as the process has left.
    async fn all_others(admissions: &Admissions) -> Vec<Place<'_>> {
        let mut places = Vec::new();
        for _ in 1..LOOKUPS {
            places.push(admissions.enter(&organization()).await.expect("a place beside the slow one"));
        }
        places
    }
}
