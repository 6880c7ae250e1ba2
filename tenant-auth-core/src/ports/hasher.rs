//! Password hashing: Argon2id on a bounded number of threads behind a bounded queue. A hash costs some 20 MiB and 15 ms of a
//! core, so both are resources an attacker would like to spend; beyond the queue the answer is [`Error::Unavailable`] at once.

use std::{fmt, sync::Arc};

use argon2::{
    Algorithm, Argon2, Params, PasswordVerifier, Version,
    password_hash::{PasswordHasher as _, phc::PasswordHash},
};
use async_trait::async_trait;
use zeroize::Zeroizing;

use crate::{
    bounded::BoundedWork,
    config::{ConfigError, Setting, SetupError},
    error::Error,
    metrics::WorkMeter,
    secret::{Password, StoredPassword},
};

/// The result of checking a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The right password.
    Match,
    /// The right password, hashed with weaker parameters than today's: hash it again.
    MatchOutdated,
    /// The wrong password.
    Mismatch,
}

/// The port for password hashing.
#[async_trait]
pub trait PasswordHasher: fmt::Debug + Send + Sync {
    /// Hashes a new password.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when too many hashes are waiting.
    async fn hash(&self, password: &Password) -> Result<StoredPassword, Error>;

    /// Compares a password with a stored hash. With `None` it does the same work on a decoy and finds a mismatch, so that the
    /// response time does not tell whether an account exists.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when too many hashes are waiting.
    async fn verify(&self, password: &Password, stored: Option<&StoredPassword>) -> Result<Verdict, Error>;
}

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

/// Argon2id (RFC 9106) with an optional pepper.
pub struct Argon2Hasher {
    engine: Arc<Engine>,
    threads: BoundedWork,
}

struct Engine {
    params: Params,
    pepper: Option<Zeroizing<Vec<u8>>>,
    decoy: StoredPassword,
}

impl Argon2Hasher {
    /// Hashes on at most `cores - 1` threads (at least one), with at most 256 waiting for each.
    ///
    /// # Errors
    /// [`SetupError::Config`] when Argon2 does not accept the parameters.
    pub fn new(cost: Argon2Params, pepper: Option<&str>) -> Result<Self, SetupError> {
        Self::metered(cost, pepper, WorkMeter::unread())
    }

    /// [`Self::new`] with a meter.
    pub(crate) fn metered(cost: Argon2Params, pepper: Option<&str>, meter: WorkMeter) -> Result<Self, SetupError> {
        let params = Params::new(cost.memory_kib, cost.iterations, cost.parallelism, None)
            .map_err(|error| ConfigError::new(Setting::Argon2, error.to_string()))?;
        let pepper = pepper.map(|text| Zeroizing::new(text.as_bytes().to_vec()));
        let mut engine = Engine { params, pepper, decoy: StoredPassword::new("") };
        engine.argon2().map_err(|error| ConfigError::new(Setting::PasswordPepper, error.to_string()))?;
        engine.decoy = engine.hash(&Password::new("a password that nobody has"))?;
        Ok(Self { engine: Arc::new(engine), threads: BoundedWork::start("tenant-auth-hash", meter)? })
    }

    async fn run<T: Send + 'static>(&self, work: impl FnOnce(&Engine) -> Result<T, Error> + Send + 'static) -> Result<T, Error> {
        let engine = Arc::clone(&self.engine);
        self.threads.run(move || work(&engine)).await
    }
}

#[async_trait]
impl PasswordHasher for Argon2Hasher {
    async fn hash(&self, password: &Password) -> Result<StoredPassword, Error> {
        let password = password.clone();
        self.run(move |engine| engine.hash(&password)).await
    }

    async fn verify(&self, password: &Password, stored: Option<&StoredPassword>) -> Result<Verdict, Error> {
        let (password, stored) = (password.clone(), stored.cloned());
        self.run(move |engine| engine.verify(&password, stored.as_ref())).await
    }
}

impl Engine {
    fn argon2(&self) -> Result<Argon2<'_>, argon2::Error> {
        match &self.pepper {
            Some(pepper) => Argon2::new_with_secret(pepper, Algorithm::Argon2id, Version::V0x13, self.params.clone()),
            None => Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, self.params.clone())),
        }
    }

    fn hash(&self, password: &Password) -> Result<StoredPassword, Error> {
        let hash = self
            .argon2()
            .map_err(|error| Error::internal(error.to_string()))?
            .hash_password(password.expose().as_bytes())
            .map_err(|error| Error::internal(error.to_string()))?;
        Ok(StoredPassword::new(hash.to_string()))
    }

    fn verify(&self, password: &Password, stored: Option<&StoredPassword>) -> Result<Verdict, Error> {
        let judged = stored.unwrap_or(&self.decoy);
        let hash = PasswordHash::new(judged.as_str()).map_err(|error| Error::internal(error.to_string()))?;
        let matches = self
            .argon2()
            .map_err(|error| Error::internal(error.to_string()))?
            .verify_password(password.expose().as_bytes(), &hash)
            .is_ok();
        Ok(match (stored, matches) {
            (Some(_), true) if self.is_outdated(&hash) => Verdict::MatchOutdated,
            (Some(_), true) => Verdict::Match,
            _ => Verdict::Mismatch,
        })
    }

    fn is_outdated(&self, hash: &PasswordHash) -> bool {
        Params::try_from(hash).is_ok_and(|used| used.m_cost() < self.params.m_cost() || used.t_cost() < self.params.t_cost())
    }
}

impl fmt::Debug for Argon2Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Argon2Hasher").field("params", &self.engine.params).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cheap(memory_kib: u32, pepper: Option<&str>) -> Argon2Hasher {
        Argon2Hasher::new(Argon2Params { memory_kib, iterations: 1, parallelism: 1 }, pepper).expect("valid parameters")
    }

    #[tokio::test]
    async fn a_hash_matches_its_password_only() {
        let hasher = cheap(64, None);
        let stored = hasher.hash(&Password::new("correct horse")).await.expect("hashes");
        assert_eq!(hasher.verify(&Password::new("correct horse"), Some(&stored)).await.expect("verifies"), Verdict::Match);
        assert_eq!(hasher.verify(&Password::new("wrong horse"), Some(&stored)).await.expect("verifies"), Verdict::Mismatch);
        assert_eq!(hasher.verify(&Password::new("a password that nobody has"), None).await.expect("verifies"), Verdict::Mismatch);
    }

    #[tokio::test]
    async fn weaker_parameters_and_another_pepper_are_noticed() {
        let stored = cheap(64, None).hash(&Password::new("correct horse")).await.expect("hashes");
        let password = Password::new("correct horse");
        assert_eq!(cheap(128, None).verify(&password, Some(&stored)).await.expect("verifies"), Verdict::MatchOutdated);
        assert_eq!(cheap(64, Some("pepper")).verify(&password, Some(&stored)).await.expect("verifies"), Verdict::Mismatch);
    }
}
