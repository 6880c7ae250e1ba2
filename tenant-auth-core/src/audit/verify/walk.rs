//! The walk through the lines of an audit file: each is read, compared with what the service would have written, and linked to the one
//! before. After a finding the walk goes on with what the line says of itself, so that one change is found at one line.

use std::collections::HashMap;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::{
    found::{AuditRemark, KeptChain, KeptLink, MOST_FINDINGS, VerifiedAuditFile},
    read::{ReadPart, written_so, written_so_facts},
};
use crate::{
    audit::{
        chain::{Hash, link},
        format::{Entry, Header, ImportedPart, Last, ReadFacts, signed_values},
    },
    time::Timestamp,
    token::{AuditKeySet, BadSignature},
};

const CHANGED: &str = "was changed: the service writes it in another way";

/// How far a file is verified.
#[derive(Clone)]
pub(super) struct Walk<'k> {
    keys: &'k AuditKeySet,
    line: u64,
    /// All bytes up to here.
    before: Sha256,
    header: Option<Header>,
    /// The hash before the next entry; `None` where it is not known, after a finding.
    previous: Option<Hash>,
    at: Timestamp,
    links: Vec<KeptLink>,
    /// When the first line was signed, in seconds since the Unix epoch.
    made: Option<i64>,
    is_ended: bool,
    is_of_unknown_key: bool,
    erased: Vec<Erased>,
    /// When a person was deleted.
    deletions: HashMap<String, Timestamp>,
    imported: Vec<ImportedPart>,
    contexts_wiped: u64,
    pub(super) findings: Vec<AuditRemark>,
    notes: Vec<AuditRemark>,
}

/// An entry whose data were wiped.
#[derive(Clone)]
struct Erased {
    line: u64,
    sequence: i64,
    is_invite: bool,
    user: Option<String>,
    at: Timestamp,
}

impl<'k> Walk<'k> {
    pub(super) fn new(keys: &'k AuditKeySet) -> Self {
        Self {
            keys,
            line: 0,
            before: Sha256::new(),
            header: None,
            previous: None,
            at: Timestamp::from_millis(i64::MIN),
            links: Vec::new(),
            made: None,
            is_ended: false,
            is_of_unknown_key: false,
            erased: Vec::new(),
            deletions: HashMap::new(),
            imported: Vec::new(),
            contexts_wiped: 0,
            findings: Vec::new(),
            notes: Vec::new(),
        }
    }

    pub(super) const fn has_begun(&self) -> bool {
        self.line > 0
    }

    /// Whether the first line is signed with a key that is not at hand: whether the file is good is not known then.
    pub(super) const fn is_of_unknown_key(&self) -> bool {
        self.is_of_unknown_key
    }

    /// Verifies the next line, with its end.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.line += 1;
        let before = self.before.clone();
        self.before.update(bytes);
        let text = bytes.strip_suffix(b"\n").and_then(|line| str::from_utf8(line).ok());
        match text {
            None => self.find(self.expected(), "is cut off, or no text"),
            Some(text) if self.line == 1 => self.header(text, &before),
            Some(_) if self.is_ended => self.find(None, "was inserted: the line before was the last"),
            Some(text) if text.starts_with(r#"{"count":"#) => self.last(text, &before),
            Some(text) => self.entry(text),
        }
    }

    fn header(&mut self, text: &str, before: &Sha256) {
        let Some(header) = written_so::<Header>(text) else { return self.find(None, CHANGED) };
        self.previous = Hash::parse(&header.previous);
        if self.previous.is_none() {
            self.find(None, "the hash before the first entry is none");
        }
        self.made = self.signature(header.jws.as_deref(), &header, before);
        self.header = Some(header);
    }

