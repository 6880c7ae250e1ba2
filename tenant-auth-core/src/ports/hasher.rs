//! The port for password hashing. A hash is slow on purpose, so every question says whose share of the work it is.

use std::{fmt, time::Duration};

use async_trait::async_trait;

use super::ForeignCost;
use crate::{
    bounded::QueueShare,
    error::Error,
    secret::{Password, StoredPassword},
};

/// The result of checking a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The right password.
    Match,
    /// The right password, hashed with weaker parameters than today's or by another system: hash it again.
    MatchOutdated,
    /// The wrong password.
    Mismatch,
}

/// The result of checking the password of a login, and how long its refusal still has to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EvenVerdict {
    /// The result.
    pub verdict: Verdict,
    /// How long a refusal still has to wait so that it takes as long as any other; nothing for the right password. The wait is the
    /// caller's, once the failure is recorded: a failure that is counted only after a wait would not be counted when the wait is cut.
    pub wait: Duration,
}

/// The port for password hashing.
#[async_trait]
pub trait PasswordHasher: fmt::Debug + Send + Sync {
    /// Hashes a new password, in its share's turn.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when too many hashes are waiting, or this one waited too long.
    async fn hash(&self, password: &Password, share: &QueueShare) -> Result<StoredPassword, Error>;

    /// Hashes a password with each secret that [`Self::verify`] knows, that of [`Self::hash`] first: whoever verifies all of them verifies
    /// every hash of ours. A hasher with one secret, or none, need not override this method.
    ///
    /// # Errors
    /// As [`Self::hash`].
    async fn hash_with_each(&self, password: &Password, share: &QueueShare) -> Result<Vec<StoredPassword>, Error> {
        Ok(vec![self.hash(password, share).await?])
    }

    /// Compares a password with a stored hash, in its share's turn. With `None` it does the same work on a decoy and finds a
    /// mismatch, so that the response time does not tell whether an account exists; a mismatch with a hash that was cheaper than
    /// today's costs as much as that. A stored hash that came by an import is read by [`ForeignHash::of`](super::ForeignHash::of).
    ///
    /// # Errors
    /// [`Error::Unavailable`] when too many hashes are waiting, or this one waited too long.
    async fn verify(&self, password: &Password, stored: Option<&StoredPassword>, share: &QueueShare) -> Result<Verdict, Error>;

    /// [`Self::verify`] for a login, while some accounts have hashes of other systems: says how long the refusal of a mismatch has to
    /// wait until it took as long as with the `dearest` of each scheme, so that the response time does not tell who was imported. A
    /// hasher that does not override this method lets the response time tell.
    ///
    /// # Errors
    /// As [`Self::verify`].
    async fn verify_evenly(
        &self,
        password: &Password,
        stored: Option<&StoredPassword>,
        dearest: &[ForeignCost],
        share: &QueueShare,
    ) -> Result<EvenVerdict, Error> {
        let _ = dearest;
        Ok(EvenVerdict { verdict: self.verify(password, stored, share).await?, wait: Duration::ZERO })
    }
}
