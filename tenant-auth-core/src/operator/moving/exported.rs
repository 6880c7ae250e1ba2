//! How an organization is exported, and what comes of it.

use super::sealed_file::FileKey;
use crate::error::Error;

/// What an export holds, by numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exported {
    /// Members.
    pub members: u64,
    /// Pending invites.
    pub invites: u64,
    /// API keys.
    pub api_keys: u64,
    /// Webhooks.
    pub webhooks: u64,
    /// Entries of the audit log.
    pub entries: u64,
}

/// Why there is no export.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The service refused or failed.
    #[error(transparent)]
    Service(#[from] Error),
    /// The database did not answer the commit that closes the organization: the export is whole, and whether the organization is
    /// suspended is not known. Where it is, this export is the one to take.
    #[error("The export is whole, but whether the organization is suspended is not known: {0}")]
    Unsettled(#[source] Error),
    /// The store may open one connection, and an export that closes its organization needs two: nothing was done.
    #[error("The export would close the organization, for which the store needs two connections at least, and it may open one")]
    TooFewConnections,
    /// The export cannot be written to where it should go.
    #[error("The export cannot be written: {0}")]
    Unwritable(#[from] std::io::Error),
}

/// How far an export is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportStep {
    /// How many members are written.
    pub members: u64,
    /// How many there are.
    pub of: u64,
}

/// What a sealed export holds.
#[derive(Debug, Clone)]
pub struct SealedExport {
    /// The key that the file is sealed under.
    pub key: FileKey,
    /// Whether the passwords, second factors and recovery codes of people leave who belong to another organization here, too. For a
    /// deployment that moves as a whole.
    pub all_credentials: bool,
    /// Whether the organization is suspended here with the export: nothing of it changes between the file's moment and its end. On
    /// PostgreSQL this needs a store that may open two connections at least: one holds the organization, and by another one it is read.
    pub close: bool,
}
