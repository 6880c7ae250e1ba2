//! The deletion of an organization, as it is ordered and cancelled. An order suspends the organization at once and sets the time of its
//! removal; until then it can be cancelled. Its admins are told of both, and reminded before the end.

use std::time::Duration;

use super::{
    Operator,
    organizations::{OperatorWrite, OrganizationChange},
    removal::begin_removal,
};
use crate::{
    error::Error,
    event::{DeletionData, EventKind},
    id::OrgId,
    mail::{self, Letter},
    model::{OrgRef, Organization, Status},
    service::TenantAuth,
    store::{Actor, DeploymentDeed, Event},
    throttle::DELETIONS,
    time::{DAY, Timestamp},
    value::Slug,
};

/// How long before the removal the admins are reminded.
const REMINDED_BEFORE: Duration = DAY.saturating_mul(3);
/// How many organizations one round looks at; the next one comes seconds later.
const AT_ONCE: i64 = 100;
/// Whose deletions are counted: all deployment keys' together.
const PRODUCT: &str = "product";

/// When an organization is to be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// As the settings say, or as an earlier order did.
    InTime,
    Now,
}

impl OperatorWrite {
    /// Orders the deletion of an organization that this write has locked.
    pub(super) async fn delete(mut self, org: Organization, when: When) -> Result<Organization, Error> {
        if self.auth.config().organizations.operator_org.as_ref() == Some(&org.slug) {
            return Err(Error::OperatorOrganization);
        }
        if org.deletes_at.is_some() && when == When::InTime {
            return Ok(org);
        }
        if matches!(self.actor, Actor::DeploymentKey(_)) {
            DELETIONS.spend(&mut self.tx, PRODUCT).await?;
        }
        let waits = match when {
            When::InTime => DAY * self.auth.config().organizations.purge_after_days,
            When::Now => Duration::ZERO,
        };
        let at = self.tx.now().plus(waits);
        let deleted = Organization { status: Status::Suspended, deletes_at: Some(at), ..org.clone() };
        if org.status == Status::Active {
            self.tell(EventKind::OrgSuspended, &deleted, &org)?;
        }
        self.tell_of_deletion(EventKind::OrgDeletionScheduled, &deleted)?;
        // What the system orders at once is told with its removal; of others' orders the removal does not name the author.
        if !waits.is_zero() || !matches!(self.actor, Actor::System) {
            self.tx.record(self.actor.clone(), DeploymentDeed::DeletionScheduled { org: (&org).into(), at });
        }
        self.tx.removals().schedule(&org.id, at, waits <= REMINDED_BEFORE).await?;
        let notice = Letter::DeletionScheduled { organization: &org.name, at, is_over: waits.is_zero() };
        mail::tell_admins(&mut self.tx, &org.id, &notice).await?;
        let auth = self.auth;
        self.tx.commit().await?;
        if waits.is_zero() && !begin_removal(&auth, &OrgRef::from(&deleted)).await? {
            // Another process began it, or it was cancelled since the commit: then the organization is told as it is.
            let kept = auth.store().read().await?.organizations().find(&deleted.id).await?;
            return Ok(kept.unwrap_or(deleted));
        }
        Ok(deleted)
    }

    /// Writes that an organization is not to be deleted any more.
    pub(super) async fn cancel_deletion(&mut self, org: &Organization) -> Result<(), Error> {
        self.tell_of_deletion(EventKind::OrgDeletionCancelled, org)?;
        self.tx.record(self.actor.clone(), DeploymentDeed::DeletionCancelled(org.into()));
        self.tx.removals().cancel(&org.id).await?;
        mail::tell_admins(&mut self.tx, &org.id, &Letter::DeletionCancelled { organization: &org.name }).await
    }

    fn tell_of_deletion(&mut self, kind: EventKind, org: &Organization) -> Result<(), Error> {
        self.tx.push(Event::new(kind, org, self.actor.clone(), &DeletionData::of(org))?);
        Ok(())
    }
}

impl Operator {
    /// Orders the deletion of an organization: it is suspended at once and removed as many days later as the settings say. When it was
    /// ordered before, the first time stays.
    ///
    /// # Errors
    /// [`Error::UnknownOrganization`]; [`Error::OperatorOrganization`] for the operators' own.
    pub async fn delete_organization(&self, slug: &Slug) -> Result<Organization, Error> {
        self.delete(slug, When::InTime).await
    }

    /// Removes an organization with everything that belongs to it. It is unknown when this returns, and nothing brings it back; a worker
    /// deletes what is left of it. An account goes with its last membership, unless an invite waits for its address. When the deletion
    /// was cancelled at the same moment, the organization is returned as it stays, with no time of removal.
    ///
    /// # Errors
    /// [`Error::UnknownOrganization`]; [`Error::OperatorOrganization`] for the operators' own.
    pub async fn delete_organization_now(&self, slug: &Slug) -> Result<Organization, Error> {
        self.delete(slug, When::Now).await
    }

