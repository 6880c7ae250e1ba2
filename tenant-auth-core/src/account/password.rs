//! Changing the password, and confirming an operation with it. After a change every other session of the account ends, in all
//! organizations, and so does a login in flight with the old password.

use crate::{
    account::{check_password, end_all_others, tell_user},
    bounded::QueueShare,
    caller::{Client, Member},
    error::Error,
    event::{EndReason, EventKind, UserData},
    id::UserId,
    mail::{self, Letter},
    model::User,
    ports::Verdict,
    secret::Password,
    service::TenantAuth,
    store::{Account, LinkPurpose},
    throttle::log_refused,
    value::password::{self, Owner},
};

/// A change of password, confirmed by the old one.
#[derive(Debug)]
pub struct NewPassword {
    /// The password that is valid now.
    pub current: Password,
    /// The password to set.
    pub new: Password,
}

impl Member {
    /// Changes the account's password. Every other session of the account ends. Mailed links that reset the password or change the
    /// address stop working: an intruder may have asked for them.
    ///
    /// # Errors
    /// [`Error::WrongPassword`], also when the password changed meanwhile; [`Error::WeakPassword`], naming every broken rule, of
    /// which one is that the new password is not the current one; [`Error::RateLimited`].
    pub async fn change_password(&self, change: NewPassword) -> Result<(), Error> {
        // The password may be wrong because it was changed, by a request whose answer was lost.
        let is_changed = |error: &Error| matches!(error, Error::WrongPassword);
        self.auth.telling(is_changed, self.replace_password(change)).await
    }

    async fn replace_password(&self, change: NewPassword) -> Result<(), Error> {
        let owner = Owner {
            email: &self.live.user.email,
            name: &self.live.user.name,
            slug: &self.live.org.slug,
            organization: &self.live.org.name,
        };
        let account = self.confirm_password(&change.current).await?;
        let share = self.queue_share();
        let new = other_than_current(&change, check_password(&self.auth, &change.new, owner, &share).await)?;
        let hash = self.auth.hasher().hash(&new, &share).await?;

        let mut write = self.begin_own_write().await?;
        // Race: the epoch has moved on when the password was changed after it was confirmed above.
        if !write.users().set_password(self.user_id(), &hash, account.epoch).await? {
            return Err(Error::WrongPassword);
        }
        write.links().end_of_user(self.user_id(), LinkPurpose::ResetPassword).await?;
        write.links().end_of_user(self.user_id(), LinkPurpose::ChangeEmail).await?;
        let data = UserData::of(&write.live.user);
        tell_user(&mut write.tx, EventKind::UserPasswordChanged, &self.actor(), &data).await?;
        end_all_others(self, &mut write, EndReason::Password).await?;
        mail::tell_owner(&mut write, self.org_id(), &account.user, &Letter::PasswordChanged).await?;
        write.commit().await
    }

    /// Confirms an operation by the caller's password, and returns the account. A wrong password counts as a failed login.
    pub(crate) async fn confirm_password(&self, typed: &Password) -> Result<Account, Error> {
        let typed = TypedPassword { password: typed, client: &self.client, share: self.queue_share() };
        self.auth.confirm_password(&self.live.user, typed).await
    }

    fn queue_share(&self) -> QueueShare {
        self.client.queue_share(self.org_id())
    }
}

/// Adds to what was found about the new password that it is the current one (behaviour.md, B265). The current password was confirmed
/// as text, so that texts are compared, and no hash is computed for it.
fn other_than_current(change: &NewPassword, checked: Result<Password, Error>) -> Result<Password, Error> {
    let forms = (password::normalized(&change.new), password::normalized(&change.current));
    let is_current = matches!(&forms, (Some(new), Some(current)) if new.expose() == current.expose());
    if !is_current {
        return checked;
    }
    let mut broken = match checked {
        Ok(_) => Vec::new(),
        Err(Error::WeakPassword(broken)) => broken,
        Err(other) => return Err(other),
    };
    broken.push("must not be the current password".to_owned());
    Err(Error::WeakPassword(broken))
}

/// A password that confirms an operation.
pub(crate) struct TypedPassword<'a> {
    pub(crate) password: &'a Password,
    /// Where it comes from: what a wrong one is counted by.
    pub(crate) client: &'a Client,
    pub(crate) share: QueueShare,
}

impl TenantAuth {
    /// Confirms an operation by the account's password, and returns the account. A wrong password counts as a failed login, so that
    /// a stolen session is no way to guess the password.
    pub(crate) async fn confirm_password(&self, user: &User, typed: TypedPassword<'_>) -> Result<Account, Error> {
        let confirmed = self.judge_password(user, &typed).await;
        confirmed.inspect_err(|refusal| log_refused(refusal, typed.share.organization(), typed.client))
    }

    async fn judge_password(&self, user: &User, typed: &TypedPassword<'_>) -> Result<Account, Error> {
        let attempt = self.password_attempt(&user.email, typed.client).await?;
        match attempt.judged(self.compare(&user.id, typed)).await {
            Ok(account) => {
                attempt.withdrawn().await;
                Ok(account)
            }
            Err(Error::WrongPassword) => {
                attempt.failed().await?;
                Err(Error::WrongPassword)
            }
            Err(unjudged) => {
                attempt.withdrawn().await;
                Err(unjudged)
            }
        }
    }

    async fn compare(&self, user: &UserId, typed: &TypedPassword<'_>) -> Result<Account, Error> {
        let account = self.store().read().await?.users().find(user).await?.ok_or(Error::SessionRequired)?;
        let password = password::normalized(typed.password).ok_or(Error::WrongPassword)?;
        match self.hasher().verify(&password, account.comparable_password(), &typed.share).await? {
            Verdict::Match | Verdict::MatchOutdated => Ok(account),
            Verdict::Mismatch => Err(Error::WrongPassword),
        }
    }
}
