//! API keys. What a backend asks with one is in `lookups.rs`.

use crate::{
    error::Error,
    id::{ApiKeyId, Id, OrgId},
    model::{ApiKey, Scope},
    page::Bounds,
    secret::Digest,
    store::{
        Change, Link, Tx,
        dialect::{execute, fetch_batch, fetch_optional, fetch_scalar, fetch_scalars, row, statements},
    },
    time::Timestamp,
    value::DisplayName,
};

pub(crate) struct ApiKeys<L>(pub(in crate::store) L);

statements! {
    LIST = "
        SELECT id, org_id, name, prefix, last_four, scopes, created_by, created_at, expires_at, last_used_at, replaced_by
          FROM tenant_auth_api_keys
         WHERE org_id = $4 AND (created_at, id) > ($1, $2) AND (expires_at IS NULL OR expires_at > $5)
         ORDER BY created_at, id
         LIMIT $3";
    LIST_DESCENDING = "
        SELECT id, org_id, name, prefix, last_four, scopes, created_by, created_at, expires_at, last_used_at, replaced_by
          FROM tenant_auth_api_keys
         WHERE org_id = $4 AND (created_at, id) < ($1, $2) AND (expires_at IS NULL OR expires_at > $5)
         ORDER BY created_at DESC, id DESC
         LIMIT $3";
    FIND = "
        SELECT id, org_id, name, prefix, last_four, scopes, created_by, created_at, expires_at, last_used_at, replaced_by
          FROM tenant_auth_api_keys
         WHERE org_id = $1 AND id = $2 AND (expires_at IS NULL OR expires_at > $3)";
    COUNT = "
        SELECT COUNT(*) AS number
          FROM tenant_auth_api_keys
         WHERE org_id = $1 AND (expires_at IS NULL OR expires_at > $2)";
    INSERT = "
        INSERT INTO tenant_auth_api_keys
               (id, org_id, name, digest, prefix, last_four, scopes, created_by, created_at, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    REPLACE = "
        UPDATE tenant_auth_api_keys
           SET replaced_by = $3, expires_at = $4
         WHERE org_id = $1 AND id = $2";
    DELETE = "DELETE FROM tenant_auth_api_keys WHERE org_id = $1 AND id = $2";
    DELETE_PREDECESSORS = "DELETE FROM tenant_auth_api_keys WHERE org_id = $1 AND replaced_by = $2 RETURNING id";
    // One that is further ahead is of before the clock was set back.
    MARK_USED = "
        UPDATE tenant_auth_api_keys
           SET last_used_at = $2
         WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2 OR last_used_at > $2 + 60000)";
}

row! {
    ApiKeyRow {
        id: String,
        org_id: String,
        name: String,
        prefix: String,
        last_four: String,
        scopes: String,
        created_by: Option<String>,
        created_at: i64,
        expires_at: Option<i64>,
        last_used_at: Option<i64>,
        replaced_by: Option<String>,
    }
}

impl From<ApiKeyRow> for ApiKey {
    fn from(row: ApiKeyRow) -> Self {
        Self {
            id: Id::from_stored(row.id),
            org_id: Id::from_stored(row.org_id),
            name: DisplayName::from_stored(row.name),
            prefix: row.prefix,
            last_four: row.last_four,
            scopes: scopes_from(&row.scopes),
            created_by: row.created_by.map(Id::from_stored),
            created_at: Timestamp::from_millis(row.created_at),
            expires_at: row.expires_at.map(Timestamp::from_millis),
            last_used_at: row.last_used_at.map(Timestamp::from_millis),
            replaced_by: row.replaced_by.map(Id::from_stored),
        }
    }
}

/// A scope that this version does not know gives no right.
pub(super) fn scopes_from(text: &str) -> Vec<Scope> {
    text.split(' ').filter_map(Scope::parse).collect()
}

impl<L: Link> ApiKeys<L> {
    /// Live keys.
    pub(crate) async fn list(mut self, org: &OrgId, bounds: &Bounds, now: Timestamp) -> Result<Vec<ApiKey>, Error> {
        let rows = fetch_batch!(self.0, ApiKeyRow, LIST, LIST_DESCENDING, bounds, org.as_str(), now.millis())?;
        Ok(rows.into_iter().map(ApiKey::from).collect())
    }

    /// A live key.
    pub(crate) async fn find(mut self, org: &OrgId, key: &ApiKeyId, now: Timestamp) -> Result<Option<ApiKey>, Error> {
        Ok(fetch_optional!(self.0, ApiKeyRow, FIND, org.as_str(), key.as_str(), now.millis())?.map(ApiKey::from))
    }

    /// The number of live keys, including keys that were rotated away but still work.
    pub(crate) async fn count(mut self, org: &OrgId, now: Timestamp) -> Result<i64, Error> {
        Ok(fetch_scalar!(self.0, i64, COUNT, org.as_str(), now.millis())?.unwrap_or(0))
    }
}

impl ApiKeys<&mut Tx> {
    pub(crate) async fn insert(mut self, key: &ApiKey, digest: &Digest) -> Result<(), Error> {
        let scopes = key.scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(" ");
        execute!(
            self.0,
            INSERT,
            key.id.as_str(),
            key.org_id.as_str(),
            key.name.as_str(),
            digest.as_str(),
            key.prefix.as_str(),
            key.last_four.as_str(),
            scopes.as_str(),
            key.created_by.as_ref().map(Id::as_str),
            key.created_at.millis(),
            key.expires_at.map(Timestamp::millis)
        )?;
        Ok(())
    }

    /// Ends a key at `dies_at`, in favour of its successor.
    pub(crate) async fn replace(mut self, key: &ApiKey, successor: &ApiKeyId, dies_at: Timestamp) -> Result<(), Error> {
        self.0.touch(Change::ApiKeyReplaced, Some(&key.org_id), key.id.as_str());
        execute!(self.0, REPLACE, key.org_id.as_str(), key.id.as_str(), successor.as_str(), dies_at.millis())?;
        Ok(())
    }

    /// Deletes the keys whose successor this key is. A key has at most one living predecessor; otherwise each rotation would add a
    /// working key.
    pub(crate) async fn delete_predecessors(mut self, key: &ApiKey) -> Result<(), Error> {
        for id in fetch_scalars!(self.0, String, DELETE_PREDECESSORS, key.org_id.as_str(), key.id.as_str())? {
            self.0.touch(Change::ApiKeyDeleted, Some(&key.org_id), &id);
        }
        Ok(())
    }

    pub(crate) async fn delete(mut self, key: &ApiKey) -> Result<(), Error> {
        self.0.touch(Change::ApiKeyDeleted, Some(&key.org_id), key.id.as_str());
        execute!(self.0, DELETE, key.org_id.as_str(), key.id.as_str())?;
        Ok(())
    }

    pub(crate) async fn mark_used(mut self, key: &ApiKeyId) -> Result<(), Error> {
        let now = self.0.now();
        execute!(self.0, MARK_USED, key.as_str(), now.millis())?;
        Ok(())
    }
}
