//! An organization's details: its name, its application's URL and its allowed browser origins (CORS).

use crate::{
    caller::OrgAdmin,
    error::{Error, InvalidValue},
    event::{EventKind, OrgDetailsData},
    model::Organization,
    throttle::ADMIN_CHANGES,
    value::{AppUrl, DisplayName, Origin},
};

/// A field of a partial update.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Patch<T> {
    /// Leave it as it is.
    #[default]
    Keep,
    /// Remove it.
    Clear,
    /// Replace it.
    Set(T),
}

impl<T> Patch<T> {
    pub(crate) fn apply(self, current: Option<T>) -> Option<T> {
        match self {
            Self::Keep => current,
            Self::Clear => None,
            Self::Set(value) => Some(value),
        }
    }
}

/// A partial update of an organization by an org_admin.
#[derive(Debug, Default)]
pub struct OrganizationUpdate {
    /// The organization's name.
    pub name: Option<DisplayName>,
    /// The URL of the organization's application.
    pub app_url: Patch<AppUrl>,
    /// The browser origins allowed beside the application's (CORS); clearing allows none.
    pub allowed_origins: Patch<Vec<Origin>>,
}

/// The most origins an organization may allow; no real frontend needs as many.
pub(crate) const MOST_ORIGINS: usize = 50;

impl OrgAdmin {
    /// Changes the organization's details.
    ///
    /// # Errors
    /// [`Error::Invalid`] for more than 50 origins; [`Error::AdminRequired`], [`Error::SessionRequired`], [`Error::Suspended`] or
    /// [`Error::InvalidApiKey`] when the right ended meanwhile; [`Error::RateLimited`].
    pub async fn update_organization(&self, update: OrganizationUpdate) -> Result<Organization, Error> {
        if matches!(&update.allowed_origins, Patch::Set(origins) if origins.len() > MOST_ORIGINS) {
            return Err(InvalidValue::TooManyOrigins { most: MOST_ORIGINS }.into());
        }
        // An origin that is taken away may be so already, by a request whose answer was lost.
        if update.app_url == Patch::Keep && update.allowed_origins == Patch::Keep {
            self.change_details(update).await
        } else {
            self.auth().ending(self.change_details(update)).await
        }
    }

    async fn change_details(&self, update: OrganizationUpdate) -> Result<Organization, Error> {
        let mut write = ADMIN_CHANGES.begin_write_of(self).await?;
        let previous = write.org.clone();
        let mut org = previous.clone();
        org.name = update.name.unwrap_or(org.name);
        org.app_url = update.app_url.apply(org.app_url);
        org.allowed_origins = update.allowed_origins.apply(Some(org.allowed_origins)).unwrap_or_default();
        if !only_takes_away(&org, &previous) {
            write.spend_log_bytes(told_of(&org) + told_of(&previous)).await?;
        }
        write.organizations().update(&org, &previous).await?;
        write.push(EventKind::OrgUpdated, &OrgDetailsData::changed(&org, &previous))?;
        write.commit().await?;
        Ok(org)
    }
}

/// Whether a change takes an address of the application or an allowed origin away and does nothing else. Nobody keeps what is taken away by
/// what was written before.
fn only_takes_away(org: &Organization, previous: &Organization) -> bool {
    let is_less = org.app_url != previous.app_url || org.allowed_origins.len() < previous.allowed_origins.len();
    is_less
        && org.name == previous.name
        && (org.app_url.is_none() || org.app_url == previous.app_url)
        && org.allowed_origins.iter().all(|origin| previous.allowed_origins.contains(origin))
}

/// How many bytes an event tells of an organization, of those that its admins choose.
fn told_of(org: &Organization) -> usize {
    let app_url = org.app_url.as_ref().map_or(0, |url| url.as_str().len());
    let origins = org.allowed_origins.iter().map(|origin| origin.as_str().len());
    org.name.as_str().len() + app_url + origins.sum::<usize>()
}
