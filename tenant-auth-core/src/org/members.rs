//! Members of an organization: their roles, their status, and how they leave. An organization always keeps an active org_admin.
//! When an org_admin leaves, the invites that admin sent are revoked, so that a former admin cannot add members.

use crate::{
    account::{Ending, tell_ended},
    caller::{Member, OrgAdmin, OrgWrite},
    error::{Error, Thing},
    event::{EndReason, EventKind, InviteData, MemberData},
    id::{OrgId, SessionId, UserId},
    mail::{self, Letter},
    model::{MemberEntry, MemberFilter, Membership, Role, Status},
    org::{ReadBy, list_members},
    page::{List, Page},
    store::Store,
    throttle::{ADMIN_CHANGES, METADATA_BYTES, NEWCOMERS_METADATA_BYTES},
    value::Metadata,
};

/// So many bytes in a change are not counted: of those the number of changes is bound.
const LITTLE: usize = 1_024;

async fn find_member(store: &Store, org: &OrgId, user: &UserId) -> Result<MemberEntry, Error> {
    store.read().await?.members().find(org, user).await?.ok_or(Error::NotFound(Thing::Member))
}

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
        list_members(ReadBy::Insider, &self.auth, self.org_id(), filter, page).await
    }

    /// One member of the organization.
    ///
    /// # Errors
    /// [`Error::NotFound`] unless the user is a member.
    pub async fn member(&self, user: &UserId) -> Result<MemberEntry, Error> {
        find_member(self.auth.store(), self.org_id(), user).await
    }

    /// Leaves the organization.
    ///
    /// # Errors
    /// [`Error::LastAdmin`] for its last active org_admin.
    pub async fn leave(&self) -> Result<(), Error> {
        self.auth.ending(async { OrgWrite::from(self.begin_write().await?).remove(self.user_id()).await }).await
    }
}

impl OrgWrite {
    async fn member(&mut self, user: &UserId) -> Result<MemberEntry, Error> {
        self.tx.members().find(&self.org.id, user).await?.ok_or(Error::NotFound(Thing::Member))
    }

    /// Holds a membership, and reads it then: the person's own name and address change under it, in another organization, too, and what
    /// is told of a member must not be older than what was told of the person.
    async fn held_member(&mut self, user: &UserId) -> Result<MemberEntry, Error> {
        self.tx.members().hold(&self.org.id, user).await?;
        self.member(user).await
    }

    /// Removes a membership, with its sessions and, for an org_admin, its pending invites.
    async fn remove(mut self, user: &UserId) -> Result<(), Error> {
        let target = self.held_member(user).await?;
        self.keep_an_admin(&target.membership).await?;
        self.withdraw_invites_of(&target.membership).await?;
        self.end_sessions_of(user, EndReason::Removed).await?;
        self.members().remove(&target.membership).await?;
        self.push(EventKind::MemberRemoved, &MemberData::of(&target))?;
        self.commit().await
    }

    /// Counts what an event keeps of a member's metadata, where it is much. A change that takes a right away is not counted, so that nobody
    /// keeps a right by what others have used up.
    async fn spend_metadata(&mut self, before: &Membership, after: &Membership) -> Result<(), Error> {
        let is_narrowed = before.status != after.status && after.status == Status::Suspended
            || before.role != after.role && after.role != Role::OrgAdmin;
        let bytes = before.metadata.as_json().len() + after.metadata.as_json().len();
        if is_narrowed {
            return Ok(());
        }
        self.spend_log_bytes(bytes).await
    }

    /// Counts what an event keeps of a change, where it is much.
    pub(super) async fn spend_log_bytes(&mut self, bytes: usize) -> Result<(), Error> {
        if bytes <= LITTLE {
            return Ok(());
        }
        let rate = if self.org.is_trusted { METADATA_BYTES } else { NEWCOMERS_METADATA_BYTES };
        rate.spend_in_organization(self, u32::try_from(bytes).unwrap_or(u32::MAX)).await
    }

    async fn end_sessions_of(&mut self, user: &UserId, reason: EndReason) -> Result<(), Error> {
        let (tx, org_id) = (&mut self.tx, &self.org.id);
        tx.members().hold(org_id, user).await?;
        let ended = tx.sessions().end_of_member(org_id, user).await?;
        tell_ended(tx, &ended, &Ending { reason, actor: self.author.actor() }).await
    }

