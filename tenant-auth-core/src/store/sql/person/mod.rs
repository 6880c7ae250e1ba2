//! What is kept about a person, by the id of the account or the address: read for the person's own export, which holds no secrets.

use crate::{
    error::Error,
    id::{OrgId, UserId},
    store::{
        Link,
        dialect::{fetch_all, fetch_optional, row, statements},
    },
    value::Email,
};

pub(crate) struct Person<L>(pub(in crate::store) L);

statements! {
    ACCOUNT = "
        SELECT id, name, email, role, is_email_verified, bio, phone, language, password_hash, foreign_scheme, created_at
          FROM tenant_auth_users
         WHERE email_key = $1";
    SECOND_FACTOR = "
        SELECT enabled_at, created_at,
               (SELECT COUNT(*) FROM tenant_auth_recovery_codes WHERE user_id = $1) AS recovery_codes
          FROM tenant_auth_second_factors
         WHERE user_id = $1";
    FORMER_IDS = "
        SELECT o.slug AS org, l.former_id AS id
          FROM tenant_auth_linked_people l
          JOIN tenant_auth_organizations o ON o.id = l.org_id
         WHERE l.user_id = $1
         ORDER BY l.org_id, l.former_id";
    MEMBERSHIPS = "
        SELECT o.slug AS org, m.id AS id, m.role AS role, m.status AS status, m.metadata AS metadata, m.joined_at AS joined_at
          FROM tenant_auth_memberships m
          JOIN tenant_auth_organizations o ON o.id = m.org_id
         WHERE m.user_id = $1
         ORDER BY m.org_id";
    SESSIONS = "
        SELECT o.slug AS org, s.id AS id, s.amr AS amr, s.auth_time AS auth_time, s.refreshed_at AS refreshed_at,
               s.last_used_at AS last_used_at, s.idle_until AS idle_until, s.expires_at AS expires_at, s.ip AS ip,
               s.user_agent AS user_agent
          FROM tenant_auth_sessions s
          JOIN tenant_auth_organizations o ON o.id = s.org_id
         WHERE s.user_id = $1
         ORDER BY s.auth_time, s.id";
    WAITING_LOGINS = "
        SELECT o.slug AS org, p.id AS id, p.method AS method, p.attempts AS attempts, p.ip AS ip, p.user_agent AS user_agent,
               p.created_at AS created_at, p.expires_at AS expires_at
          FROM tenant_auth_memberships m
          JOIN tenant_auth_pending_logins p ON p.org_id = m.org_id AND p.user_id = m.user_id
          JOIN tenant_auth_organizations o ON o.id = m.org_id
         WHERE m.user_id = $1
         ORDER BY p.created_at, p.id";
    LINKS = "
        SELECT o.slug AS org, l.purpose AS purpose, l.email AS email, l.created_at AS created_at, l.expires_at AS expires_at
          FROM tenant_auth_links l
          JOIN tenant_auth_organizations o ON o.id = l.org_id
         WHERE l.user_id = $1
         ORDER BY l.created_at, l.id";
    RESET_REQUESTS = "
        SELECT o.slug AS org, r.email AS email, r.language AS language, r.created_at AS created_at
          FROM tenant_auth_organizations o
          JOIN tenant_auth_reset_requests r ON r.org_id = o.id AND r.email_key = $1
         ORDER BY r.created_at, o.id";
    SIGN_UPS = "
        SELECT email, language, created_at, 0 AS expires_at
          FROM tenant_auth_sign_up_requests
         WHERE email_key = $1
         UNION ALL
        SELECT email, NULL AS language, created_at, expires_at
          FROM tenant_auth_sign_up_links
         WHERE email_key = $1
         ORDER BY 3, 4";
    INVITES_TO = "
        SELECT o.slug AS org, i.id AS id, i.email AS email, i.role AS role, i.metadata AS metadata, i.created_at AS created_at,
               i.expires_at AS expires_at
          FROM tenant_auth_organizations o
          JOIN tenant_auth_invites i ON i.org_id = o.id AND i.email_key = $1 AND i.expires_at > 0
         ORDER BY i.created_at, i.id";
    // The three of them without whom or what they are about: that is somebody else's.
    INVITES_BY = "
        SELECT o.slug AS org, i.id AS id, i.created_at AS created_at
          FROM tenant_auth_invites i
          JOIN tenant_auth_organizations o ON o.id = i.org_id
         WHERE i.invited_by = $1
         ORDER BY i.created_at, i.id";
    API_KEYS_BY = "
        SELECT o.slug AS org, k.id AS id, k.created_at AS created_at
          FROM tenant_auth_api_keys k
          JOIN tenant_auth_organizations o ON o.id = k.org_id
         WHERE k.created_by = $1
         ORDER BY k.created_at, k.id";
    WEBHOOKS_BY = "
        SELECT o.slug AS org, w.id AS id, w.created_at AS created_at
          FROM tenant_auth_webhooks w
          JOIN tenant_auth_organizations o ON o.id = w.org_id
         WHERE w.created_by = $1 AND w.status <> 'deleted'
         ORDER BY w.created_at, w.id";
    ENTRIES_ABOUT = "
        SELECT id, sequence, kind, created_at, COALESCE(actor_type, '') AS actor_type, actor_id, user_id, data, context
          FROM tenant_auth_events
         WHERE org_id = $1 AND user_id = $2 AND sequence > $3
         ORDER BY user_id, sequence
         LIMIT $4";
    ENTRIES_BY = "
        SELECT id, sequence, kind, created_at, COALESCE(actor_type, '') AS actor_type, actor_id, user_id, data, context
          FROM tenant_auth_events
         WHERE org_id = $1 AND actor_id = $2 AND sequence > $3
         ORDER BY actor_id, sequence
         LIMIT $4";
    ENTRY = "
        SELECT id, sequence, kind, created_at, COALESCE(actor_type, '') AS actor_type, actor_id, user_id, data, context
          FROM tenant_auth_events
         WHERE id = $1";
    DEPLOYMENT_ENTRIES = "
        SELECT id, sequence, kind, created_at, actor_type, actor_id, user_id, data, 'null' AS context
          FROM tenant_auth_deployment_entries
         WHERE (actor_id = $1 OR user_id = $1) AND sequence > $2
         ORDER BY sequence
         LIMIT $3";
    // Counters are found by the account, by the digest of its address, and by keys that end with either. Few are kept for long.
    COUNTERS = "
        SELECT key, failures, window_ends_at, blocked_until, forget_at
          FROM tenant_auth_throttles
         WHERE subject = $1 OR subject = $2 OR key LIKE '%:' || $1 OR key LIKE '%:' || $2
         ORDER BY key";
    NETWORKS = "
        SELECT ip_key, last_login_at
          FROM tenant_auth_known_addresses
         WHERE account_key = $1
         ORDER BY ip_key";
    // Waiting mails are few; whom one is for stands in its sealed content.
    MAILS = "
        SELECT m.id AS id, m.org_id AS org_id, o.slug AS org, m.kind AS kind, COALESCE(m.content, '') AS content, m.status AS status,
               m.attempts AS attempts, m.created_at AS created_at, m.useless_after AS useless_after
          FROM tenant_auth_mails m
          JOIN tenant_auth_organizations o ON o.id = m.org_id
         WHERE m.id > $1 AND m.content IS NOT NULL AND (m.recipient_domain IS NULL OR m.recipient_domain = $2)
         ORDER BY m.id
         LIMIT $3";
}

