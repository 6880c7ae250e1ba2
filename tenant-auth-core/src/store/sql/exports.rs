//! What an export reads of an organization: its people, a page at a time in the order of their accounts' ids, and what the API never
//! shows: hashes, digests and sealed secrets.

use std::collections::HashMap;

use crate::{
    error::Error,
    id::{ApiKeyId, Id, OrgId, UserId, WebhookId},
    model::{AccountRole, Membership, Profile, Role, Status, User},
    secret::StoredPassword,
    store::{
        Link, Tx,
        dialect::{execute, fetch_all, fetch_optional, fetch_scalar, fetch_scalars, row, statements},
        sql::corrupt,
    },
    time::Timestamp,
    value::{Bio, DisplayName, Email, Metadata, Phone},
};

pub(crate) struct Exports<L>(pub(in crate::store) L);

statements! {
    MEMBERS = "
        SELECT u.id AS user_id, u.name AS name, u.email AS email, u.role AS account_role,
               u.is_email_verified AS is_email_verified, u.bio AS bio, u.phone AS phone, u.created_at AS created_at,
               u.password_hash AS password_hash,
               EXISTS (SELECT 1 FROM tenant_auth_memberships o WHERE o.user_id = m.user_id AND o.org_id <> m.org_id) AS is_elsewhere,
               m.id AS id, m.role AS role, m.status AS status, m.metadata AS metadata, m.joined_at AS joined_at,
               f.secret AS secret, f.enabled_at AS enabled_at, f.last_step AS last_step
          FROM tenant_auth_memberships m
          JOIN tenant_auth_users u ON u.id = m.user_id
          LEFT JOIN tenant_auth_second_factors f ON f.user_id = u.id AND f.enabled_at IS NOT NULL
         WHERE m.org_id = $1 AND m.user_id > $2
         ORDER BY m.user_id
         LIMIT $3";
    FORMER_IDS = "
        SELECT user_id, former_id
          FROM tenant_auth_linked_people
         WHERE org_id = $1 AND user_id > $2 AND user_id <= $3
         ORDER BY user_id, former_id";
    RECOVERY_CODES = "SELECT digest FROM tenant_auth_recovery_codes WHERE user_id = $1 ORDER BY digest";
    API_KEY_DIGEST = "SELECT digest FROM tenant_auth_api_keys WHERE org_id = $1 AND id = $2";
    WEBHOOK_SECRETS = "
        SELECT id, secret, created_at, expires_at
          FROM tenant_auth_webhook_secrets
         WHERE org_id = $1 AND webhook_id = $2 AND (expires_at IS NULL OR expires_at > $3)
         ORDER BY created_at, id";
    CHAIN = "
        SELECT sequence, chained, hash, last_at, first_sequence, first_previous
          FROM tenant_auth_event_sequences
         WHERE org_id = $1";
    // A row lock in the SQL of both engines: it changes nothing.
    HOLD_CHAIN = "UPDATE tenant_auth_event_sequences SET sequence = sequence WHERE org_id = $1";
    ENTRIES = "
        SELECT id, sequence, kind, created_at, COALESCE(actor_type, '') AS actor_type, actor_id, user_id, data, data_salt,
               COALESCE(data_digest, '') AS data_digest, context, context_salt, COALESCE(context_digest, '') AS context_digest,
               COALESCE(hash, '') AS hash
          FROM tenant_auth_events
         WHERE org_id = $1 AND sequence > $2
         ORDER BY sequence
         LIMIT $3";
}

row! {
    ExportedRow {
        user_id: String,
        name: String,
        email: String,
        account_role: String,
        is_email_verified: bool,
        bio: Option<String>,
        phone: Option<String>,
        created_at: i64,
        password_hash: String,
        is_elsewhere: bool,
        id: String,
        role: String,
        status: String,
        metadata: String,
        joined_at: i64,
        secret: Option<String>,
        enabled_at: Option<i64>,
        last_step: Option<i64>,
    }
}
row! {
    /// A webhook's signing secret; sealed.
    #[derive(Debug)]
    ExportedSecret {
        id: String,
        secret: String,
        created_at: i64,
        expires_at: Option<i64>,
    }
}

row! {
    /// The chain of an organization's audit log: its head, and where what is kept of it begins.
    #[derive(Debug)]
    ExportedChain {
        sequence: i64,
        chained: i64,
        hash: Option<String>,
        last_at: i64,
        first_sequence: i64,
        first_previous: Option<String>,
    }
}
row! {
    /// An entry of the audit log as it is stored.
    ExportedEntry {
        id: String,
        sequence: i64,
        kind: String,
        created_at: i64,
        actor_type: String,
        actor_id: Option<String>,
        user_id: Option<String>,
        data: Option<String>,
        data_salt: Option<String>,
        data_digest: String,
        context: Option<String>,
        context_salt: Option<String>,
        context_digest: String,
        hash: String,
    }
}

row! { FormerIdRow { user_id: String, former_id: String, } }

