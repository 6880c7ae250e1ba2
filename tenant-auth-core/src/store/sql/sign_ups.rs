//! Sign-up: requests for a mailed link, and the links. The statement that uses a link deletes every link of its address, so that no link
//! works twice. A worker claims a request with a lease; a claim is recognised by its attempt number.

use std::time::Duration;

use crate::{
    error::Error,
    id::{DeliveryId, DeliveryKind, Id},
    secret::Digest,
    store::{
        Link as Connection, Tx, Work,
        dialect::{execute, fetch_all, fetch_optional, fetch_scalars, row, statements},
    },
    time::Timestamp,
    value::{Email, Language},
};

pub(crate) struct SignUps<L>(pub(in crate::store) L);

/// A request that this worker claimed, to be attempted now.
#[derive(Debug)]
pub(crate) struct SignUpRequest {
    pub(crate) id: DeliveryId,
    pub(crate) email: Email,
    /// This attempt's number, from 1.
    pub(crate) attempt: i64,
    /// Nobody else claims it until then.
    pub(crate) lease_until: Timestamp,
    /// When it was made, or made again while it waited.
    pub(crate) asked_at: Timestamp,
    /// The language that its client asked for.
    pub(crate) language: Option<Language>,
}

/// A link to store.
#[derive(Debug)]
pub(crate) struct SignUpLink<'a> {
    pub(crate) email: &'a Email,
    pub(crate) token: &'a Digest,
    pub(crate) expires_at: Timestamp,
}

/// No attempt is scheduled further ahead than this, so one that seems to be was scheduled before the clock was set back.
const LONGEST_WAIT: Duration = Duration::from_secs(2 * 3_600);

/// Those of a queue that are due, and behind them those that seem to be scheduled too far ahead: each part in the order of an index.
macro_rules! due {
    ($queue:literal) => {
        concat!(
            "
        SELECT id
          FROM (SELECT id
                  FROM tenant_auth_sign_up_requests
                 WHERE ",
            $queue,
            " AND next_attempt_at <= $1
                 ORDER BY next_attempt_at, id
                 LIMIT $3) AS due
        UNION ALL
        SELECT id
          FROM (SELECT id
                  FROM tenant_auth_sign_up_requests
                 WHERE ",
            $queue,
            " AND next_attempt_at > $2
                 ORDER BY next_attempt_at, id
                 LIMIT $3) AS ahead
         LIMIT $3"
        )
    };
}

statements! {
    // Who asks again while a request waits renews it, and it keeps its place.
    REQUEST = "
        INSERT INTO tenant_auth_sign_up_requests (id, email, email_key, attempts, next_attempt_at, created_at, language)
        VALUES ($1, $2, $3, 0, $4, $4, $5)
        ON CONFLICT (email_key) DO UPDATE SET created_at = excluded.created_at, language = excluded.language";
    UNTRIED = due!("attempts = 0");
    TRIED = due!("attempts > 0");
    CLAIM = "
        UPDATE tenant_auth_sign_up_requests
           SET attempts = attempts + 1, next_attempt_at = $4
         WHERE id = $1 AND (next_attempt_at <= $2 OR next_attempt_at > $3)
        RETURNING email, attempts, created_at, language";
    RETRY = "UPDATE tenant_auth_sign_up_requests SET next_attempt_at = $3 WHERE id = $1 AND attempts = $2";
    DONE = "DELETE FROM tenant_auth_sign_up_requests WHERE id = $1 AND attempts = $2 AND created_at = $3";
    // Renewed while a mail was on its way: whoever asked again may have seen that mail before, and waits for another. By another id:
    // whoever repeats this, for want of an answer to the COMMIT, must not take the next claim of the same number for this one.
    AGAIN = "UPDATE tenant_auth_sign_up_requests SET id = $4, attempts = 0, next_attempt_at = $3 WHERE id = $1 AND attempts = $2";
    INSERT_LINK = "
        INSERT INTO tenant_auth_sign_up_links (id, email, email_key, token_digest, created_at, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6)";
    FIND_LINK = "SELECT email FROM tenant_auth_sign_up_links WHERE token_digest = $1 AND expires_at > $2";
    TAKE_LINKS = "
        DELETE FROM tenant_auth_sign_up_links
         WHERE email_key = (SELECT email_key FROM tenant_auth_sign_up_links WHERE token_digest = $1 AND expires_at > $2)
        RETURNING token_digest";
}

row! { ClaimedRow { email: String, attempts: i64, created_at: i64, language: Option<String>, } }
row! { LinkRow { email: String, } }
row! { TakenRow { token_digest: String, } }

impl<L: Connection> SignUps<L> {
    /// Up to `limit` requests that are due and were not tried yet, those that have waited longest first.
    pub(crate) async fn untried(mut self, now: Timestamp, limit: u32) -> Result<Vec<DeliveryId>, Error> {
        let rows = fetch_scalars!(self.0, String, UNTRIED, now.millis(), now.plus(LONGEST_WAIT).millis(), i64::from(limit))?;
        Ok(rows.into_iter().map(Id::from_stored).collect())
    }

