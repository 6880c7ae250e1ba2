//! The product that runs the deployment, known by a deployment key.

use crate::{error::Error, id::DeploymentKeyId, model::DeploymentScope, service::TenantAuth, store::Tx};

/// The product, by a key that was found to have a scope.
#[derive(Clone, Debug)]
pub(crate) struct Product {
    pub(crate) auth: TenantAuth,
    pub(crate) key: DeploymentKeyId,
    pub(crate) scope: DeploymentScope,
}

/// The product's own backend, known by a deployment key with the scope `verify`: it asks what changed of all organizations at once.
#[derive(Clone, Debug)]
pub struct DeploymentBackend(pub(crate) Product);

impl Product {
    /// Judges the key again, in a transaction that has taken the organization's lock: it must not end before the commit. From where it
    /// may be shown never changes in the life of a key.
    ///
    /// # Errors
    /// [`Error::InvalidApiKey`] when the key ended meanwhile.
    pub(crate) async fn judge_again(&self, tx: &mut Tx) -> Result<(), Error> {
        if !tx.deployment_keys().hold(&self.key).await? {
            return Err(Error::InvalidApiKey);
        }
        // A statement of its own: one that waited for a lock judges by the rows as they were before it waited.
        let now = tx.now();
        let key = tx.deployment_keys().find(&self.key, now).await?.ok_or(Error::InvalidApiKey)?;
        if key.scopes.contains(&self.scope) { Ok(()) } else { Err(Error::MissingScope(self.scope.as_str())) }
    }
}
