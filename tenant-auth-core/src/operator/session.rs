//! An operator of the deployment over HTTP: a person with the account role `admin`, logged in to the operators' organization with
//! both factors within the last 12 hours. Operators create organizations, change them and invite their admins; they cannot reach
//! what belongs to an organization's people.
//!
//! The right is judged with every request, and again inside the transaction of every write.

use std::time::Duration;

use super::organizations::{NewOrganization, OperatorWrite, OrganizationChange};
use crate::{
    caller::{Member, Write},
    error::Error,
    id::OrgId,
    model::{AccountRole, AuthMethod, Invite, Organization},
    page::{List, Page},
    service::TenantAuth,
    store::LiveSession,
    value::{Email, Slug},
};

/// How long after its login a session gives an operator's rights.
const FRESH: Duration = Duration::from_secs(12 * 3_600);

/// An operator of the deployment, with a session in the operators' organization.
#[derive(Clone, Debug)]
pub struct DeploymentAdmin(Member);

impl Member {
    /// The right of an operator of the deployment.
    ///
    /// # Errors
    /// [`Error::OperatorRequired`] unless this is the operators' organization, the account was appointed, its second factor is in
    /// force, and the session began with it within the last 12 hours.
    pub async fn into_deployment_admin(self) -> Result<DeploymentAdmin, Error> {
        let is_guarded = self.auth.store().read().await?.second_factors().in_force(self.user_id()).await?;
        judge(&self.auth, &self.live, is_guarded)?;
        Ok(DeploymentAdmin(self))
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
    /// The operator as a member of the operators' organization.
    pub fn as_member(&self) -> &Member {
        &self.0
    }

    /// The organizations, oldest first.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn organizations(&self, page: &Page) -> Result<List<Organization>, Error> {
        let mut reading = page.reading(&["organizations"])?;
        let mut reader = self.0.auth.store().read().await?;
        while let Some(bounds) = reading.wants() {
            reading.take(reader.organizations().list(&bounds).await?);
        }
        Ok(reading.finish())
    }

    /// Creates an organization and invites its first org_admin. The link is mailed to the invitee and shown to no other person.
    ///
    /// # Errors
    /// [`Error::SlugTaken`]; [`Error::OperatorRequired`] or [`Error::SessionRequired`] when the right ended meanwhile.
    pub async fn create_organization(&self, new: NewOrganization) -> Result<(Organization, Invite), Error> {
        let (write, _) = self.begin(None).await?;
        let invited = write.create(new).await?;
        Ok((invited.org, invited.invite))
    }

    /// Changes an organization's details, suspends or reactivates it.
    ///
    /// # Errors
    /// [`Error::UnknownOrganization`]; [`Error::OperatorOrganization`] for suspending the operators' own;
    /// [`Error::OperatorRequired`] or [`Error::SessionRequired`] when the right ended meanwhile.
    pub async fn change_organization(&self, slug: &Slug, change: OrganizationChange) -> Result<Organization, Error> {
        let narrows = change.may_narrow();
        let changing = async {
            let (write, org) = self.begin_in(slug).await?;
            write.change(org, change).await
        };
        if narrows { self.0.auth.ending(changing).await } else { changing.await }
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

    async fn begin_in(&self, slug: &Slug) -> Result<(OperatorWrite, Organization), Error> {
        let known = self.0.auth.store().read().await?.organizations().find_by_slug(slug).await?;
        let known = known.ok_or(Error::UnknownOrganization)?;
        let (write, org) = self.begin(Some(&known.id)).await?;
        Ok((write, org.ok_or(Error::UnknownOrganization)?))
    }

    /// Begins a write, in an organization if one is named, and judges the right again. Lock order: both organizations by id, then
    /// what the right rests on: membership, account (its role and its second factor), session.
    async fn begin(&self, target: Option<&OrgId>) -> Result<(OperatorWrite, Option<Organization>), Error> {
        let member = &self.0;
        let mut tx = member.auth.begin().await?;
        let mut locked = Vec::from_iter(target.into_iter().chain([member.org_id()]));
        locked.sort();
        locked.dedup();
        let mut found = None;
        for id in locked {
            let org = tx.organizations().lock(id).await?;
            if Some(id) == target {
                found = org;
            }
        }
        tx.members().hold(member.org_id(), member.user_id()).await?.ok_or(Error::SessionRequired)?;
        tx.users().hold(member.user_id()).await?;
        let Write { mut tx, live } = member.judge_again(tx).await?;
        let is_guarded = tx.second_factors().in_force(member.user_id()).await?;
        judge(&member.auth, &live, is_guarded)?;
        Ok((OperatorWrite { auth: member.auth.clone(), tx, actor: member.actor() }, found))
    }
}
