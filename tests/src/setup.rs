//! The setup of the service under test: what a scenario may change before the service starts (settings, mailer, hasher, time).

use std::{
    net::IpAddr,
    sync::{Arc, LazyLock},
    time::Duration,
};

use tenant_auth_core::{
    Config, Timestamp,
    ports::{
        Argon2Params, Mailer, MockClock, PasswordHasher, RecordingMailer, RecordingSender, Resolver, ScriptedResolver, Sender,
    },
};

use crate::template::public_url;

/// The moment at which every scenario begins.
pub(crate) const START: &str = "2026-11-20T08:21:00.000Z";

/// A host with a public address, for webhooks.
pub const HOOKS: &str = "hooks.example.com";

/// The service's defaults, with the address that every link begins with. Made once: they hold the templates of the mails, read.
pub(crate) static DEFAULTS: LazyLock<Config> = LazyLock::new(|| Config::new(public_url()));

/// How the service under test is built.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The defaults, except that hashing is cheap, sign-up is open and a look counts as short as it may.
    pub config: Config,
    /// Stands still until it is moved.
    pub clock: Arc<MockClock>,
    /// Keeps what is sent, unless `mailer` says otherwise.
    pub outbox: Arc<RecordingMailer>,
    /// Replaces the recording mailer.
    pub mailer: Option<Arc<dyn Mailer>>,
    /// Keeps what is sent to webhooks and answers as told, unless `sender` says otherwise.
    pub webhooks: Arc<RecordingSender>,
    /// Replaces the recording sender.
    pub sender: Option<Arc<dyn Sender>>,
    /// Knows [`HOOKS`] and what a scenario tells it.
    pub resolver: Arc<ScriptedResolver>,
    /// Replaces the scripted resolver.
    pub names: Option<Arc<dyn Resolver>>,
    /// Replaces Argon2.
    pub hasher: Option<Arc<dyn PasswordHasher>>,
    /// Replaces the master key that the template was sealed with; a comma-separated list.
    pub master_keys: Option<String>,
}

impl Setup {
    /// The defaults of the matrix.
    pub fn new() -> Self {
        let mut config = DEFAULTS.clone();
        config.passwords.argon2 = Argon2Params { memory_kib: 64, iterations: 1, parallelism: 1 };
        config.memory.freshness = Duration::from_millis(20); // for which every change waits that ends a right
        config.sign_up.is_open = true;
        let resolver = ScriptedResolver::default();
        resolver.answer(HOOKS, [IpAddr::from([93, 184, 215, 14])]);
        let start = Timestamp::parse(START).expect("an ISO time");
        Self {
            config,
            clock: Arc::new(MockClock::at(start)),
            outbox: Arc::new(RecordingMailer::default()),
            mailer: None,
            webhooks: Arc::new(RecordingSender::default()),
            sender: None,
            resolver: Arc::new(resolver),
            names: None,
            hasher: None,
            master_keys: None,
        }
    }
}

impl Default for Setup {
    fn default() -> Self {
        Self::new()
    }
}
