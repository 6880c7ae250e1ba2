//! The account of somebody who signs up with an address that nobody has proved: a new one, or one that somebody else made with that
//! address, which is handed over to the holder of the mailed link (`account/first_proof.rs`).

use crate::{
    account::{forget_predecessor, hand_over, tell_user},
    caller::hold_account,
    error::Error,
    event::{EventKind, UserData},
    id::OrgId,
    model::{AccountRole, Profile, User},
    secret::StoredPassword,
    store::{Account, Actor, Tx},
    value::{DisplayName, Email},
};

/// What a newcomer gives.
pub(super) struct Newcomer {
    pub(super) name: DisplayName,
    pub(super) password: StoredPassword,
}

impl Newcomer {
    /// The account, locked; its address is verified now. `org` is the organization that is made.
    ///
    /// # Errors
    /// [`Error::AccountExists`] when the address was proved meanwhile: nothing is taken over then.
    pub(super) async fn settle(self, tx: &mut Tx, org: &OrgId, email: &Email) -> Result<Account, Error> {
        match held_account_of(tx, email).await? {
            Some(account) => self.take_over(tx, org, account).await,
            None => self.open_account(tx, email).await,
        }
    }

    async fn open_account(self, tx: &mut Tx, email: &Email) -> Result<Account, Error> {
        let Self { name, password } = self;
        let user = User {
            id: tx.new_id(),
            name,
            email: email.clone(),
            role: AccountRole::User,
            is_email_verified: true,
            profile: Profile::default(),
        };
        if !tx.users().insert(&user, &password).await? {
            return Err(Error::AccountExists);
        }
        Ok(Account { user, password, epoch: 1, language: None })
    }

    /// The organizations that the account belongs to already keep it as a member, and are told its new name.
    async fn take_over(self, tx: &mut Tx, org: &OrgId, mut account: Account) -> Result<Account, Error> {
        if !hand_over(tx, org, &mut account).await? {
            return Err(Error::AccountExists);
        }
        let previous = account.user.clone();
        let (id, actor) = (previous.id.clone(), Actor::User(previous.id.clone()));
        if self.name != previous.name {
            account.user.name = self.name;
            tx.users().set_profile(&id, &account.user.name, &previous.profile).await?;
            tell_user(tx, EventKind::UserUpdated, &actor, &UserData::changed(&account.user, &previous)).await?;
        }
        if !tx.users().set_password(&id, &self.password, account.epoch).await? {
            return Err(Error::AccountExists);
        }
        account.password = self.password;
        tell_user(tx, EventKind::UserPasswordChanged, &actor, &UserData::of(&account.user)).await?;
        Ok(account)
    }
}

/// The account that the address has, read under lock: it may have another address by then, or another's mailbox may be meant (B25).
async fn held_account_of(tx: &mut Tx, email: &Email) -> Result<Option<Account>, Error> {
    let Some(found) = tx.users().find_by_email(email).await? else { return Ok(None) };
    forget_predecessor(tx, &found.user).await?;
    hold_account(tx, &found.user.id).await?;
    Ok(tx.users().find(&found.user.id).await?.filter(|account| account.user.email.is_written_as(email)))
}