row! {
    PersonAccount {
        id: String,
        name: String,
        email: String,
        role: String,
        is_email_verified: bool,
        bio: Option<String>,
        phone: Option<String>,
        language: Option<String>,
        password_hash: String,
        foreign_scheme: Option<String>,
        created_at: i64,
    }
}
row! { PersonFactor { enabled_at: Option<i64>, created_at: i64, recovery_codes: i64, } }
row! { PersonFormerId { org: String, id: String, } }
row! { PersonMembership { org: String, id: String, role: String, status: String, metadata: String, joined_at: i64, } }
row! {
    PersonSession {
        org: String,
        id: String,
        amr: String,
        auth_time: i64,
        refreshed_at: i64,
        last_used_at: i64,
        idle_until: i64,
        expires_at: i64,
        ip: Option<String>,
        user_agent: Option<String>,
    }
}
row! {
    PersonLogin {
        org: String,
        id: String,
        method: String,
        attempts: i64,
        ip: Option<String>,
        user_agent: Option<String>,
        created_at: i64,
        expires_at: i64,
    }
}
row! { PersonLink { org: String, purpose: String, email: String, created_at: i64, expires_at: i64, } }
row! { PersonReset { org: String, email: String, language: Option<String>, created_at: i64, } }
row! { PersonSignUp { email: String, language: Option<String>, created_at: i64, expires_at: i64, } }
row! {
    PersonInvite {
        org: String,
        id: String,
        email: String,
        role: String,
        metadata: Option<String>,
        created_at: i64,
        expires_at: i64,
    }
}
row! {
    /// Something that a person made.
    PersonDeed { org: String, id: String, created_at: i64, }
}
row! {
    PersonEntry {
        id: String,
        sequence: i64,
        kind: String,
        created_at: i64,
        actor_type: String,
        actor_id: Option<String>,
        user_id: Option<String>,
        data: Option<String>,
        context: Option<String>,
    }
}
row! { PersonCounter { key: String, failures: i64, window_ends_at: i64, blocked_until: i64, forget_at: i64, } }
row! { PersonNetwork { ip_key: String, last_login_at: i64, } }
row! {
    PersonMail {
        id: String,
        org_id: String,
        org: String,
        kind: String,
        content: String,
        status: String,
        attempts: i64,
        created_at: i64,
        useless_after: i64,
    }
}

/// How many rows are read at once.
const PAGE: i64 = 500;

/// What a person made.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Deed {
    Invite,
    ApiKey,
    Webhook,
}