    async fn delete(&self, slug: &Slug, when: When) -> Result<Organization, Error> {
        let deleting = async {
            let (tx, org) = self.begin_in(slug).await?;
            self.write(tx).delete(org, when).await
        };
        self.auth.ending(deleting).await
    }

    /// Cancels the deletion of an organization, which stays suspended; nothing changes where none was ordered.
    ///
    /// # Errors
    /// [`Error::UnknownOrganization`], also once its removal has begun.
    pub async fn cancel_deletion(&self, slug: &Slug) -> Result<Organization, Error> {
        let (tx, org) = self.begin_in(slug).await?;
        self.write(tx).change(org, OrganizationChange { cancels_deletion: true, ..OrganizationChange::default() }).await
    }

    /// Lets the slug of an organization that was removed be given out again; `false` when none had it. Whoever still trusts in the slug
    /// meets another organization then.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn release_slug(&self, slug: &Slug) -> Result<bool, Error> {
        let mut tx = self.auth.begin().await?;
        let is_released = tx.removals().release(slug).await?;
        if is_released {
            tx.record(Actor::System, DeploymentDeed::SlugReleased(slug.clone()));
        }
        tx.commit().await?;
        Ok(is_released)
    }
}

impl TenantAuth {
    /// Mails the admins of the organizations that are removed soon, each organization's once.
    ///
    /// # Errors
    /// [`Error::Unavailable`]; who was not reminded is in the next round.
    pub(crate) async fn remind_of_deletions(&self) -> Result<(), Error> {
        let until: Timestamp = self.now().plus(REMINDED_BEFORE);
        let orgs = self.store().read().await?.removals().unreminded(until, AT_ONCE).await?;
        for org in orgs {
            // One that fails keeps no other from its turn.
            if let Err(error) = self.remind_of_deletion(&org, until).await {
                tracing::warn!(organization_id = %org, error = %error.causes(), "reminding of a deletion failed; it is tried again shortly");
            }
        }
        Ok(())
    }

    async fn remind_of_deletion(&self, id: &OrgId, until: Timestamp) -> Result<(), Error> {
        let mut tx = self.begin().await?;
        let Some(org) = tx.organizations().lock(id).await? else { return Ok(()) };
        let Some(at) = org.deletes_at else { return Ok(()) };
        if !tx.removals().remind(id, until).await? {
            return Ok(());
        }
        mail::tell_admins(&mut tx, id, &Letter::DeletionNear { organization: &org.name, at }).await?;
        tx.commit().await
    }

    /// Orders the deletion of the organizations that sign-up made and to which nobody came back (behaviour.md, B202).
    ///
    /// # Errors
    /// [`Error::Unavailable`]; what was not judged is in the next round.
    pub(crate) async fn delete_forsaken(&self) -> Result<(), Error> {
        let unproven = self.store().read().await?.removals().unproven(self.now(), AT_ONCE).await?;
        for org in unproven {
            // One that fails keeps no other from its turn.
            if let Err(error) = self.delete_if_forsaken(&org).await {
                tracing::warn!(organization_id = %org, error = %error.causes(), "judging an organization failed; it is tried again shortly");
            }
        }
        Ok(())
    }

    async fn delete_if_forsaken(&self, id: &OrgId) -> Result<(), Error> {
        let mut tx = self.begin().await?;
        // A login, a refresh and an invite write to this row: what came first is seen below, what comes later finds it closed.
        let Some(org) = tx.organizations().lock(id).await? else { return Ok(()) };
        let is_operators = self.config().organizations.operator_org.as_ref() == Some(&org.slug);
        if is_operators || !tx.removals().forsake(id).await? {
            tx.organizations().prove(id).await?;
            return tx.commit().await;
        }
        let write = OperatorWrite { auth: self.clone(), tx, actor: Actor::System };
        self.ending(write.delete(org, When::InTime)).await?;
        tracing::info!(organization_id = %id, "nobody came back to an organization that sign-up made; its deletion is ordered");
        Ok(())
    }

    /// Begins the removal of the organizations whose time has come.
    ///
    /// # Errors
    /// [`Error::Unavailable`]; what did not begin is in the next round.
    pub(crate) async fn begin_due_removals(&self) -> Result<(), Error> {
        let due = self.store().read().await?.removals().due(self.now(), AT_ONCE).await?;
        for org in due {
            // It may have become the operators' own after the order.
            if self.config().organizations.operator_org.as_ref() == Some(&org.slug) {
                continue;
            }
            // One that fails keeps no other from its turn.
            if let Err(error) = begin_removal(self, &org).await {
                tracing::warn!(organization_id = %org.id, error = %error.causes(), "beginning a removal failed; it is tried again shortly");
            }
        }
        Ok(())
    }
}
