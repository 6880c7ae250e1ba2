//! Session tokens: access, refresh and partial tokens, JWTs signed with Ed25519 (behaviour.md, B31 and B32). A token is an
//! assertion, never the truth: its reader compares its generation with the session's row. Access tokens are signed by keys that the
//! JWKS shows; refresh tokens by keys that are never published.
//!
//! A generation's tokens are computed from the session's row alone, so that two refreshes within the reuse grace get the same
//! tokens (refresh token rotation: `account/refresh.rs`).

use std::{collections::HashMap, fmt, time::Duration};

use aws_lc_rs::signature::Ed25519KeyPair;
use jsonwebtoken::{
    Algorithm, DecodingKey, EncodingKey, Header, Validation,
    jwk::{Jwk, JwkSet, PublicKeyUse, ThumbprintHash},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    config::Config,
    error::Error,
    id::{Id, OrgId, SessionId, UserId},
    model::{AuthMethod, Session},
    secret::SignedToken,
    time::Timestamp,
};

/// The purpose of a signing key; a key of one purpose never verifies a token of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum KeyPurpose {
    /// Access tokens; the public half stands in the JWKS.
    Access,
    /// Refresh tokens.
    Internal,
}

impl KeyPurpose {
    pub(crate) const ALL: [Self; 2] = [Self::Access, Self::Internal];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Access => "access",
            Self::Internal => "internal",
        }
    }
}

/// The access and refresh token of a session.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Tokens {
    /// Short-lived; sent with every request.
    pub access: SignedToken,
    /// Long-lived; only good for the next pair.
    pub refresh: SignedToken,
    /// When the access token expires.
    pub access_expires_at: Timestamp,
    /// When the refresh token expires.
    pub refresh_expires_at: Timestamp,
}

/// The claims of an access token. It carries no email, name, role or metadata: those are looked up when they are needed, so that
/// they are never stale.
#[derive(Debug, Serialize, Deserialize)]
struct AccessClaims {
    iss: String,
    sub: String,
    aud: String,
    sid: String,
    #[serde(rename = "gen")]
    generation: i64,
    jti: String,
    amr: Vec<AuthMethod>,
    auth_time: i64,
    iat: i64,
    nbf: i64,
    exp: i64,
}

#[derive(Debug, Serialize, Deserialize)]
struct RefreshClaims {
    iss: String,
    aud: String,
    sid: String,
    #[serde(rename = "gen")]
    generation: i64,
    jti: String,
    iat: i64,
    nbf: i64,
    exp: i64,
}

#[derive(Debug, Serialize, Deserialize)]
struct PartialClaims {
    iss: String,
    aud: String,
    sid: String,
    jti: String,
    iat: i64,
    nbf: i64,
    exp: i64,
}

/// The partial token: what a person holds between the two steps of a login.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PartialToken {
    /// Exchanged for a session together with a code.
    pub token: SignedToken,
    /// When it ends.
    pub expires_at: Timestamp,
}

/// A genuine, unexpired access token, decoded.
#[derive(Debug, Clone)]
pub(crate) struct AccessToken {
    pub(crate) user: UserId,
    pub(crate) org: OrgId,
    pub(crate) session: SessionId,
    pub(crate) generation: i64,
}

/// A genuine, unexpired refresh token, decoded.
#[derive(Debug, Clone)]
pub(crate) struct RefreshToken {
    pub(crate) session: SessionId,
    pub(crate) generation: i64,
}

const ACCESS_TYPE: &str = "at+jwt";
const REFRESH_TYPE: &str = "rt+jwt";
const PARTIAL_TYPE: &str = "pt+jwt";

/// Signs and reads tokens.
pub(crate) struct Signer {
    issuer: String,
    access_ttl: Duration,
    refresh_ttl: Duration,
    active: HashMap<KeyPurpose, (String, EncodingKey)>,
    /// By purpose and kid: the algorithm and the key come from here, never from the token.
    known: HashMap<(KeyPurpose, String), DecodingKey>,
    validation: Validation,
    jwks: JwkSet,
}

