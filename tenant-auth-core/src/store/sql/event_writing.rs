//! The events of a commit, written with the new head of their chain and a tally: in one round trip on PostgreSQL, on SQLite in one message
//! for each event. An event waits in the outbox for fan-out only if its organization has an active webhook at that moment.

use crate::{
    error::Error,
    id::OrgId,
    store::{
        Conn, Link,
        sql::{
            event_chain::{ChainedEvent, EventChain},
            tallies::Tally,
        },
        statement::{Statement, Text, Value},
    },
};

#[cfg(feature = "sqlite")]
pub(in crate::store) mod sqlite {
    use crate::store::{dialect::statements, sql::tallies};

    macro_rules! write {
        () => {
            "
            INSERT INTO tenant_auth_events
                   (org_id, id, sequence, kind, created_at, actor_type, actor_id, user_id, data, data_salt, data_digest,
                    context, context_salt, context_digest, hash)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
            RETURNING $16 AND EXISTS (SELECT 1 FROM tenant_auth_webhooks WHERE org_id = $1 AND status = 'active') AS waits"
        };
    }
    macro_rules! move_head {
        () => {
            "
            UPDATE tenant_auth_event_sequences
               SET sequence = $3, chained = $3, hash = $15, last_at = $5
             WHERE org_id = $1"
        };
    }
    statements! {
        pub(super) WRITE = write!();
        pub(super) WAIT = "
            INSERT INTO tenant_auth_outbox (event_id, org_id, sequence, kind, created_at) VALUES ($1, $2, $3, $4, $5)";
        // The last event of a commit, with the head, which is at it then: one message to the connection's thread.
        pub(super) WRITE_LAST = concat!(write!(), ";", move_head!());
        // The same with one tally.
        pub(super) WRITE_LAST_AND_TALLY = concat!(write!(), ";", move_head!(), ";", tallies::add!("$17", "$18", "$19", "$20"));
    }
}

#[cfg(feature = "postgres")]
pub(in crate::store) mod postgres {
    use crate::store::dialect::statements;

    statements! {
        // The one event of a commit, which most have.
        pub(super) WRITE_ONE = "
            WITH head AS (
                UPDATE tenant_auth_event_sequences
                   SET sequence = $3, chained = $3, hash = $15, last_at = $5
                 WHERE org_id = $1
            ), written AS (
                INSERT INTO tenant_auth_events
                       (org_id, id, sequence, kind, created_at, actor_type, actor_id, user_id, data, data_salt, data_digest,
                        context, context_salt, context_digest, hash)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
            ), tallied AS (
                INSERT INTO tenant_auth_tallies AS t (day, kind, part, amount)
                SELECT $17::bigint, $18::text, $19::text, $20::bigint WHERE $17::bigint IS NOT NULL
                ON CONFLICT (day, kind, part) DO UPDATE SET amount = t.amount + excluded.amount
            )
            INSERT INTO tenant_auth_outbox (event_id, org_id, sequence, kind, created_at)
            SELECT $2, $1, $3, $4, $5
             WHERE $16::boolean AND EXISTS (SELECT 1 FROM tenant_auth_webhooks WHERE org_id = $1 AND status = 'active')";
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
            ), tallied AS (
                INSERT INTO tenant_auth_tallies AS t (day, kind, part, amount)
                SELECT $20::bigint, $21::text, $22::text, $23::bigint WHERE $20 IS NOT NULL
                ON CONFLICT (day, kind, part) DO UPDATE SET amount = t.amount + excluded.amount
            )
            INSERT INTO tenant_auth_outbox (event_id, org_id, sequence, kind, created_at)
            SELECT id, $1, sequence, kind, created_at
              FROM e
             WHERE published AND EXISTS (SELECT 1 FROM tenant_auth_webhooks WHERE org_id = $1 AND status = 'active')";
    }
}

impl<L: Link> EventChain<L> {
    /// Stores events and the new head of their chain, which is at the last of them, and adds to a tally, which is locked after every
    /// head that the transaction locks. Returns whether one of the events waits for fan-out.
    pub(in crate::store) async fn write(
        mut self,
        org: &OrgId,
        events: &[ChainedEvent],
        tally: Option<&(Tally, i64)>,
    ) -> Result<bool, Error> {
        match self.0.conn() {
            #[cfg(feature = "sqlite")]
            Conn::Sqlite(connection) => write_on_sqlite(connection, org, events, tally).await,
            #[cfg(feature = "postgres")]
            Conn::Postgres(connection) => write_on_postgres(connection, org, events, tally).await,
        }
    }
}

