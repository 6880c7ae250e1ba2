//! Deployment keys as JSON.

use super::view;
use crate::{
    id::DeploymentKeyId,
    model::{DeploymentKey, DeploymentScope},
    time::Timestamp,
    value::{DisplayName, Network},
};

view! {
    /// A deployment key, without its secret.
    pub DeploymentKeyView of DeploymentKey as DeploymentKey {
        /// `dpk_…`
        id: DeploymentKeyId,
        /// Given by its maker.
        name: DisplayName,
        /// How the key's text begins.
        prefix: String,
        /// How it ends.
        last_four: String,
        /// What it may do.
        scopes: Vec<DeploymentScope>,
        /// From where it may be used; empty: from everywhere.
        networks: Vec<Network>,
        /// When it was made.
        created_at: Timestamp,
        /// When it dies by itself.
        expires_at: Option<Timestamp>,
        /// When it was last used, within a minute.
        last_used_at: Option<Timestamp>,
    }
}
