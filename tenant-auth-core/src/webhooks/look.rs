//! The look for what waits: events of the outbox, and endpoints with due deliveries. Where few deliveries are due, one step of an
//! index finds them all. Where many are, endpoints are visited one by one, so that the backlog of one hides nobody else's; such a
//! deep look walks every endpoint with a pending delivery, so it takes place at most a fifth of the time.

use tokio::time::Instant;

use super::{serve::Waiting, slots::FreeSlots, tellable::Tellable};
use crate::{error::Error, service::TenantAuth, store::DueEndpoint, time::Timestamp};

/// How many events one transaction turns.
const EVENTS: usize = 50;
/// Of how many events those are chosen: many of one organization that may not be told yet leave room for the others'.
const SEEN: u32 = 500;
/// Below so many due deliveries, all of them are found at once.
const FEW: usize = 64;
/// How many endpoints a deep look returns.
const ENDPOINTS: usize = 200;
/// A deep look is followed by so many times its duration without another.
const REST: u32 = 4;

/// Where the looks stand.
#[derive(Debug, Default)]
pub(super) struct Look {
    /// Round robin: the endpoint that got the last slot when slots ran out, or the last that a deep look returned. The next round
    /// begins after it.
    after: String,
    /// Whether a deep look takes place however soon after the last one.
    pub(super) is_restless: bool,
    /// Until when no deep look takes place.
    rests_until: Option<Instant>,
    /// When to look again, because endpoints were left out that may be served.
    pub(super) again_at: Option<Instant>,
    /// Which events may be told.
    pub(super) tellable: Tellable,
}

impl Look {
    /// What waits now. Due deliveries are left out while no slot is free for them.
    pub(super) async fn take(&mut self, auth: &TenantAuth, has_slots: bool) -> Result<Waiting, Error> {
        let now = auth.now();
        let mut reader = auth.store().read().await?;
        let seen = reader.events().undelivered(SEEN).await?;
        let few = if has_slots { reader.delivery_queue().few_due(now, FEW).await? } else { Some(Vec::new()) };
        drop(reader);
        let events = self.tellable.choose(auth, seen, EVENTS);
        self.again_at = (events.len() == EVENTS).then(Instant::now);
        let due = match few {
            Some(mut few) => {
                let first = few.partition_point(|endpoint| endpoint.id.as_str() <= self.after.as_str());
                few.rotate_left(first);
                few
            }
            None => self.deeply(auth, now).await?,
        };
        Ok(Waiting { events, due })
    }

    /// Endpoints with due deliveries, from the one after the last on, once around.
    async fn deeply(&mut self, auth: &TenantAuth, now: Timestamp) -> Result<Vec<DueEndpoint>, Error> {
        let began = Instant::now();
        if let Some(until) = self.rests_until.filter(|until| began < *until && !self.is_restless) {
            self.again_at = Some(self.again_at.map_or(until, |at| at.min(until)));
            return Ok(Vec::new());
        }
        let mut reader = auth.store().read().await?;
        let mut due = reader.delivery_queue().due_endpoints(now, &self.after, ENDPOINTS).await?;
        if due.len() < ENDPOINTS && !self.after.is_empty() {
            let others = reader.delivery_queue().due_endpoints(now, "", ENDPOINTS - due.len()).await?;
            due.extend(others.into_iter().filter(|endpoint| endpoint.id.as_str() <= self.after.as_str()));
        }
        self.rests_until = Some(began + began.elapsed() * (1 + REST));
        Ok(due)
    }

    /// Remembers where the next look begins: after the last endpoint that got a lane when they ran out, else after the last one
    /// that was seen when there are more.
    pub(super) fn served(&mut self, waiting: &Waiting, free: &FreeSlots<'_>) {
        let has_slots = !free.are_none();
        let last = match waiting.due.as_slice() {
            due if !has_slots => due.iter().rev().find(|endpoint| free.has_served(&endpoint.id)),
            [.., last] if waiting.due.len() == ENDPOINTS => {
                self.again_at = Some(Instant::now());
                Some(last)
            }
            _ => None,
        };
        match last {
            Some(last) => last.id.as_str().clone_into(&mut self.after),
            None if has_slots => self.after.clear(),
            None => {}
        }
    }
}
