//! Refresh token rotation, of as many tokens as have come together: the sessions advance to their next generation, the former ones are
//! kept for the reuse grace, and the change log says so. On PostgreSQL it is one statement, for each message that a rotation does without
//! is a tenth of its cost; on SQLite two, in one transaction.

use std::{collections::BTreeMap, pin::pin, time::Duration};

#[cfg(feature = "sqlite")]
use sqlx::sqlite::SqliteQueryResult;

use crate::{
    error::Error,
    store::{Change, Conn, Link, Tx, running::traced, sql::sessions::Sessions},
    token::RefreshToken,
};

/// Until when the next generation is good: no longer than the session.
macro_rules! until {
    ($idle:literal) => {
        concat!(
            "idle_until = CASE WHEN expires_at < ",
            $idle,
            " THEN expires_at ELSE ",
            $idle,
            " END,
               idle_hour = (CASE WHEN expires_at < ",
            $idle,
            " THEN expires_at ELSE ",
            $idle,
            " END) / 3600000"
        )
    };
}

/// Whether the session lives, and its member and organization may use it.
macro_rules! may {
    ($now:literal) => {
        concat!(
            "expires_at > ",
            $now,
            "
           AND user_epoch = (SELECT u.epoch FROM tenant_auth_users u WHERE u.id = user_id)
           AND EXISTS (SELECT 1
                         FROM tenant_auth_memberships m
                         JOIN tenant_auth_organizations o ON o.id = m.org_id
                        WHERE m.org_id = tenant_auth_sessions.org_id AND m.user_id = tenant_auth_sessions.user_id
                          AND m.status = 'active' AND o.status = 'active')"
        )
    };
}

#[cfg(feature = "sqlite")]
pub(in crate::store) mod sqlite {
    use crate::store::dialect::statements;

    macro_rules! supersede {
        () => {
            "
        INSERT INTO tenant_auth_superseded_generations (session_id, generation, superseded_at)
        SELECT a.value ->> 0, a.value ->> 1, $2 FROM json_each($1) AS a"
        };
    }
    macro_rules! note {
        () => {
            "
        INSERT INTO tenant_auth_changes (org_id, kind, id)
        SELECT a.value ->> 2, $3, a.value ->> 0 FROM json_each($1) AS a"
        };
    }

    statements! {
        pub(super) ADVANCE = concat!("
        UPDATE tenant_auth_sessions
           SET generation = tenant_auth_sessions.generation + 1, refreshed_at = $2, last_used_at = $2,
               ", until!("asked.good_until"), "
          FROM (SELECT a.value ->> 0 AS id, a.value ->> 1 AS generation, a.value ->> 2 AS good_until FROM json_each($1) AS a) AS asked
         WHERE tenant_auth_sessions.id = asked.id AND tenant_auth_sessions.generation = asked.generation AND ", may!("$2"), "
        RETURNING id, generation - 1 AS former, org_id");
        #[cfg(any(test, feature = "testing"))]
        SUPERSEDE = supersede!();
        #[cfg(any(test, feature = "testing"))]
        NOTE = note!();
        pub(super) SUPERSEDE_AND_NOTE = concat!(supersede!(), ";", note!());
    }
}

#[cfg(feature = "postgres")]
pub(in crate::store) mod postgres {
    use crate::store::dialect::statements;

    statements! {
        // An array and not a join, for the reason that `delivery_batches.rs` tells.
        pub(super) ROTATE = concat!("
        WITH asked AS (
                SELECT a.value ->> 0 AS id, CAST(a.value ->> 1 AS BIGINT) AS generation, CAST(a.value ->> 2 AS BIGINT) AS good_until
                  FROM json_array_elements(CAST($1 AS json)) AS a (value)
             ),
             rotated AS (
                UPDATE tenant_auth_sessions
                   SET generation = tenant_auth_sessions.generation + 1, refreshed_at = $2, last_used_at = $2,
                       ", until!("asked.good_until"), "
                  FROM asked
                 WHERE tenant_auth_sessions.id = asked.id AND tenant_auth_sessions.generation = asked.generation
                   AND tenant_auth_sessions.id = ANY (ARRAY(SELECT id FROM asked))
                   AND ", may!("$2"), "
                RETURNING org_id, tenant_auth_sessions.id, asked.generation
             ),
             superseded AS (
                INSERT INTO tenant_auth_superseded_generations (session_id, generation, superseded_at)
                SELECT id, generation, $2 FROM rotated
             ),
             noted AS (
                INSERT INTO tenant_auth_changes (org_id, kind, id) SELECT org_id, $3, id FROM rotated
             )
        SELECT id, generation AS former, org_id FROM rotated");
    }
}

/// What a refresh asks for: the next generation after a token's, good for so long.
#[derive(Debug, Clone)]
pub(in crate::store) struct Rotation {
    pub(in crate::store) token: RefreshToken,
    pub(in crate::store) good_for: Duration,
}

/// A session's id, its generation before, and its organization.
type Rotated = (String, i64, String);

impl Sessions<&mut Tx> {
    /// Rotates refresh tokens: a guarded UPDATE that replaces a session's `generation` by the next. Returns the numbers of those that were
    /// rotated: not of a token that another request, here or before, rotated first, nor where the session has ended, or its member or
    /// organization is suspended.
    pub(in crate::store) async fn rotate(mut self, rotations: &[Rotation]) -> Result<Vec<i64>, Error> {
        const PATH: &str = concat!(module_path!(), "::ROTATE");
        let count = |rotated: &Vec<Rotated>| rotated.len() as u64;
        let (now, kind) = (self.0.now(), Change::SessionRefreshed.subject().as_str());
        // In one order, always: two statements with sessions in common do not wait for each other.
        let mut asked = BTreeMap::new();
        for (number, Rotation { token, good_for }) in (0..).zip(rotations) {
            asked.entry((token.session.as_str(), token.generation)).or_insert((number, now.plus(*good_for)));
        }
        let rows: Vec<_> = asked.iter().map(|((id, generation), (_, until))| (id, generation, until.millis())).collect();
        let rows = serde_json::to_string(&rows).map_err(Error::internal)?;
        let rotated: Vec<Rotated> = match Link::conn(&mut self.0) {
            #[cfg(feature = "sqlite")]
            Conn::Sqlite(connection) => {
                let advancing = sqlx::query_as(sqlite::ADVANCE).bind(rows).bind(now.millis()).fetch_all(&mut *connection);
                let rotated = traced(PATH, count, pin!(advancing)).await?;
                let rows = serde_json::to_string(&rotated).map_err(Error::internal)?;
                let noting = sqlx::query(sqlite::SUPERSEDE_AND_NOTE).bind(rows).bind(now.millis()).bind(kind).execute(connection);
                traced(PATH, SqliteQueryResult::rows_affected, pin!(noting)).await?;
                rotated
            }
            #[cfg(feature = "postgres")]
            Conn::Postgres(connection) => {
                let rotating = sqlx::query_as(postgres::ROTATE).bind(rows).bind(now.millis()).bind(kind).fetch_all(connection);
                // It may be a COMMIT, and is waited for as one is: whether it happened would be unknown. Its locks have PostgreSQL's limit.
                traced(PATH, count, pin!(rotating)).await?
            }
        };
        if !rotated.is_empty() {
            self.0.touched(Change::SessionRefreshed);
        }
        let number = |(id, former, _): &Rotated| asked.get(&(id.as_str(), *former)).map(|(number, _)| *number);
        Ok(rotated.iter().filter_map(number).collect())
    }
}
