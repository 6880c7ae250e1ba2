//! API keys, and the statement behind every server-to-server token check: key, organization and session in one read.

use std::sync::Arc;

use sqlx::{ColumnIndex, Decode, FromRow, Row, Type};

use crate::{
    error::Error,
    id::{ApiKeyId, Id, KeyId, OrgId, SessionId},
    model::{ApiKey, Scope},
    page::Bounds,
    secret::Digest,
    store::{
        Asked, Change, KeyRecord, Link, Reach, Tx,
        dialect::{execute, fetch_batch, fetch_optional, fetch_scalar, fetch_scalars, row, statements},
    },
    time::Timestamp,
    value::DisplayName,
};

use super::live_session::{self, IncarnationRow, Witnessed};

pub(crate) struct ApiKeys<L>(pub(in crate::store) L);

statements! {
    ASKING = concat!("
        SELECT k.id AS k_id, k.digest AS k_digest, k.scopes AS k_scopes, k.expires_at AS k_expires_at,
               k.last_used_at AS k_last_used_at, ", live_session::columns!(), "
          FROM tenant_auth_api_keys k
          JOIN tenant_auth_organizations o ON o.id = k.org_id
          LEFT JOIN tenant_auth_sessions s ON s.id = $2 AND s.org_id = k.org_id
          LEFT JOIN tenant_auth_users u ON u.id = s.user_id AND u.epoch = s.user_epoch
          LEFT JOIN tenant_auth_memberships m ON m.org_id = s.org_id AND m.user_id = s.user_id
         WHERE k.id = $1");
    ASKING_TO_KEEP = concat!("
        SELECT ", live_session::incarnation!(), "k.id AS k_id, k.digest AS k_digest, k.scopes AS k_scopes, k.expires_at AS k_expires_at,
               k.last_used_at AS k_last_used_at, ", live_session::columns!(), "
          FROM tenant_auth_api_keys k
          JOIN tenant_auth_organizations o ON o.id = k.org_id
          LEFT JOIN tenant_auth_sessions s ON s.id = $2 AND s.org_id = k.org_id
          LEFT JOIN tenant_auth_users u ON u.id = s.user_id AND u.epoch = s.user_epoch
          LEFT JOIN tenant_auth_memberships m ON m.org_id = s.org_id AND m.user_id = s.user_id
         WHERE k.id = $1");
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
    MARK_USED = "
        UPDATE tenant_auth_api_keys
           SET last_used_at = $2
         WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)";
}

struct AskingRow(Result<Asked, Error>);

struct AskingToKeepRow(Result<Witnessed<Asked>, Error>);

impl<'r, R: Row> FromRow<'r, R> for AskingToKeepRow
where
    &'static str: ColumnIndex<R>,
    String: Decode<'r, R::Database> + Type<R::Database>,
    i64: Decode<'r, R::Database> + Type<R::Database>,
    bool: Decode<'r, R::Database> + Type<R::Database>,
    Option<String>: Decode<'r, R::Database> + Type<R::Database>,
{
    fn from_row(row: &'r R) -> sqlx::Result<Self> {
        let IncarnationRow { incarnation } = IncarnationRow::from_row(row)?;
        Ok(Self(AskingRow::from_row(row)?.0.map(|value| Witnessed { value, incarnation })))
    }
}

impl<'r, R: Row> FromRow<'r, R> for AskingRow
where
    &'static str: ColumnIndex<R>,
    String: Decode<'r, R::Database> + Type<R::Database>,
    i64: Decode<'r, R::Database> + Type<R::Database>,
    bool: Decode<'r, R::Database> + Type<R::Database>,
{
    fn from_row(row: &'r R) -> sqlx::Result<Self> {
        let org = match live_session::organization(row)? {
            Ok(org) => org,
            Err(error) => return Ok(Self(Err(error))),
        };
        let alive = row.try_get::<Option<String>, _>("u_id")?.is_some();
        let live = if alive { Some(live_session::decode(row, org.clone())?) } else { None };
        let time = |column: &'static str| row.try_get::<Option<i64>, _>(column).map(|millis| millis.map(Timestamp::from_millis));
        let (expires_at, last_used_at) = (time("k_expires_at")?, time("k_last_used_at")?);
        let (id, digest): (String, String) = (row.try_get("k_id")?, row.try_get("k_digest")?);
        let scopes = scopes_from(&row.try_get::<String, _>("k_scopes")?);
        let (id, digest, org) = (KeyId::ApiKey(Id::from_stored(id)), Digest::from_stored(digest), Arc::new(org));
        let key = KeyRecord { id, digest, scopes, expires_at, last_used_at, reach: Reach::Organization(Arc::clone(&org)) };
        Ok(Self(live.transpose().map(|live| Asked { key, org: Some(org), live })))
    }
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
fn scopes_from(text: &str) -> Vec<Scope> {
    text.split(' ').filter_map(Scope::parse).collect()
}

impl<L: Link> ApiKeys<L> {
    /// Reads the key, its organization and, when `session` names a live session of that organization, that session with its member.
    pub(crate) async fn asking(mut self, key: &ApiKeyId, session: Option<&SessionId>) -> Result<Option<Asked>, Error> {
        fetch_optional!(self.0, AskingRow, ASKING, key.as_str(), session.map_or("", Id::as_str))?.map(|row| row.0).transpose()
    }

    /// The same, to be remembered.
    pub(crate) async fn asking_to_keep(
        mut self,
        key: &ApiKeyId,
        session: Option<&SessionId>,
    ) -> Result<Option<Witnessed<Asked>>, Error> {
        let row = fetch_optional!(self.0, AskingToKeepRow, ASKING_TO_KEEP, key.as_str(), session.map_or("", Id::as_str))?;
        row.map(|row| row.0).transpose()
    }

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
