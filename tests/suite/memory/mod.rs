//! Answers from memory: never a stale one, whichever process made the change.

pub(crate) mod backends;
mod deployment;
pub(crate) mod narrowing;
pub(crate) mod others;
