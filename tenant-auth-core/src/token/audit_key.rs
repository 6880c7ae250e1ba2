//! Audit keys: Ed25519 keys that sign exports and checkpoints of audit logs, as JWS in the compact form (RFC 7515). They are other keys
//! than those of tokens, and their `typ` is another, so that neither ever passes for the other.

use std::time::Duration;

use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{error::Error, time::Timestamp};

const TYPE: &str = "audit+jwt";
const ALGORITHM: &str = "EdDSA";
/// How long after its end a key may still sign: what was begun before, by a clock that is ahead.
const LATE: Duration = Duration::from_secs(300);

/// A key that signs.
pub(crate) struct AuditKeyPair {
    pub(crate) kid: String,
    /// The public half as a JWK has it in `x`.
    pub(crate) public: String,
    pair: Ed25519KeyPair,
}

/// The header of a signature.
#[derive(Serialize, Deserialize)]
struct Header {
    alg: String,
    typ: String,
    kid: String,
    #[serde(default, skip_serializing)]
    crit: Option<Value>,
}

impl AuditKeyPair {
    /// A new key in PKCS#8.
    pub(crate) fn generate_der() -> Result<Vec<u8>, Error> {
        super::KeyPair::generate_der()
    }

    /// The kid is the public key's RFC 7638 thumbprint.
    pub(crate) fn from_der(der: &[u8]) -> Result<Self, Error> {
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der).map_err(Error::internal)?;
        let public = URL_SAFE_NO_PAD.encode(pair.public_key());
        Ok(Self { kid: thumbprint(&public), public, pair })
    }

    /// Signs an object; `iat` is added to it.
    pub(crate) fn sign(&self, object: Value, now: Timestamp) -> Result<String, Error> {
        let mut payload = object;
        payload["iat"] = now.secs().into();
        let header = Header { alg: ALGORITHM.to_owned(), typ: TYPE.to_owned(), kid: self.kid.clone(), crit: None };
        let encode = |text: serde_json::Result<Vec<u8>>| text.map(|text| URL_SAFE_NO_PAD.encode(text)).map_err(Error::internal);
        let signed = format!("{}.{}", encode(serde_json::to_vec(&header))?, encode(serde_json::to_vec(&payload))?);
        let signature = URL_SAFE_NO_PAD.encode(self.pair.sign(signed.as_bytes()));
        Ok(format!("{signed}.{signature}"))
    }
}

fn thumbprint(public: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{public}"}}"#)))
}

/// The public halves of a deployment's audit keys, old ones included, as `/.well-known/audit-keys.json` publishes them: what audit files
/// and checkpoints are verified with.
#[derive(Debug, Clone, Default)]
pub struct AuditKeySet {
    keys: Vec<PublicAuditKey>,
}

/// A public half.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PublicAuditKey {
    kty: String,
    crv: String,
    x: String,
    kid: String,
    alg: String,
    #[serde(rename = "use")]
    usage: String,
    #[serde(flatten)]
    ends: KeyEnds,
}

/// When a key's time was over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeyEnds {
    /// Since when another key signs; also `None` where that is not known any more.
    #[serde(rename = "retiredAt", default, skip_serializing_if = "Option::is_none")]
    pub(crate) retired: Option<Timestamp>,
    /// Since when somebody else may have the private half.
    #[serde(rename = "revokedAt", default, skip_serializing_if = "Option::is_none")]
    pub(crate) revoked: Option<Timestamp>,
}

#[derive(Serialize, Deserialize)]
struct Document<K> {
    keys: Vec<K>,
}

/// What a signature says, and how far it is to be believed.
pub(crate) struct Signed {
    /// The object that was signed, without `iat`.
    pub(crate) object: Value,
    /// `iat`: when it was made, in seconds since the Unix epoch.
    pub(crate) made: i64,
    /// Whether somebody else may have had the key since: with it a signature can be dated back.
    pub(crate) is_doubtful: bool,
}

/// Why a signature is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadSignature {
    #[error("the signature is none of an audit key")]
    Malformed,
    #[error("the signature is of a key that is not among the keys")]
    UnknownKey,
    #[error("the signature does not hold")]
    False,
    #[error("the signature was made after its key was revoked")]
    Revoked,
    #[error("the signature was made after another key had replaced its key")]
    Retired,
}

impl PublicAuditKey {
    pub(crate) fn new(kid: String, x: String, ends: KeyEnds) -> Self {
        let [kty, crv, alg, usage] = ["OKP", "Ed25519", ALGORITHM, "sig"].map(str::to_owned);
        Self { kty, crv, x, kid, alg, usage, ends }
    }
}

impl AuditKeySet {
    pub(crate) fn new(keys: Vec<PublicAuditKey>) -> Self {
        Self { keys }
    }

    /// Reads the document; `None` where it is none or has no key that can be used.
    pub fn parse(text: &str) -> Option<Self> {
        let Document::<Value> { keys } = serde_json::from_str(text).ok()?;
        let read = keys.into_iter().filter_map(|key| serde_json::from_value::<PublicAuditKey>(key).ok());
        let keys: Vec<_> = read.filter(|key| key.kty == "OKP" && key.crv == "Ed25519" && key.kid == thumbprint(&key.x)).collect();
        (!keys.is_empty()).then_some(Self { keys })
    }

