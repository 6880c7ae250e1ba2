//! An organization's details: its name, its application's URL and its allowed browser origins (CORS).

use crate::{
    caller::OrgAdmin,
    error::{Error, InvalidValue},
    event::{EventKind, OrgData},
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
        let mut write = self.begin_write().await?;
        ADMIN_CHANGES.spend_by_author(&mut write).await?;
        let previous = write.org.clone();
        let mut org = previous.clone();
        org.name = update.name.unwrap_or(org.name);
        org.app_url = update.app_url.apply(org.app_url);
        org.allowed_origins = update.allowed_origins.apply(Some(org.allowed_origins)).unwrap_or_default();
        write.organizations().update(&org, &previous).await?;
        let data = OrgData::changed(&org, &previous);
        write.push(EventKind::OrgUpdated, &data)?;
        write.commit().await?;
        Ok(org)
    }
}
