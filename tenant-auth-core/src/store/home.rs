//! The home of the connections: the tokio runtime that the service was built on (behaviour.md, B310). A host may call the library on
//! runtimes of its own, of which each may be blocked or end (actix-web has one for each worker). What is opened there would stand still or
//! end with it, and sqlx gives a connection back to its pool by a task of whichever runtime it is dropped on.
//!
//! What must stay true: whoever polls or drops what waits for a connection, or holds one, enters the home's runtime for that. It is still
//! the caller that polls. A call that has ended keeps nothing from others; what a call under way holds, or is given, waits until its worker
//! goes on (on SQLite that can be the one writer). So a host does not block a worker, or runs such calls as tasks of the service's runtime.

use std::{
    future::Future,
    ops::{Deref, DerefMut},
    pin::Pin,
    task::{Context, Poll},
};

use tokio::runtime::Handle;

/// The runtime that connections belong to; before a service was built, whichever one calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Home(Option<Handle>);

impl Home {
    pub(super) fn on(runtime: Handle) -> Self {
        Self(Some(runtime))
    }

    pub(super) fn keep<T>(&self, kept: T) -> AtHome<T> {
        AtHome { home: self.clone(), kept: Some(kept) }
    }
}

/// A connection, or what waits for one: polled and dropped inside the home's runtime, by whoever uses it.
#[derive(Debug)]
pub(crate) struct AtHome<T> {
    home: Home,
    /// `None` only while it is dropped.
    kept: Option<T>,
}

impl<T> AtHome<T> {
    /// What is done with it last.
    pub(super) fn ended<F: Future + Unpin>(mut self, end: impl FnOnce(T) -> F) -> AtHome<F> {
        AtHome { home: self.home.clone(), kept: self.kept.take().map(end) }
    }
}

impl<F: Future + Unpin> Future for AtHome<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Self { home, kept } = self.get_mut();
        let _entered = home.0.as_ref().map(Handle::enter);
        match kept {
            Some(asked) => Pin::new(asked).poll(context),
            None => Poll::Pending,
        }
    }
}

impl<T> Deref for AtHome<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.kept {
            Some(kept) => kept,
            None => unreachable!("it is there until it is dropped"),
        }
    }
}

impl<T> DerefMut for AtHome<T> {
    fn deref_mut(&mut self) -> &mut T {
        match &mut self.kept {
            Some(kept) => kept,
            None => unreachable!("it is there until it is dropped"),
        }
    }
}

impl<T> Drop for AtHome<T> {
    fn drop(&mut self) {
        let _entered = self.home.0.as_ref().map(Handle::enter);
        drop(self.kept.take());
    }
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, sync::mpsc};

    use tokio::runtime::{Builder, Id};

    use super::*;

    /// Says on which runtime it is dropped.
    struct Farewell(mpsc::Sender<Id>);

    impl Drop for Farewell {
        fn drop(&mut self) {
            let _ = self.0.send(Handle::current().id());
        }
    }

    #[test]
    fn what_is_kept_is_polled_and_dropped_at_home() {
        let runtime = || Builder::new_current_thread().build().expect("a runtime");
        let (service, worker) = (runtime(), runtime());
        let home = Home::on(service.handle().clone());
        let (told, said) = mpsc::channel();
        worker.block_on(async {
            let polled = home.keep(Box::pin(poll_fn(|_| Poll::Ready(Handle::current().id())))).await;
            assert_eq!(polled, service.handle().id());
            let ended = home.keep(Farewell(told.clone())).ended(|farewell| Box::pin(async move { drop(farewell) }));
            ended.await;
            drop(home.keep(Farewell(told)));
            assert_eq!(Handle::current().id(), worker.handle().id(), "and the worker is where it was");
        });
        assert_eq!(said.iter().collect::<Vec<_>>(), [service.handle().id(); 2]);
    }
}
