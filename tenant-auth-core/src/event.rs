//! The data of events: what an event of each kind tells its subscribers. The objects are the REST API's views, so that a receiver
//! parses a resource in one way; only a session is told without its address and `User-Agent`.

use serde::Serialize;

use crate::{
    model::{ApiKey, Invite, MemberEntry, Organization, SessionSummary, User, Webhook},
    view::{ApiKeyView, InviteView, MemberView, OrganizationView, ToldSessionView, UserView, WebhookView},
};

pub(crate) use crate::model::EventKind;

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
    /// The person had too many sessions, and this one was the oldest.
    Limit,
    /// A superseded refresh token was used again.
    Reuse,
    /// The operator ended it on the command line.
    Operator,
}

#[derive(Serialize)]
pub(crate) struct InviteData {
    invite: InviteView,
}

impl InviteData {
    pub(crate) fn of(invite: &Invite) -> Self {
        Self { invite: invite.into() }
    }
}

#[derive(Serialize)]
pub(crate) struct MemberData {
    member: MemberView,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous: Option<MemberView>,
}

impl MemberData {
    pub(crate) fn of(member: &MemberEntry) -> Self {
        Self { member: member.into(), previous: None }
    }

    pub(crate) fn changed(member: &MemberEntry, previous: &MemberEntry) -> Self {
        Self { member: member.into(), previous: Some(previous.into()) }
    }
}

#[derive(Serialize)]
pub(crate) struct SessionData {
    session: ToldSessionView,
    user: UserView,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<EndReason>,
}

impl SessionData {
    pub(crate) fn of(session: &SessionSummary, user: &User) -> Self {
        Self { session: session.into(), user: user.into(), reason: None }
    }

    pub(crate) fn ended(session: &SessionSummary, user: &User, reason: EndReason) -> Self {
        Self { session: session.into(), user: user.into(), reason: Some(reason) }
    }
}

#[derive(Serialize)]
pub(crate) struct UserData {
    pub(crate) user: UserView,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous: Option<UserView>,
}

impl UserData {
    pub(crate) fn of(user: &User) -> Self {
        Self { user: user.into(), previous: None }
    }

    pub(crate) fn changed(user: &User, previous: &User) -> Self {
        Self { user: user.into(), previous: Some(previous.into()) }
    }
}

#[derive(Serialize)]
pub(crate) struct OrgData {
    org: OrganizationView,
    previous: OrganizationView,
}

impl OrgData {
    pub(crate) fn changed(org: &Organization, previous: &Organization) -> Self {
        Self { org: org.into(), previous: previous.into() }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApiKeyData {
    api_key: ApiKeyView,
}

impl ApiKeyData {
    pub(crate) fn of(api_key: &ApiKey) -> Self {
        Self { api_key: api_key.into() }
    }
}

/// Why the worker disabled a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DisableReason {
    /// Every attempt of the last five days failed.
    Failing,
    /// The endpoint answered 410 Gone.
    Gone,
}

#[derive(Serialize)]
pub(crate) struct WebhookData {
    webhook: WebhookView,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<DisableReason>,
}

impl WebhookData {
    pub(crate) fn of(webhook: &Webhook) -> Self {
        Self { webhook: webhook.into(), reason: None }
    }

    pub(crate) fn disabled(webhook: &Webhook, reason: DisableReason) -> Self {
        Self { webhook: webhook.into(), reason: Some(reason) }
    }
}
