//! The running service. A [`TenantAuth`] is the handle that every flow receives; it holds the parts that flows share: store,
//! settings, keys and ports. `builder.rs` makes it.

mod after_commit;
#[cfg(all(test, feature = "testing", feature = "sqlite"))]
mod tests;

use std::{fmt, pin::Pin, sync::Arc, time::Duration};

pub(crate) use after_commit::AfterCommit;
use tokio::{runtime::Handle, sync::watch};

use crate::{
    backend::KeyUses,
    bounded::BoundedWork,
    clock_watch::ClockWatch,
    config::Config,
    error::Error,
    feed::{told::Told, waits::EventWaits},
    id::OrgId,
    keys::Keyring,
    memory::Memory,
    metrics,
    model::EventKind,
    ports::{Clock, Entropy, Mailer, PasswordHasher, Resolver, Sender},
    readiness::{self, Readiness},
    sealed::MasterKeys,
    store::{Announcements, Lookups, Marks, OneStatements, Store, Swept, Transactions, Tx, Work},
    throttle::{BlockedLogins, Gates},
    time::Timestamp,
    token::{AuditKeySet, Signer},
    turns::Turns,
    webhooks::Targets,
};

/// The service. Cheap to clone; clones share everything.
#[derive(Clone)]
pub struct TenantAuth {
    inner: Arc<Inner>,
}

/// Callers, gates and request extensions hold the service, and hosts log them: nothing of what is inside is shown.
impl fmt::Debug for TenantAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TenantAuth").finish_non_exhaustive()
    }
}

/// The counters, with the kinds of events and of rows that this service knows.
pub(crate) type Metrics = metrics::Metrics<EventKind, Swept>;

/// The parts of a running service. Only the builder puts them together.
pub(crate) struct Inner {
    pub(crate) transactions: Transactions,
    pub(crate) one_statements: OneStatements,
    pub(crate) lookups: Lookups,
    pub(crate) config: Arc<Config>,
    pub(crate) master_keys: Arc<MasterKeys>,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) clock_watch: ClockWatch,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) hasher: Arc<dyn PasswordHasher>,
    pub(crate) mailer: Option<Arc<dyn Mailer>>,
    pub(crate) sender: Option<Arc<dyn Sender>>,
    pub(crate) resolver: Arc<dyn Resolver>,
    pub(crate) targets: Targets,
    pub(crate) name_lookups: Turns,
    pub(crate) announcements: Arc<Announcements>,
    pub(crate) key_uses: KeyUses,
    pub(crate) estimates: BoundedWork,
    pub(crate) gates: Gates,
    pub(crate) blocked_logins: BlockedLogins,
    #[cfg(feature = "http")]
    pub(crate) guesses: crate::throttle::Guesses,
    #[cfg(feature = "http")]
    pub(crate) given_up: crate::account::GivenUp,
    pub(crate) long_reads: Turns,
    pub(crate) writes: Turns,
    #[cfg(feature = "http")]
    pub(crate) in_flight: crate::in_flight::InFlight,
    #[cfg(feature = "http")]
    pub(crate) unsent: crate::unsent::Unsent,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) runtime: Handle,
    pub(crate) readiness: Readiness,
    pub(crate) marks: Marks,
    pub(crate) event_waits: EventWaits,
    pub(crate) told: Told,
    pub(crate) memory: Arc<Memory>,
}

impl From<Inner> for TenantAuth {
    fn from(parts: Inner) -> Self {
        Self { inner: Arc::new(parts) }
    }
}

impl TenantAuth {
    /// The settings the service runs with.
    pub fn config(&self) -> &Config {
        &self.inner.config
    }

    /// The same, for what outlives the call.
    #[cfg(feature = "panel")]
    pub(crate) fn shared_config(&self) -> &Arc<Config> {
        &self.inner.config
    }