    fn entry(&mut self, text: &str) {
        let Ok(entry) = serde_json::from_str::<Entry<'_>>(text) else { return self.find(self.expected(), "is no entry") };
        let facts = written_so_facts(entry.facts.get());
        let sequence = facts.as_ref().map(|facts| facts.sequence);
        let (Some(facts), true) = (facts, serde_json::to_string(&entry).is_ok_and(|written| written == text)) else {
            self.previous = None;
            return self.find(sequence, CHANGED);
        };
        let (Some(data), Some(context), Some(hash)) =
            (ReadPart::of(&entry.data), ReadPart::of(&entry.context), Hash::parse(entry.hash))
        else {
            self.previous = None;
            return self.find(sequence, "has a malformed part or hash");
        };
        if !self.is_next(&facts) {
            return;
        }
        let linked = |previous: Hash| link(&previous, entry.facts.get(), &data.digest, &context.digest);
        let is_linked = self.previous.is_none_or(|previous| linked(previous) == hash);
        if !is_linked {
            self.find(sequence, "was changed: its hash is another");
        }
        self.previous = is_linked.then_some(hash);
        self.links.push(KeptLink { line: self.line, sequence: facts.sequence, hash });
        self.learn(&facts, &data, &context);
    }

    /// Whether the entry may stand here.
    fn is_next(&mut self, facts: &ReadFacts) -> bool {
        let (sequence, last) = (Some(facts.sequence), self.links.last().map(|link| link.sequence));
        match last {
            Some(last) if facts.sequence <= last => {
                self.find(sequence, "is out of order, or was inserted");
                return false;
            }
            Some(last) if facts.sequence > last + 1 => {
                self.find(sequence, format!("before it the entries {} to {} are missing", last + 1, facts.sequence - 1));
                self.previous = None;
            }
            _ => {}
        }
        let (from, to) = self.header.as_ref().map_or((None, None), |header| (header.from, header.to));
        if from.is_some_and(|from| facts.timestamp < from) || to.is_some_and(|to| facts.timestamp >= to) {
            self.find(sequence, "lies outside the time that the first line states");
        }
        if facts.timestamp < self.at {
            self.find(sequence, "is earlier than the one before");
        }
        if self.header.as_ref().is_some_and(|header| header.org != facts.org) {
            self.find(sequence, "is of another organization");
        }
        self.at = facts.timestamp;
        true
    }

    /// Keeps what the end needs to know of an entry.
    fn learn(&mut self, facts: &ReadFacts, data: &ReadPart, context: &ReadPart) {
        match (&data.text, &context.text) {
            (None, _) => self.erased.push(Erased {
                line: self.line,
                sequence: facts.sequence,
                is_invite: facts.kind.starts_with("invite."),
                user: facts.user.clone(),
                at: facts.timestamp,
            }),
            (Some(_), None) => self.contexts_wiped += 1,
            _ => {}
        }
        match (facts.kind.as_str(), &facts.user, &data.text) {
            ("user.deleted", Some(user), _) => {
                self.deletions.insert(user.clone(), facts.timestamp);
            }
            ("org.imported", _, Some(text)) => self.imported.extend(ImportedPart::told(text)),
            _ => {}
        }
    }

    fn last(&mut self, text: &str, before: &Sha256) {
        self.is_ended = true;
        let Some(last) = written_so::<Last>(text) else { return self.find(None, CHANGED) };
        let count = self.links.len() as u64;
        if last.count != count && self.findings.is_empty() {
            self.find(None, format!("the file has {count} entries, and should have {}", last.count));
        }
        if self.previous.is_some_and(|previous| Hash::parse(&last.head) != Some(previous)) {
            self.find(None, "the last entry is another than the one that is signed");
        }
        self.signature(last.jws.as_deref(), &last, before);
    }

    /// Verifies the signature of a line, and returns when it was made.
    fn signature(&mut self, jws: Option<&str>, line: &impl Serialize, before: &Sha256) -> Option<i64> {
        let expected = signed_values(line, before).unwrap_or_default();
        let signed = jws.map(|jws| self.keys.verify(jws));
        let made = signed.as_ref().and_then(|signed| signed.as_ref().ok()).map(|signed| signed.made);
        match signed {
            None => self.find(None, "is not signed"),
            Some(Err(bad)) => {
                self.is_of_unknown_key = self.line == 1 && bad == BadSignature::UnknownKey;
                self.find(None, bad.to_string());
            }
            Some(Ok(signed)) if signed.object != expected => {
                // What was found before is the reason.
                if self.findings.is_empty() {
                    self.find(None, "the signature is of another file");
                }
            }
            Some(Ok(signed)) if signed.is_doubtful => {
                self.note(None, "the key that signed this was revoked later: only what was kept elsewhere vouches for its time");
            }
            Some(Ok(_)) => {}
        }
        made
    }

