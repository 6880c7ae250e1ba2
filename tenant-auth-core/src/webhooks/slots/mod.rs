//! Concurrency limits of deliveries: 128 attempts per process; per endpoint 8 if its last answer took at most 1 s, else 2; 1 while
//! it fails, and 32 for all failing endpoints together. So slow or hanging receivers cannot starve the others. To an endpoint whose
//! answers take milliseconds more is given than it gets at once: what it will have answered before the next round, which waits in
//! line for one of its lanes.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    sync::Arc,
    time::Duration,
};

use tokio::{sync::Semaphore, task::Id as TaskId, time::Instant};

use crate::{id::WebhookId, store::DueEndpoint};

/// The concurrency limit of this process.
pub(crate) const LANES: usize = 128;
/// The limit of one endpoint whose last answer was quick.
const LANES_OF_A_QUICK_ONE: usize = 8;
/// The limit of one endpoint that is not known to be quick.
const LANES_OF_ONE: usize = 2;
/// The limit of all failing endpoints together; each has at most one.
const LANES_OF_FAILING: usize = 32;
/// The longest time an attempt may take to count as quick.
pub(super) const QUICK: Duration = Duration::from_secs(1);
/// A quick endpoint is given as much as it will answer in this time, at its last pace.
const AHEAD: Duration = Duration::from_millis(50);
/// How many deliveries one lane is given at most.
const MOST_OF_A_LANE: usize = 8;
/// So many quick answers in a row earn each lane one more delivery, so that of an endpoint which fails now and then little goes back.
const ANSWERS_OF_ONE_MORE: usize = LANES_OF_A_QUICK_ONE;
/// How many quick endpoints are remembered. Beyond it, all are forgotten, and each endpoint's next attempt measures it again; so
/// memory stays bounded.
const REMEMBERED: usize = 10_000;

/// How long an endpoint whose deliveries cannot be made is set aside: as long as one of its deliveries would be claimed.
const ASIDE: Duration = Duration::from_secs(30);

/// The claimed deliveries that hold a slot of the concurrency limits.
#[derive(Debug, Default)]
pub(super) struct Slots {
    tasks: HashMap<TaskId, Claim>,
    endpoints: HashMap<WebhookId, Taken>,
    /// The endpoints whose last answer was quick.
    quick: HashMap<WebhookId, Pace>,
    /// The endpoints that are given nothing, and until when.
    aside: HashMap<WebhookId, Instant>,
}

/// How quickly an endpoint answers.
#[derive(Debug, Default)]
struct Pace {
    /// How many of its answers a lane is worth, at the pace of the last one.
    of_a_lane: usize,
    /// How many were quick in a row.
    answers: usize,
}

/// What a task was given: of which endpoint, and in which of its lines it stands or stood.
#[derive(Debug)]
struct Claim {
    webhook: WebhookId,
    line: usize,
}

/// What one endpoint has been given.
#[derive(Debug)]
struct Taken {
    claims: usize,
    /// How many of them are of former lines, and may still be under way.
    former: usize,
    is_failing: bool,
    /// Which line it is: each one that was sent home is followed by another.
    line: usize,
    /// Its lanes: those that the claims of former lines leave. Closed once an attempt has failed or was slow, which sends the line home.
    lanes: Arc<Semaphore>,
}

/// The free slots during one round of claims.
#[derive(Debug)]
pub(super) struct FreeSlots<'a> {
    quick: &'a HashMap<WebhookId, Pace>,
    aside: &'a HashMap<WebhookId, Instant>,
    now: Instant,
    endpoints: &'a HashMap<WebhookId, Taken>,
    lanes: usize,
    failing: usize,
    claims: HashMap<WebhookId, usize>,
    /// The endpoints that got a lane in this round.
    served: HashSet<WebhookId>,
    is_closed: bool,
}

impl Slots {
    /// The lanes of an endpoint, in which its attempts stand in line.
    pub(super) fn lanes(&mut self, webhook: &WebhookId, is_failing: bool) -> Arc<Semaphore> {
        let taken = self.endpoints.entry(webhook.clone()).or_default();
        taken.is_failing = is_failing;
        if taken.lanes.is_closed() {
            taken.begin_a_line();
        }
        Arc::clone(&taken.lanes)
    }

    /// Gives a slot to the task, for which the webhook's lanes were asked before.
    pub(super) fn take(&mut self, task: TaskId, webhook: &WebhookId) {
        if let Some(taken) = self.endpoints.get_mut(webhook) {
            taken.claims += 1;
            self.tasks.insert(task, Claim { webhook: webhook.clone(), line: taken.line });
        }
    }

    /// Frees the slot of a task and returns the webhook that the slot was for.
    pub(super) fn free(&mut self, task: TaskId) -> Option<WebhookId> {
        let Claim { webhook, line } = self.tasks.remove(&task)?;
        if let Entry::Occupied(mut taken) = self.endpoints.entry(webhook.clone()) {
            taken.get_mut().end_one_of(line);
            if taken.get().claims == 0 {
                taken.remove();
            }
        }
        Some(webhook)
    }

    /// Remembers whether an endpoint answered quickly, and how quickly.
    pub(super) fn learn(&mut self, webhook: &WebhookId, succeeded: bool, took: Duration) {
        if !succeeded || took > QUICK {
            self.quick.remove(webhook);
            return;
        }
        let more = AHEAD.as_micros() / took.as_micros().max(1);
        let of_a_lane = usize::try_from(more).unwrap_or(MOST_OF_A_LANE).clamp(1, MOST_OF_A_LANE);
        if self.quick.len() >= REMEMBERED && !self.quick.contains_key(webhook) {
            self.quick.clear();
        }
        let pace = self.quick.entry(webhook.clone()).or_default();
        (pace.of_a_lane, pace.answers) = (of_a_lane, pace.answers.saturating_add(1));
    }

