//! Reading the parts of a line: each value must stand there as the service writes it.

use serde::{Deserialize, Serialize};

use crate::audit::{
    chain::{Hash, Part, Salt},
    format::{PartLine, ReadFacts},
};

/// A part as its line tells it.
pub(super) struct ReadPart {
    pub(super) digest: Hash,
    pub(super) text: Option<String>,
}

impl ReadPart {
    pub(super) fn of(part: &PartLine<'_>) -> Option<Self> {
        match (part.salt, part.part, part.digest) {
            (Some(salt), Some(part), None) => {
                let part = Part { text: part.get().to_owned(), salt: Salt::parse(salt)? };
                Some(Self { digest: part.digest(), text: Some(part.text) })
            }
            (None, None, Some(digest)) => Some(Self { digest: Hash::parse(digest)?, text: None }),
            _ => None,
        }
    }
}

/// The value, if the service writes it so.
pub(super) fn written_so<T: for<'de> Deserialize<'de> + Serialize>(text: &str) -> Option<T> {
    let value: T = serde_json::from_str(text).ok()?;
    (serde_json::to_string(&value).ok()? == text).then_some(value)
}

pub(super) fn written_so_facts(text: &str) -> Option<ReadFacts> {
    let facts: ReadFacts = serde_json::from_str(text).ok()?;
    (facts.as_facts().to_json().ok()? == text).then_some(facts)
}
