//! Work that keeps a core busy for milliseconds: hashing passwords and estimating their strength. It runs on a bounded number of
//! threads behind a bounded queue; beyond that the answer is [`Error::Unavailable`] at once, and everything else stays quick.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::sync::Semaphore;

use crate::error::Error;

/// How many may wait for each thread.
const QUEUE_PER_THREAD: usize = 256;

/// Threads for such work: all cores but one.
#[derive(Debug)]
pub(crate) struct BoundedWork {
    permits: Arc<Semaphore>,
    waiting: AtomicUsize,
    queue: usize,
}

impl Default for BoundedWork {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get().saturating_sub(1).max(1));
        Self { permits: Arc::new(Semaphore::new(threads)), waiting: AtomicUsize::new(0), queue: threads * QUEUE_PER_THREAD }
    }
}

impl BoundedWork {
    /// Runs `work` on a thread of its own. The permit moves into the closure: a caller that disconnects gives up its answer, not
    /// the thread it occupies.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when too many wait.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let place = Place::take(&self.waiting, self.queue)?;
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(Error::internal)?;
        drop(place);
        tokio::task::spawn_blocking(move || {
            let result = work();
            drop(permit);
            result
        })
        .await
        .map_err(Error::internal)?
    }
}

/// A place in the queue, given back even when the waiting future is dropped.
struct Place<'q>(&'q AtomicUsize);

impl<'q> Place<'q> {
    fn take(waiting: &'q AtomicUsize, limit: usize) -> Result<Self, Error> {
        let place = Self(waiting);
        if waiting.fetch_add(1, Ordering::SeqCst) >= limit { Err(Error::Unavailable) } else { Ok(place) }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn beyond_the_queue_the_answer_is_unavailable_at_once() {
        let work = BoundedWork::default();
        work.waiting.store(work.queue, Ordering::SeqCst);
        assert!(matches!(work.run(|| Ok(())).await, Err(Error::Unavailable)));
        assert_eq!(work.waiting.load(Ordering::SeqCst), work.queue, "the refused one gave its place back");
    }
}
