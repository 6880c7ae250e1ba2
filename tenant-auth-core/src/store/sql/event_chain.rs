//! The chain of events: the head of an organization's chain, which a commit reads under its row's lock, and events of a former version, which
//! are chained before others are. What a commit writes then is in `event_writing.rs`.

use crate::{
    error::Error,
    id::OrgId,
    store::{
        Link,
        chain_head::ChainHead,
        dialect::{execute, fetch_all, fetch_optional_of, row, statements},
    },
    time::Timestamp,
};

pub(crate) struct EventChain<L>(pub(in crate::store) L);

statements! {
    FORMER = "
        SELECT id, sequence, kind, payload, created_at
          FROM tenant_auth_events
         WHERE org_id = $1 AND sequence > $2
         ORDER BY sequence
         LIMIT $3";
    TAKE_APART = "
        UPDATE tenant_auth_events
           SET payload = NULL, created_at = $2, actor_type = $3, actor_id = $4, user_id = $5, data = $6, data_salt = $7,
               data_digest = $8, context = $9, context_salt = $10, context_digest = $11, hash = $12
         WHERE id = $1";
    BEGIN_AT = "
        UPDATE tenant_auth_event_sequences
           SET first_sequence = $2, first_previous = $3
         WHERE org_id = $1";
    BEGIN_AFTER = "
        UPDATE tenant_auth_event_sequences
           SET first_sequence = $2 + 1, first_previous = $3
         WHERE org_id = $1 AND first_sequence <= $2";
    SET_HEAD = "
        UPDATE tenant_auth_event_sequences
           SET chained = $2, hash = $3, last_at = $4
         WHERE org_id = $1";
}

/// The head as a commit reads it: PostgreSQL locks it with that, for a condition inside a statement that waited would be judged by the rows
/// as they were before.
#[cfg(feature = "sqlite")]
pub(in crate::store) mod sqlite {
    use crate::store::dialect::statements;

    statements! {
        pub(super) HEAD = "SELECT sequence, chained, hash, last_at FROM tenant_auth_event_sequences WHERE org_id = $1";
    }
}

#[cfg(feature = "postgres")]
pub(in crate::store) mod postgres {
    use crate::store::dialect::statements;

    statements! {
        pub(super) HEAD = "
            SELECT sequence, chained, hash, last_at FROM tenant_auth_event_sequences WHERE org_id = $1 FOR NO KEY UPDATE";
    }
}

row! {
    /// An event that a former version wrote.
    FormerEvent {
        id: String,
        sequence: i64,
        kind: String,
        payload: String,
        created_at: i64,
    }
}
/// Where a chain ends.
pub(in crate::store) struct NewHead<'a> {
    pub(in crate::store) org_id: &'a OrgId,
    /// The number of its last event.
    pub(in crate::store) sequence: i64,
    /// That event's hash.
    pub(in crate::store) hash: String,
    /// That event's time.
    pub(in crate::store) at: Timestamp,
}

/// An event with its place in the chain.
pub(in crate::store) struct ChainedEvent {
    pub(in crate::store) id: String,
    pub(in crate::store) sequence: i64,
    pub(in crate::store) kind: String,
    pub(in crate::store) created_at: Timestamp,
    pub(in crate::store) actor_type: String,
    pub(in crate::store) actor_id: Option<String>,
    pub(in crate::store) user_id: Option<String>,
    pub(in crate::store) data: String,
    pub(in crate::store) data_salt: String,
    pub(in crate::store) data_digest: String,
    pub(in crate::store) context: String,
    pub(in crate::store) context_salt: String,
    pub(in crate::store) context_digest: String,
    pub(in crate::store) hash: String,
    /// Whether the event goes to every webhook that selected its kind.
    pub(in crate::store) published: bool,
}

impl<L: Link> EventChain<L> {
    /// The head of an organization's chain, locked; `None` when the organization is gone.
    pub(in crate::store) async fn head(mut self, org: &OrgId) -> Result<Option<ChainHead>, Error> {
        fetch_optional_of!(self.0, ChainHead, HEAD, org.as_str())
    }

    /// Events after a number that a former version wrote.
    pub(in crate::store) async fn former(mut self, org: &OrgId, after: i64, limit: i64) -> Result<Vec<FormerEvent>, Error> {
        fetch_all!(self.0, FormerEvent, FORMER, org.as_str(), after, limit)
    }

    /// Replaces the payload of such an event by its parts.
    pub(in crate::store) async fn take_apart(mut self, event: &ChainedEvent) -> Result<(), Error> {
        execute!(
            self.0,
            TAKE_APART,
            event.id.as_str(),
            event.created_at.millis(),
            event.actor_type.as_str(),
            event.actor_id.as_deref(),
            event.user_id.as_deref(),
            event.data.as_str(),
            event.data_salt.as_str(),
            event.data_digest.as_str(),
            event.context.as_str(),
            event.context_salt.as_str(),
            event.context_digest.as_str(),
            event.hash.as_str()
        )?;
        Ok(())
    }

    /// Lets what is kept of a chain begin with a number; `previous` is the hash before it.
    pub(in crate::store) async fn begin_at(mut self, org: &OrgId, sequence: i64, previous: &str) -> Result<(), Error> {
        execute!(self.0, BEGIN_AT, org.as_str(), sequence, previous)?;
        Ok(())
    }

    /// Lets what is kept of a chain begin after an event that is removed.
    pub(in crate::store) async fn begin_after(mut self, org: &OrgId, sequence: i64, hash: &str) -> Result<(), Error> {
        execute!(self.0, BEGIN_AFTER, org.as_str(), sequence, hash)?;
        Ok(())
    }

    /// Stores how far former events are chained.
    pub(in crate::store) async fn set_head(mut self, head: &NewHead<'_>) -> Result<(), Error> {
        execute!(self.0, SET_HEAD, head.org_id.as_str(), head.sequence, head.hash.as_str(), head.at.millis())?;
        Ok(())
    }
}