/// A key pair as it is stored.
pub(crate) struct KeyPair {
    pub(crate) kid: String,
    pub(crate) purpose: KeyPurpose,
    pub(crate) is_active: bool,
    jwk: Jwk,
    encoding: EncodingKey,
}

impl KeyPair {
    /// A new key in PKCS#8 version 1; jsonwebtoken cannot read the public half out of version 2.
    pub(crate) fn generate_der() -> Result<Vec<u8>, Error> {
        let rng = aws_lc_rs::rand::SystemRandom::new();
        let der = Ed25519KeyPair::generate_pkcs8v1(&rng).map_err(|_| Error::internal("key generation failed"))?;
        Ok(der.as_ref().to_vec())
    }

    /// The kid is the public key's RFC 7638 thumbprint.
    pub(crate) fn from_der(der: &[u8], purpose: KeyPurpose, is_active: bool) -> Result<Self, Error> {
        let encoding = EncodingKey::from_ed_der(der);
        let mut jwk = Jwk::from_encoding_key(&encoding, Algorithm::EdDSA).map_err(Error::internal)?;
        let kid = jwk.thumbprint(ThumbprintHash::SHA256).map_err(Error::internal)?;
        jwk.common.key_id = Some(kid.clone());
        jwk.common.public_key_use = Some(PublicKeyUse::Signature);
        Ok(Self { kid, purpose, is_active, jwk, encoding })
    }
}

impl Signer {
    pub(crate) fn new(config: &Config, keys: Vec<KeyPair>) -> Result<Self, Error> {
        let mut validation = Validation::new(Algorithm::EdDSA);
        // jsonwebtoken would judge time by the system clock, and accept `exp == now`; audience differs by purpose.
        validation.validate_exp = false;
        validation.validate_nbf = false;
        validation.validate_aud = false;
        validation.set_required_spec_claims(&["exp", "iss"]);
        validation.set_issuer(&[config.issuer()]);
        let mut signer = Self {
            issuer: config.issuer().to_owned(),
            access_ttl: config.sessions.access_token_ttl,
            refresh_ttl: config.sessions.refresh_token_ttl,
            active: HashMap::new(),
            known: HashMap::new(),
            validation,
            jwks: JwkSet { keys: Vec::new() },
        };
        for key in keys {
            let decoding = DecodingKey::from_jwk(&key.jwk).map_err(Error::internal)?;
            signer.known.insert((key.purpose, key.kid.clone()), decoding);
            if key.purpose == KeyPurpose::Access {
                signer.jwks.keys.push(key.jwk);
            }
            if key.is_active {
                signer.active.insert(key.purpose, (key.kid, key.encoding));
            }
        }
        match KeyPurpose::ALL.iter().find(|purpose| !signer.active.contains_key(purpose)) {
            Some(purpose) => Err(Error::internal(format!("no active signing key for {}", purpose.as_str()))),
            None => Ok(signer),
        }
    }

    /// The tokens of the session's current generation. They end with the session at the latest.
    pub(crate) fn issue(&self, session: &Session) -> Result<Tokens, Error> {
        let issued = session.refreshed_at;
        let until = |ttl: Duration| issued.plus(ttl).min(session.expires_at).secs();
        let access = AccessClaims {
            iss: self.issuer.clone(),
            sub: session.user_id.as_str().to_owned(),
            aud: session.org_id.as_str().to_owned(),
            sid: session.id.as_str().to_owned(),
            generation: session.generation,
            jti: format!("{}.{}.a", session.id.body(), session.generation),
            amr: session.amr.clone(),
            auth_time: session.auth_time.secs(),
            iat: issued.secs(),
            nbf: issued.secs(),
            exp: until(self.access_ttl),
        };
        let refresh = RefreshClaims {
            iss: self.issuer.clone(),
            aud: self.issuer.clone(),
            sid: session.id.as_str().to_owned(),
            generation: session.generation,
            jti: format!("{}.{}.r", session.id.body(), session.generation),
            iat: issued.secs(),
            nbf: issued.secs(),
            exp: until(self.refresh_ttl),
        };
        Ok(Tokens {
            access: self.sign(KeyPurpose::Access, ACCESS_TYPE, &access)?,
            refresh: self.sign(KeyPurpose::Internal, REFRESH_TYPE, &refresh)?,
            access_expires_at: Timestamp::from_secs(access.exp),
            refresh_expires_at: Timestamp::from_secs(refresh.exp),
        })
    }

