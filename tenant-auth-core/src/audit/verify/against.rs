//! Comparing a file that is good by itself with what was kept elsewhere: an earlier file, a checkpoint. Only this finds a log that was
//! rewritten as a whole by somebody who has the keys.

use serde::Deserialize;

use super::{
    found::{AuditRemark, VerifiedAuditFile},
    walk::is_by,
};
use crate::{audit::chain::Hash, token::AuditKeySet};

/// What a checkpoint says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Checkpoint {
    org: String,
    sequence: i64,
    hash: String,
}

/// Every entry of the earlier file is in this one, or before its beginning.
pub(super) fn earlier(file: &mut VerifiedAuditFile, earlier: &VerifiedAuditFile) {
    if !earlier.findings.is_empty() {
        return find(file, 1, None, "the earlier file is not good itself");
    }
    if earlier.org != file.org {
        return find(file, 1, None, "is of another organization than the earlier file");
    }
    let Some((first, last)) = earlier.chain.first().zip(earlier.chain.last()) else {
        if !file.chain.holds(earlier.chain.previous) {
            leave(file, None, "the earlier file has no entry, and the one before its range is not in this one".to_owned());
        }
        return;
    };
    let end = file.chain.links.last().map_or(1, |link| link.line);
    let (Some(begins), Some(ends)) = (file.chain.first(), file.chain.last()) else {
        if file.chain.previous == earlier.chain.hash_at(last) {
            return;
        }
        if earlier.chain.holds(file.chain.previous) {
            return find(file, 1, Some(last), "the last entries of the earlier file are missing");
        }
        return leave(file, None, "this file has no entry, and the one before its range is not in the earlier one".to_owned());
    };
    if last < begins - 1 {
        let what = format!("the entries {} to {} are in neither this file nor the earlier one", last + 1, begins - 1);
        return leave(file, Some(begins), what);
    }
    for sequence in (first - 1).max(begins - 1)..=last.min(ends) {
        let (here, there) = (file.chain.hash_at(sequence), earlier.chain.hash_at(sequence));
        if here != there {
            let line = file.chain.at(sequence).map_or(1, |link| link.line);
            return find(file, line, Some(sequence), "is another entry than in the earlier file");
        }
    }
    if ends < last {
        return find(file, end + 1, Some(ends + 1), &format!("the entries up to {last} of the earlier file are missing"));
    }
    if first < begins {
        let what = format!("the entries {first} to {} of the earlier file are before this one's beginning", begins - 1);
        file.notes.push(AuditRemark { line: Some(1), sequence: None, what });
    }
}

/// The entry that a checkpoint names has the hash that it states.
pub(super) fn checkpoint(file: &mut VerifiedAuditFile, keys: &AuditKeySet, jws: &str) {
    let signed = match keys.verify(jws.trim()) {
        Ok(signed) => signed,
        Err(bad) => return complain(file, None, bad.to_string()),
    };
    let Ok(Checkpoint { org, sequence, hash }) = serde_json::from_value(signed.object) else {
        return complain(file, None, "this is signed, and no checkpoint".to_owned());
    };
    if org != file.org {
        return complain(file, Some(sequence), "it is of another organization".to_owned());
    }
    if signed.is_doubtful {
        note(file, sequence, "its key was revoked later: it proves what it says only as of when you received it");
    }
    match file.chain.hash_at(sequence) {
        Some(here) if Hash::parse(&hash) == Some(here) => note(file, sequence, "the file agrees"),
        Some(_) => {
            let line = file.chain.at(sequence).map_or(1, |link| link.line);
            find(file, line, Some(sequence), "is another entry than the checkpoint states");
        }
        None if file.chain.last().is_some_and(|last| sequence <= last) => note(file, sequence, "it is before the file's beginning"),
        None if file.chain.cut_at.is_some_and(|cut_at| is_by(cut_at, signed.made)) => {
            note(file, sequence, "it is after the range of the file")
        }
        None => complain(file, Some(sequence), "the file ends before it: its last entries are missing".to_owned()),
    }
}

fn find(file: &mut VerifiedAuditFile, line: u64, sequence: Option<i64>, what: &str) {
    file.findings.push(AuditRemark { line: Some(line), sequence, what: what.to_owned() });
}

/// What says nothing of the earlier file, nor that file of it.
fn leave(file: &mut VerifiedAuditFile, sequence: Option<i64>, what: String) {
    file.uncompared.push(AuditRemark { line: Some(1), sequence, what });
}

fn complain(file: &mut VerifiedAuditFile, sequence: Option<i64>, what: String) {
    file.findings.push(AuditRemark { line: None, sequence, what });
}

fn note(file: &mut VerifiedAuditFile, sequence: i64, what: &str) {
    file.notes.push(AuditRemark { line: None, sequence: Some(sequence), what: what.to_owned() });
}
