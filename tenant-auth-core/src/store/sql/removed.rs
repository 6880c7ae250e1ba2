//! What is left of an organization whose removal has begun: deleted table by table, in batches, so that no statement holds its locks,
//! or SQLite's single writer, for long. A worker holds a removal with a lease that each of its transactions renews.

use crate::{
    error::Error,
    id::{Id, OrgId, UserId},
    store::{
        Link, Tx,
        dialect::{execute, fetch_all, fetch_optional, fetch_scalars, row, statements},
    },
    time::{CLOCKS_DIFFER, Timestamp},
    value::Email,
};

pub(crate) struct Removed<L>(pub(in crate::store) L);

/// How many rows one transaction deletes at most.
const BATCH: i64 = 500;

statements! {
    // The longest untouched first: one that waits hides no other. A lease that ends later than one of now could is of a clock that was
    // ahead.
    FREE = "
        SELECT id, removal_held_until
          FROM tenant_auth_organizations
         WHERE deletes_at IS NOT NULL AND removed_at IS NOT NULL AND (removal_held_until <= $1 OR removal_held_until > $2)
         ORDER BY removal_held_until
         LIMIT 1";
    HOLD = "
        UPDATE tenant_auth_organizations
           SET removal_held_until = $3
         WHERE id = $1 AND removed_at IS NOT NULL AND removal_held_until = $2";
    ITS_WEBHOOKS = "SELECT id FROM tenant_auth_webhooks WHERE org_id = $1 ORDER BY id";
    // A row lock in the SQL of both engines: it changes nothing.
    HOLD_WEBHOOK = "UPDATE tenant_auth_webhooks SET status = status WHERE org_id = $1 AND id = $2";
    DELIVERIES = "
        DELETE FROM tenant_auth_deliveries WHERE id IN (SELECT id FROM tenant_auth_deliveries WHERE org_id = $1 LIMIT $2)";
    WEBHOOK_SECRETS = "
        DELETE FROM tenant_auth_webhook_secrets
         WHERE id IN (SELECT id FROM tenant_auth_webhook_secrets WHERE org_id = $1 LIMIT $2)";
    WEBHOOKS = "DELETE FROM tenant_auth_webhooks WHERE id IN (SELECT id FROM tenant_auth_webhooks WHERE org_id = $1 LIMIT $2)";
    API_KEYS = "DELETE FROM tenant_auth_api_keys WHERE id IN (SELECT id FROM tenant_auth_api_keys WHERE org_id = $1 LIMIT $2)";
    INVITES = "DELETE FROM tenant_auth_invites WHERE id IN (SELECT id FROM tenant_auth_invites WHERE org_id = $1 LIMIT $2)";
    LINKS = "DELETE FROM tenant_auth_links WHERE id IN (SELECT id FROM tenant_auth_links WHERE org_id = $1 LIMIT $2)";
    RESET_REQUESTS = "
        DELETE FROM tenant_auth_reset_requests
         WHERE id IN (SELECT id FROM tenant_auth_reset_requests WHERE org_id = $1 LIMIT $2)";
    LINKED_PEOPLE = "
        DELETE FROM tenant_auth_linked_people
         WHERE org_id = $1
           AND former_id IN (SELECT former_id FROM tenant_auth_linked_people WHERE org_id = $1 LIMIT $2)";
    AUDIT_EXPORTS = "
        DELETE FROM tenant_auth_audit_exports
         WHERE org_id IN (SELECT org_id FROM tenant_auth_audit_exports WHERE org_id = $1 LIMIT $2)";
    ORIGINS = "
        DELETE FROM tenant_auth_organization_origins
         WHERE org_id = $1
           AND origin IN (SELECT origin FROM tenant_auth_organization_origins WHERE org_id = $1 LIMIT $2)";
    EVENTS = "
        DELETE FROM tenant_auth_events
         WHERE id IN (SELECT id FROM tenant_auth_events WHERE org_id = $1 ORDER BY sequence LIMIT $2)";
    OUTBOX = "
        DELETE FROM tenant_auth_outbox
         WHERE event_id IN (SELECT event_id FROM tenant_auth_outbox WHERE org_id = $1 LIMIT $2)";
    // A notice that waits is sent first, or given up.
    MAILS = "
        DELETE FROM tenant_auth_mails
         WHERE id IN (SELECT id
                        FROM tenant_auth_mails
                       WHERE org_id = $1 AND (kind <> 'notice' OR status <> 'queued' OR created_at <= $3)
                       LIMIT $2)";
    MEMBERS = "
        SELECT m.user_id AS user_id, u.email AS email, u.is_email_verified AS is_email_verified,
               EXISTS (SELECT 1 FROM tenant_auth_memberships o WHERE o.user_id = m.user_id AND o.org_id <> m.org_id)
               OR EXISTS (SELECT 1
                            FROM tenant_auth_invites i
                            JOIN tenant_auth_organizations g ON g.id = i.org_id
                           WHERE i.email_key = u.email_key AND i.expires_at > $2 AND g.removed_at IS NULL) AS is_needed
          FROM tenant_auth_memberships m
          JOIN tenant_auth_users u ON u.id = m.user_id
         WHERE m.org_id = $1
         ORDER BY m.user_id
         LIMIT $3";
    MEMBER = "
        SELECT m.user_id AS user_id, u.email AS email, u.is_email_verified AS is_email_verified,
               EXISTS (SELECT 1 FROM tenant_auth_memberships o WHERE o.user_id = m.user_id AND o.org_id <> m.org_id)
               OR EXISTS (SELECT 1
                            FROM tenant_auth_invites i
                            JOIN tenant_auth_organizations g ON g.id = i.org_id
                           WHERE i.email_key = u.email_key AND i.expires_at > $2 AND g.removed_at IS NULL) AS is_needed
          FROM tenant_auth_memberships m
          JOIN tenant_auth_users u ON u.id = m.user_id
         WHERE m.org_id = $1 AND m.user_id = $3";
    // The row that the others belong to, and its number of events, which goes with it.
    FINISH = "
        DELETE FROM tenant_auth_organizations
         WHERE id = $1 AND removed_at IS NOT NULL
           AND NOT EXISTS (SELECT 1 FROM tenant_auth_memberships WHERE org_id = $1)
           AND NOT EXISTS (SELECT 1 FROM tenant_auth_mails WHERE org_id = $1)";
}

