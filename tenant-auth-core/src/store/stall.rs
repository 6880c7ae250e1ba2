//! Stalls of PostgreSQL: once an answer did not come in time, or was not waited for, a connection that comes back to the pool has to
//! answer before it counts as usable. The pool itself would wait for that answer for as long as TCP hopes for it, some 15 minutes, and
//! each connection that a network swallowed would be missing meanwhile. And a BEGIN that was given up may have happened: sqlx counts a
//! transaction from the answer on, and would give the next borrower a connection within that one.

use std::{
    io,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use sqlx::{Connection, Executor, PgConnection};

/// How long connections are distrusted after the last missing answer: longer than what began in the stall can last.
const DISTRUST: Duration = Duration::from_secs(60);

/// How long a connection has to answer once one did not: longer than a healthy one needs to end what waits for a lock (`lock_timeout`, 4 s).
const ANSWER: Duration = Duration::from_secs(5);
/// How long it has where an answer was merely not waited for: longer than PostgreSQL works at a statement (`statement_timeout`, 15 s).
const LATE_ANSWER: Duration = Duration::from_secs(16);

/// Ends a transaction that is open. A ROLLBACK by itself would be warned of where there is none.
const END: &str = "BEGIN; ROLLBACK";

/// When an answer last did not come in time. One for the process: connections to other databases merely answer once more.
static SEEN: Mutex<Option<Instant>> = Mutex::new(None);

/// When an answer was last not waited for.
static LEFT: Mutex<Option<Instant>> = Mutex::new(None);

/// Remembers that an answer did not come in time, or that of a BEGIN was not waited for.
pub(super) fn saw_silence() {
    note(&SEEN);
}

/// Remembers that an answer was not waited for.
pub(super) fn left_unanswered() {
    note(&LEFT);
}

fn note(when: &Mutex<Option<Instant>>) {
    *when.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
}

fn is_recent(when: &Mutex<Option<Instant>>) -> bool {
    when.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|seen| seen.elapsed() < DISTRUST)
}

/// Whether the connection may go back to the pool. An error has it closed without a farewell, which could not be sent either.
pub(super) async fn answers(connection: &mut PgConnection) -> sqlx::Result<bool> {
    let answer = if is_recent(&SEEN) {
        tokio::time::timeout(ANSWER, async { connection.execute(END).await.map(|_| true) }).await
    } else if is_recent(&LEFT) {
        tokio::time::timeout(LATE_ANSWER, async { connection.ping().await.map(|()| true) }).await
    } else {
        return Ok(true);
    };
    answer.unwrap_or_else(|late| Err(sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, late))))
}
