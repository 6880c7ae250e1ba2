//! How long a request waits for the database. The time limits of PostgreSQL itself (`statement_timeout`, `lock_timeout`) are of no
//! help while its machine stands still or the network loses its answers: only this side can stop to wait then.
//!
//! A COMMIT is waited for without a limit: whether it happened would be unknown.

use std::{future::Future, io, time::Duration};

use crate::deadline;

/// For the answer to one statement of PostgreSQL: longer than a lock is waited for (`lock_timeout`, 4 s). A statement that waits for two
/// locks in turn is given up all the same.
#[cfg(feature = "postgres")]
const ANSWER: Duration = Duration::from_secs(5);

/// For a connection of PostgreSQL, and its BEGIN: the pool waits for 5 s.
#[cfg(feature = "postgres")]
pub(super) const CONNECTION: Duration = Duration::from_secs(8);

/// For SQLite's one writer: the pool waits for 10 s, and SQLite 5 s for other processes.
#[cfg(feature = "sqlite")]
pub(super) const WRITER: Duration = Duration::from_secs(16);

/// For a turn to ask together with others: those who have theirs wait for a connection and for an answer.
pub(super) const TURN: Duration = Duration::from_secs(16);

/// The answer to a statement of PostgreSQL, which a request waits for only so long.
#[cfg(feature = "postgres")]
pub(in crate::store) async fn answered<T>(asked: impl Future<Output = sqlx::Result<T>> + Unpin) -> sqlx::Result<T> {
    within(ANSWER, asked).await
}

/// What a request waits for at most so long.
pub(super) async fn within<T>(most: Duration, asked: impl Future<Output = sqlx::Result<T>> + Unpin) -> sqlx::Result<T> {
    let answer = deadline::wait_in_request(most, asked).await;
    answer.unwrap_or_else(|late| {
        #[cfg(feature = "postgres")]
        super::stall::saw_silence();
        Err(sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, late)))
    })
}
