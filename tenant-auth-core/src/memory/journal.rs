//! The latest changes, for backends that remember: they ask again and again what changed of their organization, or of all (long
//! polling), and one look at the log serves all who wait. Kept while somebody asks, and bounded (`pages.rs`). What was before the pages
//! is read from the database.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::sync::Notify;

use super::{
    moment::Moment,
    news::{Asker, Bookmark, News},
    pages::Pages,
};
use crate::{
    id::OrgId,
    one_task::{OneTask, Running},
    store::{Named, Sight},
};

/// How long the pages are kept after the last question.
const KEPT_FOR: Duration = Duration::from_secs(60);
/// The most questions of one key about one organization, or about all, that may wait at once.
const MOST_OF_A_KEY: usize = 16;
/// The most questions that may wait at once.
const MOST_OF_ALL: usize = 16_384;

/// The journal.
#[derive(Debug, Default)]
pub(super) struct Journal(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    asked: Option<Moment>,
    pages: Option<Pages>,
    waiting: HashMap<OrgId, Waiting>,
    /// For those who wait for changes of whichever organization.
    of_any: Notices,
    waiting_of: HashMap<Asker, usize>,
    waiting_of_all: usize,
    looks: OneTask,
}

/// Those who wait for changes of one organization.
#[derive(Debug, Default)]
struct Waiting {
    count: usize,
    notices: Notices,
}

/// What those who ask for the changes of one organization share, or those who ask for all.
#[derive(Debug, Clone, Default)]
pub(super) struct Notices {
    /// Comes with whatever may concern them.
    pub(super) changed: Arc<Notify>,
    /// Their turn at the database: one question at a time, so that the many of one organization leave it to others'.
    pub(super) turn: Arc<tokio::sync::Mutex<()>>,
}

/// What the journal knows.
#[derive(Debug)]
pub(crate) enum Known {
    /// What changed, and how far that was seen.
    Since(News, Bookmark),
    /// The question goes back further than the pages.
    Earlier,
}

/// Why a question cannot wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Full {
    OfThisKey,
    OfAll,
}

impl Journal {
    /// Takes in what a look saw, and wakes whom it concerns.
    pub(super) fn apply(&self, sight: &Sight) {
        let (mut inner, now) = (self.inner(), Moment::now());
        let is_wanted = inner.waiting_of_all > 0 || inner.asked.is_some_and(|asked| now.since(asked) < KEPT_FOR);
        if !is_wanted {
            inner.pages = None;
            return;
        }
        let newest = Bookmark::of(sight);
        let is_continued = |pages: &Pages| !sight.everything && pages.newest.incarnation == newest.incarnation;
        match inner.pages.take().filter(is_continued) {
            Some(mut pages) => {
                pages.take_in(&sight.named, newest, now);
                inner.pages = Some(pages);
                inner.wake(&sight.named);
            }
            None => {
                inner.pages = Some(Pages::since(newest, now));
                inner.wake_all();
            }
        }
    }

    /// Takes a place for a question; looks that are applied from now on are kept.
    pub(super) fn enter(&self, asker: &Asker) -> Result<Notices, Full> {
        let mut inner = self.inner();
        if inner.waiting_of_all >= MOST_OF_ALL {
            return Err(Full::OfAll);
        }
        let of_key = inner.waiting_of.entry(asker.clone()).or_default();
        if *of_key >= MOST_OF_A_KEY {
            return Err(Full::OfThisKey);
        }
        *of_key += 1;
        inner.waiting_of_all += 1;
        inner.asked = Some(Moment::now());
        let Some(org) = &asker.org else { return Ok(inner.of_any.clone()) };
        let waiting = inner.waiting.entry(org.clone()).or_default();
        waiting.count += 1;
        Ok(waiting.notices.clone())
    }

    /// Gives the place back.
    pub(super) fn leave(&self, asker: &Asker) {
        let mut inner = self.inner();
        inner.waiting_of_all -= 1;
        inner.asked = Some(Moment::now());
        if let Some(of_key) = inner.waiting_of.get_mut(asker) {
            *of_key -= 1;
            if *of_key == 0 {
                inner.waiting_of.remove(asker);
            }
        }
        if let Some(org) = &asker.org
            && let Some(waiting) = inner.waiting.get_mut(org)
        {
            waiting.count -= 1;
            if waiting.count == 0 {
                inner.waiting.remove(org);
            }
        }
    }

    /// How far the last look saw; `None` when none was kept yet.
    pub(super) fn newest(&self) -> Option<Bookmark> {
        self.inner().pages.as_ref().map(|pages| pages.newest.clone())
    }

    /// What changed since a bookmark, as far as the pages go.
    pub(super) fn since(&self, seen: &Bookmark, asker: &Asker) -> Known {
        let inner = self.inner();
        let Some(pages) = &inner.pages else { return Known::Earlier };
        if !seen.is_continued_by(&pages.newest) {
            return Known::Since(News::everything(), pages.newest.clone());
        }
        let Some(rows) = pages.after(&seen.place, asker.org.as_ref()) else { return Known::Earlier };
        let news = News::of(rows, &asker.key);
        // The bookmark may be of a later reading of the same question.
        let now = if seen.place.is_within(&pages.newest.place) { &pages.newest } else { seen };
        Known::Since(news, now.clone())
    }

    /// Whether a task must be started that looks while somebody waits: what it holds.
    pub(super) fn begin_looks(&self) -> Option<Running> {
        self.inner().looks.begin()
    }

    /// That task goes on while somebody waits.
    pub(super) fn goes_on(&self, looking: Running) -> Option<Running> {
        let inner = self.inner();
        (inner.waiting_of_all > 0).then_some(looking)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn wake(&self, named: &[Named]) {
        for row in named.iter().filter(|row| !News::concerns_nobody(row)) {
            match &row.org_id {
                Some(org) => {
                    self.waiting.get(org).into_iter().for_each(|waiting| waiting.notices.changed.notify_waiters());
                    self.of_any.changed.notify_waiters();
                }
                None => self.wake_all(),
            }
        }
    }

    fn wake_all(&self) {
        let notices = self.waiting.values().map(|waiting| &waiting.notices);
        notices.chain([&self.of_any]).for_each(|notices| notices.changed.notify_waiters());
    }
}
