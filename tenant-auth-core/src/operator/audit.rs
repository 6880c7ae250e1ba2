//! Exporting the audit log of an organization, or that of the deployment, on the operator's behalf.

use super::Operator;
use crate::{
    audit::{AuditExport, AuditRange},
    error::Error,
    value::Slug,
};

impl Operator {
    /// Begins an export of an organization's audit log. It is not counted, and may run beside others; the log tells of it.
    ///
    /// # Errors
    /// [`Error::UnknownOrganization`]; [`Error::Invalid`] for an end before the beginning.
    pub async fn export_audit(&self, slug: &Slug, range: AuditRange) -> Result<AuditExport, Error> {
        self.in_organization(slug).await?.export_audit(range).await
    }

    /// Begins an export of the deployment's own log: deployment keys, operators, rotations of keys, what is done to organizations
    /// from outside and to accounts by command. The log tells of it.
    ///
    /// # Errors
    /// [`Error::Unavailable`]; [`Error::Invalid`] for an end before the beginning.
    pub async fn export_deployment_audit(&self, range: AuditRange) -> Result<AuditExport, Error> {
        AuditExport::of_deployment(&self.auth, range).await
    }
}
