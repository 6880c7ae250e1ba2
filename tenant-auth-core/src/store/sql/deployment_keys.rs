//! Deployment keys. What a backend asks with one is in `lookups.rs`.

use crate::{
    error::Error,
    id::{DeploymentKeyId, Id},
    model::{DeploymentKey, DeploymentScope},
    secret::Digest,
    store::{
        Change, Link, Tx,
        dialect::{execute, fetch_all, fetch_optional, fetch_scalars, row, statements},
    },
    time::Timestamp,
    value::{DisplayName, Network},
};

pub(crate) struct DeploymentKeys<L>(pub(in crate::store) L);

statements! {
    LIST = "
        SELECT id, name, prefix, last_four, scopes, networks, created_at, expires_at, last_used_at, replaced_by
          FROM tenant_auth_deployment_keys
         WHERE expires_at IS NULL OR expires_at > $1
         ORDER BY created_at, id";
    FIND = "
        SELECT id, name, prefix, last_four, scopes, networks, created_at, expires_at, last_used_at, replaced_by
          FROM tenant_auth_deployment_keys
         WHERE id = $1 AND (expires_at IS NULL OR expires_at > $2)";
    INSERT = "
        INSERT INTO tenant_auth_deployment_keys
               (id, name, digest, prefix, last_four, scopes, networks, created_at, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    // Of two rotations at once, one finds the key replaced.
    REPLACE = "
        UPDATE tenant_auth_deployment_keys
           SET replaced_by = $2, expires_at = $3
         WHERE id = $1 AND replaced_by IS NULL";
    DELETE = "DELETE FROM tenant_auth_deployment_keys WHERE id = $1";
    DELETE_PREDECESSORS = "DELETE FROM tenant_auth_deployment_keys WHERE replaced_by = $1 RETURNING id";
    HOLD = "UPDATE tenant_auth_deployment_keys SET name = name WHERE id = $1";
    // One that is further ahead is of before the clock was set back.
    MARK_USED = "
        UPDATE tenant_auth_deployment_keys
           SET last_used_at = $2
         WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2 OR last_used_at > $2 + 60000)";
}

row! {
    DeploymentKeyRow {
        id: String,
        name: String,
        prefix: String,
        last_four: String,
        scopes: String,
        networks: String,
        created_at: i64,
        expires_at: Option<i64>,
        last_used_at: Option<i64>,
        replaced_by: Option<String>,
    }
}

impl From<DeploymentKeyRow> for DeploymentKey {
    fn from(row: DeploymentKeyRow) -> Self {
        Self {
            id: Id::from_stored(row.id),
            name: DisplayName::from_stored(row.name),
            prefix: row.prefix,
            last_four: row.last_four,
            scopes: scopes_from(&row.scopes),
            networks: networks_from(&row.networks),
            created_at: Timestamp::from_millis(row.created_at),
            expires_at: row.expires_at.map(Timestamp::from_millis),
            last_used_at: row.last_used_at.map(Timestamp::from_millis),
            replaced_by: row.replaced_by.map(Id::from_stored),
        }
    }
}

/// A scope that this version does not know gives no right.
pub(super) fn scopes_from(text: &str) -> Vec<DeploymentScope> {
    text.split_whitespace().filter_map(DeploymentScope::parse).collect()
}

/// One that cannot be read stays: it contains no address, and without it the key could be used from everywhere.
pub(super) fn networks_from(text: &str) -> Vec<Network> {
    text.split_whitespace().map(|network| Network::from_stored(network.to_owned())).collect()
}

impl<L: Link> DeploymentKeys<L> {
    /// The live keys, oldest first. The operator's commands alone make them, so that they are few.
    pub(crate) async fn list(mut self, now: Timestamp) -> Result<Vec<DeploymentKey>, Error> {
        Ok(fetch_all!(self.0, DeploymentKeyRow, LIST, now.millis())?.into_iter().map(DeploymentKey::from).collect())
    }

    /// A live key.
    pub(crate) async fn find(mut self, key: &DeploymentKeyId, now: Timestamp) -> Result<Option<DeploymentKey>, Error> {
        Ok(fetch_optional!(self.0, DeploymentKeyRow, FIND, key.as_str(), now.millis())?.map(DeploymentKey::from))
    }
}

impl DeploymentKeys<&mut Tx> {
    pub(crate) async fn insert(mut self, key: &DeploymentKey, digest: &Digest) -> Result<(), Error> {
        let scopes = key.scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(" ");
        let networks = key.networks.iter().map(Network::as_str).collect::<Vec<_>>().join(" ");
        execute!(
            self.0,
            INSERT,
            key.id.as_str(),
            key.name.as_str(),
            digest.as_str(),
            key.prefix.as_str(),
            key.last_four.as_str(),
            scopes.as_str(),
            networks.as_str(),
            key.created_at.millis(),
            key.expires_at.map(Timestamp::millis)
        )?;
        Ok(())
    }

    /// Ends a key at `dies_at`, in favour of its successor; `false` when it has one already, or is gone.
    pub(crate) async fn replace(
        mut self,
        key: &DeploymentKeyId,
        successor: &DeploymentKeyId,
        dies_at: Timestamp,
    ) -> Result<bool, Error> {
        self.0.touch(Change::DeploymentKeyReplaced, None, key.as_str());
        Ok(execute!(self.0, REPLACE, key.as_str(), successor.as_str(), dies_at.millis())? > 0)
    }

    /// Deletes the keys whose successor this key is; a key has at most one living predecessor.
    pub(crate) async fn delete_predecessors(mut self, key: &DeploymentKeyId) -> Result<(), Error> {
        for id in fetch_scalars!(self.0, String, DELETE_PREDECESSORS, key.as_str())? {
            self.0.touch(Change::DeploymentKeyDeleted, None, &id);
        }
        Ok(())
    }

    /// Locks the key's row until this transaction ends; `false` when the key is gone.
    pub(crate) async fn hold(mut self, key: &DeploymentKeyId) -> Result<bool, Error> {
        Ok(execute!(self.0, HOLD, key.as_str())? == 1)
    }

    /// Deletes a key; `false` when it is gone.
    pub(crate) async fn delete(mut self, key: &DeploymentKeyId) -> Result<bool, Error> {
        self.0.touch(Change::DeploymentKeyDeleted, None, key.as_str());
        Ok(execute!(self.0, DELETE, key.as_str())? > 0)
    }

    pub(crate) async fn mark_used(mut self, key: &DeploymentKeyId) -> Result<(), Error> {
        let now = self.0.now();
        execute!(self.0, MARK_USED, key.as_str(), now.millis())?;
        Ok(())
    }
}
