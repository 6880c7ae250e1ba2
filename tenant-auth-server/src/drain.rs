//! Stopping without dropping anybody. On SIGTERM or SIGINT the server first says so (`/health/ready` turns 503) and goes on
//! answering for a notice, so that load balancers look elsewhere before the port closes; then it stops accepting, lets go of idle
//! connections and finishes requests in flight; and 30 s later it ends whatever is left. A second signal ends it at once.

use std::time::Duration;

use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
};

use crate::failure::Failure;

/// How long requests in flight may take, after the notice (behaviour.md, B125).
const PATIENCE: Duration = Duration::from_secs(30);

/// How far the stop has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Serving,
    /// Not ready any more; everything is still answered.
    Draining,
    /// Nothing is accepted any more.
    Closed,
}

/// The stop of one server, seen by all its parts.
#[derive(Debug, Clone)]
pub(crate) struct Drain {
    phase: watch::Sender<Phase>,
    notice: Duration,
}

impl Drain {
    /// A server that is not stopping. `notice` is how long it will go on answering once it says that it stops.
    pub(crate) fn new(notice: Duration) -> Self {
        Self { phase: watch::Sender::new(Phase::Serving), notice }
    }

    /// Whether a stop has begun.
    pub(crate) fn has_begun(&self) -> bool {
        *self.phase.borrow() > Phase::Serving
    }

    /// Resolves when nothing more is to be accepted, and the worker is to claim nothing more.
    pub(crate) fn closed(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut phases = self.phase.subscribe();
        async move {
            // An error means that the server is gone, which is as good as closed.
            let _ = phases.wait_for(|now| *now >= Phase::Closed).await;
        }
    }

    /// Begins the stop; returns when the listener may go. The whole notice is waited for, for between two requests there are none in
    /// flight, and a load balancer still sends the next one here.
    pub(crate) async fn begin(&self) {
        self.phase.send_replace(Phase::Draining);
        tokio::time::sleep(self.notice).await;
        self.phase.send_replace(Phase::Closed);
    }

    /// How long a stop may take in all.
    pub(crate) fn patience(&self) -> Duration {
        self.notice + PATIENCE
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