    /// Remembers that an endpoint did not keep its pace: it is given no more than it gets at once, until it has earned more again.
    pub(super) fn has_slowed(&mut self, webhook: &WebhookId) {
        if let Some(pace) = self.quick.get_mut(webhook) {
            pace.answers = 0;
        }
    }

    /// Gives an endpoint nothing for a while, however many of its deliveries are due: none of them can be made. Nothing is written for
    /// that, for the backlog may be long.
    pub(super) fn set_aside(&mut self, webhook: WebhookId) {
        let now = Instant::now();
        self.aside.retain(|_, until| *until > now);
        self.aside.insert(webhook, now + ASIDE);
    }

    /// Has every claim that stands in line given back, and every later one.
    pub(super) fn send_home(&self) {
        self.endpoints.values().for_each(|taken| taken.lanes.close());
    }

    pub(super) fn are_all_free(&self) -> bool {
        self.tasks.is_empty()
    }

    pub(super) fn free_slots(&self) -> FreeSlots<'_> {
        let taken = self.endpoints.values();
        let (mut lanes, mut failing) = (LANES, LANES_OF_FAILING);
        for endpoint in taken {
            lanes = lanes.saturating_sub(used(endpoint.claims));
            failing = failing.saturating_sub(usize::from(endpoint.is_failing));
        }
        let claims = self.endpoints.iter().map(|(webhook, taken)| (webhook.clone(), taken.claims)).collect();
        let Self { quick, endpoints, aside, .. } = self;
        let (now, served, is_closed) = (Instant::now(), HashSet::new(), lanes == 0);
        FreeSlots { quick, aside, now, endpoints, lanes, failing, claims, served, is_closed }
    }
}

impl Default for Taken {
    fn default() -> Self {
        Self { claims: 0, former: 0, is_failing: false, line: 0, lanes: Arc::new(Semaphore::new(LANES_OF_A_QUICK_ONE)) }
    }
}

impl Taken {
    /// Whether attempts of a line that was sent home may be under way.
    fn is_settling(&self) -> bool {
        self.former > 0 || self.lanes.is_closed()
    }

    /// Begins another line, with the lanes that are left beside all that was claimed before.
    fn begin_a_line(&mut self) {
        self.former = self.claims;
        self.line += 1;
        self.lanes = Arc::new(Semaphore::new(LANES_OF_A_QUICK_ONE.saturating_sub(self.former)));
    }

    /// One claim has ended. One of a former line leaves its lane to this one.
    fn end_one_of(&mut self, line: usize) {
        self.claims -= 1;
        if line != self.line {
            self.former -= 1;
            if self.former < LANES_OF_A_QUICK_ONE {
                self.lanes.add_permits(1);
            }
        }
    }
}

impl Pace {
    fn given_to_a_lane(&self) -> usize {
        self.of_a_lane.min((self.answers / ANSWERS_OF_ONE_MORE).max(1))
    }
}

/// How many lanes an endpoint uses that has been given so many deliveries.
fn used(claims: usize) -> usize {
    claims.min(LANES_OF_A_QUICK_ONE)
}

impl FreeSlots<'_> {
    pub(super) fn are_none(&self) -> bool {
        self.is_closed || self.lanes == 0
    }

    /// Gives out no slot at all. Where no lane is free to begin with, they are closed: nobody's backlog is looked at then, and a new
    /// delivery must not overtake it.
    pub(super) fn close(&mut self) {
        self.is_closed = true;
    }

    /// Whether an endpoint got a lane in this round. One that has all of its lanes and was given more to stand in line did not.
    pub(super) fn has_served(&self, webhook: &WebhookId) -> bool {
        self.served.contains(webhook)
    }

    /// Whether an endpoint is given nothing, whatever is free.
    pub(super) fn is_set_aside(&self, endpoint: &DueEndpoint) -> bool {
        self.aside.get(&endpoint.id).is_some_and(|until| *until > self.now)
    }

    /// How many more deliveries may be claimed for one endpoint.
    pub(super) fn of(&self, endpoint: &DueEndpoint) -> usize {
        if self.is_closed || self.is_set_aside(endpoint) {
            return 0;
        }
        let (most, of_a_lane) = match (endpoint.is_failing, self.quick.get(&endpoint.id)) {
            (true, _) => (1.min(self.failing), 1),
            (false, Some(pace)) => (LANES_OF_A_QUICK_ONE, pace.given_to_a_lane()),
            (false, None) => (LANES_OF_ONE, 1),
        };
        let claims = self.claims.get(&endpoint.id).copied().unwrap_or_default();
        let lanes = most.min(used(claims) + self.lanes);
        // Beyond what it gets at once only where it gets all of it: what stands in line takes whichever of its lanes is free.
        let is_settling = self.endpoints.get(&endpoint.id).is_some_and(Taken::is_settling);
        let of_a_lane = if is_settling || lanes < LANES_OF_A_QUICK_ONE { 1 } else { of_a_lane };
        (lanes * of_a_lane).saturating_sub(claims)
    }

    pub(super) fn promise(&mut self, endpoint: &DueEndpoint, slots: usize) {
        let claims = self.claims.entry(endpoint.id.clone()).or_default();
        let before = used(*claims);
        *claims += slots;
        let lanes = used(*claims) - before;
        self.lanes = self.lanes.saturating_sub(lanes);
        if lanes > 0 {
            self.served.insert(endpoint.id.clone());
        }
        self.failing = self.failing.saturating_sub(if endpoint.is_failing { slots } else { 0 });
    }
}

#[cfg(test)]
mod tests;
