//! What an import writes: rows with the ids they had. A row whose id or address is taken is not written, and the import is told so.

use crate::{
    error::Error,
    id::{Id, OrgId, UserId},
    model::{ApiKey, User, Webhook},
    ports::ForeignCost,
    secret::{Digest, StoredPassword},
    store::{
        Tx,
        dialect::{execute, fetch_all, fetch_scalar, fetch_scalars, row, statements},
        sql::{
            exports::{ExportedChain, ExportedEntry},
            invites::NewInvite,
        },
    },
    time::Timestamp,
    value::{Bio, Phone},
};

pub(crate) struct Imports<L>(pub(in crate::store) L);

statements! {
    INSERT_USER = "
        INSERT INTO tenant_auth_users
               (id, name, email, email_key, role, is_email_verified, bio, phone, password_hash, epoch, created_at,
                foreign_scheme, foreign_cost)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 1, $10, $11, $12)
        ON CONFLICT DO NOTHING";
    ARRIVED = "
        SELECT m.user_id AS user_id, u.email AS email
          FROM tenant_auth_memberships m
          JOIN tenant_auth_users u ON u.id = m.user_id
         WHERE m.org_id = $1 AND m.user_id > $2
         ORDER BY m.user_id
         LIMIT 100";
    END_OF_ORGANIZATIONS = "
        SELECT id
          FROM (SELECT id FROM tenant_auth_organizations WHERE id > $1 ORDER BY id LIMIT 1000) AS page
         ORDER BY id DESC
         LIMIT 1";
    // Of these members, those of whom another organization's log tells, where nobody had an account of that id. The organizations of a page are
    // gone through once for the hundred, and each log is asked by its index. For all organizations at once that would take too long for PostgreSQL.
    KNOWN_ELSEWHERE = "
          WITH arrived AS (
                   SELECT user_id FROM tenant_auth_memberships WHERE org_id = $1 AND user_id > $2 ORDER BY user_id LIMIT 100
               )
        SELECT l.former_id AS user_id
          FROM arrived n
          JOIN tenant_auth_linked_people l ON l.former_id = n.user_id
         UNION
        SELECT n.user_id
          FROM tenant_auth_organizations o
         CROSS JOIN arrived n
         WHERE o.id > $3 AND o.id <= $4 AND o.id <> $1
           AND (EXISTS (SELECT 1 FROM tenant_auth_events e WHERE e.org_id = o.id AND e.user_id = n.user_id)
                OR EXISTS (SELECT 1 FROM tenant_auth_events e WHERE e.org_id = o.id AND e.actor_id = n.user_id))";
    IS_FORMER_ORGANIZATION = "SELECT COUNT(*) AS number FROM tenant_auth_former_slugs WHERE id = $1";
    INSERT_FACTOR = "
        INSERT INTO tenant_auth_second_factors (user_id, secret, enabled_at, last_step, created_at)
        VALUES ($1, $2, $3, $4, $3)
        ON CONFLICT DO NOTHING";
    INSERT_KEY = "
        INSERT INTO tenant_auth_api_keys
               (id, org_id, name, digest, prefix, last_four, scopes, created_by, created_at, expires_at, last_used_at, replaced_by)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
        ON CONFLICT DO NOTHING";
    DOUBT_SUCCESSORS = "
        UPDATE tenant_auth_api_keys
           SET replaced_by = NULL
         WHERE org_id = $1
           AND replaced_by IS NOT NULL
           AND (expires_at IS NULL
                OR replaced_by = id
                OR NOT EXISTS (SELECT 1 FROM tenant_auth_api_keys s WHERE s.org_id = $1 AND s.id = tenant_auth_api_keys.replaced_by))";
    STANDING_KEYS = "SELECT COUNT(*) AS number FROM tenant_auth_api_keys WHERE org_id = $1 AND replaced_by IS NULL";
    INSERT_WEBHOOK = "
        INSERT INTO tenant_auth_webhooks (id, org_id, url, events, description, status, created_by, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        ON CONFLICT DO NOTHING";
    INSERT_SECRET = "
        INSERT INTO tenant_auth_webhook_secrets (id, org_id, webhook_id, secret, created_at, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6)";
    INSERT_INVITE = "
        INSERT INTO tenant_auth_invites
               (id, org_id, email, email_key, role, token_digest, invited_by, mail_id, created_at, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        ON CONFLICT DO NOTHING";
    INSERT_ENTRY = "
        INSERT INTO tenant_auth_events
               (org_id, id, sequence, kind, created_at, actor_type, actor_id, user_id, data, data_salt, data_digest, context,
                context_salt, context_digest, hash)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
        ON CONFLICT DO NOTHING";
    INSERT_LINKED = "
        INSERT INTO tenant_auth_linked_people (org_id, former_id, user_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
    SET_CHAIN = "
        UPDATE tenant_auth_event_sequences
           SET sequence = $2, chained = $2, hash = $3, last_at = $4, first_sequence = $5, first_previous = $6
         WHERE org_id = $1";
}

row! {
    /// A member whom an import brought.
    ArrivedMember {
        user_id: String,
        email: String,
    }
}

/// An account to import.
pub(crate) struct ImportedAccount<'a> {
    pub(crate) user: &'a User,
    pub(crate) password: &'a StoredPassword,
    /// What the password's hash costs, where that is more than a hash of ours or another system's.
    pub(crate) cost: Option<ForeignCost>,
    pub(crate) created_at: Timestamp,
}

/// A second factor to import; the secret is sealed.
pub(crate) struct ImportedFactor<'a> {
    pub(crate) user: &'a UserId,
    pub(crate) sealed: &'a str,
    pub(crate) enabled_at: Timestamp,
    pub(crate) last_step: i64,
}

