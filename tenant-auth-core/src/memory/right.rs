//! The right to remember, as this process holds it: claimed when somebody first asks, given up when it turns out to be lost.

use std::{
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::Duration,
};

use super::{Memory, moment::Moment};
use crate::{error::Error, store::Claim};

/// How long a process that may not remember waits until it tries again.
const TRY_AGAIN: Duration = Duration::from_secs(5);

/// How long whoever had the right before may still answer by it: the largest freshness, and a quarter for clocks that run apart. The
/// file of its lock may have been removed the moment after it looked.
const OUTLIVED: Duration = Duration::from_millis(1_250);

/// The right, once this process has it.
#[derive(Debug, Default)]
pub(super) struct Right {
    held: RwLock<Option<Held>>,
    tried: Mutex<Option<Moment>>,
}

/// A claim, and when it was made.
#[derive(Debug, Clone)]
struct Held {
    claim: Arc<Claim>,
    since: Moment,
}

impl Right {
    pub(super) fn claim(&self) -> Option<Arc<Claim>> {
        self.held().map(|held| held.claim)
    }

    /// Whether no other process can still answer from its memory.
    pub(super) fn is_sole(&self) -> bool {
        self.held().is_some_and(|held| held.claim.is_sole() && Moment::now().steadily_since(held.since) >= OUTLIVED)
    }

    fn held(&self) -> Option<Held> {
        self.held.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, claim: Option<Claim>) {
        let held = claim.map(|claim| Held { claim: Arc::new(claim), since: Moment::now() });
        *self.held.write().unwrap_or_else(PoisonError::into_inner) = held;
    }
}

impl Memory {
    /// The right to remember, checked. A lost one is given up: from then on this process reads, and its changes wait for whoever
    /// remembers.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when it was just lost.
    pub(super) fn held_claim(&self) -> Result<Option<Arc<Claim>>, Error> {
        let Some(claim) = self.right.claim() else { return Ok(None) };
        if let Err(error) = claim.is_held() {
            self.right.set(None);
            tracing::error!(
                error = %error.causes(),
                "the file of the lock beside the database is gone, so another process may remember; this one reads the database until \
                 it has the lock again"
            );
            return Err(error);
        }
        Ok(Some(claim))
    }

    /// Claims the right to remember, in a task of its own: announces the freshness and, on SQLite, takes the lock.
    pub(super) fn try_to_begin(self: &Arc<Self>, now: Moment) {
        {
            let mut tried = self.right.tried.lock().unwrap_or_else(PoisonError::into_inner);
            if tried.is_some_and(|tried| now.since(tried) < TRY_AGAIN) {
                return;
            }
            *tried = Some(now);
        }
        let memory = Arc::clone(self);
        self.runtime.spawn(async move {
            match memory.store.claim_memory(memory.freshness).await {
                Ok(Some(claim)) => memory.right.set(Some(claim)),
                Ok(None) => tracing::debug!("another process of this machine remembers; this one reads"),
                Err(error) => tracing::debug!(error = %error.causes(), "the freshness cannot be announced; nothing is remembered"),
            }
        });
    }
}
