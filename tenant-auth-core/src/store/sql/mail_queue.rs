//! The queue of mails: which are due. Each organization's are found by themselves, so that the backlog of one does not hide the others'; and
//! those for servers that have their share of attempts are passed over, domain by domain, for an import may queue a million for one.

use crate::{
    error::Error,
    id::{Id, MailId, OrgId},
    store::{
        Link,
        dialect::{fetch_all, fetch_scalars, row, statements},
    },
    time::Timestamp,
};

pub(crate) struct MailQueue<L>(pub(in crate::store) L);

/// A mail that is due and not claimed yet.
#[derive(Debug)]
pub(crate) struct DueMail {
    pub(crate) id: MailId,
    /// The domain of the recipient's address; empty for a mail that an older version wrote.
    pub(crate) recipient_domain: String,
}

/// How many domains [`MailQueue::due`] can pass over.
pub(crate) const PASSED_OVER: usize = 4;

statements! {
    // Two loose index scans: one step of an index per organization with waiting mails, and in it per domain that they are for until one is
    // found, however many mails there are. Only what a former version wrote has no domain.
    DUE_ORGANIZATIONS = "
        WITH RECURSIVE queues (org_id) AS (
            SELECT MIN(org_id) FROM tenant_auth_mails WHERE next_attempt_at IS NOT NULL AND org_id > $2
             UNION ALL
            SELECT (SELECT MIN(org_id) FROM tenant_auth_mails WHERE next_attempt_at IS NOT NULL AND org_id > queues.org_id)
              FROM queues
             WHERE queues.org_id IS NOT NULL AND ($8 = '' OR queues.org_id < $8)
        )
        SELECT org_id
          FROM queues
         WHERE org_id IS NOT NULL
           AND (SELECT MIN(next_attempt_at) FROM tenant_auth_mails WHERE org_id = queues.org_id AND next_attempt_at IS NOT NULL) <= $1
           AND (EXISTS (
                    WITH RECURSIVE domains (name) AS (
                        SELECT MIN(recipient_domain)
                          FROM tenant_auth_mails
                         WHERE org_id = queues.org_id AND next_attempt_at IS NOT NULL
                         UNION ALL
                        SELECT (SELECT MIN(recipient_domain)
                                  FROM tenant_auth_mails
                                 WHERE org_id = queues.org_id AND next_attempt_at IS NOT NULL AND recipient_domain > domains.name)
                          FROM domains
                         WHERE domains.name IS NOT NULL
                    )
                    SELECT 1
                      FROM domains
                     WHERE name NOT IN ($4, $5, $6, $7)
                       AND (SELECT MIN(next_attempt_at)
                              FROM tenant_auth_mails
                             WHERE org_id = queues.org_id AND recipient_domain = domains.name AND next_attempt_at IS NOT NULL) <= $1)
                OR EXISTS (SELECT 1
                             FROM tenant_auth_mails
                            WHERE org_id = queues.org_id AND recipient_domain IS NULL AND next_attempt_at <= $1))
         LIMIT $3";
    // Of those that are due longest.
    DUE = "
        SELECT id, recipient_domain
          FROM (SELECT id, COALESCE(recipient_domain, '') AS recipient_domain, next_attempt_at
                  FROM tenant_auth_mails
                 WHERE org_id = $1 AND next_attempt_at <= $2
                 ORDER BY next_attempt_at
                 LIMIT 200) d
         WHERE recipient_domain NOT IN ($4, $5, $6, $7)
         ORDER BY next_attempt_at
         LIMIT $3";
    // Where all of those are passed over: one mail for each of the others' domains, again by a loose index scan. The two MIN keep to the
    // index: by the time alone, which a million mails of one import may have in common, or through the table it would be no step.
    DUE_BEHIND = "
        WITH RECURSIVE domains (name) AS (
            SELECT MIN(recipient_domain) FROM tenant_auth_mails WHERE org_id = $1 AND next_attempt_at IS NOT NULL
             UNION ALL
            SELECT (SELECT MIN(recipient_domain)
                      FROM tenant_auth_mails
                     WHERE org_id = $1 AND next_attempt_at IS NOT NULL AND recipient_domain > domains.name)
              FROM domains
             WHERE domains.name IS NOT NULL
        )
        SELECT m.id, m.recipient_domain
          FROM domains
          JOIN tenant_auth_mails m
            ON m.id = (SELECT MIN(id)
                         FROM tenant_auth_mails
                        WHERE org_id = $1
                          AND recipient_domain = domains.name
                          AND next_attempt_at = (SELECT MIN(next_attempt_at)
                                                   FROM tenant_auth_mails
                                                  WHERE org_id = $1
                                                    AND recipient_domain = domains.name
                                                    AND next_attempt_at IS NOT NULL))
         WHERE domains.name NOT IN ($4, $5, $6, $7) AND m.next_attempt_at <= $2
         LIMIT $3";
}

row! { DueRow { id: String, recipient_domain: String, } }

/// The domains that a statement passes over: it always has as many, and no domain is a blank.
fn blanks_added<'a>(passed_over: &[&'a str]) -> [&'a str; PASSED_OVER] {
    std::array::from_fn(|place| passed_over.get(place).copied().unwrap_or(" "))
}

