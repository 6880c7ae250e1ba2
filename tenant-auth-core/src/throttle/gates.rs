//! Gates: the rate limiter's semaphores inside one process. As many attempts as a limit allows may be undecided at once; further
//! attempts of this process wait here, first come first served, instead of polling the database.

use std::{
    collections::HashMap,
    pin::pin,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};

use crate::{
    deadline,
    error::{Error, Overload},
};

/// How many gates may exist before unused gates are removed; so memory stays bounded.
const MANY: usize = 1_024;

/// How long an attempt waits for the verdicts of other attempts, at all its limits together.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// One rate limit that applies to an attempt.
#[derive(Debug, Clone)]
pub(crate) struct Limit {
    /// The key of the limit's counter row.
    pub(crate) key: String,
    /// The account that the limit protects; `None` for a limit over all accounts.
    pub(crate) subject: Option<String>,
    /// How many failures the limit allows in one window.
    pub(crate) most: u32,
    /// The length of the window, which begins with its first failure.
    pub(super) window: Duration,
    /// Whether each failure beyond the limit doubles the block; otherwise one block lasts until the window ends.
    pub(crate) doubling: bool,
}

#[cfg(test)]
impl Limit {
    /// One attempt a minute.
    pub(crate) fn of_one(key: &str) -> Self {
        Self { key: key.to_owned(), subject: None, most: 1, window: Duration::from_secs(60), doubling: false }
    }
}

/// The gates of this process, by the key of the limit. A gate is a semaphore with as many permits as the limit allows failures.
#[derive(Debug, Default)]
pub(crate) struct Gates(Mutex<HashMap<String, Weak<Semaphore>>>);

impl Gates {
    /// Waits for a permit at the gate of each limit, until `end`. The limits must be sorted, so that two attempts never wait for
    /// each other in a circle (deadlock).
    ///
    /// # Errors
    /// [`Error::Unavailable`] when a permit does not become free until then.
    pub(super) async fn pass(&self, limits: &[Limit], end: Instant) -> Result<Vec<OwnedSemaphorePermit>, Error> {
        let mut passed = Vec::with_capacity(limits.len());
        for limit in limits {
            let patience = end.saturating_duration_since(Instant::now());
            let permit = deadline::wait(patience, pin!(self.gate(limit).acquire_owned())).await;
            let permit = permit.map_err(|_| Overload::Attempts)?;
            passed.push(permit.map_err(Error::internal)?);
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

    fn limit(key: &str) -> Limit {
        Limit { key: key.to_owned(), subject: None, most: 1, window: Duration::from_secs(1), doubling: true }
    }

    #[tokio::test(start_paused = true)]
    async fn an_attempt_waits_once_at_all_its_gates() {
        let (gates, began) = (Gates::default(), Instant::now());
        let first = gates.pass(&[limit("a")], began + PATIENCE).await.expect("a free permit");
        let _second = gates.pass(&[limit("b")], began + PATIENCE).await.expect("a free permit");
        let freed = async {
            tokio::time::sleep(PATIENCE / 2).await;
            drop(first);
        };
        let limits = [limit("a"), limit("b")];
        let (passed, ()) = tokio::join!(gates.pass(&limits, began + PATIENCE), freed);
        assert!(matches!(passed, Err(Error::Unavailable(_))));
        assert_eq!(began.elapsed(), PATIENCE);
    }

    #[tokio::test]
    async fn beyond_the_limit_attempts_wait_for_a_permit() {
        let (gates, end) = (Gates::default(), Instant::now() + PATIENCE);
        let limits = [limit("pair")];
        let first = gates.pass(&limits, end).await.expect("a free permit");
        let second = gates.pass(&limits, end);
        tokio::pin!(second);
        assert!(futures_now(&mut second).await.is_none(), "the permit is taken");
        drop(first);
        second.await.expect("the permit is free again");
    }

    /// The output of a future, if it is ready now.
    async fn futures_now<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
        tokio::select! {
            biased;
            output = future => Some(output),
            () = std::future::ready(()) => None,
        }
    }
}
