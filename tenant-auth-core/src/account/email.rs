//! The account's email address: verifying and changing it. A change is confirmed by a link to the new address, opened in a session
//! of the account; the old address gets a notice when the change is requested. Whether the new address has an account is not told
//! until the link is used, so that a request does not reveal accounts.

use std::{fmt, time::Duration};

use crate::{
    account::{end_all_others, password::TypedPassword, tell_user},
    caller::{Client, Member, Tenant, Write, hold_account},
    config::LinkedPage,
    error::Error,
    event::{EndReason, EventKind, UserData},
    mail::{self, Letter},
    model::User,
    secret::{LinkToken, Password},
    store::{Actor, LinkPurpose, MailedLink, Tx},
    throttle::{EMAIL_CHANGES, NEWCOMERS_EMAIL_CHANGES, count_mail, move_known_addresses, refuse_spent_mail},
    value::Email,
};

/// How long a link that verifies or changes an address works.
const LINK_TTL: Duration = Duration::from_secs(24 * 3_600);

/// A change of address, confirmed by the password and, where it is enabled, the second factor.
pub struct NewEmail {
    /// The new address.
    pub email: Email,
    /// The account's password.
    pub password: Password,
    /// A one-time password or a recovery code.
    pub code: Option<String>,
}

/// Without the code: a recovery code stays good until it is used.
impl fmt::Debug for NewEmail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewEmail").field("email", &self.email).finish_non_exhaustive()
    }
}

/// The proof of an address: a mailed link, and a session or the password that shows that the link's holder owns the account. The
/// link alone is not enough: where somebody else made an account with a victim's address, the victim's click would verify that
/// account for its maker.
#[derive(Debug)]
pub struct AddressProof {
    /// The token in the link.
    pub token: LinkToken,
    /// A session of the link's holder in this organization; it is ignored when it is another account's.
    pub session: Option<Member>,
    /// The account's password, where there is no such session.
    pub password: Option<Password>,
    /// The client of the request; the rate limiter counts wrong passwords by its address.
    pub client: Client,
}

impl Member {
    /// Mails a link that verifies the account's address; nothing is sent when the address is verified already.
    ///
    /// # Errors
    /// [`Error::RateLimited`] after three mails in an hour.
    pub async fn send_email_verification(&self) -> Result<(), Error> {
        if !self.user().is_email_verified {
            refuse_spent_mail(&self.auth, LinkPurpose::VerifyEmail, &self.user().email).await?;
        }
        let mut write = self.begin_own_write().await?;
        if write.live.user.is_email_verified {
            return Ok(());
        }
        let email = write.live.user.email.clone();
        let (url, link) = self.link(&mut write, LinkPurpose::VerifyEmail, &email).await?;
        let letter = Letter::VerifyEmail { link: &url, until: link.expires_at };
        mail::enqueue(&mut write.tx, self.org_id(), &email, &letter).await?;
        write.commit().await
    }

    /// Mails a link to a new address. The caller gets the same answer whether the address is free or taken, so that the answer
    /// does not reveal accounts.
    ///
    /// # Errors
    /// [`Error::WrongPassword`]; [`Error::WrongCode`]; [`Error::Invalid`] when a code is needed; [`Error::RateLimited`].
    pub async fn request_email_change(&self, change: NewEmail) -> Result<(), Error> {
        EMAIL_CHANGES.refuse_spent_by(self).await?;
        // Without a second factor a code is ignored, as every field without a meaning is.
        let code = if self.second_factor().await?.enabled_at.is_some() { change.code } else { None };
        let mut write = self.begin_guarded_write(&change.password, code.as_deref()).await?;
        EMAIL_CHANGES.spend_by_caller(&mut write).await?;
        if !write.live.org.is_trusted {
            NEWCOMERS_EMAIL_CHANGES.spend(&mut write.tx, self.org_id().as_str()).await?;
        }
        let (url, link) = self.link(&mut write, LinkPurpose::ChangeEmail, &change.email).await?;
        let holder = write.users().find_by_email(&change.email).await?.map(|account| account.user);
        let (recipient, letter) = match holder.as_ref().filter(|holder| holder.id != *self.user_id()) {
            // As the holder wrote it: what the caller wrote may reach another mailbox.
            Some(holder) => (&holder.email, Letter::AddressWanted),
            None => (&change.email, Letter::ChangeEmail { link: &url, until: link.expires_at }),
        };
        mail::enqueue(&mut write.tx, self.org_id(), recipient, &letter).await?;
        let notice = Letter::EmailChangeRequested { to: &change.email };
        mail::enqueue(&mut write.tx, self.org_id(), &write.live.user.email, &notice).await?;
        write.commit().await
    }

    /// Changes the account's address to the one that the link was mailed to. Every other session of the account ends.
    ///
    /// # Errors
    /// [`Error::InvalidLink`], also when the address was taken meanwhile.
    pub async fn confirm_email_change(&self, token: &LinkToken) -> Result<User, Error> {
        let is_used = |error: &Error| matches!(error, Error::InvalidLink);
        self.auth.telling(is_used, self.change_email(token)).await
    }

