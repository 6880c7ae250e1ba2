//! The data of events: what an event of each kind tells its subscribers. The objects are the REST API's views, so that a receiver
//! parses a resource in one way; only a session is told without its address and `User-Agent`.

use serde::Serialize;

use crate::{
    id::UserId,
    model::{ApiKey, Invite, MemberEntry, Organization, SessionSummary, User, Webhook},
    time::Timestamp,
    view::{ApiKeyView, InviteView, MemberView, OrganizationView, ToldSessionView, UserView, WebhookView},
};

pub(crate) use crate::model::EventKind;

/// The data of an event.
pub(crate) trait EventData: Serialize {
    /// The person whom the event is about, by whom the audit log finds it.
    fn about(&self) -> Option<&UserId>;
}

/// Why a session was ended before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = SessionEndReason))]
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

impl EventData for InviteData {
    fn about(&self) -> Option<&UserId> {
        None
    }
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

impl EventData for MemberData {
    fn about(&self) -> Option<&UserId> {
        Some(self.member.user_id())
    }
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

impl EventData for SessionData {
    fn about(&self) -> Option<&UserId> {
        Some(&self.user.id)
    }
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

impl EventData for UserData {
    fn about(&self) -> Option<&UserId> {
        Some(&self.user.id)
    }
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

impl EventData for OrgData {
    fn about(&self) -> Option<&UserId> {
        None
    }
}

impl OrgData {
    pub(crate) fn changed(org: &Organization, previous: &Organization) -> Self {
        Self { org: org.into(), previous: previous.into() }
    }
}

/// An organization that was made.
#[derive(Serialize)]
pub(crate) struct NewOrgData {
    org: OrganizationView,
}

impl EventData for NewOrgData {
    fn about(&self) -> Option<&UserId> {
        None
    }
}

impl NewOrgData {
    pub(crate) fn of(org: &Organization) -> Self {
        Self { org: org.into() }
    }
}

/// An organization that is to be deleted, or not any more.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeletionData {
    org: OrganizationView,
    #[serde(skip_serializing_if = "Option::is_none")]
    deletes_at: Option<Timestamp>,
}

impl EventData for DeletionData {
    fn about(&self) -> Option<&UserId> {
        None
    }
}

impl DeletionData {
    pub(crate) fn of(org: &Organization) -> Self {
        Self { org: org.into(), deletes_at: org.deletes_at }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportData {
    /// How many members the file holds.
    pub(crate) members: u64,
    /// Whether the file holds nothing that opens anything.
    pub(crate) is_portable: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImportData {
    /// How many members came.
    pub(crate) members: u64,
    /// How many entries of the audit log came.
    pub(crate) entries: u64,
    /// The number of the last of them.
    pub(crate) last_sequence: i64,
    /// Its hash.
    pub(crate) head: String,
}

impl EventData for ImportData {
    fn about(&self) -> Option<&UserId> {
        None
    }
}

impl EventData for ExportData {
    fn about(&self) -> Option<&UserId> {
        None
    }
}

/// An export of the audit log.
#[derive(Serialize)]
pub(crate) struct AuditExportedData {
    pub(crate) from: Option<Timestamp>,
    pub(crate) to: Option<Timestamp>,
    /// How many entries the file has.
    pub(crate) entries: u64,
}

impl EventData for AuditExportedData {
    fn about(&self) -> Option<&UserId> {
        None
    }
}

/// A signature at the head of the audit log.
#[derive(Serialize)]
pub(crate) struct AuditCheckpointData {
    /// The number of the entry that was the last one.
    pub(crate) sequence: i64,
    /// Its hash.
    pub(crate) hash: String,
    /// The signature over both and the organization's id.
    pub(crate) jws: String,
}

impl EventData for AuditCheckpointData {
    fn about(&self) -> Option<&UserId> {
        None
    }
}

/// Why an API key was revoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = ApiKeyEndReason))]
#[serde(rename_all = "snake_case")]
pub(crate) enum RevokeReason {
    /// An org_admin revoked it.
    Revoked,
    /// Somebody found it in public and reported it.
    Leaked,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApiKeyData {
    api_key: ApiKeyView,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<RevokeReason>,
}

impl EventData for ApiKeyData {
    fn about(&self) -> Option<&UserId> {
        None
    }
}

impl ApiKeyData {
    pub(crate) fn of(api_key: &ApiKey) -> Self {
        Self { api_key: api_key.into(), reason: None }
    }

    pub(crate) fn revoked(api_key: &ApiKey, reason: RevokeReason) -> Self {
        Self { api_key: api_key.into(), reason: Some(reason) }
    }
}

/// A deleted account: nothing but its id, so that nothing of it has to be erased.
#[derive(Serialize)]
pub(crate) struct UserDeletedData {
    user: DeletedUser,
}

#[derive(Serialize)]
struct DeletedUser {
    id: UserId,
}

impl EventData for UserDeletedData {
    fn about(&self) -> Option<&UserId> {
        Some(&self.user.id)
    }
}

impl UserDeletedData {
    pub(crate) fn of(user: &UserId) -> Self {
        Self { user: DeletedUser { id: user.clone() } }
    }
}

/// A login that was refused because the account is blocked.
#[derive(Serialize)]
pub(crate) struct LoginBlockedData {
    user: UserView,
    until: Timestamp,
}

impl EventData for LoginBlockedData {
    fn about(&self) -> Option<&UserId> {
        Some(&self.user.id)
    }
}

impl LoginBlockedData {
    pub(crate) fn of(user: &User, until: Timestamp) -> Self {
        Self { user: user.into(), until }
    }
}

/// Why the worker disabled a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = WebhookEndReason))]
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

impl EventData for WebhookData {
    fn about(&self) -> Option<&UserId> {
        None
    }
}

impl WebhookData {
    pub(crate) fn of(webhook: &Webhook) -> Self {
        Self { webhook: webhook.into(), reason: None }
    }

    pub(crate) fn disabled(webhook: &Webhook, reason: DisableReason) -> Self {
        Self { webhook: webhook.into(), reason: Some(reason) }
    }
}
