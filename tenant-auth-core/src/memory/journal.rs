//! The latest changes by organization, for backends that remember: they ask again and again what changed (long polling), and one look
//! at the log serves all who wait. Kept while somebody asks, and bounded: two pages, of which the older one goes when the younger one
//! is full. What was before the pages is read from the database.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::sync::Notify;

use super::{
    moment::Moment,
    news::{Asker, Bookmark, News},
};
use crate::{
    id::OrgId,
    store::{Named, Place, Sight},
};

/// The most rows of a page.
const MOST: usize = 25_000;
/// A page that began so long ago is turned.
const TURNED_AFTER: Duration = Duration::from_secs(30);
/// How long the pages are kept after the last question.
const KEPT_FOR: Duration = Duration::from_secs(60);
/// The most questions of one key about one organization that may wait at once.
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
    waiting_of: HashMap<Asker, usize>,
    waiting_of_all: usize,
    has_driver: bool,
}

/// Those who wait for changes of one organization.
#[derive(Debug, Default)]
struct Waiting {
    count: usize,
    notices: Notices,
}

/// What those who ask for one organization's changes share.
#[derive(Debug, Clone, Default)]
pub(super) struct Notices {
    /// Comes with whatever may concern them.
    pub(super) changed: Arc<Notify>,
    /// The organization's turn at the database: one question at a time, so that one organization's many leave it to others'.
    pub(super) turn: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Debug)]
struct Pages {
    newest: Bookmark,
    former: Page,
    current: Page,
}

/// What looks named since a place.
#[derive(Debug)]
struct Page {
    since: Place,
    began: Moment,
    count: usize,
    of_all: Vec<Named>,
    by_org: HashMap<OrgId, Vec<Named>>,
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
                pages.take_in(&sight.named, now);
                pages.newest = newest;
                inner.pages = Some(pages);
                inner.wake(&sight.named);
            }
            None => {
                let page = || Page::since(sight.place.clone(), now);
                inner.pages = Some(Pages { newest, former: page(), current: page() });
                inner.waiting.values().for_each(|waiting| waiting.notices.changed.notify_waiters());
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
        let waiting = inner.waiting.entry(asker.org.clone()).or_default();
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
        if let Some(waiting) = inner.waiting.get_mut(&asker.org) {
            waiting.count -= 1;
            if waiting.count == 0 {
                inner.waiting.remove(&asker.org);
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
        if !pages.former.since.is_within(&seen.place) {
            return Known::Earlier;
        }
        let rows = pages.former.of(&asker.org).chain(pages.current.of(&asker.org));
        let news = News::of(rows.filter(|row| seen.place.precedes(row.number)), asker);
        // The bookmark may be of a later reading of the same question.
        let now = if seen.place.is_within(&pages.newest.place) { &pages.newest } else { seen };
        Known::Since(news, now.clone())
    }

    /// Whether a task must be started that looks while somebody waits.
    pub(super) fn wants_driver(&self) -> bool {
        !std::mem::replace(&mut self.inner().has_driver, true)
    }

    /// Whether that task may end, for nobody waits.
    pub(super) fn is_idle(&self) -> bool {
        let mut inner = self.inner();
        inner.has_driver = inner.waiting_of_all > 0;
        !inner.has_driver
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn wake(&self, named: &[Named]) {
        for row in named {
            match &row.org_id {
                Some(org) => self.waiting.get(org).into_iter().for_each(|waiting| waiting.notices.changed.notify_waiters()),
                None if News::concerns_nobody(row) => {}
                None => self.waiting.values().for_each(|waiting| waiting.notices.changed.notify_waiters()),
            }
        }
    }
}

impl Pages {
    fn take_in(&mut self, named: &[Named], now: Moment) {
        if self.current.count + named.len() > MOST || now.since(self.current.began) > TURNED_AFTER {
            self.former = std::mem::replace(&mut self.current, Page::since(self.newest.place.clone(), now));
        }
        named.iter().cloned().for_each(|row| self.current.take_in(row));
    }
}

impl Page {
    fn since(since: Place, began: Moment) -> Self {
        Self { since, began, count: 0, of_all: Vec::new(), by_org: HashMap::new() }
    }

    fn take_in(&mut self, row: Named) {
        if News::concerns_nobody(&row) {
            return;
        }
        self.count += 1;
        match &row.org_id {
            Some(org) => self.by_org.entry(org.clone()).or_default().push(row),
            None => self.of_all.push(row),
        }
    }

    /// What concerns an organization.
    fn of(&self, org: &OrgId) -> impl Iterator<Item = &Named> {
        self.of_all.iter().chain(self.by_org.get(org).into_iter().flatten())
    }
}