row! { FreeRow { id: String, removal_held_until: i64, } }
row! { LeavingRow { user_id: String, email: String, is_email_verified: bool, is_needed: bool, } }

/// A removal that nobody holds.
#[derive(Debug)]
pub(crate) struct FreeRemoval {
    pub(crate) org: OrgId,
    pub(crate) held_until: Timestamp,
}

/// A member of an organization that is being removed.
#[derive(Debug)]
pub(crate) struct Leaving {
    pub(crate) user: UserId,
    pub(crate) email: Email,
    pub(crate) is_email_verified: bool,
    /// Whether the account is somebody's elsewhere, or an invite waits for its address.
    pub(crate) is_needed: bool,
}

impl From<LeavingRow> for Leaving {
    fn from(row: LeavingRow) -> Self {
        let LeavingRow { user_id, email, is_email_verified, is_needed } = row;
        Self { user: Id::from_stored(user_id), email: Email::from_stored(email), is_email_verified, is_needed }
    }
}

impl<L: Link> Removed<L> {
    /// A removal that nobody holds; a lease of now would end at `lease_until`.
    pub(crate) async fn free(mut self, now: Timestamp, lease_until: Timestamp) -> Result<Option<FreeRemoval>, Error> {
        let row = fetch_optional!(self.0, FreeRow, FREE, now.millis(), lease_until.plus(CLOCKS_DIFFER).millis())?;
        Ok(row.map(|row| FreeRemoval { org: Id::from_stored(row.id), held_until: Timestamp::from_millis(row.removal_held_until) }))
    }

    /// Some of the members who are left.
    pub(crate) async fn members(mut self, org: &OrgId, now: Timestamp, most: i64) -> Result<Vec<Leaving>, Error> {
        Ok(fetch_all!(self.0, LeavingRow, MEMBERS, org.as_str(), now.millis(), most)?.into_iter().map(Leaving::from).collect())
    }

    /// One of them, judged anew.
    pub(crate) async fn member(mut self, org: &OrgId, user: &UserId, now: Timestamp) -> Result<Option<Leaving>, Error> {
        Ok(fetch_optional!(self.0, LeavingRow, MEMBER, org.as_str(), now.millis(), user.as_str())?.map(Leaving::from))
    }
}