/// A webhook's secret to import, sealed.
pub(crate) struct ImportedSecret<'a> {
    pub(crate) webhook: &'a Webhook,
    pub(crate) id: &'a str,
    pub(crate) sealed: &'a str,
    pub(crate) created_at: Timestamp,
    pub(crate) expires_at: Option<Timestamp>,
}

impl Imports<&mut Tx> {
    /// Up to a hundred members after this one, in the order of their ids.
    pub(crate) async fn arrived(mut self, org: &OrgId, after: &str) -> Result<Vec<ArrivedMember>, Error> {
        fetch_all!(self.0, ArrivedMember, ARRIVED, org.as_str(), after)
    }

    /// The last of the thousand organizations after this one, in the order of their ids; `None` when there are none.
    pub(crate) async fn end_of_organizations(mut self, after: &str) -> Result<Option<String>, Error> {
        fetch_scalar!(self.0, String, END_OF_ORGANIZATIONS, after)
    }

    /// Whom of the members that [`Self::arrived`] returns the log of another organization knows, of those after the first bound and up to the
    /// second.
    pub(crate) async fn known_elsewhere(mut self, org: &OrgId, after: &str, others: (&str, &str)) -> Result<Vec<String>, Error> {
        let (above, upto) = others;
        fetch_scalars!(self.0, String, KNOWN_ELSEWHERE, org.as_str(), after, above, upto)
    }

    /// How many API keys were not rotated.
    pub(crate) async fn standing_keys(mut self, org: &OrgId) -> Result<u64, Error> {
        Ok(fetch_scalar!(self.0, i64, STANDING_KEYS, org.as_str())?.unwrap_or(0).unsigned_abs())
    }

    /// Whether an organization that was removed, and whose slug was not released, had the id.
    pub(crate) async fn had_organization(mut self, org: &OrgId) -> Result<bool, Error> {
        Ok(fetch_scalar!(self.0, i64, IS_FORMER_ORGANIZATION, org.as_str())?.unwrap_or(0) > 0)
    }

    /// `false` when there is an account with this id or address.
    pub(crate) async fn account(mut self, account: &ImportedAccount<'_>) -> Result<bool, Error> {
        let ImportedAccount { user, password, cost, created_at } = account;
        let units = cost.map(|cost| i64::try_from(cost.units)).transpose().map_err(Error::internal)?;
        let inserted = execute!(
            self.0,
            INSERT_USER,
            user.id.as_str(),
            user.name.as_str(),
            user.email.as_str(),
            user.email.key(),
            user.role.as_str(),
            user.is_email_verified,
            user.profile.bio.as_ref().map(Bio::as_str),
            user.profile.phone.as_ref().map(Phone::as_str),
            password.as_str(),
            created_at.millis(),
            cost.map(|cost| cost.scheme.as_str()),
            units
        )?;
        Ok(inserted == 1)
    }

    pub(crate) async fn factor(mut self, factor: &ImportedFactor<'_>) -> Result<(), Error> {
        let ImportedFactor { user, sealed, enabled_at, last_step } = factor;
        execute!(self.0, INSERT_FACTOR, user.as_str(), *sealed, enabled_at.millis(), *last_step)?;
        Ok(())
    }

    /// `false` when there is a key with this id.
    pub(crate) async fn api_key(mut self, key: &ApiKey, digest: &Digest) -> Result<bool, Error> {
        let scopes = key.scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(" ");
        let inserted = execute!(
            self.0,
            INSERT_KEY,
            key.id.as_str(),
            key.org_id.as_str(),
            key.name.as_str(),
            digest.as_str(),
            key.prefix.as_str(),
            key.last_four.as_str(),
            scopes.as_str(),
            key.created_by.as_ref().map(Id::as_str),
            key.created_at.millis(),
            key.expires_at.map(Timestamp::millis),
            key.last_used_at.map(Timestamp::millis),
            key.replaced_by.as_ref().map(Id::as_str)
        )?;
        Ok(inserted == 1)
    }

