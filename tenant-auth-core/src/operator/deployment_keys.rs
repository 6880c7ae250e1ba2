//! Deployment keys: made on the operator's command line only, shown once, stored as a digest. Rotation makes a successor and lets the
//! old key work for a while, so that the product can be deployed again in between.

use std::time::Duration;

use super::Operator;
use crate::{
    backend::LONGEST_OVERLAP,
    error::{Error, InvalidValue, Thing},
    event::RevokeReason,
    id::DeploymentKeyId,
    key_text::{DEPLOYMENT_PREFIX, Shown, each_once},
    model::{DeploymentKey, DeploymentScope},
    org::revoke_ended_invites,
    secret::ApiKeyText,
    store::{Actor, DeploymentDeed, Tx},
    time::Timestamp,
    value::{DisplayName, Network},
};

/// The values of a deployment key to create.
#[derive(Debug, Clone)]
pub struct NewDeploymentKey {
    /// For people to tell keys apart.
    pub name: DisplayName,
    /// What the key may do, in every organization; at least one scope.
    pub scopes: Vec<DeploymentScope>,
    /// From where the key may be used; empty: from everywhere.
    pub networks: Vec<Network>,
    /// When the key expires.
    pub expires_at: Option<Timestamp>,
}

/// A created deployment key and its text, which is stored nowhere.
#[derive(Debug)]
#[non_exhaustive]
pub struct CreatedDeploymentKey {
    /// The key as it is stored.
    pub deployment_key: DeploymentKey,
    /// The whole text, shown once.
    pub key: ApiKeyText,
}

impl Operator {
    /// Makes a deployment key.
    ///
    /// # Errors
    /// [`Error::Invalid`] without scopes or with an end that has passed.
    pub async fn create_deployment_key(&self, new: NewDeploymentKey) -> Result<CreatedDeploymentKey, Error> {
        if new.scopes.is_empty() {
            return Err(InvalidValue::NoScopes.into());
        }
        let mut tx = self.auth.begin().await?;
        if new.expires_at.is_some_and(|end| end <= tx.now()) {
            return Err(InvalidValue::ExpiryPassed.into());
        }
        let created = make(&tx, new);
        tx.deployment_keys().insert(&created.deployment_key, &created.key.digest()).await?;
        tx.record(Actor::System, DeploymentDeed::KeyCreated(created.deployment_key.clone()));
        tx.commit().await?;
        Ok(created)
    }

    /// The live deployment keys, oldest first.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn deployment_keys(&self) -> Result<Vec<DeploymentKey>, Error> {
        self.auth.store().read().await?.deployment_keys().list(self.auth.now()).await
    }

    /// Rotates a deployment key: creates a successor of the same name, scopes, networks and expiry. The old key works until `overlap`
    /// has passed, not at all when it is zero; the predecessor of the old key stops working now.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::AlreadyRotated`]; [`Error::Invalid`] for an overlap beyond 30 days.
    pub async fn rotate_deployment_key(&self, id: &DeploymentKeyId, overlap: Duration) -> Result<CreatedDeploymentKey, Error> {
        if overlap > LONGEST_OVERLAP {
            return Err(InvalidValue::OverlapTooLong { longest: LONGEST_OVERLAP }.into());
        }
        self.auth
            .ending(async {
                let mut tx = self.auth.begin().await?;
                let now = tx.now();
                let old = tx.deployment_keys().find(id, now).await?.ok_or(Error::NotFound(Thing::DeploymentKey))?;
                let DeploymentKey { name, scopes, networks, expires_at, .. } = old;
                let created = make(&tx, NewDeploymentKey { name, scopes, networks, expires_at });
                let dies_at = now.plus(overlap);
                let dies_at = expires_at.map_or(dies_at, |end| end.min(dies_at));
                if !tx.deployment_keys().replace(id, &created.deployment_key.id, dies_at).await? {
                    return Err(Error::AlreadyRotated);
                }
                tx.deployment_keys().delete_predecessors(id).await?;
                tx.deployment_keys().insert(&created.deployment_key, &created.key.digest()).await?;
                tx.record(Actor::System, DeploymentDeed::KeyRotated(id.clone(), created.deployment_key.clone()));
                tx.commit().await?;
                Ok(created)
            })
            .await
    }

    /// Revokes a deployment key; it stops working at once, and so do the pending invites that it sent.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub async fn revoke_deployment_key(&self, id: &DeploymentKeyId) -> Result<DeploymentKey, Error> {
        self.auth
            .ending(async {
                let mut tx = self.auth.begin().await?;
                let now = tx.now();
                let key = tx.deployment_keys().find(id, now).await?.ok_or(Error::NotFound(Thing::DeploymentKey))?;
                // Race: another request may have revoked it since it was read, and told so.
                if !tx.deployment_keys().delete(id).await? {
                    return Err(Error::NotFound(Thing::DeploymentKey));
                }
                tx.invites().end_of_key(id).await?;
                tx.record(Actor::System, DeploymentDeed::KeyRevoked(key.clone(), RevokeReason::Revoked));
                tx.commit().await?;
                revoke_ended_invites(&self.auth).await;
                Ok(key)
            })
            .await
    }
}

fn make(tx: &Tx, new: NewDeploymentKey) -> CreatedDeploymentKey {
    let id: DeploymentKeyId = tx.new_id();
    let key = tx.new_key_text(&format!("{DEPLOYMENT_PREFIX}{}", id.body()));
    let Shown { prefix, last_four } = Shown::of(&key, DEPLOYMENT_PREFIX);
    let deployment_key = DeploymentKey {
        name: new.name,
        prefix,
        last_four,
        scopes: each_once(new.scopes),
        networks: new.networks,
        created_at: tx.now(),
        expires_at: new.expires_at,
        last_used_at: None,
        replaced_by: None,
        id,
    };
    CreatedDeploymentKey { deployment_key, key }
}
