//! The acknowledgement of a change. Whoever is told that a right ended must not meet it again, in any process: so after COMMIT this
//! process looks (its own memory follows), and a change that narrows waits until every process whose memory held what was before has
//! either looked again or let it grow too old.

use std::{
    future::{Future, ready},
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use super::{Memory, moment::Moment};
use crate::{error::Error, store::Claim};

/// The largest freshness there may be, for when it cannot be read.
const LARGEST: Duration = Duration::from_millis(1_000);

tokio::task_local! {
    /// Set while an ending is at work, whose commits are acknowledged all at once by its end.
    static IS_ENDING: ();
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
        // On the heap, for it wraps whole flows.
        Box::pin(async move {
            let outcome = IS_ENDING.scope((), work).await;
            if !matches!(outcome, Err(Error::Unavailable(_) | Error::Internal(_))) {
                self.acknowledge(true).await;
            }
            outcome
        })
    }

    /// Called when a COMMIT that touched something came back: returns once the change may be told. Waiting holds nothing.
    pub(crate) fn acknowledge(self: &Arc<Self>, narrows: bool) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let committed = Moment::now();
        if IS_ENDING.try_with(|()| ()).is_ok() {
            return Box::pin(ready(()));
        }
        let memory = Arc::clone(self);
        Box::pin(async move {
            let claim = memory.claim.get();
            if !narrows && claim.is_none() {
                return;
            }
            // Read after the commit: whoever announces itself later begins with a look that sees the change.
            let freshness = memory.next_look().await.unwrap_or(LARGEST);
            if narrows && !claim.is_some_and(Claim::is_sole) {
                // Clocks of two machines may run apart by a twelfth (they are slewed, not set).
                wait_until(committed, freshness * 5 / 4).await;
                memory.meter.waited(since(committed));
            }
        })
    }
}

async fn wait_until(committed: Moment, passed: Duration) {
    while let Some(rest) = passed.checked_sub(since(committed)).filter(|rest| !rest.is_zero()) {
        tokio::time::sleep(rest).await;
    }
}

/// By the clock that is never set: the wall clock may be, while this waits.
fn since(committed: Moment) -> Duration {
    Duration::from_nanos(Moment::now().steady.saturating_sub(committed.steady))
}
