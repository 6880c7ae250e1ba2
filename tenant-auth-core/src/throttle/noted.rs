//! Notes of blocked logins, in this process: a refused request leaves one instead of writing to the database.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    audit::context::RequestContext,
    id::{OrgId, UserId},
    model::Organization,
    time::Timestamp,
    value::Email,
};

/// The most logins that are remembered as noted. Whoever has so many blocked within an hour is an attacker of the service and not of a
/// person; the log lines tell of it.
const MOST: usize = 10_000;

/// The notes of this process.
#[derive(Debug, Default)]
pub(crate) struct BlockedLogins {
    notes: Mutex<Notes>,
    turn: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Notes {
    waiting: VecDeque<BlockedLogin>,
    /// Until when a further refusal is no news, by organization and key of the account.
    noted: HashMap<(OrgId, String), Timestamp>,
    /// Whether somebody tells the notes, or is about to.
    is_scheduled: bool,
}

/// Whose login was refused.
#[derive(Debug, Clone)]
pub(crate) enum Whose {
    /// That of the account with this address, if there is one.
    Address(Email),
    /// The second step of this account's.
    Account(UserId),
}

/// A login that was refused.
#[derive(Debug)]
pub(crate) struct BlockedLogin {
    pub(super) org: Arc<Organization>,
    pub(super) whose: Whose,
    pub(super) until: Timestamp,
    pub(super) request: RequestContext,
}

impl BlockedLogins {
    /// Whether this was not noted before, or is no longer. It is noted `until` then.
    pub(super) fn is_news(&self, org: &OrgId, key: &str, now: Timestamp, until: Timestamp) -> bool {
        let mut notes = self.notes();
        let key = (org.clone(), key.to_owned());
        // One that ends later is of before the clock was set back, and would count for longer than it may.
        let counts = |known: Timestamp| now < known && known <= until;
        if notes.noted.get(&key).is_some_and(|known| counts(*known)) {
            return false;
        }
        if notes.noted.len() >= MOST {
            notes.noted.retain(|_, known| counts(*known));
        }
        let has_room = notes.noted.len() < MOST;
        if has_room {
            notes.noted.insert(key, until);
        }
        has_room
    }

    /// The mark that this was noted, which is taken back unless something came of it.
    pub(super) fn mark(&self, org: &OrgId, key: &str) -> Mark<'_> {
        Mark { logins: self, noted: Some((org.clone(), key.to_owned())) }
    }

    /// Keeps a note; `true` when nobody tells the notes, or is about to.
    pub(super) fn keep(&self, note: BlockedLogin) -> bool {
        let mut notes = self.notes();
        notes.waiting.push_back(note);
        !std::mem::replace(&mut notes.is_scheduled, true)
    }

    /// Waits for the turn to tell the notes. One at a time has it, so that an organization that is held keeps one connection waiting.
    pub(super) async fn turn(&self) -> Turn<'_> {
        Turn { _alone: self.turn.lock().await, logins: self }
    }

    /// The next note to be told. Where there is none, nobody tells them any more: whoever keeps another has it told.
    pub(super) fn next(&self) -> Option<BlockedLogin> {
        let mut notes = self.notes();
        let next = notes.waiting.pop_front();
        if next.is_none() {
            notes.is_scheduled = false;
        }
        next
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The turn to tell the notes.
#[must_use = "dropped at once it keeps nobody from telling"]
pub(super) struct Turn<'n> {
    logins: &'n BlockedLogins,
    _alone: tokio::sync::MutexGuard<'n, ()>,
}

impl Drop for Turn<'_> {
    /// Where it ends early, as by a panic, nobody tells what waits.
    fn drop(&mut self) {
        self.logins.notes().is_scheduled = false;
    }
}

/// That a login was noted. Dropped, as where the client goes away, it was not: the next refusal is news.
#[must_use = "dropped at once it notes nothing"]
pub(super) struct Mark<'n> {
    logins: &'n BlockedLogins,
    noted: Option<(OrgId, String)>,
}

impl Mark<'_> {
    /// Something came of it.
    pub(super) fn stays(mut self) {
        self.noted = None;
    }
}

impl Drop for Mark<'_> {
    fn drop(&mut self) {
        if let Some(noted) = self.noted.take() {
            self.logins.notes().noted.remove(&noted);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const NOON: Timestamp = Timestamp::from_secs(1_800_000_000);
    const HOUR: Duration = Duration::from_secs(3_600);

    #[test]
    fn a_clock_set_back_keeps_no_note_for_longer_than_it_counts() {
        let (logins, org) = (BlockedLogins::default(), OrgId::from_stored("org_1"));
        let is_news = |now: Timestamp| logins.is_news(&org, "account", now, now.plus(HOUR));
        assert!(is_news(NOON) && !is_news(NOON.plus(HOUR / 2)));
        let earlier = NOON.minus(HOUR * 5);
        assert!(is_news(earlier) && !is_news(earlier.plus(HOUR / 2)) && is_news(earlier.plus(HOUR)));
    }

    #[test]
    fn what_came_to_nothing_is_news_again() {
        let (logins, org) = (BlockedLogins::default(), OrgId::from_stored("org_1"));
        let is_news = || logins.is_news(&org, "account", NOON, NOON.plus(HOUR));
        assert!(is_news());
        logins.mark(&org, "account").stays();
        assert!(!is_news());
        drop(logins.mark(&org, "account"));
        assert!(is_news());
    }
}
