//! Test doubles that obey a scenario: a password hasher and a resolver that hold a request in the middle of its work, a hasher
//! whose queue is full, one that fails.

use std::{
    future::IntoFuture,
    io,
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use tenant_auth_core::{
    Error,
    ports::{Argon2Hasher, Argon2Params, PasswordHasher, QueueShare, Resolver, Verdict},
    secret::{Password, StoredPassword},
};
use tokio::sync::Notify;

use crate::{Request, Response};

/// Argon2 with a gate behind it: while the gate is shut, the hash is computed but its result is held back.
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

    /// Sends a request, stops it at the gate, does something else meanwhile, and lets it go on.
    pub async fn meanwhile(&self, request: Request, something: impl Future<Output = ()>) -> Response {
        self.shut.store(true, Ordering::SeqCst);
        let held = tokio::spawn(request.into_future());
        self.arrived.notified().await;
        something.await;
        self.opened.notify_one();
        held.await.expect("the request was answered")
    }

    /// How many passwords were compared, decoys included.
    pub fn verified(&self) -> usize {
        self.verified.load(Ordering::SeqCst)
    }

    /// The first who comes to a shut gate waits there; it is open for everybody after.
    async fn pass(&self) {
        if self.shut.swap(false, Ordering::SeqCst) {
            self.arrived.notify_one();
            self.opened.notified().await;
        }
    }
}

#[async_trait]
impl PasswordHasher for GatedHasher {
    async fn hash(&self, password: &Password, share: &QueueShare) -> Result<StoredPassword, Error> {
        let hash = self.inner.hash(password, share).await;
        self.pass().await;
        hash
    }

    async fn verify(&self, password: &Password, stored: Option<&StoredPassword>, share: &QueueShare) -> Result<Verdict, Error> {
        self.verified.fetch_add(1, Ordering::SeqCst);
        let verdict = self.inner.verify(password, stored, share).await;
        self.pass().await;
        verdict
    }
}

/// A hasher whose queue is always full.
#[derive(Debug, Default)]
pub struct BusyHasher;

#[async_trait]
impl PasswordHasher for BusyHasher {
    async fn hash(&self, _: &Password, _: &QueueShare) -> Result<StoredPassword, Error> {
        Err(Error::unavailable("the queue is full"))
    }

    async fn verify(&self, _: &Password, _: Option<&StoredPassword>, _: &QueueShare) -> Result<Verdict, Error> {
        Err(Error::unavailable("the queue is full"))
    }
}

/// A defect.
#[derive(Debug, Default)]
pub struct PanickingHasher;

#[async_trait]
impl PasswordHasher for PanickingHasher {
    async fn hash(&self, _: &Password, _: &QueueShare) -> Result<StoredPassword, Error> {
        panic!("a defect, made to order")
    }

    async fn verify(&self, _: &Password, _: Option<&StoredPassword>, _: &QueueShare) -> Result<Verdict, Error> {
        panic!("a defect, made to order")
    }
}

/// A resolver in which every name has a public address, but each query waits until the scenario lets it go on.
#[derive(Debug, Default)]
pub struct GatedResolver {
    asked: Notify,
    opened: Notify,
}

impl GatedResolver {
    /// Sends a request, stops it when it asks for a name, does something else meanwhile, and lets it go on.
    pub async fn meanwhile(&self, request: Request, something: impl Future<Output = ()>) -> Response {
        let held = tokio::spawn(request.into_future());
        self.asked.notified().await;
        something.await;
        self.opened.notify_one();
        held.await.expect("the request was answered")
    }
}

#[async_trait]
impl Resolver for GatedResolver {
    async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        self.asked.notify_one();
        self.opened.notified().await;
        Ok(vec![IpAddr::from([93, 184, 215, 14])])
    }
}
