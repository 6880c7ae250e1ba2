//! The operator's way back for an account that somebody took over and gave an address of their own: a reset link would reach them, and no
//! request without a session sets an address (behaviour.md, B285). The account counts as nobody's until the first proof of the new address
//! (`account/first_proof.rs`), which also ends a second factor and the right of an operator.

use super::Operator;
use crate::{
    account::{Ending, mail_reset_link, tell_ended, tell_user},
    caller::hold_account,
    error::{Error, Thing},
    event::{EndReason, EventKind, UserData},
    model::{Organization, Status, User},
    store::{Actor, DeploymentDeed, Tx},
    throttle::{forget_known_addresses, move_known_addresses},
    value::Email,
};

/// An account that was given another address.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GivenAddress {
    /// The account, with the new address.
    pub user: User,
    /// Whether a link by which its holder chooses a password is mailed there: `false` where no organization of the account is active.
    pub is_link_mailed: bool,
}

impl Operator {
    /// Gives an account another address, unproved: its password is void, its sessions, waiting logins and mailed links end. The new address is
    /// mailed a link by which its holder chooses a password, in an active organization of the account; the former one, which is not the
    /// owner's, is told nothing. Whoever sets a password by that link or another has proved the address; a second factor and the right of
    /// an operator end with it. The address that the account has may be given again, to the same effect.
    ///
    /// # Errors
    /// [`Error::NotFound`] for an address without an account, [`Error::EmailTaken`] when another account has the new one.
    pub async fn set_email(&self, email: &Email, to: &Email) -> Result<GivenAddress, Error> {
        self.auth
            .ending(async {
                let mut tx = self.auth.begin().await?;
                let known = tx.users().find_by_email(email).await?.ok_or(Error::NotFound(Thing::Account))?.user.id;
                // Counters come before accounts. Where the account was known is known of whoever had it.
                move_known_addresses(&mut tx, email, to).await?;
                forget_known_addresses(&mut tx, to).await?;
                hold_account(&mut tx, &known).await?;
                // Read while it is held: the address may have become another's.
                let account = tx.users().find_by_email(email).await?.filter(|account| account.user.id == known);
                let previous = account.ok_or(Error::NotFound(Thing::Account))?.user;
                if !tx.users().set_email(&previous.id, to, false).await? {
                    return Err(Error::EmailTaken);
                }
                let user = User { email: to.clone(), is_email_verified: false, ..previous.clone() };
                tx.users().void_password(&user.id).await?;
                tx.users().bump_epoch(&user.id).await?;
                tx.links().end_all_of_user(&user.id).await?;
                tx.pending_logins().end_of_user(&user.id).await?;
                let ended = tx.sessions().end_of_user(&user.id, None).await?;
                let data = UserData::changed(&user, &previous);
                tell_user(&mut tx, EventKind::UserUpdated, &Actor::System, &data).await?;
                tell_ended(&mut tx, &ended, &Ending { reason: EndReason::Email, actor: Actor::System }).await?;
                tx.record(Actor::System, DeploymentDeed::EmailSet(user.id.clone()));
                let org = active_organization(&mut tx, &user).await?;
                if let Some(org) = &org {
                    mail_reset_link(&mut tx, org, &user, self.auth.config()).await?;
                }
                tx.commit().await?;
                Ok(GivenAddress { user, is_link_mailed: org.is_some() })
            })
            .await
    }
}

/// An organization in which the person can use a link.
async fn active_organization(tx: &mut Tx, user: &User) -> Result<Option<Organization>, Error> {
    for org in tx.users().organizations_of(&user.id).await? {
        let org = tx.organizations().find(&org.id).await?.filter(|org| org.status == Status::Active);
        if org.is_some() {
            return Ok(org);
        }
    }
    Ok(None)
}