    /// Whether requests can be served now: the database takes a write, SQLite's file is still the one that was opened, and every
    /// signing key can be read. Answers within two seconds, and mostly at once: this is tried in the background once a second from the
    /// first question on, until 90 s have passed without one.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when they cannot; the log says why.
    pub async fn ready(&self) -> Result<(), Error> {
        if self.readiness().await.is_ready() { Ok(()) } else { Err(Error::unavailable("not ready; the log says why")) }
    }

    /// The outcome of the last trial, for the metrics.
    pub(crate) async fn readiness(&self) -> readiness::Outcome {
        let (store, keys, memory) = (self.store().clone(), Arc::downgrade(&self.inner.keyring), Arc::downgrade(self.memory()));
        let trial = move |until| readiness::trial(store.clone(), keys.clone(), memory.clone(), until);
        self.inner.readiness.told(&self.inner.runtime, trial).await
    }

    pub(crate) fn store(&self) -> &Store {
        self.inner.transactions.store()
    }

    /// Begins write transactions, for what runs without the service.
    pub(crate) fn transactions(&self) -> &Transactions {
        &self.inner.transactions
    }

    /// Does writes of one statement.
    pub(crate) fn one_statements(&self) -> &OneStatements {
        &self.inner.one_statements
    }

    /// Asks what verification wants to know.
    pub(crate) fn lookups(&self) -> &Lookups {
        &self.inner.lookups
    }

    /// Begins a write transaction.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the database gives none in time.
    pub(crate) async fn begin(&self) -> Result<Tx, Error> {
        self.inner.transactions.begin().await
    }

    /// Begins a write transaction of a caller in an organization, once it is the organization's turn: its writes wait for each other, and
    /// while they do nobody else's connections are held. Whoever holds such a transaction waits for no other one.
    ///
    /// # Errors
    /// As [`TenantAuth::begin`]; also when the organization has no turn in time.
    pub(crate) async fn begin_in_turn(&self, org: &OrgId) -> Result<Tx, Error> {
        let turn = self.inner.writes.turn(org).await?;
        let mut tx = self.begin().await?;
        tx.keep(turn);
        Ok(tx)
    }

    /// Begins a write transaction whose commit need not be on the disk when it is acknowledged.
    ///
    /// # Errors
    /// As [`TenantAuth::begin`].
    pub(crate) async fn begin_fleeting(&self) -> Result<Tx, Error> {
        self.inner.transactions.begin_fleeting().await
    }

    pub(crate) fn master_keys(&self) -> &MasterKeys {
        &self.inner.master_keys
    }

    pub(crate) fn signer(&self) -> Arc<Signer> {
        self.inner.keyring.signer()
    }

    /// The public halves of the keys that sign audit logs.
    pub(crate) fn audit_key_set(&self) -> Arc<AuditKeySet> {
        self.inner.keyring.audit_keys()
    }

    /// What this process remembers.
    pub(crate) fn memory(&self) -> &Arc<Memory> {
        &self.inner.memory
    }

    /// Does what ends or narrows a right, and waits once for all its commits; see [`Memory::ending`].
    ///
    /// # Errors
    /// As the work.
    pub(crate) fn ending<'a, T: Send + 'a>(
        &'a self,
        work: impl Future<Output = Result<T, Error>> + Send + 'a,
    ) -> Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>> {
        self.memory().ending(work)
    }

    /// Does what may end or narrow a right; see [`Memory::telling`].
    ///
    /// # Errors
    /// As the work.
    pub(crate) fn telling<'a, T: Send + 'a>(
        &'a self,
        tells: fn(&Error) -> bool,
        work: impl Future<Output = Result<T, Error>> + Send + 'a,
    ) -> Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>> {
        self.memory().telling(tells, work)
    }

    /// Those who wait for events.
    pub(crate) fn event_waits(&self) -> &EventWaits {
        &self.inner.event_waits
    }

    /// Up to where events may be told.
    pub(crate) fn told(&self) -> &Told {
        &self.inner.told
    }

    /// The marks of the change log's sweep.
    pub(crate) fn marks(&self) -> &Marks {
        &self.inner.marks
    }

