//! The deadline of a request: one moment by which all its waits together have ended. Each wait has a limit of its own; without the
//! deadline a request would wait for gates, the hashing queue and connections one after the other for minutes.
//!
//! The deadline belongs to the task of the request, so that no flow has to pass it on. Work that is no request (the worker, a
//! command, a call of the library) has none, and only the limits of the single waits; but what is asked of the database together with
//! others' questions (`store/gathering/`) is asked as a request's. A wait that is over fails; nothing is
//! stopped in its middle, and the deadline does not hold for a COMMIT, whose outcome would be unknown.
//!
//! What is waited for is `Unpin`, that is pinned by the caller: an async function holds a future that it is given by value twice, and
//! requests that pass through several such functions would be copied about, tens of KiB each.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

/// How long the waits of one request may take together.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);

tokio::task_local! {
    static DEADLINE: Instant;
}

/// A wait was not over in time.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("no answer in time")]
pub(crate) struct Late;

/// Does the work of a request, or what requests wait for: every wait in it ends before the deadline, [`LIMIT`] from now.
pub(crate) fn of_request<F: Future>(work: F) -> impl Future<Output = F::Output> {
    DEADLINE.scope(Instant::now() + LIMIT, work)
}

/// Waits for at most `most`, and not beyond the deadline of the request.
///
/// # Errors
/// [`Late`].
pub(crate) async fn wait<F: Future + Unpin>(most: Duration, awaited: F) -> Result<F::Output, Late> {
    let limit = Instant::now() + most;
    let limit = DEADLINE.try_with(|deadline| limit.min(*deadline)).unwrap_or(limit);
    timeout_at(limit, awaited).await.map_err(|_| Late)
}

/// Whether this is a request's work, or what requests wait for.
pub(crate) fn is_in_request() -> bool {
    DEADLINE.try_with(|_| ()).is_ok()
}

/// In a request: waits for at most `most`, and not beyond its deadline. Other work waits as long as it takes.
///
/// # Errors
/// [`Late`].
pub(crate) async fn wait_in_request<F: Future + Unpin>(most: Duration, awaited: F) -> Result<F::Output, Late> {
    if is_in_request() { wait(most, awaited).await } else { Ok(awaited.await) }
}

#[cfg(all(test, feature = "http"))]
mod tests {
    use std::{future::pending, pin::pin};

    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    #[tokio::test(start_paused = true)]
    async fn all_waits_of_a_request_end_by_one_deadline() {
        let began = Instant::now();
        of_request(async {
            assert!(wait(LONG, pending::<()>()).await.is_err());
            assert_eq!(began.elapsed(), LONG, "its own limit");
            assert!(wait(LONG, pending::<()>()).await.is_err());
            assert_eq!(began.elapsed(), LIMIT, "the deadline");
            assert!(wait_in_request(LONG, pending::<()>()).await.is_err());
            assert_eq!(began.elapsed(), LIMIT, "nothing more is waited for");
            assert!(wait(LONG, pin!(async { 7 })).await.is_ok_and(|seven| seven == 7), "what is there is taken");
        })
        .await;
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_no_request_has_no_deadline() {
        let began = Instant::now();
        let hour = Duration::from_secs(3_600);
        assert!(wait_in_request(LONG, pin!(tokio::time::sleep(hour))).await.is_ok());
        assert!(wait(LONG, pending::<()>()).await.is_err());
        assert_eq!(began.elapsed(), hour + LONG);
    }
}
