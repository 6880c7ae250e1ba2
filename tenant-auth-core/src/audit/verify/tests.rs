//! A file of a thousand entries, changed in every way: each byte, each line.

use serde_json::json;

use super::*;
use crate::{
    audit::{
        chain::{ActorFacts, Facts, Hash, Part, link},
        format::{FORMAT, Header, ImportedPart, Last, Lines},
    },
    ports::{Entropy, OsEntropy},
    store::ExportedEntry,
    time::Timestamp,
    token::{AuditKeyPair, KeyEnds, PublicAuditKey},
};

const ORG: &str = "org_00000000000000000000000001";
const THEN: i64 = 1_780_000_000_000;

/// A deployment that keeps a log.
struct Source {
    key: AuditKeyPair,
    der: Vec<u8>,
    entries: Vec<ExportedEntry>,
}

impl Source {
    fn of(count: i64) -> Self {
        let der = AuditKeyPair::generate_der().expect("a key");
        let mut source = Self { key: AuditKeyPair::from_der(&der).expect("readable"), der, entries: Vec::new() };
        for _ in 0..count {
            source.push("member.updated", Some("usr_1"), r#"{"a":1}"#);
        }
        source
    }

    fn push(&mut self, kind: &str, user: Option<&str>, data: &str) {
        let sequence = self.entries.len() as i64 + 1;
        let facts = Facts {
            sequence,
            id: "evt_1",
            kind,
            timestamp: Timestamp::from_millis(THEN + sequence),
            org: ORG,
            actor: ActorFacts { kind: "user", id: Some("usr_2") },
            user,
        };
        let (data, context) = (part(data), part("null"));
        let previous = self.entries.last().map_or(Hash::beginning(ORG), |last| Hash::parse(&last.hash).expect("a hash"));
        let hash = link(&previous, &facts.to_json().expect("JSON"), &data.digest(), &context.digest());
        self.entries.push(ExportedEntry {
            id: facts.id.to_owned(),
            sequence,
            kind: kind.to_owned(),
            created_at: facts.timestamp.millis(),
            actor_type: "user".to_owned(),
            actor_id: Some("usr_2".to_owned()),
            user_id: user.map(str::to_owned),
            data_digest: data.digest().to_string(),
            data_salt: Some(data.salt.to_string()),
            data: Some(data.text),
            context_digest: context.digest().to_string(),
            context_salt: Some(context.salt.to_string()),
            context: Some(context.text),
            hash: hash.to_string(),
        });
    }

    fn wipe(&mut self, sequence: usize) {
        let entry = &mut self.entries[sequence - 1];
        (entry.data, entry.data_salt, entry.context, entry.context_salt) = (None, None, None, None);
    }

    fn keys(&self, revoked: Option<Timestamp>) -> AuditKeySet {
        let ends = KeyEnds { revoked, ..KeyEnds::default() };
        AuditKeySet::new(vec![PublicAuditKey::new(self.key.kid.clone(), self.key.public.clone(), ends)])
    }

    /// The file of the entries from one number to another.
    fn file(&self, from: usize, to: usize, imported: Vec<ImportedPart>) -> Vec<u8> {
        self.file_until(None, from, to, imported)
    }

    /// The same with the end that was asked for.
    fn file_until(&self, until: Option<i64>, from: usize, to: usize, imported: Vec<ImportedPart>) -> Vec<u8> {
        let key = AuditKeyPair::from_der(&self.der).expect("readable");
        let mut lines = Lines::new(key, Timestamp::from_millis(THEN + 1_000_000));
        let before = |number: usize| match number {
            1 => Hash::beginning(ORG).to_string(),
            _ => self.entries[number - 2].hash.clone(),
        };
        let header = Header {
            format: FORMAT.to_owned(),
            org: ORG.to_owned(),
            from: None,
            to: until.map(Timestamp::from_millis),
            previous: before(from),
            imported,
            jws: None,
        };
        lines.header(header).expect("written");
        self.entries[from - 1..to].iter().for_each(|entry| lines.entry(entry, ORG).expect("written"));
        lines.last(Last { count: (to + 1 - from) as u64, head: before(to + 1), jws: None }).expect("written");
        lines.waiting
    }

    fn whole(&self) -> Vec<u8> {
        self.file(1, self.entries.len(), Vec::new())
    }

    fn verified(&self, file: &[u8]) -> VerifiedAuditFile {
        AuditVerifier::new(&self.keys(None)).verify(file).expect("an audit file")
    }

    fn checkpoint(&self, sequence: i64, hash: &str) -> String {
        let object = json!({ "org": ORG, "sequence": sequence, "hash": hash });
        self.key.sign(object, Timestamp::from_millis(THEN)).expect("signed")
    }
}

fn part(text: &str) -> Part {
    Part::salted(text.to_owned(), &OsEntropy)
}

/// The lines with their ends.
fn lines(file: &[u8]) -> Vec<Vec<u8>> {
    file.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

#[track_caller]
fn expect_found(source: &Source, file: &[u8], line: u64) {
    let found = AuditVerifier::new(&source.keys(None)).verify(file);
    match found {
        Ok(found) => {
            assert_eq!(found.findings.first().and_then(|first| first.line), Some(line), "{:#?}", found.findings.first());
        }
        Err(AuditFileError::NoAuditFile | AuditFileError::UnknownKey(_)) => assert_eq!(line, 1),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_file_as_it_was_written_is_good() {
    let source = Source::of(10);
    for (from, to) in [(1, 10), (3, 10), (10, 10), (5, 4)] {
        let found = source.verified(&source.file(from, to, Vec::new()));
        assert!(found.is_good() && found.notes.is_empty(), "{from} to {to}: {found:#?}");
        assert_eq!((found.entries, found.org.as_str()), ((to + 1 - from) as u64, ORG));
    }
}

/// A change is found at its line, by what was read up to there: so each byte needs one line of verifying, and not the whole file.
/// `a_change_is_found_in_the_whole_file_as_well` shows that this is the same.
#[test]
fn every_changed_byte_of_a_thousand_entries_is_found_at_its_line() {
    let source = Source::of(1_000);
    let keys = source.keys(None);
    let mut walk = Walk::new(&keys);
    let mut random = Vec::new();
    for line in lines(&source.whole()) {
        random.resize(line.len(), 0);
        OsEntropy.fill(&mut random);
        for (at, random) in random.iter().enumerate() {
            let mut changed = line.clone();
            changed[at] = if changed[at] == *random { random ^ 1 } else { *random };
            let mut there = walk.clone();
            // A line that lost its end goes on in the next one, which is no entry then, whatever it holds.
            changed.split_inclusive(|byte| *byte == b'\n').for_each(|line| there.take(line));
            assert!(!there.findings.is_empty(), "byte {at} of {}", String::from_utf8_lossy(&changed));
        }
        walk.take(&line);
        assert!(walk.findings.is_empty());
    }
    assert!(walk.finish().is_good());
}

#[test]
fn a_change_is_found_in_the_whole_file_as_well() {
    let source = Source::of(30);
    let file = source.whole();
    let mut line = 1;
    for at in 0..file.len() {
        if at % 11 == 0 {
            let mut changed = file.clone();
            changed[at] = if changed[at] == b'0' { b'1' } else { b'0' };
            expect_found(&source, &changed, line);
        }
        line += u64::from(file[at] == b'\n');
    }
}

#[test]
fn a_line_that_is_removed_inserted_or_swapped_is_found() {
    let source = Source::of(1_000);
    let all = lines(&source.whole());
    let joined = |lines: &[Vec<u8>]| lines.concat();
    for n in (0..all.len()).step_by(97).chain([1, all.len() - 2, all.len() - 1]) {
        let line = n as u64 + 1;
        let mut removed = all.clone();
        removed.remove(n);
        // What comes next is what does not fit; the header's absence is seen in its place.
        expect_found(&source, &joined(&removed), line);
        let mut twice = all.clone();
        twice.insert(n, all[n].clone());
        expect_found(&source, &joined(&twice), line + 1);
        if n + 1 < all.len() {
            let mut swapped = all.clone();
            swapped.swap(n, n + 1);
            expect_found(&source, &joined(&swapped), line);
        }
        expect_found(&source, &joined(&all[..n.max(1)]), n.max(1) as u64 + 1);
    }
    let mut cut = joined(&all);
    cut.pop();
    expect_found(&source, &cut, all.len() as u64);
}

#[test]
fn an_entry_of_another_log_does_not_fit() {
    let (source, other) = (Source::of(5), Source::of(5));
    let mut mixed = lines(&source.whole());
    mixed[3] = lines(&other.whole())[3].clone();
    expect_found(&source, &mixed.concat(), 4);
    expect_found(&source, &other.whole(), 1);
}

#[test]
fn a_part_does_not_pass_for_the_whole() {
    let source = Source::of(10);
    let (whole, mut part) = (lines(&source.whole()), lines(&source.file(1, 5, Vec::new())));
    let last = part.len() - 1;
    part[last].clone_from(&whole[whole.len() - 1]);
    expect_found(&source, &part.concat(), last as u64 + 1);
    let good = source.file(1, 5, Vec::new());
    let checkpoint = source.checkpoint(8, &source.entries[7].hash);
    let found = AuditVerifier::new(&source.keys(None)).checkpoint(&checkpoint).verify(&*good).expect("an audit file");
    assert_eq!(found.findings.len(), 1, "signed by who has the key, and cut off all the same: {:#?}", found.findings);
}

#[test]
fn who_is_erased_must_have_been_deleted_later() {
    let mut source = Source::of(5);
    source.push("invite.created", None, r#"{"invite":{"email":"a@b.example"}}"#);
    source.wipe(2);
    source.wipe(6);
    let found = source.verified(&source.whole());
    let at: Vec<_> = found.findings.iter().map(|found| (found.line, found.sequence)).collect();
    assert_eq!(at, [(Some(3), Some(2)), (Some(7), Some(6))]);
    source.push("user.deleted", Some("usr_1"), r#"{"user":{"id":"usr_1"}}"#);
    let found = source.verified(&source.whole());
    assert!(found.is_good(), "{:#?}", found.findings);
    assert_eq!(found.notes.iter().filter(|note| note.what.starts_with("erased")).count(), 2);
    source.push("member.updated", Some("usr_1"), "{}");
    source.wipe(8);
    assert!(!source.verified(&source.whole()).is_good(), "after the deletion there is nobody to erase");
}

#[test]
fn a_deletion_explains_no_wiped_entry_that_is_about_nobody() {
    let mut source = Source::of(2);
    source.push("org.updated", None, "{}");
    source.push("user.deleted", Some("usr_1"), r#"{"user":{"id":"usr_1"}}"#);
    source.wipe(3);
    let found = source.verified(&source.whole());
    assert_eq!(found.findings.iter().map(|found| found.sequence).collect::<Vec<_>>(), [Some(3)]);
}

#[test]
fn an_end_that_had_not_come_excuses_nothing() {
    let mut source = Source::of(5);
    source.wipe(2);
    let is_good = |until| source.verified(&source.file_until(Some(until), 1, 5, Vec::new())).is_good();
    // The file is signed 1,000 seconds after `THEN`.
    assert!(is_good(THEN + 500_000), "the deletion may lie after the end");
    assert!(!is_good(THEN + 2_000_000));
}

#[test]
fn a_checkpoint_is_after_the_range_only_if_it_was_made_after_it() {
    let source = Source::of(8);
    let is_good = |until| {
        let file = source.file_until(Some(until), 1, 5, Vec::new());
        let checkpoint = source.checkpoint(8, &source.entries[7].hash);
        let keys = source.keys(None);
        AuditVerifier::new(&keys).checkpoint(&checkpoint).verify(&*file).expect("an audit file").is_good()
    };
    assert!(is_good(THEN + 6) && !is_good(THEN + 500_000));
}

#[test]
fn an_imported_part_is_told() {
    let mut source = Source::of(4);
    let head = source.entries[3].hash.clone();
    source.push("org.imported", None, &json!({ "members": 1, "entries": 4, "lastSequence": 4, "head": head }).to_string());
    let part = ImportedPart { entries: 4, last_sequence: 4, head };
    let found = source.verified(&source.file(1, 5, vec![part.clone()]));
    assert!(found.is_good() && found.notes[0].what.contains("vouched for by their source only"), "{found:#?}");
    assert!(!source.verified(&source.whole()).is_good(), "the first line hides it");
    let other = ImportedPart { head: source.entries[0].hash.clone(), ..part };
    assert!(!source.verified(&source.file(1, 5, vec![other])).is_good());
}

#[test]
fn an_earlier_file_and_a_checkpoint_find_a_log_that_was_rewritten() {
    let (mut source, mut rewritten) = (Source::of(6), Source::of(6));
    rewritten.der.clone_from(&source.der);
    let keys = source.keys(None);
    let earlier = source.verified(&source.file(2, 6, Vec::new()));
    let checkpoint = source.checkpoint(4, &source.entries[3].hash);
    source.push("member.updated", None, "{}");
    rewritten.push("member.updated", None, "{}");
    let verify = |file: &[u8]| AuditVerifier::new(&keys).verify(file).expect("an audit file");
    let since = |file: &[u8]| AuditVerifier::new(&keys).since(&earlier).verify(file).expect("an audit file");
    let checked = |file: &[u8]| AuditVerifier::new(&keys).checkpoint(&checkpoint).verify(file).expect("an audit file");
    assert!(verify(&rewritten.whole()).is_good(), "nothing in the file shows it");
    assert_eq!(since(&rewritten.whole()).findings[0].sequence, Some(1), "the hash before the earlier file's first entry");
    assert_eq!(
        checked(&rewritten.whole()).findings[0].to_string(),
        "line 5 (sequence 4): is another entry than the checkpoint states"
    );
    for file in [source.whole(), source.file(4, 7, Vec::new()), source.file(7, 7, Vec::new()), source.file(6, 6, Vec::new())] {
        assert!(since(&file).is_good(), "{:#?}", since(&file).findings);
    }
    assert!(checked(&source.whole()).is_good() && checked(&source.file(6, 7, Vec::new())).is_good());
    assert!(!since(&source.file(1, 5, Vec::new())).is_good(), "an entry that was there is gone");
    source.push("member.updated", None, "{}");
    let apart = since(&source.file(8, 8, Vec::new()));
    assert!(
        !apart.is_good() && apart.findings.is_empty(),
        "what was between is in neither, and nothing says that it changed: {apart:#?}"
    );
    let chained = AuditVerifier::new(&keys).since(&apart).verify(&*source.whole()).expect("an audit file");
    assert!(chained.is_good(), "nothing is wrong with the earlier file itself: {chained:#?}");
    for (empty_before, is_uncompared, is_found) in [(7, false, false), (9, true, false), (4, false, true)] {
        let found = since(&source.file(empty_before, empty_before - 1, Vec::new()));
        let judged = (!found.uncompared.is_empty(), !found.findings.is_empty());
        assert_eq!(judged, (is_uncompared, is_found), "without entries, before {empty_before}: {found:#?}");
    }
    let empty = source.verified(&source.file(9, 8, Vec::new()));
    let after = |file: &[u8]| AuditVerifier::new(&keys).since(&empty).verify(file).expect("an audit file");
    assert!(after(&source.whole()).is_good(), "the entry before the empty range is there");
    let before = after(&source.file(1, 5, Vec::new()));
    assert!(!before.is_good() && before.findings.is_empty(), "{before:#?}");
}

#[test]
fn a_revoked_key_vouches_for_nothing_later() {
    let source = Source::of(1);
    let file = source.whole();
    let verify = |revoked: i64| {
        let keys = source.keys(Some(Timestamp::from_millis(THEN + revoked)));
        AuditVerifier::new(&keys).verify(&*file).expect("an audit file")
    };
    assert!(!verify(0).is_good());
    let found = verify(2_000_000);
    assert!(found.is_good() && found.notes.len() == 2, "{found:#?}");
}

#[test]
fn what_an_unknown_key_signed_is_not_judged() {
    let (source, other) = (Source::of(3), Source::of(3));
    let (keys, file) = (source.keys(None), source.whole());
    let is_unknown = |verified| matches!(verified, Err(AuditFileError::UnknownKey(_)));
    assert!(is_unknown(AuditVerifier::new(&keys).verify(&*other.whole())));
    let checkpoint = other.checkpoint(2, &other.entries[1].hash);
    assert!(is_unknown(AuditVerifier::new(&keys).checkpoint(&checkpoint).verify(&*file)));
    let mut mixed = lines(&file);
    mixed[4] = lines(&other.whole())[4].clone();
    assert!(!source.verified(&mixed.concat()).is_good(), "one who signed the first line signs the last");
}

#[test]
fn what_is_no_audit_file_is_said_to_be_none() {
    let source = Source::of(1);
    for text in ["", "\n", "{}", r#"{"format":"tenant-auth-audit/2","org":"x"}"#] {
        let verified = AuditVerifier::new(&source.keys(None)).verify(text.as_bytes());
        assert!(matches!(verified, Err(AuditFileError::NoAuditFile)), "{text}");
    }
}