    /// The document.
    ///
    /// # Errors
    /// [`Error::Internal`] when it cannot be written as JSON.
    pub fn to_json(&self) -> Result<String, Error> {
        serde_json::to_string(&Document { keys: self.keys.clone() }).map_err(Error::internal)
    }

    /// Verifies a signature. The algorithm and the key come from here, never from the signature.
    pub(crate) fn verify(&self, jws: &str) -> Result<Signed, BadSignature> {
        let (signed, signature) = jws.rsplit_once('.').ok_or(BadSignature::Malformed)?;
        let (header, payload) = signed.split_once('.').ok_or(BadSignature::Malformed)?;
        let decode = |text: &str| URL_SAFE_NO_PAD.decode(text).map_err(|_| BadSignature::Malformed);
        let header: Header = serde_json::from_slice(&decode(header)?).map_err(|_| BadSignature::Malformed)?;
        if header.alg != ALGORITHM || header.typ != TYPE || header.crit.is_some() {
            return Err(BadSignature::Malformed);
        }
        let key = self.keys.iter().find(|key| key.kid == header.kid).ok_or(BadSignature::UnknownKey)?;
        let public = UnparsedPublicKey::new(&ED25519, decode(&key.x)?);
        public.verify(signed.as_bytes(), &decode(signature)?).map_err(|_| BadSignature::False)?;
        let mut object: Value = serde_json::from_slice(&decode(payload)?).map_err(|_| BadSignature::Malformed)?;
        let made = object.as_object_mut().and_then(|object| object.remove("iat"));
        let made = made.and_then(|made| made.as_i64()).ok_or(BadSignature::Malformed)?;
        let (at, KeyEnds { retired, revoked }) = (Timestamp::from_secs(made), key.ends);
        if revoked.is_some_and(|revoked| at >= revoked) {
            return Err(BadSignature::Revoked);
        }
        if retired.is_some_and(|retired| at > retired.plus(LATE)) {
            return Err(BadSignature::Retired);
        }
        Ok(Signed { object, made, is_doubtful: revoked.is_some() })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const THEN: Timestamp = Timestamp::from_secs(1_700_000_000);

    fn key() -> AuditKeyPair {
        AuditKeyPair::from_der(&AuditKeyPair::generate_der().expect("a key")).expect("readable")
    }

    fn set(key: &AuditKeyPair, ends: KeyEnds) -> AuditKeySet {
        AuditKeySet::new(vec![PublicAuditKey::new(key.kid.clone(), key.public.clone(), ends)])
    }

    fn revoked(at: Timestamp) -> KeyEnds {
        KeyEnds { revoked: Some(at), ..KeyEnds::default() }
    }

    #[test]
    fn what_is_signed_is_read_by_the_published_key_alone() {
        let (key, other) = (key(), key());
        let jws = key.sign(json!({ "a": 1 }), THEN).expect("signed");
        let published = AuditKeySet::parse(&set(&key, KeyEnds::default()).to_json().expect("JSON")).expect("a set");
        let signed = published.verify(&jws).expect("holds");
        assert_eq!((signed.object, signed.is_doubtful), (json!({ "a": 1 }), false));
        assert_eq!(set(&other, KeyEnds::default()).verify(&jws).err(), Some(BadSignature::UnknownKey));
        for at in 0..jws.len() {
            let mut bytes = jws.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            assert!(published.verify(&String::from_utf8(bytes).expect("ASCII")).is_err(), "{at}");
        }
    }

    #[test]
    fn a_revoked_key_signs_nothing_more_and_leaves_doubt_before() {
        let key = key();
        let jws = key.sign(json!({}), THEN).expect("signed");
        assert_eq!(set(&key, revoked(THEN)).verify(&jws).err(), Some(BadSignature::Revoked));
        assert!(set(&key, revoked(THEN.plus(Duration::from_secs(1)))).verify(&jws).is_ok_and(|signed| signed.is_doubtful));
    }

    #[test]
    fn a_retired_key_vouches_for_what_it_signed_and_for_nothing_later() {
        let key = key();
        let retired = |at| KeyEnds { retired: Some(at), ..KeyEnds::default() };
        let published = AuditKeySet::parse(&set(&key, retired(THEN)).to_json().expect("JSON")).expect("a set");
        let signed_at = |at| published.verify(&key.sign(json!({}), at).expect("signed"));
        assert!(signed_at(THEN).is_ok_and(|signed| !signed.is_doubtful));
        assert!(signed_at(THEN.plus(LATE)).is_ok());
        assert_eq!(signed_at(THEN.plus(LATE + Duration::from_secs(1))).err(), Some(BadSignature::Retired));
    }

    #[test]
    fn a_token_is_no_signature_of_an_audit_key() {
        let key = key();
        let jws = key.sign(json!({}), THEN).expect("signed");
        let (_, rest) = jws.split_once('.').expect("three parts");
        for header in [
            json!({ "alg": "EdDSA", "typ": "at+jwt", "kid": key.kid }),
            json!({ "alg": "none", "typ": TYPE, "kid": key.kid }),
            json!({ "alg": "EdDSA", "typ": TYPE, "kid": key.kid, "crit": ["b64"] }),
        ] {
            let jws = format!("{}.{rest}", URL_SAFE_NO_PAD.encode(header.to_string()));
            assert_eq!(set(&key, KeyEnds::default()).verify(&jws).err(), Some(BadSignature::Malformed));
        }
    }
}
