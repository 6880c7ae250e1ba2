//! The deployment's own log: its entries, and the one head of their chain.

use super::event_chain::{ChainedEvent, NewHead};
use crate::{
    error::Error,
    store::{
        ExportedEntry, Link, Tx,
        chain_head::ChainHead,
        dialect::{execute, fetch_all, fetch_optional, fetch_scalar, statements},
    },
    time::Timestamp,
};

pub(crate) struct DeploymentLog<L>(pub(in crate::store) L);

statements! {
    // A row lock in the SQL of both engines, with what the row says once it is held.
    HOLD = "
        UPDATE tenant_auth_deployment_chain
           SET sequence = sequence
         WHERE id = 1
        RETURNING sequence, sequence AS chained, hash, last_at";
    MOVE_HEAD = "UPDATE tenant_auth_deployment_chain SET sequence = $1, hash = $2, last_at = $3 WHERE id = 1";
    INSERT = "
        INSERT INTO tenant_auth_deployment_entries
               (sequence, id, kind, created_at, actor_type, actor_id, user_id, data, data_salt, data_digest, context_salt,
                context_digest, hash)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
    ENTRIES = "
        SELECT id, sequence, kind, created_at, actor_type, actor_id, user_id, data, data_salt, data_digest, 'null' AS context,
               context_salt, context_digest, hash
          FROM tenant_auth_deployment_entries
         WHERE sequence > $1
         ORDER BY sequence
         LIMIT $2";
    FIRST_SINCE = "SELECT sequence FROM tenant_auth_deployment_entries WHERE created_at >= $1 ORDER BY created_at, sequence LIMIT 1";
    HASH_OF = "SELECT hash FROM tenant_auth_deployment_entries WHERE sequence = $1";
}

impl<L: Link> DeploymentLog<L> {
    /// Up to `limit` entries after this number.
    pub(crate) async fn entries(mut self, after: i64, limit: i64) -> Result<Vec<ExportedEntry>, Error> {
        fetch_all!(self.0, ExportedEntry, ENTRIES, after, limit)
    }

    /// The number of the first entry that happened at this time or later, if there is one.
    pub(crate) async fn first_since(mut self, time: Timestamp) -> Result<Option<i64>, Error> {
        fetch_scalar!(self.0, i64, FIRST_SINCE, time.millis())
    }

    /// The hash of an entry.
    pub(crate) async fn hash_of(mut self, sequence: i64) -> Result<Option<String>, Error> {
        fetch_scalar!(self.0, String, HASH_OF, sequence)
    }
}

impl DeploymentLog<&mut Tx> {
    /// The head of the chain, locked until this transaction ends.
    pub(crate) async fn hold(mut self) -> Result<ChainHead, Error> {
        let head = fetch_optional!(self.0, ChainHead, HOLD)?;
        head.ok_or_else(|| Error::internal("the deployment's log has no head"))
    }

    pub(in crate::store) async fn move_head(mut self, head: &NewHead<'_>) -> Result<(), Error> {
        execute!(self.0, MOVE_HEAD, head.sequence, head.hash.as_str(), head.at.millis()).map(drop)
    }

    pub(in crate::store) async fn insert(mut self, entry: &ChainedEvent) -> Result<(), Error> {
        execute!(
            self.0,
            INSERT,
            entry.sequence,
            entry.id.as_str(),
            entry.kind.as_str(),
            entry.created_at.millis(),
            entry.actor_type.as_str(),
            entry.actor_id.as_deref(),
            entry.user_id.as_deref(),
            entry.data.as_str(),
            entry.data_salt.as_str(),
            entry.data_digest.as_str(),
            entry.context_salt.as_str(),
            entry.context_digest.as_str(),
            entry.hash.as_str()
        )
        .map(drop)
    }
}
