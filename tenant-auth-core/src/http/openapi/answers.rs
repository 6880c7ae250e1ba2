//! What a success answers with, for each kind of answer.

use std::borrow::Cow;

use jsonwebtoken::jwk::JwkSet;
use serde_json::{Value, json};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        AllOfBuilder, Object, ObjectBuilder, OneOfBuilder, Ref, RefOr, Schema,
        schema::{SchemaType, Type},
    },
};

use super::{
    publish::{Kind, Published},
    schemas::Schemas,
};
use crate::http::{
    answer::{Plain, Reply},
    endpoints::{
        auth::Entered,
        public::{IdentityView, VerifyData},
    },
};

/// What is known of a success.
pub(crate) enum AnswerFacts {
    /// Data in the envelope.
    Enveloped(Value),
    /// A document without it.
    Plain { content_type: &'static str, schema: Value },
}

/// A kind of answer that can be described.
pub(crate) trait DescribedAnswer {
    /// What is known of it.
    fn describe(schemas: &mut Schemas) -> AnswerFacts;
}

impl<T: ToSchema> DescribedAnswer for Reply<T> {
    fn describe(schemas: &mut Schemas) -> AnswerFacts {
        AnswerFacts::Enveloped(json!(schemas.answer::<T>()))
    }
}

/// RFC 7517, as far as Ed25519 keys use it (RFC 8037).
impl DescribedAnswer for Plain<JwkSet> {
    fn describe(_: &mut Schemas) -> AnswerFacts {
        let text = json!({ "type": "string" });
        let schema = json!({
            "type": "object",
            "required": ["keys"],
            "properties": { "keys": { "type": "array", "items": {
                "type": "object",
                "required": ["kty", "crv", "x", "kid", "alg", "use"],
                "properties": {
                    "kty": { "const": "OKP" },
                    "crv": { "const": "Ed25519" },
                    "alg": { "const": "EdDSA" },
                    "use": { "const": "sig" },
                    "x": text,
                    "kid": text,
                },
            } } },
        });
        AnswerFacts::Plain { content_type: "application/json", schema }
    }
}

impl<K: Kind> DescribedAnswer for Published<K> {
    fn describe(_: &mut Schemas) -> AnswerFacts {
        AnswerFacts::Plain { content_type: K::CONTENT_TYPE, schema: K::schema() }
    }
}

/// `{requires2FA: true}` or the session's data.
impl<T: ToSchema> PartialSchema for Entered<T> {
    fn schema() -> RefOr<Schema> {
        OneOfBuilder::new().item(Ref::from_schema_name(T::name())).item(object("requires2FA", flag(true))).into()
    }
}

impl<T: ToSchema> ToSchema for Entered<T> {
    fn name() -> Cow<'static, str> {
        format!("{}OrSecondFactor", T::name()).into()
    }
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((T::name().into_owned(), T::schema()));
        T::schemas(schemas);
    }
}

/// `{valid: false}` or the identity; nothing is said of an invalid token.
impl PartialSchema for VerifyData {
    fn schema() -> RefOr<Schema> {
        let valid = AllOfBuilder::new().item(object("valid", flag(true))).item(Ref::from_schema_name(IdentityView::name()));
        OneOfBuilder::new().item(valid).item(object("valid", flag(false))).into()
    }
}

impl ToSchema for VerifyData {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((IdentityView::name().into_owned(), IdentityView::schema()));
        IdentityView::schemas(schemas);
    }
}

fn object(field: &str, schema: Object) -> Object {
    ObjectBuilder::new().schema_type(SchemaType::Type(Type::Object)).property(field, schema).required(field).build()
}

fn flag(value: bool) -> Object {
    ObjectBuilder::new().schema_type(SchemaType::Type(Type::Boolean)).enum_values(Some([value])).build()
}
