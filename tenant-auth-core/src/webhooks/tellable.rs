//! Which events may be told. An event that tells of an ended or narrowed right may be sent once no process can honour the right any
//! more: a subscriber that hears of it may ask any process at once. That is waited for in a task of its own, so that nobody else's
//! deliveries wait with it. Within an organization nothing overtakes an event that waits.

use std::collections::HashSet;

use tokio::task::JoinSet;

use crate::{
    id::{EventId, OrgId},
    model::EventKind,
    service::TenantAuth,
    store::UndeliveredEvent,
};

/// How many events may be remembered before those are forgotten that a look does not see.
const MANY: usize = 4_096;

/// What is known of the events that wait for fan-out.
#[derive(Debug, Default)]
pub(super) struct Tellable {
    /// Those that were waited for; some are turned already.
    known: HashSet<EventId>,
    /// The wait that is under way; at most one.
    wait: JoinSet<Vec<EventId>>,
}

impl Tellable {
    /// Leaves those of the events that may be told, up to `most`, and has the others waited for. The events are visible already, so
    /// a wait that begins now is long enough.
    pub(super) fn choose(&mut self, auth: &TenantAuth, seen: Vec<UndeliveredEvent>, most: usize) -> Vec<UndeliveredEvent> {
        while let Some(done) = self.wait.try_join_next() {
            self.waited(done.unwrap_or_default());
        }
        // Not at once: where many wait, a look does not see each organization's.
        if self.known.len() > MANY {
            let ids: HashSet<&EventId> = seen.iter().map(|event| &event.id).collect();
            self.known.retain(|id| ids.contains(id));
        }
        let mut waiting: HashSet<OrgId> = HashSet::new();
        let mut untold = Vec::new();
        let mut chosen = Vec::new();
        for event in seen {
            let must_wait = tells_of_less(&event) && !self.known.contains(&event.id);
            if must_wait {
                untold.push(event.id.clone());
                waiting.insert(event.org_id.clone());
            }
            if !waiting.contains(&event.org_id) && chosen.len() < most {
                chosen.push(event);
            }
        }
        if !untold.is_empty() && self.wait.is_empty() {
            let auth = auth.clone();
            self.wait.spawn(async move {
                auth.memory().acknowledge(true).await;
                untold
            });
        }
        chosen
    }

    /// Waits until more may be told; never, when nothing is waited for.
    pub(super) async fn more(&mut self) {
        match self.wait.join_next().await {
            Some(done) => self.waited(done.unwrap_or_default()),
            None => std::future::pending().await,
        }
    }

    /// Whether something is waited for.
    pub(super) fn is_waiting(&self) -> bool {
        !self.wait.is_empty()
    }

    fn waited(&mut self, events: Vec<EventId>) {
        self.known.extend(events);
    }
}

/// Whether an event must be waited for. One of another version's kind may be of such a kind.
fn tells_of_less(event: &UndeliveredEvent) -> bool {
    EventKind::parse(&event.kind).is_none_or(EventKind::tells_of_less)
}
