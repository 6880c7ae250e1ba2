//! Password hashers that obey a scenario: one that holds a login in the middle of its work, one that has no time at all.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use async_trait::async_trait;
use tenant_auth_core::{
    Error, Password, StoredPassword,
    ports::{Argon2Hasher, Argon2Params, PasswordHasher, Verdict},
};
use tokio::sync::Notify;

/// Argon2 with a gate behind it: while the gate is shut, a verdict is found but not told.
#[derive(Debug)]
pub struct GatedHasher {
    inner: Argon2Hasher,
    shut: AtomicBool,
    arrived: Notify,
    opened: Notify,
    verified: AtomicUsize,
}

impl GatedHasher {
    /// With the gate open.
    pub fn new() -> Arc<Self> {
        let cheap = Argon2Params { memory_kib: 64, iterations: 1, parallelism: 1 };
        Arc::new(Self {
            inner: Argon2Hasher::new(cheap, None).expect("valid parameters"),
            shut: AtomicBool::new(false),
            arrived: Notify::new(),
            opened: Notify::new(),
            verified: AtomicUsize::new(0),
        })
    }

    /// The next verdict waits.
    pub fn shut(&self) {
        self.shut.store(true, Ordering::SeqCst);
    }

    /// Waits until a verdict waits at the gate, which is open again for everybody after it.
    pub async fn someone_waits(&self) {
        self.arrived.notified().await;
    }

    /// Lets the one who waits go on.
    pub fn open(&self) {
        self.opened.notify_one();
    }

    /// How many passwords were compared, decoys included.
    pub fn verified(&self) -> usize {
        self.verified.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl PasswordHasher for GatedHasher {
    async fn hash(&self, password: &Password) -> Result<StoredPassword, Error> {
        self.inner.hash(password).await
    }

    async fn verify(&self, password: &Password, stored: Option<&StoredPassword>) -> Result<Verdict, Error> {
        self.verified.fetch_add(1, Ordering::SeqCst);
        let verdict = self.inner.verify(password, stored).await;
        if self.shut.swap(false, Ordering::SeqCst) {
            self.arrived.notify_one();
            self.opened.notified().await;
        }
        verdict
    }
}

/// A hasher whose queue is always full.
#[derive(Debug, Default)]
pub struct BusyHasher;

#[async_trait]
impl PasswordHasher for BusyHasher {
    async fn hash(&self, _: &Password) -> Result<StoredPassword, Error> {
        Err(Error::Unavailable)
    }

    async fn verify(&self, _: &Password, _: Option<&StoredPassword>) -> Result<Verdict, Error> {
        Err(Error::Unavailable)
    }
}
