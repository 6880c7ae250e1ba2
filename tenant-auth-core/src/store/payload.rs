//! The payload of an event, as subscribers get it (behaviour.md, B94): rendered from the event's row, so that what was wiped there
//! is sent to nobody any more.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::{
    error::Error,
    id::{EventId, OrgId},
    model::OrgRef,
    time::Timestamp,
    value::Slug,
};

/// An event as it is kept.
#[derive(Clone)]
pub(crate) struct KeptEvent {
    pub(crate) id: EventId,
    pub(crate) org: OrgRef,
    pub(crate) sequence: i64,
    pub(crate) kind: String,
    pub(crate) at: Timestamp,
    /// The causer's type as payloads name it.
    pub(crate) actor_type: String,
    pub(crate) actor_id: Option<String>,
    /// JSON; `None` once it was wiped.
    pub(crate) data: Option<String>,
    /// The whole payload of an event that a former version wrote and no commit has taken apart yet.
    pub(crate) whole: Option<String>,
}

#[derive(Serialize)]
struct Payload<'a> {
    id: &'a EventId,
    #[serde(rename = "type")]
    kind: &'a str,
    timestamp: Timestamp,
    sequence: i64,
    org: PayloadOrg<'a>,
    actor: PayloadActor<'a>,
    data: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "is_false")]
    erased: bool,
}

#[derive(Serialize)]
struct PayloadOrg<'a> {
    id: &'a OrgId,
    slug: &'a Slug,
}

#[derive(Serialize)]
struct PayloadActor<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    id: Option<&'a str>,
}

impl KeptEvent {
    /// The payload. An event whose data were wiped has `data: null` and `erased: true`.
    ///
    /// # Errors
    /// [`Error::Internal`] for a row that holds no JSON.
    pub(crate) fn payload(&self) -> Result<String, Error> {
        if let Some(whole) = &self.whole {
            return Ok(whole.clone());
        }
        let data: Option<&RawValue> = self.data.as_deref().map(serde_json::from_str).transpose().map_err(Error::internal)?;
        let payload = Payload {
            id: &self.id,
            kind: &self.kind,
            timestamp: self.at,
            sequence: self.sequence,
            org: PayloadOrg { id: &self.org.id, slug: &self.org.slug },
            actor: PayloadActor { kind: &self.actor_type, id: self.actor_id.as_deref() },
            data,
            erased: data.is_none(),
        };
        serde_json::to_string(&payload).map_err(Error::internal)
    }
}

/// Without the data, which are personal.
impl std::fmt::Debug for KeptEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeptEvent").field("id", &self.id).field("kind", &self.kind).finish_non_exhaustive()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}
