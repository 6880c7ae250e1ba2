//! Password hashing with Argon2id, on a bounded number of threads behind a bounded, fair queue. A hash costs some 20 MiB and 10 to
//! 25 ms of a core, so both are resources an attacker would like to spend: organizations and client networks take turns, and who finds no
//! place in the queue gets [`Error::Unavailable`].

mod engine;
#[cfg(test)]
mod tests;

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use engine::Engine;

use super::{EvenVerdict, ForeignCost, PasswordHasher, Verdict, hashing_memory};
use crate::{
    bounded::{BoundedWork, Pauses, PoolSize, QueueShare},
    config::SetupError,
    error::Error,
    metrics::WorkMeter,
    secret::{Password, StoredPassword},
};

/// The cost of one Argon2id hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Argon2Params {
    /// Memory in KiB.
    pub memory_kib: u32,
    /// Passes over the memory.
    pub iterations: u32,
    /// Lanes.
    pub parallelism: u32,
}

impl Default for Argon2Params {
    /// OWASP's recommendation, m=19456 KiB t=2 p=1 (behaviour.md, B88).
    fn default() -> Self {
        Self { memory_kib: 19_456, iterations: 2, parallelism: 1 }
    }
}

/// Argon2id (RFC 9106) with an optional pepper: the first hashes, and further ones verify what was hashed with them. Passwords hashed by
/// other systems are verified, too.
pub struct Argon2Hasher {
    engine: Arc<Engine>,
    threads: BoundedWork,
}

/// What a hashing thread does when it has nothing to hash.
const PAUSES: Pauses = Pauses { rests: hashing_memory::wipe, is_idle: hashing_memory::give_back };

impl Argon2Hasher {
    /// Hashes on at most `cores - 1` threads (at least one), with at most 256 waiting for each.
    ///
    /// # Errors
    /// [`SetupError::Config`] when Argon2 does not accept the parameters.
    pub fn new(cost: Argon2Params, pepper: Option<&str>) -> Result<Self, SetupError> {
        Self::start(Engine::new(cost, &[pepper.unwrap_or_default()])?, PoolSize::default(), WorkMeter::unread())
    }

    /// [`Self::new`] with several peppers and a meter.
    pub(crate) fn metered(cost: Argon2Params, peppers: &[&str], meter: WorkMeter) -> Result<Self, SetupError> {
        Self::start(Engine::new(cost, peppers)?, PoolSize::default(), meter)
    }

    /// A hasher of one thread for which so many may wait: a queue that a test can fill.
    ///
    /// # Errors
    /// As [`Self::new`].
    #[cfg(feature = "testing")]
    pub fn with_places(cost: Argon2Params, places: usize) -> Result<Self, SetupError> {
        Self::start(Engine::new(cost, &[""])?, PoolSize { threads: 1, places }, WorkMeter::unread())
    }

    fn start(engine: Engine, size: PoolSize, meter: WorkMeter) -> Result<Self, SetupError> {
        Ok(Self { engine: Arc::new(engine), threads: BoundedWork::start("tenant-auth-hash", size, meter, PAUSES)? })
    }

    async fn run<T: Send + 'static>(
        &self,
        share: &QueueShare,
        work: impl FnOnce(&Engine) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let engine = Arc::clone(&self.engine);
        self.threads.run(share, move || work(&engine)).await
    }
}

#[async_trait]
impl PasswordHasher for Argon2Hasher {
    async fn hash(&self, password: &Password, share: &QueueShare) -> Result<StoredPassword, Error> {
        let password = password.clone();
        self.run(share, move |engine| engine.hash(&password)).await
    }

    async fn hash_with_each(&self, password: &Password, share: &QueueShare) -> Result<Vec<StoredPassword>, Error> {
        let password = password.clone();
        self.run(share, move |engine| engine.hash_with_each(&password)).await
    }

    async fn verify(&self, password: &Password, stored: Option<&StoredPassword>, share: &QueueShare) -> Result<Verdict, Error> {
        let (password, stored) = (password.clone(), stored.cloned());
        self.run(share, move |engine| engine.verify(&password, stored.as_ref())).await
    }

    async fn verify_evenly(
        &self,
        password: &Password,
        stored: Option<&StoredPassword>,
        dearest: &[ForeignCost],
        share: &QueueShare,
    ) -> Result<EvenVerdict, Error> {
        if dearest.is_empty() {
            return Ok(EvenVerdict { verdict: self.verify(password, stored, share).await?, wait: Duration::ZERO });
        }
        let (password, stored, dearest) = (password.clone(), stored.cloned(), dearest.to_vec());
        self.run(share, move |engine| engine.verify_evenly(&password, stored.as_ref(), &dearest)).await
    }
}

impl fmt::Debug for Argon2Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Argon2Hasher").field("params", &self.engine.params).finish_non_exhaustive()
    }
}
