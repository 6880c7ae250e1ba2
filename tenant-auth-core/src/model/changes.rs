//! What changed, as a backend that remembers is told.

use crate::{
    id::{OrgId, SessionId, UserId},
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

/// What of all organizations' answers is no longer true, as the product's own backend is told.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DeploymentChanges {
    /// From where to ask next.
    pub cursor: String,
    /// Whether anything may have changed: no answer counts any more, whatever the organization, and none is named.
    pub everything: bool,
    /// The organizations of which something changed.
    pub orgs: Vec<ChangedOrganization>,
    /// When the key that was asked with ends; no answer counts beyond.
    pub key_expires_at: Option<Timestamp>,
}

/// What of one organization's answers is no longer true.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ChangedOrganization {
    /// The organization, as verify names it.
    pub id: OrgId,
    /// Whether anything of it may have changed, or it is gone: no answer of it counts any more, and nothing is named.
    pub everything: bool,
    /// The sessions whose answers no longer count.
    pub sessions: Vec<SessionId>,
    /// The users whose answers about this organization no longer count, whatever the session.
    pub users: Vec<UserId>,
}