const WRITE: &str = concat!(module_path!(), "::WRITE");

/// What a statement adds to a tally; nothing where there is none.
struct Addition {
    day: Option<i64>,
    kind: Option<&'static str>,
    part: Option<String>,
    amount: Option<i64>,
}

impl Addition {
    fn of(tally: Option<&(Tally, i64)>) -> Self {
        Self {
            day: tally.map(|(tally, _)| tally.day),
            kind: tally.map(|(tally, _)| tally.kind),
            part: tally.map(|(tally, _)| tally.part.to_string()),
            amount: tally.map(|(_, amount)| *amount),
        }
    }

    fn values(&self) -> [&dyn Value; 4] {
        [&self.day, &self.kind, &self.part, &self.amount]
    }
}

/// A statement with the values of an event, `$1` to `$16`, and what it adds to a tally, where it has parameters for that.
fn of_event<'c>(conn: Conn<'c>, text: &'static str, org: &OrgId, event: &ChainedEvent, addition: &[&dyn Value]) -> Statement<'c> {
    let values: [&dyn Value; 16] = [
        &org.as_str(),
        &event.id,
        &event.sequence,
        &event.kind,
        &event.created_at.millis(),
        &event.actor_type,
        &event.actor_id,
        &event.user_id,
        &event.data,
        &event.data_salt,
        &event.data_digest,
        &event.context,
        &event.context_salt,
        &event.context_digest,
        &event.hash,
        &event.published,
    ];
    Statement::new(WRITE, conn, Text::of_both(text), &[&values, addition].concat())
}

#[cfg(feature = "sqlite")]
async fn write_on_sqlite(
    connection: &mut sqlx::SqliteConnection,
    org: &OrgId,
    events: &[ChainedEvent],
    tally: Option<&(Tally, i64)>,
) -> Result<bool, Error> {
    let Some((last, former)) = events.split_last() else { return Ok(false) };
    let mut waits = false;
    for event in former {
        waits |= write_one_on_sqlite(&mut *connection, sqlite::WRITE, org, event, None).await?;
    }
    let statement = if tally.is_some() { sqlite::WRITE_LAST_AND_TALLY } else { sqlite::WRITE_LAST };
    waits |= write_one_on_sqlite(connection, statement, org, last, tally).await?;
    Ok(waits)
}

#[cfg(feature = "sqlite")]
async fn write_one_on_sqlite(
    connection: &mut sqlx::SqliteConnection,
    text: &'static str,
    org: &OrgId,
    event: &ChainedEvent,
    tally: Option<&(Tally, i64)>,
) -> Result<bool, Error> {
    let addition = Addition::of(tally);
    let addition = addition.values();
    let addition = if tally.is_some() { &addition[..] } else { &[] };
    // All of its rows: with the first one alone the statements after it would not be run.
    let written = of_event(Conn::Sqlite(connection), text, org, event, addition).scalars::<bool>();
    let waits = written.await?.contains(&true);
    if waits {
        const WAIT: &str = concat!(module_path!(), "::WAIT");
        let values: [&dyn Value; 5] = [&event.id, &org.as_str(), &event.sequence, &event.kind, &event.created_at.millis()];
        let waiting = Statement::on_sqlite(WAIT, connection, sqlite::WAIT, &values).changed();
        waiting.await?;
    }
    Ok(waits)
}

#[cfg(feature = "postgres")]
async fn write_on_postgres(
    connection: &mut sqlx::PgConnection,
    org: &OrgId,
    events: &[ChainedEvent],
    tally: Option<&(Tally, i64)>,
) -> Result<bool, Error> {
    fn column<'a, T>(events: &'a [ChainedEvent], of: impl Fn(&'a ChainedEvent) -> T) -> Vec<T> {
        events.iter().map(of).collect()
    }
    let Some(last) = events.last() else { return Ok(false) };
    let addition = Addition::of(tally);
    if let [event] = events {
        let written = of_event(Conn::Postgres(connection), postgres::WRITE_ONE, org, event, &addition.values()).changed();
        return Ok(written.await? > 0);
    }
    let query = sqlx::query(postgres::WRITE)
        .bind(org.as_str())
        .bind(last.sequence)
        .bind(last.hash.as_str())
        .bind(last.created_at.millis())
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
        .bind(column(events, |event| event.published))
        .bind(addition.day)
        .bind(addition.kind)
        .bind(addition.part)
        .bind(addition.amount);
    Ok(Statement::of_postgres(WRITE, connection, query).changed().await? > 0)
}
