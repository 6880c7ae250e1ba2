//! The records of an export, one JSON object a line in a fixed order: head, organization, members, pending invites, API keys,
//! webhooks, entries of the audit log, end. The end counts the others, so that a part of a file is told from a whole one. A file is untrusted input: each field is
//! a checked value, read by the parser that reads it in a request.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::entry::EntryRecord;
use crate::{
    id::{ApiKeyId, InviteId, MembershipId, OrgId, UserId, WebhookId},
    model::{ApiKey, EventSelection, Invite, Organization, Role, Scope, Status, Webhook, WebhookStatus},
    store::{ExportedChain, ExportedMember},
    time::Timestamp,
    value::{AppUrl, Bio, Description, DisplayName, Email, Metadata, Origin, Phone, Plan, Slug, WebhookUrl},
};

/// The password of no account, whose hash tells which pepper the others were made with.
pub(super) const PROBE: &str = "the probe of an export";

/// The format of the records.
pub(super) const FORMAT: &str = "tenant-auth-organization/1";

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Record {
    Head(Head),
    Organization(OrganizationRecord),
    Member(Box<MemberRecord>),
    Invite(InviteRecord),
    ApiKey(ApiKeyRecord),
    Webhook(WebhookRecord),
    Entry(Box<EntryRecord>),
    End(End),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Head {
    pub(super) format: String,
    pub(super) exported_at: Timestamp,
    /// Whether what opens anything was left out.
    pub(super) is_portable: bool,
    /// Whether the organization was suspended at that moment, so that nothing changes behind the file's back.
    pub(super) is_closed: bool,
    /// The hash of [`PROBE`]: whether the source's pepper is one of the target's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) probe: Option<String>,
    /// The same with each former pepper of the source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) former_probes: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct OrganizationRecord {
    pub(super) id: OrgId,
    pub(super) name: DisplayName,
    pub(super) slug: Slug,
    pub(super) plan: Plan,
    pub(super) status: Status,
    pub(super) app_url: Option<AppUrl>,
    pub(super) allowed_origins: Vec<Origin>,
    pub(super) created_at: Timestamp,
    pub(super) chain: ChainRecord,
}

/// The audit log's chain: its head, which the next entry follows on, and where what is kept of it begins.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ChainRecord {
    /// The number of the last entry.
    pub(super) last_sequence: i64,
    /// Its hash; none before the first entry.
    pub(super) head: Option<String>,
    pub(super) last_at: Timestamp,
    pub(super) first_sequence: i64,
    /// The hash before the first entry that is kept; none at the beginning.
    pub(super) previous: Option<String>,
}

