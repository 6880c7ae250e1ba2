//! The look for what waits: events of the outbox, and endpoints with due deliveries. Where more events wait than a look sees,
//! organizations are visited one by one, a few at a time (round robin), so that the events of a large import hide no other tenant's; where
//! these leave room, the oldest events of all fill it. Where few deliveries are due, one step of an index finds them all. Where many are,
//! endpoints are visited one by one, so that the backlog of one hides nobody else's; such a deep look walks every endpoint with a pending
//! delivery, so it takes place at most a fifth of the time.

use std::{collections::HashSet, time::Duration};

use tokio::time::Instant;

use super::{serve::Waiting, slots::FreeSlots, tellable::Tellable};
use crate::{
    error::Error,
    id::{EventId, OrgId},
    service::TenantAuth,
    store::{DueEndpoint, Reader, UndeliveredEvent},
    time::Timestamp,
};

/// How many events one transaction turns.
const EVENTS: usize = 50;
/// Of how many events those are chosen: many of one organization that may not be told yet leave room for the others'.
const SEEN: usize = 500;
/// Where more events wait: of how many organizations some are seen before those.
const ORGANIZATIONS: usize = 10;
/// How many events of each go before all others: of all these organizations as many as one transaction turns.
const FIRST: usize = EVENTS / ORGANIZATIONS;
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
    /// The same for events: the last organization that was visited.
    after_org: String,
    /// The organizations that the last look visited, in their order.
    visited: Vec<OrgId>,
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
        let mut seen = reader.events().undelivered(SEEN).await?;
        let is_deep = seen.len() == SEEN;
        self.visited.clear();
        if is_deep {
            seen = self.by_organization(&mut reader, seen).await?;
        } else {
            self.tellable.forget_all_but(&seen);
        }
        let few = if has_slots { reader.delivery_queue().few_due(now, FEW).await? } else { Some(Vec::new()) };
        drop(reader);
        let events = self.tellable.choose(auth, seen, EVENTS);
        self.again_at = (events.len() == EVENTS || is_deep && !events.is_empty()).then(Instant::now);
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

    /// The events of the next organizations: the first few of each, then those behind them, and then the oldest of all. Each organization's
    /// stay in their order.
    async fn by_organization(
        &mut self,
        reader: &mut Reader,
        oldest: Vec<UndeliveredEvent>,
    ) -> Result<Vec<UndeliveredEvent>, Error> {
        let (mut first, mut behind) = (Vec::new(), Vec::new());
        let organizations = self.next_organizations(reader).await?;
        for org in &organizations {
            let mut events = reader.events().undelivered_of(org, SEEN / organizations.len()).await?.into_iter();
            first.extend(events.by_ref().take(FIRST));
            behind.extend(events);
        }
        self.visited = organizations;
        first.append(&mut behind);
        let of_turn: HashSet<EventId> = first.iter().map(|event| event.id.clone()).collect();
        first.extend(whole(oldest).filter(|event| !of_turn.contains(&event.id)));
        Ok(first)
    }

    /// The next organizations that have events, once around.
    async fn next_organizations(&mut self, reader: &mut Reader) -> Result<Vec<OrgId>, Error> {
        let mut next = reader.events().waiting_organizations(&self.after_org, ORGANIZATIONS).await?;
        if !self.after_org.is_empty() {
            for org in reader.events().waiting_organizations("", ORGANIZATIONS).await? {
                if next.len() < ORGANIZATIONS && !next.contains(&org) {
                    next.push(org);
                }
            }
        }
        next.last().map_or("", OrgId::as_str).clone_into(&mut self.after_org);
        Ok(next)
    }

    /// Lets the next round begin at the first organization of which nothing was turned, because the events before had too many deliveries:
    /// `cut_off` says how many events, the last ones, were left.
    pub(super) fn turned(&mut self, events: &[UndeliveredEvent], cut_off: usize) {
        let (turned, left) = events.split_at(events.len().saturating_sub(cut_off));
        let is_among = |events: &[UndeliveredEvent], org: &OrgId| events.iter().any(|event| event.org_id == *org);
        let missed = self.visited.iter().position(|org| is_among(left, org) && !is_among(turned, org));
        if let Some(before) = missed.and_then(|missed| self.visited[..missed].last()) {
            before.as_str().clone_into(&mut self.after_org);
        }
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
            // By id: the database may sort otherwise than by bytes.
            let others: Vec<_> = others.into_iter().filter(|other| due.iter().all(|known| known.id != other.id)).collect();
            due.extend(others);
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

/// Of the events with the lowest ids those that miss no earlier one of their organization. Ids are of their transaction's moment,
/// and those of one moment are in any order: what happened before the moment of the highest of these ids has a lower one, and so has
/// everything before it in its organization.
fn whole(lowest: Vec<UndeliveredEvent>) -> impl Iterator<Item = UndeliveredEvent> {
    let highest = lowest.iter().map(|event| event.id.clone()).max();
    let after = |event: &UndeliveredEvent| EventId::first_at(event.at.plus(Duration::from_millis(1)));
    lowest.into_iter().filter(move |event| highest.as_ref().is_some_and(|highest| after(event) <= *highest))
}

#[cfg(all(test, feature = "testing", feature = "sqlite"))]
mod tests {
    use std::{collections::HashMap, net::Ipv4Addr};

    use super::*;
    use crate::{
        event::OrgData,
        model::{EventKind, EventSelection, Organization},
        operator::NewOrganization,
        store::{Actor, Event},
        testing::TestAuth,
        value::Description,
        webhooks::NewWebhook,
    };

    /// Organizations with a webhook each, beside that of the test.
    async fn others(test: &TestAuth, count: usize) -> Vec<Organization> {
        test.resolver.answer("hooks.acme.example", [Ipv4Addr::new(93, 184, 216, 34).into()]);
        let operator = test.auth.operator();
        let mut made = Vec::new();
        for n in 0..count {
            let slug = format!("other-{n}").parse().expect("a slug");
            let new =
                NewOrganization::new("Other".parse().expect("a name"), slug, "olga@other.example".parse().expect("an address"));
            made.push(operator.create_organization(new).await.expect("the slug is free").org);
        }
        for org in made.iter().chain([test.org.organization()]) {
            let url = "https://hooks.acme.example/inbox".to_owned();
            let new =
                NewWebhook { url, events: EventSelection::parse(&["*"]).expect("kinds"), description: Description::default() };
            let admin = operator.in_organization(&org.slug).await.expect("it is there");
            admin.create_webhook(new).await.expect("a public target");
        }
        made
    }

    /// Leaves so many events of a kind in an organization, of one moment.
    async fn leave(test: &TestAuth, org: &Organization, kind: EventKind, events: usize) {
        test.clock.advance(Duration::from_secs(1));
        let mut tx = test.auth.begin().await.expect("a transaction");
        for _ in 0..events {
            let data = OrgData::changed(org, org);
            tx.push(Event::new(kind, org, Actor::System, &data).expect("is written"));
        }
        tx.commit().await.expect("commits");
    }

    /// Takes events out of the outbox.
    async fn take(test: &TestAuth, events: &[UndeliveredEvent]) {
        let mut tx = test.auth.begin().await.expect("a transaction");
        tx.delivery_queue().take(events).await.expect("they are there");
        tx.commit().await.expect("commits");
    }

    #[tokio::test]
    async fn a_deep_backlog_of_one_organization_keeps_no_others_waiting() {
        let test = TestAuth::new().await;
        let others = others(&test, 12).await;
        leave(&test, test.org.organization(), EventKind::OrgReactivated, 2_000).await;
        for org in &others {
            leave(&test, org, EventKind::OrgReactivated, 1).await;
        }
        let mut look = Look::default();
        let mut found = HashSet::new();
        for _ in 0..2 {
            let events = look.take(&test.auth, true).await.expect("a look").events;
            found.extend(events.into_iter().map(|event| event.org_id));
            assert!(look.again_at.is_some(), "more waits");
        }
        assert!(others.iter().all(|org| found.contains(&org.id)), "two looks reach all thirteen: {found:?}");
    }

    #[tokio::test]
    async fn organizations_that_were_cut_off_are_the_first_of_the_next_round() {
        let test = TestAuth::new().await;
        for org in &others(&test, 12).await {
            leave(&test, org, EventKind::OrgReactivated, 50).await;
        }
        let mut look = Look::default();
        let events = look.take(&test.auth, true).await.expect("a look").events;
        let mut visited: Vec<OrgId> = events.iter().map(|event| event.org_id.clone()).collect();
        visited.dedup();
        let turned = events.iter().take_while(|event| event.org_id != visited[2]).count();
        take(&test, &events[..turned]).await;
        look.turned(&events, events.len() - turned);
        let next = look.take(&test.auth, true).await.expect("a look").events;
        assert_eq!(next.first().map(|event| &event.org_id), visited.get(2));
    }

    #[tokio::test]
    async fn each_organizations_events_stay_in_their_order() {
        let test = TestAuth::new().await;
        let others = others(&test, 1).await;
        leave(&test, test.org.organization(), EventKind::OrgReactivated, 600).await;
        leave(&test, &others[0], EventKind::OrgReactivated, 20).await;
        let taken = Look::default().take(&test.auth, true).await.expect("a look").events;
        assert_eq!(taken.len(), EVENTS, "a transaction's worth");
        let mut reader = test.auth.store().read().await.expect("a connection");
        for org in [test.org.organization(), &others[0]] {
            let waiting = reader.events().undelivered_of(&org.id, 1_000).await.expect("a list");
            let waiting: Vec<EventId> = waiting.into_iter().map(|event| event.id).collect();
            let some: Vec<EventId> = taken.iter().filter(|event| event.org_id == org.id).map(|event| event.id.clone()).collect();
            assert!(some.len() >= FIRST && waiting.starts_with(&some), "the first, and in their order");
        }
    }

    #[tokio::test]
    async fn where_many_organizations_wait_with_few_events_a_look_finds_a_transactions_worth() {
        let test = TestAuth::new().await;
        for org in &others(&test, 170).await {
            leave(&test, org, EventKind::OrgReactivated, 3).await;
        }
        let mut look = Look::default();
        take(&test, &look.take(&test.auth, true).await.expect("a look").events).await;
        let events = look.take(&test.auth, true).await.expect("a look").events;
        assert_eq!(events.len(), EVENTS, "not the ten organizations' alone");
        let mut last: HashMap<&OrgId, i64> = HashMap::new();
        for event in &events {
            let former = last.insert(&event.org_id, event.sequence);
            assert!(former.is_none_or(|former| former < event.sequence), "each organization's in their order");
        }
        let mut ids: Vec<&EventId> = events.iter().map(|event| &event.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), EVENTS, "none twice");
    }

    /// More events must be waited for than looks see until each organization's turn comes again.
    #[tokio::test]
    async fn what_was_waited_for_is_told_however_many_organizations_wait() {
        let test = TestAuth::new().await;
        for org in &others(&test, 100).await {
            leave(&test, org, EventKind::OrgUpdated, 50).await;
        }
        let mut look = Look::default();
        for _ in 0..300 {
            let events = look.take(&test.auth, true).await.expect("a look").events;
            if events.is_empty() && !look.tellable.is_waiting() {
                break;
            }
            take(&test, &events).await;
            if look.tellable.is_waiting() {
                look.tellable.more().await;
            }
        }
        let left = test.auth.store().read().await.expect("a connection").events().undelivered(1).await.expect("a list");
        assert!(left.is_empty(), "all are told within some looks: {left:?}");
    }
}