    /// What is known of the file as a whole.
    pub(super) fn finish(mut self) -> VerifiedAuditFile {
        if !self.is_ended {
            self.line += 1;
            self.find(self.expected(), "is missing: the file is cut off");
        }
        self.judge_erased();
        self.judge_imported();
        if self.contexts_wiped > 0 {
            let what =
                format!("of {} entries the context is gone: its time was over, or its person was erased", self.contexts_wiped);
            self.note_at(1, None, what);
        }
        let (org, previous) = match &self.header {
            Some(header) => (header.org.clone(), Hash::parse(&header.previous)),
            None => (String::new(), None),
        };
        let chain = KeptChain { previous, cut_at: self.cut_at(), links: self.links };
        VerifiedAuditFile {
            org,
            entries: chain.links.len() as u64,
            findings: self.findings,
            uncompared: Vec::new(),
            notes: self.notes,
            chain,
        }
    }

    /// The time before which the file ends on request. One after the file was made cuts nothing off.
    fn cut_at(&self) -> Option<Timestamp> {
        let to = self.header.as_ref()?.to?;
        self.made.filter(|made| is_by(to, *made)).map(|_| to)
    }

    /// An erased entry is one of somebody who was deleted later. An invite names nobody by id.
    fn judge_erased(&mut self) {
        let ends_early = self.cut_at().is_some();
        let latest = self.deletions.values().copied().max();
        for Erased { line, sequence, is_invite, user, at } in std::mem::take(&mut self.erased) {
            let deleted = match &user {
                Some(user) => self.deletions.get(user).copied(),
                None => latest.filter(|_| is_invite),
            };
            if deleted.is_some_and(|deleted| deleted >= at) {
                self.note_at(line, Some(sequence), "erased, and the person was deleted later".to_owned());
            } else if ends_early && (is_invite || user.is_some()) {
                self.note_at(line, Some(sequence), "erased; the deletion is not in this range".to_owned());
            } else {
                self.find_at(line, Some(sequence), "was wiped, and no later entry tells of the person's deletion".to_owned());
            }
        }
    }

    fn judge_imported(&mut self) {
        let stated = self.header.as_ref().map(|header| header.imported.clone()).unwrap_or_default();
        let first = self.links.first().map_or(i64::MAX, |link| link.sequence);
        let untold = |part: &&ImportedPart| part.last_sequence >= first && !stated.contains(part);
        if self.imported.iter().any(|part| untold(&part)) {
            self.find_at(1, None, "does not state every part that was imported".to_owned());
        }
        for part in stated {
            let end = self.links.iter().find(|link| link.sequence == part.last_sequence).copied();
            match end {
                Some(end) if Some(end.hash) != Hash::parse(&part.head) => {
                    self.find_at(
                        end.line,
                        Some(end.sequence),
                        "ends the imported part with another hash than was imported".to_owned(),
                    );
                }
                _ => {
                    let what = format!(
                        "the entries up to {} were imported: they are vouched for by their source only",
                        part.last_sequence
                    );
                    self.note_at(1, None, what);
                }
            }
        }
    }

    /// The number of the entry that comes next, where there was one.
    fn expected(&self) -> Option<i64> {
        self.links.last().map(|link| link.sequence.saturating_add(1))
    }

    fn find(&mut self, sequence: Option<i64>, what: impl Into<String>) {
        self.find_at(self.line, sequence, what.into());
    }

    fn find_at(&mut self, line: u64, sequence: Option<i64>, what: String) {
        // Enough to know that the file is worth nothing.
        if self.findings.len() < MOST_FINDINGS {
            self.findings.push(AuditRemark { line: Some(line), sequence, what });
        }
    }

    fn note(&mut self, sequence: Option<i64>, what: &str) {
        self.note_at(self.line, sequence, what.to_owned());
    }

    fn note_at(&mut self, line: u64, sequence: Option<i64>, what: String) {
        self.notes.push(AuditRemark { line: Some(line), sequence, what });
    }
}

/// Whether a time had come when something was signed, which is known in whole seconds.
pub(super) fn is_by(time: Timestamp, made: i64) -> bool {
    time.millis() < made.saturating_add(1).saturating_mul(1_000)
}