impl OrganizationRecord {
    pub(super) fn of(org: &Organization, chain: ExportedChain) -> Self {
        Self {
            id: org.id.clone(),
            name: org.name.clone(),
            slug: org.slug.clone(),
            plan: org.plan.clone(),
            status: org.status,
            app_url: org.app_url.clone(),
            allowed_origins: org.allowed_origins.clone(),
            created_at: org.created_at,
            chain: ChainRecord {
                last_sequence: chain.sequence,
                head: chain.hash,
                last_at: Timestamp::from_millis(chain.last_at),
                first_sequence: chain.first_sequence,
                previous: chain.first_previous,
            },
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct MemberRecord {
    pub(super) user: UserRecord,
    pub(super) membership: MembershipRecord,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) credentials: Option<Credentials>,
    /// By which ids the log of a deployment before knows the person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) former_ids: Vec<UserId>,
}

/// What opens an account.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Credentials {
    /// The hash as it is stored; none where no password opens the account.
    pub(super) password: Option<String>,
    pub(super) second_factor: Option<SecondFactor>,
    /// Digests.
    pub(super) recovery_codes: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SecondFactor {
    /// Base64.
    pub(super) secret: String,
    pub(super) enabled_at: Timestamp,
    /// The last time step that was used: no code is good twice, here and there.
    pub(super) last_step: i64,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[credentials]")
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct UserRecord {
    pub(super) id: UserId,
    pub(super) name: DisplayName,
    pub(super) email: Email,
    pub(super) is_email_verified: bool,
    pub(super) bio: Option<Bio>,
    pub(super) phone: Option<Phone>,
    pub(super) created_at: Timestamp,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct MembershipRecord {
    pub(super) id: MembershipId,
    pub(super) role: Role,
    pub(super) status: Status,
    pub(super) metadata: Metadata,
    pub(super) joined_at: Timestamp,
}

impl MemberRecord {
    pub(super) fn of(member: ExportedMember, credentials: Option<Credentials>) -> Self {
        let ExportedMember { user, created_at, membership, former_ids, .. } = member;
        Self {
            credentials,
            former_ids,
            user: UserRecord {
                id: user.id,
                name: user.name,
                email: user.email,
                is_email_verified: user.is_email_verified,
                bio: user.profile.bio,
                phone: user.profile.phone,
                created_at,
            },
            membership: MembershipRecord {
                id: membership.id,
                role: membership.role,
                status: membership.status,
                metadata: membership.metadata,
                joined_at: membership.joined_at,
            },
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct InviteRecord {
    pub(super) id: InviteId,
    pub(super) email: Email,
    pub(super) role: Role,
    pub(super) invited_by: Option<UserId>,
    pub(super) created_at: Timestamp,
    pub(super) expires_at: Timestamp,
    /// What waits for the person from the deployment before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) metadata: Option<Metadata>,
}

impl InviteRecord {
    pub(super) fn of(invite: &Invite, metadata: Option<Metadata>) -> Self {
        Self {
            metadata,
            id: invite.id.clone(),
            email: invite.email.clone(),
            role: invite.role,
            invited_by: invite.invited_by.clone(),
            created_at: invite.created_at,
            expires_at: invite.expires_at,
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ApiKeyRecord {
    pub(super) id: ApiKeyId,
    pub(super) name: DisplayName,
    pub(super) prefix: String,
    pub(super) last_four: String,
    pub(super) scopes: Vec<Scope>,
    pub(super) created_by: Option<UserId>,
    pub(super) created_at: Timestamp,
    pub(super) expires_at: Option<Timestamp>,
    pub(super) last_used_at: Option<Timestamp>,
    pub(super) replaced_by: Option<ApiKeyId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) digest: Option<String>,
}

impl ApiKeyRecord {
    pub(super) fn of(key: &ApiKey, digest: Option<String>) -> Self {
        Self {
            id: key.id.clone(),
            name: key.name.clone(),
            prefix: key.prefix.clone(),
            last_four: key.last_four.clone(),
            scopes: key.scopes.clone(),
            created_by: key.created_by.clone(),
            created_at: key.created_at,
            expires_at: key.expires_at,
            last_used_at: key.last_used_at,
            replaced_by: key.replaced_by.clone(),
            digest,
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct WebhookRecord {
    pub(super) id: WebhookId,
    pub(super) url: WebhookUrl,
    pub(super) events: EventSelection,
    pub(super) description: Description,
    pub(super) status: WebhookStatus,
    pub(super) created_by: Option<UserId>,
    pub(super) created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) secrets: Option<Vec<WebhookSecret>>,
}

/// A secret that signs deliveries.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct WebhookSecret {
    pub(super) secret: String,
    pub(super) created_at: Timestamp,
    pub(super) expires_at: Option<Timestamp>,
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[webhook secret]")
    }
}

impl WebhookRecord {
    pub(super) fn of(webhook: &Webhook, secrets: Option<Vec<WebhookSecret>>) -> Self {
        Self {
            id: webhook.id.clone(),
            url: webhook.url.clone(),
            events: webhook.events.clone(),
            description: webhook.description.clone(),
            status: webhook.status,
            created_by: webhook.created_by.clone(),
            created_at: webhook.created_at,
            secrets,
        }
    }
}

/// The last record: how many there are of the others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct End {
    pub(super) members: u64,
    pub(super) invites: u64,
    pub(super) api_keys: u64,
    pub(super) webhooks: u64,
    pub(super) entries: u64,
}
