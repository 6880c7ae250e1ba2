//! A bounded thread pool for work that keeps a core busy for milliseconds: hashing passwords and estimating their strength. A few
//! threads of its own serve a bounded queue; when the queue is full, the answer is [`Error::Unavailable`] at once, so that
//! everything else stays quick. The threads live as long as the service: a hash needs some 20 MiB, and an allocator keeps as much
//! for every thread that ever needed it.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use tokio::sync::{mpsc, oneshot};

use crate::{
    error::{Error, Overload},
    metrics::WorkMeter,
};

/// How many jobs may wait for each thread.
const QUEUE_PER_THREAD: usize = 256;

type Job = Box<dyn FnOnce() + Send>;

/// The pool: one thread fewer than there are cores, at least one. Its threads end when it is dropped.
pub(crate) struct BoundedWork {
    queue: mpsc::Sender<Job>,
    meter: WorkMeter,
}

impl BoundedWork {
    /// Starts the threads; `meter` counts what they do.
    ///
    /// # Errors
    /// [`Error::Internal`] when the system gives none.
    pub(crate) fn start(name: &str, meter: WorkMeter) -> Result<Self, Error> {
        let threads = thread::available_parallelism().map_or(1, |cores| cores.get().saturating_sub(1).max(1));
        let (queue, jobs) = mpsc::channel(threads * QUEUE_PER_THREAD);
        let jobs = Arc::new(Mutex::new(jobs));
        for _ in 0..threads {
            let jobs = Arc::clone(&jobs);
            thread::Builder::new().name(name.to_owned()).spawn(move || work(&jobs)).map_err(Error::internal)?;
        }
        Ok(Self { queue, meter })
    }

    /// Runs `work` on one of the threads, in the caller's span. A job whose caller has gone when its turn comes is skipped.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the queue is full.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (answer, result) = oneshot::channel();
        let (waiting, span) = (self.meter.wait(), tracing::Span::current());
        let job = move || {
            if !answer.is_closed() {
                let running = waiting.run();
                let done = span.in_scope(work);
                drop(running);
                // The caller may have gone in the meantime.
                let _ = answer.send(done);
            }
        };
        if self.queue.try_send(Box::new(job)).is_err() {
            self.meter.refused();
            return Err(Error::unavailable(Overload("the queue of work on passwords is full")));
        }
        result.await.map_err(Error::internal)?
    }
}

/// A thread's loop: runs jobs until the queue is closed. A panic loses that job's answer only.
fn work(jobs: &Mutex<mpsc::Receiver<Job>>) {
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv();
        let Some(job) = job else { return };
        if catch_unwind(AssertUnwindSafe(job)).is_err() {
            tracing::error!("work on a password panicked");
        }
    }
}

impl fmt::Debug for BoundedWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BoundedWork({} places free)", self.queue.capacity())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc as blocking;

    use super::*;

    #[tokio::test]
    async fn beyond_the_queue_the_answer_is_unavailable_at_once() {
        let work = Arc::new(BoundedWork::start("test", WorkMeter::unread()).expect("threads"));
        let (release, held) = blocking::channel::<()>();
        let held = Arc::new(Mutex::new(held));
        let mut waiting = Vec::new();
        while work.queue.capacity() > 0 {
            let (work, held) = (Arc::clone(&work), Arc::clone(&held));
            waiting.push(tokio::spawn(async move {
                let hold = move || Ok(held.lock().unwrap_or_else(PoisonError::into_inner).recv().is_ok());
                work.run(hold).await
            }));
            tokio::task::yield_now().await;
        }
        assert!(matches!(work.run(|| Ok(())).await, Err(Error::Unavailable(_))));
        drop(release);
        for answer in waiting {
            answer.await.expect("not cancelled").expect("answered");
        }
        work.run(|| Ok(())).await.expect("there is room again");
    }

    #[tokio::test]
    async fn a_panic_costs_its_own_answer_only() {
        let work = BoundedWork::start("test", WorkMeter::unread()).expect("threads");
        assert!(work.run::<()>(|| panic!("made to order")).await.is_err());
        work.run(|| Ok(())).await.expect("the thread is still there");
    }
}
