//! Password hashing with Argon2id, on a bounded number of threads behind a bounded, fair queue. A hash costs some 20 MiB and 15 ms
//! of a core, so both are resources an attacker would like to spend: organizations and client networks take turns, and who finds no
//! place in the queue gets [`Error::Unavailable`].

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use argon2::{
    Algorithm, Argon2, Params, Version,
    password_hash::{
        self,
        phc::{Output, ParamsString, PasswordHash, Salt},
    },
};
use async_trait::async_trait;
use zeroize::Zeroizing;

use super::{
    Entropy, EvenVerdict, ForeignCost, ForeignHash, HashScheme, OsEntropy, PasswordHasher, Verdict, foreign_hash::Pace,
    hashing_memory,
};
use crate::{
    bounded::{BoundedWork, Pauses, PoolSize, QueueShare},
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

/// Argon2id (RFC 9106) with an optional pepper: the first hashes, and further ones verify what was hashed with them. Passwords hashed by
/// other systems are verified, too.
pub struct Argon2Hasher {
    engine: Arc<Engine>,
    threads: BoundedWork,
}

struct Engine {
    params: Params,
    /// The first hashes, each verifies; never none. An empty one is no pepper (RFC 9106, 3.1).
    peppers: Vec<Zeroizing<Vec<u8>>>,
    decoy: StoredPassword,
    pace: Pace,
    done: WorkDone,
}

/// What a hashing thread does when it has nothing to hash.
const PAUSES: Pauses = Pauses { rests: hashing_memory::wipe, is_idle: hashing_memory::give_back };

/// The memory cost times the passes of all hashes computed, counted in unit tests only.
#[derive(Debug, Default)]
struct WorkDone(#[cfg(test)] std::sync::atomic::AtomicU64);

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
        self.run(share, move |engine| engine.peppers.iter().map(|pepper| engine.hash_with(&password, pepper)).collect()).await
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
        self.run(share, move |engine| {
            let least = engine.dearest(&dearest)?;
            let begun = Instant::now();
            let verdict = engine.verify(&password, stored.as_ref())?;
            let wait = if verdict == Verdict::Mismatch { least.saturating_sub(begun.elapsed()) } else { Duration::ZERO };
            Ok(EvenVerdict { verdict, wait })
        })
        .await
    }
}

impl Engine {
    fn new(cost: Argon2Params, peppers: &[&str]) -> Result<Self, SetupError> {
        let params = Params::new(cost.memory_kib, cost.iterations, cost.parallelism, None)
            .map_err(|error| ConfigError::new(Setting::Argon2, error.to_string()))?;
        let peppers = peppers.iter().map(|text| Zeroizing::new(text.as_bytes().to_vec())).collect();
        let mut engine = Self { params, peppers, decoy: StoredPassword::new(""), pace: Pace::default(), done: WorkDone::default() };
        for pepper in &engine.peppers {
            argon2(pepper, &engine.params).map_err(|error| ConfigError::new(Setting::PasswordPepper, error.to_string()))?;
        }
        engine.decoy = engine.decoy()?;
        Ok(engine)
    }

    /// The pepper that hashes.
    fn pepper(&self) -> &[u8] {
        self.peppers.first().map_or(&[], |pepper| pepper.as_slice())
    }

    /// A hash that no password has: chance, in the form of a hash of ours. To compute one would take the start as long as a login, and
    /// its memory.
    fn decoy(&self) -> Result<StoredPassword, Error> {
        let mut chance = [0; Params::DEFAULT_OUTPUT_LEN];
        OsEntropy.fill(&mut chance);
        let decoy = Output::new(&chance).map_err(Into::into).and_then(|output| self.stored(Salt::generate(), output));
        decoy.map_err(|error: password_hash::Error| Error::internal(error.to_string()))
    }

    /// A hash as it is stored.
    fn stored(&self, salt: Salt, hash: Output) -> password_hash::Result<StoredPassword> {
        let hash = PasswordHash {
            algorithm: Algorithm::Argon2id.ident(),
            version: Some(Version::V0x13.into()),
            params: ParamsString::try_from(&self.params)?,
            salt: Some(salt),
            hash: Some(hash),
        };
        Ok(StoredPassword::new(hash.to_string()))
    }

    fn hash(&self, password: &Password) -> Result<StoredPassword, Error> {
        self.hash_with(password, self.pepper())
    }

