//! An event as programs read it: the payload of a webhook, taken apart.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    error::Error,
    id::{EventId, OrgId},
    model::EventKind,
    time::Timestamp,
    value::Slug,
};

/// Something that happened in an organization.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// The event's id; also the `webhook-id` of its deliveries.
    pub id: EventId,
    /// Its kind, as subscriptions name it: `member.joined`. A newer version may write kinds that this one does not know.
    pub kind: String,
    /// When it happened.
    pub timestamp: Timestamp,
    /// Its number within the organization, where numbers have no gaps.
    pub sequence: i64,
    /// The organization.
    pub org_id: OrgId,
    /// The organization's slug.
    pub slug: Slug,
    /// Who caused it.
    pub actor: EventActor,
    /// The objects that it is about, by name, as the HTTP API shows them: `data["member"]["userId"]`. `None` once they were erased with
    /// a person's account.
    pub data: Option<Value>,
}

/// The causer of an event.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[non_exhaustive]
pub struct EventActor {
    /// `user`, `api_key`, `deployment_key` or `system`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whose id it is; `None` for the system.
    pub id: Option<String>,
}

impl Event {
    /// Whether the event is of this kind. Of several kinds, read it:
    ///
    /// ```
    /// # fn example(event: &tenant_auth_core::feed::Event) {
    /// use tenant_auth_core::model::EventKind;
    ///
    /// match event.kind.parse() {
    ///     Ok(EventKind::MemberJoined) => println!("welcome"),
    ///     Ok(EventKind::MemberRemoved) => println!("farewell"),
    ///     Ok(_) => {}
    ///     Err(unknown) => println!("{}: {unknown}", event.kind), // a newer service tells of more
    /// }
    /// # }
    /// ```
    pub fn is(&self, kind: EventKind) -> bool {
        self.kind == kind.as_str()
    }

    /// Reads a payload.
    ///
    /// # Errors
    /// [`Error::Internal`] for a text that is none.
    pub(super) fn parse(payload: &str) -> Result<Self, Error> {
        let Payload { id, kind, timestamp, sequence, org, actor, data } = serde_json::from_str(payload).map_err(Error::internal)?;
        let timestamp = Timestamp::parse(&timestamp).ok_or_else(|| Error::internal("the time of an event is none"))?;
        let id = id.parse().map_err(Error::internal)?;
        let (org_id, slug) = (org.id.parse().map_err(Error::internal)?, Slug::from_stored(org.slug));
        Ok(Self { id, kind, timestamp, sequence, org_id, slug, actor, data })
    }
}

#[derive(Deserialize)]
struct Payload {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    timestamp: String,
    sequence: i64,
    org: PayloadOrg,
    actor: EventActor,
    data: Option<Value>,
}

#[derive(Deserialize)]
struct PayloadOrg {
    id: String,
    slug: String,
}
