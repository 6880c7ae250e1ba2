//! Encryption at rest for values that must be read again: signing keys, webhook secrets, second factors and waiting mails.
//! XChaCha20-Poly1305 under a master key, bound to table, column, row and organization as associated data, so that a sealed value
//! moved elsewhere does not open.

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use chacha20poly1305::{
    Key, KeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead, Payload},
};
use hmac::{Hmac, KeyInit as _, Mac};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::{
    error::Error,
    hex,
    ports::{Entropy, OsEntropy},
};

/// Layout of a sealed value: `v1.<key id>.<nonce>.<ciphertext>`, the last two in base64.
const VERSION: &str = "v1";

/// What the key of the tags is derived for.
const TAG_PURPOSE: &[u8] = b"tenant-auth tag of keys and links, 1";

/// Values that stand in documentation and must never protect anything.
const SAMPLES: [&str; 2] = [
    "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", // 00 01 02 … 1f
    "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=", // 01 02 03 … 20
];

/// The master keys: the first seals, all open (behaviour.md, B117).
#[derive(Clone)]
pub struct MasterKeys(Vec<MasterKey>);

#[derive(Clone)]
struct MasterKey {
    id: String,
    bytes: Zeroizing<[u8; 32]>,
    /// The key of the tags of API keys and links. Derived once: each verification checks such a tag.
    tag_key: Zeroizing<[u8; 32]>,
}

/// Why a master key cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MasterKeyError {
    /// The list is empty.
    #[error("is missing; make one with: openssl rand -base64 32")]
    Missing,
    /// Not standard base64 of 32 bytes.
    #[error("must be standard base64 of exactly 32 bytes; make one with: openssl rand -base64 32")]
    Malformed,
    /// All bytes equal, or a published sample.
    #[error("is a sample, a text, or one byte again and again; make a random one with: openssl rand -base64 32")]
    Weak,
}

/// The length of a nonce of XChaCha20-Poly1305.
const NONCE: usize = 24;

/// The cell a sealed value belongs to; the value opens in no other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SealContext<'a> {
    pub(crate) table: &'static str,
    pub(crate) column: &'static str,
    pub(crate) row: &'a str,
    /// Empty for what belongs to the deployment.
    pub(crate) org: &'a str,
}

impl MasterKeys {
    /// Reads a comma-separated list of base64 keys.
    ///
    /// # Errors
    /// [`MasterKeyError`] for the first key that cannot be used.
    pub fn parse(list: &str) -> Result<Self, MasterKeyError> {
        let keys =
            list.split(',').map(str::trim).filter(|key| !key.is_empty()).map(MasterKey::parse).collect::<Result<Vec<_>, _>>()?;
        if keys.is_empty() { Err(MasterKeyError::Missing) } else { Ok(Self(keys)) }
    }

    /// A new random key as text.
    pub fn generate_text() -> String {
        let mut bytes = Zeroizing::new([0u8; 32]);
        OsEntropy.fill(&mut *bytes);
        STANDARD.encode(*bytes)
    }

    /// Seals under the first key.
    pub(crate) fn seal(&self, plain: &[u8], context: SealContext<'_>, entropy: &dyn Entropy) -> Result<String, Error> {
        let key = self.0.first().ok_or_else(|| Error::internal("no master key"))?;
        let mut nonce = [0u8; NONCE];
        entropy.fill(&mut nonce);
        let sealed = key
            .cipher()
            .encrypt(XNonce::from_slice(&nonce), Payload { msg: plain, aad: &context.bound(&key.id) })
            .map_err(|_| Error::internal("sealing failed"))?;
        Ok(format!("{VERSION}.{}.{}.{}", key.id, STANDARD.encode(nonce), STANDARD.encode(sealed)))
    }

