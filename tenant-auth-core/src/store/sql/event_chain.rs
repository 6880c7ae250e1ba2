//! The chain of events: the head of an organization's chain, which a commit reads under its row's lock, and events of a former version, which
//! are chained before others are. What a commit writes then is in `event_writing.rs`.

use serde_json::{Value, json};

use crate::{
    error::Error,
    id::OrgId,
    store::{
        Link,
        chain_head::ChainHead,
        dialect::{execute, execute_of, fetch_all, fetch_optional_of, row, statements},
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

/// Takes a batch of events apart: its rows are one parameter, a JSON array of arrays, as in `delivery_batches.rs`.
macro_rules! take_apart {
    ($rows:literal, $joined:literal) => {
        concat!(
            "
            UPDATE tenant_auth_events AS e
               SET payload = NULL, created_at = said.created_at, actor_type = said.actor_type, actor_id = said.actor_id,
                   user_id = said.user_id, data = said.data, data_salt = said.data_salt, data_digest = said.data_digest,
                   context = said.context, context_salt = said.context_salt, context_digest = said.context_digest, hash = said.hash
              FROM (SELECT a.value ->> 0 AS id, CAST(a.value ->> 1 AS BIGINT) AS created_at, a.value ->> 2 AS actor_type,
                           a.value ->> 3 AS actor_id, a.value ->> 4 AS user_id, a.value ->> 5 AS data, a.value ->> 6 AS data_salt,
                           a.value ->> 7 AS data_digest, a.value ->> 8 AS context, a.value ->> 9 AS context_salt,
                           a.value ->> 10 AS context_digest, a.value ->> 11 AS hash
                      FROM ",
            $rows,
            ") AS said
             WHERE e.id = said.id",
            $joined
        )
    };
}

/// The head as a commit reads it: PostgreSQL locks it with that, for a condition inside a statement that waited would be judged by the rows
/// as they were before.
#[cfg(feature = "sqlite")]
pub(in crate::store) mod sqlite {
    use crate::store::dialect::statements;

    statements! {
        pub(super) HEAD = "SELECT sequence, chained, hash, last_at FROM tenant_auth_event_sequences WHERE org_id = $1";
        pub(super) TAKE_APART = take_apart!("json_each($1) AS a", "");
    }
}

#[cfg(feature = "postgres")]
pub(in crate::store) mod postgres {
    use crate::store::dialect::statements;

    statements! {
        pub(super) HEAD = "
            SELECT sequence, chained, hash, last_at FROM tenant_auth_event_sequences WHERE org_id = $1 FOR NO KEY UPDATE";
        pub(super) TAKE_APART = take_apart!(
            "jsonb_array_elements(CAST($1 AS jsonb)) AS a (value)",
            " AND e.id = ANY (ARRAY(SELECT a.value ->> 0 FROM jsonb_array_elements(CAST($1 AS jsonb)) AS a (value)))"
        );
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

    /// Replaces the payload of each of such events by its parts.
    pub(in crate::store) async fn take_apart(mut self, events: &[ChainedEvent]) -> Result<(), Error> {
        let row = |event: &ChainedEvent| {
            let ChainedEvent { id, created_at, actor_type, actor_id, user_id, .. } = event;
            let ChainedEvent { data, data_salt, data_digest, context, context_salt, context_digest, hash, .. } = event;
            let (what, context) = ([data, data_salt, data_digest], [context, context_salt, context_digest]);
            let mut cells = vec![json!(id), json!(created_at.millis()), json!(actor_type), json!(actor_id), json!(user_id)];
            cells.extend(what.into_iter().chain(context).chain([hash]).map(|text| json!(text)));
            Value::Array(cells)
        };
        let rows = Value::Array(events.iter().map(row).collect()).to_string();
        execute_of!(self.0, TAKE_APART, rows.as_str())?;
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