    fn hash_with(&self, password: &Password, pepper: &[u8]) -> Result<StoredPassword, Error> {
        self.done.add(&self.params);
        let hash = || {
            let (argon2, salt) = (argon2(pepper, &self.params)?, Salt::generate());
            self.stored(salt, output(&argon2, password, &salt)?)
        };
        hash().map_err(|error: password_hash::Error| Error::internal(error.to_string()))
    }

    fn verify(&self, password: &Password, stored: Option<&StoredPassword>) -> Result<Verdict, Error> {
        if let Some(foreign) = stored.and_then(ForeignHash::of) {
            return self.verify_foreign(password, &foreign);
        }
        let judged = stored.unwrap_or(&self.decoy);
        let hash = PasswordHash::new(judged.as_str()).map_err(|error| Error::internal(error.to_string()))?;
        let used = Params::try_from(&hash).ok();
        let matching = used.as_ref().and_then(|used| self.matching(password, &hash, used));
        match (stored, matching) {
            (Some(_), Some(0)) if !used.as_ref().is_some_and(|used| self.is_outdated(used)) => Ok(Verdict::Match),
            (Some(_), Some(_)) => Ok(Verdict::MatchOutdated),
            _ => {
                self.spend_the_rest(password, used.as_ref())?;
                Ok(Verdict::Mismatch)
            }
        }
    }

    fn verify_foreign(&self, password: &Password, foreign: &ForeignHash) -> Result<Verdict, Error> {
        let begun = Instant::now();
        let matches = foreign.matches(password)?;
        self.pace.note(foreign.cost(), begun.elapsed());
        Ok(if matches { Verdict::MatchOutdated } else { Verdict::Mismatch })
    }

    /// What a wrong password costs that is compared with a hash of ours: a hash with each pepper.
    fn own_cost(&self) -> ForeignCost {
        ForeignCost { scheme: HashScheme::Argon2, units: cost(&self.params) * self.peppers.len() as u64 }
    }

    /// The time of the dearest refusal. A hash of ours, and one that looks like ours, is computed with each pepper.
    fn dearest(&self, imported: &[ForeignCost]) -> Result<Duration, Error> {
        let with_each = |cost: &ForeignCost| match cost.scheme {
            HashScheme::Argon2 => ForeignCost { units: cost.units.saturating_mul(self.peppers.len() as u64), ..*cost },
            _ => *cost,
        };
        let costs: Vec<_> = imported.iter().map(with_each).chain([self.own_cost()]).collect();
        self.pace.dearest(&costs)
    }

    /// With which of the peppers the password has this hash; `used` are the hash's parameters.
    fn matching(&self, password: &Password, hash: &PasswordHash, used: &Params) -> Option<usize> {
        self.peppers.iter().position(|pepper| {
            self.done.add(used);
            matches(password, hash, used, pepper).unwrap_or(false)
        })
    }

    /// Does the work that a hash with today's parameters would have cost more. Otherwise a wrong password for an account whose hash
    /// is older than the parameters would be refused sooner than one for an unknown address, and show that there is an account.
    fn spend_the_rest(&self, password: &Password, used: Option<&Params>) -> Result<(), Error> {
        let missing = cost(&self.params).saturating_sub(used.map_or(0, cost)) * self.peppers.len() as u64;
        if missing == 0 {
            return Ok(());
        }
        let passes = self.params.t_cost();
        let memory = u32::try_from(missing.div_ceil(u64::from(passes))).unwrap_or(u32::MAX).max(8 * self.params.p_cost());
        let compute = || {
            let rest = Params::new(memory, passes, self.params.p_cost(), None)?;
            self.done.add(&rest);
            output(&argon2(self.pepper(), &rest)?, password, b"of no importance").map(drop)
        };
        compute().map_err(|error: password_hash::Error| Error::internal(error.to_string()))
    }

    fn is_outdated(&self, used: &Params) -> bool {
        used.m_cost() < self.params.m_cost() || used.t_cost() < self.params.t_cost()
    }
}

/// Hashes of ours, with this pepper.
fn argon2<'p>(pepper: &'p [u8], params: &Params) -> Result<Argon2<'p>, argon2::Error> {
    Argon2::new_with_secret(pepper, Algorithm::Argon2id, Version::V0x13, params.clone())
}

/// Whether the password has this hash with this pepper. A hash without a salt matches nothing.
fn matches(password: &Password, hash: &PasswordHash, used: &Params, pepper: &[u8]) -> password_hash::Result<bool> {
    let (Some(salt), Some(expected)) = (&hash.salt, &hash.hash) else { return Ok(false) };
    let version = hash.version.map(Version::try_from).transpose()?.unwrap_or_default();
    let argon2 = Argon2::new_with_secret(pepper, Algorithm::try_from(hash.algorithm.as_str())?, version, used.clone())?;
    // `Output` compares in constant time.
    Ok(output(&argon2, password, salt)? == *expected)
}