    /// Makes sure that a token's key is known if there is such a key; see [`Keyring::learn_key_of`]. And that a key which another
    /// process withdrew is not: the look behind a view reads the keys again when it names them.
    pub(crate) async fn learn_key_of(&self, token: &str) -> Result<(), Error> {
        self.memory().view().await?;
        self.inner.keyring.learn_key_of(token).await
    }

    /// Makes sure that the keys are those of now, for who is shown their public halves. The look behind a view reads those that another
    /// process withdrew; without a view they are read.
    #[cfg(feature = "http")]
    pub(crate) async fn refresh_keys(&self) -> Result<(), Error> {
        if self.memory().view().await?.is_some() {
            return Ok(());
        }
        self.inner.keyring.read_soon().await
    }

    /// Reads the signing keys again, without waiting for the next look.
    pub(crate) async fn reload_keys(&self) -> Result<(), Error> {
        self.inner.keyring.reload().await
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }

    /// The clock that nobody sets.
    pub(crate) fn steady(&self) -> Duration {
        self.inner.clock.steady()
    }

    /// How far the clock leapt forward while the process runs; nothing is deleted by it then.
    pub(crate) fn clock_leap(&self) -> Option<Duration> {
        self.inner.clock_watch.leap(&*self.inner.clock)
    }

    pub(crate) fn entropy(&self) -> &dyn Entropy {
        &*self.inner.entropy
    }

    pub(crate) fn hasher(&self) -> &dyn PasswordHasher {
        &*self.inner.hasher
    }

    pub(crate) fn mailer(&self) -> Option<&dyn Mailer> {
        self.inner.mailer.as_deref()
    }

    pub(crate) fn sender(&self) -> Option<&dyn Sender> {
        self.inner.sender.as_deref()
    }

    pub(crate) fn resolver(&self) -> &dyn Resolver {
        &*self.inner.resolver
    }

    /// The turns of name lookups for new webhooks.
    pub(crate) fn name_lookups(&self) -> &Turns {
        &self.inner.name_lookups
    }

    /// The SSRF protection of webhooks.
    pub(crate) fn targets(&self) -> &Targets {
        &self.inner.targets
    }

    /// Changes whenever a commit of this process left such work.
    pub(crate) fn work_left(&self, work: Work) -> watch::Receiver<()> {
        self.inner.announcements.of(work)
    }

    pub(crate) fn key_uses(&self) -> &KeyUses {
        &self.inner.key_uses
    }

    /// The logins that were refused lately, which their organizations are to be told of.
    pub(crate) fn blocked_logins(&self) -> &BlockedLogins {
        &self.inner.blocked_logins
    }

    /// The gates of the rate limiter, at which parallel attempts wait for each other.
    pub(crate) fn gates(&self) -> &Gates {
        &self.inner.gates
    }

    /// The rate limiter of guesses at keys and links.
    #[cfg(feature = "http")]
    pub(crate) fn guesses(&self) -> &crate::throttle::Guesses {
        &self.inner.guesses
    }

    /// The refreshes that were foreseen and given up.
    #[cfg(feature = "http")]
    pub(crate) fn given_up_refreshes(&self) -> &crate::account::GivenUp {
        &self.inner.given_up
    }

    /// The turns of long reads.
    pub(crate) fn long_reads(&self) -> &Turns {
        &self.inner.long_reads
    }

    /// The bound on requests in flight.
    #[cfg(feature = "http")]
    pub(crate) fn in_flight(&self) -> &crate::in_flight::InFlight {
        &self.inner.in_flight
    }

    /// The bound on answers that wait for their clients.
    #[cfg(feature = "http")]
    pub(crate) fn unsent(&self) -> &crate::unsent::Unsent {
        &self.inner.unsent
    }

    /// The threads that estimate the strength of passwords.
    pub(crate) fn estimates(&self) -> &BoundedWork {
        &self.inner.estimates
    }

    /// The tokio runtime that the database connections belong to.
    pub(crate) fn runtime(&self) -> &Handle {
        &self.inner.runtime
    }

    /// The metrics.
    pub(crate) fn metrics(&self) -> &Metrics {
        &self.inner.metrics
    }
}
