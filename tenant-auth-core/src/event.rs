//! What can happen, and what an event of each kind tells: contract section 6. The objects are the REST ones.

use serde::Serialize;

use crate::{
    metrics::Label,
    model::{ApiKey, InviteSummary, MemberEntry, Organization, SessionSummary, User, Webhook},
};

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
    /// Somebody became a member.
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
    /// An organization's details changed.
    OrgUpdated = "org.updated",
    /// An organization was suspended.
    OrgSuspended = "org.suspended",
    /// A suspended organization was opened again.
    OrgReactivated = "org.reactivated",
    /// An API key was made.
    ApiKeyCreated = "api_key.created",
    /// An API key was replaced by a successor.
    ApiKeyRotated = "api_key.rotated",
    /// An API key was revoked.
    ApiKeyRevoked = "api_key.revoked",
    /// Somebody asked for a test delivery.
    WebhookTest = "webhook.test",
    /// A webhook was disabled because its endpoint failed for too long, or is gone.
    WebhookDisabled = "webhook.disabled",
}

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

/// Why a session was ended before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EndReason {
    /// Its owner logged out.
    Logout,
    /// Its owner ended it from another session.
    Ended,
    /// An org_admin ended it.
    Admin,
    /// Its owner is no longer a member.
    Removed,
    /// The password changed.
    Password,
    /// The address changed.
    Email,
    /// The second factor was put in force or removed.
    TwoFactor,
    /// There were too many; it was the oldest.
    Limit,
    /// A superseded refresh token was used again.
    Reuse,
    /// The operator ended it on the command line.
    Operator,
}

#[derive(Serialize)]
pub(crate) struct InviteData {
    pub(crate) invite: InviteSummary,
}

#[derive(Serialize)]
pub(crate) struct MemberData {
    pub(crate) member: MemberEntry,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) previous: Option<MemberEntry>,
}

#[derive(Serialize)]
pub(crate) struct SessionData<'a> {
    pub(crate) session: SessionSummary,
    pub(crate) user: &'a User,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<EndReason>,
}

#[derive(Serialize)]
pub(crate) struct UserData<'a> {
    pub(crate) user: &'a User,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) previous: Option<&'a User>,
}

#[derive(Serialize)]
pub(crate) struct OrgData<'a> {
    pub(crate) org: &'a Organization,
    pub(crate) previous: &'a Organization,
}

#[derive(Serialize)]
pub(crate) struct ApiKeyData<'a> {
    #[serde(rename = "apiKey")]
    pub(crate) api_key: &'a ApiKey,
}

/// Why a webhook was disabled by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DisableReason {
    /// Every attempt of the last five days failed.
    Failing,
    /// The endpoint answered 410 Gone.
    Gone,
}

#[derive(Serialize)]
pub(crate) struct WebhookData<'a> {
    pub(crate) webhook: &'a Webhook,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<DisableReason>,
}

#[cfg(test)]
mod tests {
    use super::EventKind;
    use crate::metrics::assert_in_order;

    #[test]
    fn kinds_are_counted_where_their_index_says() {
        assert_in_order::<EventKind>();
    }
}
