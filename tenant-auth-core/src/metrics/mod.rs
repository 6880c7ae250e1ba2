//! What the service counts while it works, in the text that Prometheus reads. Labels are words of our own, each from a list that
//! is known beforehand: never a path, an address, a slug or anything else that came with a request. Counting costs an atomic
//! addition and allocates nothing; what only the database knows is read when somebody asks, and left out when it does not answer.

mod requests;
mod tally;
mod work;

use std::{
    fmt,
    sync::atomic::{AtomicI64, Ordering},
};

use prometheus_client::{
    encoding::text,
    metrics::{counter::Counter, info::Info},
    registry::Registry,
};

use tally::Tally;
#[cfg(test)]
pub(crate) use tally::assert_in_order;
pub(crate) use tally::{DeliveryOutcome, Label, LoginOutcome, MailOutcome, VerifyOutcome};
pub(crate) use work::WorkMeter;

use crate::time::Timestamp;
use requests::Requests;

/// What precedes every name.
pub(crate) const PREFIX: &str = "tenant_auth";

/// The counters of one service, where `E` is a kind of event and `S` a kind of row that is swept.
#[derive(Debug)]
pub(crate) struct Metrics<E, S> {
    registry: Registry,
    started_at: Timestamp,
    /// When the worker last did what was due, in milliseconds; 0 while it has not.
    worked_at: AtomicI64,
    requests: Requests,
    hashing: WorkMeter,
    logins: Tally<LoginOutcome>,
    verifications: Tally<VerifyOutcome>,
    mails: Tally<MailOutcome>,
    deliveries: Tally<DeliveryOutcome>,
    events: Tally<E>,
    swept: Tally<S>,
    sessions_opened: Counter,
    sessions_revoked: Counter,
}

impl<E: Label, S: Label> Metrics<E, S> {
    /// All at zero, for a service that starts now.
    pub(crate) fn new(now: Timestamp) -> Self {
        let mut registry = Registry::with_prefix(PREFIX);
        registry.register("build", "The version that runs", Info::new([("version", env!("CARGO_PKG_VERSION"))]));
        let requests = Requests::registered(&mut registry);
        let hashing = WorkMeter::registered(&mut registry, "password_hash");
        let logins = Tally::registered(&mut registry, "logins", "Steps of logins, by what came of them");
        let verifications = Tally::registered(&mut registry, "verifications", "Answers about access tokens");
        let mails = Tally::registered(&mut registry, "mails", "Attempts to send a mail");
        let deliveries = Tally::registered(&mut registry, "webhook_deliveries", "Attempts to deliver an event");
        let events = Tally::registered(&mut registry, "events_written", "Events, written with the change they tell of");
        let swept = Tally::registered(&mut registry, "swept_rows", "Expired rows that were deleted");
        let (sessions_opened, sessions_revoked) = (Counter::default(), Counter::default());
        registry.register("sessions_opened", "Sessions opened", sessions_opened.clone());
        registry.register("sessions_revoked", "Sessions ended before their time", sessions_revoked.clone());
        Self {
            registry,
            started_at: now,
            worked_at: AtomicI64::new(0),
            requests,
            hashing,
            logins,
            verifications,
            mails,
            deliveries,
            events,
            swept,
            sessions_opened,
            sessions_revoked,
        }
    }

    /// The HTTP layer's.
    pub(crate) fn requests(&self) -> &Requests {
        &self.requests
    }

    /// The hashing threads'.
    pub(crate) fn hashing(&self) -> &WorkMeter {
        &self.hashing
    }

    /// A step of a login was judged.
    pub(crate) fn login(&self, outcome: LoginOutcome) {
        self.logins.add(outcome, 1);
    }

    /// Somebody was told about an access token.
    pub(crate) fn verification(&self, outcome: VerifyOutcome) {
        self.verifications.add(outcome, 1);
    }

    /// A mail was tried.
    pub(crate) fn mail(&self, outcome: MailOutcome) {
        self.mails.add(outcome, 1);
    }

    /// A delivery was tried, or is not to be tried any more.
    pub(crate) fn delivery(&self, outcome: DeliveryOutcome) {
        self.deliveries.add(outcome, 1);
    }

    /// Rows of a kind were deleted because nobody can use them any more.
    pub(crate) fn swept(&self, kind: S, rows: u64) {
        self.swept.add(kind, rows);
    }

    /// An event was committed.
    pub(crate) fn event(&self, kind: E) {
        self.events.add(kind, 1);
    }

    /// A session was opened.
    pub(crate) fn session_opened(&self) {
        self.sessions_opened.inc();
    }

    /// A session was ended before its time.
    pub(crate) fn session_revoked(&self) {
        self.sessions_revoked.inc();
    }

    /// The worker has done what was due.
    pub(crate) fn worked(&self, now: Timestamp) {
        self.worked_at.store(now.millis(), Ordering::Relaxed);
    }

    /// When the service started.
    pub(crate) fn started_at(&self) -> Timestamp {
        self.started_at
    }

    /// When the worker of this process last did what was due; `None` while it has not.
    pub(crate) fn worked_at(&self) -> Option<Timestamp> {
        let millis = self.worked_at.load(Ordering::Relaxed);
        (millis != 0).then(|| Timestamp::from_millis(millis))
    }

    /// Writes the counters as OpenMetrics text, without the end mark.
    pub(crate) fn write(&self, text: &mut String) -> Result<(), fmt::Error> {
        text::encode_registry(text, &self.registry)
    }
}
