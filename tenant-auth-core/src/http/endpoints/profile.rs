//! `/auth/profile` and `/auth/change-password`: a person's own account.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    account::{NewPassword, ProfileUpdate},
    caller::Member,
    http::{
        answer::{Message, Outcome, done},
        input::Json,
    },
    id::UserId,
    model::{AccountRole, Profile, User},
    value::{Bio, DisplayName, Email, Phone},
};

#[derive(Serialize, ToSchema)]
pub(crate) struct ProfileData {
    user: UserWithProfile,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct UserWithProfile {
    id: UserId,
    name: DisplayName,
    email: Email,
    role: AccountRole,
    is_email_verified: bool,
    profile: Profile,
}

impl From<User> for UserWithProfile {
    fn from(user: User) -> Self {
        let User { id, name, email, role, is_email_verified, profile } = user;
        Self { id, name, email, role, is_email_verified, profile }
    }
}

pub(crate) async fn get(member: Member, (): ()) -> Outcome<ProfileData> {
    Ok(ProfileData { user: member.user().clone().into() }.into())
}

#[derive(Deserialize, ToSchema)]
pub(crate) struct UpdateProfileRequest {
    name: DisplayName,
    bio: Option<Bio>,
    phone: Option<Phone>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct UpdatedProfileData {
    user: UpdatedUser,
}

#[derive(Serialize, ToSchema)]
struct UpdatedUser {
    id: UserId,
    name: DisplayName,
    email: Email,
    profile: Profile,
}

pub(crate) async fn update(member: Member, Json(request): Json<UpdateProfileRequest>) -> Outcome<UpdatedProfileData> {
    let profile = Profile { bio: request.bio, phone: request.phone };
    let User { id, name, email, profile, .. } = member.update_profile(ProfileUpdate { name: request.name, profile }).await?;
    Ok(UpdatedProfileData { user: UpdatedUser { id, name, email, profile } }.into())
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChangePasswordRequest {
    current_password: String,
    #[schema(min_length = 8, max_length = 256)]
    new_password: String,
}

pub(crate) async fn change_password(member: Member, Json(request): Json<ChangePasswordRequest>) -> Outcome<Message> {
    let change = NewPassword { current: request.current_password.into(), new: request.new_password.into() };
    member.change_password(change).await?;
    Ok(done("The password was changed. Every other session has ended."))
}
