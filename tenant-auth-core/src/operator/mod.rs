//! What operators of the deployment do. With access to the process and its master key comes the right to everything, and there is
//! nothing to check: the server's command line uses [`Operator`], and embedders do, to set organizations up. Over HTTP an operator
//! is a person with a session, a [`DeploymentAdmin`]; there is a lot to check, and less that they may do.

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

/// The operator's hand on a service; see [`TenantAuth::operator`].
#[derive(Clone, Debug)]
pub struct Operator {
    auth: TenantAuth,
}

impl TenantAuth {
    /// The operator's operations. They ask for no right: hand this to nobody who has not the deployment in hand anyway.
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
        let data = ApiKeyData { api_key: &created.api_key };
        tx.push(Event::new(EventKind::ApiKeyCreated, &org, Actor::System, &data)?);
        tx.commit().await?;
        Ok(created)
    }

    /// Rotates the signing keys and seals everything again under the first master key; returns how many values that were. When
    /// the signing keys are compromised, the old ones are dead at once, and every session with them.
    ///
    /// # Errors
    /// [`Error::Unavailable`]; it can be started again at any point.
    pub async fn rotate_keys(&self, compromised: bool) -> Result<u64, Error> {
        let mut tx = self.auth.begin().await?;
        keys::rotate(&mut tx, compromised).await?;
        tx.commit().await?;
        self.auth.reload_keys().await?;
        if compromised {
            // Another process may know the old keys for a few seconds yet; without sessions they open nothing.
            self.revoke_sessions(SessionsOf::All).await?;
        }
        keys::reseal(self.auth.transactions(), self.auth.master_keys()).await
    }
}
