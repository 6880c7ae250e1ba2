//! The task that keeps a remembering verifier's answers true: it asks the service again and again what changed (long polling), one
//! question at a time for each key: of its organization, or with the deployment key of all. Nobody waits for it. When the service does not answer, what is remembered grows too old by
//! itself; when the service refuses, everything is forgotten.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use tokio::{runtime::Handle, sync::Notify, task::AbortHandle};

use super::{
    answers,
    exchange::secret_header,
    remembered::{Answers, Remembered, Told},
    server::Server,
};
use crate::{
    error::Error,
    memory::{Moment, Shelf},
    one_task::OneTask,
    secret::ApiKeyText,
    value::Slug,
};

/// The largest age of answers, unless it is stated.
const MAX_AGE: Duration = Duration::from_secs(2);
/// The smallest age for which anything is remembered: for less, the service would be asked what changed more often than it is asked
/// who somebody is.
const LEAST_AGE: Duration = Duration::from_millis(100);
/// The largest age: a verifier that the service's answers do not reach goes by memory for no longer, and multiples of it can be reckoned with.
const MOST_AGE: Duration = Duration::from_secs(3_600);
/// The longest that the service waits.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// The memory of a verifier.
const BYTES: usize = 64 * 1024 * 1024;
/// When nobody has asked for so long, nothing is kept true until somebody asks again.
const IDLE_AFTER: Duration = Duration::from_secs(60);

/// What a verifier remembers, by key.
#[derive(Debug)]
pub(super) struct Remembering {
    max_age: Duration,
    /// The runtime that the verifier was made on: a worker's own may end before the verifier.
    runtime: Option<Handle>,
    /// Of the organizations that have a key of their own.
    by_org: HashMap<Slug, Arc<OfKey>>,
    /// Of all others together, which the deployment key opens.
    of_others: Arc<OfKey>,
    tasks: Mutex<Vec<AbortHandle>>,
}

/// What is remembered of what a key opens, and the task that keeps it true.
#[derive(Debug)]
pub(super) struct OfKey {
    pub(super) remembered: Remembered,
    was_asked: AtomicBool,
    polls: OneTask,
    wanted: Notify,
}

/// Asks what changed of one organization, or of all.
#[derive(Clone)]
pub(super) struct Poller {
    pub(super) server: Arc<Server>,
    pub(super) base: String,
    /// `None`: of all, with a deployment key.
    pub(super) org: Option<Slug>,
    pub(super) key: ApiKeyText,
}

impl Remembering {
    /// For the organizations that have a key of their own. `None` for an age below [`LEAST_AGE`]; one above [`MOST_AGE`] is that.
    pub(super) fn new<'a>(max_age: Option<Duration>, orgs: impl Iterator<Item = &'a Slug>) -> Option<Self> {
        let max_age = max_age.unwrap_or(MAX_AGE).min(MOST_AGE);
        let answers = Arc::new(Shelf::new(BYTES));
        let of_key = || Arc::new(OfKey::new(max_age, &answers));
        (max_age >= LEAST_AGE).then(|| Self {
            max_age,
            runtime: Handle::try_current().ok(),
            by_org: orgs.map(|org| (org.clone(), of_key())).collect(),
            of_others: of_key(),
            tasks: Mutex::default(),
        })
    }

    /// The same with nothing remembered, for other keys.
    pub(super) fn anew<'a>(&self, orgs: impl Iterator<Item = &'a Slug>) -> Option<Self> {
        Self::new(Some(self.max_age), orgs)
    }

    /// What is remembered of what the organization's key opens.
    pub(super) fn of(&self, org: &Slug) -> &Arc<OfKey> {
        self.by_org.get(org).unwrap_or(&self.of_others)
    }

    /// Notes that somebody asks, and has the task begin if there is none yet.
    pub(super) fn follow(&self, of_key: &Arc<OfKey>, poller: impl FnOnce() -> Poller) {
        of_key.note_question();
        if let Some(polling) = of_key.polls.begin() {
            let polls = poll_on(Arc::downgrade(of_key), poller(), self.max_age);
            let task = async move {
                polls.await;
                drop(polling);
            };
            let task = match &self.runtime {
                Some(runtime) => runtime.spawn(task),
                None => tokio::spawn(task),
            };
            let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
            // On a runtime that has ended each of them ends at once.
            tasks.retain(|task| !task.is_finished());
            tasks.push(task.abort_handle());
        }
    }
}

