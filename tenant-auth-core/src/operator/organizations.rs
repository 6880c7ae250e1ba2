//! Organizations as operators manage them: creating one with an invite to its first admin, changing, suspending and reactivating
//! it, and inviting an admin when it has none left. Each write is an [`OperatorWrite`], made by the command line or by an
//! operator with a session.

use std::fmt;

use super::Operator;
use crate::{
    config::LinkedPage,
    error::Error,
    event::{EventKind, OrgData, OrgDetailsData},
    model::{Invite, Organization, Role, Status},
    org::{Invitation, Inviter, Patch, place_invite},
    page::{MOST, Page},
    secret::LinkToken,
    service::TenantAuth,
    store::{Actor, DeploymentDeed, Event, Tx},
    value::{AppUrl, DisplayName, Email, Plan, Slug},
};

/// The values of an organization to create, with the address of its first admin.
#[derive(Debug, Clone)]
pub struct NewOrganization {
    /// Its name.
    pub name: DisplayName,
    /// Its slug, which no other organization has.
    pub slug: Slug,
    /// Its plan.
    pub plan: Plan,
    /// The URL of its application.
    pub app_url: Option<AppUrl>,
    /// The address that is invited as its first org_admin.
    pub admin_email: Email,
}

impl NewOrganization {
    /// An organization on the default plan, without an application of its own.
    pub fn new(name: DisplayName, slug: Slug, admin_email: Email) -> Self {
        Self { name, slug, plan: Plan::default(), app_url: None, admin_email }
    }
}

/// A partial update of an organization by an operator; `None` keeps a value.
#[derive(Debug, Clone, Default)]
pub struct OrganizationChange {
    /// Its name.
    pub name: Option<DisplayName>,
    /// Its plan.
    pub plan: Option<Plan>,
    /// Its application's URL.
    pub app_url: Patch<AppUrl>,
    /// Whether the organization is active or suspended.
    pub status: Option<Status>,
    /// Cancels its deletion, if it is to be deleted; it stays suspended.
    pub cancels_deletion: bool,
    /// Whether it may send as many invites as any other; one that sign-up made may not until an operator says so.
    pub is_trusted: Option<bool>,
}

impl OrganizationChange {
    /// Whether it may end or narrow a right, or find that done already.
    pub(super) fn may_narrow(&self) -> bool {
        self.status == Some(Status::Suspended) || self.app_url != Patch::Keep
    }
}

/// An org_admin invite made by an operator; the token is shown here once, and mailed.
#[non_exhaustive]
pub struct Invited {
    /// The organization.
    pub org: Organization,
    /// The invite.
    pub invite: Invite,
    /// The token of its link.
    pub token: LinkToken,
    /// The link.
    pub url: String,
}

/// Without the token, which is in the link too.
impl fmt::Debug for Invited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invited").field("org", &self.org).field("invite", &self.invite).finish_non_exhaustive()
    }
}

/// An operator's write: a transaction that holds the organization it is about, and the operator it is made by.
pub(super) struct OperatorWrite {
    pub(super) auth: TenantAuth,
    pub(super) tx: Tx,
    pub(super) actor: Actor,
}

impl OperatorWrite {
    pub(super) async fn create(mut self, new: NewOrganization) -> Result<Invited, Error> {
        let org = Organization {
            id: self.tx.new_id(),
            name: new.name,
            slug: new.slug,
            plan: new.plan,
            status: Status::Active,
            app_url: new.app_url,
            created_at: self.tx.now(),
            allowed_origins: Vec::new(),
            deletes_at: None,
            is_trusted: true,
            unproven_until: None,
        };
        // When several requests take a slug at once, the unique index admits one.
        if !self.tx.organizations().insert(&org).await? {
            return Err(Error::SlugTaken);
        }
        self.tx.record(self.actor.clone(), DeploymentDeed::OrganizationCreated((&org).into()));
        let placed = self.place(&org, &new.admin_email).await?;
        self.finish(org, placed).await
    }

    /// Changes details and status, each with its own event. A change to the same values writes no event.
    pub(super) async fn change(mut self, org: Organization, change: OrganizationChange) -> Result<Organization, Error> {
        let OrganizationChange { name, plan, app_url, status, cancels_deletion, is_trusted } = change;
        if status == Some(Status::Suspended) && self.auth.config().organizations.operator_org.as_ref() == Some(&org.slug) {
            return Err(Error::OperatorOrganization);
        }
        if status == Some(Status::Active) && org.deletes_at.is_some() {
            return Err(Error::DeletionScheduled);
        }
        let renamed = Organization {
            name: name.unwrap_or_else(|| org.name.clone()),
            plan: plan.unwrap_or_else(|| org.plan.clone()),
            app_url: app_url.apply(org.app_url.clone()),
            ..org.clone()
        };
        let deletes_at = org.deletes_at.filter(|_| !cancels_deletion);
        let (status, is_trusted) = (status.unwrap_or(org.status), is_trusted.unwrap_or(org.is_trusted));
        let changed = Organization { status, deletes_at, is_trusted, ..renamed.clone() };
        let is_renamed = (&org.name, &org.plan, &org.app_url) != (&renamed.name, &renamed.plan, &renamed.app_url);
        let is_moved = org.status != changed.status;
        let is_kept = org.deletes_at.is_some() && deletes_at.is_none();
        let is_judged = org.is_trusted != is_trusted;
        if is_renamed {
            let data = OrgDetailsData::changed(&renamed, &org);
            self.tx.push(Event::new(EventKind::OrgUpdated, &renamed, self.actor.clone(), &data)?);
        }
        if is_moved {
            let kind = match changed.status {
                Status::Suspended => EventKind::OrgSuspended,
                Status::Active => EventKind::OrgReactivated,
            };
            self.tell(kind, &changed, &renamed)?;
            let deed = match changed.status {
                Status::Suspended => DeploymentDeed::OrganizationSuspended((&org).into()),
                Status::Active => DeploymentDeed::OrganizationReactivated((&org).into()),
            };
            self.tx.record(self.actor.clone(), deed);
        }
        if is_kept {
            self.cancel_deletion(&changed).await?;
        }
        if is_judged {
            self.tx.record(self.actor.clone(), DeploymentDeed::OrganizationTrust { org: (&org).into(), is_trusted });
        }
        if !is_renamed && !is_moved && !is_kept && !is_judged {
            return Ok(org);
        }
        self.tx.organizations().update(&changed, &org).await?;
        self.tx.commit().await?;
        Ok(changed)
    }

