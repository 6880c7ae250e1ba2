//! The first proof of an address: whoever shows that a mail reached them owns the account. Until then anybody may have made it in
//! their name (an operator, an import), with a password, a second factor and sessions that its owner knows nothing of.

use crate::{
    account::{Ending, tell_ended, tell_user},
    error::Error,
    event::{EndReason, EventKind, UserData},
    id::OrgId,
    mail::{self, Letter},
    model::{AccountRole, User},
    store::{Account, Actor, DeploymentDeed, Tx},
    throttle::{forget_known_addresses, forgive_codes},
};

/// Forgets what the rate limiter keeps of an account whose address nobody has proved: where it is known, and wrong codes. Both are of
/// whoever had it until then, and a known network may guess beyond the limits that hold for strangers. To be called before the account is
/// locked, as for all counters, where [`hand_over`] follows.
pub(crate) async fn forget_predecessor(tx: &mut Tx, user: &User) -> Result<(), Error> {
    if user.is_email_verified {
        return Ok(());
    }
    forgive_codes(tx, &user.id).await?;
    forget_known_addresses(tx, &user.email).await
}

/// Verifies an account's address for the first time and hands the account over to the holder of the mailed link. Everything that
/// others may have set up ends: sessions, pending logins, links, the password, the second factor and the right of an operator. `false` when the address was
/// verified before; nothing changes then. The transaction holds the account; `org` is the organization in which the link was used.
pub(crate) async fn hand_over(tx: &mut Tx, org: &OrgId, account: &mut Account) -> Result<bool, Error> {
    let user = account.user.id.clone();
    if !tx.users().verify_email(&user).await? {
        return Ok(false);
    }
    let previous = account.user.clone();
    account.user.is_email_verified = true;
    account.password = tx.users().void_password(&user).await?;
    account.epoch = tx.users().bump_epoch(&user).await?;
    tx.links().end_all_of_user(&user).await?;
    tx.pending_logins().end_of_user(&user).await?;
    let actor = Actor::User(user.clone());
    if previous.role == AccountRole::Admin {
        // Whoever was appointed need not be who has the mailbox.
        account.user.role = AccountRole::User;
        tx.users().set_role(&user, AccountRole::User).await?;
        tx.record(Actor::System, DeploymentDeed::OperatorRevoked(user.clone()));
        tell_user(tx, EventKind::UserUpdated, &Actor::System, &UserData::changed(&account.user, &previous)).await?;
    }
    let had_second_factor = tx.second_factors().in_force(&user).await?;
    tx.second_factors().remove(&user).await?;
    if had_second_factor {
        let data = UserData::of(&account.user);
        tell_user(tx, EventKind::UserTwoFactorDisabled, &actor, &data).await?;
        mail::enqueue(tx, org, &account.user.email, &Letter::SecondFactorDisabled).await?;
    }
    let ended = tx.sessions().end_of_user(&user, None).await?;
    tell_ended(tx, &ended, &Ending { reason: EndReason::Password, actor }).await?;
    Ok(true)
}
