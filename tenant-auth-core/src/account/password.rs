//! Changing a password. Every other session of the account ends, in all organizations, and so does a login that is in flight
//! with the old one: the account's epoch moves on, and only the session that made the change moves with it.

use crate::{
    account::{Ending, tell_ended},
    caller::Member,
    error::Error,
    event::{EndReason, EventKind, UserData},
    ports::Verdict,
    secret::Password,
    store::Event,
    value::password::{self, Owner},
};

/// A change of password, confirmed by the old one.
#[derive(Debug)]
pub struct NewPassword {
    /// The password now.
    pub current: Password,
    /// The password from now on.
    pub new: Password,
}

impl Member {
    /// Changes the account's password.
    ///
    /// # Errors
    /// [`Error::WrongPassword`]; [`Error::WeakPassword`], naming every broken rule; [`Error::SessionRequired`] when the session or
    /// the password changed meanwhile.
    pub async fn change_password(&self, change: NewPassword) -> Result<(), Error> {
        let account = self.auth.store().read().await?.users().find(self.user_id()).await?.ok_or(Error::SessionRequired)?;
        let owner = Owner {
            email: &account.user.email,
            name: &account.user.name,
            slug: &self.standing.org.slug,
            organization: &self.standing.org.name,
        };
        let new = password::check(&change.new, &owner, self.auth.config().password_min_score)?;
        let current = password::normalized(&change.current).ok_or(Error::WrongPassword)?;
        if self.auth.hasher().verify(&current, Some(&account.password)).await? == Verdict::Mismatch {
            return Err(Error::WrongPassword);
        }
        let hash = self.auth.hasher().hash(&new).await?;

        let mut write = self.begin_own_write().await?;
        let session = &write.standing.session.id;
        let epoch = write.tx.users().set_password(self.user_id(), &hash, account.epoch).await?.ok_or(Error::SessionRequired)?;
        write.tx.sessions().move_to_epoch(session, epoch).await?;
        let ended = write.tx.sessions().end_of_user(self.user_id(), Some(session)).await?;
        for (org_id, slug) in write.tx.users().organizations_of(self.user_id()).await? {
            let data = UserData { user: &account.user, previous: None };
            write.tx.push(Event::new(EventKind::UserPasswordChanged, (&org_id, &slug), self.actor(), &data)?);
        }
        tell_ended(&mut write.tx, &ended, &Ending { reason: EndReason::Password, actor: self.actor() }).await?;
        self.auth.commit(write.tx, write.now).await
    }
}