    async fn change_email(&self, token: &LinkToken) -> Result<User, Error> {
        let mut reader = self.auth.store().read().await?;
        let link = reader.links().find(self.org_id(), LinkPurpose::ChangeEmail, &token.digest(), self.auth.now()).await?;
        let (_, email) = link.filter(|(user, _)| user == self.user_id()).ok_or(Error::InvalidLink)?;
        let account = reader.users().find(self.user_id()).await?.ok_or(Error::SessionRequired)?;
        drop(reader);
        let mut tx = self.auth.begin_in_turn(self.org_id()).await?;
        // Counters come before accounts. The address cannot have changed since it was read where the link is still good: a change ends it.
        move_known_addresses(&mut tx, &account.user.email, &email).await?;
        let mut write = self.own_write_in(tx).await?;
        write.links().take(self.org_id(), LinkPurpose::ChangeEmail, &token.digest()).await?.ok_or(Error::InvalidLink)?;
        if !write.users().set_email(self.user_id(), &email, true).await? {
            return Err(Error::InvalidLink);
        }
        write.links().end_all_of_user(self.user_id()).await?;
        let previous = write.live.user.clone();
        let user = User { email: email.clone(), is_email_verified: true, ..previous.clone() };
        let data = UserData::changed(&user, &previous);
        tell_user(&mut write.tx, EventKind::UserUpdated, &self.actor(), &data).await?;
        end_all_others(self, &mut write, EndReason::Email).await?;
        mail::enqueue(&mut write.tx, self.org_id(), &previous.email, &Letter::EmailChanged { to: &email }).await?;
        write.commit().await?;
        Ok(user)
    }

    async fn link(&self, write: &mut Write, purpose: LinkPurpose, email: &Email) -> Result<(String, MailedLink), Error> {
        count_mail(write, purpose, email).await?;
        let link = MailedLink {
            org_id: self.org_id().clone(),
            user_id: self.user_id().clone(),
            purpose,
            email: email.clone(),
            created_at: write.now(),
            expires_at: write.now().plus(LINK_TTL),
        };
        let id = write.new_id();
        let token = write.new_link_token();
        write.links().insert(&id, &link, &token.digest()).await?;
        let page = if purpose == LinkPurpose::VerifyEmail { LinkedPage::Verify } else { LinkedPage::ChangeEmail };
        Ok((self.auth.config().link(page, self.live.org.slug.as_str(), token.expose()), link))
    }
}

impl Tenant {
    /// Verifies an address by the link that was mailed to it, together with a session of the account or its password.
    ///
    /// # Errors
    /// [`Error::InvalidLink`], also when the account has another address by now; [`Error::WrongPassword`], also when there is
    /// neither session nor password; [`Error::RateLimited`].
    pub async fn verify_email(&self, proof: AddressProof) -> Result<(), Error> {
        let digest = proof.token.digest();
        let mut reader = self.auth.store().read().await?;
        let link = reader.links().find(&self.org.id, LinkPurpose::VerifyEmail, &digest, self.auth.now()).await?;
        let (user_id, email) = link.ok_or(Error::InvalidLink)?;
        let user = reader.users().find(&user_id).await?.ok_or(Error::InvalidLink)?.user;
        drop(reader);

        let mut tx = self.begin_as_owner(&user, proof).await?;
        tx.links().take(&self.org.id, LinkPurpose::VerifyEmail, &digest).await?.ok_or(Error::InvalidLink)?;
        let account = tx.users().find(&user_id).await?.filter(|account| account.user.email == email).ok_or(Error::InvalidLink)?;
        if tx.users().verify_email(&user_id).await? {
            let user = User { is_email_verified: true, ..account.user };
            let data = UserData::of(&user);
            tell_user(&mut tx, EventKind::UserEmailVerified, &Actor::User(user_id.clone()), &data).await?;
        }
        tx.links().end_of_user(&user_id, LinkPurpose::VerifyEmail).await?;
        tx.commit().await
    }

    /// Begins a write to an account after its owner's session or password was confirmed; the transaction holds the account.
    async fn begin_as_owner(&self, user: &User, proof: AddressProof) -> Result<Tx, Error> {
        let own = proof.session.filter(|member| member.user_id() == &user.id && member.org_id() == &self.org.id);
        if let Some(member) = own {
            match member.begin_own_write().await {
                Ok(write) => return Ok(write.tx),
                // The session ended meanwhile; the password can still confirm the write.
                Err(Error::SessionRequired | Error::Suspended) => {}
                Err(error) => return Err(error),
            }
        }
        let password = proof.password.ok_or(Error::WrongPassword)?;
        let typed = TypedPassword { password: &password, client: &proof.client, share: self.queue_share(&proof.client) };
        let account = match self.auth.confirm_password(user, typed).await {
            Err(Error::SessionRequired) => return Err(Error::InvalidLink), // the account was deleted meanwhile
            confirmed => confirmed?,
        };
        let mut tx = self.auth.begin().await?;
        tx.serve(proof.client.request_in(&self.org.id, None));
        hold_account(&mut tx, &user.id).await?;
        // Race: the epoch has moved on when the password was changed after it was compared above.
        if !tx.users().hold_at(&user.id, account.epoch).await? {
            return Err(Error::WrongPassword);
        }
        Ok(tx)
    }
}
