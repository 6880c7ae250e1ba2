//! Those who wait for events. One task of the process looks for all of them together at how far their organizations have come, so
//! that a thousand who wait cost as much as one. Whoever waits holds a place of its own kind, and no connection to the database.

use std::{
    collections::HashMap,
    fmt,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    runtime::Handle,
    sync::Notify,
    time::{Instant, sleep, timeout_at},
};

use crate::{
    error::{Error, Overload},
    id::{KeyId, OrgId},
    one_task::{OneTask, Running},
    store::Store,
};

/// How often is looked while somebody waits.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// The most organizations that one statement looks at.
const AT_ONCE: usize = 1_000;
/// The most questions of one key about one organization that may be open at once.
const MOST_OF_A_KEY: usize = 16;
/// The most questions that may be open at once.
const MOST_OF_ALL: usize = 16_384;
/// When a question that found its key's places taken should come again.
const COME_AGAIN: Duration = Duration::from_secs(1);

/// The places of those who wait.
pub(crate) struct EventWaits(Arc<Shared>);

struct Shared {
    store: Store,
    runtime: Handle,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    of_org: HashMap<OrgId, Waiting>,
    of_key: HashMap<(KeyId, OrgId), usize>,
    of_all: usize,
    looks: OneTask,
}

/// Those who wait for events of one organization.
struct Waiting {
    count: usize,
    /// The least number that one of them has seen.
    seen: i64,
    changed: Arc<Notify>,
}

/// A place, given back when dropped.
pub(crate) struct Place {
    shared: Arc<Shared>,
    org: OrgId,
    key: Option<(KeyId, OrgId)>,
    changed: Arc<Notify>,
}

impl EventWaits {
    pub(crate) fn new(store: Store, runtime: Handle) -> Self {
        Self(Arc::new(Shared { store, runtime, inner: Mutex::default() }))
    }

    /// Takes a place for a question about an organization. Without a key: for the program that holds the service.
    ///
    /// # Errors
    /// [`Error::RateLimited`] when as many questions of this key are open as may be; [`Error::Unavailable`] when as many of all are.
    pub(crate) fn enter(&self, org: &OrgId, key: Option<&KeyId>) -> Result<Place, Error> {
        let mut inner = self.0.inner();
        if inner.of_all >= MOST_OF_ALL {
            return Err(Overload::EventWaits.into());
        }
        let key = key.map(|key| (key.clone(), org.clone()));
        if let Some(key) = &key {
            let of_key = inner.of_key.entry(key.clone()).or_default();
            if *of_key >= MOST_OF_A_KEY {
                return Err(Error::rate_limited(COME_AGAIN));
            }
            *of_key += 1;
        }
        inner.of_all += 1;
        let new = || Waiting { count: 0, seen: i64::MAX, changed: Arc::default() };
        let waiting = inner.of_org.entry(org.clone()).or_insert_with(new);
        waiting.count += 1;
        let changed = Arc::clone(&waiting.changed);
        Ok(Place { shared: Arc::clone(&self.0), org: org.clone(), key, changed })
    }
}

impl Place {
    /// Waits until the organization may have an event beyond this number, but not beyond the deadline.
    pub(crate) async fn beyond(&self, seen: i64, deadline: Instant) {
        let mut changed = pin!(self.changed.notified());
        changed.as_mut().enable();
        {
            let mut inner = self.shared.inner();
            if let Some(waiting) = inner.of_org.get_mut(&self.org) {
                waiting.seen = waiting.seen.min(seen);
            }
            if let Some(looking) = inner.looks.begin() {
                self.shared.runtime.spawn(Arc::clone(&self.shared).look_while_waited_for(looking));
            }
        }
        let _ = timeout_at(deadline, changed).await; // over as well once it is too late
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut inner = self.shared.inner();
        inner.of_all -= 1;
        if let Some(waiting) = inner.of_org.get_mut(&self.org) {
            waiting.count -= 1;
            if waiting.count == 0 {
                inner.of_org.remove(&self.org);
            }
        }
        if let Some(key) = &self.key
            && let Some(of_key) = inner.of_key.get_mut(key)
        {
            *of_key -= 1;
            if *of_key == 0 {
                inner.of_key.remove(key);
            }
        }
    }
}

impl Shared {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn look_while_waited_for(self: Arc<Self>, looking: Running) {
        loop {
            sleep(LOOK_EVERY).await;
            let orgs: Vec<OrgId> = {
                let inner = self.inner();
                if inner.of_org.is_empty() {
                    drop(looking);
                    return;
                }
                inner.of_org.iter().filter(|(_, waiting)| waiting.seen < i64::MAX).map(|(org, _)| org.clone()).collect()
            };
            for orgs in orgs.chunks(AT_ONCE) {
                // Where the database is away, those who wait ask it themselves in the end, and are told.
                if let Ok(heads) = self.heads(orgs).await {
                    self.wake(&heads);
                }
            }
        }
    }

    async fn heads(&self, orgs: &[OrgId]) -> Result<Vec<(OrgId, i64)>, Error> {
        self.store.read().await?.event_feed().newest_of(orgs).await
    }

    fn wake(&self, heads: &[(OrgId, i64)]) {
        let mut inner = self.inner();
        for (org, newest) in heads {
            if let Some(waiting) = inner.of_org.get_mut(org).filter(|waiting| *newest > waiting.seen) {
                // Each of them says anew how far it has seen.
                waiting.seen = i64::MAX;
                waiting.changed.notify_waiters();
            }
        }
    }
}

impl fmt::Debug for EventWaits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventWaits").finish_non_exhaustive()
    }
}
