//! `/.well-known/jwks.json`: the public halves of the access-token keys (RFC 7517), for whoever checks tokens offline. Such a
//! check cannot see a logout; `POST /public/verify` can.

use jsonwebtoken::jwk::JwkSet;

use super::Anyone;
use crate::http::{answer::Plain, refusal::Refusal};

/// Seconds a copy may be kept (contract section 1).
const MAX_AGE: u32 = 300;

pub(crate) async fn get(anyone: Anyone, (): ()) -> Result<Plain<JwkSet>, Refusal> {
    Ok(Plain { document: anyone.auth.signer().jwks().clone(), max_age: MAX_AGE })
}
