//! Deleting a person by address: the account with all that hangs on it, and what is kept about an address that has none, such as one
//! that was invited and never answered (behaviour.md, B130 and B295).

use std::collections::BTreeMap;

use super::{
    Addressed, Searched, Sought, erase,
    traces::{forget_counters, forget_traces},
};
use crate::{
    account::{Ending, tell_ended},
    caller::hold_account_alone,
    error::{Error, Thing},
    event::{EndReason, EventKind, InviteData, MemberData},
    id::{OrgId, UserId},
    model::{AccountRole, OrgRef, User},
    operator::Operator,
    store::{Actor, DeploymentDeed, Event, Tx},
    throttle::forget_known_addresses,
    value::{Email, Slug},
};

/// What [`Operator::delete_user`] deleted.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DeletedUser {
    /// The account; `None` where the address had none, and only what was kept about it is erased.
    pub user: Option<User>,
    /// The slugs of the organizations that lost their last active org_admin with the account: invite one with
    /// [`Operator::invite_admin`].
    pub without_admin: Vec<Slug>,
    /// Whether nothing is left. `false` where the account is deleted, and something that is kept by the address, such as a mail that
    /// waits or a counter, could not be: [`Operator::delete_user`] called again deletes it.
    pub is_complete: bool,
}

/// Somebody who is held for the end.
struct Held {
    user: Option<User>,
    /// The organizations that it concerns and that are held: one that is being removed cannot be.
    orgs: Vec<OrgRef>,
    /// What told of invites to the address.
    addressed: Vec<Addressed>,
}

impl Operator {
    /// Deletes an account everywhere, with its memberships, its sessions and the invites it sent, and erases the person: what the audit
    /// log, the feed and waiting deliveries tell of them, by id or address, in every organization. Invites to the address end, mails that
    /// wait for it are not sent, and requests, links and counters by it are deleted. An address without an account is erased likewise: the
    /// organizations that were told of it are told of the deletion by a new id. What cannot be deleted once the account is gone makes the
    /// answer incomplete, and loses none of it.
    ///
    /// # Errors
    /// [`Error::NotFound`] for an address of which nothing but counts and networks is kept. [`Error::Unavailable`], also when the address
    /// became another account's meanwhile, or the account got another one: call it again, for some of it may be left.
    pub async fn delete_user(&self, email: &Email) -> Result<DeletedUser, Error> {
        let known = self.auth.store().read().await?.users().find_by_email(email).await?.map(|account| account.user.id);
        if let Some(known) = &known {
            // Before the account: nothing leads to its id once it is gone, should what comes after it fail.
            forget_counters(&self.auth, known).await?;
        }
        let deleted = self.auth.ending(self.erase_person(email, known.as_ref())).await?;
        // And again after it: more may have come to be while it was there.
        match (deleted, forget_traces(&self.auth, email, known.as_ref()).await) {
            (Some(deleted), Ok(_)) => Ok(deleted),
            (Some(deleted), Err(error)) => {
                tracing::warn!(error = %error.causes(), "what is kept by the address of a deleted person could not be deleted as a whole");
                Ok(DeletedUser { is_complete: false, ..deleted })
            }
            (None, Ok(true)) => Ok(DeletedUser { user: None, without_admin: Vec::new(), is_complete: true }),
            (None, Ok(false)) => Err(Error::NotFound(Thing::Account)),
            (None, Err(error)) => Err(error),
        }
    }

    /// `None` when nobody has the address, and no organization was told of it.
    async fn erase_person(&self, email: &Email, known: Option<&UserId>) -> Result<Option<DeletedUser>, Error> {
        let sought = Sought { email: email.clone(), is_theirs: true, user: known.cloned() };
        let searched = Searched::begin(&self.auth).await?;
        let mut addressed = self.addressed_to(sought.clone()).await?;
        let (mut tx, held) = self.hold_everywhere(&sought, &searched).await?;
        let user = held.user;
        addressed.extend(held.addressed);
        let id = known.cloned().unwrap_or_else(|| tx.new_id());
        let mut orgs = withdraw_invites_to(&mut tx, email, &id, &held.orgs).await?;
        if user.is_none() && orgs.is_empty() && addressed.is_empty() {
            return Ok(None);
        }
        let mut without_admin = Vec::new();
        if let Some(user) = &user {
            withdraw_invites_of(&mut tx, &user.id, &held.orgs).await?;
            let members_of = tx.users().organizations_of(&user.id).await?;
            without_admin = end_memberships(&mut tx, user, &members_of, &held.orgs).await?;
            orgs.extend(members_of);
        }
        erase(&mut tx, &id, &orgs, addressed).await?;
        if let Some(user) = &user {
            if user.role == AccountRole::Admin {
                tx.record(Actor::System, DeploymentDeed::OperatorRevoked(user.id.clone()));
            }
            tx.users().delete(&user.id).await?;
        }
        tx.record(Actor::System, DeploymentDeed::UserDeleted(id));
        tx.commit().await?;
        Ok(Some(DeletedUser { user, without_admin, is_complete: true }))
    }

