//! When API keys were last used, within a minute. A use is written once a minute for each key, beside the request and not in
//! it: verification must not wait for the database's writer.

use std::{collections::HashMap, sync::Mutex, sync::PoisonError, time::Duration};

use crate::{builder::TenantAuth, id::ApiKeyId, time::Timestamp};

const WITHIN: Duration = Duration::from_secs(60);

/// The last use written for each key by this process. Only genuine keys get here, so it is as large as there are keys in use.
#[derive(Debug, Default)]
pub(crate) struct KeyUses(Mutex<HashMap<ApiKeyId, Timestamp>>);

impl KeyUses {
    /// Whether a use at `now` is to be written.
    fn is_news(&self, key: &ApiKeyId, last_used_at: Option<Timestamp>, now: Timestamp) -> bool {
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

impl TenantAuth {
    /// Notes that a key was used.
    pub(crate) fn note_key_use(&self, key: &ApiKeyId, last_used_at: Option<Timestamp>) {
        let now = self.now();
        if !self.key_uses().is_news(key, last_used_at, now) {
            return;
        }
        let (auth, key) = (self.clone(), key.clone());
        self.runtime().spawn(async move {
            let written = async {
                let mut tx = auth.store().begin().await?;
                tx.api_keys().mark_used(&key, now).await?;
                tx.commit(now, auth.entropy()).await
            };
            if let Err(error) = written.await {
                tracing::debug!(key = %key, %error, "the use of a key was not written");
            }
        });
    }
}
