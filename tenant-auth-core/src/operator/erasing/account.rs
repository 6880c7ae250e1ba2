//! Deleting a person by address: the account with all that hangs on it, and what is kept about an address that has none, such as one
//! that was invited and never answered (behaviour.md, B130 and B295).

use std::collections::BTreeMap;

use super::{Searched, Sought, erase, traces::forget_traces};
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
}

impl Operator {
    /// Deletes an account everywhere, with its memberships, its sessions and the invites it sent, and erases the person: what the audit
    /// log, the feed and waiting deliveries tell of them, by id or address, in every organization. Invites to the address end, mails that
    /// wait for it are not sent, and requests, links and counters by it are deleted. An address without an account is erased likewise: the
    /// organizations that were told of it are told of the deletion by a new id.
    ///
    /// # Errors
    /// [`Error::NotFound`] for an address of which nothing is kept. [`Error::Unavailable`], also when the address became another
    /// account's meanwhile: call it again, for some of it may be left.
    pub async fn delete_user(&self, email: &Email) -> Result<DeletedUser, Error> {
        let known = self.auth.store().read().await?.users().find_by_email(email).await?.map(|account| account.user.id);
        let deleted = self.auth.ending(self.erase_person(email, known.as_ref())).await?;
        // After the account: nothing that was on its way writes more of this then.
        let had_traces = forget_traces(&self.auth, email, known.as_ref()).await?;
        let traces = had_traces.then(|| DeletedUser { user: None, without_admin: Vec::new() });
        deleted.or(traces).ok_or(Error::NotFound(Thing::Account))
    }

    /// `None` when nobody has the address, and no organization was told of it.
    async fn erase_person(&self, email: &Email, known: Option<&UserId>) -> Result<Option<DeletedUser>, Error> {
        let sought = Sought { email: email.clone(), is_theirs: true, user: known.cloned() };
        let searched = Searched::begin(&self.auth).await?;
        let mut addressed = self.addressed_to(sought.clone()).await?;
        let (mut tx, user) = self.hold_everywhere(email, known).await?;
        addressed.extend(searched.since(&mut tx, &sought).await?);
        let id = known.cloned().unwrap_or_else(|| tx.new_id());
        let mut orgs = withdraw_invites_to(&mut tx, email, &id).await?;
        if user.is_none() && orgs.is_empty() && addressed.is_empty() {
            return Ok(None);
        }
        let mut without_admin = Vec::new();
        if let Some(user) = &user {
            withdraw_invites_of(&mut tx, &user.id).await?;
            let members_of = tx.users().organizations_of(&user.id).await?;
            without_admin = end_memberships(&mut tx, user, &members_of).await?;
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
        Ok(Some(DeletedUser { user, without_admin }))
    }

    /// Begins the end of a person: holds the organizations that it concerns, in their order, and then the account, if there is one.
    async fn hold_everywhere(&self, email: &Email, known: Option<&UserId>) -> Result<(Tx, Option<User>), Error> {
        loop {
            let mut tx = self.auth.begin().await?;
            let user = holder(&mut tx, email, known).await?;
            forget_known_addresses(&mut tx, email).await?;
            let locked = concerned(&mut tx, email, known).await?;
            for org in locked.keys() {
                tx.organizations().lock(org).await?;
            }
            if let Some(known) = known {
                hold_account_alone(&mut tx, known).await?;
            }
            // An invite may have been accepted, or sent, while that was waited for: its organization is not held.
            if !concerned(&mut tx, email, known).await?.keys().all(|org| locked.contains_key(org)) {
                continue;
            }
            let held = holder(&mut tx, email, known).await?;
            if held.as_ref().map(|user| &user.email) == user.as_ref().map(|user| &user.email) {
                return Ok((tx, held));
            }
        }
    }
}

/// The account that has the address, which must be the known one.
async fn holder(tx: &mut Tx, email: &Email, known: Option<&UserId>) -> Result<Option<User>, Error> {
    let user = tx.users().find_by_email(email).await?.map(|account| account.user);
    if user.as_ref().map(|user| &user.id) == known {
        return Ok(user);
    }
    Err(match user {
        Some(_) => Error::unavailable("the address became another account's while it was deleted"),
        None => Error::NotFound(Thing::Account),
    })
}

/// The organizations that the end of a person concerns: those the account belongs to, those it sent invites in, and those with an invite
/// to the address.
async fn concerned(tx: &mut Tx, email: &Email, user: Option<&UserId>) -> Result<BTreeMap<OrgId, OrgRef>, Error> {
    let mut orgs = tx.erasing().invited_in(email).await?;
    if let Some(user) = user {
        orgs.extend(tx.users().organizations_of(user).await?);
        orgs.extend(tx.invites().organizations_of_sender(user).await?);
    }
    Ok(orgs.into_iter().map(|org| (org.id.clone(), org)).collect())
}

/// Withdraws the invites that somebody sent whose account goes. Their organizations are held.
pub(in crate::operator) async fn withdraw_invites_of(tx: &mut Tx, user: &UserId) -> Result<(), Error> {
    for org in tx.invites().organizations_of_sender(user).await? {
        for record in tx.invites().sent_by(&org.id, user).await? {
            tx.invites().take(&org.id, &record.invite.id).await?;
            tx.mails().cancel(&record.mail_id).await?;
            let data = InviteData::of(&record.invite);
            tx.push(Event::new(EventKind::InviteRevoked, org.clone(), Actor::System, &data)?);
        }
    }
    Ok(())
}

/// Withdraws the invites to an address that is erased, in organizations that are held, and returns these. What tells of the end is about
/// the person, and so is erased with the rest.
async fn withdraw_invites_to(tx: &mut Tx, email: &Email, person: &UserId) -> Result<Vec<OrgRef>, Error> {
    let orgs = tx.erasing().invited_in(email).await?;
    for org in &orgs {
        let Some(record) = tx.invites().sent_to(&org.id, email).await? else { continue };
        tx.invites().take(&org.id, &record.invite.id).await?;
        tx.mails().cancel(&record.mail_id).await?;
        let data = InviteData::of(&record.invite);
        tx.push(Event::new(EventKind::InviteRevoked, org.clone(), Actor::System, &data)?.about(person));
    }
    Ok(orgs)
}

/// Tells of the end of the memberships and sessions of an account; returns the organizations that have no active org_admin without it.
async fn end_memberships(tx: &mut Tx, user: &User, members_of: &[OrgRef]) -> Result<Vec<Slug>, Error> {
    let (mut without_admin, mut ended) = (Vec::new(), Vec::new());
    for org in members_of {
        let Some(member) = tx.members().find(&org.id, &user.id).await? else { continue };
        if member.membership.is_active_admin() && tx.members().count_active_admins(&org.id).await? == 1 {
            without_admin.push(org.slug.clone());
        }
        ended.extend(tx.sessions().end_of_member(&org.id, &user.id).await?);
        let data = MemberData::of(&member);
        tx.push(Event::new(EventKind::MemberRemoved, org.clone(), Actor::System, &data)?);
    }
    tell_ended(tx, &ended, &Ending { reason: EndReason::Removed, actor: Actor::System }).await?;
    Ok(without_admin)
}
