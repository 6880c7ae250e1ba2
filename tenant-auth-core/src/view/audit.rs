//! Entries of the audit log as JSON.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::{
    id::{EventId, UserId},
    model::{AuditActor, AuditContext, AuditEntry},
    time::Timestamp,
};

/// An entry of the audit log.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = AuditEntry))]
pub struct AuditEntryView {
    sequence: i64,
    id: EventId,
    #[serde(rename = "type")]
    kind: String,
    timestamp: Timestamp,
    actor: AuditActorView,
    user: Option<UserId>,
    context: Option<AuditContextView>,
    #[cfg_attr(feature = "http", schema(value_type = Option<std::collections::BTreeMap<String, serde_json::Value>>))]
    data: Option<Box<RawValue>>,
    #[cfg_attr(feature = "http", schema(pattern = "^[0-9a-f]{64}$"))]
    hash: String,
    erased: bool,
}

/// Who caused an entry.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = AuditActor))]
pub struct AuditActorView {
    #[serde(rename = "type")]
    kind: String,
    id: Option<String>,
    name: Option<String>,
}

impl From<AuditActor> for AuditActorView {
    fn from(AuditActor { kind, id, name }: AuditActor) -> Self {
        Self { kind, id, name }
    }
}

/// What was known of the request behind an entry.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = AuditContext))]
#[serde(rename_all = "camelCase")]
struct AuditContextView {
    ip: Option<String>,
    user_agent: Option<String>,
    session_id: Option<String>,
}

impl From<&AuditEntry> for AuditEntryView {
    fn from(entry: &AuditEntry) -> Self {
        let AuditEntry { sequence, id, kind, at, actor, user, context, data, hash } = entry.clone();
        let seen = |context: AuditContext| AuditContextView {
            ip: context.ip,
            user_agent: context.user_agent,
            session_id: context.session_id,
        };
        Self {
            sequence,
            id,
            kind,
            timestamp: at,
            actor: actor.into(),
            user,
            context: context.map(seen),
            erased: data.is_none(),
            data: data.and_then(|data| RawValue::from_string(data).ok()),
            hash,
        }
    }
}
