//! Appointing operators of the deployment: members of the operators' organization, appointed on the command line. There is no other
//! way to become one. A dismissal takes effect with the next request.

use super::Operator;
use crate::{
    account::tell_user,
    caller::hold_account,
    error::{Error, Thing},
    event::{EventKind, UserData},
    model::{AccountRole, User},
    store::{Account, Actor, DeploymentDeed, Tx},
    value::Email,
};

impl Operator {
    /// Appoints a member of the operators' organization.
    ///
    /// # Errors
    /// [`Error::NoOperatorOrganization`] when the settings name none; [`Error::NotFound`] for an address without an account;
    /// [`Error::NotAMember`] for an account of elsewhere.
    pub async fn appoint(&self, email: &Email) -> Result<User, Error> {
        self.auth
            .ending(async {
                let Some(slug) = &self.auth.config().organizations.operator_org else {
                    return Err(Error::NoOperatorOrganization);
                };
                let org = self.auth.tenant(slug).await?.org;
                let (mut tx, account) = self.begin_with(email).await?;
                tx.members().find(&org.id, &account.user.id).await?.ok_or(Error::NotAMember)?;
                self.set_role(tx, account.user, AccountRole::Admin).await
            })
            .await
    }

    /// Dismisses an operator; the person's next request as an operator is refused.
    ///
    /// # Errors
    /// [`Error::NotFound`] for an address without an account.
    pub async fn dismiss(&self, email: &Email) -> Result<User, Error> {
        self.auth
            .ending(async {
                let (tx, account) = self.begin_with(email).await?;
                self.set_role(tx, account.user, AccountRole::User).await
            })
            .await
    }

    /// Whoever is appointed, in the order of their addresses. Appointed is also who has left the operators' organization since, where the
    /// person would be an operator again after coming back.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn operators(&self) -> Result<Vec<User>, Error> {
        self.auth.store().read().await?.users().operators().await
    }

    /// Begins a transaction that locks the account and its memberships.
    async fn begin_with(&self, email: &Email) -> Result<(Tx, Account), Error> {
        let mut tx = self.auth.begin().await?;
        let known = tx.users().find_by_email(email).await?.ok_or(Error::NotFound(Thing::Account))?;
        hold_account(&mut tx, &known.user.id).await?;
        let account = tx.users().find(&known.user.id).await?.ok_or(Error::NotFound(Thing::Account))?;
        Ok((tx, account))
    }

    async fn set_role(&self, mut tx: Tx, previous: User, role: AccountRole) -> Result<User, Error> {
        if previous.role == role {
            return Ok(previous);
        }
        let user = User { role, ..previous.clone() };
        tx.users().set_role(&user.id, role).await?;
        let data = UserData::changed(&user, &previous);
        let deed = match role {
            AccountRole::Admin => DeploymentDeed::OperatorGranted(user.id.clone()),
            AccountRole::User => DeploymentDeed::OperatorRevoked(user.id.clone()),
        };
        tx.record(Actor::System, deed);
        tell_user(&mut tx, EventKind::UserUpdated, &Actor::System, &data).await?;
        tx.commit().await?;
        Ok(user)
    }
}
