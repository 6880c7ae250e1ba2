//! The operations of a deployment's operators. Access to the process and its master key already gives the right to everything, so
//! [`Operator`] checks no right: the server's command line uses it, and embedders use it to set organizations up. Over HTTP an
//! operator is a person with a session, a [`DeploymentAdmin`], who is checked and may do less.

mod accounts;
mod appointing;
mod organizations;
mod session;

pub use accounts::{CreatedUser, NewUser, SessionsOf};
pub use organizations::{Invited, NewOrganization, OrganizationChange};
pub use session::DeploymentAdmin;

use crate::{
    backend::{CreatedApiKey, KeyMaker, NewApiKey, create_key},
    error::Error,
    event::{ApiKeyData, EventKind},
    keys,
    service::TenantAuth,
    store::{Actor, Event},
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
    /// Makes an API key.
    ///
    /// # Errors
    /// [`Error::UnknownOrganization`], [`Error::LimitReached`], [`Error::Invalid`].
    pub async fn create_api_key(&self, slug: &Slug, new: NewApiKey) -> Result<CreatedApiKey, Error> {
        let (mut tx, org) = self.begin_in(slug).await?;
        let created = create_key(&self.auth, &mut tx, &KeyMaker { org: &org, user: None }, new).await?;
        let data = ApiKeyData::of(&created.api_key);
        tx.push(Event::new(EventKind::ApiKeyCreated, &org, Actor::System, &data)?);
        tx.commit().await?;
        Ok(created)
    }

    /// Rotates the signing keys and seals every value again under the first master key; returns the number of values. When the
    /// signing keys are compromised, the old ones stop working at once, and every session ends with them.
    ///
    /// # Errors
    /// [`Error::Unavailable`]; the rotation can be started again at any point.
    pub async fn rotate_keys(&self, compromised: bool) -> Result<u64, Error> {
        let mut tx = self.auth.begin().await?;
        keys::rotate(&mut tx, compromised).await?;
        tx.commit().await?;
        self.auth.reload_keys().await?;
        if compromised {
            // Another process may keep the old keys in memory for a few seconds; without sessions they open nothing.
            self.revoke_sessions(SessionsOf::All).await?;
        }
        keys::reseal(self.auth.transactions(), self.auth.master_keys()).await
    }
}
