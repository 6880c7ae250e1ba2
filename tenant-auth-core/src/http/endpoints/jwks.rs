//! `/.well-known/jwks.json`: the public halves of the access-token keys (RFC 7517), for services that check tokens offline. Such a
//! check cannot see a logout; `POST /public/verify` can.

use ::http::{HeaderValue, StatusCode, header};
use jsonwebtoken::jwk::JwkSet;
use serde_json::json;

use super::Anyone;
use crate::{
    error::Error,
    http::{
        answer::IntoAnswered,
        answered::{Answered, json_headers},
        openapi::{AnswerFacts, Schemas},
        refusal::Refusal,
    },
};

/// Copies may be kept for five minutes.
const CACHING: &str = "public, max-age=300";

/// The set as a JSON document without the envelope, as verifiers expect it.
pub(crate) struct Published(JwkSet);

pub(crate) async fn get(anyone: Anyone, (): ()) -> Result<Published, Refusal> {
    anyone.auth.refresh_keys().await?;
    Ok(Published(anyone.auth.signer().jwks().clone()))
}

impl IntoAnswered for Published {
    /// RFC 7517, as far as Ed25519 keys use it (RFC 8037).
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

    fn into_answered(self, status: StatusCode) -> Result<Answered, Refusal> {
        let body = serde_json::to_vec(&self.0).map_err(Error::internal)?;
        let mut headers = json_headers();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(CACHING));
        Ok(Answered { status, headers, body: body.into(), cause: None })
    }
}
