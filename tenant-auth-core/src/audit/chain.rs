//! The hash chain of the audit log: which bytes are hashed, and how one entry links to the one before. An entry is its bare facts,
//! which stay for ever, and two personal parts, `data` and `context`, each with a random salt. The chain holds the parts' digests
//! only: a part and its salt can be wiped, and every other entry still proves that nothing was changed.
//!
//! What must stay true: no database and no clock here. The writer, the export and the verifier share these bytes.

use std::fmt;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::{hex, ports::Entropy, time::Timestamp};

/// What the chain of the deployment's own log has in the place of an organization's id.
pub(crate) const DEPLOYMENT: &str = "deployment";

/// A SHA-256 digest; in text 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hash([u8; 32]);

/// The salt of a part: 32 random bytes, so that nobody finds out by trying what a wiped part held.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Salt([u8; 32]);

/// The facts of an entry, in the order in which they are hashed and exported.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Facts<'a> {
    pub(crate) sequence: i64,
    pub(crate) id: &'a str,
    #[serde(rename = "type")]
    pub(crate) kind: &'a str,
    pub(crate) timestamp: Timestamp,
    /// The organization's id.
    pub(crate) org: &'a str,
    pub(crate) actor: ActorFacts<'a>,
    /// Whom the entry is about.
    pub(crate) user: Option<&'a str>,
}

/// Who caused an entry.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct ActorFacts<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'a str,
    pub(crate) id: Option<&'a str>,
}

/// A personal part of an entry: JSON text and its salt.
pub(crate) struct Part {
    pub(crate) text: String,
    pub(crate) salt: Salt,
}

impl Part {
    /// The part with a new salt.
    pub(crate) fn salted(text: String, entropy: &dyn Entropy) -> Self {
        let mut salt = [0; 32];
        entropy.fill(&mut salt);
        Self { text, salt: Salt(salt) }
    }

    /// What the chain holds of the part.
    pub(crate) fn digest(&self) -> Hash {
        Hash::of(&[&self.salt.0, self.text.as_bytes()])
    }
}

/// The hash of an entry: over the hash of the one before, the facts as they are exported, and the digests of `data` and `context`.
pub(crate) fn link(previous: &Hash, facts: &str, data: &Hash, context: &Hash) -> Hash {
    Hash::of(&[&previous.0, facts.as_bytes(), &data.0, &context.0])
}

impl Facts<'_> {
    /// The facts as they are hashed and exported.
    pub(crate) fn to_json(self) -> serde_json::Result<String> {
        serde_json::to_string(&self)
    }
}

impl Hash {
    /// The hash before the first entry of a chain; `word` is the organization's id, or [`DEPLOYMENT`].
    pub(crate) fn beginning(word: &str) -> Self {
        Self::of(&[word.as_bytes()])
    }

    /// Reads 64 lower-case hexadecimal digits.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        bytes_of(text).map(Self)
    }

    fn of(pieces: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for piece in pieces {
            hasher.update(piece);
        }
        Self(hasher.finalize().into())
    }
}

impl Salt {
    /// Reads 64 lower-case hexadecimal digits.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        bytes_of(text).map(Self)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::of(&self.0))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Salt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Hash(self.0), f)
    }
}

fn bytes_of(text: &str) -> Option<[u8; 32]> {
    let digit = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; 32];
    if text.len() != 64 {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: Facts<'_> = Facts {
        sequence: 7,
        id: "evt_1",
        kind: "member.joined",
        timestamp: Timestamp::from_millis(0),
        org: "org_1",
        actor: ActorFacts { kind: "system", id: None },
        user: Some("usr_1"),
    };

    /// Computed with another implementation (Python's hashlib): whoever kept an export must still be able to verify it.
    #[test]
    fn the_bytes_are_those_of_the_published_format() {
        let facts = FACTS.to_json().expect("is JSON");
        assert_eq!(
            facts,
            r#"{"sequence":7,"id":"evt_1","type":"member.joined","timestamp":"1970-01-01T00:00:00.000Z","org":"org_1","actor":{"type":"system","id":null},"user":"usr_1"}"#
        );
        let data = Part { text: r#"{"a":1}"#.to_owned(), salt: Salt([1; 32]) };
        let context = Part { text: "null".to_owned(), salt: Salt([2; 32]) };
        let hash = link(&Hash::beginning("org_1"), &facts, &data.digest(), &context.digest());
        assert_eq!(hash.to_string(), "9212d537d73b3bd6e8eab29947520af28e3a4bdd1254d2d40faa32369be7c94f");
    }

    #[test]
    fn a_hash_is_read_as_it_is_written_and_in_no_other_way() {
        let hash = Hash::beginning("org_1");
        let text = hash.to_string();
        assert_eq!(Hash::parse(&text), Some(hash));
        for wrong in [text.to_uppercase(), text[1..].to_owned(), format!("{text}0"), "g".repeat(64), "é".repeat(32)] {
            assert_eq!(Hash::parse(&wrong), None, "{wrong}");
        }
    }
}
