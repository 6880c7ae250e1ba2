//! Readiness: whether this process can serve requests now. The check tries a write and reads the signing keys, because reads alone
//! still work with a full disk, a read-only standby or a missing master key; and it has memory look for changes, without which no session
//! is answered, over a connection of its own. The check runs in the background once a second while
//! health checks come in, so that no health check waits behind a busy disk.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use tokio::{
    runtime::Handle,
    sync::watch,
    time::{Instant, sleep_until, timeout, timeout_at},
};

use crate::{
    error::Error,
    keys::Keyring,
    memory::Memory,
    one_task::{OneTask, Running},
    store::Store,
};

/// The time limit of a trial, after which the trial has failed, and of the answer to a health check.
const PATIENCE: Duration = Duration::from_secs(2);
/// The interval from the start of one trial to the start of the next.
const EVERY: Duration = Duration::from_secs(1);
/// The greatest age of an outcome that is still told; an older one is not told, and a newer one is waited for.
const FRESH: Duration = Duration::from_secs(2);
/// The trials end when no health check has come for this time, which is longer than any usual monitoring interval.
const QUIET: Duration = Duration::from_secs(90);

/// The outcome of a trial; by default nothing works.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) is_writable: bool,
    pub(crate) has_keys: bool,
    /// Whether memory can learn of changes.
    pub(crate) can_look: bool,
}

impl Outcome {
    pub(crate) fn is_ready(self) -> bool {
        self.is_writable && self.has_keys && self.can_look
    }
}

/// The last outcome, and the task that keeps it fresh.
#[derive(Debug, Default)]
pub(crate) struct Readiness(Arc<Board>);

#[derive(Debug, Default)]
struct Board {
    last: watch::Sender<Option<Tried>>,
    interest: Mutex<Interest>,
}

#[derive(Debug, Clone, Copy)]
struct Tried {
    at: Instant,
    outcome: Outcome,
}

#[derive(Debug, Default)]
struct Interest {
    asked_at: Option<Instant>,
    trials: OneTask,
}

impl Readiness {
    /// The outcome of the last trial, told within `PATIENCE`. Starts running `trial` again and again on `runtime`, unless a task
    /// does so already. A trial is given the moment by which it ends: only it knows what took the time.
    pub(crate) async fn told<T, F>(&self, runtime: &Handle, trial: T) -> Outcome
    where
        T: Fn(Instant) -> F + Send + Sync + 'static,
        F: Future<Output = Outcome> + Send,
    {
        if let Some(mut trying) = self.0.begin_trials() {
            let board = Arc::downgrade(&self.0);
            runtime.spawn(async move {
                while let Some((next, still)) = round(&board, &trial, trying).await {
                    trying = still;
                    sleep_until(next).await;
                }
            });
        }
        let mut last = self.0.last.subscribe();
        let fresh = async { last.wait_for(is_fresh).await.ok().and_then(|tried| *tried) };
        timeout(PATIENCE, fresh).await.ok().flatten().map_or_else(Outcome::default, |tried| tried.outcome)
    }
}

fn is_fresh(tried: &Option<Tried>) -> bool {
    tried.is_some_and(|tried| tried.at.elapsed() < FRESH)
}

/// Runs one trial; returns when the next one is due, or `None` when the trials end.
async fn round<T, F>(board: &Weak<Board>, trial: &T, trying: Running) -> Option<(Instant, Running)>
where
    T: Fn(Instant) -> F,
    F: Future<Output = Outcome>,
{
    let began = Instant::now();
    let outcome = trial(began + PATIENCE).await;
    let board = board.upgrade()?; // gone with the service
    board.last.send_replace(Some(Tried { at: Instant::now(), outcome }));
    Some((began + EVERY, board.goes_on(trying)?))
}

impl Board {
    /// Notes a health check; the trials must be started for it when there are none.
    fn begin_trials(&self) -> Option<Running> {
        let mut interest = self.interest();
        interest.asked_at = Some(Instant::now());
        interest.trials.begin()
    }

    /// The trials go on while health checks still come in.
    fn goes_on(&self, trying: Running) -> Option<Running> {
        let interest = self.interest();
        interest.asked_at.is_some_and(|asked_at| asked_at.elapsed() < QUIET).then_some(trying)
    }

