//! Stopping without dropping anybody. On SIGTERM or SIGINT the server first says so (`/health/ready` turns 503) while requests
//! in flight finish, a few seconds at most; then it stops accepting and lets go of idle connections; and 30 s after the signal
//! it ends whatever is left. A second signal ends it at once.

use std::time::Duration;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
};

use crate::failure::Failure;

/// How long a server that is still answering keeps accepting, so that a load balancer sees the 503 before it sees a closed port.
const NOTICE: Duration = Duration::from_secs(5);

/// How long requests in flight may take, from the signal on (behaviour.md, B125).
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// How far the stop has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Serving,
    /// Not ready any more; requests are still answered.
    Draining,
    /// Nothing is accepted any more.
    Closed,
}

/// The stop of one server, seen by all its parts.
#[derive(Debug, Clone)]
pub(crate) struct Drain {
    phase: watch::Sender<Phase>,
    in_flight: watch::Sender<usize>,
}

impl Drain {
    /// A server that is not stopping.
    pub(crate) fn new() -> Self {
        Self { phase: watch::Sender::new(Phase::Serving), in_flight: watch::Sender::new(0) }
    }

    /// Whether a stop has begun.
    pub(crate) fn has_begun(&self) -> bool {
        *self.phase.borrow() > Phase::Serving
    }

    /// Resolves when the stop begins; the worker claims nothing more then.
    pub(crate) fn begun(&self) -> impl Future<Output = ()> + Send + 'static {
        self.reached(Phase::Draining)
    }

    /// Resolves when nothing more is to be accepted.
    pub(crate) fn closed(&self) -> impl Future<Output = ()> + Send + 'static {
        self.reached(Phase::Closed)
    }

    fn reached(&self, phase: Phase) -> impl Future<Output = ()> + Send + 'static {
        let mut phases = self.phase.subscribe();
        async move {
            // An error means that the server is gone, which is as good as closed.
            let _ = phases.wait_for(|now| *now >= phase).await;
        }
    }

    /// Begins the stop; returns when the listener may go.
    pub(crate) async fn begin(&self) {
        self.phase.send_replace(Phase::Draining);
        let mut in_flight = self.in_flight.subscribe();
        let _ = tokio::time::timeout(NOTICE, in_flight.wait_for(|count| *count == 0)).await;
        self.phase.send_replace(Phase::Closed);
    }
}

/// Counts the requests in flight.
pub(crate) async fn count(State(drain): State<Drain>, request: Request, next: Next) -> Response {
    let _counted = Counted::one_of(&drain.in_flight);
    next.run(request).await
}

/// One request in flight, also when its client hangs up and its future is dropped.
struct Counted<'d>(&'d watch::Sender<usize>);

impl<'d> Counted<'d> {
    fn one_of(in_flight: &'d watch::Sender<usize>) -> Self {
        in_flight.send_modify(|count| *count += 1);
        Self(in_flight)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

/// SIGTERM and SIGINT, caught from the moment this exists.
#[derive(Debug)]
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Takes over both signals.
    ///
    /// # Errors
    /// When the system does not let us.
    pub(crate) fn catch() -> Result<Self, Failure> {
        let take = |kind| signal(kind).map_err(Failure::system("Catching the signals to stop"));
        Ok(Self { terminate: take(SignalKind::terminate())?, interrupt: take(SignalKind::interrupt())? })
    }

    /// The next of them.
    pub(crate) async fn received(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
