//! A database that answered that it is read-only: connections older than that answer are not used again. After a failover of
//! PostgreSQL only new connections reach the node that takes writes now. A connection to a SQLite file that was read-only when it was
//! opened stays read-only.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// The shortest time between two renewals of all connections, while every write finds the database read-only.
const BETWEEN_RENEWALS: Duration = Duration::from_secs(1);

/// When a database last answered that it is read-only. One for the process: other databases of this process merely renew their
/// connections once.
static SEEN: Mutex<Option<Instant>> = Mutex::new(None);

/// Remembers that a database said so.
pub(super) fn was_told() {
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    if seen.is_none_or(|seen| seen.elapsed() >= BETWEEN_RENEWALS) {
        *seen = Some(Instant::now());
    }
}

/// Whether a connection of this age was opened before a database answered that it is read-only.
pub(super) fn is_outlived(age: Duration) -> bool {
    SEEN.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|seen| seen.elapsed() <= age)
}
