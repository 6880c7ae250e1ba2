//! `/public/events`: the feed of an organization's events.

use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        ArrayBuilder, ObjectBuilder, Ref, RefOr, Schema,
        schema::{AdditionalProperties, SchemaType, Type},
    },
};

use super::PollCaller;
use crate::{
    error::Error,
    feed::{EventPage, EventQuery},
    http::answer::Outcome,
    id::{EventId, OrgId},
    scope::EventsRead,
    time::Timestamp,
    value::Slug,
};

/// Events in their order.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EventsData {
    events: Vec<Box<RawValue>>,
    last_sequence: i64,
    newest: i64,
}

/// An event, as webhooks get it.
#[derive(ToSchema)]
#[schema(as = Event)]
#[expect(dead_code, reason = "the payload is text already; this describes it")]
pub(crate) struct EventPayload {
    id: EventId,
    /// Its kind, as subscriptions name it.
    r#type: String,
    timestamp: Timestamp,
    /// Its number within the organization, where numbers have no gaps.
    #[schema(minimum = 1)]
    sequence: i64,
    org: EventOrg,
    actor: EventActor,
    /// The objects that it is about, by name. Null once they were erased with a person's account.
    #[schema(required)]
    data: Option<Objects>,
    /// Whether they were.
    #[schema(required = false)]
    erased: bool,
}

/// The organization of an event.
#[derive(ToSchema)]
#[expect(dead_code, reason = "as above")]
struct EventOrg {
    id: OrgId,
    slug: Slug,
}

/// The causer of an event.
#[derive(ToSchema)]
#[expect(dead_code, reason = "as above")]
struct EventActor {
    /// `user`, `api_key`, `deployment_key` or `system`.
    r#type: String,
    /// Whose id it is; null for the system.
    #[schema(required)]
    id: Option<String>,
}

/// Objects by name.
struct Objects;

impl PartialSchema for Objects {
    fn schema() -> RefOr<Schema> {
        let object = ObjectBuilder::new().schema_type(SchemaType::Type(Type::Object));
        object.additional_properties(Some(AdditionalProperties::FreeForm(true))).into()
    }
}

impl ToSchema for Objects {}

impl PartialSchema for EventsData {
    fn schema() -> RefOr<Schema> {
        let number = |means: &str| {
            ObjectBuilder::new().schema_type(SchemaType::Type(Type::Integer)).minimum(Some(0)).description(Some(means))
        };
        ObjectBuilder::new()
            .schema_type(SchemaType::Type(Type::Object))
            .property("events", ArrayBuilder::new().items(Ref::from_schema_name(EventPayload::name())))
            .property("lastSequence", number("From where to ask next: of the last event here, or what was asked after."))
            .property("newest", number("Of the organization's last event."))
            .required("events")
            .required("lastSequence")
            .required("newest")
            .into()
    }
}

impl ToSchema for EventsData {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((EventPayload::name().into_owned(), EventPayload::schema()));
        EventPayload::schemas(schemas);
    }
}

pub(crate) async fn list(PollCaller(backend): PollCaller<EventsRead>, query: EventQuery) -> Outcome<EventsData> {
    let EventPage { payloads, last_sequence, newest } = backend.events(&query).await?;
    let events = payloads.into_iter().map(RawValue::from_string).collect::<Result<_, _>>().map_err(Error::internal)?;
    Ok(EventsData { events, last_sequence, newest }.into())
}
