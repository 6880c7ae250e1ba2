//! What the operator of the deployment does: the right comes with access to the process and its master key, so there is
//! nothing to check. The server's command line is its user; embedders call it to set organizations up.

use crate::{
    account::{Ending, tell_ended, tell_user},
    backend::{CreatedApiKey, NewApiKey, create_key},
    builder::TenantAuth,
    caller::hold_account,
    config::LinkedPage,
    error::Error,
    event::{ApiKeyData, EndReason, EventKind, InviteData, MemberData, OrgData, UserData},
    id::Id,
    keys,
    letters::Letter,
    mail,
    model::{AccountRole, InviteSummary, Membership, Organization, Profile, Role, Status, User},
    org::{Invitation, invite},
    page::Page,
    secret::{LinkToken, Password},
    store::{Actor, Ended, Event, MemberRecord, Tx},
    time::Timestamp,
    value::{
        AppUrl, DisplayName, Email, Metadata, Plan, Slug,
        password::{self, Owner},
    },
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

/// An org_admin invite made by the operator; the token is shown here once and mailed.
#[derive(Debug)]
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

/// An account with a membership, made without an invite.
#[derive(Debug)]
pub struct NewUser {
    /// The address; nobody has proved it.
    pub email: Email,
    /// The person's name.
    pub name: DisplayName,
    /// Their role in the organization.
    pub role: Role,
    /// Their password.
    pub password: Password,
}

/// What [`Operator::create_user`] made.
#[derive(Debug)]
pub struct CreatedUser {
    /// The account.
    pub user: User,
    /// Its membership.
    pub membership: Membership,
}

/// Whose sessions.
#[derive(Debug, Clone)]
pub enum SessionsOf {
    /// Everybody's.
    All,
    /// Everybody's in one organization.
    Organization(Slug),
    /// One person's, in all organizations.
    User(Email),
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

    /// Makes an account and its membership, without an invite; the address stays unverified.
    ///
    /// # Errors
    /// [`Error::UnknownOrganization`], [`Error::EmailTaken`], [`Error::WeakPassword`].
    pub async fn create_user(&self, slug: &Slug, new: NewUser) -> Result<CreatedUser, Error> {
        let org = self.auth.tenant(slug.as_str()).await?.org;
        let owner = Owner { email: &new.email, name: &new.name, slug: &org.slug, organization: &org.name };
        let checked = password::check(&self.auth, &new.password, owner).await?;
        let hash = self.auth.hasher().hash(&checked).await?;

        let now = self.auth.now();
        let (mut tx, org) = self.begin_in(slug).await?;
        let user = User {
            id: Id::generate(now, self.auth.entropy()),
            name: new.name,
            email: new.email,
            role: AccountRole::User,
            is_email_verified: false,
            profile: Profile::default(),
        };
        if !tx.users().insert(&user, &hash, now).await? {
            return Err(Error::EmailTaken);
        }
        let membership = Membership {
            id: Id::generate(now, self.auth.entropy()),
            org_id: org.id.clone(),
            user_id: user.id.clone(),
            role: new.role,
            status: Status::Active,
            joined_at: now,
            metadata: Metadata::default(),
        };
        tx.members().insert(&membership).await?;
        let member = MemberRecord { membership: membership.clone(), name: user.name.clone(), email: user.email.clone() };
        let data = MemberData { member: member.entry(), previous: None };
        tx.push(Event::new(EventKind::MemberJoined, (&org.id, &org.slug), Actor::System, &data)?);
        self.auth.commit(tx, now).await?;
        Ok(CreatedUser { user, membership })
    }

    /// Ends sessions and returns how many; their tokens are dead at once.
    ///
    /// # Errors
    /// [`Error::UnknownOrganization`], or [`Error::NotFound`] for an address without an account.
    pub async fn revoke_sessions(&self, whose: SessionsOf) -> Result<u64, Error> {
        match whose {
            SessionsOf::All => {
                let mut ended = 0;
                for org in self.organizations().await? {
                    ended += self.revoke_in(&org.slug).await?;
                }
                Ok(ended)
            }
            SessionsOf::Organization(slug) => self.revoke_in(&slug).await,
            SessionsOf::User(email) => {
                let mut tx = self.auth.store().begin().await?;
                let account = tx.users().find_by_email(&email).await?.ok_or(Error::NotFound("account"))?;
                hold_account(&mut tx, &account.user.id).await?;
                let ended = tx.sessions().end_of_user(&account.user.id, None).await?;
                self.told(tx, &ended).await
            }
        }
    }

    /// Removes a person's second factor, for whoever lost the device and the recovery codes. Every session of the account ends.
    ///
    /// # Errors
    /// [`Error::NotFound`] for an address without an account, [`Error::SecondFactorMissing`].
    pub async fn reset_second_factor(&self, email: &Email) -> Result<User, Error> {
        let now = self.auth.now();
        let mut tx = self.auth.store().begin().await?;
        let user = tx.users().find_by_email(email).await?.ok_or(Error::NotFound("account"))?.user;
        hold_account(&mut tx, &user.id).await?;
        if !tx.second_factors().remove(&user.id).await? {
            return Err(Error::SecondFactorMissing);
        }
        tx.users().bump_epoch(&user.id).await?;
        tx.pending_logins().end_of_user(&user.id).await?;
        let ended = tx.sessions().end_of_user(&user.id, None).await?;
        let data = UserData { user: &user, previous: None };
        tell_user(&mut tx, EventKind::UserTwoFactorDisabled, &Actor::System, &data).await?;
        tell_ended(&mut tx, &ended, &Ending { reason: EndReason::TwoFactor, actor: Actor::System }).await?;
        if let Some((org_id, _)) = tx.users().organizations_of(&user.id).await?.first() {
            mail::letter(&self.auth, &mut tx, org_id, (&user.email, &Letter::SecondFactorDisabled), now).await?;
        }
        self.auth.commit(tx, now).await?;
        Ok(user)
    }

    /// Deletes a person's account everywhere, with memberships, sessions and the invites they sent. It may leave an organization
    /// without an org_admin: invite one with [`Self::invite_admin`].
    ///
    /// # Errors
    /// [`Error::NotFound`] for an address without an account.
    pub async fn delete_user(&self, email: &Email) -> Result<User, Error> {
        let now = self.auth.now();
        let mut tx = self.auth.store().begin().await?;
        let user = tx.users().find_by_email(email).await?.ok_or(Error::NotFound("account"))?.user;
        let places = tx.users().organizations_of(&user.id).await?;
        for (org_id, _) in &places {
            tx.organizations().lock(org_id).await?;
        }
        hold_account(&mut tx, &user.id).await?;
        let mut ended = Vec::new();
        for (org_id, slug) in &places {
            let Some(member) = tx.members().find(org_id, &user.id).await? else { continue };
            for record in tx.invites().sent_by(org_id, &user.id).await? {
                tx.invites().take(org_id, &record.invite.id).await?;
                tx.mails().cancel(&record.mail_id).await?;
                let data = InviteData { invite: record.invite.summary() };
                tx.push(Event::new(EventKind::InviteRevoked, (org_id, slug), Actor::System, &data)?);
            }
            ended.extend(tx.sessions().end_of_member(org_id, &user.id).await?);
            let data = MemberData { member: member.entry(), previous: None };
            tx.push(Event::new(EventKind::MemberRemoved, (org_id, slug), Actor::System, &data)?);
        }
        tell_ended(&mut tx, &ended, &Ending { reason: EndReason::Removed, actor: Actor::System }).await?;
        tx.users().delete(&user.id).await?;
        self.auth.commit(tx, now).await?;
        Ok(user)
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

    async fn revoke_in(&self, slug: &Slug) -> Result<u64, Error> {
        let (mut tx, org) = self.begin_in(slug).await?;
        let ended = tx.sessions().end_of_organization(&org.id).await?;
        self.told(tx, &ended).await
    }

    async fn told(&self, mut tx: Tx, ended: &[Ended]) -> Result<u64, Error> {
        tell_ended(&mut tx, ended, &Ending { reason: EndReason::Operator, actor: Actor::System }).await?;
        self.auth.commit(tx, self.auth.now()).await?;
        u64::try_from(ended.len()).map_err(Error::internal)
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
