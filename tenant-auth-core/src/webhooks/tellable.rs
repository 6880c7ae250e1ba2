//! Which events may be told. An event that tells of an ended or narrowed right may be sent once no process can honour the right any
//! more: a subscriber that hears of it may ask any process at once. That is waited for in a task of its own, so that nobody else's
//! deliveries wait with it. Within an organization nothing overtakes an event that waits.

use std::collections::{HashMap, HashSet};

use tokio::task::JoinSet;

use crate::{id::OrgId, model::EventKind, service::TenantAuth, store::UndeliveredEvent};

/// What is known of the events that wait for fan-out.
#[derive(Debug, Default)]
pub(super) struct Tellable {
    /// Up to which event of an organization, by `sequence`, all may be told. They become visible in this order: whoever sees one could see
    /// all before it. One number for each organization is never too much to remember, however many events wait.
    known: HashMap<OrgId, i64>,
    /// The wait that is under way; at most one. It returns what may be told after it.
    wait: JoinSet<HashMap<OrgId, i64>>,
}

impl Tellable {
    /// Leaves those of the events that may be told, up to `most`, and has the others waited for. The events are visible already, so
    /// a wait that begins now is long enough.
    pub(super) fn choose(&mut self, auth: &TenantAuth, seen: Vec<UndeliveredEvent>, most: usize) -> Vec<UndeliveredEvent> {
        while let Some(done) = self.wait.try_join_next() {
            self.waited(done.unwrap_or_default());
        }
        let mut untold: HashMap<OrgId, i64> = HashMap::new();
        let mut chosen = Vec::new();
        for event in seen {
            if tells_of_less(&event) && self.known.get(&event.org_id).is_none_or(|known| *known < event.sequence) {
                let last = untold.entry(event.org_id.clone()).or_insert(event.sequence);
                *last = event.sequence.max(*last);
            }
            if !untold.contains_key(&event.org_id) && chosen.len() < most {
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

    /// Forgets organizations of which no event waits any more. `all` are all events that wait: where a look sees a part, what was waited
    /// for comes into sight again later.
    pub(super) fn forget_all_but(&mut self, all: &[UndeliveredEvent]) {
        let waiting: HashSet<&OrgId> = all.iter().map(|event| &event.org_id).collect();
        self.known.retain(|org, _| waiting.contains(org));
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

    fn waited(&mut self, told: HashMap<OrgId, i64>) {
        self.known.extend(told);
    }
}

/// Whether an event must be waited for. One of another version's kind may be of such a kind.
fn tells_of_less(event: &UndeliveredEvent) -> bool {
    EventKind::parse(&event.kind).is_none_or(EventKind::tells_of_less)
}
