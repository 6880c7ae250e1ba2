//! A deed as flows state it: what is done to the deployment, and by whom. `deployment_log.rs` writes it at the commit.

use serde::Serialize;
use serde_json::{Value, json};

use super::Actor;
use crate::{
    audit::chain::Hash,
    event::{AuditExportedData, RevokeReason},
    id::{DeploymentKeyId, InviteId, UserId},
    model::{DeploymentKey, OrgRef},
    time::Timestamp,
    value::Slug,
    view::DeploymentKeyView,
};

/// What was done to the deployment.
pub(crate) enum Deed {
    KeyCreated(DeploymentKey),
    /// A key got a successor.
    KeyRotated(DeploymentKeyId, DeploymentKey),
    KeyRevoked(DeploymentKey, RevokeReason),
    OperatorGranted(UserId),
    OperatorRevoked(UserId),
    /// The signing keys and those of audit logs were replaced.
    KeysRotated {
        compromised: bool,
    },
    OrganizationCreated(OrgRef),
    /// An organization that sign-up made may send as many invites as any other, or may not any more.
    OrganizationTrust {
        org: OrgRef,
        is_trusted: bool,
    },
    OrganizationSuspended(OrgRef),
    OrganizationReactivated(OrgRef),
    /// The removal of an organization was ordered, which suspends it.
    DeletionScheduled {
        org: OrgRef,
        at: Timestamp,
    },
    DeletionCancelled(OrgRef),
    /// An operator invited an org_admin to an organization that was there.
    AdminInvited {
        org: OrgRef,
        invite: InviteId,
    },
    /// The removal of an organization began, which nothing undoes.
    OrganizationRemoved(OrgRef),
    /// The slug of an organization that was removed may be given out again.
    SlugReleased(Slug),
    /// All that is kept about a person was read; of nobody where the address had no account.
    PersonExported(Option<UserId>),
    UserDeleted(UserId),
    /// An account was given another address, or its own again, and its password and sessions were ended.
    EmailSet(UserId),
    SecondFactorReset(UserId),
    /// What was counted against an account was forgotten.
    UserUnlocked(UserId),
    /// Sessions were ended: of one organization, of one person, or of all.
    SessionsRevoked {
        org: Option<OrgRef>,
        user: Option<UserId>,
    },
    /// Somebody with a good link was refused an organization.
    SignUpRefused {
        refusal: SignUpRefusal,
        slug: Slug,
    },
    /// This log was exported.
    Exported(AuditExportedData),
}

/// Why somebody was refused an organization.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(tag = "reason", content = "limit", rename_all = "snake_case")]
pub(crate) enum SignUpRefusal {
    SlugTaken,
    SlugReserved,
    RateLimited(SignUpLimit),
}

/// The limits of sign-up, by those whose organizations they count.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SignUpLimit {
    AccountDay,
    AccountInAll,
    Network,
    Deployment,
}

/// A deed and who did it.
pub(super) struct Done {
    pub(super) actor: Actor,
    pub(super) deed: Deed,
}

