//! JSON Schemas of values, for the OpenAPI document. Each schema stands beside its parser and says what the parser accepts, as far
//! as JSON Schema can; where it cannot (case, white space around an address, a URL's host), it says what comes out.

use utoipa::openapi::{
    KnownFormat, Object, ObjectBuilder, RefOr, Schema, SchemaFormat,
    schema::{SchemaType, Type},
};

/// A text: what it means, how long it is in code points, what it looks like, and one that is right.
#[derive(Default)]
pub(crate) struct Text {
    pub(crate) means: &'static str,
    pub(crate) min: Option<usize>,
    pub(crate) max: Option<usize>,
    pub(crate) pattern: Option<&'static str>,
    pub(crate) format: Option<KnownFormat>,
    /// Every text there is, where they can be counted.
    pub(crate) words: Option<&'static [&'static str]>,
    pub(crate) example: Option<&'static str>,
}

impl From<Text> for RefOr<Schema> {
    fn from(text: Text) -> Self {
        string(text.means)
            .min_length(text.min)
            .max_length(text.max)
            .pattern(text.pattern)
            .format(text.format.map(SchemaFormat::KnownFormat))
            .enum_values(text.words.map(|words| words.iter().copied()))
            .examples(text.example)
            .into()
    }
}

/// The schema of a type that is a text in JSON; `$text` is a [`Text`].
macro_rules! text_schema {
    ($name:ident, $text:expr) => {
        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                use $crate::schema::Text;
                $text.into()
            }
        }
        impl utoipa::ToSchema for $name {
            fn name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
        }
    };
}
pub(crate) use text_schema;

/// A text of which more can be said.
pub(crate) fn string(means: &str) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(SchemaType::Type(Type::String)).description(Some(means))
}

/// An object with one field.
pub(crate) fn object(field: &str, schema: Object) -> Object {
    ObjectBuilder::new().schema_type(SchemaType::Type(Type::Object)).property(field, schema).required(field).build()
}

/// A boolean that has one value.
pub(crate) fn flag(value: bool) -> Object {
    ObjectBuilder::new().schema_type(SchemaType::Type(Type::Boolean)).enum_values(Some([value])).build()
}
