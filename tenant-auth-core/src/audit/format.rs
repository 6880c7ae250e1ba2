//! The lines of an audit file, as `guides/audit.md` documents them: a header, an entry each, and a last line. What is written here is
//! read by the verifier byte for byte: a line that would be written in another way was changed.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, value::RawValue};
use sha2::{Digest as _, Sha256};

use super::chain::{ActorFacts, Facts};
use crate::{error::Error, hex, store::ExportedEntry, time::Timestamp, token::AuditKeyPair};

pub(super) const FORMAT: &str = "tenant-auth-audit/1";

/// The first line.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub(super) format: String,
    /// The organization's id.
    pub(super) org: String,
    /// The time from which on entries are in the file; `None`: from the first that is kept.
    pub(super) from: Option<Timestamp>,
    /// The time before which they are.
    pub(super) to: Option<Timestamp>,
    /// The hash before the first entry.
    pub(super) previous: String,
    /// The parts of the chain that came from another deployment.
    pub(super) imported: Vec<ImportedPart>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) jws: Option<String>,
}

/// A part of the chain that came from another deployment: everything up to its last entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ImportedPart {
    pub(crate) entries: u64,
    pub(crate) last_sequence: i64,
    pub(crate) head: String,
}

impl ImportedPart {
    /// The part that an `org.imported` event tells of, beside what else it tells.
    pub(crate) fn told(data: &str) -> serde_json::Result<Self> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Told {
            entries: u64,
            last_sequence: i64,
            head: String,
        }
        serde_json::from_str(data).map(|Told { entries, last_sequence, head }| Self { entries, last_sequence, head })
    }
}

/// The last line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Last {
    /// How many entries the file has.
    pub(super) count: u64,
    /// The hash of the last entry; where there is none, the one before the first.
    pub(super) head: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) jws: Option<String>,
}

/// A line between.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry<'a> {
    #[serde(borrow)]
    pub(super) facts: &'a RawValue,
    #[serde(borrow)]
    pub(super) data: PartLine<'a>,
    #[serde(borrow)]
    pub(super) context: PartLine<'a>,
    pub(super) hash: &'a str,
}

/// A part: with its salt, or wiped, with its digest alone.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PartLine<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) salt: Option<&'a str>,
    #[serde(default, borrow, skip_serializing_if = "Option::is_none", deserialize_with = "raw")]
    pub(super) part: Option<&'a RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) digest: Option<&'a str>,
}

/// A part that is `null` is not a part that is missing.
fn raw<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&'a RawValue>::deserialize(deserializer).map(Some)
}

/// The facts of an entry as they are read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadFacts {
    pub(super) sequence: i64,
    pub(super) id: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) timestamp: Timestamp,
    pub(super) org: String,
    pub(super) actor: ReadActor,
    pub(super) user: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadActor {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) id: Option<String>,
}

impl ReadFacts {
    pub(super) fn as_facts(&self) -> Facts<'_> {
        Facts {
            sequence: self.sequence,
            id: &self.id,
            kind: &self.kind,
            timestamp: self.timestamp,
            org: &self.org,
            actor: ActorFacts { kind: &self.actor.kind, id: self.actor.id.as_deref() },
            user: self.user.as_deref(),
        }
    }
}

/// The values of a line that a signature covers, with the digest of the whole file before it.
pub(super) fn signed_values(line: &impl Serialize, before: &Sha256) -> serde_json::Result<Value> {
    let mut object = serde_json::to_value(line)?;
    if let Some(fields) = object.as_object_mut() {
        fields.remove("jws");
        fields.insert("sha256".to_owned(), hex::of(&before.clone().finalize()).into());
    }
    Ok(object)
}

/// Writes lines one after the other, and knows what was written.
pub(super) struct Lines {
    key: AuditKeyPair,
    at: Timestamp,
    before: Sha256,
    /// What waits to be sent.
    pub(super) waiting: Vec<u8>,
}

impl Lines {
    /// Signs with this key, as of this time.
    pub(super) fn new(key: AuditKeyPair, at: Timestamp) -> Self {
        Self { key, at, before: Sha256::new(), waiting: Vec::new() }
    }

    pub(super) fn header(&mut self, mut header: Header) -> Result<(), Error> {
        header.jws = Some(self.signature_of(&header)?);
        self.put(&header)
    }

    pub(super) fn entry(&mut self, entry: &ExportedEntry, org: &str) -> Result<(), Error> {
        let facts = Facts {
            sequence: entry.sequence,
            id: &entry.id,
            kind: &entry.kind,
            timestamp: Timestamp::from_millis(entry.created_at),
            org,
            actor: ActorFacts { kind: &entry.actor_type, id: entry.actor_id.as_deref() },
            user: entry.user_id.as_deref(),
        };
        let facts = RawValue::from_string(facts.to_json().map_err(Error::internal)?).map_err(Error::internal)?;
        let part = |part: &'_ Option<String>| part.clone().map(RawValue::from_string).transpose().map_err(Error::internal);
        let (data, context) = (part(&entry.data)?, part(&entry.context)?);
        self.put(&Entry {
            facts: &facts,
            data: PartLine::of(data.as_deref(), entry.data_salt.as_deref(), &entry.data_digest),
            context: PartLine::of(context.as_deref(), entry.context_salt.as_deref(), &entry.context_digest),
            hash: &entry.hash,
        })
    }

    pub(super) fn last(&mut self, mut last: Last) -> Result<(), Error> {
        last.jws = Some(self.signature_of(&last)?);
        self.put(&last)
    }

    fn signature_of(&self, line: &impl Serialize) -> Result<String, Error> {
        self.key.sign(signed_values(line, &self.before).map_err(Error::internal)?, self.at)
    }

    fn put(&mut self, line: &impl Serialize) -> Result<(), Error> {
        let begin = self.waiting.len();
        serde_json::to_writer(&mut self.waiting, line).map_err(Error::internal)?;
        self.waiting.push(b'\n');
        self.before.update(&self.waiting[begin..]);
        Ok(())
    }
}

impl<'a> PartLine<'a> {
    fn of(part: Option<&'a RawValue>, salt: Option<&'a str>, digest: &'a str) -> Self {
        match (part, salt) {
            (Some(part), Some(salt)) => Self { salt: Some(salt), part: Some(part), digest: None },
            _ => Self { digest: Some(digest), ..Self::default() },
        }
    }
}
