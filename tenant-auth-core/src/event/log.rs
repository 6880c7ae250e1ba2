//! What events tell of the audit log itself.

use serde::Serialize;

use super::EventData;
use crate::{id::UserId, time::Timestamp};

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
