//! What events tell of an organization and of what it has: invites, API keys and webhooks.

use serde::Serialize;

use super::{DisableReason, EventData, ExportedCredentials, RevokeReason};
use crate::{
    id::UserId,
    model::{ApiKey, Invite, Organization, Webhook},
    time::Timestamp,
    view::{ApiKeyView, DetailedOrganizationView, InviteView, OrganizationView, ToldWebhookView, WebhookView},
};

/// A change of an organization's details, all of them: an allowed origin lets a page act for whoever is signed in.
#[derive(Serialize)]
pub(crate) struct OrgDetailsData {
    org: DetailedOrganizationView,
    previous: DetailedOrganizationView,
}

impl EventData for OrgDetailsData {
    fn about(&self) -> Option<&UserId> {
        None
    }
}

impl OrgDetailsData {
    pub(crate) fn changed(org: &Organization, previous: &Organization) -> Self {
        Self { org: org.into(), previous: previous.into() }
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
    pub(crate) credentials: ExportedCredentials,
}

impl EventData for ExportData {
    fn about(&self) -> Option<&UserId> {
        None
    }
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

/// What an org_admin does to a webhook.
#[derive(Serialize)]
pub(crate) struct WebhookLifeData {
    webhook: ToldWebhookView,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous: Option<ToldWebhookView>,
}

impl EventData for WebhookLifeData {
    fn about(&self) -> Option<&UserId> {
        None
    }
}

impl WebhookLifeData {
    pub(crate) fn of(webhook: &Webhook) -> Self {
        Self { webhook: webhook.into(), previous: None }
    }

    pub(crate) fn changed(webhook: &Webhook, previous: &Webhook) -> Self {
        Self { webhook: webhook.into(), previous: Some(previous.into()) }
    }
}

/// What happens to a webhook's deliveries.
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
