//! What a support desk needs: how an account stands, and an end of what blocks it.

use super::Operator;
use crate::{
    error::{Error, Thing},
    id::OrgId,
    model::{Role, Status, User},
    store::{Actor, DeploymentDeed, Tx},
    throttle::{account_key, forgive_codes, forgive_passwords},
    time::Timestamp,
    value::{Email, Slug},
};

/// How an account stands; see [`Operator::account`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AccountState {
    /// The account.
    pub user: User,
    /// Whether a second factor is in force.
    pub has_second_factor: bool,
    /// The recovery codes that are left.
    pub recovery_codes_remaining: u32,
    /// The organizations that it belongs to.
    pub memberships: Vec<AccountMembership>,
    /// How many sessions it has, in all organizations.
    pub sessions: usize,
    /// What refuses its logins now, whoever tries: from one network, or from anywhere.
    pub blocks: Vec<AccountBlock>,
}

/// A membership of an account.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AccountMembership {
    /// The organization.
    pub org_id: OrgId,
    /// What it is called by.
    pub slug: Slug,
    /// Whether anybody is let in there.
    pub org_status: Status,
    /// The role there.
    pub role: Role,
    /// Whether the person is let in there.
    pub status: Status,
}

/// A block after too many failures.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AccountBlock {
    /// What is refused.
    pub of: Blocked,
    /// Until when, unless [`Operator::unlock`] ends it.
    pub until: Timestamp,
}

/// What is refused of a person; see behaviour.md, B82 to B86.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Blocked {
    /// Passwords from one network.
    PasswordsOfNetwork,
    /// Passwords from wherever the account is not known.
    Passwords,
    /// Codes of the second factor.
    Codes,
}

impl Blocked {
    /// The word in the command line's JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PasswordsOfNetwork => "passwords_of_network",
            Self::Passwords => "passwords",
            Self::Codes => "codes",
        }
    }

    fn of_counter(key: &str) -> Option<Self> {
        match key.split_once(':')?.0 {
            "pair" => Some(Self::PasswordsOfNetwork),
            "account" => Some(Self::Passwords),
            "code" | "code-day" => Some(Self::Codes),
            _ => None,
        }
    }
}

impl Operator {
    /// How the account with this address stands. It only reads, and tells no network and no device of the person.
    ///
    /// # Errors
    /// [`Error::NotFound`] for an address without an account.
    pub async fn account(&self, email: &Email) -> Result<AccountState, Error> {
        let mut tx = self.auth.transactions().begin_snapshot().await?;
        let user = tx.users().find_by_email(email).await?.ok_or(Error::NotFound(Thing::Account))?.user;
        let has_second_factor = tx.second_factors().in_force(&user.id).await?;
        let codes = tx.second_factors().count_codes(&user.id).await?;
        let mut memberships = Vec::new();
        for org in tx.users().organizations_of(&user.id).await? {
            if let Some(member) = tx.members().find(&org.id, &user.id).await? {
                let (role, status) = (member.membership.role, member.membership.status);
                let org_status = tx.organizations().find(&org.id).await?.map_or(Status::Suspended, |org| org.status);
                memberships.push(AccountMembership { org_id: org.id, slug: org.slug, org_status, role, status });
            }
        }
        let now = tx.now();
        let is_live = |ends: i64| Timestamp::from_millis(ends) > now;
        let sessions = tx.person().sessions(&user.id).await?;
        let sessions = sessions.iter().filter(|session| is_live(session.idle_until) && is_live(session.expires_at)).count();
        let blocks = blocks_of(&mut tx, &user).await?;
        let recovery_codes_remaining = u32::try_from(codes).map_err(Error::internal)?;
        Ok(AccountState { user, has_second_factor, recovery_codes_remaining, memberships, sessions, blocks })
    }

    /// Forgets the failures that were counted for an account, wrong passwords and wrong codes, with the blocks they led to; its password and
    /// its second factor stay. What an address on the network did to many accounts goes on being counted for that address.
    ///
    /// # Errors
    /// [`Error::NotFound`] for an address without an account.
    pub async fn unlock(&self, email: &Email) -> Result<User, Error> {
        let mut tx = self.auth.begin().await?;
        let user = tx.users().find_by_email(email).await?.ok_or(Error::NotFound(Thing::Account))?.user;
        forgive_passwords(&mut tx, email).await?;
        tx.record(Actor::System, DeploymentDeed::UserUnlocked(user.id.clone()));
        tx.commit().await?;
        // By itself: all counters of one transaction are locked in the order of their keys.
        let mut tx = self.auth.begin().await?;
        forgive_codes(&mut tx, &user.id).await?;
        tx.commit().await?;
        Ok(user)
    }
}

async fn blocks_of(tx: &mut Tx, user: &User) -> Result<Vec<AccountBlock>, Error> {
    let now = tx.now();
    let counters = tx.person().counters(&account_key(&user.email), user.id.as_str()).await?;
    let blocks = counters.iter().filter_map(|counter| {
        let until = Timestamp::from_millis(counter.blocked_until);
        Blocked::of_counter(&counter.key).filter(|_| until > now).map(|of| AccountBlock { of, until })
    });
    Ok(blocks.collect())
}
