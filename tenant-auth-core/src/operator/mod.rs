//! The operations of a deployment's operators. Access to the process and its master key already gives the right to everything, so
//! [`Operator`] checks no right: the server's command line uses it, and embedders use it to set organizations up. Over HTTP an
//! operator is a person with a session, a [`DeploymentAdmin`], who is checked and may do less.

mod accounts;
mod address;
mod appointing;
mod audit;
mod deletion;
mod deployment_keys;
mod erasing;
mod figures;
mod import_users;
mod key_rotation;
mod moving;
mod organizations;
mod person;
mod removal;
mod session;
mod support;
mod without_organization;

pub use accounts::{CreatedUser, NewUser, SessionsOf};
pub use address::GivenAddress;
pub use deployment_keys::{CreatedDeploymentKey, NewDeploymentKey};
pub use erasing::DeletedUser;
pub use import_users::{ExistingPeople, ImportStep, ImportedUsers, UserImport};
pub use key_rotation::{RotatedKeys, SealedPlace};
pub use moving::{
    ExistingAccounts, ExportError, ExportStep, Exported, FileError, FileKey, ImportedOrganization, OrganizationImport,
    OrganizationImportError, OrganizationImportStep, SealedExport,
};
pub use organizations::{Invited, NewOrganization, OrganizationChange};
pub use person::PersonExport;
pub(crate) use removal::Removal;
pub use session::DeploymentAdmin;
pub use support::{AccountBlock, AccountMembership, AccountState, Blocked};
pub use without_organization::{AccountWithoutOrganization, AccountsWithoutOrganization};

pub use crate::store::Survey;

use crate::{
    backend::{CreatedApiKey, NewApiKey},
    caller::OrgAdmin,
    error::Error,
    service::TenantAuth,
    value::Slug,
};

/// The operator's operations on a service; see [`TenantAuth::operator`].
#[derive(Clone, Debug)]
pub struct Operator {
    auth: TenantAuth,
}

impl TenantAuth {
    /// The operator's operations. They check no right: give this value only to code that already controls the deployment.
    pub fn operator(&self) -> Operator {
        Operator { auth: self.clone() }
    }
}

impl Operator {
    /// The right of an org_admin of an organization, also a suspended one: whatever its admins can do there, this process can do. Events
    /// name the system as the actor, rates do not count it, and what it makes was made by nobody.
    ///
    /// # Errors
    /// [`Error::UnknownOrganization`].
    pub async fn in_organization(&self, slug: &Slug) -> Result<OrgAdmin, Error> {
        Ok(OrgAdmin::of_process(self.auth.tenant(slug).await?))
    }

    /// Makes an API key; see [`OrgAdmin::create_api_key`].
    ///
    /// # Errors
    /// [`Error::UnknownOrganization`], [`Error::LimitReached`], [`Error::Invalid`].
    pub async fn create_api_key(&self, slug: &Slug, new: NewApiKey) -> Result<CreatedApiKey, Error> {
        self.in_organization(slug).await?.create_api_key(new).await
    }
}