    /// Begins the end of a person: holds the organizations that it concerns, in their order, and then the account, if there is one.
    async fn hold_everywhere(&self, sought: &Sought, searched: &Searched) -> Result<(Tx, Held), Error> {
        let (email, known) = (&sought.email, sought.user.as_ref());
        loop {
            let mut tx = self.auth.begin().await?;
            let user = holder(&mut tx, email, known).await?;
            forget_known_addresses(&mut tx, email).await?;
            let locked = concerned(&mut tx, email, known).await?;
            let orgs = hold_all(&mut tx, &locked).await?;
            if let Some(known) = known {
                hold_account_alone(&mut tx, known).await?;
            }
            // Before the look at the invites, which sees what is sent after this one.
            let addressed = searched.since(&mut tx, sought).await?;
            // An invite may have been accepted, or sent, while that was waited for: its organization is not held.
            let is_held = |org: &OrgRef| locked.iter().any(|locked| locked.id == org.id);
            if !concerned(&mut tx, email, known).await?.iter().all(is_held) {
                continue;
            }
            let held = holder(&mut tx, email, known).await?;
            if held.as_ref().map(|user| &user.email) == user.as_ref().map(|user| &user.email) {
                return Ok((tx, Held { user: held, orgs, addressed }));
            }
        }
    }
}

/// Holds organizations, which come in the order of their ids; returns those that are there, but for one that is being removed.
pub(in crate::operator) async fn hold_all(tx: &mut Tx, orgs: &[OrgRef]) -> Result<Vec<OrgRef>, Error> {
    let mut held = Vec::new();
    for org in orgs {
        held.extend(tx.organizations().lock(&org.id).await?.as_ref().map(OrgRef::from));
    }
    Ok(held)
}

/// The account that has the address, which must be the known one.
async fn holder(tx: &mut Tx, email: &Email, known: Option<&UserId>) -> Result<Option<User>, Error> {
    let user = tx.users().find_by_email(email).await?.map(|account| account.user);
    if user.as_ref().map(|user| &user.id) == known {
        return Ok(user);
    }
    if user.is_some() {
        return Err(Error::unavailable("the address became another account's while it was deleted"));
    }
    let Some(known) = known else { return Err(Error::NotFound(Thing::Account)) };
    Err(match tx.users().find(known).await? {
        Some(_) => Error::unavailable("the account got another address while it was deleted"),
        None => Error::NotFound(Thing::Account),
    })
}

/// The organizations that the end of a person concerns: those the account belongs to, those it sent invites in, and those with an invite
/// to the address; in the order of their ids.
async fn concerned(tx: &mut Tx, email: &Email, user: Option<&UserId>) -> Result<Vec<OrgRef>, Error> {
    let mut orgs = tx.erasing().invited_in(email).await?;
    if let Some(user) = user {
        orgs.extend(tx.users().organizations_of(user).await?);
        orgs.extend(tx.invites().organizations_of_sender(user).await?);
    }
    let by_id: BTreeMap<OrgId, OrgRef> = orgs.into_iter().map(|org| (org.id.clone(), org)).collect();
    Ok(by_id.into_values().collect())
}

/// Withdraws the invites that somebody sent whose account goes, in organizations that are held. Where one is being removed, they go
/// with it.
pub(in crate::operator) async fn withdraw_invites_of(tx: &mut Tx, user: &UserId, held: &[OrgRef]) -> Result<(), Error> {
    for org in held {
        for record in tx.invites().sent_by(&org.id, user).await? {
            // Race: the end of an invite by the sweep holds no organization.
            if !tx.invites().take(&org.id, &record.invite.id).await? {
                continue;
            }
            tx.mails().cancel(&record.mail_id).await?;
            let data = InviteData::of(&record.invite);
            tx.push(Event::new(EventKind::InviteRevoked, org.clone(), Actor::System, &data)?);
        }
    }
    Ok(())
}

/// Withdraws the invites to an address that is erased, in organizations that are held, and returns those where there was one. What tells
/// of the end is about the person, and so is erased with the rest.
async fn withdraw_invites_to(tx: &mut Tx, email: &Email, person: &UserId, held: &[OrgRef]) -> Result<Vec<OrgRef>, Error> {
    let mut orgs = Vec::new();
    for org in held {
        let Some(record) = tx.invites().sent_to(&org.id, email).await? else { continue };
        if !tx.invites().take(&org.id, &record.invite.id).await? {
            continue;
        }
        tx.mails().cancel(&record.mail_id).await?;
        let data = InviteData::of(&record.invite);
        tx.push(Event::new(EventKind::InviteRevoked, org.clone(), Actor::System, &data)?.about(person));
        orgs.push(org.clone());
    }
    Ok(orgs)
}

/// Tells of the end of the memberships and sessions of an account; returns the organizations that have no active org_admin without it,
/// of those that are held: one that is being removed needs none.
async fn end_memberships(tx: &mut Tx, user: &User, members_of: &[OrgRef], held: &[OrgRef]) -> Result<Vec<Slug>, Error> {
    let (mut without_admin, mut ended) = (Vec::new(), Vec::new());
    for org in members_of {
        let Some(member) = tx.members().find(&org.id, &user.id).await? else { continue };
        let is_held = held.iter().any(|held| held.id == org.id);
        if is_held && member.membership.is_active_admin() && tx.members().count_active_admins(&org.id).await? == 1 {
            without_admin.push(org.slug.clone());
        }
        ended.extend(tx.sessions().end_of_member(&org.id, &user.id).await?);
        let data = MemberData::of(&member);
        tx.push(Event::new(EventKind::MemberRemoved, org.clone(), Actor::System, &data)?);
    }
    tell_ended(tx, &ended, &Ending { reason: EndReason::Removed, actor: Actor::System }).await?;
    Ok(without_admin)
}