    /// Seals under the first key for somebody who brings it back, and learns nothing from it: the nonce, and the sealed bytes. `bound` is
    /// what it is good for.
    pub(crate) fn seal_bytes(&self, plain: &[u8], bound: &[u8], entropy: &dyn Entropy) -> Result<Vec<u8>, Error> {
        let key = self.0.first().ok_or_else(|| Error::internal("no master key"))?;
        let mut nonce = [0u8; NONCE];
        entropy.fill(&mut nonce);
        let payload = Payload { msg: plain, aad: bound };
        let sealed = key.cipher().encrypt(XNonce::from_slice(&nonce), payload).map_err(|_| Error::internal("sealing failed"))?;
        Ok([&nonce[..], &sealed].concat())
    }

    /// Opens what [`MasterKeys::seal_bytes`] sealed under any of the keys.
    pub(crate) fn open_bytes(&self, sealed: &[u8], bound: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let (nonce, text) = sealed.split_at_checked(NONCE)?;
        let open = |key: &MasterKey| key.cipher().decrypt(XNonce::from_slice(nonce), Payload { msg: text, aad: bound }).ok();
        self.0.iter().find_map(open).map(Zeroizing::new)
    }

    /// The keys of the tags on API keys and links, the first one first.
    pub(crate) fn tag_keys(&self) -> impl Iterator<Item = &[u8; 32]> {
        self.0.iter().map(|key| &*key.tag_key)
    }

    /// Whether the key that seals today sealed this.
    pub(crate) fn is_sealed_by_first(&self, sealed: &str) -> bool {
        let key = sealed.split('.').nth(1);
        key.is_some() && key == self.0.first().map(|key| key.id.as_str())
    }

    /// Opens a value sealed under any of the keys; `None` when no key fits, or the value was moved or changed.
    pub(crate) fn open(&self, sealed: &str, context: SealContext<'_>) -> Option<Zeroizing<Vec<u8>>> {
        let mut parts = sealed.split('.');
        let (version, id, nonce, text) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let (nonce, text) = (STANDARD.decode(nonce).ok()?, STANDARD.decode(text).ok()?);
        if version != VERSION || nonce.len() != NONCE {
            return None;
        }
        let key = self.0.iter().find(|key| key.id == id)?;
        let payload = Payload { msg: &text, aad: &context.bound(id) };
        key.cipher().decrypt(XNonce::from_slice(&nonce), payload).ok().map(Zeroizing::new)
    }
}

impl MasterKey {
    fn parse(text: &str) -> Result<Self, MasterKeyError> {
        let decoded = Zeroizing::new(STANDARD.decode(text).map_err(|_| MasterKeyError::Malformed)?);
        let bytes: [u8; 32] = decoded.as_slice().try_into().map_err(|_| MasterKeyError::Malformed)?;
        // Every byte is printable: a person's phrase, not chance (which makes one such key in 10^13).
        let is_phrase = bytes.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ');
        if SAMPLES.contains(&text) || is_phrase || bytes.iter().all(|b| *b == bytes[0]) {
            return Err(MasterKeyError::Weak);
        }
        // The id names the key in sealed values and must not help to find it.
        let mut hash = Sha256::new();
        hash.update(b"tenant-auth master key id");
        hash.update(bytes);
        let id = hex::of(&hash.finalize()[..6]);
        let tag_key = Zeroizing::new(mac(&bytes, TAG_PURPOSE));
        Ok(Self { id, bytes: Zeroizing::new(bytes), tag_key })
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(Key::from_slice(&*self.bytes))
    }
}

/// HMAC-SHA256 (RFC 2104).
pub(crate) fn mac(key: &[u8; 32], message: &[u8]) -> [u8; 32] {
    // A key shorter than the hash's block is padded with zeros.
    let mut block = Zeroizing::new([0u8; 64]);
    block[..32].copy_from_slice(key);
    let mut mac = Hmac::<Sha256>::new((&*block).into());
    mac.update(message);
    mac.finalize().into_bytes().into()
}

