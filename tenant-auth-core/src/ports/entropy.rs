//! The port for randomness. Ids, tokens, keys and nonces draw from it alone, so that a test can repeat them.

use std::fmt;

/// A source of unpredictable bytes.
pub trait Entropy: fmt::Debug + Send + Sync {
    /// Overwrites the whole of `buffer` with bytes fit for cryptographic keys.
    fn fill(&self, buffer: &mut [u8]);
}

/// The thread's generator, seeded and reseeded by the operating system (ChaCha12).
#[derive(Debug, Clone, Copy, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    #[expect(clippy::disallowed_methods, reason = "the one place that draws from the global generator")]
    fn fill(&self, buffer: &mut [u8]) {
        use rand::Rng;
        rand::rng().fill_bytes(buffer);
    }
}

/// A seeded generator that gives the same bytes at every run; for tests only.
#[cfg(feature = "testing")]
#[derive(Debug)]
pub struct SeededEntropy(std::sync::Mutex<rand::rngs::StdRng>);

#[cfg(feature = "testing")]
impl SeededEntropy {
    /// Starts from `seed`.
    pub fn new(seed: u64) -> Self {
        use rand::SeedableRng;
        Self(std::sync::Mutex::new(rand::rngs::StdRng::seed_from_u64(seed)))
    }
}

#[cfg(feature = "testing")]
impl Entropy for SeededEntropy {
    fn fill(&self, buffer: &mut [u8]) {
        use rand::Rng;
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).fill_bytes(buffer);
    }
}
