//! The chain of events as a commit writes it: the head of an organization's chain is read under its row's lock, and the events and
//! the new head are stored. An event waits in the outbox for fan-out only if its organization has an active webhook at that moment.

use std::pin::pin;

#[cfg(feature = "postgres")]
use crate::store::patience;
use crate::{
    error::Error,
    id::OrgId,
    store::{
        Conn, Link,
        dialect::{execute, fetch_all, row, statements},
        running::traced,
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

/// The statements of a commit, which differ: PostgreSQL locks the head as it reads it (a condition inside a statement that waited
/// would be judged by the rows as they were before), and writes head and events in one round trip.
#[cfg(feature = "sqlite")]
pub(in crate::store) mod sqlite {
    use crate::store::dialect::statements;

    statements! {
        pub(super) HEAD = "SELECT sequence, chained, hash, last_at FROM tenant_auth_event_sequences WHERE org_id = $1";
        pub(super) WRITE = "
            INSERT INTO tenant_auth_events
                   (org_id, id, sequence, kind, created_at, actor_type, actor_id, user_id, data, data_salt, data_digest,
                    context, context_salt, context_digest, hash)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
            RETURNING $16 AND EXISTS (SELECT 1 FROM tenant_auth_webhooks WHERE org_id = $1 AND status = 'active') AS waits";
        pub(super) WAIT = "
            INSERT INTO tenant_auth_outbox (event_id, org_id, sequence, kind, created_at) VALUES ($1, $2, $3, $4, $5)";
        pub(super) MOVE_HEAD = "
            UPDATE tenant_auth_event_sequences
               SET sequence = $2, chained = $2, hash = $3, last_at = $4
             WHERE org_id = $1";
    }
}

#[cfg(feature = "postgres")]
pub(in crate::store) mod postgres {
    use crate::store::dialect::statements;

    statements! {
        pub(super) HEAD = "
            SELECT sequence, chained, hash, last_at FROM tenant_auth_event_sequences WHERE org_id = $1 FOR NO KEY UPDATE";
        pub(super) WRITE = "
            WITH head AS (
                UPDATE tenant_auth_event_sequences
                   SET sequence = $2, chained = $2, hash = $3, last_at = $4
                 WHERE org_id = $1
            ), e AS (
                SELECT *
                  FROM unnest($5::text[], $6::bigint[], $7::text[], $8::bigint[], $9::text[], $10::text[], $11::text[], $12::text[],
                          $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::boolean[])
                    AS e (id, sequence, kind, created_at, actor_type, actor_id, user_id, data, data_salt, data_digest, context,
                          context_salt, context_digest, hash, published)
            ), written AS (
                INSERT INTO tenant_auth_events
                       (org_id, id, sequence, kind, created_at, actor_type, actor_id, user_id, data, data_salt, data_digest,
                        context, context_salt, context_digest, hash)
                SELECT $1, id, sequence, kind, created_at, actor_type, actor_id, user_id, data, data_salt, data_digest,
                       context, context_salt, context_digest, hash
                  FROM e
            )
            INSERT INTO tenant_auth_outbox (event_id, org_id, sequence, kind, created_at)
            SELECT id, $1, sequence, kind, created_at
              FROM e
             WHERE published AND EXISTS (SELECT 1 FROM tenant_auth_webhooks WHERE org_id = $1 AND status = 'active')";
    }
}

#[cfg(feature = "sqlite")]
row! { WaitsRow { waits: bool, } }
row! {
    /// The head of an organization's chain.
    ChainHead {
        sequence: i64,
        chained: i64,
        hash: Option<String>,
        last_at: i64,
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
        const PATH: &str = concat!(module_path!(), "::HEAD");
        let count = |head: &Option<ChainHead>| u64::from(head.is_some());
        match self.0.conn() {
            #[cfg(feature = "sqlite")]
            Conn::Sqlite(connection) => {
                let query = sqlx::query_as(sqlite::HEAD).bind(org.as_str());
                traced(PATH, count, pin!(query.fetch_optional(connection))).await
            }
            #[cfg(feature = "postgres")]
            Conn::Postgres(connection) => {
                let query = sqlx::query_as(postgres::HEAD).bind(org.as_str());
                traced(PATH, count, pin!(patience::answered(pin!(query.fetch_optional(connection))))).await
            }
        }
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

    /// Stores events and the new head of their chain. Returns whether one of them waits for fan-out.
    pub(in crate::store) async fn write(mut self, head: &NewHead<'_>, events: &[ChainedEvent]) -> Result<bool, Error> {
        match self.0.conn() {
            #[cfg(feature = "sqlite")]
            Conn::Sqlite(connection) => write_on_sqlite(connection, head, events).await,
            #[cfg(feature = "postgres")]
            Conn::Postgres(connection) => write_on_postgres(connection, head, events).await,
        }
    }
}

#[cfg(feature = "sqlite")]
async fn write_on_sqlite(
    connection: &mut sqlx::SqliteConnection,
    head: &NewHead<'_>,
    events: &[ChainedEvent],
) -> Result<bool, Error> {
    let mut waits = false;
    for event in events {
        let query = sqlx::query_as::<_, WaitsRow>(sqlite::WRITE)
            .bind(head.org_id.as_str())
            .bind(event.id.as_str())
            .bind(event.sequence)
            .bind(event.kind.as_str())
            .bind(event.created_at.millis())
            .bind(event.actor_type.as_str())
            .bind(event.actor_id.as_deref())
            .bind(event.user_id.as_deref())
            .bind(event.data.as_str())
            .bind(event.data_salt.as_str())
            .bind(event.data_digest.as_str())
            .bind(event.context.as_str())
            .bind(event.context_salt.as_str())
            .bind(event.context_digest.as_str())
            .bind(event.hash.as_str())
            .bind(event.published);
        let row = traced(concat!(module_path!(), "::WRITE"), |_| 1, pin!(query.fetch_one(&mut *connection))).await?;
        if row.waits {
            let query = sqlx::query(sqlite::WAIT)
                .bind(event.id.as_str())
                .bind(head.org_id.as_str())
                .bind(event.sequence)
                .bind(event.kind.as_str())
                .bind(event.created_at.millis());
            traced(concat!(module_path!(), "::WAIT"), |_| 1, pin!(query.execute(&mut *connection))).await?;
            waits = true;
        }
    }
    let query = sqlx::query(sqlite::MOVE_HEAD)
        .bind(head.org_id.as_str())
        .bind(head.sequence)
        .bind(head.hash.as_str())
        .bind(head.at.millis());
    traced(concat!(module_path!(), "::MOVE_HEAD"), |_| 1, pin!(query.execute(connection))).await?;
    Ok(waits)
}

#[cfg(feature = "postgres")]
async fn write_on_postgres(
    connection: &mut sqlx::PgConnection,
    head: &NewHead<'_>,
    events: &[ChainedEvent],
) -> Result<bool, Error> {
    fn column<'a, T>(events: &'a [ChainedEvent], of: impl Fn(&'a ChainedEvent) -> T) -> Vec<T> {
        events.iter().map(of).collect()
    }
    let query = sqlx::query(postgres::WRITE)
        .bind(head.org_id.as_str())
        .bind(head.sequence)
        .bind(head.hash.as_str())
        .bind(head.at.millis())
        .bind(column(events, |event| event.id.as_str()))
        .bind(column(events, |event| event.sequence))
        .bind(column(events, |event| event.kind.as_str()))
        .bind(column(events, |event| event.created_at.millis()))
        .bind(column(events, |event| event.actor_type.as_str()))
        .bind(column(events, |event| event.actor_id.as_deref()))
        .bind(column(events, |event| event.user_id.as_deref()))
        .bind(column(events, |event| event.data.as_str()))
        .bind(column(events, |event| event.data_salt.as_str()))
        .bind(column(events, |event| event.data_digest.as_str()))
        .bind(column(events, |event| event.context.as_str()))
        .bind(column(events, |event| event.context_salt.as_str()))
        .bind(column(events, |event| event.context_digest.as_str()))
        .bind(column(events, |event| event.hash.as_str()))
        .bind(column(events, |event| event.published));
    let rows = |done: &sqlx::postgres::PgQueryResult| done.rows_affected();
    let path = concat!(module_path!(), "::WRITE");
    let waiting = traced(path, rows, pin!(patience::answered(pin!(query.execute(connection))))).await?;
    Ok(waiting.rows_affected() > 0)
}
