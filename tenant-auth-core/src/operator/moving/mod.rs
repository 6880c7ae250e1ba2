//! Moving organizations: the file that an organization's people may be given, and the sealed one that another deployment imports.

mod closing;
mod entry;
mod export;
mod exported;
mod import;
mod opening;
mod record;
mod sealed_file;
mod sink;

pub use exported::{ExportError, ExportStep, Exported, SealedExport};
pub use import::{ExistingAccounts, ImportedOrganization, OrganizationImport, OrganizationImportError, OrganizationImportStep};
pub use sealed_file::{FileError, FileKey};