impl SealContext<'_> {
    /// The associated data. None of its parts can hold the separator.
    fn bound(&self, key: &str) -> Vec<u8> {
        [VERSION, key, self.table, self.column, self.row, self.org].join("\n").into_bytes()
    }
}

impl fmt::Debug for MasterKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MasterKeys({} redacted)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: SealContext<'_> = SealContext { table: "mails", column: "content", row: "dlv_1", org: "org_1" };

    fn keys() -> MasterKeys {
        MasterKeys::parse(&MasterKeys::generate_text()).expect("a generated key is usable")
    }

    #[test]
    fn a_sealed_value_opens_only_where_it_stands() {
        let keys = keys();
        let sealed = keys.seal(b"secret", HERE, &OsEntropy).expect("seals");
        assert_eq!(keys.open(&sealed, HERE).as_deref().map(Vec::as_slice), Some(&b"secret"[..]));
        assert!(keys.open(&sealed, SealContext { row: "dlv_2", ..HERE }).is_none());
        assert!(keys.open(&sealed, SealContext { org: "org_2", ..HERE }).is_none());
        assert!(keys.open(&sealed, SealContext { column: "other", ..HERE }).is_none());
        assert!(keys.open(&sealed, SealContext { table: "other", ..HERE }).is_none());
        assert!(self::keys().open(&sealed, HERE).is_none(), "another master key");
        assert!(keys.open("v1.x.y.z", HERE).is_none());
    }

    #[test]
    fn every_key_of_the_list_opens_and_the_first_seals() {
        let (old, new) = (MasterKeys::generate_text(), MasterKeys::generate_text());
        let sealed = MasterKeys::parse(&old).expect("valid").seal(b"x", HERE, &OsEntropy).expect("seals");
        let both = MasterKeys::parse(&format!("{new}, {old}")).expect("valid");
        assert!(both.open(&sealed, HERE).is_some());
        let resealed = both.seal(b"x", HERE, &OsEntropy).expect("seals");
        assert!(MasterKeys::parse(&new).expect("valid").open(&resealed, HERE).is_some());
    }

    #[test]
    fn sealed_bytes_open_for_what_they_are_good_for() {
        let (old, new) = (MasterKeys::generate_text(), MasterKeys::generate_text());
        let here = MasterKeys::parse(&old).expect("valid");
        let sealed = here.seal_bytes(b"secret", b"org_1", &OsEntropy).expect("seals");
        assert_ne!(sealed, here.seal_bytes(b"secret", b"org_1", &OsEntropy).expect("seals"), "equal ones look different");
        let both = MasterKeys::parse(&format!("{new}, {old}")).expect("valid");
        assert_eq!(both.open_bytes(&sealed, b"org_1").as_deref().map(Vec::as_slice), Some(&b"secret"[..]));
        assert!(both.open_bytes(&sealed, b"org_2").is_none());
        assert!(both.open_bytes(&sealed[..sealed.len() - 1], b"org_1").is_none() && both.open_bytes(b"short", b"org_1").is_none());
        assert!(MasterKeys::parse(&new).expect("valid").open_bytes(&sealed, b"org_1").is_none(), "another master key");
    }

    #[test]
    fn weak_keys_are_refused() {
        assert_eq!(MasterKeys::parse("").err(), Some(MasterKeyError::Missing));
        assert_eq!(MasterKeys::parse("c2hvcnQ=").err(), Some(MasterKeyError::Malformed));
        assert_eq!(MasterKeys::parse(&STANDARD.encode([7u8; 32])).err(), Some(MasterKeyError::Weak));
        for sample in SAMPLES.into_iter().chain(["Y2hhbmdlLW1lLWNoYW5nZS1tZS1jaGFuZ2UtbWUtMTI="]) {
            assert_eq!(MasterKeys::parse(sample).err(), Some(MasterKeyError::Weak), "{sample}");
        }
    }
}
