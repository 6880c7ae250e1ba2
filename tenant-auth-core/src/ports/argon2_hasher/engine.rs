//! Hashing and comparing, on the thread that asks for it. A wrong password costs the same whatever it is compared with: a hash of an
//! account that there is not, an older one, one of another pepper or of another system.

use std::time::{Duration, Instant};

use argon2::{
    Algorithm, Argon2, Params, Version,
    password_hash::{
        self,
        phc::{Output, ParamsString, PasswordHash, Salt},
    },
};
use zeroize::Zeroizing;

use super::{
    super::{Entropy, EvenVerdict, ForeignCost, ForeignHash, HashScheme, OsEntropy, Verdict, foreign_hash::Pace, hashing_memory},
    Argon2Params,
};
use crate::{
    config::{ConfigError, Setting, SetupError},
    error::Error,
    secret::{Password, StoredPassword},
};

/// The parameters and peppers of hashes, and what is known of their cost.
pub(super) struct Engine {
    pub(super) params: Params,
    /// The first hashes, each verifies; never none. An empty one is no pepper (RFC 9106, 3.1).
    peppers: Vec<Zeroizing<Vec<u8>>>,
    decoy: StoredPassword,
    pub(super) pace: Pace,
    pub(super) done: WorkDone,
}

/// The memory cost times the passes of all hashes computed, counted in unit tests only.
#[derive(Debug, Default)]
pub(super) struct WorkDone(#[cfg(test)] pub(super) std::sync::atomic::AtomicU64);

impl Engine {
    pub(super) fn new(cost: Argon2Params, peppers: &[&str]) -> Result<Self, SetupError> {
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

    pub(super) fn hash(&self, password: &Password) -> Result<StoredPassword, Error> {
        self.hash_with(password, self.pepper())
    }

    /// A hash with each of the peppers.
    pub(super) fn hash_with_each(&self, password: &Password) -> Result<Vec<StoredPassword>, Error> {
        self.peppers.iter().map(|pepper| self.hash_with(password, pepper)).collect()
    }

    fn hash_with(&self, password: &Password, pepper: &[u8]) -> Result<StoredPassword, Error> {
        self.done.add(&self.params);
        let hash = || {
            let (argon2, salt) = (argon2(pepper, &self.params)?, Salt::generate());
            self.stored(salt, output(&argon2, password, &salt)?)
        };
        hash().map_err(|error: password_hash::Error| Error::internal(error.to_string()))
    }

    pub(super) fn verify(&self, password: &Password, stored: Option<&StoredPassword>) -> Result<Verdict, Error> {
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

    /// The same, and how long a wrong password has to be waited for beside what it would cost with the dearest hash.
    pub(super) fn verify_evenly(
        &self,
        password: &Password,
        stored: Option<&StoredPassword>,
        dearest: &[ForeignCost],
    ) -> Result<EvenVerdict, Error> {
        let least = self.dearest(dearest)?;
        let begun = Instant::now();
        let verdict = self.verify(password, stored)?;
        let wait = if verdict == Verdict::Mismatch { least.saturating_sub(begun.elapsed()) } else { Duration::ZERO };
        Ok(EvenVerdict { verdict, wait })
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
