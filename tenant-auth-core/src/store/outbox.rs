//! The outbox: events are written as rows of the transaction that causes them, as mails are. So a committed change always has its
//! event, and a change that was rolled back has none. Each event is chained to the one before in its organization (audit log).

use std::collections::BTreeMap;

use super::{
    Actor, Event, Tx, Work,
    chaining::{Chain, Unchained},
    event::Audience,
    sql::{
        deliveries::NewDelivery,
        event_chain::EventChain,
        tallies::{Tallies, Tally},
    },
};
use crate::{
    audit::chain::Part,
    error::Error,
    id::{EventId, OrgId},
};

impl Actor {
    /// The causer's type as payloads name it, and its id.
    pub(super) fn told(&self) -> (&'static str, Option<&str>) {
        match self {
            Self::User(id) => ("user", Some(id.as_str())),
            Self::ApiKey(id) => ("api_key", Some(id.as_str())),
            Self::DeploymentKey(id) => ("deployment_key", Some(id.as_str())),
            Self::System => ("system", None),
        }
    }
}

impl Tx {
    /// Whether the events of this transaction, and these, are of one organization alone.
    pub(crate) fn tells_only(&self, org: &OrgId, then: &[Event]) -> bool {
        self.events.iter().chain(then).all(|event| event.org.id == *org)
    }

    /// Numbers, chains and stores the events of this transaction. Lock order: event sequences by organization id, so that two
    /// transactions with several organizations in common cannot deadlock; then the tallies of the day.
    pub(super) async fn write_events(&mut self, events: Vec<Event>) -> Result<(), Error> {
        let mut by_org: BTreeMap<OrgId, Vec<Event>> = BTreeMap::new();
        for event in events {
            by_org.entry(event.org.id.clone()).or_default().push(event);
        }
        debug_assert!(!self.holds_head() || by_org.len() <= 1, "the head that is held is locked out of order");
        let (entropy, mut tallies) = (self.entropy_handle(), BTreeMap::new());
        while let Some((org_id, events)) = by_org.pop_first() {
            let held = self.take_head(&org_id);
            let Some(mut chain) = Chain::lock(&mut self.transaction, &org_id, held, &*entropy).await? else { continue };
            let (now, mut chained) = (self.now(), Vec::with_capacity(events.len()));
            for event in &events {
                chained.push(chain.append(self.unchained(event)?, now)?);
            }
            for (event, written) in events.iter().zip(&chained) {
                if let Some(tally) = Tally::of(event.kind, &org_id, written.created_at) {
                    *tallies.entry(tally).or_default() += 1;
                }
            }
            self.leave(Work::Events);
            // The first tally goes along with the last organization's events: mostly that is all.
            let along = if by_org.is_empty() { tallies.pop_first() } else { None };
            if EventChain(&mut self.transaction).write(&org_id, &chained, along.as_ref()).await? {
                self.leave(Work::Deliveries);
            }
            for (event, written) in events.iter().zip(&chained) {
                if let Audience::Only(webhook_id, delivery) = &event.audience {
                    let event_id = EventId::from_stored(written.id.as_str());
                    let event_kind = event.kind.as_str();
                    let delivery = NewDelivery { id: delivery, org_id: &org_id, webhook_id, event_id: &event_id, event_kind };
                    self.deliveries().insert(&delivery).await?;
                }
            }
        }
        for (tally, amount) in &tallies {
            Tallies(&mut *self).add(tally, *amount).await?;
        }
        Ok(())
    }

    fn unchained(&self, event: &Event) -> Result<Unchained, Error> {
        let id: EventId = self.new_id();
        let (actor_type, actor_id) = event.actor.told();
        Ok(Unchained {
            id: id.as_str().to_owned(),
            kind: event.kind.as_str().to_owned(),
            actor_type: actor_type.to_owned(),
            actor_id: actor_id.map(str::to_owned),
            user_id: event.about.as_ref().map(|user| user.as_str().to_owned()),
            data: Part::salted(event.data.get().to_owned(), self.entropy()),
            context: Part::salted(self.context_of(event)?, self.entropy()),
            published: matches!(event.audience, Audience::Subscribers),
        })
    }

    /// What is told of the request: in its own organization only, where its admins see it, and not where nobody asked.
    fn context_of(&self, event: &Event) -> Result<String, Error> {
        if let Some(request) = event.request.as_ref().filter(|request| self.keeps_contexts() && request.org_id == event.org.id) {
            return request.to_json().map_err(Error::internal);
        }
        match (self.request(), &event.actor) {
            (Some(request), Actor::User(_) | Actor::ApiKey(_)) if request.org_id == event.org.id => {
                request.to_json().map_err(Error::internal)
            }
            (_, Actor::User(_) | Actor::ApiKey(_) | Actor::DeploymentKey(_) | Actor::System) => Ok("null".to_owned()),
        }
    }
}
