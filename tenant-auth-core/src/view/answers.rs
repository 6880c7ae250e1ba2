//! Views that one endpoint's answer shows and nothing else does: as much of a resource as its caller needs.

use serde::Serialize;

use super::{UserView, view};
use crate::{
    id::{MembershipId, UserId},
    model::{AccountRole, Membership, Organization, Profile, Role, Status, User},
    time::Timestamp,
    value::{AppUrl, Bio, DisplayName, Email, Metadata, Phone, Slug},
};

view! {
    pub(crate) ManagedMembershipView of Membership as ManagedMembership {
        id: MembershipId,
        user_id: UserId,
        role: Role,
        status: Status,
        metadata: Metadata,
    }
}

view! {
    /// What a profile tells of the membership that the caller acts by.
    pub(crate) OwnMembershipView of Membership as OwnMembership {
        /// Their role here.
        role: Role,
        /// Whether they are let in.
        status: Status,
        /// Since when.
        joined_at: Timestamp,
        /// The customer's own data.
        metadata: Metadata,
    }
}

view! {
    pub(crate) AcceptedMembershipView of Membership as AcceptedMembership {
        role: Role,
        status: Status,
        metadata: Metadata,
    }
}

view! {
    /// What a login tells of the membership; the rest is asked for when it is wanted.
    pub(crate) MembershipOfLoginView of Membership as Standing {
        role: Role,
        status: Status,
    }
}

view! {
    pub(crate) PreviewedOrgView of Organization as PreviewedOrg {
        name: DisplayName,
        slug: Slug,
    }
}

view! {
    pub(crate) AcceptedOrgView of Organization as AcceptedOrg {
        name: DisplayName,
        slug: Slug,
        app_url: Option<AppUrl>,
    }
}

/// The optional part of a profile.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
#[schema(as = Profile)]
pub(crate) struct ProfileView {
    /// In the person's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    bio: Option<Bio>,
    /// Telephone number.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    phone: Option<Phone>,
}

impl From<&Profile> for ProfileView {
    fn from(profile: &Profile) -> Self {
        Self { bio: profile.bio.clone(), phone: profile.phone.clone() }
    }
}

#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
#[schema(as = UserWithProfile)]
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

#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
#[schema(as = UpdatedUser)]
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
