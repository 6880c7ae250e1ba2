//! The operator's operations on accounts: creating one without an invite, removing a lost second factor, and ending
//! sessions.

use super::Operator;
use crate::{
    account::{Ending, check_password, tell_ended, tell_user},
    bounded::QueueShare,
    caller::hold_account,
    error::{Error, Thing},
    event::{EndReason, EventKind, UserData},
    mail::{self, Letter},
    model::{AccountRole, Membership, Profile, Role, User},
    org::join,
    secret::Password,
    store::{Actor, DeploymentDeed, Ended, Tx},
    throttle::forgive_codes,
    value::{DisplayName, Email, Slug, password::Owner},
};

/// How many sessions of an organization are ended in one transaction.
const REVOKED_AT_ONCE: u16 = if cfg!(test) { 3 } else { 2_000 };

/// An account with a membership, made without an invite.
#[derive(Debug)]
pub struct NewUser {
    /// The address; it counts as unverified.
    pub email: Email,
    /// The person's name.
    pub name: DisplayName,
    /// Their role in the organization.
    pub role: Role,
    /// Their password.
    pub password: Password,
}

/// The account and membership that [`Operator::create_user`] created.
#[derive(Debug)]
#[non_exhaustive]
pub struct CreatedUser {
    /// The account.
    pub user: User,
    /// Its membership.
    pub membership: Membership,
}

/// The sessions to end.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum SessionsOf {
    /// All sessions of the deployment.
    All,
    /// All sessions in one organization.
    Organization(Slug),
    /// The sessions of one person, in all organizations.
    User(Email),
}

impl Operator {
    /// Creates an account and its membership, without an invite; the address stays unverified.
    ///
    /// # Errors
    /// [`Error::UnknownOrganization`], [`Error::EmailTaken`], [`Error::WeakPassword`].
    pub async fn create_user(&self, slug: &Slug, new: NewUser) -> Result<CreatedUser, Error> {
        let org = self.auth.tenant(slug).await?.org;
        let owner = Owner { email: &new.email, name: &new.name, slug: &org.slug, organization: &org.name };
        let share = QueueShare::new(&org.id, None);
        let checked = check_password(&self.auth, &new.password, owner, &share).await?;
        let hash = self.auth.hasher().hash(&checked, &share).await?;

        let (mut tx, org) = self.begin_in(slug).await?;
        let user = User {
            id: tx.new_id(),
            name: new.name,
            email: new.email,
            role: AccountRole::User,
            is_email_verified: false,
            profile: Profile::default(),
        };
        if !tx.users().insert(&user, &hash).await? {
            return Err(Error::EmailTaken);
        }
        let membership = join(&mut tx, &org, &user, new.role, Actor::System).await?;
        tx.commit().await?;
        Ok(CreatedUser { user, membership })
    }

    /// Removes a person's second factor, when the device and the recovery codes are lost. Every session of the account ends, and
    /// its wrong codes are forgotten.
    ///
    /// # Errors
    /// [`Error::NotFound`] for an address without an account, [`Error::SecondFactorMissing`].
    pub async fn reset_second_factor(&self, email: &Email) -> Result<User, Error> {
        self.auth
            .ending(async {
                let mut tx = self.auth.begin().await?;
                let known = tx.users().find_by_email(email).await?.ok_or(Error::NotFound(Thing::Account))?.user.id;
                forgive_codes(&mut tx, &known).await?;
                hold_account(&mut tx, &known).await?;
                // Read while it is held: the address may have become another's.
                let account = tx.users().find_by_email(email).await?.filter(|account| account.user.id == known);
                let user = account.ok_or(Error::NotFound(Thing::Account))?.user;
                if !tx.second_factors().remove(&user.id).await? {
                    return Err(Error::SecondFactorMissing);
                }
                tx.users().bump_epoch(&user.id).await?;
                tx.pending_logins().end_of_user(&user.id).await?;
                let ended = tx.sessions().end_of_user(&user.id, None).await?;
                let data = UserData::of(&user);
                tell_user(&mut tx, EventKind::UserTwoFactorDisabled, &Actor::System, &data).await?;
                tell_ended(&mut tx, &ended, &Ending { reason: EndReason::TwoFactor, actor: Actor::System }).await?;
                tx.record(Actor::System, DeploymentDeed::SecondFactorReset(user.id.clone()));
                if let Some(org) = tx.users().organizations_of(&user.id).await?.first() {
                    mail::enqueue(&mut tx, &org.id, &user.email, &Letter::SecondFactorDisabled).await?;
                }
                tx.commit().await?;
                Ok(user)
            })
            .await
    }

