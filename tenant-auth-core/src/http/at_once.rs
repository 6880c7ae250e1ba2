//! Answers without a task of their own. Work that is known to be done soon, such as an answer from memory, is not worth the way
//! through the scheduler and back; work that has to wait is given a task, so that a client that disconnects cannot stop it.

use std::{
    any::Any,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::Poll,
};

use tokio::runtime::Handle;

/// The work panicked; what it said.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Panicked(String);

/// Does the work: at once as far as it goes without waiting, the rest as a task of this runtime.
///
/// # Errors
/// [`Panicked`].
pub(crate) async fn or_in_a_task<T: Send + 'static>(
    runtime: &Handle,
    mut work: Pin<Box<dyn Future<Output = T> + Send>>,
) -> Result<T, Panicked> {
    let begun = poll_fn(|context| {
        // Timers and connections belong to the service's runtime, whichever runtime polls.
        let _entered = runtime.enter();
        Poll::Ready(catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))))
    });
    match begun.await {
        Ok(Poll::Ready(done)) => Ok(done),
        Ok(Poll::Pending) => runtime.spawn(work).await.map_err(|error| Panicked(error.to_string())),
        Err(panic) => Err(Panicked(said(&*panic))),
    }
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without words").to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    };

    use super::*;

    #[tokio::test]
    async fn what_need_not_wait_is_done_by_whoever_asks() {
        let runtime = Handle::current();
        let asking = tokio::spawn(async move {
            let mine = tokio::task::id();
            or_in_a_task(&runtime, Box::pin(async { tokio::task::id() })).await.is_ok_and(|worker| worker == mine)
        });
        assert!(asking.await.expect("is done"), "no other task");
        let panicked: Result<(), _> = or_in_a_task(&Handle::current(), Box::pin(async { panic!("now") })).await;
        assert!(panicked.is_err_and(|panic| panic.to_string() == "now"));
    }

    #[tokio::test]
    async fn what_waits_goes_on_when_nobody_asks_any_more() {
        let (began, done) = (Arc::new(tokio::sync::Notify::new()), Arc::new(AtomicBool::new(false)));
        let (go, finished) = (Arc::clone(&began), Arc::clone(&done));
        let work = Box::pin(async move {
            go.notified().await;
            finished.store(true, Ordering::SeqCst);
        });
        let runtime = Handle::current();
        let asking = tokio::spawn(async move { or_in_a_task(&runtime, work).await.is_ok() });
        tokio::task::yield_now().await;
        asking.abort();
        assert!(asking.await.is_err());
        began.notify_one();
        tokio::task::yield_now().await;
        tokio::task::yield_now().await;
        assert!(done.load(Ordering::SeqCst));
        let runtime = Handle::current();
        let later = Box::pin(async {
            tokio::task::yield_now().await;
            panic!("later")
        });
        let panicked: Result<(), _> = or_in_a_task(&runtime, later).await;
        assert!(panicked.is_err_and(|panic| panic.to_string().contains("panicked")));
    }
}
