//! Connections that outlived something: those opened before a database answered that it is read-only, or before a connection was lost,
//! are not used again. After a failover of PostgreSQL only new connections reach the node that takes writes now, and after a restart
//! the old ones are dead. A connection to a SQLite file that was read-only when it was opened stays read-only.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// The shortest time between two renewals of all connections, while every write finds the database read-only.
const BETWEEN_RENEWALS: Duration = Duration::from_secs(1);

/// Since when connections are good, as far as a database that was read-only decides. One for the process: other databases of this
/// process merely renew their connections once.
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

/// When a connection was last found to be lost, or could not be opened. One for the process: connections to other databases merely
/// answer once more.
static DOUBTED: Mutex<Option<Instant>> = Mutex::new(None);

/// Has every connection that is idle now asked before its next use: what took one away may have taken the others.
pub(super) fn doubt() {
    *DOUBTED.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
}

/// Whether a connection that has been idle for so long is to be asked.
#[cfg(feature = "postgres")]
pub(super) fn is_doubted(idle_for: Duration) -> bool {
    DOUBTED.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|since| since.elapsed() <= idle_for)
}

/// Since when the connections of one pool are good: since the last time that one to the same database was lost.
#[cfg(feature = "postgres")]
#[derive(Debug, Clone, Default)]
pub(super) struct Renewal(std::sync::Arc<Mutex<Option<Instant>>>);

#[cfg(feature = "postgres")]
impl Renewal {
    /// Has every connection that is open now replaced before its next use.
    pub(super) fn of_all(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Whether a connection of this age is to be replaced.
    pub(super) fn concerns(&self, age: Duration) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|since| since.elapsed() <= age)
    }
}
