//! Concurrency limits of deliveries: 128 attempts per process; per endpoint 8 if its last answer took at most 1 s, else 2; 1 while
//! it fails, and 32 for all failing endpoints together. So slow or hanging receivers cannot starve the others.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use tokio::task::Id as TaskId;

use crate::{id::WebhookId, model::Webhook, store::DueEndpoint};

/// The concurrency limit of this process.
const PLACES: usize = 128;
/// The limit of one endpoint whose last answer was quick.
const PLACES_OF_A_QUICK_ONE: usize = 8;
/// The limit of one endpoint that is not known to be quick.
const PLACES_OF_ONE: usize = 2;
/// The limit of all failing endpoints together; each has at most one.
const PLACES_OF_FAILING: usize = 32;
/// The longest time an attempt may take to count as quick.
const QUICK: Duration = Duration::from_secs(1);
/// How many quick endpoints are remembered. Beyond it, the set is cleared, and each endpoint's next attempt measures it again; so
/// memory stays bounded.
const REMEMBERED: usize = 10_000;

/// The attempts that hold a slot of the concurrency limits, by task.
#[derive(Debug, Default)]
pub(super) struct Places {
    taken: HashMap<TaskId, Taken>,
    quick: HashSet<WebhookId>,
}

#[derive(Debug)]
struct Taken {
    webhook: WebhookId,
    is_failing: bool,
}

/// The free slots during one round of claims.
#[derive(Debug)]
pub(super) struct Left<'a> {
    quick: &'a HashSet<WebhookId>,
    all: usize,
    failing: usize,
    taken: HashMap<WebhookId, usize>,
}

impl Places {
    pub(super) fn take(&mut self, task: TaskId, webhook: &Webhook) {
        self.taken.insert(task, Taken { webhook: webhook.id.clone(), is_failing: webhook.failing_since.is_some() });
    }

    /// Frees the slot of a task and returns the webhook that the slot was for.
    pub(super) fn free(&mut self, task: TaskId) -> Option<WebhookId> {
        self.taken.remove(&task).map(|taken| taken.webhook)
    }

    /// Remembers whether an endpoint answered quickly.
    pub(super) fn learn(&mut self, webhook: &WebhookId, succeeded: bool, took: Duration) {
        if !succeeded || took > QUICK {
            self.quick.remove(webhook);
        } else if !self.quick.contains(webhook) {
            if self.quick.len() >= REMEMBERED {
                self.quick.clear();
            }
            self.quick.insert(webhook.clone());
        }
    }

    pub(super) fn are_all_free(&self) -> bool {
        self.taken.is_empty()
    }

    pub(super) fn left(&self) -> Left<'_> {
        let mut taken: HashMap<WebhookId, usize> = HashMap::new();
        for place in self.taken.values() {
            *taken.entry(place.webhook.clone()).or_default() += 1;
        }
        let failing = self.taken.values().filter(|place| place.is_failing).count();
        Left {
            quick: &self.quick,
            all: PLACES.saturating_sub(self.taken.len()),
            failing: PLACES_OF_FAILING.saturating_sub(failing),
            taken,
        }
    }
}

impl Left<'_> {
    pub(super) fn are_none(&self) -> bool {
        self.all == 0
    }

    /// How many more attempts the limits allow at one endpoint.
    pub(super) fn of(&self, endpoint: &DueEndpoint) -> usize {
        let most = match (endpoint.is_failing, self.quick.contains(&endpoint.id)) {
            (true, _) => 1.min(self.failing),
            (false, true) => PLACES_OF_A_QUICK_ONE,
            (false, false) => PLACES_OF_ONE,
        };
        most.saturating_sub(self.taken.get(&endpoint.id).copied().unwrap_or_default()).min(self.all)
    }

    pub(super) fn promise(&mut self, endpoint: &DueEndpoint, places: usize) {
        self.all = self.all.saturating_sub(places);
        self.failing = self.failing.saturating_sub(if endpoint.is_failing { places } else { 0 });
        *self.taken.entry(endpoint.id.clone()).or_default() += places;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{id::Id, ports::OsEntropy, time::Timestamp};

    fn endpoint(is_failing: bool) -> DueEndpoint {
        DueEndpoint { id: Id::generate(Timestamp::from_millis(0), &OsEntropy), is_failing }
    }

    #[test]
    fn an_endpoint_earns_its_places_by_answering_quickly_and_loses_them_by_not() {
        let (mut places, endpoint) = (Places::default(), endpoint(false));
        assert_eq!(places.left().of(&endpoint), PLACES_OF_ONE);
        places.learn(&endpoint.id, true, Duration::from_millis(20));
        assert_eq!(places.left().of(&endpoint), PLACES_OF_A_QUICK_ONE);
        places.learn(&endpoint.id, true, QUICK * 2);
        assert_eq!(places.left().of(&endpoint), PLACES_OF_ONE);
        places.learn(&endpoint.id, true, Duration::ZERO);
        places.learn(&endpoint.id, false, Duration::ZERO);
        assert_eq!(places.left().of(&endpoint), PLACES_OF_ONE);
    }

    #[test]
    fn however_many_fail_they_leave_three_quarters_to_the_others() {
        let places = Places::default();
        let mut left = places.left();
        let mut served = 0;
        for failing in (0..1_000).map(|_| endpoint(true)) {
            let share = left.of(&failing);
            left.promise(&failing, share);
            served += share;
            assert_eq!(left.of(&failing), 0, "one place each");
        }
        assert_eq!((served, left.all), (PLACES_OF_FAILING, PLACES - PLACES_OF_FAILING));
        assert_eq!(left.of(&endpoint(false)), PLACES_OF_ONE);
    }

    #[test]
    fn no_more_is_promised_than_there_is() {
        let places = Places::default();
        let mut left = places.left();
        let served: usize = std::iter::repeat_with(|| endpoint(false))
            .take(1_000)
            .map(|endpoint| {
                let share = left.of(&endpoint);
                left.promise(&endpoint, share);
                share
            })
            .sum();
        assert!(served == PLACES && left.are_none());
    }
}
