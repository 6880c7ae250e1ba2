//! Signing and verifying tokens with the current set of keys. Rotation makes a new [`Signer`] (`keys.rs`).

use std::{collections::HashMap, fmt, time::Duration};

use aws_lc_rs::signature::{ED25519, ParsedPublicKey};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{Algorithm, EncodingKey, Header, dangerous, jwk::JwkSet};
use serde::{Serialize, de::DeserializeOwned};

use super::{
    claims::{ACCESS_TYPE, AccessClaims, Issued, PARTIAL_TYPE, PartialClaims, REFRESH_TYPE, RefreshClaims},
    signing_key::{KeyPair, KeyPurpose},
    tokens::{AccessToken, PartialToken, RefreshToken, Tokens},
};
use crate::{
    config::Config,
    error::Error,
    id::{Id, SessionId},
    model::Session,
    secret::SignedToken,
    time::Timestamp,
};

/// Signs tokens, and verifies tokens by the keys of their purpose.
pub(crate) struct Signer {
    issuer: String,
    access_ttl: Duration,
    refresh_ttl: Duration,
    active: HashMap<KeyPurpose, (String, EncodingKey)>,
    /// By kid, with the purpose: the algorithm and the key come from here, never from the token. Parsed once: that costs as much as
    /// a third of a verification.
    known: HashMap<String, (KeyPurpose, ParsedPublicKey)>,
    jwks: JwkSet,
}

impl Signer {
    pub(crate) fn new(config: &Config, keys: Vec<KeyPair>) -> Result<Self, Error> {
        let mut signer = Self {
            issuer: config.issuer().to_owned(),
            access_ttl: config.sessions.access_token_ttl,
            refresh_ttl: config.sessions.refresh_token_ttl,
            active: HashMap::new(),
            known: HashMap::new(),
            jwks: JwkSet { keys: Vec::new() },
        };
        for key in keys {
            let public = ParsedPublicKey::new(&ED25519, key.public()?).map_err(Error::internal)?;
            signer.known.insert(key.kid.clone(), (key.purpose, public));
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
            expires_at: Timestamp::from_secs(claims.exp),
        })
    }

    /// Whether the text names a key that is in use here, or none at all.
    pub(crate) fn knows_key_of(&self, token: &str) -> bool {
        let kid = jsonwebtoken::decode_header(token).ok().and_then(|header| header.kid);
        kid.is_none_or(|kid| self.known.contains_key(&kid))
    }

    /// Whether this is an access token that we signed, expired or not.
    #[cfg(feature = "http")]
    pub(crate) fn signed_access(&self, token: &str) -> bool {
        self.read::<AccessClaims>(KeyPurpose::Access, ACCESS_TYPE, token).is_some()
    }

    /// Whether this is a refresh token that we signed, expired or not.
    #[cfg(feature = "http")]
    pub(crate) fn signed_refresh(&self, token: &str) -> bool {
        self.read::<RefreshClaims>(KeyPurpose::Internal, REFRESH_TYPE, token).is_some()
    }

    /// `None` for anything but a genuine refresh token that has not expired.
    pub(crate) fn read_refresh(&self, token: &str, now: Timestamp) -> Option<RefreshToken> {
        let claims: RefreshClaims = self.read(KeyPurpose::Internal, REFRESH_TYPE, token)?;
        let valid = now < Timestamp::from_secs(claims.exp) && claims.aud == self.issuer;
        valid.then(|| RefreshToken { session: Id::from_stored(claims.sid), generation: claims.generation })
    }

    /// The public halves of the access-token keys (RFC 7517).
    #[cfg(feature = "http")]
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

    /// The claims of a token that a key of this purpose signed for this issuer. Whether it has expired is judged by whoever asks, by
    /// the service's clock: jsonwebtoken would judge by the system's, and accept `exp == now`.
    fn read<T: DeserializeOwned + Issued>(&self, purpose: KeyPurpose, typ: &str, token: &str) -> Option<T> {
        let header = jsonwebtoken::decode_header(token).ok()?;
        if header.alg != Algorithm::EdDSA || header.typ.as_deref() != Some(typ) || header.crit.is_some() {
            return None;
        }
        let (_, key) = self.known.get(&header.kid?).filter(|(known, _)| *known == purpose)?;
        let (signed, signature) = token.rsplit_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        key.verify_sig(signed.as_bytes(), &signature).ok()?;
        // Read only now, when it is known to be ours.
        let claims: T = dangerous::insecure_decode_claims(token).ok()?;
        (claims.issuer() == self.issuer).then_some(claims)
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}
