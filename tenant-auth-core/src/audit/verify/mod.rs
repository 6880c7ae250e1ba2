//! Verifying an audit file, without the service and without a database: whether it is whole and unchanged, and whether it contradicts
//! an earlier file or a checkpoint. `walk.rs` goes through the lines, `against.rs` compares with what was kept elsewhere.

mod against;
mod found;
mod read;
mod walk;

use std::io::{self, BufRead, Read};

pub use self::found::{AuditRemark, VerifiedAuditFile};
use self::{found::MOST_FINDINGS, walk::Walk};
use crate::token::{AuditKeySet, BadSignature};

/// The longest line that is read. An entry holds two objects of at most some 64 KiB each.
const LONGEST_LINE: u64 = 4 << 20;
/// How the first line begins.
const BEGINNING: &[u8] = br#"{"format":"tenant-auth-audit/1","#;

/// Why a file cannot be verified.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditFileError {
    /// The file cannot be read.
    #[error("The file cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// The file does not begin as audit files of this version do.
    #[error("This is no audit file of the format tenant-auth-audit/1.")]
    NoAuditFile,
    /// What is to be verified is signed with a key that is not among the keys.
    #[error("{0} is signed with a key that is not among the keys.")]
    UnknownKey(&'static str),
}

/// Verifies audit files with the keys of a deployment.
#[derive(Debug, Clone)]
pub struct AuditVerifier<'a> {
    keys: &'a AuditKeySet,
    earlier: Option<&'a VerifiedAuditFile>,
    checkpoints: Vec<&'a str>,
}

impl<'a> AuditVerifier<'a> {
    /// Verifies with these keys.
    pub const fn new(keys: &'a AuditKeySet) -> Self {
        Self { keys, earlier: None, checkpoints: Vec::new() }
    }

    /// Also that every entry of an earlier file of the organization is in the file, erased or not, or before its beginning.
    #[must_use]
    pub const fn since(mut self, earlier: &'a VerifiedAuditFile) -> Self {
        self.earlier = Some(earlier);
        self
    }

    /// Also that the file agrees with a checkpoint: the `jws` of an `audit.checkpoint` event that was kept elsewhere.
    #[must_use]
    pub fn checkpoint(mut self, jws: &'a str) -> Self {
        self.checkpoints.push(jws);
        self
    }

    /// Verifies a file. It is read once, a line at a time.
    ///
    /// # Errors
    /// [`AuditFileError`]; what is wrong with an audit file is no error, but a finding.
    pub fn verify(&self, mut file: impl BufRead) -> Result<VerifiedAuditFile, AuditFileError> {
        if self.checkpoints.iter().any(|jws| matches!(self.keys.verify(jws.trim()), Err(BadSignature::UnknownKey))) {
            return Err(AuditFileError::UnknownKey("A checkpoint"));
        }
        let mut walk = Walk::new(self.keys);
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = file.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)?;
            if read == 0 {
                break;
            }
            if !walk.has_begun() && !line.starts_with(BEGINNING) {
                return Err(AuditFileError::NoAuditFile);
            }
            walk.take(&line);
            if walk.is_of_unknown_key() {
                return Err(AuditFileError::UnknownKey("The file"));
            }
        }
        if !walk.has_begun() {
            return Err(AuditFileError::NoAuditFile);
        }
        let mut verified = walk.finish();
        if verified.is_good() {
            self.earlier.into_iter().for_each(|earlier| against::earlier(&mut verified, earlier));
            self.checkpoints.iter().for_each(|jws| against::checkpoint(&mut verified, self.keys, jws));
        }
        verified.findings.truncate(MOST_FINDINGS);
        Ok(verified)
    }
}

#[cfg(test)]
mod tests;
