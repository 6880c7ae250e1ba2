//! The port for password hashing. A hash is slow on purpose, so every question says whose share of the work it is.

use std::fmt;

use async_trait::async_trait;

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
    /// The right password, hashed with weaker parameters than today's: hash it again.
    MatchOutdated,
    /// The wrong password.
    Mismatch,
}

/// The port for password hashing.
#[async_trait]
pub trait PasswordHasher: fmt::Debug + Send + Sync {
    /// Hashes a new password, in its share's turn.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when too many hashes are waiting, or this one waited too long.
    async fn hash(&self, password: &Password, share: &QueueShare) -> Result<StoredPassword, Error>;

    /// Compares a password with a stored hash, in its share's turn. With `None` it does the same work on a decoy and finds a
    /// mismatch, so that the response time does not tell whether an account exists; a mismatch with a hash that was cheaper than
    /// today's costs as much as that.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when too many hashes are waiting, or this one waited too long.
    async fn verify(&self, password: &Password, stored: Option<&StoredPassword>, share: &QueueShare) -> Result<Verdict, Error>;
}