    /// The token of a login that waits for the second factor.
    pub(crate) fn issue_partial(&self, login: &SessionId, created: Timestamp, expires: Timestamp) -> Result<PartialToken, Error> {
        let (issued, expires_at) = (created.secs(), Timestamp::from_secs(expires.secs()));
        let claims = PartialClaims {
            iss: self.issuer.clone(),
            aud: self.issuer.clone(),
            sid: login.as_str().to_owned(),
            jti: format!("{}.p", login.body()),
            iat: issued,
            nbf: issued,
            exp: expires_at.secs(),
        };
        Ok(PartialToken { token: self.sign(KeyPurpose::Internal, PARTIAL_TYPE, &claims)?, expires_at })
    }

    /// The pending login of a partial token; `None` for anything but a genuine partial token that has not expired.
    pub(crate) fn read_partial(&self, token: &str, now: Timestamp) -> Option<SessionId> {
        let claims: PartialClaims = self.read(KeyPurpose::Internal, PARTIAL_TYPE, token)?;
        let valid = now < Timestamp::from_secs(claims.exp) && claims.aud == self.issuer;
        valid.then(|| Id::from_stored(claims.sid))
    }

    /// `None` for anything but a genuine access token that has not expired.
    pub(crate) fn read_access(&self, token: &str, now: Timestamp) -> Option<AccessToken> {
        let claims: AccessClaims = self.read(KeyPurpose::Access, ACCESS_TYPE, token)?;
        (now < Timestamp::from_secs(claims.exp)).then(|| AccessToken {
            user: Id::from_stored(claims.sub),
            org: Id::from_stored(claims.aud),
            session: Id::from_stored(claims.sid),
            generation: claims.generation,
        })
    }

    /// Whether this is an access token that we signed, expired or not.
    #[cfg(feature = "http")]
    pub(crate) fn signed_access(&self, token: &str) -> bool {
        self.read::<AccessClaims>(KeyPurpose::Access, ACCESS_TYPE, token).is_some()
    }

    /// `None` for anything but a genuine refresh token that has not expired.
    pub(crate) fn read_refresh(&self, token: &str, now: Timestamp) -> Option<RefreshToken> {
        let claims: RefreshClaims = self.read(KeyPurpose::Internal, REFRESH_TYPE, token)?;
        let valid = now < Timestamp::from_secs(claims.exp) && claims.aud == self.issuer;
        valid.then(|| RefreshToken { session: Id::from_stored(claims.sid), generation: claims.generation })
    }

    /// The public halves of the access-token keys (RFC 7517).
    pub(crate) fn jwks(&self) -> &JwkSet {
        &self.jwks
    }

    fn sign(&self, purpose: KeyPurpose, typ: &str, claims: &impl Serialize) -> Result<SignedToken, Error> {
        let (kid, key) = self.active.get(&purpose).ok_or_else(|| Error::internal("no active signing key"))?;
        let mut header = Header::new(Algorithm::EdDSA);
        header.typ = Some(typ.to_owned());
        header.kid = Some(kid.clone());
        jsonwebtoken::encode(&header, claims, key).map(SignedToken::new).map_err(Error::internal)
    }

    fn read<T: DeserializeOwned>(&self, purpose: KeyPurpose, typ: &str, token: &str) -> Option<T> {
        let header = jsonwebtoken::decode_header(token).ok()?;
        if header.typ.as_deref() != Some(typ) || header.crit.is_some() {
            return None;
        }
        let key = self.known.get(&(purpose, header.kid?))?;
        jsonwebtoken::decode(token, key, &self.validation).ok().map(|data| data.claims)
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}
