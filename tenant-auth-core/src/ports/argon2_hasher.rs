//! Password hashing with Argon2id, on a bounded number of threads behind a bounded, fair queue. A hash costs some 20 MiB and 15 ms
//! of a core, so both are resources an attacker would like to spend: organizations and client networks take turns, and who finds no
//! place in the queue gets [`Error::Unavailable`].

use std::{fmt, sync::Arc};

use argon2::{
    Algorithm, Argon2, Params, PasswordVerifier, Version,
    password_hash::{PasswordHasher as _, phc::PasswordHash},
};
use async_trait::async_trait;
use zeroize::Zeroizing;

use super::{PasswordHasher, Verdict};
use crate::{
    bounded::{BoundedWork, PoolSize, QueueShare},
    config::{ConfigError, Setting, SetupError},
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

/// Argon2id (RFC 9106) with an optional pepper.
pub struct Argon2Hasher {
    engine: Arc<Engine>,
    threads: BoundedWork,
}

struct Engine {
    params: Params,
    pepper: Option<Zeroizing<Vec<u8>>>,
    decoy: StoredPassword,
    done: WorkDone,
}

/// The memory cost times the passes of all hashes computed, counted in unit tests only.
#[derive(Debug, Default)]
struct WorkDone(#[cfg(test)] std::sync::atomic::AtomicU64);

impl Argon2Hasher {
    /// Hashes on at most `cores - 1` threads (at least one), with at most 256 waiting for each.
    ///
    /// # Errors
    /// [`SetupError::Config`] when Argon2 does not accept the parameters.
    pub fn new(cost: Argon2Params, pepper: Option<&str>) -> Result<Self, SetupError> {
        Self::start(Engine::new(cost, pepper)?, PoolSize::default(), WorkMeter::unread())
    }

    /// [`Self::new`] with a meter.
    pub(crate) fn metered(cost: Argon2Params, pepper: Option<&str>, meter: WorkMeter) -> Result<Self, SetupError> {
        Self::start(Engine::new(cost, pepper)?, PoolSize::default(), meter)
    }

    /// A hasher of one thread for which so many may wait: a queue that a test can fill.
    ///
    /// # Errors
    /// As [`Self::new`].
    #[cfg(feature = "testing")]
    pub fn with_places(cost: Argon2Params, places: usize) -> Result<Self, SetupError> {
        Self::start(Engine::new(cost, None)?, PoolSize { threads: 1, places }, WorkMeter::unread())
    }

    fn start(engine: Engine, size: PoolSize, meter: WorkMeter) -> Result<Self, SetupError> {
        Ok(Self { engine: Arc::new(engine), threads: BoundedWork::start("tenant-auth-hash", size, meter)? })
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

    async fn verify(&self, password: &Password, stored: Option<&StoredPassword>, share: &QueueShare) -> Result<Verdict, Error> {
        let (password, stored) = (password.clone(), stored.cloned());
        self.run(share, move |engine| engine.verify(&password, stored.as_ref())).await
    }
}

impl Engine {
    fn new(cost: Argon2Params, pepper: Option<&str>) -> Result<Self, SetupError> {
        let params = Params::new(cost.memory_kib, cost.iterations, cost.parallelism, None)
            .map_err(|error| ConfigError::new(Setting::Argon2, error.to_string()))?;
        let pepper = pepper.map(|text| Zeroizing::new(text.as_bytes().to_vec()));
        let mut engine = Self { params, pepper, decoy: StoredPassword::new(""), done: WorkDone::default() };
        engine.argon2(&engine.params).map_err(|error| ConfigError::new(Setting::PasswordPepper, error.to_string()))?;
        engine.decoy = engine.hash(&Password::new("a password that nobody has"))?;
        Ok(engine)
    }

    fn argon2(&self, params: &Params) -> Result<Argon2<'_>, argon2::Error> {
        match &self.pepper {
            Some(pepper) => Argon2::new_with_secret(pepper, Algorithm::Argon2id, Version::V0x13, params.clone()),
            None => Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params.clone())),
        }
    }

    fn hash(&self, password: &Password) -> Result<StoredPassword, Error> {
        self.done.add(&self.params);
        let argon2 = self.argon2(&self.params).map_err(|error| Error::internal(error.to_string()))?;
        let hash = argon2.hash_password(password.expose().as_bytes()).map_err(|error| Error::internal(error.to_string()))?;
        Ok(StoredPassword::new(hash.to_string()))
    }

    fn verify(&self, password: &Password, stored: Option<&StoredPassword>) -> Result<Verdict, Error> {
        let judged = stored.unwrap_or(&self.decoy);
        let hash = PasswordHash::new(judged.as_str()).map_err(|error| Error::internal(error.to_string()))?;
        let used = Params::try_from(&hash).ok();
        if let Some(used) = &used {
            self.done.add(used);
        }
        let argon2 = self.argon2(&self.params).map_err(|error| Error::internal(error.to_string()))?;
        let matches = argon2.verify_password(password.expose().as_bytes(), &hash).is_ok();
        match (stored, matches) {
            (Some(_), true) if used.as_ref().is_some_and(|used| self.is_outdated(used)) => Ok(Verdict::MatchOutdated),
            (Some(_), true) => Ok(Verdict::Match),
            _ => {
                self.spend_the_rest(password, used.as_ref())?;
                Ok(Verdict::Mismatch)
            }
        }
    }

    /// Does the work that a hash with today's parameters would have cost more. Otherwise a wrong password for an account whose hash
    /// is older than the parameters would be refused sooner than one for an unknown address, and show that there is an account.
    fn spend_the_rest(&self, password: &Password, used: Option<&Params>) -> Result<(), Error> {
        let missing = cost(&self.params).saturating_sub(used.map_or(0, cost));
        if missing == 0 {
            return Ok(());
        }
        let passes = self.params.t_cost();
        let memory = u32::try_from(missing.div_ceil(u64::from(passes))).unwrap_or(u32::MAX).max(8 * self.params.p_cost());
        let compute = || {
            let rest = Params::new(memory, passes, self.params.p_cost(), None)?;
            self.done.add(&rest);
            self.argon2(&rest)?.hash_password_into(password.expose().as_bytes(), b"of no importance", &mut [0; 32])
        };
        compute().map_err(|error: argon2::Error| Error::internal(error.to_string()))
    }

    fn is_outdated(&self, used: &Params) -> bool {
        used.m_cost() < self.params.m_cost() || used.t_cost() < self.params.t_cost()
    }
}

