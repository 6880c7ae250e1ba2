//! Event kinds: what can happen in an organization, by the names that subscriptions use.

use std::{borrow::Cow, fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[cfg(feature = "service")]
use crate::metrics::Label;
use crate::value::Rejected;

macro_rules! event_kinds {
    ($($(#[$doc:meta])* $variant:ident = $text:literal,)*) => {
        /// A kind of event, as subscriptions name it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum EventKind { $($(#[$doc])* $variant,)* }

        impl EventKind {
            /// Every kind there is.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The kind's name.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// Reads what [`Self::as_str`] wrote.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

event_kinds! {
    /// An invite was sent.
    InviteCreated = "invite.created",
    /// An invite got a new link.
    InviteResent = "invite.resent",
    /// An invite was withdrawn.
    InviteRevoked = "invite.revoked",
    /// An invite was accepted.
    InviteAccepted = "invite.accepted",
    /// An account became a member.
    MemberJoined = "member.joined",
    /// A member's metadata changed.
    MemberUpdated = "member.updated",
    /// A member's role changed.
    MemberRoleChanged = "member.role_changed",
    /// A member was suspended.
    MemberSuspended = "member.suspended",
    /// A suspended member was let in again.
    MemberReactivated = "member.reactivated",
    /// A member was removed or left.
    MemberRemoved = "member.removed",
    /// A session was opened.
    SessionCreated = "session.created",
    /// A session was ended before its time.
    SessionRevoked = "session.revoked",
    /// A superseded refresh token was used again.
    SessionReuseDetected = "session.reuse_detected",
    /// A member's logins are blocked for a while, after too many wrong passwords or codes.
    LoginBlocked = "login.blocked",
    /// A profile changed.
    UserUpdated = "user.updated",
    /// A password changed.
    UserPasswordChanged = "user.password_changed",
    /// An address was proved to be its owner's.
    UserEmailVerified = "user.email_verified",
    /// A second factor was put in force.
    UserTwoFactorEnabled = "user.two_factor_enabled",
    /// A second factor was removed.
    UserTwoFactorDisabled = "user.two_factor_disabled",
    /// New recovery codes took the place of the former ones.
    UserRecoveryCodesReplaced = "user.recovery_codes_replaced",
    /// A recovery code opened a session, in the place of a one-time password.
    UserRecoveryCodeUsed = "user.recovery_code_used",
    /// An account was deleted, and what events told of the person was erased.
    UserDeleted = "user.deleted",
    /// An organization was made by sign-up; its first event.
    OrgCreated = "org.created",
    /// An organization's details changed.
    OrgUpdated = "org.updated",
    /// An organization was suspended.
    OrgSuspended = "org.suspended",
    /// A suspended organization was opened again.
    OrgReactivated = "org.reactivated",
    /// An organization is to be deleted.
    OrgDeletionScheduled = "org.deletion_scheduled",
    /// An organization is not to be deleted after all.
    OrgDeletionCancelled = "org.deletion_cancelled",
    /// The operator exported the organization.
    OrgExported = "org.exported",
    /// The organization came from another deployment.
    OrgImported = "org.imported",
    /// The audit log was exported.
    AuditExported = "audit.exported",
    /// The audit log was signed at its last entry.
    AuditCheckpoint = "audit.checkpoint",
    /// An API key was made.
    ApiKeyCreated = "api_key.created",
    /// An API key was replaced by a successor.
    ApiKeyRotated = "api_key.rotated",
    /// An API key was revoked.
    ApiKeyRevoked = "api_key.revoked",
    /// A webhook was made. Of its own life a webhook is told nothing, here and in the next three.
    WebhookCreated = "webhook.created",
    /// A webhook's URL, selection, description or status changed.
    WebhookUpdated = "webhook.updated",
    /// A webhook was deleted.
    WebhookDeleted = "webhook.deleted",
    /// A webhook got another signing secret.
    WebhookSecretRotated = "webhook.secret_rotated",
    /// An org_admin asked for a test delivery.
    WebhookTest = "webhook.test",
    /// A webhook was disabled because its endpoint failed for too long, or is gone.
    WebhookDisabled = "webhook.disabled",
}

impl FromStr for EventKind {
    type Err = Rejected;

    /// A kind that this version does not know is refused: keep the text of what a newer service may have told.
    fn from_str(text: &str) -> Result<Self, Rejected> {
        Self::parse(text).ok_or_else(|| Rejected::because("must be a kind of event such as member.joined"))
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for EventKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for EventKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <Cow<'de, str>>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl EventKind {
    /// Whether the event may tell that a right ended or became less.
    pub(crate) const fn tells_of_less(self) -> bool {
        match self {
            Self::MemberRoleChanged
            | Self::MemberSuspended
            | Self::MemberRemoved
            | Self::SessionRevoked
            | Self::SessionReuseDetected
            | Self::UserUpdated
            | Self::UserPasswordChanged
            | Self::UserEmailVerified
            | Self::UserTwoFactorEnabled
            | Self::UserTwoFactorDisabled
            | Self::UserDeleted
            | Self::OrgUpdated
            | Self::OrgSuspended
            | Self::ApiKeyRotated
            | Self::ApiKeyRevoked => true,
            Self::InviteCreated
            | Self::InviteResent
            | Self::InviteRevoked
            | Self::InviteAccepted
            | Self::MemberJoined
            | Self::MemberUpdated
            | Self::MemberReactivated
            | Self::SessionCreated
            | Self::LoginBlocked
            | Self::UserRecoveryCodesReplaced
            | Self::UserRecoveryCodeUsed
            | Self::OrgCreated
            | Self::OrgReactivated
            | Self::OrgDeletionScheduled
            | Self::OrgDeletionCancelled
            | Self::OrgExported
            | Self::OrgImported
            | Self::AuditExported
            | Self::AuditCheckpoint
            | Self::ApiKeyCreated
            | Self::WebhookCreated
            | Self::WebhookUpdated
            | Self::WebhookDeleted
            | Self::WebhookSecretRotated
            | Self::WebhookTest
            | Self::WebhookDisabled => false,
        }
    }

    /// Whether the event tells of the life of a webhook, as an org_admin shapes it.
    pub(crate) const fn is_of_a_webhooks_life(self) -> bool {
        matches!(self, Self::WebhookCreated | Self::WebhookUpdated | Self::WebhookDeleted | Self::WebhookSecretRotated)
    }
}

#[cfg(feature = "service")]
impl Label for EventKind {
    const NAME: &'static str = "kind";
    const ALL: &'static [Self] = EventKind::ALL;

    fn index(self) -> usize {
        self as usize
    }

    fn as_str(self) -> &'static str {
        EventKind::as_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::EventKind;
    use crate::metrics::assert_in_order;

    #[test]
    fn kinds_are_counted_where_their_index_says() {
        assert_in_order::<EventKind>();
    }

    #[test]
    fn the_guide_names_every_kind() {
        let guide = include_str!("../../guides/webhooks.md");
        let unnamed = EventKind::ALL.iter().filter(|kind| !guide.contains(&format!("`{}`", kind.as_str())));
        assert_eq!(unnamed.collect::<Vec<_>>(), [] as [&EventKind; 0]);
    }
}
