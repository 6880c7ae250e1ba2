//! Refresh token rotation, of as many tokens as have come together: the sessions advance to their next generation, the former ones are
//! kept for the reuse grace, and the change log says so. On PostgreSQL it is one statement, for each message that a rotation does without
//! is a tenth of its cost; on SQLite two, in one transaction.

use std::{collections::BTreeMap, time::Duration};

use crate::{
    error::Error,
    store::{Change, Conn, Link, Tx, dialect::row, sql::sessions::Sessions, statement::Statement},
    time::Timestamp,
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

/// Whether the session lives, and its member and organization may use it. Not EXISTS, which PostgreSQL would join: it would begin with all
/// organizations.
macro_rules! may {
    ($now:literal) => {
        concat!(
            "expires_at > ",
            $now,
            "
           AND user_epoch = (SELECT u.epoch FROM tenant_auth_users u WHERE u.id = user_id)
           AND 1 = (SELECT COUNT(*)
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
        RETURNING id, generation - 1 AS former, org_id, FALSE AS is_held");
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

    macro_rules! asked {
        () => {
            "
        WITH asked AS (
                SELECT a.value ->> 0 AS id, CAST(a.value ->> 1 AS BIGINT) AS generation, CAST(a.value ->> 2 AS BIGINT) AS good_until
                  FROM json_array_elements(CAST($1 AS json)) AS a (value)
             )"
        };
    }
    // An array beside the join, for the reason that `delivery_batches.rs` tells.
    macro_rules! rotated {
        ($of:literal) => {
            concat!(
                "
             rotated AS (
                UPDATE tenant_auth_sessions
                   SET generation = tenant_auth_sessions.generation + 1, refreshed_at = $2, last_used_at = $2,
                       ",
                until!("asked.good_until"),
                "
                  FROM asked
                 WHERE tenant_auth_sessions.id = asked.id AND tenant_auth_sessions.generation = asked.generation
                   AND tenant_auth_sessions.id = ANY (ARRAY(SELECT id FROM ",
                $of,
                "))
                   AND ",
                may!("$2"),
                "
                RETURNING org_id, tenant_auth_sessions.id, asked.generation
             ),
             superseded AS (
                INSERT INTO tenant_auth_superseded_generations (session_id, generation, superseded_at)
                SELECT id, generation, $2 FROM rotated
             ),
             noted AS (
                INSERT INTO tenant_auth_changes (org_id, kind, id) SELECT org_id, $3, id FROM rotated
             )"
            )
        };
    }

    statements! {
        // Waits for whoever holds the session.
        pub(super) ROTATE = concat!(asked!(), ",", rotated!("asked"), "
        SELECT id, generation AS former, org_id, FALSE AS is_held FROM rotated");
        // Waits for nobody: it would hold other sessions meanwhile, whose requests and whose members' removal are not to wait, too.
        pub(super) ROTATE_FREE = concat!(asked!(), ",
             free AS (
                SELECT id
                  FROM tenant_auth_sessions
                 WHERE id = ANY (ARRAY(SELECT id FROM asked))
                 ORDER BY id
                   FOR NO KEY UPDATE SKIP LOCKED
             ),", rotated!("free"), "
        SELECT a.id, a.generation AS former, r.org_id, f.id IS NULL AS is_held
          FROM asked a
          LEFT JOIN free f ON f.id = a.id
          LEFT JOIN rotated r ON r.id = a.id AND r.generation = a.generation
         WHERE r.id IS NOT NULL OR f.id IS NULL");
    }
}

/// What a refresh asks for: the next generation after a token's, good for so long.
#[derive(Debug, Clone)]
pub(in crate::store) struct Rotation {
    pub(in crate::store) token: RefreshToken,
    pub(in crate::store) good_for: Duration,
}

/// What is done about a session that another transaction holds. On SQLite there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum OfHeld {
    /// It is waited for.
    Wait,
    /// It is told.
    Tell,
}

/// What became of a rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Rotated {
    /// The token is of the past now.
    Done,
    /// Another transaction holds the session, or it is gone: to be asked for alone.
    Held,
}

row! {
    /// A session, its generation before, its organization where it was rotated, and whether somebody else holds it.
    #[cfg_attr(not(feature = "sqlite"), expect(dead_code, reason = "SQLite's second statement alone is told the organization"))]
    RotatedRow {
        id: String,
        former: i64,
        org_id: Option<String>,
        is_held: bool,
    }
}

impl Sessions<&mut Tx> {
    /// Rotates refresh tokens: a guarded UPDATE that replaces a session's `generation` by the next. Returns what became of them by their
    /// numbers: nothing of a token that another request, here or before, rotated first, nor where the session has ended, or its member
    /// or organization is suspended.
    pub(in crate::store) async fn rotate(mut self, rotations: &[Rotation], held: OfHeld) -> Result<Vec<(i64, Rotated)>, Error> {
        const PATH: &str = concat!(module_path!(), "::ROTATE");
        #[cfg(not(feature = "postgres"))]
        let _ = held; // nobody else has a session while this has the writer
        let (now, kind) = (self.0.now(), Change::SessionRefreshed.subject().as_str());
        let mut asked: BTreeMap<_, (Timestamp, Vec<i64>)> = BTreeMap::new();
        for (number, Rotation { token, good_for }) in (0..).zip(rotations) {
            let until = now.plus(*good_for);
            asked.entry((token.session.as_str(), token.generation)).or_insert((until, Vec::new())).1.push(number);
        }
        let rows: Vec<_> = asked.iter().map(|((id, generation), (until, _))| (id, generation, until.millis())).collect();
        let json = serde_json::to_string(&rows).map_err(Error::internal)?;
        let rotated: Vec<RotatedRow> = match Link::conn(&mut self.0) {
            #[cfg(feature = "sqlite")]
            Conn::Sqlite(connection) => {
                let advancing = Statement::on_sqlite(PATH, connection, sqlite::ADVANCE, &[&json, &now.millis()]).all();
                let rotated: Vec<RotatedRow> = advancing.await?;
                if !rotated.is_empty() {
                    let former: Vec<_> = rotated.iter().map(|row| (&row.id, row.former, &row.org_id)).collect();
                    let json = serde_json::to_string(&former).map_err(Error::internal)?;
                    let text = sqlite::SUPERSEDE_AND_NOTE;
                    let noting = Statement::on_sqlite(PATH, connection, text, &[&json, &now.millis(), &kind]).changed();
                    noting.await?;
                }
                rotated
            }
            #[cfg(feature = "postgres")]
            Conn::Postgres(connection) => {
                let text = if held == OfHeld::Wait { postgres::ROTATE } else { postgres::ROTATE_FREE };
                let rotating = Statement::on_postgres(PATH, connection, text, &[&json, &now.millis(), &kind]).that_commits().all();
                rotating.await?
            }
        };
        let mut outcomes = Vec::with_capacity(rotated.len());
        for row in &rotated {
            let numbers = asked.get(&(row.id.as_str(), row.former)).map_or(&[][..], |(_, numbers)| numbers);
            match row.is_held {
                true => outcomes.extend(numbers.iter().map(|number| (*number, Rotated::Held))),
                false => outcomes.extend(numbers.first().map(|number| (*number, Rotated::Done))),
            }
        }
        if outcomes.iter().any(|(_, outcome)| *outcome == Rotated::Done) {
            self.0.touched(Change::SessionRefreshed);
        }
        Ok(outcomes)
    }
}
