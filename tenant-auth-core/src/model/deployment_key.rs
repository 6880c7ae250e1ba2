//! Deployment keys: the credentials of the product that runs the deployment.

use super::DeploymentScope;
use crate::{
    id::DeploymentKeyId,
    time::Timestamp,
    value::{DisplayName, Network},
};

/// A deployment key, without its secret. It belongs to no organization and acts in each.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DeploymentKey {
    /// `dpk_…`
    pub id: DeploymentKeyId,
    /// Given by its maker.
    pub name: DisplayName,
    /// How the key's text begins.
    pub prefix: String,
    /// How it ends.
    pub last_four: String,
    /// What it may do.
    pub scopes: Vec<DeploymentScope>,
    /// From where it may be used; empty: from everywhere.
    pub networks: Vec<Network>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it dies by itself.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, within a minute.
    pub last_used_at: Option<Timestamp>,
    /// Set once it was rotated: it dies at `expires_at` and cannot be rotated again.
    pub replaced_by: Option<DeploymentKeyId>,
}
