//! The count of the connections that a pool has opened: each passes through here, whatever its URL names, and one that is used
//! again does not.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    task::{Context, Poll},
};

use tower_layer::Layer;
use tower_service::Service;

/// Puts the count before a connector.
#[derive(Debug, Clone)]
pub(super) struct Counting(pub(super) Arc<AtomicU32>);

/// A connector whose connections are counted.
#[derive(Debug, Clone)]
pub(super) struct Counted<S> {
    opened: Arc<AtomicU32>,
    connector: S,
}

impl<S> Layer<S> for Counting {
    type Service = Counted<S>;

    fn layer(&self, connector: S) -> Counted<S> {
        Counted { opened: Arc::clone(&self.0), connector }
    }
}

impl<S: Service<R>, R> Service<R> for Counted<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.connector.poll_ready(context)
    }

    fn call(&mut self, target: R) -> S::Future {
        self.opened.fetch_add(1, Ordering::Relaxed);
        self.connector.call(target)
    }
}