    /// The same of those that are to be tried again.
    pub(crate) async fn tried(mut self, now: Timestamp, limit: u32) -> Result<Vec<DeliveryId>, Error> {
        let rows = fetch_scalars!(self.0, String, TRIED, now.millis(), now.plus(LONGEST_WAIT).millis(), i64::from(limit))?;
        Ok(rows.into_iter().map(Id::from_stored).collect())
    }

    /// The address that a live link was mailed to.
    pub(crate) async fn find_link(mut self, token: &Digest, now: Timestamp) -> Result<Option<Email>, Error> {
        let row = fetch_optional!(self.0, LinkRow, FIND_LINK, token.as_str(), now.millis())?;
        Ok(row.map(|row| Email::from_stored(row.email)))
    }
}

impl SignUps<&mut Tx> {
    /// Stores a request for a link, or renews the one that waits for this address.
    pub(crate) async fn request(mut self, email: &Email, language: Option<&Language>) -> Result<(), Error> {
        let (now, id) = (self.0.now(), self.0.new_id::<DeliveryKind>());
        self.0.leave(Work::SignUps);
        execute!(self.0, REQUEST, id.as_str(), email.as_str(), email.key(), now.millis(), language.map(Language::as_str))?;
        Ok(())
    }

    /// Claims a request with a lease until `lease_until`; `None` when another worker did.
    pub(crate) async fn claim(mut self, id: &DeliveryId, lease_until: Timestamp) -> Result<Option<SignUpRequest>, Error> {
        let now = self.0.now();
        let ahead = now.plus(LONGEST_WAIT).millis();
        let row = fetch_optional!(self.0, ClaimedRow, CLAIM, id.as_str(), now.millis(), ahead, lease_until.millis())?;
        Ok(row.map(|row| SignUpRequest {
            id: id.clone(),
            email: Email::from_stored(row.email),
            attempt: row.attempts,
            lease_until,
            asked_at: Timestamp::from_millis(row.created_at),
            language: row.language.map(Language::from_stored),
        }))
    }

    /// Schedules the next attempt of a claimed request.
    pub(crate) async fn retry(mut self, request: &SignUpRequest, at: Timestamp) -> Result<(), Error> {
        execute!(self.0, RETRY, request.id.as_str(), request.attempt, at.millis())?;
        Ok(())
    }

    /// Renews the lease of a claimed request whose mail is on its way; `false` when another worker has it.
    pub(crate) async fn renew(mut self, request: &SignUpRequest, lease_until: Timestamp) -> Result<bool, Error> {
        let renewed = execute!(self.0, RETRY, request.id.as_str(), request.attempt, lease_until.millis())?;
        Ok(renewed > 0)
    }

    /// Deletes a claimed request: its mail was sent, or never will be. One that was renewed since it was claimed is due again.
    pub(crate) async fn done(mut self, request: &SignUpRequest) -> Result<(), Error> {
        let SignUpRequest { id, attempt, asked_at, .. } = request;
        if execute!(self.0, DONE, id.as_str(), *attempt, asked_at.millis())? == 0 {
            let (now, next) = (self.0.now(), self.0.new_id::<DeliveryKind>());
            if execute!(self.0, AGAIN, id.as_str(), *attempt, now.millis(), next.as_str())? > 0 {
                self.0.leave(Work::SignUps);
            }
        }
        Ok(())
    }

    pub(crate) async fn insert_link(mut self, link: &SignUpLink<'_>) -> Result<(), Error> {
        let (now, id) = (self.0.now(), self.0.new_id::<DeliveryKind>());
        execute!(
            self.0,
            INSERT_LINK,
            id.as_str(),
            link.email.as_str(),
            link.email.key(),
            link.token.as_str(),
            now.millis(),
            link.expires_at.millis()
        )?;
        Ok(())
    }

    /// Uses up a link, and with it every other of its address; `false` when it is unknown, used or expired.
    pub(crate) async fn take_link(mut self, token: &Digest) -> Result<bool, Error> {
        let now = self.0.now();
        let taken = fetch_all!(self.0, TakenRow, TAKE_LINKS, token.as_str(), now.millis())?;
        Ok(taken.iter().any(|row| row.token_digest == token.as_str()))
    }
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use sqlx::{ConnectOptions, Row, sqlite::SqliteConnectOptions};

    use crate::store::{Sqlite, Store};

    /// A flood of requests is not sorted for each mail.
    #[tokio::test]
    async fn those_that_are_due_are_read_in_the_order_of_an_index() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("sign-ups.db");
        let store = Store::from(Sqlite::open(&path.display().to_string()).await.expect("opens"));
        store.migrate().await.expect("migrates");
        store.close().await;
        let mut connection = SqliteConnectOptions::new().filename(&path).connect().await.expect("a connection");
        for (sql, index) in [(super::UNTRIED, "untried"), (super::TRIED, "tried")] {
            let plan = sqlx::query(sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}")));
            let steps = plan.fetch_all(&mut connection).await.expect("a plan");
            let steps: Vec<String> = steps.iter().map(|step| step.get("detail")).collect();
            let by_index = |step: &&String| step.contains(&format!("INDEX tenant_auth_sign_up_requests_{index} (next_attempt_at"));
            assert_eq!(steps.iter().filter(by_index).count(), 2, "{steps:#?}");
            assert!(!steps.iter().any(|step| step.contains("TEMP B-TREE")), "{steps:#?}");
        }
    }
}