    fn interest(&self) -> MutexGuard<'_, Interest> {
        self.interest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tries a write, to read the keys, and a look, in the time until then. What is not reached has not succeeded.
pub(crate) async fn trial(store: Store, keys: Weak<Keyring>, memory: Weak<Memory>, until: Instant) -> Outcome {
    let is_writable = succeeds("write", until, store.try_writing()).await;
    let Some((keys, memory)) = keys.upgrade().zip(memory.upgrade()) else { return Outcome::default() };
    let has_keys = succeeds("keys", until, keys.reload()).await;
    let can_look = succeeds("look", until, async { memory.view_from_now().await.map(drop) }).await;
    Outcome { is_writable, has_keys, can_look }
}

/// Whether this part of a trial succeeds. The log says which did not: each has another cure.
async fn succeeds(trial: &'static str, until: Instant, tried: impl Future<Output = Result<(), Error>>) -> bool {
    if Instant::now() >= until {
        return false; // the part before took all the time, and is in the log
    }
    match timeout_at(until, tried).await {
        Ok(Ok(())) => true,
        Ok(Err(error)) => {
            tracing::error!(trial, error = %error.causes(), "not ready");
            false
        }
        Err(_) => {
            tracing::error!(trial, error = %format_args!("the database gave no answer within {PATIENCE:?}"), "not ready");
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use tokio::time::{advance, sleep};

    use super::*;

    const GOOD: Outcome = Outcome { is_writable: true, has_keys: true, can_look: true };
    /// Between two questions.
    const STEP: Duration = Duration::from_millis(100);

    /// A database that answers after `delay` milliseconds, and counts.
    #[derive(Default)]
    struct Database {
        delay: AtomicU64,
        trials: AtomicU64,
    }

    async fn ask(readiness: &Readiness, database: &Arc<Database>) -> Outcome {
        let database = Arc::clone(database);
        let trial = move |until| {
            let database = Arc::clone(&database);
            async move {
                database.trials.fetch_add(1, Ordering::Relaxed);
                let answer = sleep(Duration::from_millis(database.delay.load(Ordering::Relaxed)));
                timeout_at(until, answer).await.map_or_else(|_| Outcome::default(), |()| GOOD)
            }
        };
        readiness.told(&Handle::current(), trial).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_is_answered_at_once_from_a_trial_of_the_last_seconds() {
        let (readiness, database) = (Readiness::default(), Arc::new(Database::default()));
        database.delay.store(900, Ordering::Relaxed);
        assert_eq!(ask(&readiness, &database).await, GOOD);
        let since = Instant::now();
        for _ in 0..1_000 {
            sleep(Duration::from_millis(10)).await;
            let asked = Instant::now();
            assert_eq!(ask(&readiness, &database).await, GOOD);
            assert_eq!(asked.elapsed(), Duration::ZERO, "nobody waits for the trial that runs");
        }
        let trials = database.trials.load(Ordering::Relaxed);
        assert!((10..=12).contains(&trials), "{trials} trials in {:?}", since.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn a_database_that_gives_no_answer_is_noticed_in_time_and_so_is_its_return() {
        let (readiness, database) = (Readiness::default(), Arc::new(Database::default()));
        assert_eq!(ask(&readiness, &database).await, GOOD);
        database.delay.store(60_000, Ordering::Relaxed);
        let since = Instant::now();
        while ask(&readiness, &database).await == GOOD {
            sleep(STEP).await;
        }
        assert!(since.elapsed() <= EVERY + PATIENCE + STEP, "{:?}", since.elapsed());
        let asked = Instant::now();
        assert_eq!(ask(&readiness, &database).await, Outcome::default());
        assert!(asked.elapsed() <= PATIENCE + STEP, "{:?}", asked.elapsed());

        database.delay.store(0, Ordering::Relaxed);
        let since = Instant::now();
        while ask(&readiness, &database).await != GOOD {
            sleep(STEP).await;
        }
        assert!(since.elapsed() <= PATIENCE + EVERY + STEP, "{:?}", since.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_tried_when_nobody_asks() {
        let (readiness, database) = (Readiness::default(), Arc::new(Database::default()));
        ask(&readiness, &database).await;
        sleep(QUIET + EVERY * 2).await;
        let trials = database.trials.load(Ordering::Relaxed);
        sleep(QUIET).await;
        assert_eq!(database.trials.load(Ordering::Relaxed), trials);
        assert_eq!(ask(&readiness, &database).await, GOOD, "and it begins again with the next question");
        drop(readiness);
        let trials = database.trials.load(Ordering::Relaxed);
        advance(EVERY * 10).await;
        sleep(EVERY).await;
        assert!(database.trials.load(Ordering::Relaxed) <= trials + 1, "it ends with the service");
    }

    #[tokio::test(start_paused = true)]
    async fn a_trial_that_panicked_is_followed_by_others() {
        let (readiness, tried) = (Readiness::default(), Arc::new(AtomicU64::new(0)));
        for expected in [Outcome::default(), GOOD] {
            let tried = Arc::clone(&tried);
            let trial = move |_: Instant| {
                let number = tried.fetch_add(1, Ordering::Relaxed);
                async move {
                    assert!(number > 0, "a defect, made to order");
                    GOOD
                }
            };
            assert_eq!(readiness.told(&Handle::current(), trial).await, expected);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_takes_all_the_time_is_all_that_is_tried() {
        let until = Instant::now() + PATIENCE;
        assert!(succeeds("write", until, async { Ok(()) }).await);
        assert!(!succeeds("keys", until, async { Err(Error::unavailable("no key")) }).await);
        assert!(!succeeds("look", until, std::future::pending()).await);
        assert!(Instant::now() >= until);
        assert!(!succeeds("look", until, async { Ok(()) }).await, "there is no time left");
    }
}
