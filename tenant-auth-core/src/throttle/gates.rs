//! Gates: the rate limiter's semaphores inside one process. As many attempts as a limit allows may be undecided at once; further
//! attempts of this process wait here, first come first served, instead of polling the database.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::{Error, Overload};

/// How many gates there may be before those that nobody uses any more are taken down.
const MANY: usize = 1_024;

/// How long an attempt waits for others' verdicts.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// One limit an attempt is under.
#[derive(Debug, Clone)]
pub(crate) struct Limit {
    pub(crate) key: String,
    /// The account it protects, where it is one's.
    pub(crate) subject: Option<String>,
    pub(crate) most: u32,
    pub(super) window: Duration,
    /// Blocks that grow with each failure beyond, instead of one that lasts until the window ends.
    pub(crate) doubling: bool,
}

/// The lines, by the key of the limit.
#[derive(Debug, Default)]
pub(crate) struct Gates(Mutex<HashMap<String, Weak<Semaphore>>>);

impl Gates {
    /// Waits for a permit at the gate of each limit. The limits are sorted: two attempts cannot wait for each other in a circle.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the line is too long to be waited out.
    pub(super) async fn pass(&self, limits: &[Limit]) -> Result<Vec<OwnedSemaphorePermit>, Error> {
        let mut passed = Vec::with_capacity(limits.len());
        for limit in limits {
            let waiting = tokio::time::timeout(PATIENCE, self.gate(limit).acquire_owned());
            passed.push(
                waiting
                    .await
                    .map_err(|_| Error::unavailable(Overload("too many attempts wait at a limit")))?
                    .map_err(Error::internal)?,
            );
        }
        Ok(passed)
    }

    fn gate(&self, limit: &Limit) -> Arc<Semaphore> {
        let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(gate) = gates.get(&limit.key).and_then(Weak::upgrade) {
            return gate;
        }
        if gates.len() >= MANY {
            gates.retain(|_, gate| gate.strong_count() > 0);
        }
        let gate = Arc::new(Semaphore::new(limit.most as usize));
        gates.insert(limit.key.clone(), Arc::downgrade(&gate));
        gate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn beyond_the_limit_attempts_wait_for_a_permit() {
        let gates = Gates::default();
        let limit = Limit { key: "pair".to_owned(), subject: None, most: 1, window: Duration::from_secs(1), doubling: true };
        let first = gates.pass(std::slice::from_ref(&limit)).await.expect("a free permit");
        let second = gates.pass(std::slice::from_ref(&limit));
        tokio::pin!(second);
        assert!(futures_now(&mut second).await.is_none(), "the permit is taken");
        drop(first);
        second.await.expect("the permit is free again");
    }

    /// What a future has come to by now.
    async fn futures_now<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
        tokio::select! {
            biased;
            output = future => Some(output),
            () = std::future::ready(()) => None,
        }
    }
}