    /// Fails when the organization would be left without an active org_admin.
    async fn keep_an_admin(&mut self, losing: &Membership) -> Result<(), Error> {
        if losing.is_active_admin() && self.tx.members().count_active_admins(&self.org.id).await? <= 1 {
            return Err(Error::LastAdmin);
        }
        Ok(())
    }

    async fn withdraw_invites_of(&mut self, admin: &Membership) -> Result<(), Error> {
        for record in self.tx.invites().sent_by(&self.org.id, &admin.user_id).await? {
            self.tx.invites().take(&self.org.id, &record.invite.id).await?;
            self.mails().cancel(&record.mail_id).await?;
            if record.invite.expires_at > self.now() {
                let data = InviteData::of(&record.invite);
                self.push(EventKind::InviteRevoked, &data)?;
            }
        }
        Ok(())
    }
}

impl OrgAdmin {
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
        list_members(ReadBy::Insider, self.auth(), self.org_id(), filter, page).await
    }

    /// One member of the organization.
    ///
    /// # Errors
    /// [`Error::NotFound`] unless the user is a member.
    pub async fn member(&self, user: &UserId) -> Result<MemberEntry, Error> {
        find_member(self.auth().store(), self.org_id(), user).await
    }

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
        self.auth().ending(async { self.change(user, |membership| membership.role = role).await }).await
    }

    /// Suspends or reactivates a member.
    ///
    /// # Errors
    /// [`Error::CannotTargetSelf`], [`Error::NotFound`] unless the user is a member, [`Error::LastAdmin`] for the last active
    /// org_admin; [`Error::RateLimited`].
    pub async fn set_status(&self, user: &UserId, status: Status) -> Result<Membership, Error> {
        self.auth()
            .ending(async {
                if self.is_of(user) {
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
        self.auth()
            .ending(async {
                if self.is_of(user) {
                    return Err(Error::CannotTargetSelf);
                }
                self.begin_write().await?.remove(user).await
            })
            .await
    }

    /// Ends every session of a member in this organization.
    ///
    /// # Errors
    /// [`Error::NotFound`] unless the user is a member.
    pub async fn end_member_sessions(&self, user: &UserId) -> Result<(), Error> {
        self.auth()
            .ending(async {
                let mut write = self.begin_write().await?;
                write.member(user).await?;
                write.end_sessions_of(user, EndReason::Admin).await?;
                write.commit().await
            })
            .await
    }

    /// Ends one session of a member in this organization.
    ///
    /// # Errors
    /// [`Error::NotFound`] when the session is another person's or another organization's.
    pub async fn end_member_session(&self, user: &UserId, session: &SessionId) -> Result<(), Error> {
        self.auth()
            .ending(async {
                let mut write = self.begin_write().await?;
                let (tx, org_id) = (&mut write.tx, &write.org.id);
                tx.members().hold(org_id, user).await?;
                let ended = tx.sessions().end_of_owner(org_id, user, session).await?.ok_or(Error::NotFound(Thing::Session))?;
                tell_ended(tx, &[ended], &Ending { reason: EndReason::Admin, actor: write.author.actor() }).await?;
                write.commit().await
            })
            .await
    }

    /// Applies one change to a membership, with its rules and its event. A change to the same value writes no event.
    async fn change(&self, user: &UserId, change: impl FnOnce(&mut Membership)) -> Result<Membership, Error> {
        let mut write = self.begin_write().await?;
        let previous = write.held_member(user).await?;
        let mut changed = previous.clone();
        change(&mut changed.membership);
        let (before, after) = (&previous.membership, &changed.membership);
        if before == after {
            return Ok(changed.membership);
        }
        ADMIN_CHANGES.spend_by_author(&mut write).await?;
        write.spend_metadata(before, after).await?;
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
            write.keep_an_admin(before).await?;
            write.withdraw_invites_of(before).await?;
        }
        write.members().update(after, before).await?;
        if after.role == Role::OrgAdmin && before.role != after.role {
            let notice = Letter::NewAdmin { organization: &write.org.name, who: &changed.email };
            mail::tell_admins_of_deed(&mut write.tx, &write.org.id, &write.author, &notice).await?;
        }
        write.push(kind, &MemberData::changed(&changed, &previous))?;
        write.commit().await?;
        Ok(changed.membership)
    }
}
