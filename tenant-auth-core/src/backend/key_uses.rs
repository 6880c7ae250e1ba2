//! The last use of each key, accurate to a minute. A use is written at most once a minute per key, in a task beside the
//! request: verification must not wait for the database's writer.

use std::{collections::HashMap, sync::Mutex, sync::PoisonError, time::Duration};

use crate::{id::KeyId, time::Timestamp};

const WITHIN: Duration = Duration::from_secs(60);
/// How long after a failure nothing more is written of a key: a database that is busy gets no write with every request.
const PAUSE: Duration = Duration::from_secs(5);

/// The last use that this process has written, by key. Only genuine keys get here, so the map is at most as large as the number of
/// keys in use.
#[derive(Debug, Default)]
pub(crate) struct KeyUses(Mutex<HashMap<KeyId, Timestamp>>);

impl KeyUses {
    /// Whether a use at `now` must be written.
    pub(super) fn is_news(&self, key: &KeyId, last_used_at: Option<Timestamp>, now: Timestamp) -> bool {
        // One that is further ahead is of before the clock was set back.
        let recent = |at: Timestamp| now < at.plus(WITHIN) && at < now.plus(WITHIN);
        if last_used_at.is_some_and(recent) {
            return false;
        }
        let mut written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if written.get(key).is_some_and(|at| recent(*at)) {
            return false;
        }
        written.retain(|_, at| recent(*at));
        written.insert(key.clone(), now);
        true
    }

    /// The use `at` this time could not be written, as was found `now`: one after a pause is news.
    pub(super) fn failed(&self, key: &KeyId, at: Timestamp, now: Timestamp) {
        let mut written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = written.get_mut(key).filter(|known| **known == at) {
            *known = now.plus(PAUSE).minus(WITHIN);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_is_news_once_a_minute_also_after_the_clock_was_set_back() {
        let (uses, key) = (KeyUses::default(), "key_01k9f3s8v6q2w4x7y9z0a1b2c3".parse().expect("an id"));
        let noon = Timestamp::from_secs(1_800_000_000);
        let is_news = |now: Timestamp| uses.is_news(&key, Some(noon), now);
        assert!(!is_news(noon) && is_news(noon.plus(WITHIN)) && !is_news(noon.plus(WITHIN * 3 / 2)));
        let earlier = noon.minus(WITHIN * 60);
        assert!(is_news(earlier) && !is_news(earlier.plus(WITHIN / 2)) && is_news(earlier.plus(WITHIN)));
    }

    #[test]
    fn after_a_use_that_was_not_written_one_after_a_pause_is_news() {
        let (uses, key) = (KeyUses::default(), "key_01k9f3s8v6q2w4x7y9z0a1b2c3".parse().expect("an id"));
        let noon = Timestamp::from_secs(1_800_000_000);
        assert!(uses.is_news(&key, None, noon));
        uses.failed(&key, noon.minus(WITHIN), noon);
        assert!(!uses.is_news(&key, None, noon.plus(PAUSE)), "that was another one");
        uses.failed(&key, noon, noon.plus(PAUSE));
        let is_news = |now: Timestamp| uses.is_news(&key, None, now);
        assert!(!is_news(noon.plus(PAUSE)) && !is_news(noon.plus(PAUSE * 3 / 2)) && is_news(noon.plus(PAUSE * 2)));
    }
}
