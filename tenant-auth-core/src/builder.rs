//! The builder of a service. [`Builder::build`] migrates the database, makes sure there are signing keys and proves that the master
//! keys open what is sealed; so a [`TenantAuth`] that exists can work.

use std::sync::Arc;

use tokio::runtime::Handle;

use crate::{
    backend::KeyUses,
    bounded::{BoundedWork, Pauses, PoolSize},
    clock_watch::ClockWatch,
    config::{Config, ConfigError, SetupError},
    error::{Error, Overload},
    feed::{told::Told, waits::EventWaits},
    keys::{self, Keyring, KeyringError},
    memory::Memory,
    metrics::WorkMeter,
    ports::{Argon2Hasher, Clock, Entropy, Mailer, OsEntropy, PasswordHasher, Resolver, Sender, SystemClock, SystemResolver},
    readiness::Readiness,
    sealed::MasterKeys,
    secret::Pepper,
    service::{AfterCommit, Inner, Metrics, TenantAuth},
    store::{Announcements, Context, Lookups, Marks, OneStatements, Store, Transactions},
    throttle::{BlockedLogins, Gates},
    turns::Turns,
    value::is_loopback,
    webhooks::Targets,
};

/// Why a service cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A part without a default was not given.
    #[error("the {0} is missing: call Builder::{0}")]
    Missing(&'static str),
    /// The master keys open none of the values sealed in the database.
    #[error("the master key opens none of the values sealed in this database; use the key they were sealed with")]
    MasterKey,
    /// A setting cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The database failed, or a part could not be started. Whoever starts a program reads this, so it names the causes.
    #[error("{}", .0.causes())]
    Failed(Error),
}

impl From<Error> for BuildError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<KeyringError> for BuildError {
    fn from(error: KeyringError) -> Self {
        match error {
            KeyringError::MasterKey => Self::MasterKey,
            KeyringError::Failed(error) => Self::Failed(error),
        }
    }
}

impl From<SetupError> for BuildError {
    fn from(error: SetupError) -> Self {
        match error {
            SetupError::Config(error) => Self::Config(error),
            SetupError::Failed(error) => Self::Failed(error),
        }
    }
}

/// Collects the parts of a [`TenantAuth`]. Required: store, master keys, config.
#[derive(Debug, Default)]
#[must_use]
pub struct Builder {
    store: Option<Store>,
    master_keys: Option<MasterKeys>,
    config: Option<Config>,
    clock: Option<Arc<dyn Clock>>,
    entropy: Option<Arc<dyn Entropy>>,
    hasher: Option<Arc<dyn PasswordHasher>>,
    mailer: Option<Arc<dyn Mailer>>,
    mails_leave_elsewhere: bool,
    sender: Option<Arc<dyn Sender>>,
    resolver: Option<Arc<dyn Resolver>>,
}

impl Builder {
    /// The database. Required.
    pub fn store(mut self, store: impl Into<Store>) -> Self {
        self.store = Some(store.into());
        self
    }

    /// The master keys, which protect sealed values: the first key seals, all open. Required.
    pub fn master_keys(mut self, keys: MasterKeys) -> Self {
        self.master_keys = Some(keys);
        self
    }

    /// The settings. Required, for the public URL has no default.
    pub fn config(mut self, config: Config) -> Self {
        self.config = Some(config);
        self
    }

    /// Replaces the system's clock.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Replaces the system's randomness.
    pub fn entropy(mut self, entropy: Arc<dyn Entropy>) -> Self {
        self.entropy = Some(entropy);
        self
    }

    /// Replaces Argon2id as configured.
    pub fn hasher(mut self, hasher: Arc<dyn PasswordHasher>) -> Self {
        self.hasher = Some(hasher);
        self
    }

    /// The sender of mails. Without one, mails wait in the outbox, and [`Builder::build`] warns of it. It is the
    /// [worker](crate::Worker) that sends them: start that, too.
    pub fn mailer(mut self, mailer: Arc<dyn Mailer>) -> Self {
        self.mailer = Some(mailer);
        self
    }

    /// States that another process on the same database sends the mails, so that [`Builder::build`] does not warn.
    pub fn mails_leave_elsewhere(mut self) -> Self {
        self.mails_leave_elsewhere = true;
        self
    }

    /// Replaces the sender of webhooks. Without one, and without the feature `webhooks`, deliveries wait.
    pub fn sender(mut self, sender: Arc<dyn Sender>) -> Self {
        self.sender = Some(sender);
        self
    }

    /// Replaces the system's name resolution, for the hosts of webhooks.
    pub fn resolver(mut self, resolver: Arc<dyn Resolver>) -> Self {
        self.resolver = Some(resolver);
        self
    }

