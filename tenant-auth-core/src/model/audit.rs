//! The audit log as it is read: entries and the conditions that choose them.

use crate::{
    id::{EventId, UserId},
    time::Timestamp,
};

/// An entry of an organization's audit log: an event, and what the service knew of the request behind it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AuditEntry {
    /// Its number in the organization.
    pub sequence: i64,
    /// `evt_…`
    pub id: EventId,
    /// The event's kind. A text, for a newer version may have written it.
    pub kind: String,
    /// When it happened. Times of an organization never go back.
    pub at: Timestamp,
    /// Who caused it.
    pub actor: AuditActor,
    /// Whom it is about.
    pub user: Option<UserId>,
    /// What was known of the request; `None` where there was none in this organization, and once it was wiped.
    pub context: Option<AuditContext>,
    /// The event's data as JSON; `None` once they were erased.
    pub data: Option<String>,
    /// The entry's hash, which covers the one before: 64 hexadecimal digits.
    pub hash: String,
}

/// Who caused an entry.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AuditActor {
    /// `user`, `api_key`, `deployment_key` or `system`.
    pub kind: String,
    /// The person's or the key's id.
    pub id: Option<String>,
    /// The person's or the key's name of today; `None` for the system and for who is gone.
    pub name: Option<String>,
}

/// What was known of a request.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct AuditContext {
    /// The client's address.
    pub ip: Option<String>,
    /// The client's `User-Agent`.
    pub user_agent: Option<String>,
    /// The caller's session; at a login the opened one.
    pub session_id: Option<String>,
}

/// Which entries are shown: those that meet every condition that is set.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    /// The id of who caused them.
    pub actor: Option<String>,
    /// The id of whom they are about.
    pub user: Option<String>,
    /// Kinds, groups such as `member.*`, or `*`; what selects no kind finds nothing.
    pub kinds: Option<Vec<String>>,
    /// The earliest time.
    pub from: Option<Timestamp>,
    /// The time before which they happened.
    pub to: Option<Timestamp>,
}
