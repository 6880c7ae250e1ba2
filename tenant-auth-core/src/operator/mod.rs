//! The operations of a deployment's operators. Access to the process and its master key already gives the right to everything, so
//! [`Operator`] checks no right: the server's command line uses it, and embedders use it to set organizations up. Over HTTP an
//! operator is a person with a session, a [`DeploymentAdmin`], who is checked and may do less.

mod accounts;
mod appointing;
mod audit;
mod deletion;
mod deployment_keys;
mod erasing;
mod figures;
mod import_users;
mod moving;
mod organizations;
mod person;
mod removal;
mod session;

pub use accounts::{CreatedUser, NewUser, SessionsOf};
pub use deployment_keys::{CreatedDeploymentKey, NewDeploymentKey};
pub use import_users::{ImportStep, ImportedUsers, UserImport};
pub use moving::{
    ExistingAccounts, ExportError, ExportStep, Exported, FileError, FileKey, ImportedOrganization, OrganizationImport,
    OrganizationImportError, OrganizationImportStep, SealedExport,
};
pub use organizations::{Invited, NewOrganization, OrganizationChange};
pub use person::PersonExport;
pub(crate) use removal::Removal;
pub use session::DeploymentAdmin;

pub use crate::store::Survey;

use crate::{
    backend::{CreatedApiKey, NewApiKey},
    caller::OrgAdmin,
    error::Error,
    keys,
    service::TenantAuth,
    store::{Actor, DeploymentDeed},
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

    /// Rotates the signing keys, those of the audit log too, and seals every value again under the first master key; returns the number
    /// of values. When the keys are compromised, the old ones stop working at once, and every session ends with them.
    ///
    /// # Errors
    /// [`Error::Unavailable`]; the rotation can be started again at any point.
    pub async fn rotate_keys(&self, compromised: bool) -> Result<u64, Error> {
        let mut tx = self.auth.begin().await?;
        keys::rotate(&mut tx, compromised).await?;
        tx.record(Actor::System, DeploymentDeed::KeysRotated { compromised });
        tx.commit().await?;
        self.auth.reload_keys().await?;
        if compromised {
            // Another process may keep the old keys in memory for a few seconds; without sessions they open nothing.
            self.revoke_sessions(SessionsOf::All).await?;
        }
        keys::reseal(self.auth.transactions(), self.auth.master_keys()).await
    }
}
