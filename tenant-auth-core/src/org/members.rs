//! Members of an organization: their roles, their status, and how they leave. An organization always keeps an active org_admin.
//! When an org_admin leaves, the invites that admin sent are revoked, so that a former admin cannot add members.

use crate::{
    account::{Ending, tell_ended},
    caller::{Member, OrgAdmin, Write},
    error::{Error, Thing},
    event::{EndReason, EventKind, InviteData, MemberData},
    id::UserId,
    mail::{self, Letter},
    model::{MemberEntry, MemberFilter, Membership, Role, Status},
    org::list_members,
    page::{List, Page},
    throttle::ADMIN_CHANGES,
    value::Metadata,
};

impl Member {
    /// The organization's members, by the time they joined.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn members(&self, page: &Page) -> Result<List<MemberEntry>, Error> {
        self.members_like(&MemberFilter::default(), page).await
    }

    /// The members whom a filter chooses, by the time they joined.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a cursor of another list, filter or order.
    pub async fn members_like(&self, filter: &MemberFilter, page: &Page) -> Result<List<MemberEntry>, Error> {
        list_members(self.auth.store(), self.org_id(), filter, page).await
    }

    /// Leaves the organization.
    ///
    /// # Errors
    /// [`Error::LastAdmin`] for its last active org_admin.
    pub async fn leave(&self) -> Result<(), Error> {
        self.auth
            .ending(async {
                let mut write = self.begin_write().await?;
                let target = self.find(&mut write, self.user_id()).await?;
                self.remove_membership(write, target).await
            })
            .await
    }

    async fn find(&self, write: &mut Write, user: &UserId) -> Result<MemberEntry, Error> {
        write.members().find(self.org_id(), user).await?.ok_or(Error::NotFound(Thing::Member))
    }

    /// Removes a membership, with its sessions and, for an org_admin, its pending invites.
    async fn remove_membership(&self, mut write: Write, target: MemberEntry) -> Result<(), Error> {
        self.keep_an_admin(&mut write, &target.membership).await?;
        self.withdraw_invites_of(&mut write, &target.membership).await?;
        let Membership { org_id, user_id, .. } = &target.membership;
        write.members().hold(org_id, user_id).await?;
        let ended = write.sessions().end_of_member(org_id, user_id).await?;
        tell_ended(&mut write.tx, &ended, &Ending { reason: EndReason::Removed, actor: self.actor() }).await?;
        write.members().remove(&target.membership).await?;
        write.push(EventKind::MemberRemoved, &MemberData::of(&target))?;
        write.commit().await
    }

    /// Fails when the organization would be left without an active org_admin.
    async fn keep_an_admin(&self, write: &mut Write, losing: &Membership) -> Result<(), Error> {
        if losing.is_active_admin() && write.members().count_active_admins(self.org_id()).await? <= 1 {
            return Err(Error::LastAdmin);
        }
        Ok(())
    }

    async fn withdraw_invites_of(&self, write: &mut Write, admin: &Membership) -> Result<(), Error> {
        for record in write.invites().sent_by(self.org_id(), &admin.user_id).await? {
            write.invites().take(self.org_id(), &record.invite.id).await?;
            write.mails().cancel(&record.mail_id).await?;
            if record.invite.expires_at > write.now() {
                let data = InviteData::of(&record.invite);
                write.push(EventKind::InviteRevoked, &data)?;
            }
        }
        Ok(())
    }
}

impl OrgAdmin {
    /// Replaces a member's metadata as a whole.
    ///
    /// # Errors
    /// [`Error::NotFound`] unless the user is a member; [`Error::RateLimited`].
    pub async fn set_metadata(&self, user: &UserId, metadata: Metadata) -> Result<Membership, Error> {
        self.change(user, |membership| membership.metadata = metadata).await
    }

    /// Changes a member's role.
    ///
    /// # Errors
    /// [`Error::NotFound`] unless the user is a member, [`Error::LastAdmin`] for the last active org_admin;
    /// [`Error::RateLimited`].
    pub async fn set_role(&self, user: &UserId, role: Role) -> Result<Membership, Error> {
        self.0.auth.ending(async { self.change(user, |membership| membership.role = role).await }).await
    }

    /// Suspends or reactivates a member.
    ///
    /// # Errors
    /// [`Error::CannotTargetSelf`], [`Error::NotFound`] unless the user is a member, [`Error::LastAdmin`] for the last active
    /// org_admin; [`Error::RateLimited`].
    pub async fn set_status(&self, user: &UserId, status: Status) -> Result<Membership, Error> {
        self.0
            .auth
            .ending(async {
                if self.0.user_id() == user {
                    return Err(Error::CannotTargetSelf);
                }
                self.change(user, |membership| membership.status = status).await
            })
            .await
    }

    /// Removes a member; the member's sessions in this organization end at once.
    ///
    /// # Errors
    /// [`Error::CannotTargetSelf`], [`Error::NotFound`] unless the user is a member, [`Error::LastAdmin`].
    pub async fn remove_member(&self, user: &UserId) -> Result<(), Error> {
        self.0
            .auth
            .ending(async {
                if self.0.user_id() == user {
                    return Err(Error::CannotTargetSelf);
                }
                let mut write = self.begin_write().await?;
                let target = self.0.find(&mut write, user).await?;
                self.0.remove_membership(write, target).await
            })
            .await
    }

    /// Ends every session of a member in this organization.
    ///
    /// # Errors
    /// [`Error::NotFound`] unless the user is a member.
    pub async fn end_member_sessions(&self, user: &UserId) -> Result<(), Error> {
        self.0
            .auth
            .ending(async {
                let mut write = self.begin_write().await?;
                self.0.find(&mut write, user).await?;
                write.members().hold(self.0.org_id(), user).await?;
                let ended = write.sessions().end_of_member(self.0.org_id(), user).await?;
                tell_ended(&mut write.tx, &ended, &Ending { reason: EndReason::Admin, actor: self.0.actor() }).await?;
                write.commit().await
            })
            .await
    }

    /// Applies one change to a membership, with its rules and its event. A change to the same value writes no event.
    async fn change(&self, user: &UserId, change: impl FnOnce(&mut Membership)) -> Result<Membership, Error> {
        let mut write = self.begin_write().await?;
        let previous = self.0.find(&mut write, user).await?;
        let mut changed = previous.clone();
        change(&mut changed.membership);
        let (before, after) = (&previous.membership, &changed.membership);
        if before == after {
            return Ok(changed.membership);
        }
        ADMIN_CHANGES.spend_by_caller(&mut write).await?;
        let kind = if before.role != after.role {
            EventKind::MemberRoleChanged
        } else if before.status != after.status && after.status == Status::Suspended {
            EventKind::MemberSuspended
        } else if before.status != after.status {
            EventKind::MemberReactivated
        } else {
            EventKind::MemberUpdated
        };
        if before.is_active_admin() && !after.is_active_admin() {
            self.0.keep_an_admin(&mut write, before).await?;
            self.0.withdraw_invites_of(&mut write, before).await?;
        }
        write.members().update(after, before).await?;
        if after.role == Role::OrgAdmin && before.role != after.role {
            let notice = Letter::NewAdmin { organization: &write.live.org.name, who: &changed.email };
            mail::tell_admins_counted(&mut write.tx, self.0.org_id(), &notice).await?;
        }
        write.push(kind, &MemberData::changed(&changed, &previous))?;
        write.commit().await?;
        Ok(changed.membership)
    }
}
