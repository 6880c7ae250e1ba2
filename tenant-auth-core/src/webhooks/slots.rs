//! Concurrency limits of deliveries: 128 attempts per process; per endpoint 8 if its last answer took at most 1 s, else 2; 1 while
//! it fails, and 32 for all failing endpoints together. So slow or hanging receivers cannot starve the others.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use tokio::task::Id as TaskId;

use crate::{id::WebhookId, model::Webhook, store::DueEndpoint};

/// The concurrency limit of this process.
const SLOTS: usize = 128;
/// The limit of one endpoint whose last answer was quick.
const SLOTS_OF_A_QUICK_ONE: usize = 8;
/// The limit of one endpoint that is not known to be quick.
const SLOTS_OF_ONE: usize = 2;
/// The limit of all failing endpoints together; each has at most one.
const SLOTS_OF_FAILING: usize = 32;
/// The longest time an attempt may take to count as quick.
const QUICK: Duration = Duration::from_secs(1);
/// How many quick endpoints are remembered. Beyond it, the set is cleared, and each endpoint's next attempt measures it again; so
/// memory stays bounded.
const REMEMBERED: usize = 10_000;

/// The attempts that hold a slot of the concurrency limits, by task.
#[derive(Debug, Default)]
pub(super) struct Slots {
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
pub(super) struct FreeSlots<'a> {
    quick: &'a HashSet<WebhookId>,
    all: usize,
    failing: usize,
    taken: HashMap<WebhookId, usize>,
}

impl Slots {
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

    pub(super) fn free_slots(&self) -> FreeSlots<'_> {
        let mut taken: HashMap<WebhookId, usize> = HashMap::new();
        for slot in self.taken.values() {
            *taken.entry(slot.webhook.clone()).or_default() += 1;
        }
        let failing = self.taken.values().filter(|slot| slot.is_failing).count();
        FreeSlots {
            quick: &self.quick,
            all: SLOTS.saturating_sub(self.taken.len()),
            failing: SLOTS_OF_FAILING.saturating_sub(failing),
            taken,
        }
    }
}

impl FreeSlots<'_> {
    pub(super) fn are_none(&self) -> bool {
        self.all == 0
    }

    /// Gives out no slot at all.
    pub(super) fn close(&mut self) {
        self.all = 0;
    }

    /// How many more attempts the limits allow at one endpoint.
    pub(super) fn of(&self, endpoint: &DueEndpoint) -> usize {
        let most = match (endpoint.is_failing, self.quick.contains(&endpoint.id)) {
            (true, _) => 1.min(self.failing),
            (false, true) => SLOTS_OF_A_QUICK_ONE,
            (false, false) => SLOTS_OF_ONE,
        };
        most.saturating_sub(self.taken.get(&endpoint.id).copied().unwrap_or_default()).min(self.all)
    }

    pub(super) fn promise(&mut self, endpoint: &DueEndpoint, slots: usize) {
        self.all = self.all.saturating_sub(slots);
        self.failing = self.failing.saturating_sub(if endpoint.is_failing { slots } else { 0 });
        *self.taken.entry(endpoint.id.clone()).or_default() += slots;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{id::Id, ports::OsEntropy, time::Timestamp};

    fn endpoint(is_failing: bool) -> DueEndpoint {
        DueEndpoint { id: Id::generate(Timestamp::from_millis(0), &OsEntropy), is_failing, due: None }
    }

    #[test]
    fn an_endpoint_earns_its_slots_by_answering_quickly_and_loses_them_by_not() {
        let (mut slots, endpoint) = (Slots::default(), endpoint(false));
        assert_eq!(slots.free_slots().of(&endpoint), SLOTS_OF_ONE);
        slots.learn(&endpoint.id, true, Duration::from_millis(20));
        assert_eq!(slots.free_slots().of(&endpoint), SLOTS_OF_A_QUICK_ONE);
        slots.learn(&endpoint.id, true, QUICK * 2);
        assert_eq!(slots.free_slots().of(&endpoint), SLOTS_OF_ONE);
        slots.learn(&endpoint.id, true, Duration::ZERO);
        slots.learn(&endpoint.id, false, Duration::ZERO);
        assert_eq!(slots.free_slots().of(&endpoint), SLOTS_OF_ONE);
    }

    #[test]
    fn however_many_fail_they_leave_three_quarters_to_the_others() {
        let slots = Slots::default();
        let mut free = slots.free_slots();
        let mut served = 0;
        for failing in (0..1_000).map(|_| endpoint(true)) {
            let share = free.of(&failing);
            free.promise(&failing, share);
            served += share;
            assert_eq!(free.of(&failing), 0, "one slot each");
        }
        assert_eq!((served, free.all), (SLOTS_OF_FAILING, SLOTS - SLOTS_OF_FAILING));
        assert_eq!(free.of(&endpoint(false)), SLOTS_OF_ONE);
    }

    #[test]
    fn no_more_is_promised_than_there_is() {
        let slots = Slots::default();
        let mut free = slots.free_slots();
        let served: usize = std::iter::repeat_with(|| endpoint(false))
            .take(1_000)
            .map(|endpoint| {
                let share = free.of(&endpoint);
                free.promise(&endpoint, share);
                share
            })
            .sum();
        assert!(served == SLOTS && free.are_none());
    }
}
