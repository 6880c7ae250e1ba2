//! The data of events: what an event of each kind tells its subscribers. The objects are the REST API's views, so that a receiver
//! parses a resource in one way; only a session is told without its address and `User-Agent`.

mod log;
mod organization;
mod people;
mod reasons;

use serde::Serialize;

use crate::id::UserId;

pub(crate) use crate::model::EventKind;
pub(crate) use log::{AuditCheckpointData, AuditExportedData};
pub(crate) use organization::{
    ApiKeyData, DeletionData, ExportData, ImportData, InviteData, NewOrgData, OrgData, OrgDetailsData, WebhookData, WebhookLifeData,
};
pub(crate) use people::{LoginBlockedData, MemberData, SessionData, UserData, UserDeletedData};
pub(crate) use reasons::{DisableReason, EndReason, ExportedCredentials, RevokeReason};

/// The data of an event.
pub(crate) trait EventData: Serialize {
    /// The person whom the event is about, by whom the audit log finds it.
    fn about(&self) -> Option<&UserId>;
}
