//! Failover of PostgreSQL: once a node has answered that it is read-only, connections older than that answer are not used again,
//! because only new connections reach the node that takes writes now.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// The shortest time between two renewals of all connections, while every write finds a read-only node.
const BETWEEN_RENEWALS: Duration = Duration::from_secs(1);

/// When a node last answered that it is read-only. One for the process: other databases of this process merely renew their
/// connections once.
static SEEN: Mutex<Option<Instant>> = Mutex::new(None);

/// Remembers that a node is read-only.
pub(super) fn saw_read_only_node() {
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    if seen.is_none_or(|seen| seen.elapsed() >= BETWEEN_RENEWALS) {
        *seen = Some(Instant::now());
    }
}

/// Whether a connection of this age was opened before a node answered that it is read-only.
pub(super) fn is_outlived(age: Duration) -> bool {
    SEEN.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|seen| seen.elapsed() <= age)
}