/// What a hash costs: its time grows with this number, and the rest of it is alike.
fn cost(params: &Params) -> u64 {
    u64::from(params.m_cost()) * u64::from(params.t_cost())
}

impl WorkDone {
    #[cfg(test)]
    fn add(&self, params: &Params) {
        self.0.fetch_add(cost(params), std::sync::atomic::Ordering::Relaxed);
    }

    #[cfg(not(test))]
    fn add(&self, _: &Params) {}
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

    fn share() -> QueueShare {
        QueueShare::new(&"org_00000000000000000000000001".parse().expect("an id"), None)
    }

    async fn verdict(hasher: &Argon2Hasher, password: &str, stored: Option<&StoredPassword>) -> Verdict {
        hasher.verify(&Password::new(password), stored, &share()).await.expect("verifies")
    }

    #[tokio::test]
    async fn a_hash_matches_its_password_only() {
        let hasher = cheap(64, None);
        let stored = hasher.hash(&Password::new("correct horse"), &share()).await.expect("hashes");
        assert_eq!(verdict(&hasher, "correct horse", Some(&stored)).await, Verdict::Match);
        assert_eq!(verdict(&hasher, "wrong horse", Some(&stored)).await, Verdict::Mismatch);
        assert_eq!(verdict(&hasher, "a password that nobody has", None).await, Verdict::Mismatch);
    }

    #[tokio::test]
    async fn weaker_parameters_and_another_pepper_are_noticed() {
        let stored = cheap(64, None).hash(&Password::new("correct horse"), &share()).await.expect("hashes");
        assert_eq!(verdict(&cheap(128, None), "correct horse", Some(&stored)).await, Verdict::MatchOutdated);
        assert_eq!(verdict(&cheap(64, Some("pepper")), "correct horse", Some(&stored)).await, Verdict::Mismatch);
    }

    #[tokio::test]
    async fn a_wrong_password_costs_the_same_whatever_the_account_was_hashed_with() {
        let costs = [(64, 1, 1), (64, 3, 1), (100, 2, 1), (4_096, 1, 4), (4_000, 3, 1)];
        let of = |(memory_kib, iterations, parallelism)| Argon2Params { memory_kib, iterations, parallelism };
        let today = Argon2Hasher::new(of((4_096, 3, 1)), None).expect("valid parameters");
        let work = || today.engine.done.0.swap(0, std::sync::atomic::Ordering::Relaxed);
        work();
        verdict(&today, "wrong horse", None).await;
        let decoy = work();
        assert_eq!(decoy, 3 * 4_096);
        for older in costs.map(of) {
            let older = Argon2Hasher::new(older, None).expect("valid parameters");
            let stored = older.hash(&Password::new("correct horse"), &share()).await.expect("hashes");
            assert_eq!(verdict(&today, "wrong horse", Some(&stored)).await, Verdict::Mismatch);
            let spent = work();
            assert!((decoy..decoy + 32).contains(&spent), "{spent} instead of {decoy} after {older:?}");
        }
    }
}
