//! The last use of each key, accurate to a minute. A use is written at most once a minute per key, in a task beside the
//! request: verification must not wait for the database's writer.

use std::{collections::HashMap, sync::Mutex, sync::PoisonError, time::Duration};

use crate::{id::KeyId, time::Timestamp};

const WITHIN: Duration = Duration::from_secs(60);

/// The last use that this process has written, by key. Only genuine keys get here, so the map is at most as large as the number of
/// keys in use.
#[derive(Debug, Default)]
pub(crate) struct KeyUses(Mutex<HashMap<KeyId, Timestamp>>);

impl KeyUses {
    /// Whether a use at `now` must be written.
    pub(super) fn is_news(&self, key: &KeyId, last_used_at: Option<Timestamp>, now: Timestamp) -> bool {
        let recent = |at: Timestamp| now < at.plus(WITHIN);
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
}
