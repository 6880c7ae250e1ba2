//! What a success answers with, for each kind of answer.

use jsonwebtoken::jwk::JwkSet;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::{
    publish::{Kind, Published},
    schemas::Schemas,
};
use crate::http::answer::{Plain, Reply};

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
