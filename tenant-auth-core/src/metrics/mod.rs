//! The service's metrics, in the text format that Prometheus reads. Label values come from closed lists: never a path, an address,
//! a slug or anything else that came with a request. Counting costs one atomic addition and allocates nothing; what only the
//! database knows is read at each scrape (`worker/scrape.rs`).

mod memory;
#[cfg(feature = "http")]
mod requests;
mod rounds;
mod tally;
mod work;

use std::fmt;

use prometheus_client::{
    encoding::text,
    metrics::{counter::Counter, info::Info},
    registry::Registry,
};

pub(crate) use memory::MemoryMeter;
use rounds::Rounds;
pub(crate) use rounds::WorkerLoop;
use tally::Tally;
#[cfg(test)]
pub(crate) use tally::assert_in_order;
pub(crate) use tally::{DeliveryOutcome, Label, LoginOutcome, MailOutcome, VerifyOutcome};
pub(crate) use work::WorkMeter;

#[cfg(feature = "http")]
use crate::error::Overload;
use crate::time::Timestamp;
#[cfg(feature = "http")]
pub(crate) use requests::{Requests, RouteCounts, Watched};

/// The prefix of every metric.
pub(crate) const PREFIX: &str = "tenant_auth";

/// The counters of one service, where `E` is a kind of event and `S` a kind of row that is swept.
#[derive(Debug)]
pub(crate) struct Metrics<E, S> {
    registry: Registry,
    started_at: Timestamp,
    rounds: Rounds,
    #[cfg(feature = "http")]
    requests: Requests,
    hashing: WorkMeter,
    logins: Tally<LoginOutcome>,
    verifications: Tally<VerifyOutcome>,
    mails: Tally<MailOutcome>,
    deliveries: Tally<DeliveryOutcome>,
    events: Tally<E>,
    swept: Tally<S>,
    #[cfg(feature = "http")]
    overloads: Tally<Overload>,
    sessions_opened: Counter,
    sessions_revoked: Counter,
    memory: MemoryMeter,
}

impl<E: Label, S: Label> Metrics<E, S> {
    /// New metrics, all at zero, for a service that starts now.
    pub(crate) fn new(now: Timestamp) -> Self {
        let mut registry = Registry::with_prefix(PREFIX);
        registry.register("build", "The version that runs", Info::new([("version", env!("CARGO_PKG_VERSION"))]));
        #[cfg(feature = "http")]
        let requests = Requests::registered(&mut registry);
        let hashing = WorkMeter::registered(&mut registry, "password_hash");
        let logins = Tally::registered(&mut registry, "logins", "Steps of logins, by what came of them");
        let verifications = Tally::registered(&mut registry, "verifications", "Answers about access tokens");
        let mails = Tally::registered(&mut registry, "mails", "Attempts to send a mail");
        let deliveries = Tally::registered(&mut registry, "webhook_deliveries", "Attempts to deliver an event");
        let events = Tally::registered(&mut registry, "events_written", "Events, written with the change they tell of");
        let swept = Tally::registered(&mut registry, "swept_rows", "Expired rows that were deleted");
        #[cfg(feature = "http")]
        let overloads =
            Tally::registered(&mut registry, "overload_refused", "Requests that were refused because something was full");
        let (sessions_opened, sessions_revoked) = (Counter::default(), Counter::default());
        registry.register("sessions_opened", "Sessions opened", sessions_opened.clone());
        registry.register("sessions_revoked", "Sessions ended before their time", sessions_revoked.clone());
        let memory = MemoryMeter::registered(&mut registry);
        Self {
            registry,
            started_at: now,
            rounds: Rounds::default(),
            #[cfg(feature = "http")]
            requests,
            hashing,
            logins,
            verifications,
            mails,
            deliveries,
            events,
            swept,
            #[cfg(feature = "http")]
            overloads,
            sessions_opened,
            sessions_revoked,
            memory,
        }
    }

    /// The meter of HTTP requests.
    #[cfg(feature = "http")]
    pub(crate) fn requests(&self) -> &Requests {
        &self.requests
    }

    /// The meter of the password hashing threads.
    pub(crate) fn hashing(&self) -> &WorkMeter {
        &self.hashing
    }

    /// The meter of answers from memory.
    pub(crate) fn memory(&self) -> &MemoryMeter {
        &self.memory
    }

    /// Counts a step of a login.
    pub(crate) fn login(&self, outcome: LoginOutcome) {
        self.logins.add(outcome, 1);
    }

    /// Counts an answer about an access token.
    pub(crate) fn verification(&self, outcome: VerifyOutcome) {
        self.verifications.add(outcome, 1);
    }

    /// Counts an attempt to send a mail.
    pub(crate) fn mail(&self, outcome: MailOutcome) {
        self.mails.add(outcome, 1);
    }

    /// Counts an attempt to deliver an event, or a cancelled delivery.
    pub(crate) fn delivery(&self, outcome: DeliveryOutcome) {
        self.deliveries.add(outcome, 1);
    }

    /// Counts swept rows: rows that have expired.
    pub(crate) fn swept(&self, kind: S, rows: u64) {
        self.swept.add(kind, rows);
    }

    /// Counts a committed event.
    pub(crate) fn event(&self, kind: E) {
        self.events.add(kind, 1);
    }

    /// Counts an opened session.
    pub(crate) fn session_opened(&self) {
        self.sessions_opened.inc();
    }

    /// Counts a session that was ended before it expired.
    pub(crate) fn session_revoked(&self) {
        self.sessions_revoked.inc();
    }

    /// The last rounds of the worker's loops.
    pub(crate) fn rounds(&self) -> &Rounds {
        &self.rounds
    }

    /// Counts a request that was refused because something was full.
    #[cfg(feature = "http")]
    pub(crate) fn overload(&self, what: Overload) {
        self.overloads.add(what, 1);
    }

    /// When the service started.
    pub(crate) fn started_at(&self) -> Timestamp {
        self.started_at
    }

    /// Writes the counters as OpenMetrics text, without the end mark.
    pub(crate) fn write(&self, text: &mut String) -> Result<(), fmt::Error> {
        text::encode_registry(text, &self.registry)
    }
}
