//! The audit log: what happened in an organization, as a hash chain that an outsider can verify and out of which a person can be
//! erased. `chain.rs` is how entries are hashed, `context.rs` what an entry tells of the request behind it, `log.rs` how admins read it,
//! `checkpoints.rs` its daily signature,
//! `format.rs` the file that `export.rs` writes of a log (`source.rs`), and `verify/` what an outsider does with it: no database is needed there.

use std::sync::Arc;

pub(crate) mod chain;
pub(crate) mod checkpoints;
mod claim;
pub(crate) mod context;
mod export;
mod format;
mod log;
mod source;
mod verify;

pub(crate) use self::format::ImportedPart;
pub use self::{
    export::{AuditExport, AuditExportError, AuditRange},
    verify::{AuditFileError, AuditRemark, AuditVerifier, VerifiedAuditFile},
};
use crate::service::TenantAuth;
pub use crate::token::AuditKeySet;

impl TenantAuth {
    /// The public halves of the keys that sign exports and checkpoints of audit logs: every key there ever was. Another process may
    /// have made one in the last five seconds.
    pub fn audit_keys(&self) -> Arc<AuditKeySet> {
        self.audit_key_set()
    }
}
