//! A bounded thread pool for work that keeps a core busy for milliseconds: hashing passwords and estimating their strength. A few
//! threads of its own serve a bounded queue that is fair among organizations and client networks. Who finds no place in the queue,
//! loses it to others or waits in it for too long gets [`Error::Unavailable`], so that everything else stays quick. The threads live
//! as long as the service: a hash needs some 20 MiB, and an allocator keeps as much for every thread that ever needed it. Their priority
//! is lower than that of requests.

mod fair_queue;
mod priority;
mod share;

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

pub use share::{QueueShare, client_network};

use crate::{
    deadline,
    error::{Error, Overload},
    metrics::WorkMeter,
};
use fair_queue::{FairQueue, Joined, Ticket};

/// How many jobs may wait for each thread.
const PLACES_PER_THREAD: usize = 256;

/// How long a job waits for its turn. Who waits longer has mostly gone, and its work would be done for nobody.
const PATIENCE: Duration = Duration::from_secs(3);

/// After so long without a job a thread counts as idle.
const IDLE: Duration = Duration::from_secs(1);

type Job = Box<dyn FnOnce() + Send>;

/// The size of a pool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PoolSize {
    pub(crate) threads: usize,
    /// How many jobs may wait.
    pub(crate) places: usize,
}

impl Default for PoolSize {
    /// One thread fewer than there are cores, at least one, and places for each.
    fn default() -> Self {
        let threads = thread::available_parallelism().map_or(1, |cores| cores.get().saturating_sub(1).max(1));
        Self { threads, places: threads * PLACES_PER_THREAD }
    }
}

/// What a thread does while it has no job.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pauses {
    /// Called as soon as no job waits, and before the thread ends: leaves nothing secret behind.
    pub(crate) rests: fn(),
    /// Called after a second without a job: gives back what was kept for the next.
    pub(crate) is_idle: fn(),
}

impl Pauses {
    /// For work that keeps nothing.
    pub(crate) const NONE: Self = Self { rests: || (), is_idle: || () };
}

/// The pool. Its threads end when it is dropped.
pub(crate) struct BoundedWork {
    line: Arc<Line>,
    meter: WorkMeter,
    /// What a refusal names.
    full: Overload,
}

/// What threads and callers share.
struct Line {
    waiting: Mutex<Waiting>,
    filled: Condvar,
}

struct Waiting {
    jobs: FairQueue<Job>,
    /// The pool was dropped.
    closed: bool,
}

/// What a thread does next.
enum Next {
    Job(Job),
    /// There was no job in time.
    Nothing,
    /// The pool was dropped.
    Closed,
}

/// A caller's place in the queue. Dropping it gives the place up, where the job has not begun.
struct Place<'a> {
    line: &'a Line,
    share: &'a QueueShare,
    ticket: Option<Ticket>,
}

impl BoundedWork {
    /// Starts the threads; `meter` counts what they do.
    ///
    /// # Errors
    /// [`Error::Internal`] when the system gives none.
    pub(crate) fn start(name: &str, size: PoolSize, meter: WorkMeter, pauses: Pauses) -> Result<Self, Error> {
        let waiting = Mutex::new(Waiting { jobs: FairQueue::new(size.places), closed: false });
        let line = Arc::new(Line { waiting, filled: Condvar::new() });
        let pool = Self { line, meter, full: Overload::Passwords };
        for _ in 0..size.threads {
            let line = Arc::clone(&pool.line);
            thread::Builder::new().name(name.to_owned()).spawn(move || line.work(pauses)).map_err(Error::internal)?;
        }
        Ok(pool)
    }

    /// The same whose refusals name other work than hashes, so that metrics tell the queues apart.
    pub(crate) fn naming(mut self, full: Overload) -> Self {
        self.full = full;
        self
    }

    /// Runs `work` on one of the threads, in the caller's span, once it is the share's turn. A job whose caller has gone is skipped,
    /// and a panic costs its own answer only.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the queue is full and nobody holds more of it, when the job loses its place to somebody who holds
    /// less, and when it has not begun after 3 seconds or at the deadline of the request.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        share: &QueueShare,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (answer, mut result) = oneshot::channel();
        let (waiting, span) = (self.meter.wait(), tracing::Span::current());
        let job = move || {
            if !answer.is_closed() {
                let running = waiting.run();
                let done = catch_unwind(AssertUnwindSafe(|| span.in_scope(work)));
                drop(running);
                // The caller may have gone in the meantime.
                let _ = answer.send(done.unwrap_or_else(|_| Err(Error::internal("work on a password panicked"))));
            }
        };
        let mut place = self.join(share, Box::new(job))?;
        let result = match deadline::wait(PATIENCE, &mut result).await {
            Ok(result) => result,
            Err(_) if place.leave() => return Err(self.refused()),
            // It has begun.
            Err(_) => result.await,
        };
        place.ticket = None;
        // A job is dropped unanswered only when it lost its place.
        result.unwrap_or_else(|_| Err(self.refused()))
    }

    fn join<'a>(&'a self, share: &'a QueueShare, job: Job) -> Result<Place<'a>, Error> {
        let joined = self.line.waiting().jobs.join(share, job);
        let Joined { ticket, given_up } = joined.ok_or_else(|| self.refused())?;
        self.line.filled.notify_one();
        // Outside of the lock: it wakes the caller who lost the place.
        drop(given_up);
        Ok(Place { line: &self.line, share, ticket: Some(ticket) })
    }

    fn refused(&self) -> Error {
        self.meter.refused();
        self.full.into()
    }
}

impl Drop for BoundedWork {
    fn drop(&mut self) {
        self.line.waiting().closed = true;
        self.line.filled.notify_all();
    }
}

impl Place<'_> {
    /// Gives the place up; `false` when the job has begun, or lost it.
    fn leave(&mut self) -> bool {
        let left = self.ticket.take().and_then(|ticket| self.line.waiting().jobs.leave(self.share, ticket));
        left.is_some()
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Line {
    /// A thread's loop: runs jobs until the pool is dropped.
    fn work(&self, pauses: Pauses) {
        priority::lower();
        loop {
            let next = match self.next(Some(Duration::ZERO)) {
                Next::Job(job) => Next::Job(job),
                Next::Nothing | Next::Closed => {
                    (pauses.rests)();
                    self.next(Some(IDLE))
                }
            };
            match next {
                Next::Job(job) => job(),
                Next::Closed => return,
                Next::Nothing => {
                    (pauses.is_idle)();
                    let Next::Job(job) = self.next(None) else { return };
                    job();
                }
            }
        }
    }

    /// Waits for a job, for as long as it takes or at most so long.
    fn next(&self, most: Option<Duration>) -> Next {
        let until = most.map(|most| Instant::now() + most);
        let mut waiting = self.waiting();
        loop {
            if waiting.closed {
                return Next::Closed;
            }
            if let Some(job) = waiting.jobs.take() {
                return Next::Job(job);
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            waiting = match left {
                Some(Duration::ZERO) => return Next::Nothing,
                Some(left) => self.filled.wait_timeout(waiting, left).unwrap_or_else(PoisonError::into_inner).0,
                None => self.filled.wait(waiting).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for BoundedWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BoundedWork({} waiting)", self.line.waiting().jobs.held())
    }
}

#[cfg(test)]
mod tests;
