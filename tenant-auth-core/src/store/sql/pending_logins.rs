//! Pending logins: the password was right and the second factor is outstanding. The statement that admits an attempt also counts
//! it, and the login that succeeds deletes the row, so that neither can be repeated in parallel.

use crate::{
    error::Error,
    id::{Id, OrgId, SessionId, UserId},
    model::AuthMethod,
    store::{
        Link, Tx,
        dialect::{execute, fetch_optional, row, statements},
        sql::corrupt,
    },
    time::Timestamp,
};

pub(crate) struct PendingLogins<L>(pub(in crate::store) L);

/// A login whose password was right and whose second factor is outstanding.
#[derive(Debug, Clone)]
pub(crate) struct PendingLogin {
    /// The id that the session will have.
    pub(crate) id: SessionId,
    pub(crate) org_id: OrgId,
    pub(crate) user_id: UserId,
    pub(crate) user_epoch: i64,
    pub(crate) method: AuthMethod,
    pub(crate) ip: Option<String>,
    /// Whether the organization's backend stated the address.
    pub(crate) is_ip_stated: bool,
    pub(crate) user_agent: Option<String>,
    pub(crate) created_at: Timestamp,
    pub(crate) expires_at: Timestamp,
}

statements! {
    INSERT = "
        INSERT INTO tenant_auth_pending_logins
               (id, org_id, user_id, user_epoch, method, attempts, ip, is_ip_stated, user_agent, created_at, expires_at)
        VALUES ($1, $2, $3, $4, $5, 0, $6, $7, $8, $9, $10)";
    ATTEMPT = "
        UPDATE tenant_auth_pending_logins
           SET attempts = attempts + 1
         WHERE org_id = $1 AND id = $2 AND expires_at > $3 AND attempts < $4";
    FIND = "
        SELECT id, org_id, user_id, user_epoch, method, ip, is_ip_stated, user_agent, created_at, expires_at
          FROM tenant_auth_pending_logins
         WHERE org_id = $1 AND id = $2 AND expires_at > $3";
    TAKE = "DELETE FROM tenant_auth_pending_logins WHERE org_id = $1 AND id = $2";
    DELETE_OF_ORGANIZATION = "DELETE FROM tenant_auth_pending_logins WHERE org_id = $1";
    DELETE_ALL = "DELETE FROM tenant_auth_pending_logins";
    DELETE_OF_USER = "DELETE FROM tenant_auth_pending_logins WHERE user_id = $1";
}

row! {
    PendingLoginRow {
        id: String,
        org_id: String,
        user_id: String,
        user_epoch: i64,
        method: String,
        ip: Option<String>,
        is_ip_stated: bool,
        user_agent: Option<String>,
        created_at: i64,
        expires_at: i64,
    }
}

impl TryFrom<PendingLoginRow> for PendingLogin {
    type Error = Error;
    fn try_from(row: PendingLoginRow) -> Result<Self, Error> {
        Ok(Self {
            method: AuthMethod::parse(&row.method).ok_or_else(|| corrupt("pending_logins", "method", &row.id))?,
            id: Id::from_stored(row.id),
            org_id: Id::from_stored(row.org_id),
            user_id: Id::from_stored(row.user_id),
            user_epoch: row.user_epoch,
            ip: row.ip,
            is_ip_stated: row.is_ip_stated,
            user_agent: row.user_agent,
            created_at: Timestamp::from_millis(row.created_at),
            expires_at: Timestamp::from_millis(row.expires_at),
        })
    }
}

impl<L: Link> PendingLogins<L> {
    /// A pending login that has not expired.
    pub(crate) async fn find(mut self, org: &OrgId, id: &SessionId, now: Timestamp) -> Result<Option<PendingLogin>, Error> {
        let row = fetch_optional!(self.0, PendingLoginRow, FIND, org.as_str(), id.as_str(), now.millis())?;
        row.map(PendingLogin::try_from).transpose()
    }
}

impl PendingLogins<&mut Tx> {
    pub(crate) async fn insert(mut self, login: &PendingLogin) -> Result<(), Error> {
        execute!(
            self.0,
            INSERT,
            login.id.as_str(),
            login.org_id.as_str(),
            login.user_id.as_str(),
            login.user_epoch,
            login.method.as_str(),
            login.ip.as_deref(),
            login.is_ip_stated,
            login.user_agent.as_deref(),
            login.created_at.millis(),
            login.expires_at.millis()
        )?;
        Ok(())
    }

    /// Counts an attempt; `false` when the login is used, expired or has had `most` attempts.
    pub(crate) async fn attempt(mut self, org: &OrgId, id: &SessionId, most: i64) -> Result<bool, Error> {
        let now = self.0.now();
        Ok(execute!(self.0, ATTEMPT, org.as_str(), id.as_str(), now.millis(), most)? == 1)
    }

    /// Uses up the login; `false` when another request did so first.
    pub(crate) async fn take(mut self, org: &OrgId, id: &SessionId) -> Result<bool, Error> {
        Ok(execute!(self.0, TAKE, org.as_str(), id.as_str())? == 1)
    }

    pub(crate) async fn end_of_organization(mut self, org: &OrgId) -> Result<(), Error> {
        execute!(self.0, DELETE_OF_ORGANIZATION, org.as_str())?;
        Ok(())
    }

    pub(crate) async fn end_all(mut self) -> Result<(), Error> {
        execute!(self.0, DELETE_ALL)?;
        Ok(())
    }

    pub(crate) async fn end_of_user(mut self, user: &UserId) -> Result<(), Error> {
        execute!(self.0, DELETE_OF_USER, user.as_str())?;
        Ok(())
    }
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use sqlx::{ConnectOptions, Row, sqlite::SqliteConnectOptions};

    use crate::store::{Sqlite, Store};

    /// A password that changes ends them in every organization.
    #[tokio::test]
    async fn those_of_a_person_are_found_by_an_index() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("logins.db");
        let store = Store::from(Sqlite::open(&path.display().to_string()).await.expect("opens"));
        store.migrate().await.expect("migrates");
        store.close().await;
        let mut connection = SqliteConnectOptions::new().filename(&path).connect().await.expect("a connection");
        let plan = sqlx::query(sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {}", super::DELETE_OF_USER)));
        let steps = plan.fetch_all(&mut connection).await.expect("a plan");
        let steps: Vec<String> = steps.iter().map(|step| step.get("detail")).collect();
        assert!(steps.iter().all(|step| step.ends_with("tenant_auth_pending_logins_by_user (user_id=?)")), "{steps:#?}");
    }
}