    /// Invites an org_admin to an organization that is there.
    pub(super) async fn invite_admin(mut self, org: Organization, email: &Email) -> Result<Invited, Error> {
        let placed = self.place(&org, email).await?;
        let deed = DeploymentDeed::AdminInvited { org: (&org).into(), invite: placed.0.id.clone() };
        self.tx.record(self.actor.clone(), deed);
        self.finish(org, placed).await
    }

    async fn place(&mut self, org: &Organization, email: &Email) -> Result<(Invite, LinkToken), Error> {
        let invitation = Invitation { org, email, role: Role::OrgAdmin, by: Inviter::Operator(&self.actor) };
        place_invite(&self.auth, &mut self.tx, &invitation).await
    }

    async fn finish(self, org: Organization, (invite, token): (Invite, LinkToken)) -> Result<Invited, Error> {
        self.tx.commit().await?;
        let url = self.auth.config().link(LinkedPage::Invite, org.slug.as_str(), token.expose());
        Ok(Invited { org, invite, token, url })
    }

    pub(super) fn tell(&mut self, kind: EventKind, org: &Organization, previous: &Organization) -> Result<(), Error> {
        self.tx.push(Event::new(kind, org, self.actor.clone(), &OrgData::changed(org, previous))?);
        Ok(())
    }
}

impl Operator {
    /// Makes an organization and invites its first org_admin.
    ///
    /// # Errors
    /// [`Error::SlugTaken`].
    pub async fn create_organization(&self, new: NewOrganization) -> Result<Invited, Error> {
        let tx = self.auth.begin().await?;
        self.write(tx).create(new).await
    }

    /// Every organization, oldest first.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn organizations(&self) -> Result<Vec<Organization>, Error> {
        let mut all: Vec<Organization> = Vec::new();
        let mut page = Page::default();
        loop {
            let mut reading = page.reading(&["organizations"])?;
            let mut reader = self.auth.store().read().await?;
            while let Some(bounds) = reading.wants() {
                reading.take(reader.organizations().list(&bounds).await?);
            }
            let list = reading.finish();
            all.extend(list.items);
            match list.next {
                Some(cursor) => page = Page::after(cursor, MOST)?,
                None => return Ok(all),
            }
        }
    }

    /// Changes an organization's details or status; a status takes effect with the next request.
    ///
    /// # Errors
    /// [`Error::UnknownOrganization`]; [`Error::OperatorOrganization`] for suspending the operators' own.
    pub async fn change_organization(&self, slug: &Slug, change: OrganizationChange) -> Result<Organization, Error> {
        let narrows = change.may_narrow();
        let changing = async {
            let (tx, org) = self.begin_in(slug).await?;
            self.write(tx).change(org, change).await
        };
        if narrows { self.auth.ending(changing).await } else { changing.await }
    }

    /// Suspends or reactivates an organization; it takes effect with the next request.
    ///
    /// # Errors
    /// [`Error::UnknownOrganization`]; [`Error::OperatorOrganization`] for the operators' own.
    pub async fn set_organization_status(&self, slug: &Slug, status: Status) -> Result<Organization, Error> {
        self.change_organization(slug, OrganizationChange { status: Some(status), ..OrganizationChange::default() }).await
    }

    /// Invites an org_admin to an organization, for one that has no working admin left.
    ///
    /// # Errors
    /// [`Error::UnknownOrganization`], [`Error::AlreadyMember`], [`Error::AlreadyInvited`].
    pub async fn invite_admin(&self, slug: &Slug, email: &Email) -> Result<Invited, Error> {
        let (tx, org) = self.begin_in(slug).await?;
        self.write(tx).invite_admin(org, email).await
    }

    pub(super) fn write(&self, tx: Tx) -> OperatorWrite {
        OperatorWrite { auth: self.auth.clone(), tx, actor: Actor::System }
    }

    pub(super) async fn begin_in(&self, slug: &Slug) -> Result<(Tx, Organization), Error> {
        let known = self.auth.tenant(slug).await?.org;
        let mut tx = self.auth.begin().await?;
        let org = tx.organizations().lock(&known.id).await?.ok_or(Error::UnknownOrganization)?;
        Ok((tx, org))
    }
}
