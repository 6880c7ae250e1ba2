//! Answers from memory: never a stale one, whichever process made the change.

pub(crate) mod backends;
pub(crate) mod narrowing;
pub(crate) mod others;