impl<L: Link> Person<L> {
    pub(crate) async fn account(mut self, email: &Email) -> Result<Option<PersonAccount>, Error> {
        fetch_optional!(self.0, PersonAccount, ACCOUNT, email.key())
    }

    pub(crate) async fn factor(mut self, user: &UserId) -> Result<Option<PersonFactor>, Error> {
        fetch_optional!(self.0, PersonFactor, SECOND_FACTOR, user.as_str())
    }

    /// By which ids imported logs know the person.
    pub(crate) async fn former_ids(mut self, user: &UserId) -> Result<Vec<PersonFormerId>, Error> {
        fetch_all!(self.0, PersonFormerId, FORMER_IDS, user.as_str())
    }

    pub(crate) async fn memberships(mut self, user: &UserId) -> Result<Vec<PersonMembership>, Error> {
        fetch_all!(self.0, PersonMembership, MEMBERSHIPS, user.as_str())
    }

    pub(crate) async fn sessions(mut self, user: &UserId) -> Result<Vec<PersonSession>, Error> {
        fetch_all!(self.0, PersonSession, SESSIONS, user.as_str())
    }

    /// Logins that wait for the second factor.
    pub(crate) async fn waiting_logins(mut self, user: &UserId) -> Result<Vec<PersonLogin>, Error> {
        fetch_all!(self.0, PersonLogin, WAITING_LOGINS, user.as_str())
    }

    pub(crate) async fn links(mut self, user: &UserId) -> Result<Vec<PersonLink>, Error> {
        fetch_all!(self.0, PersonLink, LINKS, user.as_str())
    }

    pub(crate) async fn reset_requests(mut self, email: &Email) -> Result<Vec<PersonReset>, Error> {
        fetch_all!(self.0, PersonReset, RESET_REQUESTS, email.key())
    }

    /// Wishes for a link to sign up with, whose end is 0, and such links.
    pub(crate) async fn sign_ups(mut self, email: &Email) -> Result<Vec<PersonSignUp>, Error> {
        fetch_all!(self.0, PersonSignUp, SIGN_UPS, email.key())
    }

    pub(crate) async fn invites_to(mut self, email: &Email) -> Result<Vec<PersonInvite>, Error> {
        fetch_all!(self.0, PersonInvite, INVITES_TO, email.key())
    }

    /// What the person made of a kind.
    pub(crate) async fn made(mut self, deed: Deed, user: &UserId) -> Result<Vec<PersonDeed>, Error> {
        match deed {
            Deed::Invite => fetch_all!(self.0, PersonDeed, INVITES_BY, user.as_str()),
            Deed::ApiKey => fetch_all!(self.0, PersonDeed, API_KEYS_BY, user.as_str()),
            Deed::Webhook => fetch_all!(self.0, PersonDeed, WEBHOOKS_BY, user.as_str()),
        }
    }

    /// Some of an organization's events about the user, those after a number.
    pub(crate) async fn entries_about(mut self, org: &OrgId, user: &UserId, after: i64) -> Result<Vec<PersonEntry>, Error> {
        fetch_all!(self.0, PersonEntry, ENTRIES_ABOUT, org.as_str(), user.as_str(), after, PAGE)
    }

    /// Some of an organization's events that the user caused, those after a number.
    pub(crate) async fn entries_by(mut self, org: &OrgId, user: &UserId, after: i64) -> Result<Vec<PersonEntry>, Error> {
        fetch_all!(self.0, PersonEntry, ENTRIES_BY, org.as_str(), user.as_str(), after, PAGE)
    }

    /// Entries of the deployment's own log about a person, or about what the person did.
    pub(crate) async fn deployment_entries(mut self, user: &UserId, after: i64) -> Result<Vec<PersonEntry>, Error> {
        fetch_all!(self.0, PersonEntry, DEPLOYMENT_ENTRIES, user.as_str(), after, PAGE)
    }

    pub(crate) async fn entry(mut self, id: &str) -> Result<Option<PersonEntry>, Error> {
        fetch_optional!(self.0, PersonEntry, ENTRY, id)
    }

    /// The counters of a digest of an address and of the account.
    pub(crate) async fn counters(mut self, account_key: &str, user: &str) -> Result<Vec<PersonCounter>, Error> {
        fetch_all!(self.0, PersonCounter, COUNTERS, account_key, user)
    }

    /// The networks from which the account logged in.
    pub(crate) async fn networks(mut self, account_key: &str) -> Result<Vec<PersonNetwork>, Error> {
        fetch_all!(self.0, PersonNetwork, NETWORKS, account_key)
    }

    /// Some waiting mails to a domain, those after an id; mails of an older version to whomever.
    pub(crate) async fn mails(mut self, after: &str, domain: &str) -> Result<Vec<PersonMail>, Error> {
        fetch_all!(self.0, PersonMail, MAILS, after, domain, PAGE)
    }
}

#[cfg(all(test, feature = "sqlite"))]
mod tests;
