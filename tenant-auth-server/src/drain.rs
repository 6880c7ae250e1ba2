//! Graceful shutdown. On SIGTERM, SIGINT or SIGHUP the server first reports that it stops (`/health/ready` turns 503) and goes on answering
//! for a notice, so that load balancers choose another server before the port closes; then it stops accepting, closes idle
//! connections and finishes requests in flight; 30 s later it closes the rest. A second SIGTERM or SIGINT ends it at once.

use std::time::Duration;

use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
};

use crate::failure::Failure;

/// The time limit of requests in flight, after the notice (behaviour.md, B125).
const PATIENCE: Duration = Duration::from_secs(30);

/// The bit of SIGHUP (1) in a mask of signals.
const SIGHUP: u64 = 1;

/// The phase of the shutdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Serving,
    /// Not ready any more; every request is still answered.
    Draining,
    /// No connection is accepted any more.
    Closed,
}

/// The shutdown of one server, shared by all its parts.
#[derive(Debug, Clone)]
pub(crate) struct Drain {
    phase: watch::Sender<Phase>,
    notice: Duration,
}

impl Drain {
    /// A server that is not stopping. `notice` is how long it goes on answering after it reports that it stops.
    pub(crate) fn new(notice: Duration) -> Self {
        Self { phase: watch::Sender::new(Phase::Serving), notice }
    }

    /// Whether the shutdown has begun.
    pub(crate) fn has_begun(&self) -> bool {
        *self.phase.borrow() > Phase::Serving
    }

    /// Resolves when no more connections are to be accepted and no more work is to be claimed by the worker.
    pub(crate) fn closed(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut phases = self.phase.subscribe();
        async move {
            // An error means that the server is gone, which is as good as closed.
            let _ = phases.wait_for(|now| *now >= Phase::Closed).await;
        }
    }

    /// Begins the shutdown; returns when the listener may close. The whole notice is waited for, even with no request in flight: a
    /// load balancer may still send the next one here.
    pub(crate) async fn begin(&self) {
        self.phase.send_replace(Phase::Draining);
        tokio::time::sleep(self.notice).await;
        self.phase.send_replace(Phase::Closed);
    }

    /// The time limit of the whole shutdown.
    pub(crate) fn patience(&self) -> Duration {
        self.notice + PATIENCE
    }
}

/// Signal handlers for SIGTERM, SIGINT and SIGHUP, in force as long as this value exists.
#[derive(Debug)]
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// Of a closed terminal: there is no reload. `None` where it says nothing (any more).
    hang_up: Option<Signal>,
}

impl Signals {
    /// Takes over the signals.
    ///
    /// # Errors
    /// When the system does not let us.
    pub(crate) fn catch() -> Result<Self, Failure> {
        let take = |kind| signal(kind).map_err(Failure::system("Catching the signals to stop"));
        let hang_up = if outlives_its_terminal() { None } else { Some(take(SignalKind::hangup())?) };
        Ok(Self { terminate: take(SignalKind::terminate())?, interrupt: take(SignalKind::interrupt())?, hang_up })
    }

    /// The next signal.
    pub(crate) async fn received(&mut self) {
        let Self { terminate, interrupt, hang_up } = self;
        let hung_up = async {
            match hang_up.as_mut() {
                Some(signal) => {
                    signal.recv().await;
                }
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            // Where several are pending it is the one that will not be repeated.
            biased;
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            () = hung_up => {}
        }
        // The shell and the kernel both tell of a closed terminal: the second time is no wish to end at once.
        self.hang_up = None;
    }
}

/// Whether the program was started to outlive its terminal, as by `nohup`: such a parent ignores SIGHUP, and a handler would undo that.
/// Where the system does not tell, it was not.
fn outlives_its_terminal() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & SIGHUP != 0)
}
