//! What the operator of the deployment does: the right comes with access to the process and its master key, so there is
//! nothing to check. The server's command line is its user; embedders call it to set organizations up.

mod accounts;

pub use accounts::{CreatedUser, NewUser, SessionsOf};

use crate::{
    backend::{CreatedApiKey, NewApiKey, create_key},
    builder::TenantAuth,
    config::LinkedPage,
    error::Error,
    event::{ApiKeyData, EventKind, OrgData},
    id::Id,
    keys,
    model::{InviteSummary, Organization, Role, Status},
    org::{Invitation, invite},
    page::Page,
    secret::LinkToken,
    store::{Actor, Event, Tx},
    time::Timestamp,
    value::{AppUrl, DisplayName, Email, Plan, Slug},
};

/// The operator's hand on a service; see [`TenantAuth::operator`].
#[derive(Clone, Debug)]
pub struct Operator {
    auth: TenantAuth,
}

/// An organization to be made, with its first admin's address.
#[derive(Debug, Clone)]
pub struct NewOrganization {
    /// Its name.
    pub name: DisplayName,
    /// Its slug, free so far.
    pub slug: Slug,
    /// Its plan.
    pub plan: Plan,
    /// Its application.
    pub app_url: Option<AppUrl>,
    /// Who is invited as its first org_admin.
    pub admin_email: Email,
}

impl NewOrganization {
    /// An organization on the default plan, without an application of its own.
    pub fn new(name: DisplayName, slug: Slug, admin_email: Email) -> Self {
        Self { name, slug, plan: Plan::default(), app_url: None, admin_email }
    }
}

/// An org_admin invite made by the operator; the token is shown here once and mailed.
#[derive(Debug)]
#[non_exhaustive]
pub struct Invited {
    /// The organization.
    pub org: Organization,
    /// The invite.
    pub invite: InviteSummary,
    /// The token of its link.
    pub token: LinkToken,
    /// The link.
    pub url: String,
}

impl TenantAuth {
    /// The operator's operations. They ask for no right: hand this to nobody who has not the deployment in hand anyway.
    pub fn operator(&self) -> Operator {
        Operator { auth: self.clone() }
    }
}

impl Operator {
    /// Makes an organization and invites its first org_admin.
    ///
    /// # Errors
    /// [`Error::SlugTaken`].
    pub async fn create_organization(&self, new: NewOrganization) -> Result<Invited, Error> {
        let now = self.auth.now();
        let org = Organization {
            id: Id::generate(now, self.auth.entropy()),
            name: new.name,
            slug: new.slug,
            plan: new.plan,
            status: Status::Active,
            app_url: new.app_url,
            created_at: now,
            allowed_origins: Vec::new(),
        };
        let mut tx = self.auth.store().begin().await?;
        if !tx.organizations().insert(&org).await? {
            return Err(Error::SlugTaken);
        }
        self.invite_to(tx, org, &new.admin_email, now).await
    }

    /// Every organization, oldest first.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn organizations(&self) -> Result<Vec<Organization>, Error> {
        let mut all = Vec::new();
        let mut cursor = None;
        loop {
            let page = Page::parse(None, cursor.as_deref())?;
            let list = page.cut(self.auth.store().read().await?.organizations().list(&page).await?);
            all.extend(list.items);
            cursor = list.next_cursor;
            if cursor.is_none() {
                return Ok(all);
            }
        }
    }

    /// Suspends or reactivates an organization; it takes effect with the next request.
    ///
    /// # Errors
    /// [`Error::UnknownOrganization`].
    pub async fn set_organization_status(&self, slug: &Slug, status: Status) -> Result<Organization, Error> {
        let now = self.auth.now();
        let (mut tx, previous) = self.begin_in(slug).await?;
        if previous.status == status {
            return Ok(previous);
        }
        let org = Organization { status, ..previous.clone() };
        tx.organizations().update(&org).await?;
        let kind = match status {
            Status::Suspended => EventKind::OrgSuspended,
            Status::Active => EventKind::OrgReactivated,
        };
        tx.push(Event::new(kind, (&org.id, &org.slug), Actor::System, &OrgData { org: &org, previous: &previous })?);
        self.auth.commit(tx, now).await?;
        Ok(org)
    }

    /// Invites an org_admin, for an organization that nobody administers any more.
    ///
    /// # Errors
    /// [`Error::UnknownOrganization`], [`Error::AlreadyMember`], [`Error::AlreadyInvited`].
    pub async fn invite_admin(&self, slug: &Slug, email: &Email) -> Result<Invited, Error> {
        let (tx, org) = self.begin_in(slug).await?;
        self.invite_to(tx, org, email, self.auth.now()).await
    }

    /// Makes an API key.
    ///
    /// # Errors
    /// [`Error::UnknownOrganization`], [`Error::LimitReached`], [`Error::Invalid`].
    pub async fn create_api_key(&self, slug: &Slug, new: NewApiKey) -> Result<CreatedApiKey, Error> {
        let now = self.auth.now();
        let (mut tx, org) = self.begin_in(slug).await?;
        let created = create_key(&self.auth, &mut tx, (&org, None), new, now).await?;
        let data = ApiKeyData { api_key: &created.api_key };
        tx.push(Event::new(EventKind::ApiKeyCreated, (&org.id, &org.slug), Actor::System, &data)?);
        self.auth.commit(tx, now).await?;
        Ok(created)
    }

    /// Rotates the signing keys and seals everything again under the first master key; returns how many values that were. When
    /// the signing keys are compromised, the old ones are dead at once, and every session with them.
    ///
    /// # Errors
    /// [`Error::Unavailable`]; it can be started again at any point.
    pub async fn rotate_keys(&self, compromised: bool) -> Result<u64, Error> {
        let now = self.auth.now();
        let (master, entropy) = (self.auth.master_keys(), self.auth.entropy());
        let mut tx = self.auth.store().begin().await?;
        keys::rotate(&mut tx, master, compromised, now, entropy).await?;
        tx.commit(now, entropy).await?;
        self.auth.reload_keys().await?;
        if compromised {
            // Another process may know the old keys for a few seconds yet; without sessions they open nothing.
            self.revoke_sessions(SessionsOf::All).await?;
        }
        keys::reseal(self.auth.store(), master, now, entropy).await
    }

    async fn begin_in(&self, slug: &Slug) -> Result<(Tx, Organization), Error> {
        let known = self.auth.tenant(slug.as_str()).await?.org;
        let mut tx = self.auth.store().begin().await?;
        let org = tx.organizations().lock(&known.id).await?.ok_or(Error::UnknownOrganization)?;
        Ok((tx, org))
    }

    async fn invite_to(&self, mut tx: Tx, org: Organization, email: &Email, now: Timestamp) -> Result<Invited, Error> {
        let invitation = Invitation { org: &org, email, role: Role::OrgAdmin, by: None };
        let (invite, token) = invite(&self.auth, &mut tx, &invitation, now).await?;
        self.auth.commit(tx, now).await?;
        let url = self.auth.config().link(LinkedPage::Invite, org.slug.as_str(), token.expose());
        Ok(Invited { org, invite: invite.summary(), token, url })
    }
}
