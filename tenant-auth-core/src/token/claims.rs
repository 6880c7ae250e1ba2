//! The claims of each kind of token, and its `typ` header. The `typ` is explicit (RFC 8725, 3.11), so that a token of one kind is
//! never accepted in place of another.

use serde::{Deserialize, Serialize};

use crate::model::AuthMethod;

pub(super) const ACCESS_TYPE: &str = "at+jwt";
pub(super) const REFRESH_TYPE: &str = "rt+jwt";
pub(super) const PARTIAL_TYPE: &str = "pt+jwt";

/// Claims that name their issuer.
pub(super) trait Issued {
    fn issuer(&self) -> &str;
}

/// The claims of an access token. It carries no email, name, role or metadata: those are looked up when they are needed, so that
/// they are never stale.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct AccessClaims {
    pub(super) iss: String,
    pub(super) sub: String,
    pub(super) aud: String,
    pub(super) sid: String,
    #[serde(rename = "gen")]
    pub(super) generation: i64,
    pub(super) jti: String,
    pub(super) amr: Vec<AuthMethod>,
    pub(super) auth_time: i64,
    pub(super) iat: i64,
    pub(super) nbf: i64,
    pub(super) exp: i64,
}

/// The claims of a refresh token. The issuer is its audience, too: nobody else accepts it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RefreshClaims {
    pub(super) iss: String,
    pub(super) aud: String,
    pub(super) sid: String,
    #[serde(rename = "gen")]
    pub(super) generation: i64,
    pub(super) jti: String,
    pub(super) iat: i64,
    pub(super) nbf: i64,
    pub(super) exp: i64,
}

/// The claims of a partial token; `sid` is the id of the pending login.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PartialClaims {
    pub(super) iss: String,
    pub(super) aud: String,
    pub(super) sid: String,
    pub(super) jti: String,
    pub(super) iat: i64,
    pub(super) nbf: i64,
    pub(super) exp: i64,
}

impl Issued for AccessClaims {
    fn issuer(&self) -> &str {
        &self.iss
    }
}

impl Issued for RefreshClaims {
    fn issuer(&self) -> &str {
        &self.iss
    }
}

impl Issued for PartialClaims {
    fn issuer(&self) -> &str {
        &self.iss
    }
}
