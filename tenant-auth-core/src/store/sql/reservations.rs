//! Reservations of attempts under their limits.

#[cfg(feature = "postgres")]
use crate::store::{
    Conn, Link,
    statement::{Statement, Value},
};
use crate::{
    error::Error,
    store::{
        Tx,
        dialect::{fetch_optional, statements},
        sql::throttles::{ThrottleState, Throttles},
    },
    throttle::Limit,
    time::Timestamp,
};

macro_rules! reserved {
    () => {
        "
        INSERT INTO tenant_auth_throttles AS t
               (key, subject, failures, pending, pending_since, pending_until, window_ends_at, blocked_until, forget_at)"
    };
}
// A window that ends too late was begun before the clock was set back, and is over.
macro_rules! unless_full {
    () => {
        "
        ON CONFLICT (key) DO UPDATE
           SET failures = CASE WHEN t.window_ends_at <= $2 OR t.window_ends_at > $6 THEN 0 ELSE t.failures END,
               pending = CASE WHEN t.pending_until <= $2 THEN 1 ELSE t.pending + 1 END,
               pending_since = CASE WHEN t.pending_until <= $2 OR t.pending_since > $2 THEN $2 ELSE t.pending_since END,
               pending_until = $3,
               forget_at = CASE WHEN t.forget_at < $3 THEN $3 ELSE t.forget_at END
         WHERE t.blocked_until <= $2
           AND (t.pending = 0 OR t.pending_until <= $2
                OR (CASE WHEN t.window_ends_at <= $2 OR t.window_ends_at > $6 THEN 0 ELSE t.failures END) + t.pending < $4)
        RETURNING failures, window_ends_at, blocked_until"
    };
}

statements! {
    RESERVE = concat!(reserved!(), "
        VALUES ($1, $5, 0, 1, $2, $3, 0, 0, $3)", unless_full!());
}

#[cfg(feature = "postgres")]
pub(in crate::store) mod postgres {
    use crate::store::dialect::statements;

    statements! {
        // By itself, and its commit need not reach the disk: the setting ends with the statement.
        pub(super) RESERVE_FLEETING = concat!(reserved!(), "
        SELECT $1::text, $5::text, 0, 1, $2::bigint, $3::bigint, 0, 0, $3::bigint
          FROM (SELECT set_config('synchronous_commit', 'off', true)) AS fleeting
         WHERE TRUE", unless_full!());
    }
}

impl Throttles<&mut Tx> {
    /// Makes a reservation under the limit, with a lease until `lease_until`; `false` when the limit is reached or the key is
    /// blocked.
    pub(crate) async fn reserve(mut self, limit: &Limit, lease_until: Timestamp) -> Result<bool, Error> {
        let now = self.0.now();
        let (key, subject, most) = (limit.key.as_str(), limit.subject.as_deref(), i64::from(limit.most));
        let (lease_until, latest) = (lease_until.millis(), limit.latest_end(now).millis());
        let taken = fetch_optional!(self.0, ThrottleState, RESERVE, key, now.millis(), lease_until, most, subject, latest)?;
        Ok(taken.is_some())
    }

    /// The same by a statement that commits by itself and does not wait for the disk: a verdict counts without its reservation.
    #[cfg(feature = "postgres")]
    pub(in crate::store) async fn reserve_alone(mut self, limit: &Limit, lease_until: Timestamp) -> Result<bool, Error> {
        let now = self.0.now();
        let (key, subject, most) = (limit.key.as_str(), limit.subject.as_deref(), i64::from(limit.most));
        match Link::conn(&mut self.0) {
            #[cfg(feature = "sqlite")]
            Conn::Sqlite(_) => self.reserve(limit, lease_until).await,
            Conn::Postgres(connection) => {
                const PATH: &str = concat!(module_path!(), "::RESERVE_FLEETING");
                let latest = limit.latest_end(now).millis();
                let values: [&dyn Value; 6] = [&key, &now.millis(), &lease_until.millis(), &most, &subject, &latest];
                let reserving = Statement::on_postgres(PATH, connection, postgres::RESERVE_FLEETING, &values).first();
                Ok(reserving.await?.is_some())
            }
        }
    }
}
