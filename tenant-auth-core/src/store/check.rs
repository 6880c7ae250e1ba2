//! A check for the tests: prepares every statement on a real database of either engine. Unknown columns and syntax errors show
//! here, not at three in the morning.

#[cfg(feature = "postgres")]
use sqlx::{AssertSqlSafe, Row};
use sqlx::{Executor, SqlSafeStr};

#[cfg(feature = "postgres")]
use super::failure;
#[cfg(all(feature = "testing", feature = "sqlite"))]
use super::{ChangedRow, Tx, change::Subject};
use super::{
    Conn, Link, Store,
    change_log::by_engine,
    repositories::STATEMENTS,
    sql::{
        audit, delivery_batches, event_chain, event_feed, event_writing, logins, lookups, members, opening, reservations, rotation,
        throttles, users,
    },
};
use crate::error::Error;

impl Store {
    /// How PostgreSQL finds what each filter of the audit log chooses, whatever its values are: the name of a statement and its plan.
    /// None of SQLite, whose plans a unit test reads. The connection keeps what it prepared: close the store after it.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the database is away.
    #[cfg(feature = "postgres")]
    pub async fn plans_of_audit(&self) -> Result<Vec<String>, Error> {
        let some = "SELECT org_id FROM tenant_auth_events WHERE hash IS NOT NULL LIMIT 1";
        // A page of two from the end on, of a kind and of people that there are not.
        let of_page = |org: &str| [org, "9000000000", "0", "2", "", "", ""].map(|value| format!("'{value}'")).to_vec();
        self.plans(&[audit::ALL, audit::postgres::ALL].concat(), some, of_page).await
    }

    /// The same of the lookups of verification.
    ///
    /// # Errors
    /// As [`Store::plans_of_audit`].
    #[cfg(feature = "postgres")]
    pub async fn plans_of_lookups(&self) -> Result<Vec<String>, Error> {
        let questions = "SELECT json_build_array(json_build_array(k.id, s.id, o.slug))::text
                           FROM tenant_auth_api_keys k
                           JOIN tenant_auth_organizations o ON o.id = k.org_id
                           JOIN tenant_auth_sessions s ON s.org_id = o.id
                          LIMIT 1";
        self.plans(lookups::postgres::ALL, questions, |questions| vec![format!("'{questions}'")]).await
    }

    /// The same of the rotation of refresh tokens. One session is rotated by it.
    ///
    /// # Errors
    /// As [`Store::plans_of_audit`].
    #[cfg(feature = "postgres")]
    pub async fn plans_of_rotations(&self) -> Result<Vec<String>, Error> {
        let tokens =
            "SELECT json_build_array(json_build_array(id, generation, expires_at))::text FROM tenant_auth_sessions LIMIT 1";
        let values = |tokens: &str| [tokens, "0", "session"].map(|value| format!("'{value}'")).to_vec();
        self.plans(rotation::postgres::ALL, tokens, values).await
    }

    /// The plans of statements, with values made of what another statement tells.
    #[cfg(feature = "postgres")]
    async fn plans(
        &self,
        statements: &[(&str, &str)],
        told: &'static str,
        values: impl FnOnce(&str) -> Vec<String>,
    ) -> Result<Vec<String>, Error> {
        let mut reader = self.read().await?;
        let mut plans = Vec::new();
        match (&mut reader).conn() {
            #[cfg(feature = "sqlite")]
            Conn::Sqlite(_) => {}
            Conn::Postgres(connection) => {
                let told: String = sqlx::query_scalar(told).fetch_one(&mut *connection).await.map_err(failure::of)?;
                let values = values(&told);
                for (name, sql) in statements {
                    let taken = (1..).take_while(|number| sql.contains(&format!("${number}"))).count();
                    let prepare = format!("SET plan_cache_mode = force_generic_plan; PREPARE {name} AS {sql}");
                    sqlx::raw_sql(AssertSqlSafe(prepare)).execute(&mut *connection).await.map_err(failure::of)?;
                    // Run as well: PostgreSQL tells the plan of a recursion's step only of one that was begun.
                    let run = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE";
                    let explain = AssertSqlSafe(format!("{run} {name} ({})", values[..taken].join(", ")));
                    let lines = sqlx::raw_sql(explain).fetch_all(&mut *connection).await.map_err(failure::of)?;
                    let lines: Vec<String> = lines.iter().map(|line| line.get(0)).collect();
                    plans.push(format!("{name}\n{}", lines.join("\n")));
                }
            }
        }
        Ok(plans)
    }

    /// The statements that this database does not take, each with its reason; none, when all is well.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the database is away.
    pub async fn unpreparable_statements(&self) -> Result<Vec<String>, Error> {
        let mut reader = self.read().await?;
        let mut refused = Vec::new();
        let own = by_engine!((&mut reader).conn(), engine, _connection => engine::ALL);
        let batches = match (&mut reader).conn() {
            #[cfg(feature = "sqlite")]
            Conn::Sqlite(_) => [
                audit::sqlite::ALL,
                delivery_batches::sqlite::ALL,
                event_chain::sqlite::ALL,
                event_feed::sqlite::ALL,
                event_writing::sqlite::ALL,
                logins::sqlite::ALL,
                lookups::sqlite::ALL,
                members::sqlite::ALL,
                opening::sqlite::ALL,
                reservations::ALL,
                rotation::sqlite::ALL,
                throttles::sqlite::ALL,
                users::sqlite::ALL,
            ]
            .concat(),
            #[cfg(feature = "postgres")]
            Conn::Postgres(_) => [
                audit::postgres::ALL,
                delivery_batches::postgres::ALL,
                event_chain::postgres::ALL,
                event_feed::postgres::ALL,
                event_writing::postgres::ALL,
                logins::postgres::ALL,
                lookups::postgres::ALL,
                members::postgres::ALL,
                opening::postgres::ALL,
                reservations::ALL,
                reservations::postgres::ALL,
                rotation::postgres::ALL,
                throttles::postgres::ALL,
                users::postgres::ALL,
            ]
            .concat(),
        };
        for (name, sql) in [STATEMENTS.concat(), own.to_vec(), batches].concat() {
            let prepared = match (&mut reader).conn() {
                #[cfg(feature = "sqlite")]
                Conn::Sqlite(connection) => connection.prepare(sql.into_sql_str()).await.map(drop),
                #[cfg(feature = "postgres")]
                Conn::Postgres(connection) => connection.prepare(sql.into_sql_str()).await.map(drop),
            };
            if let Err(error) = prepared {
                refused.push(format!("{name}: {error}"));
            }
        }
        Ok(refused)
    }
}

#[cfg(all(feature = "testing", feature = "sqlite"))]
impl Tx {
    /// Writes a change of each of these sessions, of an organization that there is not, into the log now, and not at the commit.
    pub(crate) async fn note_now(&mut self, ids: &[String]) -> Result<(), Error> {
        let org_id = Some(crate::id::Id::from_stored("org_00000000000000000000000000".to_owned()));
        let row = |id: &String| ChangedRow { subject: Subject::Session, id: id.clone(), org_id: org_id.clone() };
        self.changes().note(&ids.iter().map(row).collect::<Vec<_>>()).await
    }
}
