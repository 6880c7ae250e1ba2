//! Refresh token rotation in one message to the database: the session advances to its next generation, the former one is kept for the
//! reuse grace, and the change log says so. The guard and what rests on it cannot come apart, and each message that a rotation does
//! without is a tenth of its cost.

use std::pin::pin;

use crate::{
    error::Error,
    store::{Change, Conn, Link, Tx, running::traced, sql::sessions::Sessions},
    time::Timestamp,
    token::RefreshToken,
};

macro_rules! advance {
    () => {
        "
        UPDATE tenant_auth_sessions
           SET generation = generation + 1, refreshed_at = $3, last_used_at = $3,
               idle_until = CASE WHEN expires_at < $4 THEN expires_at ELSE $4 END,
               idle_hour = (CASE WHEN expires_at < $4 THEN expires_at ELSE $4 END) / 3600000
         WHERE id = $1 AND generation = $2 AND expires_at > $3
           AND user_epoch = (SELECT u.epoch FROM tenant_auth_users u WHERE u.id = user_id)
           AND EXISTS (SELECT 1
                         FROM tenant_auth_memberships m
                         JOIN tenant_auth_organizations o ON o.id = m.org_id
                        WHERE m.org_id = tenant_auth_sessions.org_id AND m.user_id = tenant_auth_sessions.user_id
                          AND m.status = 'active' AND o.status = 'active')
        RETURNING org_id"
    };
}

/// Three statements, prepared alone as well, so that each is checked.
#[cfg(feature = "sqlite")]
pub(in crate::store) mod sqlite {
    use crate::store::dialect::statements;

    macro_rules! supersede {
        () => {
            "
        INSERT INTO tenant_auth_superseded_generations (session_id, generation, superseded_at)
        SELECT $1, $2, $3 WHERE changes() = 1"
        };
    }
    macro_rules! note {
        () => {
            "
        INSERT INTO tenant_auth_changes (org_id, kind, id)
        SELECT org_id, $5, id FROM tenant_auth_sessions WHERE id = $1 AND changes() = 1"
        };
    }

    statements! {
        #[cfg(any(test, feature = "testing"))]
        ADVANCE = advance!();
        #[cfg(any(test, feature = "testing"))]
        SUPERSEDE = supersede!();
        #[cfg(any(test, feature = "testing"))]
        NOTE = note!();
        // Each looks at how many rows the one before it changed.
        pub(super) ROTATE = concat!(advance!(), ";", supersede!(), ";", note!());
    }
}

#[cfg(feature = "postgres")]
pub(in crate::store) mod postgres {
    use crate::store::dialect::statements;

    statements! {
        pub(super) ROTATE = concat!("WITH rotated AS (", advance!(), ", id),
             superseded AS (
                INSERT INTO tenant_auth_superseded_generations (session_id, generation, superseded_at)
                SELECT id, $2, $3 FROM rotated
             ),
             noted AS (
                INSERT INTO tenant_auth_changes (org_id, kind, id) SELECT org_id, $5, id FROM rotated
             )
        SELECT org_id FROM rotated");
    }
}

impl Sessions<&mut Tx> {
    /// Rotates the refresh token: a guarded UPDATE that replaces `generation` by the next; `false` when another request did so
    /// first, the session has ended, or its member or organization is suspended.
    pub(crate) async fn rotate(mut self, token: &RefreshToken, idle_until: Timestamp) -> Result<bool, Error> {
        const PATH: &str = concat!(module_path!(), "::ROTATE");
        let rows = |orgs: &Vec<String>| orgs.len() as u64;
        let change = Change::SessionRefreshed;
        let now = self.0.now().millis();
        macro_rules! rotated {
            ($engine:ident, $connection:expr) => {
                sqlx::query_scalar::<_, String>($engine::ROTATE)
                    .bind(token.session.as_str())
                    .bind(token.generation)
                    .bind(now)
                    .bind(idle_until.millis())
                    .bind(change.subject().as_str())
                    .fetch_all($connection)
            };
        }
        let rotated = match Link::conn(&mut self.0) {
            #[cfg(feature = "sqlite")]
            Conn::Sqlite(connection) => traced(PATH, rows, pin!(rotated!(sqlite, connection))).await?,
            #[cfg(feature = "postgres")]
            // It may be a COMMIT, and is waited for as one is: whether it happened would be unknown. Its locks have PostgreSQL's limit.
            Conn::Postgres(connection) => traced(PATH, rows, pin!(rotated!(postgres, connection))).await?,
        };
        if rotated.is_empty() {
            return Ok(false);
        }
        self.0.touched(change);
        Ok(true)
    }
}
