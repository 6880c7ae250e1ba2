//! What this process does after each of its commits.

use std::{pin::Pin, sync::Arc};

use super::Metrics;
use crate::{
    memory::Memory,
    model::EventKind,
    store::{Announcements, Committed, FollowUp},
};

/// The follow-up of every commit: wakes the worker of this process and counts the events.
#[derive(Debug)]
pub(crate) struct AfterCommit {
    pub(crate) announcements: Arc<Announcements>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) memory: Arc<Memory>,
}

impl FollowUp for AfterCommit {
    fn committed(&self, done: &Committed) {
        self.announcements.announce(done.left);
        for kind in &done.events {
            self.metrics.event(*kind);
            match kind {
                EventKind::SessionCreated => self.metrics.session_opened(),
                EventKind::SessionRevoked => self.metrics.session_revoked(),
                _ => {}
            }
        }
    }

    fn acknowledged(&self, narrows: bool) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        self.memory.acknowledge(narrows)
    }
}
