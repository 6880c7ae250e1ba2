//! How an organization is imported, and what comes of it.

use crate::{
    error::Error,
    model::Organization,
    operator::moving::sealed_file::{FileError, FileKey},
    value::Plan,
};

/// How an organization is imported.
#[derive(Debug, Clone)]
pub struct OrganizationImport {
    /// The key that the file is sealed under.
    pub key: FileKey,
    /// Whether the operator vouches for the source: addresses that it calls verified are, and the plan is the file's.
    pub trust: bool,
    /// The plan. Without one it is the default, or the file's with `trust`.
    pub plan: Option<Plan>,
    /// Whether passwords that were hashed with a pepper that this deployment has not are left to reset links. Otherwise such a file is
    /// refused.
    pub reset_passwords: bool,
    /// What becomes of a person whose address has an account here.
    pub existing: ExistingAccounts,
    /// Whether nothing is written: the outcome is what the import would come to. It is found by a transaction that is taken back, for which
    /// on SQLite everybody who writes waits.
    pub dry_run: bool,
}

/// What becomes of people of an import whose address has an account here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExistingAccounts {
    /// Nothing is imported; all of them are listed.
    #[default]
    Refuse,
    /// Where the address was proved here, the account stays as it is and is invited: role and metadata wait in the invite, and what the
    /// person made names that account. Somebody suspended is not invited. Where the address was never proved, nothing is imported.
    Link,
    /// As [`Self::Link`], but an account that has the file's id as well becomes a member as the file says, without an invite: it is the
    /// same person, who came with another organization of a deployment that moves. Needs [`OrganizationImport::trust`]; without it
    /// nothing is imported.
    Join,
}

impl OrganizationImport {
    /// An import that trusts nothing.
    pub fn new(key: FileKey) -> Self {
        Self { key, trust: false, plan: None, reset_passwords: false, existing: ExistingAccounts::Refuse, dry_run: false }
    }
}

/// What was imported.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ImportedOrganization {
    /// The organization.
    pub org: Organization,
    /// How many members it has, people among them whose account was here by the same id.
    pub members: u64,
    /// How many people have an account here and did not become members at once: they are once they accept an invite, which whoever was
    /// suspended at the source does not get.
    pub linked: u64,
    /// How many invites were mailed anew.
    pub invites: u64,
    /// How many API keys it has.
    pub api_keys: u64,
    /// How many webhooks it has; all are disabled.
    pub webhooks: u64,
    /// How many entries its audit log has from the source.
    pub entries: u64,
    /// How many people have to set a password by a link before they log in, beside those of [`Self::lacks_pepper`].
    pub without_password: u64,
    /// Whether one of the source's peppers is none of ours. Whoever's hash was made with it has to set a password by a link, too; no hash says
    /// with which it was made.
    pub lacks_pepper: bool,
    /// Whether no member is an active org_admin: nobody can administer it until somebody accepts an
    /// invite as one.
    pub lacks_admin: bool,
    /// Whether the organization went on at the source after the file's moment.
    pub source_lives: bool,
}

/// Why an organization was not imported. Nothing was written then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OrganizationImportError {
    /// The service failed.
    #[error(transparent)]
    Service(#[from] Error),
    /// The file cannot be opened or read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file holds what cannot be imported, or what clashes with what is here: all reasons, or the first thousand.
    #[error("{}", .0.join("\n"))]
    Refused(Vec<String>),
}

/// How far an import is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct OrganizationImportStep {
    /// How many members are read.
    pub members: u64,
    /// How many bytes of the file were read.
    pub bytes: u64,
}

/// Refuses for one reason.
pub(super) fn refused(reason: &str) -> OrganizationImportError {
    OrganizationImportError::Refused(vec![reason.to_owned()])
}
