//! The task that keeps a remembering verifier's answers true: it asks the service again and again what changed (long polling), one
//! question at a time for each organization. Nobody waits for it. When the service does not answer, what is remembered grows too old by
//! itself; when the service refuses, everything is forgotten.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError, RwLock, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Client;
use tokio::{runtime::Handle, sync::Notify, task::AbortHandle};

use super::{
    answers,
    exchange::{self, secret_header},
    remembered::{Answers, Remembered, Told},
};
use crate::{
    error::Error,
    memory::{Moment, Shelf},
    secret::ApiKeyText,
    value::Slug,
};

/// The largest age of answers, unless it is stated.
const MAX_AGE: Duration = Duration::from_secs(2);
/// The smallest age for which anything is remembered: for less, the service would be asked what changed more often than it is asked
/// who somebody is.
const LEAST_AGE: Duration = Duration::from_millis(100);
/// The longest that the service waits.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// The memory of a verifier.
const BYTES: usize = 64 * 1024 * 1024;
/// When nobody has asked for so long, nothing is kept true until somebody asks again.
const IDLE_AFTER: Duration = Duration::from_secs(60);

/// The most organizations of which answers are remembered at once, where one key opens all. One of them that nobody has come to for a
/// while makes room.
const MOST: usize = 1_000;

/// What a verifier remembers, by organization.
#[derive(Debug)]
pub(super) struct Remembering {
    max_age: Duration,
    /// The runtime that the verifier was made on: a worker's own may end before the verifier.
    runtime: Option<Handle>,
    answers: Answers,
    organizations: RwLock<HashMap<Slug, Arc<Organization>>>,
    tasks: Mutex<Vec<AbortHandle>>,
}

/// What is remembered of an organization, and the task that keeps it true.
#[derive(Debug)]
pub(super) struct Organization {
    pub(super) remembered: Remembered,
    was_asked: AtomicBool,
    is_followed: AtomicBool,
    /// Whether the task waits until somebody asks again.
    is_idle: AtomicBool,
    wanted: Notify,
}

/// Asks what changed of one organization.
#[derive(Clone)]
pub(super) struct Poller {
    pub(super) client: Client,
    pub(super) base: String,
    pub(super) org: Slug,
    pub(super) key: ApiKeyText,
}

impl Remembering {
    /// `None` for an age below [`LEAST_AGE`].
    pub(super) fn new(max_age: Option<Duration>) -> Option<Self> {
        let max_age = max_age.unwrap_or(MAX_AGE);
        (max_age >= LEAST_AGE).then(|| Self {
            max_age,
            runtime: Handle::try_current().ok(),
            answers: Arc::new(Shelf::new(BYTES)),
            organizations: RwLock::default(),
            tasks: Mutex::default(),
        })
    }

    /// The same with nothing remembered, for other keys.
    pub(super) fn anew(&self) -> Option<Self> {
        Self::new(Some(self.max_age))
    }

    /// What is remembered of an organization.
    pub(super) fn of(&self, org: &Slug) -> Option<Arc<Organization>> {
        self.organizations.read().unwrap_or_else(PoisonError::into_inner).get(org).cloned()
    }

    /// Begins to remember an organization; `None` when there is no room for one more.
    pub(super) fn begin(&self, org: &Slug) -> Option<Arc<Organization>> {
        let mut organizations = self.organizations.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = organizations.get(org) {
            return Some(Arc::clone(known));
        }
        if organizations.len() >= MOST {
            organizations.retain(|_, known| !known.is_idle.load(Ordering::Acquire) || known.leave());
        }
        if organizations.len() >= MOST {
            return None;
        }
        let known = Arc::new(Organization::new(self.max_age, &self.answers));
        organizations.insert(org.clone(), Arc::clone(&known));
        Some(known)
    }

    /// Notes that somebody asks, and has the task begin if there is none yet.
    pub(super) fn follow(&self, org: &Arc<Organization>, poller: impl FnOnce() -> Poller) {
        if !org.was_asked.load(Ordering::Relaxed) {
            org.was_asked.store(true, Ordering::Relaxed);
            org.wanted.notify_one();
        }
        if !org.is_followed.swap(true, Ordering::AcqRel) {
            let task = poll_on(Arc::downgrade(org), poller(), self.max_age);
            let task = match &self.runtime {
                Some(runtime) => runtime.spawn(task),
                None => tokio::spawn(task),
            };
            let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
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

impl Organization {
    fn new(max_age: Duration, answers: &Answers) -> Self {
        Self {
            remembered: Remembered::new(max_age, answers),
            was_asked: AtomicBool::new(false),
            is_followed: AtomicBool::new(false),
            is_idle: AtomicBool::new(false),
            wanted: Notify::new(),
        }
    }

    /// Wakes the task, which finds that nothing is left to keep true and ends. Returns that this one does not stay.
    fn leave(&self) -> bool {
        self.wanted.notify_one();
        false
    }
}

/// Asks what changed until the verifier is gone: at most four times within the largest age, so that somebody else's busy organization
/// costs no more than a quiet one.
async fn poll_on(org: Weak<Organization>, poller: Poller, max_age: Duration) {
    let wait = (max_age * 2 / 5).min(LONGEST_WAIT);
    let mut last_asked = Moment::now();
    let mut is_current = false;
    loop {
        let began = Moment::now();
        let Some(cursor) = org.upgrade().map(|org| org.remembered.cursor()) else { return };
        // At first, and after a failure, the answer is wanted at once.
        let outcome = poller.ask(cursor.as_deref(), if is_current { wait } else { Duration::ZERO }, max_age).await;
        let Some(known) = org.upgrade() else { return };
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
            known.is_idle.store(true, Ordering::Release);
            known.wanted.notified().await;
            known.is_idle.store(false, Ordering::Release);
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
        let question = self.client.get(url).header("x-org-slug", self.org.as_str());
        let answer = exchange::answered(question.header("x-api-key", secret_header(&self.key)?), patience).await?;
        Ok(if answer.status == 200 { answers::told(&answer) } else { None })
    }
}
