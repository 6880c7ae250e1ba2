//! Connections that outlived something: those opened before a database answered that it is read-only, or before a connection was lost,
//! are not used again. After a failover of PostgreSQL only new connections reach the node that takes writes now, and after a restart
//! the old ones are dead. A connection to a SQLite file that was read-only when it was opened stays read-only.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// The shortest time between two renewals of all connections, while every write finds the database read-only or every look fails.
const BETWEEN_RENEWALS: Duration = Duration::from_secs(1);

/// Since when connections are good. One for the process: other databases of this process merely renew their
/// connections once.
static GOOD_SINCE: Mutex<Option<Instant>> = Mutex::new(None);

/// Has every connection that is open now replaced before its next use.
pub(super) fn were_all() {
    let mut since = GOOD_SINCE.lock().unwrap_or_else(PoisonError::into_inner);
    if since.is_none_or(|since| since.elapsed() >= BETWEEN_RENEWALS) {
        *since = Some(Instant::now());
    }
}

/// Whether a connection of this age is to be replaced.
pub(super) fn is(age: Duration) -> bool {
    GOOD_SINCE.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|since| since.elapsed() <= age)
}
