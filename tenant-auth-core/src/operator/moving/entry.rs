//! An entry of the audit log in an export. What is hashed stands in it as it was hashed, so that the target computes each hash anew.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::{
    error::Error,
    id::{EventId, Id},
    store::ExportedEntry,
    time::Timestamp,
};

/// An entry of the audit log: what is hashed stands here as it was hashed.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct EntryRecord {
    pub(super) sequence: i64,
    pub(super) id: EventId,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) timestamp: Timestamp,
    pub(super) actor_type: String,
    pub(super) actor_id: Option<String>,
    pub(super) user: Option<String>,
    pub(super) data: PartRecord,
    pub(super) context: PartRecord,
    pub(super) hash: String,
}

/// A personal part of an entry: with its salt, or wiped, with its digest alone.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PartRecord {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) salt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "raw")]
    pub(super) part: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) digest: Option<String>,
}

/// A part that is `null` is not a part that is missing.
fn raw<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(deserializer).map(Some)
}

impl EntryRecord {
    pub(super) fn of(entry: ExportedEntry) -> Result<Self, Error> {
        Ok(Self {
            sequence: entry.sequence,
            id: Id::from_stored(entry.id),
            kind: entry.kind,
            timestamp: Timestamp::from_millis(entry.created_at),
            actor_type: entry.actor_type,
            actor_id: entry.actor_id,
            user: entry.user_id,
            data: PartRecord::of(entry.data, entry.data_salt, entry.data_digest)?,
            context: PartRecord::of(entry.context, entry.context_salt, entry.context_digest)?,
            hash: entry.hash,
        })
    }
}

impl PartRecord {
    fn of(part: Option<String>, salt: Option<String>, digest: String) -> Result<Self, Error> {
        match (part, salt) {
            (Some(part), Some(salt)) => {
                let part = RawValue::from_string(part).map_err(Error::internal)?;
                Ok(Self { salt: Some(salt), part: Some(part), digest: None })
            }
            _ => Ok(Self { digest: Some(digest), ..Self::default() }),
        }
    }
}

/// Without the parts, which are personal.
impl fmt::Debug for EntryRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EntryRecord").field("id", &self.id).finish_non_exhaustive()
    }
}
