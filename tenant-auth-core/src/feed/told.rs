//! Up to where this process may tell of each organization's events. An event that tells of an ended or narrowed right may be told once no
//! process can honour the right any more, as a webhook's may (`webhooks/tellable.rs`). One wait serves all events that were there when it
//! began, so that whoever reads an old organization from its first event waits once.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{id::OrgId, model::EventKind};

/// The most organizations that are remembered. With one more all are forgotten, which costs each a wait.
const MOST: usize = 16_384;

/// The number of the last event of each organization that was waited for.
#[derive(Debug, Default)]
pub(crate) struct Told(Mutex<HashMap<OrgId, i64>>);

impl Told {
    /// How far was waited for an organization whose newest event has this number. A number beyond it is of events that a fail-over or a
    /// restored backup lost: those that take their places are to be waited for.
    pub(super) fn up_to(&self, org: &OrgId, newest: i64) -> i64 {
        let mut told = self.inner();
        if told.get(org).is_some_and(|up_to| *up_to > newest) {
            told.remove(org);
        }
        told.get(org).copied().unwrap_or(0)
    }

    /// A wait that began when this event was there is over.
    pub(super) fn waited(&self, org: &OrgId, up_to: i64) {
        let mut told = self.inner();
        if told.len() >= MOST && !told.contains_key(org) {
            told.clear();
        }
        let known = told.entry(org.clone()).or_default();
        *known = up_to.max(*known);
    }

    fn inner(&self) -> MutexGuard<'_, HashMap<OrgId, i64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether an event must be waited for. One of another version's kind may be of such a kind.
pub(super) fn tells_of_less(kind: &str) -> bool {
    EventKind::parse(kind).is_none_or(EventKind::tells_of_less)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn org(n: usize) -> OrgId {
        OrgId::from_stored(format!("org_{n}"))
    }

    #[test]
    fn what_was_waited_for_is_remembered_as_far_as_it_is_there() {
        let told = Told::default();
        assert_eq!(told.up_to(&org(1), 9), 0);
        told.waited(&org(1), 7);
        told.waited(&org(1), 5);
        assert_eq!((told.up_to(&org(1), 9), told.up_to(&org(2), 9)), (7, 0));
        assert_eq!((told.up_to(&org(1), 6), told.up_to(&org(1), 9)), (0, 0), "events were lost, and others take their places");
    }

    #[test]
    fn the_memory_is_bounded() {
        let told = Told::default();
        (0..=MOST).for_each(|n| told.waited(&org(n), 1));
        let kept = told.inner().len();
        assert_eq!((kept, told.up_to(&org(MOST), 1), told.up_to(&org(0), 1)), (1, 1, 0));
    }
}
