//! The removal of an organization. It begins with one guarded statement, after which the organization is unknown and nothing undoes it.
//! Then a worker deletes what is left, in short transactions that each stand alone: whenever one is killed, another goes on. An account
//! goes with its last membership, unless an invite waits for its address; every log is then rid of the person, as by `user delete`, and
//! what is kept by the address alone (counters, links to sign up with, mails that wait) expires.

use std::{collections::HashMap, time::Duration};

use super::erasing::{Addressed, Holding, Searched, Sought, addressed_to_each, erase, hold_all, withdraw_invites_of};
use crate::{
    caller::hold_account_alone,
    error::Error,
    id::{OrgId, UserId},
    model::{AccountRole, OrgRef},
    service::TenantAuth,
    store::{Actor, DeploymentDeed, FreeRemoval, Leaving, Tx},
    throttle::forget_known_addresses,
    time::DAY,
};

/// How long a worker holds a removal after each of its transactions.
const LEASE: Duration = Duration::from_secs(30);
/// How many members are looked at together.
const MEMBERS_AT_ONCE: i64 = 200;
/// How long a notice may wait for the mail server.
const NOTICES_WAIT: Duration = DAY;

/// Begins the removal of an organization whose time has come. `false` when it was cancelled, or another process began.
///
/// # Errors
/// [`Error::Unavailable`].
pub(super) async fn begin_removal(auth: &TenantAuth, org: &OrgRef) -> Result<bool, Error> {
    let mut tx = auth.begin().await?;
    if !tx.removals().begin(org).await? {
        return Ok(false);
    }
    tx.record(Actor::System, DeploymentDeed::OrganizationRemoved(org.clone()));
    tx.commit().await?;
    tracing::info!(organization_id = %org.id, "the removal of an organization begins");
    Ok(true)
}

/// What was read before anything was locked: what tells of invites to the people who leave with their accounts.
struct Read {
    /// How far the logs went then.
    searched: Searched,
    addressed: HashMap<UserId, Vec<Addressed>>,
}

/// By what somebody is sought: the address as it is compared, and whether it was proved.
fn searched_as(member: &Leaving) -> (String, bool) {
    (member.email.key(), member.is_email_verified)
}

fn sought(member: &Leaving) -> Sought {
    Sought { email: member.email.clone(), is_theirs: member.is_email_verified, user: Some(member.user.clone()) }
}

/// What came of a step of a removal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Something was deleted, and more may be left.
    GoesOn,
    /// Nothing can be done now: notices wait to be sent, another worker holds the removal, or it is finished.
    Rests,
}

/// A removal that this worker holds.
#[derive(Debug)]
pub(crate) struct Removal {
    auth: TenantAuth,
    held: FreeRemoval,
}

impl Holding for Removal {
    async fn renew(&mut self) -> Result<bool, Error> {
        if self.auth.now().plus(LEASE / 2) < self.held.held_until {
            return Ok(true);
        }
        let Some(tx) = self.begin().await? else { return Ok(false) };
        tx.commit().await?;
        Ok(true)
    }
}

