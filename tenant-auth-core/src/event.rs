//! The data of events: what an event of each kind tells its subscribers. The objects have the same shape as in the REST API.

use serde::Serialize;

use crate::model::{ApiKey, InviteSummary, MemberEntry, Organization, SessionSummary, User, Webhook};

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
pub(crate) struct WebhookData<'a> {
    pub(crate) webhook: &'a Webhook,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<DisableReason>,
}
