//! The audit log of an import: a closed part of the chain, taken over byte for byte once every hash in it is right. What the source
//! says of the beginning is believed, as is every fact: the chain proves only that nothing was changed since.

use crate::{
    audit::{
        ImportedPart,
        chain::{ActorFacts, Facts, Hash, Part, Salt, link},
    },
    model::EventKind,
    operator::moving::{
        entry::{EntryRecord, PartRecord},
        record::{ChainRecord, OrganizationRecord},
    },
    store::ExportedEntry,
    time::Timestamp,
};

/// Kinds and ids are far shorter.
const MOST_CHARACTERS: usize = 64;
/// Beyond this a client that reads numbers as JavaScript does could not tell two apart.
const MOST_SEQUENCE: i64 = 1 << 53;
/// An organization moves a few times. Each export states all of its imports at its head.
const MOST_IMPORTS: u32 = 100;
/// The longest `data`: twice an entry's metadata of 16 KiB, and what stands beside it.
const MOST_DATA: usize = 64 * 1024;
/// The longest `context`: an address, a session and a `User-Agent` of 512 bytes, escaped.
const MOST_CONTEXT: usize = 8 * 1024;
const ACTORS: [&str; 4] = ["user", "api_key", "deployment_key", "system"];

/// How far the chain is verified.
pub(super) struct ChainCheck {
    pub(super) says: ChainRecord,
    pub(super) sequence: i64,
    pub(super) hash: Hash,
    pub(super) at: Timestamp,
    /// How many imports the entries so far tell of.
    imports: u32,
}

impl ChainCheck {
    /// Begins before the first entry that is kept.
    pub(super) fn of(organization: &OrganizationRecord) -> Result<Self, String> {
        let ChainRecord { last_sequence, head, last_at, first_sequence, previous } = &organization.chain;
        let beginning = Hash::beginning(organization.id.as_str());
        let hash = previous.as_deref().map_or(Some(beginning), Hash::parse).ok_or("the audit log's beginning is malformed")?;
        let is_sound = *first_sequence >= 1
            && *last_sequence >= first_sequence - 1
            && *last_sequence < MOST_SEQUENCE
            && (previous.is_some() || *first_sequence == 1);
        if !is_sound {
            return Err("the audit log's numbers contradict each other".to_owned());
        }
        let says = ChainRecord {
            last_sequence: *last_sequence,
            head: head.clone(),
            last_at: *last_at,
            first_sequence: *first_sequence,
            previous: previous.clone(),
        };
        Ok(Self { sequence: first_sequence - 1, hash, at: Timestamp::from_millis(0), imports: 0, says })
    }

    pub(super) fn last_sequence(&self) -> i64 {
        self.sequence
    }

    /// The hash of the last entry.
    pub(super) fn head(&self) -> String {
        self.hash.to_string()
    }

