//! Failover of PostgreSQL: connections that lead to a node which said that it is read-only are not used again, because the node that
//! takes writes now is reached by new ones.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// While every write finds a read-only node, connections are renewed no more often than this.
const BETWEEN_RENEWALS: Duration = Duration::from_secs(1);

/// When a node last said that it is read-only. One for the process: other databases of this process only renew connections once.
static SEEN: Mutex<Option<Instant>> = Mutex::new(None);

/// Remembers that a node is read-only.
pub(super) fn saw_read_only_node() {
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    if seen.is_none_or(|seen| seen.elapsed() >= BETWEEN_RENEWALS) {
        *seen = Some(Instant::now());
    }
}

/// Whether a connection of this age was made before a node was seen to be read-only.
pub(super) fn is_outlived(age: Duration) -> bool {
    SEEN.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|seen| seen.elapsed() <= age)
}
