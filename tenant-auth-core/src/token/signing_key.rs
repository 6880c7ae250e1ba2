//! Signing keys: Ed25519 key pairs, each for one purpose.

use aws_lc_rs::signature::Ed25519KeyPair;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{
    Algorithm, EncodingKey,
    jwk::{AlgorithmParameters, Jwk, PublicKeyUse, ThumbprintHash},
};

use crate::error::Error;

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

/// A stored key pair, ready for use.
pub(crate) struct KeyPair {
    pub(crate) kid: String,
    pub(crate) purpose: KeyPurpose,
    pub(crate) is_active: bool,
    pub(super) jwk: Jwk,
    pub(super) encoding: EncodingKey,
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

    /// The public half (RFC 8032): 32 bytes.
    pub(super) fn public(&self) -> Result<Vec<u8>, Error> {
        match &self.jwk.algorithm {
            AlgorithmParameters::OctetKeyPair(key) => URL_SAFE_NO_PAD.decode(&key.x).map_err(Error::internal),
            _ => Err(Error::internal("a signing key is no Ed25519 key")),
        }
    }
}
