//! One page of a list as JSON: `{<key>: […], nextCursor}`, the same for every list. `nextCursor` is left out on the last page.

use std::borrow::Cow;

use serde::{Serialize, Serializer, ser::SerializeMap};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        ArrayBuilder, ObjectBuilder, Ref, RefOr, Schema,
        schema::{SchemaType, Type},
    },
};

use super::{answer::Reply, cursor};
use crate::{
    page::{Cursor, List},
    view::{ApiKeyView, AuditEntryView, DeliveryView, ManagedOrganizationView, MemberView, PendingInviteView, WebhookView},
};

const NEXT_CURSOR: &str = "nextCursor";

/// An entry of a list.
pub(crate) trait Entry {
    /// The name of the list in JSON.
    const KEY: &'static str;
}

/// A page of entries that are shown as `T`.
pub(crate) struct Listing<T> {
    items: Vec<T>,
    next: Option<Cursor>,
}

impl<T> Listing<T> {
    /// The page, each entry shown by `show`.
    pub(crate) fn of<M>(list: List<M>, show: impl FnMut(M) -> T) -> Self {
        Self { items: list.items.into_iter().map(show).collect(), next: list.next }
    }
}

/// A page whose entries are shown without further knowledge.
impl<M, T: for<'a> From<&'a M>> From<List<M>> for Listing<T> {
    fn from(list: List<M>) -> Self {
        Self::of(list, |model| T::from(&model))
    }
}

/// A page as the whole answer.
impl<M, T: for<'a> From<&'a M>> From<List<M>> for Reply<Listing<T>> {
    fn from(list: List<M>) -> Self {
        Self::new(list.into())
    }
}

impl<T: Serialize + Entry> Serialize for Listing<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(T::KEY, &self.items)?;
        if let Some(next) = &self.next {
            map.serialize_entry(NEXT_CURSOR, &cursor::to_text(next))?;
        }
        map.end()
    }
}

impl<T: ToSchema + Entry> PartialSchema for Listing<T> {
    fn schema() -> RefOr<Schema> {
        let items = ArrayBuilder::new().items(Ref::from_schema_name(T::name()));
        let cursor = ObjectBuilder::new().schema_type(SchemaType::Type(Type::String));
        ObjectBuilder::new()
            .schema_type(SchemaType::Type(Type::Object))
            .property(T::KEY, items)
            .property(NEXT_CURSOR, cursor)
            .required(T::KEY)
            .into()
    }
}

impl<T: ToSchema + Entry> ToSchema for Listing<T> {
    /// `MembersData` for `members`.
    fn name() -> Cow<'static, str> {
        let (first, rest) = T::KEY.split_at(1);
        format!("{}{rest}Data", first.to_ascii_uppercase()).into()
    }
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((T::name().into_owned(), T::schema()));
        T::schemas(schemas);
    }
}

macro_rules! entries {
    ($($view:ty: $key:literal;)*) => { $(
        impl Entry for $view {
            const KEY: &'static str = $key;
        }
    )* };
}

entries! {
    ApiKeyView: "apiKeys";
    AuditEntryView: "entries";
    DeliveryView: "deliveries";
    ManagedOrganizationView: "organizations";
    MemberView: "members";
    PendingInviteView: "invites";
    WebhookView: "webhooks";
}
