//! Joining an organization, by invite or by an operator: the membership, its event, and a notice to the admins when the new member
//! is one of them. The transaction holds the organization's row, or the table's key decides, so that an account cannot join twice.

use crate::{
    error::Error,
    event::{EventKind, MemberData},
    mail::{self, Letter},
    model::{MemberEntry, Membership, Organization, Role, Status, User},
    store::{Actor, Event, Tx},
    value::Metadata,
};

/// Inserts an active membership.
///
/// # Errors
/// [`Error::AlreadyMember`].
pub(crate) async fn join(tx: &mut Tx, org: &Organization, user: &User, role: Role, actor: Actor) -> Result<Membership, Error> {
    join_with(tx, org, user, Place { role, metadata: Metadata::default() }, actor).await
}

/// What somebody becomes in an organization.
pub(crate) struct Place {
    pub(crate) role: Role,
    pub(crate) metadata: Metadata,
}

/// Inserts an active membership with metadata that waited for it.
///
/// # Errors
/// [`Error::AlreadyMember`].
pub(crate) async fn join_with(
    tx: &mut Tx,
    org: &Organization,
    user: &User,
    Place { role, metadata }: Place,
    actor: Actor,
) -> Result<Membership, Error> {
    let membership = Membership {
        id: tx.new_id(),
        org_id: org.id.clone(),
        user_id: user.id.clone(),
        role,
        status: Status::Active,
        joined_at: tx.now(),
        metadata,
    };
    if !tx.members().insert(&membership).await? {
        return Err(Error::AlreadyMember);
    }
    let member = MemberEntry { membership: membership.clone(), name: user.name.clone(), email: user.email.clone() };
    tx.push(Event::new(EventKind::MemberJoined, org, actor, &MemberData::of(&member))?);
    if role == Role::OrgAdmin {
        let notice = Letter::NewAdmin { organization: &org.name, who: &user.email };
        mail::tell_admins(tx, &org.id, &notice).await?;
    }
    Ok(membership)
}
