//! An operator of the deployment over HTTP: a person with the account role `admin`, logged in to the operators' organization with
//! both factors within the last 12 hours, or the product by a deployment key with the scope `organizations`. Operators create
//! organizations, change them and invite their admins; they cannot reach what belongs to an organization's people.
//!
//! The right is judged with every request, and again inside the transaction of every write.

use std::{net::IpAddr, time::Duration};

use super::{
    deletion::When,
    organizations::{NewOrganization, OperatorWrite, OrganizationChange},
};
use crate::{
    caller::{Member, Product, Write},
    error::Error,
    id::OrgId,
    model::{AccountRole, AuthMethod, DeploymentScope, EventKind, Invite, Organization, OrganizationFigures, OrganizationFilter},
    page::{List, Page},
    secret::ApiKeyText,
    service::TenantAuth,
    store::{Actor, Chosen, LiveSession, Span, Tx},
    value::{Email, SearchText, Slug},
};

/// How long after its login a session gives an operator's rights.
const FRESH: Duration = Duration::from_secs(12 * 3_600);

/// An operator of the deployment: a person with a session in the operators' organization, or the product with a deployment key.
#[derive(Clone, Debug)]
pub struct DeploymentAdmin(Origin);

/// What the right rests on.
#[derive(Clone, Debug)]
enum Origin {
    Session(Member),
    Key(Product),
}

impl Member {
    /// The right of an operator of the deployment.
    ///
    /// # Errors
    /// [`Error::OperatorRequired`] unless this is the operators' organization, the account was appointed, its second factor is in
    /// force, and the session began with it within the last 12 hours.
    pub async fn into_deployment_admin(self) -> Result<DeploymentAdmin, Error> {
        let is_guarded = self.auth.store().read().await?.second_factors().in_force(self.user_id()).await?;
        judge(&self.auth, &self.live, is_guarded)?;
        Ok(DeploymentAdmin(Origin::Session(self)))
    }
}

impl TenantAuth {
    /// The right of an operator of the deployment, by a deployment key with the scope `organizations`. `sender` is the address that
    /// shows the key, for a key that counts from some networks only.
    ///
    /// # Errors
    /// [`Error::InvalidApiKey`], the same for every reason; [`Error::MissingScope`].
    pub async fn deployment_admin(&self, key: &ApiKeyText, sender: Option<IpAddr>) -> Result<DeploymentAdmin, Error> {
        Ok(DeploymentAdmin(Origin::Key(self.product(key, sender, DeploymentScope::Organizations).await?)))
    }
}

/// Judges the right. One refusal for every reason: a caller who is no operator must not learn which condition is missing.
fn judge(auth: &TenantAuth, live: &LiveSession, is_guarded: bool) -> Result<(), Error> {
    let LiveSession { session, user, org, .. } = live;
    let is_here = auth.config().organizations.operator_org.as_ref() == Some(&org.slug);
    let is_appointed = user.role == AccountRole::Admin;
    // The session's methods are those of its login; the factor itself may have been removed since.
    let by_both_factors = is_guarded && session.amr.contains(&AuthMethod::Otp);
    let is_fresh = auth.now() < session.auth_time.plus(FRESH);
    if is_here && is_appointed && by_both_factors && is_fresh { Ok(()) } else { Err(Error::OperatorRequired) }
}

impl DeploymentAdmin {
    /// The operator as a member of the operators' organization; `None` for a deployment key.
    pub fn as_member(&self) -> Option<&Member> {
        match &self.0 {
            Origin::Session(member) => Some(member),
            Origin::Key(_) => None,
        }
    }

    pub(super) fn auth(&self) -> &TenantAuth {
        match &self.0 {
            Origin::Session(member) => &member.auth,
            Origin::Key(product) => &product.auth,
        }
    }

