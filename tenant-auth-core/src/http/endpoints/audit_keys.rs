//! `/.well-known/audit-keys.json`: the public halves of the keys that sign audit files and checkpoints, for whoever verifies them.

use std::sync::Arc;

use ::http::{HeaderValue, StatusCode, header};
use serde_json::json;

use super::Anyone;
use crate::{
    http::{
        answer::IntoAnswered,
        answered::{Answered, json_headers},
        openapi::{AnswerFacts, Schemas},
        refusal::Refusal,
    },
    token::AuditKeySet,
};

/// Copies may be kept for five minutes.
const CACHING: &str = "public, max-age=300";

/// The keys as a JSON document without the envelope.
pub(crate) struct Published(Arc<AuditKeySet>);

pub(crate) async fn get(anyone: Anyone, (): ()) -> Result<Published, Refusal> {
    anyone.auth.refresh_keys().await?;
    Ok(Published(anyone.auth.audit_keys()))
}

impl IntoAnswered for Published {
    /// As the JWKS, with `retiredAt` and `revokedAt`.
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
                    "retiredAt": { "type": "string", "format": "date-time" },
                    "revokedAt": { "type": "string", "format": "date-time" },
                },
            } } },
        });
        AnswerFacts::Plain { content_type: "application/json", schema }
    }

    fn into_answered(self, status: StatusCode) -> Result<Answered, Refusal> {
        let mut headers = json_headers();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(CACHING));
        Ok(Answered { status, headers, body: self.0.to_json()?.into(), cause: None })
    }
}
