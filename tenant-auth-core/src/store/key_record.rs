//! What the store knows of a backend's key: an organization's or the deployment's, in one form, so that both are remembered and judged
//! alike.

use std::sync::Arc;

use super::LiveSession;
use crate::{
    id::KeyId,
    model::{DeploymentScope, Organization, Scope},
    secret::Digest,
    time::Timestamp,
    value::Network,
};

/// A stored key.
#[derive(Debug)]
pub(crate) struct KeyRecord {
    pub(crate) id: KeyId,
    pub(crate) digest: Digest,
    /// What the key may do on `/public/*`.
    pub(crate) scopes: Vec<Scope>,
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) last_used_at: Option<Timestamp>,
    pub(crate) reach: Reach,
}

/// Where a key counts.
#[derive(Debug)]
pub(crate) enum Reach {
    /// In its organization.
    Organization(Arc<Organization>),
    /// In every organization.
    Deployment(DeploymentReach),
}

/// What a deployment key may do, and from where.
#[derive(Debug)]
pub(crate) struct DeploymentReach {
    pub(crate) scopes: Vec<DeploymentScope>,
    /// Empty: from everywhere.
    pub(crate) networks: Vec<Network>,
}

/// A stored key and what was read beside it.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) key: KeyRecord,
    /// The organization that the question is about: the key's own, or for a deployment key the one that was named, if there is one.
    pub(crate) org: Option<Arc<Organization>>,
    /// The session that was asked about, when it is live.
    pub(crate) live: Option<LiveSession>,
}

impl KeyRecord {
    /// The key's own organization; `None` for a deployment key.
    pub(crate) fn home(&self) -> Option<&Arc<Organization>> {
        match &self.reach {
            Reach::Organization(org) => Some(org),
            Reach::Deployment(_) => None,
        }
    }
}