    /// Lets no key count as replaced but one that ends, and by another of the organization: whoever rotates a key ends those that it
    /// replaced.
    pub(crate) async fn doubt_successors(mut self, org: &OrgId) -> Result<(), Error> {
        execute!(self.0, DOUBT_SUCCESSORS, org.as_str())?;
        Ok(())
    }

    /// `false` when there is a webhook with this id.
    pub(crate) async fn webhook(mut self, webhook: &Webhook) -> Result<bool, Error> {
        let inserted = execute!(
            self.0,
            INSERT_WEBHOOK,
            webhook.id.as_str(),
            webhook.org_id.as_str(),
            webhook.url.as_str(),
            webhook.events.to_stored().as_str(),
            webhook.description.as_str(),
            webhook.status.as_str(),
            webhook.created_by.as_ref().map(Id::as_str),
            webhook.created_at.millis()
        )?;
        Ok(inserted == 1)
    }

    pub(crate) async fn webhook_secret(mut self, secret: &ImportedSecret<'_>) -> Result<(), Error> {
        let ImportedSecret { webhook, id, sealed, created_at, expires_at } = secret;
        execute!(
            self.0,
            INSERT_SECRET,
            *id,
            webhook.org_id.as_str(),
            webhook.id.as_str(),
            *sealed,
            created_at.millis(),
            expires_at.map(Timestamp::millis)
        )?;
        Ok(())
    }

    /// `false` when there is an invite with this id, or one to this address.
    pub(crate) async fn invite(mut self, new: &NewInvite<'_>) -> Result<bool, Error> {
        let NewInvite { invite, digest, mail_id } = new;
        let inserted = execute!(
            self.0,
            INSERT_INVITE,
            invite.id.as_str(),
            invite.org_id.as_str(),
            invite.email.as_str(),
            invite.email.key(),
            invite.role.as_str(),
            digest.as_str(),
            invite.invited_by.as_ref().map(Id::as_str),
            mail_id.as_str(),
            invite.created_at.millis(),
            invite.expires_at.millis()
        )?;
        Ok(inserted == 1)
    }

    /// `false` when there is an event with this id.
    pub(crate) async fn entry(mut self, org: &OrgId, entry: &ExportedEntry) -> Result<bool, Error> {
        let inserted = execute!(
            self.0,
            INSERT_ENTRY,
            org.as_str(),
            entry.id.as_str(),
            entry.sequence,
            entry.kind.as_str(),
            entry.created_at,
            entry.actor_type.as_str(),
            entry.actor_id.as_deref(),
            entry.user_id.as_deref(),
            entry.data.as_deref(),
            entry.data_salt.as_deref(),
            entry.data_digest.as_str(),
            entry.context.as_deref(),
            entry.context_salt.as_deref(),
            entry.context_digest.as_str(),
            entry.hash.as_str()
        )?;
        Ok(inserted == 1)
    }

    /// Notes by which id the organization's log knows somebody who has an account here.
    pub(crate) async fn linked_person(mut self, org: &OrgId, former: &UserId, account: &UserId) -> Result<(), Error> {
        execute!(self.0, INSERT_LINKED, org.as_str(), former.as_str(), account.as_str()).map(drop)
    }

    /// Lets the organization's next event follow on this chain.
    pub(crate) async fn chain(mut self, org: &OrgId, chain: &ExportedChain) -> Result<(), Error> {
        execute!(
            self.0,
            SET_CHAIN,
            org.as_str(),
            chain.sequence,
            chain.hash.as_deref(),
            chain.last_at,
            chain.first_sequence,
            chain.first_previous.as_deref()
        )?;
        Ok(())
    }
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use sqlx::{ConnectOptions, Row, sqlite::SqliteConnectOptions};

    use crate::store::{Sqlite, Store};

    #[tokio::test]
    async fn other_organizations_are_gone_through_once_for_many_members() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("imports.db");
        let store = Store::from(Sqlite::open(&path.display().to_string()).await.expect("opens"));
        store.migrate().await.expect("migrates");
        store.close().await;
        let mut connection = SqliteConnectOptions::new().filename(&path).connect().await.expect("a connection");
        let plan = sqlx::query(sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {}", super::KNOWN_ELSEWHERE)));
        let steps = plan.fetch_all(&mut connection).await.expect("a plan");
        let steps: Vec<String> = steps.iter().map(|step| step.get("detail")).collect();
        let of = |start: &str| steps.iter().filter(|step| step.starts_with(start)).count();
        assert_eq!((of("SCAN o"), of("SEARCH o "), of("SCAN e"), of("SEARCH e "), of("SCAN l")), (0, 1, 0, 2, 0), "{steps:#?}");
        let outer = steps.iter().position(|step| step.starts_with("SEARCH o ")).expect("it is there");
        assert!(steps[outer].ends_with("(id>? AND id<?)"), "no more than a page: {steps:#?}");
        assert_eq!(steps[outer + 1], "SCAN n", "{steps:#?}");
    }
}
