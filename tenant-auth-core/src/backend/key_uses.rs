//! When API keys were last used, within a minute. A use is written once a minute for each key, beside the request and not in
//! it: verification must not wait for the database's writer.

use std::{collections::HashMap, sync::Mutex, sync::PoisonError, time::Duration};

use crate::{id::ApiKeyId, time::Timestamp};

const WITHIN: Duration = Duration::from_secs(60);

/// The last use written for each key by this process. Only genuine keys get here, so it is as large as there are keys in use.
#[derive(Debug, Default)]
pub(crate) struct KeyUses(Mutex<HashMap<ApiKeyId, Timestamp>>);

impl KeyUses {
    /// Whether a use at `now` is to be written.
    pub(super) fn is_news(&self, key: &ApiKeyId, last_used_at: Option<Timestamp>, now: Timestamp) -> bool {
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
