//! What is found in an audit file: remarks, and the chain that another file is compared with.

use std::fmt;

use crate::{audit::chain::Hash, time::Timestamp};

/// How many findings are told.
pub(super) const MOST_FINDINGS: usize = 1_000;

/// Something to say of an audit file, at a line of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditRemark {
    /// The line, counted from 1; `None` for what is said of something beside the file.
    pub line: Option<u64>,
    /// The number of the entry.
    pub sequence: Option<i64>,
    /// What there is to say.
    pub what: String,
}

impl fmt::Display for AuditRemark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.sequence) {
            (Some(line), Some(sequence)) => write!(f, "line {line} (sequence {sequence}): {}", self.what),
            (Some(line), None) => write!(f, "line {line}: {}", self.what),
            (None, Some(sequence)) => write!(f, "checkpoint (sequence {sequence}): {}", self.what),
            (None, None) => write!(f, "checkpoint: {}", self.what),
        }
    }
}

/// What was found in an audit file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct VerifiedAuditFile {
    /// The organization's id, as the file says.
    pub org: String,
    /// How many entries there are.
    pub entries: u64,
    /// What is missing, changed, inserted, out of order or cut off, and what contradicts an earlier file or a checkpoint.
    pub findings: Vec<AuditRemark>,
    /// What lies between the earlier file and this one and is in neither: nothing is known to be wrong, and the two do not vouch for each
    /// other. The file is good where there is neither this nor a finding: [`VerifiedAuditFile::is_good`].
    pub uncompared: Vec<AuditRemark>,
    /// What is to be known of a good file: erased entries, parts that were imported, keys in doubt.
    pub notes: Vec<AuditRemark>,
    pub(super) chain: KeptChain,
}

impl VerifiedAuditFile {
    /// Whether nothing was found, and all that was to be compared was.
    pub fn is_good(&self) -> bool {
        self.findings.is_empty() && self.uncompared.is_empty()
    }
}

/// The chain of a file: what another one is compared with.
#[derive(Debug, Clone)]
pub(super) struct KeptChain {
    /// The hash before the first entry.
    pub(super) previous: Option<Hash>,
    /// The time before which the file ends on request.
    pub(super) cut_at: Option<Timestamp>,
    pub(super) links: Vec<KeptLink>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct KeptLink {
    pub(super) line: u64,
    pub(super) sequence: i64,
    pub(super) hash: Hash,
}

impl KeptChain {
    pub(super) fn first(&self) -> Option<i64> {
        self.links.first().map(|link| link.sequence)
    }

    pub(super) fn last(&self) -> Option<i64> {
        self.links.last().map(|link| link.sequence)
    }

    /// The entry of this number, where the numbers have no gap.
    pub(super) fn at(&self, sequence: i64) -> Option<KeptLink> {
        let index = usize::try_from(sequence.checked_sub(self.first()?)?).ok()?;
        self.links.get(index).copied().filter(|link| link.sequence == sequence)
    }

    /// Whether this is the hash of one of the entries, or of the one before them.
    pub(super) fn holds(&self, hash: Option<Hash>) -> bool {
        hash.is_some() && (hash == self.previous || self.links.iter().any(|link| Some(link.hash) == hash))
    }

    /// The hash of this number, which may be the one before the first entry.
    pub(super) fn hash_at(&self, sequence: i64) -> Option<Hash> {
        match self.first() {
            Some(first) if first == sequence.saturating_add(1) => self.previous,
            _ => self.at(sequence).map(|link| link.hash),
        }
    }
}
