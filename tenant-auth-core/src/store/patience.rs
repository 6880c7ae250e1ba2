//! How long is waited for the database. The time limits of PostgreSQL itself (`statement_timeout`, `lock_timeout`) are of no
//! help while its machine stands still or the network loses its answers: only this side can stop to wait then.
//!
//! Requests wait shortly. What else runs, and every COMMIT, whose outcome is unknown once it is given up, waits until there is no answer
//! to hope for: without that limit a database that went without a word would take loops and connections with it for as long as TCP hopes.

use std::{future::Future, io, time::Duration};
#[cfg(feature = "postgres")]
use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

#[cfg(feature = "postgres")]
use super::stall;
use crate::deadline::{self, Late};

/// For the answer to one statement of PostgreSQL: longer than a lock is waited for (`lock_timeout`, 4 s). A statement that waits for two
/// locks in turn is given up all the same.
#[cfg(feature = "postgres")]
const ANSWER: Duration = Duration::from_secs(5);

/// Beyond this PostgreSQL is silent: longer than it works at a statement (`statement_timeout`, 15 s).
const SILENCE: Duration = Duration::from_secs(60);

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
    within(ANSWER, watched(asked, stall::left_unanswered)).await
}

/// A connection of PostgreSQL with a transaction.
#[cfg(feature = "postgres")]
pub(in crate::store) async fn begun<T>(asked: impl Future<Output = sqlx::Result<T>> + Unpin) -> sqlx::Result<T> {
    within(CONNECTION, watched(asked, stall::saw_silence)).await
}

/// The answer to a COMMIT of PostgreSQL. An error may mean that it happened.
#[cfg(feature = "postgres")]
pub(in crate::store) async fn committed<T>(asked: impl Future<Output = sqlx::Result<T>> + Unpin) -> sqlx::Result<T> {
    unless_late(tokio::time::timeout(SILENCE, watched(asked, stall::left_unanswered)).await.map_err(|_| Late))
}

/// What a request waits for at most so long, and whatever else until there is no answer to hope for.
pub(super) async fn within<T>(most: Duration, asked: impl Future<Output = sqlx::Result<T>> + Unpin) -> sqlx::Result<T> {
    let limit = if deadline::is_in_request() { most } else { SILENCE };
    unless_late(deadline::wait(limit, asked).await)
}

fn unless_late<T>(answer: Result<sqlx::Result<T>, Late>) -> sqlx::Result<T> {
    answer.unwrap_or_else(|late| {
        #[cfg(feature = "postgres")]
        stall::saw_silence();
        Err(sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, late)))
    })
}

#[cfg(feature = "postgres")]
fn watched<F>(asked: F, given_up: fn()) -> Watched<F> {
    Watched { asked, given_up, is_over: false }
}

/// What is asked of PostgreSQL, which may be given up at any time: by a limit above, or because a host has no use for its call any more.
/// It may be done all the same. Of a BEGIN that is as bad as silence: sqlx takes the connection for one without a transaction.
#[cfg(feature = "postgres")]
struct Watched<F> {
    asked: F,
    given_up: fn(),
    is_over: bool,
}

#[cfg(feature = "postgres")]
impl<F: Future + Unpin> Future for Watched<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let answer = ready!(Pin::new(&mut self.asked).poll(context));
        self.is_over = true;
        Poll::Ready(answer)
    }
}

#[cfg(feature = "postgres")]
impl<F> Drop for Watched<F> {
    /// Before the connection comes back to the pool, which happens when `asked` is dropped.
    fn drop(&mut self) {
        if !self.is_over {
            (self.given_up)();
        }
    }
}

#[cfg(all(test, feature = "postgres"))]
mod tests {
    use std::future::pending;

    use tokio::time::Instant;

    use super::*;

    async fn silent_for(asked: impl Future<Output = sqlx::Result<()>>) -> Duration {
        let began = Instant::now();
        assert!(asked.await.is_err(), "there is no answer");
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn requests_wait_shortly_and_whatever_else_until_there_is_nothing_to_hope_for() {
        assert_eq!(silent_for(deadline::of_request(answered(pending()))).await, ANSWER);
        assert_eq!(silent_for(deadline::of_request(begun(pending()))).await, CONNECTION);
        assert_eq!(silent_for(answered(pending())).await, SILENCE);
        assert_eq!(silent_for(begun(pending())).await, SILENCE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_commit_is_waited_for_beyond_the_deadline_of_its_request() {
        assert_eq!(silent_for(deadline::of_request(committed(pending()))).await, SILENCE);
        assert_eq!(silent_for(committed(pending())).await, SILENCE);
    }
}