/// The hash itself, computed in the memory that the thread keeps.
fn output(argon2: &Argon2<'_>, password: &Password, salt: &[u8]) -> password_hash::Result<Output> {
    let length = argon2.params().output_len().unwrap_or(Params::DEFAULT_OUTPUT_LEN);
    let mut bytes = Zeroizing::new([0; Output::MAX_LENGTH]);
    let bytes = bytes.get_mut(..length).ok_or(password_hash::Error::OutputSize)?;
    hashing_memory::with(argon2.params().block_count(), |blocks| {
        argon2.hash_password_into_with_memory(password.expose().as_bytes(), salt, bytes, blocks)
    })?;
    Ok(Output::new(bytes)?)
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

    fn with_peppers(peppers: &[&str]) -> Argon2Hasher {
        let cost = Argon2Params { memory_kib: 64, iterations: 1, parallelism: 1 };
        Argon2Hasher::metered(cost, peppers, WorkMeter::unread()).expect("valid parameters")
    }

    #[tokio::test]
    async fn each_pepper_verifies_and_the_first_one_hashes() {
        let rotated = with_peppers(&["new", "old", ""]);
        for former in [Some("old"), None] {
            let stored = cheap(64, former).hash(&Password::new("correct horse"), &share()).await.expect("hashes");
            assert_eq!(verdict(&rotated, "correct horse", Some(&stored)).await, Verdict::MatchOutdated, "{former:?}");
            assert_eq!(verdict(&rotated, "wrong horse", Some(&stored)).await, Verdict::Mismatch);
        }
        let stored = rotated.hash(&Password::new("correct horse"), &share()).await.expect("hashes");
        assert_eq!(verdict(&rotated, "correct horse", Some(&stored)).await, Verdict::Match);
        assert_eq!(verdict(&cheap(64, Some("new")), "correct horse", Some(&stored)).await, Verdict::Match);
        for other in [Some("old"), None] {
            assert_eq!(verdict(&cheap(64, other), "correct horse", Some(&stored)).await, Verdict::Mismatch);
        }
    }

    #[tokio::test]
    async fn a_wrong_password_costs_the_same_whichever_pepper_the_account_was_hashed_with() {
        let rotated = with_peppers(&["new", "old"]);
        let work = || rotated.engine.done.0.swap(0, std::sync::atomic::Ordering::Relaxed);
        work();
        verdict(&rotated, "wrong horse", None).await;
        assert_eq!(work(), 2 * 64, "each pepper is tried");
        for hasher in [cheap(64, Some("new")), cheap(64, Some("old")), cheap(32, Some("old"))] {
            let stored = hasher.hash(&Password::new("correct horse"), &share()).await.expect("hashes");
            assert_eq!(verdict(&rotated, "wrong horse", Some(&stored)).await, Verdict::Mismatch);
            assert_eq!(work(), 2 * 64);
        }
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

    #[tokio::test]
    async fn a_failed_login_takes_as_long_as_with_the_dearest_imported_hash() {
        let hasher = cheap(64, Some("pepper"));
        let imported = "$argon2id$v=19$m=64,t=2,p=1$c2l4dGVlbiBieXRlcyBvaw$6l+5b6xNgkpIVRAh2b57tbFCa6MezZlThsJN9gGMC8o";
        let imported = ForeignHash::parse(imported).expect("a hash").stored();
        let dear = [ForeignCost { scheme: HashScheme::Bcrypt, units: 1 << 10 }];
        let least = hasher.engine.pace.dearest(&dear).expect("it is measured");
        let took = async |password: &str, stored: Option<&StoredPassword>| {
            let begun = Instant::now();
            let even = hasher.verify_evenly(&Password::new(password), stored, &dear, &share()).await.expect("verifies");
            (even.verdict, begun.elapsed() + even.wait >= least)
        };
        let own = hasher.hash(&Password::new("correct horse battery"), &share()).await.expect("hashes");
        for stored in [None, Some(&own), Some(&imported)] {
            assert_eq!(took("wrong horse", stored).await, (Verdict::Mismatch, true));
        }
        assert_eq!(took("correct horse battery", Some(&own)).await.0, Verdict::Match);
        assert_eq!(took("correct horse battery", Some(&imported)).await.0, Verdict::MatchOutdated, "without the pepper");
        assert_eq!(verdict(&hasher, "correct horse battery", Some(&imported)).await, Verdict::MatchOutdated);
    }
}