    /// The organizations, oldest first; to a deployment key without the operators' own.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn organizations(&self, page: &Page) -> Result<List<Organization>, Error> {
        self.organizations_like(&OrganizationFilter::default(), page).await
    }

    /// The organizations that a filter chooses, oldest first; to a deployment key without the operators' own. They are compared here,
    /// because neither database folds the case of every script.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a cursor of another filter or order.
    pub async fn organizations_like(&self, filter: &OrganizationFilter, page: &Page) -> Result<List<Organization>, Error> {
        let OrganizationFilter { search, status } = filter;
        let wanted = search.as_ref().map_or("", SearchText::as_str);
        let mut reading = page.reading(&["organizations", wanted, status.map_or("", |status| status.as_str())])?;
        let mut reader = self.auth().store().read().await?;
        let is_meant = |org: &Organization| {
            let is_found = |text: &SearchText| text.is_in(org.name.as_str()) || text.is_in(org.slug.as_str());
            !self.is_beyond(&org.slug) && search.as_ref().is_none_or(is_found) && status.is_none_or(|status| org.status == status)
        };
        let is_choosy = search.is_some() || status.is_some();
        while let Some(bounds) = reading.wants_to_choose(is_choosy) {
            reading.take_those(reader.organizations().list(&bounds).await?, is_meant);
        }
        Ok(reading.finish())
    }

    /// An organization.
    ///
    /// # Errors
    /// [`Error::UnknownOrganization`].
    pub async fn organization(&self, slug: &Slug) -> Result<Organization, Error> {
        if self.is_beyond(slug) {
            return Err(Error::UnknownOrganization);
        }
        let found = self.auth().store().read().await?.organizations().find_by_slug(slug).await?;
        found.ok_or(Error::UnknownOrganization)
    }

    /// How many people belong to an organization or are invited, and who signed it up.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn figures(&self, org: &Organization) -> Result<OrganizationFigures, Error> {
        let now = self.auth().now();
        let mut reader = self.auth().store().read().await?;
        let span = Span { below: i64::MAX, from: i64::MIN, rows: 1 };
        let made = Chosen { kind: EventKind::OrgCreated.as_str(), ..Chosen::default() };
        let made = reader.audit().list(&org.id, span, made).await?;
        Ok(OrganizationFigures {
            members: reader.members().count(&org.id).await?,
            active_admins: reader.members().count_active_admins(&org.id).await?,
            pending_invites: reader.invites().count(&org.id, now).await?,
            created_by: made.into_iter().next().map(|entry| entry.actor),
        })
    }

    /// Creates an organization and invites its first org_admin. The link is mailed to the invitee and shown to no other person.
    ///
    /// # Errors
    /// [`Error::SlugTaken`]; [`Error::OperatorRequired`], [`Error::SessionRequired`] or [`Error::InvalidApiKey`] when the right ended meanwhile.
    pub async fn create_organization(&self, new: NewOrganization) -> Result<(Organization, Invite), Error> {
        if self.is_beyond(&new.slug) {
            return Err(Error::SlugTaken);
        }
        let (write, _) = self.begin(None).await?;
        let invited = write.create(new).await?;
        Ok((invited.org, invited.invite))
    }

    /// Changes an organization's details, suspends or reactivates it, or cancels its deletion.
    ///
    /// # Errors
    /// [`Error::UnknownOrganization`]; [`Error::OperatorOrganization`] for suspending the operators' own;
    /// [`Error::DeletionScheduled`] for reactivating one that is to be deleted;
    /// [`Error::OperatorRequired`] or [`Error::SessionRequired`] when the right ended meanwhile.
    pub async fn change_organization(&self, slug: &Slug, change: OrganizationChange) -> Result<Organization, Error> {
        let narrows = change.may_narrow();
        let changing = async {
            let (write, org) = self.begin_in(slug).await?;
            write.change(org, change).await
        };
        if narrows { self.auth().ending(changing).await } else { changing.await }
    }

    /// Orders the deletion of an organization: it is suspended at once and removed as many days later as the settings say. When it was
    /// ordered before, the first time stays.
    ///
    /// # Errors
    /// [`Error::UnknownOrganization`]; [`Error::OperatorOrganization`] for the operators' own; [`Error::RateLimited`] for a deployment
    /// key after 20 in a day; [`Error::OperatorRequired`], [`Error::SessionRequired`] or [`Error::InvalidApiKey`] when the right ended
    /// meanwhile.
    pub async fn delete_organization(&self, slug: &Slug) -> Result<Organization, Error> {
        let deleting = async {
            let (write, org) = self.begin_in(slug).await?;
            write.delete(org, When::InTime).await
        };
        self.auth().ending(deleting).await
    }

    /// Invites an org_admin, for an organization that has no working admin left. The link is mailed to the invitee and shown to no
    /// other person.
    ///
    /// # Errors
    /// [`Error::UnknownOrganization`], [`Error::AlreadyMember`], [`Error::AlreadyInvited`]; [`Error::OperatorRequired`] or
    /// [`Error::SessionRequired`] when the right ended meanwhile.
    pub async fn invite_admin(&self, slug: &Slug, email: &Email) -> Result<Invite, Error> {
        let (write, org) = self.begin_in(slug).await?;
        Ok(write.invite_admin(org, email).await?.invite)
    }

    /// Whether this is the operators' own organization, which no deployment key reaches.
    fn is_beyond(&self, slug: &Slug) -> bool {
        self.as_member().is_none() && self.auth().config().organizations.operator_org.as_ref() == Some(slug)
    }

    async fn begin_in(&self, slug: &Slug) -> Result<(OperatorWrite, Organization), Error> {
        if self.is_beyond(slug) {
            return Err(Error::UnknownOrganization);
        }
        let known = self.auth().store().read().await?.organizations().find_by_slug(slug).await?;
        let known = known.ok_or(Error::UnknownOrganization)?;
        let (write, org) = self.begin(Some(&known.id)).await?;
        Ok((write, org.ok_or(Error::UnknownOrganization)?))
    }

    /// Begins a write, in an organization if one is named, and judges the right again. Lock order: both organizations by id, then
    /// what the right rests on: membership, account (its role and its second factor), session; or the key.
    async fn begin(&self, target: Option<&OrgId>) -> Result<(OperatorWrite, Option<Organization>), Error> {
        let mut tx = self.auth().begin().await?;
        let mut locked = Vec::from_iter(target.into_iter().chain(self.as_member().map(Member::org_id)));
        locked.sort();
        locked.dedup();
        let mut found = None;
        for id in locked {
            let org = tx.organizations().lock(id).await?;
            if Some(id) == target {
                found = org;
            }
        }
        let (tx, actor) = match &self.0 {
            Origin::Session(member) => (member.judge_as_operator(tx).await?, member.actor()),
            Origin::Key(product) => {
                product.judge_again(&mut tx).await?;
                (tx, Actor::DeploymentKey(product.key.clone()))
            }
        };
        Ok((OperatorWrite { auth: self.auth().clone(), tx, actor }, found))
    }
}

impl Member {
    /// Judges an operator's right again, in a transaction that has taken the organizations' locks.
    async fn judge_as_operator(&self, mut tx: Tx) -> Result<Tx, Error> {
        tx.members().hold(self.org_id(), self.user_id()).await?.ok_or(Error::SessionRequired)?;
        tx.users().hold(self.user_id()).await?;
        let Write { mut tx, live } = self.judge_again(tx).await?;
        let is_guarded = tx.second_factors().in_force(self.user_id()).await?;
        judge(&self.auth, &live, is_guarded)?;
        Ok(tx)
    }
}
