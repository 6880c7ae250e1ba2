//! Notes of blocked logins, in this process: a refused request leaves one instead of writing to the database.

use std::{
    collections::HashMap,
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
pub(crate) struct BlockedLogins(Mutex<Notes>);

#[derive(Debug, Default)]
struct Notes {
    waiting: Vec<BlockedLogin>,
    /// Until when a further refusal is no news, by organization and key of the account.
    noted: HashMap<(OrgId, String), Timestamp>,
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

    /// It was no news after all.
    pub(super) fn forget(&self, org: &OrgId, key: &str) {
        self.notes().noted.remove(&(org.clone(), key.to_owned()));
    }

    /// Keeps a note; `true` when nobody is about to tell the notes.
    pub(super) fn keep(&self, note: BlockedLogin) -> bool {
        let mut notes = self.notes();
        notes.waiting.push(note);
        !std::mem::replace(&mut notes.is_scheduled, true)
    }

    /// The notes, to be told now.
    pub(super) fn take(&self) -> Vec<BlockedLogin> {
        let mut notes = self.notes();
        notes.is_scheduled = false;
        std::mem::take(&mut notes.waiting)
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
}