    /// Verifies the next entry, and returns its row.
    pub(super) fn follow(&mut self, org: &str, entry: EntryRecord) -> Result<ExportedEntry, String> {
        let (data, context) = (Kept::of(entry.data, MOST_DATA)?, Kept::of(entry.context, MOST_CONTEXT)?);
        let is_word = |text: &str| {
            (1..=MOST_CHARACTERS).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_.".contains(&byte))
        };
        let ids = [&entry.actor_id, &entry.user];
        if !is_word(&entry.kind) || !ACTORS.contains(&entry.actor_type.as_str()) || !ids.into_iter().flatten().all(|id| is_word(id))
        {
            return Err("is malformed".to_owned());
        }
        if entry.sequence != self.sequence + 1 || entry.timestamp < self.at {
            return Err("does not follow on the one before".to_owned());
        }
        if entry.kind == EventKind::OrgImported.as_str() {
            self.imports += 1;
            if self.imports > MOST_IMPORTS {
                return Err(format!("is one of more than {MOST_IMPORTS} that tell of an import"));
            }
            if !self.is_ended_by(data.text.as_deref()) {
                return Err("tells of another import than the entries before it".to_owned());
            }
        }
        let facts = Facts {
            sequence: entry.sequence,
            id: entry.id.as_str(),
            kind: &entry.kind,
            timestamp: entry.timestamp,
            org,
            actor: ActorFacts { kind: &entry.actor_type, id: entry.actor_id.as_deref() },
            user: entry.user.as_deref(),
        };
        let facts = facts.to_json().map_err(|error| error.to_string())?;
        let hash = link(&self.hash, &facts, &data.digest, &context.digest);
        if hash.to_string() != entry.hash {
            return Err("was changed: its hash is another".to_owned());
        }
        (self.sequence, self.hash, self.at) = (entry.sequence, hash, entry.timestamp);
        Ok(ExportedEntry {
            id: entry.id.as_str().to_owned(),
            sequence: entry.sequence,
            kind: entry.kind,
            created_at: entry.timestamp.millis(),
            actor_type: entry.actor_type,
            actor_id: entry.actor_id,
            user_id: entry.user,
            data: data.text,
            data_salt: data.salt,
            data_digest: data.digest.to_string(),
            context: context.text,
            context_salt: context.salt,
            context_digest: context.digest.to_string(),
            hash: entry.hash,
        })
    }

    /// Whether this is what the import of the entries so far told of itself.
    fn is_ended_by(&self, data: Option<&str>) -> bool {
        let told = data.and_then(|data| ImportedPart::told(data).ok());
        told.is_some_and(|told| told.last_sequence == self.sequence && Hash::parse(&told.head) == Some(self.hash))
    }

    /// Whether the chain ends where the source says.
    pub(super) fn is_whole(&self) -> bool {
        let has_entries = self.sequence >= self.says.first_sequence;
        let head = self.says.head.as_deref().and_then(Hash::parse);
        // A log out of which everything was swept has the hash before the next entry in its head.
        self.sequence == self.says.last_sequence
            && match head {
                Some(head) => head == self.hash,
                None => !has_entries && self.says.previous.is_none(),
            }
    }
}

/// A part that is checked.
struct Kept {
    text: Option<String>,
    salt: Option<String>,
    digest: Hash,
}

