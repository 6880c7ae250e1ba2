//! The acknowledgement of a change. Whoever is told that a right ended must not meet it again, in any process: so after COMMIT this
//! process looks (its own memory follows), and a change that narrows waits until every process whose memory held what was before has
//! either looked again or let it grow too old.

use std::{
    cell::Cell,
    future::{Future, ready},
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use super::{Memory, moment::Moment};
use crate::error::Error;

/// The largest freshness there may be, for when it cannot be read.
const LARGEST: Duration = Duration::from_millis(1_000);

tokio::task_local! {
    /// Set while work is done whose commits are acknowledged all at once by its end: whether there was one, and whether it narrows.
    static COMMITTED: Cell<Option<bool>>;
}

impl Memory {
    /// Does what ends or narrows a right, and waits once for all its commits. Work that finds it so already waits as well: whoever
    /// did it may have died between its commit and its answer, and the client asks again.
    ///
    /// # Errors
    /// As the work.
    pub(crate) fn ending<'a, T: Send + 'a>(
        self: &'a Arc<Self>,
        work: impl Future<Output = Result<T, Error>> + Send + 'a,
    ) -> Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>> {
        self.acknowledged_by(work, |_| true)
    }

    /// Does what may end or narrow a right, and waits once if a commit of it did so, or if it is refused by what `tells` that another
    /// request did so before.
    ///
    /// # Errors
    /// As the work.
    pub(crate) fn telling<'a, T: Send + 'a>(
        self: &'a Arc<Self>,
        tells: fn(&Error) -> bool,
        work: impl Future<Output = Result<T, Error>> + Send + 'a,
    ) -> Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>> {
        self.acknowledged_by(work, move |outcome| outcome.as_ref().is_err_and(tells))
    }

    fn acknowledged_by<'a, T: Send + 'a>(
        self: &'a Arc<Self>,
        work: impl Future<Output = Result<T, Error>> + Send + 'a,
        tells: impl FnOnce(&Result<T, Error>) -> bool + Send + 'a,
    ) -> Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>> {
        // On the heap, for it wraps whole flows.
        Box::pin(async move {
            let work = async move { (work.await, COMMITTED.with(Cell::get)) };
            let (outcome, committed) = COMMITTED.scope(Cell::new(None), work).await;
            let is_told = !matches!(outcome, Err(Error::Unavailable(_) | Error::Internal(_)));
            let narrows = committed == Some(true) || tells(&outcome);
            if is_told && (narrows || committed.is_some()) {
                self.acknowledge(narrows).await;
            }
            outcome
        })
    }

    /// Called when a COMMIT that touched something came back: returns once the change may be told. Waiting holds nothing.
    pub(crate) fn acknowledge(self: &Arc<Self>, narrows: bool) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let committed = Moment::now();
        if COMMITTED.try_with(|so_far| so_far.set(so_far.get().max(Some(narrows)))).is_ok() {
            return Box::pin(ready(()));
        }
        let memory = Arc::clone(self);
        Box::pin(async move {
            if !narrows && memory.right.claim().is_none() {
                return;
            }
            // Read after the commit: whoever announces itself later begins with a look that sees the change.
            let freshness = memory.next_look().await.unwrap_or(LARGEST);
            // Asked after the look, which finds out that the right is lost.
            if narrows && !memory.right.is_sole() {
                // Clocks of two machines may run apart by a twelfth (they are slewed, not set).
                wait_until(committed, freshness * 5 / 4).await;
                memory.meter.waited(Moment::now().steadily_since(committed));
            }
        })
    }
}

async fn wait_until(committed: Moment, passed: Duration) {
    let left = || passed.checked_sub(Moment::now().steadily_since(committed)).filter(|left| !left.is_zero());
    while let Some(left) = left() {
        tokio::time::sleep(left).await;
    }
}
