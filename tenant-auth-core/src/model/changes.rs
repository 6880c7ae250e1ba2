//! What changed, as a backend that remembers is told.

use crate::{
    id::{SessionId, UserId},
    time::Timestamp,
};

/// What of an organization's answers is no longer true.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Changes {
    /// From where to ask next.
    pub cursor: String,
    /// Whether anything may have changed: no answer counts any more, and nothing is named.
    pub everything: bool,
    /// The sessions whose answers no longer count.
    pub sessions: Vec<SessionId>,
    /// The users whose answers no longer count, whatever the session.
    pub users: Vec<UserId>,
    /// When the key that was asked with ends; no answer counts beyond.
    pub key_expires_at: Option<Timestamp>,
}
