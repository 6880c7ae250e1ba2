//! The service as a deployment would build it, and the shortcuts by which the benchmark populates a database through the library:
//! no password is hashed, and time is what it is told to be.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tenant_auth_core::{
    Config, Error, MasterKeys, Store, StoreOptions, TenantAuth, Timestamp,
    ports::{Clock, MailError, Mailer, Message, PasswordHasher, QueueShare, SystemClock, Verdict},
    secret::{Password, StoredPassword},
};

use crate::Failure;

/// What a process needs to know to build the service.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Told {
    pub(crate) database: String,
    pub(crate) master_key: String,
    pub(crate) connections: u32,
    pub(crate) with_worker: bool,
    /// With Argon2id; without, every password is believed.
    pub(crate) with_hash: bool,
    /// For answers from memory, in MiB; 0: nothing is remembered.
    pub(crate) memory: u32,
}

impl Told {
    /// The service with its defaults.
    pub(crate) async fn build(&self) -> Result<TenantAuth, Failure> {
        let builder =
            TenantAuth::builder().store(Store::open_with(&self.database, StoreOptions::with_connections(self.connections)).await?);
        let builder = builder.master_keys(MasterKeys::parse(&self.master_key)?).mailer(Arc::new(Nowhere));
        let builder = if self.with_hash { builder } else { builder.hasher(Arc::new(Believing(StoredPassword::new("")))) };
        let mut config = config()?;
        config.memory.mebibytes = self.memory;
        Ok(builder.config(config).build().await?)
    }
}

/// The defaults; the load may say for whom it speaks, as a proxy does, and webhooks, however many, lead to it.
pub(crate) fn config() -> Result<Config, Failure> {
    let mut config = Config::new("https://auth.example.com".parse()?);
    config.network.trusted_proxies = vec!["127.0.0.0/8".parse()?];
    (config.webhooks.allow_private_networks, config.organizations.max_webhooks) = (true, 1_000);
    Ok(config)
}

/// Sends no mail; a deployment has a mailer, and its worker looks for mail.
#[derive(Debug)]
pub(crate) struct Nowhere;

#[async_trait]
impl Mailer for Nowhere {
    async fn send(&self, _: &Message) -> Result<(), MailError> {
        Ok(())
    }
}

/// Believes every password, and has one hash for all of them.
#[derive(Debug)]
pub(crate) struct Believing(pub(crate) StoredPassword);

#[async_trait]
impl PasswordHasher for Believing {
    async fn hash(&self, _: &Password, _: &QueueShare) -> Result<StoredPassword, Error> {
        Ok(self.0.clone())
    }

    async fn verify(&self, _: &Password, _: Option<&StoredPassword>, _: &QueueShare) -> Result<Verdict, Error> {
        Ok(Verdict::Match)
    }
}

/// Moves to and fro, so that ids made in one go look as if made over weeks: they are sorted by time.
#[derive(Debug)]
pub(crate) struct MovableClock(AtomicI64);

impl MovableClock {
    /// Shows the present.
    pub(crate) fn now() -> Self {
        Self(AtomicI64::new(SystemClock.now().millis()))
    }

    pub(crate) fn move_to(&self, time: Timestamp) {
        self.0.store(time.millis(), Ordering::Relaxed);
    }
}

impl Clock for MovableClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::Relaxed))
    }
}