    /// Migrates the database and starts the service on the current tokio runtime.
    ///
    /// # Errors
    /// [`BuildError`], naming the missing part, the setting or the fault.
    ///
    /// # Panics
    /// Outside a tokio runtime. That runtime must outlive every use of the service: what is called of it after the runtime has ended may
    /// panic, too.
    pub async fn build(self) -> Result<TenantAuth, BuildError> {
        let store = self.store.ok_or(BuildError::Missing("store"))?.on(Handle::current());
        let master_keys = Arc::new(self.master_keys.ok_or(BuildError::Missing("master_keys"))?);
        let config = Arc::new(self.config.ok_or(BuildError::Missing("config"))?);
        config.check()?;
        if self.mailer.is_none() && !self.mails_leave_elsewhere {
            tracing::warn!(
                public_url = %config.public_url,
                "nobody sends mail: invites, reset links and notices wait in the outbox. Give the builder a `mailer` and start a worker, or \
                 say `mails_leave_elsewhere` where another process does both"
            );
        }
        if config.public_url.scheme() == "http" && !is_loopback(&config.public_url) {
            tracing::warn!(
                public_url = %config.public_url,
                "the public URL is http, and browsers keep no Secure cookie of it: nobody can sign in with one. http is for loopback alone"
            );
        }
        let clock = self.clock.unwrap_or_else(|| Arc::new(SystemClock));
        let metrics = Arc::new(Metrics::new(clock.now()));
        let hasher = match self.hasher {
            Some(hasher) => hasher,
            None => {
                let meter = metrics.hashing().clone();
                let former = config.passwords.former_peppers.iter().map(Pepper::expose);
                let peppers: Vec<&str> =
                    [config.passwords.pepper.as_ref().map_or("", Pepper::expose)].into_iter().chain(former).collect();
                Arc::new(Argon2Hasher::metered(config.passwords.argon2, &peppers, meter)?)
            }
        };
        let entropy = self.entropy.unwrap_or_else(|| Arc::new(OsEntropy));
        let targets =
            Targets { allow_private_networks: config.webhooks.allow_private_networks, ports: config.webhooks.ports.clone() };
        let sender = match self.sender {
            Some(sender) => Some(sender),
            None => default_sender()?,
        };
        store.migrate().await?;
        let announcements = Arc::new(Announcements::default());
        let memory = Memory::new(store.clone(), &config.memory, metrics.memory().clone());
        let long_reads = Turns::of_long_reads(store.connections());
        let writes = Turns::of_writes(store.connections());
        let transactions = Transactions::new(
            store,
            Context {
                clock: Arc::clone(&clock),
                entropy: Arc::clone(&entropy),
                master_keys: Arc::clone(&master_keys),
                keeps_contexts: config.audit.context_days > 0,
                product: config.product.clone(),
                languages: config.languages.clone(),
                mail_templates: config.mail_templates.clone(),
                follow_up: Box::new(AfterCommit {
                    announcements: Arc::clone(&announcements),
                    metrics: Arc::clone(&metrics),
                    memory: Arc::clone(&memory),
                }),
            },
        );
        let event_waits = EventWaits::new(transactions.store().clone(), Handle::current());
        let keyring = Arc::new(Keyring::open(&transactions, Arc::clone(&config), Arc::clone(&master_keys)).await?);
        memory.reads_again(&keyring);
        // The first look may have to write, and the disk may be full later.
        memory.nudge();
        let runtime = Handle::current();
        runtime.spawn(keys::watch(Arc::downgrade(&keyring)));
        Ok(TenantAuth::from(Inner {
            one_statements: OneStatements::new(&transactions, &runtime),
            lookups: Lookups::new(transactions.store(), &runtime),
            transactions,
            config,
            master_keys,
            keyring,
            clock_watch: ClockWatch::over(&*clock),
            clock,
            entropy,
            hasher,
            mailer: self.mailer,
            sender,
            resolver: self.resolver.unwrap_or_else(|| Arc::new(SystemResolver)),
            targets,
            name_lookups: Turns::of_name_lookups(),
            announcements,
            key_uses: KeyUses::default(),
            estimates: BoundedWork::start("tenant-auth-estimate", PoolSize::default(), WorkMeter::unread(), Pauses::NONE)?
                .naming(Overload::Estimates),
            gates: Gates::default(),
            blocked_logins: BlockedLogins::default(),
            #[cfg(feature = "http")]
            guesses: crate::throttle::Guesses::new(),
            #[cfg(feature = "http")]
            given_up: crate::account::GivenUp::default(),
            long_reads,
            writes,
            #[cfg(feature = "http")]
            in_flight: crate::in_flight::InFlight::new(),
            #[cfg(feature = "http")]
            unsent: crate::unsent::Unsent::new(),
            metrics,
            runtime,
            readiness: Readiness::default(),
            marks: Marks::default(),
            event_waits,
            told: Told::default(),
            memory,
        }))
    }
}

#[cfg(feature = "webhooks")]
fn default_sender() -> Result<Option<Arc<dyn Sender>>, Error> {
    let sender = crate::ports::HttpSender::new().map_err(Error::internal)?;
    Ok(Some(Arc::new(sender)))
}

#[cfg(not(feature = "webhooks"))]
fn default_sender() -> Result<Option<Arc<dyn Sender>>, Error> {
    Ok(None)
}

impl TenantAuth {
    /// Starts collecting parts.
    pub fn builder() -> Builder {
        Builder::default()
    }
}