impl Deed {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::KeyCreated(_) => "deployment_key.created",
            Self::KeyRotated(..) => "deployment_key.rotated",
            Self::KeyRevoked(..) => "deployment_key.revoked",
            Self::OperatorGranted(_) => "operator.granted",
            Self::OperatorRevoked(_) => "operator.revoked",
            Self::KeysRotated { .. } => "keys.rotated",
            Self::OrganizationCreated(_) => "org.created",
            Self::OrganizationTrust { .. } => "org.trust_changed",
            Self::OrganizationSuspended(_) => "org.suspended",
            Self::OrganizationReactivated(_) => "org.reactivated",
            Self::DeletionScheduled { .. } => "org.deletion_scheduled",
            Self::DeletionCancelled(_) => "org.deletion_cancelled",
            Self::AdminInvited { .. } => "org.admin_invited",
            Self::OrganizationRemoved(_) => "org.removed",
            Self::SlugReleased(_) => "slug.released",
            Self::PersonExported(_) => "user.exported",
            Self::UserDeleted(_) => "user.deleted",
            Self::EmailSet(_) => "user.email_set",
            Self::SecondFactorReset(_) => "user.two_factor_reset",
            Self::UserUnlocked(_) => "user.unlocked",
            Self::SessionsRevoked { .. } => "sessions.revoked",
            Self::SignUpRefused { .. } => "sign_up.refused",
            Self::Exported(_) => "audit.exported",
        }
    }

    /// Whom the entry is about.
    pub(super) fn about(&self) -> Option<&UserId> {
        match self {
            Self::OperatorGranted(user)
            | Self::OperatorRevoked(user)
            | Self::UserDeleted(user)
            | Self::EmailSet(user)
            | Self::SecondFactorReset(user)
            | Self::UserUnlocked(user) => Some(user),
            Self::PersonExported(user) | Self::SessionsRevoked { user, .. } => user.as_ref(),
            Self::KeyCreated(_)
            | Self::KeyRotated(..)
            | Self::KeyRevoked(..)
            | Self::KeysRotated { .. }
            | Self::OrganizationCreated(_)
            | Self::OrganizationTrust { .. }
            | Self::OrganizationSuspended(_)
            | Self::OrganizationReactivated(_)
            | Self::DeletionScheduled { .. }
            | Self::DeletionCancelled(_)
            | Self::AdminInvited { .. }
            | Self::OrganizationRemoved(_)
            | Self::SlugReleased(_)
            | Self::SignUpRefused { .. }
            | Self::Exported(_) => None,
        }
    }

    pub(super) fn data(&self) -> Value {
        match self {
            Self::KeyCreated(key) => json!({ "deploymentKey": DeploymentKeyView::from(key) }),
            Self::KeyRotated(old, new) => json!({ "deploymentKey": DeploymentKeyView::from(new), "replaces": old }),
            Self::KeyRevoked(key, reason) => json!({ "deploymentKey": DeploymentKeyView::from(key), "reason": reason }),
            Self::OperatorGranted(user)
            | Self::OperatorRevoked(user)
            | Self::UserDeleted(user)
            | Self::EmailSet(user)
            | Self::SecondFactorReset(user)
            | Self::UserUnlocked(user) => json!({ "user": by_id(user) }),
            Self::PersonExported(user) => json!({ "user": user.as_ref().map(by_id) }),
            Self::SessionsRevoked { org, user } => {
                json!({ "org": org.as_ref().map(without_words), "user": user.as_ref().map(by_id) })
            }
            Self::KeysRotated { compromised } => json!({ "compromised": compromised }),
            Self::OrganizationCreated(org)
            | Self::OrganizationSuspended(org)
            | Self::OrganizationReactivated(org)
            | Self::DeletionCancelled(org)
            | Self::OrganizationRemoved(org) => json!({ "org": without_words(org) }),
            Self::DeletionScheduled { org, at } => json!({ "org": without_words(org), "deletesAt": at }),
            Self::AdminInvited { org, invite } => json!({ "org": without_words(org), "invite": { "id": invite } }),
            Self::SlugReleased(slug) => json!({ "slugDigest": slug_digest(slug) }),
            Self::OrganizationTrust { org, is_trusted } => json!({ "org": without_words(org), "trusted": is_trusted }),
            Self::SignUpRefused { refusal, slug } => {
                let mut told = json!(refusal);
                told["slugDigest"] = slug_digest(slug).into();
                told
            }
            Self::Exported(told) => json!(told),
        }
    }
}

fn by_id(user: &UserId) -> Value {
    json!({ "id": user })
}

fn without_words(org: &OrgRef) -> Value {
    json!({ "id": org.id, "slugDigest": slug_digest(&org.slug) })
}

/// Slugs are people's words, and an entry stays when the organization is gone.
fn slug_digest(slug: &Slug) -> String {
    Hash::beginning(slug.as_str()).to_string()
}
