//! Deployment keys, and the statement behind a token check with one: key, the named organization and session in one read.

use std::sync::Arc;

use sqlx::{ColumnIndex, Decode, FromRow, Row, Type};

use crate::{
    error::Error,
    id::{DeploymentKeyId, Id, KeyId, SessionId},
    model::{DeploymentKey, DeploymentScope},
    secret::Digest,
    store::{
        Asked, Change, DeploymentReach, KeyRecord, Link, Reach, Tx,
        dialect::{execute, fetch_all, fetch_optional, fetch_scalars, row, statements},
    },
    time::Timestamp,
    value::{DisplayName, Network, Slug},
};

use super::live_session::{self, IncarnationRow, Witnessed};

pub(crate) struct DeploymentKeys<L>(pub(in crate::store) L);

statements! {
    ASKING = concat!("
        SELECT k.id AS k_id, k.digest AS k_digest, k.scopes AS k_scopes, k.networks AS k_networks, k.expires_at AS k_expires_at,
               k.last_used_at AS k_last_used_at, ", live_session::columns!(), "
          FROM tenant_auth_deployment_keys k
          LEFT JOIN tenant_auth_organizations o ON o.slug = $2
          LEFT JOIN tenant_auth_sessions s ON s.id = $3 AND s.org_id = o.id
          LEFT JOIN tenant_auth_users u ON u.id = s.user_id AND u.epoch = s.user_epoch
          LEFT JOIN tenant_auth_memberships m ON m.org_id = s.org_id AND m.user_id = s.user_id
         WHERE k.id = $1");
    ASKING_TO_KEEP = concat!("
        SELECT ", live_session::incarnation!(), "k.id AS k_id, k.digest AS k_digest, k.scopes AS k_scopes, k.networks AS k_networks,
               k.expires_at AS k_expires_at, k.last_used_at AS k_last_used_at, ", live_session::columns!(), "
          FROM tenant_auth_deployment_keys k
          LEFT JOIN tenant_auth_organizations o ON o.slug = $2
          LEFT JOIN tenant_auth_sessions s ON s.id = $3 AND s.org_id = o.id
          LEFT JOIN tenant_auth_users u ON u.id = s.user_id AND u.epoch = s.user_epoch
          LEFT JOIN tenant_auth_memberships m ON m.org_id = s.org_id AND m.user_id = s.user_id
         WHERE k.id = $1");
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
    MARK_USED = "
        UPDATE tenant_auth_deployment_keys
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
        let is_there = |column: &'static str| row.try_get::<Option<String>, _>(column).map(|id| id.is_some());
        let org = if is_there("o_id")? { Some(live_session::organization(row)?) } else { None };
        let org = match org.transpose() {
            Ok(org) => org,
            Err(error) => return Ok(Self(Err(error))),
        };
        let live = match &org {
            Some(org) if is_there("u_id")? => Some(live_session::decode(row, org.clone())?),
            _ => None,
        };
        let text = |column: &'static str| row.try_get::<String, _>(column);
        let time = |column: &'static str| row.try_get::<Option<i64>, _>(column).map(|millis| millis.map(Timestamp::from_millis));
        let (scopes, networks) = (scopes_from(&text("k_scopes")?), networks_from(&text("k_networks")?));
        let key = KeyRecord {
            id: KeyId::DeploymentKey(Id::from_stored(text("k_id")?)),
            digest: Digest::from_stored(text("k_digest")?),
            scopes: scopes.iter().filter_map(|scope| scope.of_backend()).collect(),
            expires_at: time("k_expires_at")?,
            last_used_at: time("k_last_used_at")?,
            reach: Reach::Deployment(DeploymentReach { scopes, networks }),
        };
        Ok(Self(live.transpose().map(|live| Asked { key, org: org.map(Arc::new), live })))
    }
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
fn scopes_from(text: &str) -> Vec<DeploymentScope> {
    text.split_whitespace().filter_map(DeploymentScope::parse).collect()
}

/// One that cannot be read stays: it contains no address, and without it the key could be used from everywhere.
fn networks_from(text: &str) -> Vec<Network> {
    text.split_whitespace().map(|network| Network::from_stored(network.to_owned())).collect()
}

impl<L: Link> DeploymentKeys<L> {
    /// Reads the key, the organization with this slug where one is named and, when `session` names a live session there, that session with its member.
    pub(crate) async fn asking(
        mut self,
        key: &DeploymentKeyId,
        slug: Option<&Slug>,
        session: Option<&SessionId>,
    ) -> Result<Option<Asked>, Error> {
        let (slug, session) = (slug.map_or("", Slug::as_str), session.map_or("", Id::as_str));
        let row = fetch_optional!(self.0, AskingRow, ASKING, key.as_str(), slug, session)?;
        row.map(|row| row.0).transpose()
    }

    /// The same, to be remembered.
    pub(crate) async fn asking_to_keep(
        mut self,
        key: &DeploymentKeyId,
        slug: Option<&Slug>,
        session: Option<&SessionId>,
    ) -> Result<Option<Witnessed<Asked>>, Error> {
        let (slug, session) = (slug.map_or("", Slug::as_str), session.map_or("", Id::as_str));
        let row = fetch_optional!(self.0, AskingToKeepRow, ASKING_TO_KEEP, key.as_str(), slug, session)?;
        row.map(|row| row.0).transpose()
    }

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
