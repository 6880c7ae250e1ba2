//! Readiness: whether this process can serve requests now. The check tries a write and reads the signing keys, because reads alone
//! still work with a full disk, a read-only standby or a missing master key. The check runs at most once a second, however many
//! requests ask for it.

use std::time::{Duration, Instant};

use tokio::{sync::Mutex, time::timeout};

use crate::{keys::Keyring, store::Store};

/// The time limit of an answer, also while the database gives none.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a result is reused before the next try.
const FRESH: Duration = Duration::from_secs(1);

/// The result of the last try.
#[derive(Debug, Default)]
pub(crate) struct Readiness(Mutex<Option<Tried>>);

#[derive(Debug, Clone, Copy)]
struct Tried {
    at: Instant,
    is_writable: bool,
    has_keys: bool,
}

impl Readiness {
    /// Whether requests can be served now; answers in time.
    pub(crate) async fn is_given(&self, store: &Store, keys: &Keyring) -> bool {
        timeout(PATIENCE, self.tried(store, keys)).await.is_ok_and(|tried| tried.is_writable && tried.has_keys)
    }

    /// Whether the database takes writes now; answers in time.
    pub(crate) async fn is_writable(&self, store: &Store, keys: &Keyring) -> bool {
        timeout(PATIENCE, self.tried(store, keys)).await.is_ok_and(|tried| tried.is_writable)
    }

    async fn tried(&self, store: &Store, keys: &Keyring) -> Tried {
        let mut last = self.0.lock().await;
        match *last {
            Some(tried) if tried.at.elapsed() < FRESH => tried,
            _ => {
                let written = store.try_writing().await;
                let read = keys.reload().await;
                for error in [&written, &read].into_iter().filter_map(|outcome| outcome.as_ref().err()) {
                    tracing::warn!(%error, "not ready");
                }
                *last.insert(Tried { at: Instant::now(), is_writable: written.is_ok(), has_keys: read.is_ok() })
            }
        }
    }
}