impl<L: Link> MailQueue<L> {
    /// Up to `limit` organizations whose ids come after `after`, in the order of their ids, with a due mail that is not for one of
    /// the domains of `passed_over`: at most [`PASSED_OVER`] of them count. They end with `until` or the first one behind it; with the
    /// last of all where it is empty.
    pub(crate) async fn due_organizations(
        mut self,
        now: Timestamp,
        (after, until): (&str, &str),
        limit: u32,
        passed_over: &[&str],
    ) -> Result<Vec<OrgId>, Error> {
        let [a, b, c, d] = blanks_added(passed_over);
        let limit = i64::from(limit);
        let rows = fetch_scalars!(self.0, String, DUE_ORGANIZATIONS, now.millis(), after, limit, a, b, c, d, until)?;
        Ok(rows.into_iter().map(Id::from_stored).collect())
    }

    /// Up to `limit` due mails of an organization, without those for the domains of `passed_over`: at most [`PASSED_OVER`] of them count.
    /// The ones due longest first; but where a long backlog for those domains comes before, one for each of a few other domains.
    pub(crate) async fn due(
        mut self,
        org: &OrgId,
        now: Timestamp,
        limit: usize,
        passed_over: &[&str],
    ) -> Result<Vec<DueMail>, Error> {
        let [a, b, c, d] = blanks_added(passed_over);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut rows = fetch_all!(self.0, DueRow, DUE, org.as_str(), now.millis(), limit, a, b, c, d)?;
        if rows.is_empty() && !passed_over.is_empty() {
            rows = fetch_all!(self.0, DueRow, DUE_BEHIND, org.as_str(), now.millis(), limit, a, b, c, d)?;
        }
        let due = |row: DueRow| DueMail { id: Id::from_stored(row.id), recipient_domain: row.recipient_domain };
        Ok(rows.into_iter().map(due).collect())
    }
}

#[cfg(all(test, feature = "testing", feature = "sqlite"))]
mod tests {
    use super::*;
    use crate::{
        service::TenantAuth,
        store::{MailKind, OutgoingMail},
        testing::TestAuth,
    };

    /// Queues so many mails of an organization for a domain.
    async fn queue(auth: &TenantAuth, org: &OrgId, domain: &str, mails: usize) {
        let mut tx = auth.begin().await.expect("a transaction");
        for _ in 0..mails {
            let (id, created_at) = (tx.new_id(), tx.now());
            let (org_id, recipient_domain, sealed) = (org.clone(), domain.to_owned(), String::new());
            let mail = OutgoingMail {
                id,
                org_id,
                kind: MailKind::Invite,
                recipient_domain,
                sealed,
                created_at,
                useless_after: created_at,
            };
            tx.mails().insert(&mail).await.expect("it is queued");
        }
        tx.commit().await.expect("it commits");
    }

    /// The domains of what is due, the one domain passed over.
    async fn due(auth: &TenantAuth, org: &OrgId, passed_over: &[&str]) -> Vec<String> {
        let mut reader = auth.store().read().await.expect("a connection");
        let organizations = reader.mail_queue().due_organizations(auth.now(), ("", ""), 10, passed_over).await.expect("a list");
        let due = reader.mail_queue().due(org, auth.now(), 16, passed_over).await.expect("a list");
        assert_eq!(organizations.contains(org), !due.is_empty(), "it is found where it has some");
        due.into_iter().map(|mail| mail.recipient_domain).collect()
    }

    #[tokio::test]
    async fn a_backlog_for_one_server_hides_nothing_for_another() {
        let test = TestAuth::new().await;
        let org = test.org_admin().await.org_id().clone();
        test.tick().await; // what was queued before is sent
        queue(&test.auth, &org, "full.example", 250).await;
        assert_eq!(due(&test.auth, &org, &["full.example"]).await, Vec::<String>::new());
        assert_eq!(due(&test.auth, &org, &[]).await.len(), 16);
        for domain in ["after.example", "zebra.example", "zebra.example"] {
            queue(&test.auth, &org, domain, 1).await;
        }
        assert_eq!(due(&test.auth, &org, &["full.example"]).await, ["after.example", "zebra.example"]);
        assert_eq!(due(&test.auth, &org, &["full.example", "after.example"]).await, ["zebra.example"]);
    }

    #[tokio::test]
    async fn domains_are_found_by_steps_of_an_index() {
        use sqlx::{ConnectOptions, Row, sqlite::SqliteConnectOptions};

        use crate::store::{Sqlite, Store};

        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("mails.db");
        let store = Store::from(Sqlite::open(&path.display().to_string()).await.expect("opens"));
        store.migrate().await.expect("migrates");
        store.close().await;
        let mut connection = SqliteConnectOptions::new().filename(&path).connect().await.expect("a connection");
        for sql in [DUE_ORGANIZATIONS, DUE_BEHIND] {
            let plan = sqlx::query(sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}")));
            let steps = plan.fetch_all(&mut connection).await.expect("a plan");
            let steps: Vec<String> = steps.iter().map(|step| step.get("detail")).collect();
            let by_domain = |step: &String| step.contains("tenant_auth_mails_by_domain (org_id=? AND recipient_domain>?)");
            assert!(steps.iter().any(by_domain), "{sql}\n{steps:#?}");
            let scans = |step: &String| step.starts_with("SCAN") && !["SCAN queues", "SCAN domains"].contains(&step.as_str());
            assert!(!steps.iter().any(scans), "{sql}\n{steps:#?}");
        }
    }
}