    /// Ends sessions and returns their number; their tokens stop working at once.
    ///
    /// # Errors
    /// [`Error::UnknownOrganization`], or [`Error::NotFound`] for an address without an account.
    pub async fn revoke_sessions(&self, whose: SessionsOf) -> Result<u64, Error> {
        self.auth
            .ending(async {
                match whose {
                    SessionsOf::All => {
                        let mut tx = self.auth.begin().await?;
                        tx.record(Actor::System, DeploymentDeed::SessionsRevoked { org: None, user: None });
                        tx.commit().await?;
                        let mut ended = 0;
                        for org in self.organizations().await? {
                            ended += match self.revoke_in(&org.slug, false).await {
                                // It was removed meanwhile, and its sessions with it.
                                Err(Error::UnknownOrganization) => 0,
                                outcome => outcome?,
                            };
                        }
                        Ok(ended)
                    }
                    SessionsOf::Organization(slug) => self.revoke_in(&slug, true).await,
                    SessionsOf::User(email) => {
                        let mut tx = self.auth.begin().await?;
                        let account = tx.users().find_by_email(&email).await?.ok_or(Error::NotFound(Thing::Account))?;
                        hold_account(&mut tx, &account.user.id).await?;
                        tx.pending_logins().end_of_user(&account.user.id).await?;
                        let ended = tx.sessions().end_of_user(&account.user.id, None).await?;
                        tx.record(Actor::System, DeploymentDeed::SessionsRevoked { org: None, user: Some(account.user.id) });
                        self.told(tx, &ended).await
                    }
                }
            })
            .await
    }

    /// In batches: the organization is locked while those of one are told of. It is a deed of its own where not those of all are ended.
    async fn revoke_in(&self, slug: &Slug, is_deed: bool) -> Result<u64, Error> {
        let (mut tx, org) = self.begin_in(slug).await?;
        if is_deed {
            tx.record(Actor::System, DeploymentDeed::SessionsRevoked { org: Some((&org).into()), user: None });
        }
        tx.pending_logins().end_of_organization(&org.id).await?;
        // Whoever opens a session holds this until its commit, so that what follows sees each session there is.
        tx.sessions().place(&org.id).await?;
        tx.commit().await?;
        let (mut ended, mut found_few) = (0, 0);
        // A round that finds few has seen the last: what it missed was deleted at that moment by others, who are not so many. One more for
        // whoever opens one session too many: they evict others and hold those only, so that a round which waited for them did not see
        // the new one. More rounds would chase those who log in again.
        while found_few < 2 {
            let (mut tx, org) = self.begin_in(slug).await?;
            let (deleted, batch) = tx.sessions().end_some_of_organization(&org.id, REVOKED_AT_ONCE.into()).await?;
            found_few = if deleted < usize::from(REVOKED_AT_ONCE / 2) { found_few + 1 } else { 0 };
            ended += self.told(tx, &batch).await?;
        }
        Ok(ended)
    }

    async fn told(&self, mut tx: Tx, ended: &[Ended]) -> Result<u64, Error> {
        tell_ended(&mut tx, ended, &Ending { reason: EndReason::Operator, actor: Actor::System }).await?;
        tx.commit().await?;
        u64::try_from(ended.len()).map_err(Error::internal)
    }
}

#[cfg(all(test, feature = "testing", feature = "sqlite"))]
mod tests {
    use crate::{operator::SessionsOf, testing::TestAuth};

    /// More than one transaction ends, and among the first of them some that had ended before, which are told of no more.
    #[tokio::test]
    async fn every_session_of_an_organization_ends_however_many_there_are() {
        let test = TestAuth::new().await;
        for _ in 0..4 {
            test.login(&test.member).await;
        }
        test.clock.advance(test.auth.config().sessions.refresh_token_ttl * 2);
        let mut tokens = Vec::new();
        for _ in 0..4 {
            tokens.push(test.login(&test.member).await);
            tokens.push(test.login(&test.admin).await);
        }
        let slug = test.org.organization().slug.clone();
        let ended = test.auth.operator().revoke_sessions(SessionsOf::Organization(slug)).await.expect("they can be ended");
        assert_eq!(ended, 8);
        for token in tokens {
            test.org.refresh(token.refresh.expose()).await.expect_err("it has ended");
        }
    }
}