/// A person of an organization, whole.
#[derive(Debug)]
pub(crate) struct ExportedMember {
    pub(crate) user: User,
    pub(crate) created_at: Timestamp,
    pub(crate) password: StoredPassword,
    /// Whether the person belongs to another organization, too.
    pub(crate) is_elsewhere: bool,
    pub(crate) membership: Membership,
    /// The second factor that is in force.
    pub(crate) factor: Option<ExportedFactor>,
    /// By which ids the imported part of the log knows the person.
    pub(crate) former_ids: Vec<UserId>,
}

/// A second factor; the secret is sealed.
#[derive(Debug)]
pub(crate) struct ExportedFactor {
    pub(crate) sealed: String,
    pub(crate) enabled_at: Timestamp,
    /// The last time step that was used.
    pub(crate) last_step: i64,
}

impl ExportedMember {
    fn of(row: ExportedRow, org: &OrgId) -> Result<Self, Error> {
        let corrupt = |column| corrupt("memberships", column, &row.id);
        let user_id: UserId = Id::from_stored(row.user_id);
        let factor = row.secret.zip(row.enabled_at).zip(row.last_step);
        Ok(Self {
            membership: Membership {
                role: Role::parse(&row.role).ok_or_else(|| corrupt("role"))?,
                status: Status::parse(&row.status).ok_or_else(|| corrupt("status"))?,
                metadata: Metadata::from_stored(row.metadata).map_err(|_| corrupt("metadata"))?,
                joined_at: Timestamp::from_millis(row.joined_at),
                user_id: user_id.clone(),
                org_id: org.clone(),
                id: Id::from_stored(row.id.clone()),
            },
            user: User {
                role: AccountRole::parse(&row.account_role).ok_or_else(|| corrupt("account's role"))?,
                id: user_id,
                name: DisplayName::from_stored(row.name),
                email: Email::from_stored(row.email),
                is_email_verified: row.is_email_verified,
                profile: Profile { bio: row.bio.map(Bio::from_stored), phone: row.phone.map(Phone::from_stored) },
            },
            created_at: Timestamp::from_millis(row.created_at),
            password: StoredPassword::new(row.password_hash),
            is_elsewhere: row.is_elsewhere,
            former_ids: Vec::new(),
            factor: factor.map(|((sealed, enabled_at), last_step)| ExportedFactor {
                sealed,
                enabled_at: Timestamp::from_millis(enabled_at),
                last_step,
            }),
        })
    }
}

impl<L: Link> Exports<L> {
    /// Up to `limit` people after the one with this id.
    pub(crate) async fn members(mut self, org: &OrgId, after: &str, limit: i64) -> Result<Vec<ExportedMember>, Error> {
        let rows = fetch_all!(self.0, ExportedRow, MEMBERS, org.as_str(), after, limit)?;
        let Some(last) = rows.last().map(|row| row.user_id.clone()) else { return Ok(Vec::new()) };
        let mut former: HashMap<String, Vec<UserId>> = HashMap::new();
        for FormerIdRow { user_id, former_id } in fetch_all!(self.0, FormerIdRow, FORMER_IDS, org.as_str(), after, last)? {
            former.entry(user_id).or_default().push(Id::from_stored(former_id));
        }
        let whole = |row: ExportedRow| {
            let former_ids = former.remove(&row.user_id).unwrap_or_default();
            Ok(ExportedMember { former_ids, ..ExportedMember::of(row, org)? })
        };
        rows.into_iter().map(whole).collect()
    }

    /// The digests of a person's recovery codes.
    pub(crate) async fn recovery_codes(mut self, user: &UserId) -> Result<Vec<String>, Error> {
        fetch_scalars!(self.0, String, RECOVERY_CODES, user.as_str())
    }

    /// The digest of an API key.
    pub(crate) async fn api_key_digest(mut self, org: &OrgId, key: &ApiKeyId) -> Result<Option<String>, Error> {
        fetch_scalar!(self.0, String, API_KEY_DIGEST, org.as_str(), key.as_str())
    }

    /// The secrets that sign for a webhook now.
    pub(crate) async fn webhook_secrets(
        mut self,
        org: &OrgId,
        webhook: &WebhookId,
        now: Timestamp,
    ) -> Result<Vec<ExportedSecret>, Error> {
        fetch_all!(self.0, ExportedSecret, WEBHOOK_SECRETS, org.as_str(), webhook.as_str(), now.millis())
    }

    /// The chain of the audit log; `None` when the organization is gone.
    pub(crate) async fn chain(mut self, org: &OrgId) -> Result<Option<ExportedChain>, Error> {
        fetch_optional!(self.0, ExportedChain, CHAIN, org.as_str())
    }

    /// Up to `limit` entries after this number.
    pub(crate) async fn entries(mut self, org: &OrgId, after: i64, limit: i64) -> Result<Vec<ExportedEntry>, Error> {
        fetch_all!(self.0, ExportedEntry, ENTRIES, org.as_str(), after, limit)
    }
}

impl Exports<&mut Tx> {
    /// Locks the end of the audit log: no event of the organization is committed before this transaction ends.
    pub(crate) async fn hold_chain(mut self, org: &OrgId) -> Result<(), Error> {
        execute!(self.0, HOLD_CHAIN, org.as_str()).map(drop)
    }
}