impl Removal {
    /// Takes a removal that nobody holds.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub(crate) async fn take(auth: &TenantAuth) -> Result<Option<Self>, Error> {
        let now = auth.now();
        let free = auth.store().read().await?.removed().free(now, now.plus(LEASE)).await?;
        let Some(held) = free else { return Ok(None) };
        let mut removal = Self { auth: auth.clone(), held };
        let Some(tx) = removal.begin().await? else { return Ok(None) };
        tx.commit().await?;
        Ok(Some(removal))
    }

    /// The organization.
    pub(crate) fn org(&self) -> &OrgId {
        &self.held.org
    }

    /// Deletes some of what is left; `false` when nothing can be done now.
    ///
    /// # Errors
    /// [`Error::Unavailable`]; what was not deleted is for whoever takes the removal next.
    pub(crate) async fn go_on(&mut self) -> Result<bool, Error> {
        let Some(mut tx) = self.begin().await? else { return Ok(false) };
        let (now, org) = (tx.now(), self.held.org.clone());
        let deleted = tx.removed().delete_some(&org, now.minus(NOTICES_WAIT)).await?;
        if deleted > 0 {
            tx.commit().await?;
            return Ok(true);
        }
        let leaving = tx.removed().members(&org, now, MEMBERS_AT_ONCE).await?;
        if !leaving.is_empty() {
            tx.commit().await?;
            return Ok(self.remove_members(leaving).await? == Step::GoesOn);
        }
        if tx.removed().delete_events(&org).await? > 0 {
            tx.commit().await?;
            return Ok(true);
        }
        let is_finished = tx.removed().finish(&org).await?;
        tx.commit().await?;
        if is_finished {
            tracing::info!(organization_id = %org, "an organization is removed");
        }
        Ok(false)
    }

    /// Lets whoever looks next go on.
    ///
    /// # Errors
    /// [`Error::Unavailable`]; it is free after its lease then.
    pub(crate) async fn set_down(self) -> Result<(), Error> {
        let mut tx = self.auth.begin().await?;
        let now = tx.now();
        if tx.removed().hold(&self.held, now).await? {
            tx.commit().await?;
        }
        Ok(())
    }

    /// Begins a transaction that holds the removal; `None` when another worker does.
    async fn begin(&mut self) -> Result<Option<Tx>, Error> {
        let mut tx = self.auth.begin().await?;
        let until = tx.now().plus(LEASE);
        if !tx.removed().hold(&self.held, until).await? {
            return Ok(None);
        }
        self.held.held_until = until;
        Ok(Some(tx))
    }

    async fn remove_members(&mut self, leaving: Vec<Leaving>) -> Result<Step, Error> {
        let last: Vec<&Leaving> = leaving.iter().filter(|member| !member.is_needed).collect();
        let sought: Vec<Sought> = last.iter().map(|member| sought(member)).collect();
        // Read before anything is locked: invites to these addresses are told in every organization.
        let auth = self.auth.clone();
        // Where nobody leaves with the account, nothing is searched.
        let searched = if last.is_empty() { Searched::default() } else { Searched::begin(&auth).await? };
        let Some(found) = addressed_to_each(&auth, &sought, self).await? else { return Ok(Step::Rests) };
        let addressed = last.iter().map(|member| member.user.clone()).zip(found).collect();
        let mut read = Read { searched, addressed };
        auth.ending(async {
            for member in leaving {
                if self.remove_member(&member, &mut read).await? == Step::Rests {
                    return Ok(Step::Rests);
                }
            }
            Ok(Step::GoesOn)
        })
        .await
    }

    /// Ends a membership, and the account with the last one.
    async fn remove_member(&mut self, member: &Leaving, read: &mut Read) -> Result<Step, Error> {
        let before = self.held.held_until;
        let Some(mut tx) = self.begin().await? else { return Ok(Step::Rests) };
        if self.end_member(&mut tx, member, read).await? {
            tx.commit().await?;
        } else {
            // Undone, the longer lease too.
            drop(tx);
            self.held.held_until = before;
        }
        Ok(Step::GoesOn)
    }

    /// `false` when it became the last membership, an invite came, or the account sent one or got or proved another address, since the
    /// members were read: the transaction must not be committed, and the next look at the members finds what there is. Lock order: the
    /// organization, those in which the account sent invites, its memberships, the account.
    async fn end_member(&self, tx: &mut Tx, member: &Leaving, read: &mut Read) -> Result<bool, Error> {
        let (org, user): (&OrgId, &UserId) = (&self.held.org, &member.user);
        let (mut locked, mut held) = (Vec::new(), Vec::new());
        if !member.is_needed {
            forget_known_addresses(tx, &member.email).await?;
            locked = tx.invites().organizations_of_sender(user).await?;
            held = hold_all(tx, &locked).await?;
        }
        hold_account_alone(tx, user).await?;
        let entry = tx.members().find(org, user).await?;
        let now = tx.now();
        let judged = tx.removed().member(org, user, now).await?;
        let is_as_read =
            judged.is_some_and(|judged| searched_as(&judged) == searched_as(member) && judged.is_needed == member.is_needed);
        let Some(entry) = entry.filter(|_| is_as_read) else { return Ok(false) };
        if member.is_needed {
            tx.members().remove(&entry.membership).await?;
            return Ok(true);
        }
        if !tx.invites().organizations_of_sender(user).await?.iter().all(|org| locked.contains(org)) {
            return Ok(false);
        }
        let Some(mut addressed) = read.addressed.remove(user) else { return Ok(false) };
        addressed.extend(read.searched.since(tx, &sought(member)).await?);
        withdraw_invites_of(tx, user, &held).await?;
        erase(tx, user, &[], addressed).await?;
        let account = tx.users().find(user).await?;
        if account.is_some_and(|account| account.user.role == AccountRole::Admin) {
            tx.record(Actor::System, DeploymentDeed::OperatorRevoked(user.clone()));
        }
        tx.users().delete(user).await?;
        Ok(true)
    }
}