impl Removed<&mut Tx> {
    /// Holds a removal until a time; `false` when another worker does.
    pub(crate) async fn hold(mut self, free: &FreeRemoval, until: Timestamp) -> Result<bool, Error> {
        Ok(execute!(self.0, HOLD, free.org.as_str(), free.held_until.millis(), until.millis())? == 1)
    }

    /// Deletes a batch of one table, of what belongs to the organization and to no person; returns the number of rows. What refers
    /// to another table goes before it. Notices wait until they are sent, unless they are as old as `given_up`.
    pub(crate) async fn delete_some(mut self, org: &OrgId, given_up: Timestamp) -> Result<u64, Error> {
        let org = org.as_str();
        // Each webhook before its deliveries (lock order): outcomes of attempts may be under way.
        for webhook in fetch_scalars!(self.0, String, ITS_WEBHOOKS, org)? {
            execute!(self.0, HOLD_WEBHOOK, org, webhook)?;
        }
        macro_rules! first_that_has_some {
            ($($table:ident $(($value:expr))?,)*) => { $(
                let deleted = execute!(self.0, $table, org, BATCH $(, $value)?)?;
                if deleted > 0 {
                    return Ok(deleted);
                }
            )* };
        }
        first_that_has_some! {
            DELIVERIES,
            WEBHOOK_SECRETS,
            WEBHOOKS,
            API_KEYS,
            INVITES,
            LINKS,
            RESET_REQUESTS,
            AUDIT_EXPORTS,
            ORIGINS,
            LINKED_PEOPLE,
            OUTBOX,
            MAILS (given_up.millis()),
        }
        Ok(0)
    }

    /// Deletes a batch of the events, once the members are gone: only these tell which addresses somebody had before. Returns the number of
    /// rows.
    pub(crate) async fn delete_events(mut self, org: &OrgId) -> Result<u64, Error> {
        execute!(self.0, EVENTS, org.as_str(), BATCH)
    }

    /// Deletes the organization's own row, once nobody is a member and no mail waits; `false` while something is left.
    pub(crate) async fn finish(mut self, org: &OrgId) -> Result<bool, Error> {
        Ok(execute!(self.0, FINISH, org.as_str())? == 1)
    }
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use sqlx::{ConnectOptions, Row, sqlite::SqliteConnectOptions};

    use crate::store::{Sqlite, Store};

    /// Tables with rows of an organization that no batch deletes, and why.
    const OTHERS: [&str; 5] = [
        "tenant_auth_memberships",     // one by one, each with its account
        "tenant_auth_sessions",        // a few for each membership, with which they go
        "tenant_auth_pending_logins",  // likewise
        "tenant_auth_event_sequences", // one row, which goes with the organization's
        "tenant_auth_changes",         // the log of the last minutes, swept by its marks
    ];

    #[tokio::test]
    async fn every_table_of_an_organization_is_deleted_in_batches() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("removed.db");
        let store = Store::from(Sqlite::open(&path.display().to_string()).await.expect("opens"));
        store.migrate().await.expect("migrates");
        store.close().await;
        let mut connection = SqliteConnectOptions::new().filename(&path).connect().await.expect("a connection");
        let tables = "SELECT t.name AS name
                        FROM sqlite_master t JOIN pragma_table_info(t.name) c
                       WHERE t.type = 'table' AND t.name LIKE 'tenant_auth_%' AND c.name = 'org_id'";
        let tables = sqlx::query(tables).fetch_all(&mut connection).await.expect("the schema");
        let tables: Vec<String> = tables.iter().map(|row| row.get("name")).collect();
        assert!(tables.len() > OTHERS.len() + 10, "the walk sees nothing: {tables:?}");
        let is_deleted = |table: &str| {
            let beginning = format!("DELETE FROM {table} ");
            super::ALL.iter().any(|(_, sql)| sql.split_whitespace().collect::<Vec<_>>().join(" ").starts_with(&beginning))
        };
        let forgotten: Vec<_> = tables.iter().filter(|table| !is_deleted(table) && !OTHERS.contains(&table.as_str())).collect();
        assert!(forgotten.is_empty(), "a removal leaves these to one long statement: {forgotten:?}");
    }
}