impl Kept {
    /// A part of at most so many bytes that every reader of it can read.
    fn of(PartRecord { salt, part, digest }: PartRecord, most: usize) -> Result<Self, String> {
        let malformed = || "has a malformed part".to_owned();
        match (salt, part, digest) {
            (Some(salt), Some(part), None) => {
                if part.get().len() > most || serde_json::from_str::<serde_json::Value>(part.get()).is_err() {
                    return Err(malformed());
                }
                let part = Part { text: part.get().to_owned(), salt: Salt::parse(&salt).ok_or_else(malformed)? };
                Ok(Self { digest: part.digest(), text: Some(part.text), salt: Some(salt) })
            }
            (None, None, Some(digest)) => Ok(Self { text: None, salt: None, digest: Hash::parse(&digest).ok_or_else(malformed)? }),
            _ => Err(malformed()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::ports::OsEntropy;

    const ORG: &str = "org_00000000000000000000000001";

    fn check() -> ChainCheck {
        let says =
            json!({ "lastSequence": 9, "head": null, "lastAt": "2026-01-01T00:00:00Z", "firstSequence": 1, "previous": null });
        ChainCheck {
            says: serde_json::from_value(says).expect("a record"),
            sequence: 0,
            hash: Hash::beginning(ORG),
            at: Timestamp::from_millis(0),
            imports: 0,
        }
    }

    #[test]
    fn a_number_that_a_client_could_not_tell_from_the_next_is_refused() {
        let begins_with = |last_sequence: i64| {
            let organization = json!({
                "id": ORG, "name": "Acme", "slug": "acme", "plan": "free", "status": "active", "appUrl": null,
                "allowedOrigins": [], "createdAt": "2026-01-01T00:00:00Z",
                "chain": { "lastSequence": last_sequence, "head": "0".repeat(64), "lastAt": "2026-01-01T00:00:00Z",
                           "firstSequence": last_sequence, "previous": "0".repeat(64) },
            });
            ChainCheck::of(&serde_json::from_value(organization).expect("a record")).is_ok()
        };
        assert!(begins_with(MOST_SEQUENCE - 1));
        for beyond in [MOST_SEQUENCE, i64::MAX] {
            assert!(!begins_with(beyond), "{beyond}");
        }
    }

    /// The next entry, whose hash is right whatever it tells.
    fn entry(check: &ChainCheck, kind: &str, data: &str) -> EntryRecord {
        let parts = [data, "null"].map(|text| Part::salted(text.to_owned(), &OsEntropy));
        let (sequence, timestamp) = (check.sequence + 1, Timestamp::from_millis(1_000));
        let id = "evt_00000000000000000000000001";
        let actor = ActorFacts { kind: "system", id: None };
        let facts = Facts { sequence, id, kind, timestamp, org: ORG, actor, user: None }.to_json().expect("JSON");
        let hash = link(&check.hash, &facts, &parts[0].digest(), &parts[1].digest()).to_string();
        let [data, context] = parts.map(|part| {
            let raw = serde_json::value::RawValue::from_string(part.text).expect("JSON");
            json!({ "salt": part.salt.to_string() }).as_object().map(|salted| (salted.clone(), raw)).expect("an object")
        });
        let text = |(salted, raw): (serde_json::Map<String, Value>, Box<serde_json::value::RawValue>)| {
            format!(r#"{{"salt":{},"part":{raw}}}"#, salted["salt"])
        };
        let (data, context) = (text(data), text(context));
        let record = format!(
            r#"{{"sequence":{sequence},"id":"{id}","type":"{kind}","timestamp":"1970-01-01T00:00:01.000Z","actorType":"system","actorId":null,"user":null,"data":{data},"context":{context},"hash":"{hash}"}}"#
        );
        serde_json::from_str(&record).expect("a record")
    }

    #[test]
    fn a_part_that_no_reader_could_read_or_hold_is_refused() {
        let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(MOST_DATA));
        for (data, is_taken) in [(r#"{"a":1}"#, true), (r#"{"a":1e999}"#, false), (long.as_str(), false)] {
            let mut check = check();
            let entry = entry(&check, "member.updated", data);
            assert_eq!(check.follow(ORG, entry).is_ok(), is_taken, "{}", &data[..10.min(data.len())]);
        }
    }

    #[test]
    fn an_import_that_is_told_is_that_of_the_entries_before_it() {
        let mut check = check();
        let first = entry(&check, "member.updated", "{}");
        assert!(check.follow(ORG, first).is_ok());
        let head = check.hash.to_string();
        let told =
            |last_sequence: i64, head: &str| json!({ "entries": 1, "lastSequence": last_sequence, "head": head }).to_string();
        for forged in ["{}".to_owned(), told(0, &head), told(1, &Hash::beginning(ORG).to_string())] {
            let entry = entry(&check, "org.imported", &forged);
            assert!(check.follow(ORG, entry).is_err(), "{forged}");
        }
        let right = entry(&check, "org.imported", &told(1, &head));
        assert!(check.follow(ORG, right).is_ok());
    }

    #[test]
    fn no_more_imports_are_told_than_are_taken() {
        let mut check = check();
        for told in 0..=MOST_IMPORTS {
            let data = json!({ "entries": told, "lastSequence": check.sequence, "head": check.hash.to_string() }).to_string();
            let entry = entry(&check, "org.imported", &data);
            assert_eq!(check.follow(ORG, entry).is_ok(), told < MOST_IMPORTS, "{told}");
        }
    }
}
