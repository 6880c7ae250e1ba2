//! People as JSON. The profile leaves the service only towards the person.

use serde::{Deserialize, Serialize};

use super::view;
use crate::{
    id::UserId,
    model::{AccountRole, Profile, User},
    value::{Bio, DisplayName, Email, Phone, stated},
};

/// A person.
// By hand, because a gate reads it from a remote service too.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = User))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UserView {
    /// `usr_…`
    pub id: UserId,
    /// Shown to people.
    #[serde(deserialize_with = "stated")]
    pub name: DisplayName,
    /// As typed; compared lower-cased.
    #[serde(deserialize_with = "stated")]
    pub email: Email,
    /// Standing in the deployment.
    pub role: AccountRole,
    /// Whether the person proved that the address is theirs.
    pub is_email_verified: bool,
}

impl From<&User> for UserView {
    fn from(user: &User) -> Self {
        let User { id, name, email, role, is_email_verified, profile: _ } = user.clone();
        Self { id, name, email, role, is_email_verified }
    }
}

/// The optional part of a profile.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = Profile))]
pub(crate) struct ProfileView {
    /// In the person's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "http", schema(nullable = false))]
    bio: Option<Bio>,
    /// Telephone number.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "http", schema(nullable = false))]
    phone: Option<Phone>,
}

impl From<&Profile> for ProfileView {
    fn from(profile: &Profile) -> Self {
        Self { bio: profile.bio.clone(), phone: profile.phone.clone() }
    }
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = UserWithProfile))]
#[serde(rename_all = "camelCase")]
pub(crate) struct UserWithProfileView {
    id: UserId,
    name: DisplayName,
    email: Email,
    role: AccountRole,
    is_email_verified: bool,
    profile: ProfileView,
}

impl From<&User> for UserWithProfileView {
    fn from(user: &User) -> Self {
        let profile = ProfileView::from(&user.profile);
        let UserView { id, name, email, role, is_email_verified } = user.into();
        Self { id, name, email, role, is_email_verified, profile }
    }
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = UpdatedUser))]
pub(crate) struct UpdatedUserView {
    id: UserId,
    name: DisplayName,
    email: Email,
    profile: ProfileView,
}

impl From<&User> for UpdatedUserView {
    fn from(user: &User) -> Self {
        Self { id: user.id.clone(), name: user.name.clone(), email: user.email.clone(), profile: (&user.profile).into() }
    }
}

view! {
    pub(crate) AcceptedUserView of User as AcceptedUser {
        id: UserId,
        name: DisplayName,
        email: Email,
    }
}