impl Drop for Remembering {
    fn drop(&mut self) {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(AbortHandle::abort);
    }
}

impl OfKey {
    fn new(max_age: Duration, answers: &Answers) -> Self {
        Self {
            remembered: Remembered::new(max_age, answers),
            was_asked: AtomicBool::new(false),
            polls: OneTask::default(),
            wanted: Notify::new(),
        }
    }

    /// Notes that somebody asks.
    fn note_question(&self) {
        if !self.was_asked.load(Ordering::Relaxed) {
            self.was_asked.store(true, Ordering::Relaxed);
            self.wanted.notify_one();
        }
    }

    /// Waits until somebody asks. The notice of a question may be left from before, when nobody waited for it.
    async fn asked(&self) {
        while !self.was_asked.swap(false, Ordering::Relaxed) {
            self.wanted.notified().await;
        }
    }
}

/// Asks what changed until the verifier is gone: at most four times within the largest age, so that somebody else's busy organization
/// costs no more than a quiet one.
async fn poll_on(of_key: Weak<OfKey>, poller: Poller, max_age: Duration) {
    let wait = (max_age * 2 / 5).min(LONGEST_WAIT);
    let mut last_asked = Moment::now();
    let mut is_current = false;
    loop {
        let began = Moment::now();
        let Some(cursor) = of_key.upgrade().map(|of_key| of_key.remembered.cursor()) else { return };
        // At first, and after a failure, the answer is wanted at once.
        let outcome = poller.ask(cursor.as_deref(), if is_current { wait } else { Duration::ZERO }, max_age).await;
        let Some(known) = of_key.upgrade() else { return };
        is_current = matches!(outcome, Ok(Some(_)));
        match outcome {
            Ok(Some(told)) => known.remembered.apply(began, told),
            Ok(None) => known.remembered.forget(),
            Err(error) => tracing::debug!(error = %error.causes(), "what changed is not known; answers are asked for meanwhile"),
        }
        if known.was_asked.swap(false, Ordering::Relaxed) {
            last_asked = Moment::now();
        }
        if Moment::now().since(last_asked) > IDLE_AFTER {
            is_current = false;
            known.asked().await;
            last_asked = Moment::now();
        }
        drop(known);
        tokio::time::sleep((max_age / 4).saturating_sub(Moment::now().since(began))).await;
    }
}

impl Poller {
    /// `GET /public/changes`: `None` when the service refuses.
    async fn ask(&self, cursor: Option<&str>, wait: Duration, patience: Duration) -> Result<Option<Told>, Error> {
        let after = cursor.map(|cursor| format!("&after={}", utf8_percent_encode(cursor, NON_ALPHANUMERIC)));
        let url = format!("{}/public/changes?wait={}{}", self.base, wait.as_millis(), after.unwrap_or_default());
        let pool = self.server.pool();
        let mut question = pool.client.get(url).header("x-api-key", secret_header(&self.key)?);
        if let Some(org) = &self.org {
            question = question.header("x-org-slug", org.as_str());
        }
        let answer = self.server.ask_in_background(&pool, question, patience).await?;
        Ok(if answer.status == 200 { answers::told(&answer) } else { None })
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    #[test]
    fn no_age_is_beyond_what_can_be_reckoned_with() {
        let remembering = |age| Remembering::new(age, std::iter::empty()).map(|remembering| remembering.max_age);
        assert_eq!(remembering(Some(Duration::MAX)), Some(MOST_AGE));
        assert_eq!(remembering(Some(MOST_AGE)), Some(MOST_AGE));
        assert_eq!(remembering(None), Some(MAX_AGE));
        assert_eq!(remembering(Some(Duration::ZERO)), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_of_before_ends_no_idleness() {
        let of_key = OfKey::new(MAX_AGE, &Arc::new(Shelf::new(BYTES)));
        of_key.note_question();
        assert!(of_key.was_asked.swap(false, Ordering::Relaxed), "it is seen between two polls");
        assert!(timeout(IDLE_AFTER, of_key.asked()).await.is_err(), "nobody asked since");
        of_key.note_question();
        assert!(timeout(IDLE_AFTER, of_key.asked()).await.is_ok());
    }
}
