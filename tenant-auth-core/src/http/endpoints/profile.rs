//! `/auth/profile` and `/auth/change-password`: a person's own account.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    account::{NewPassword, ProfileUpdate},
    caller::Member,
    http::{
        answer::{Message, Outcome, done},
        input::Json,
        refusal::Refusal,
    },
    model::Profile,
    value::{Bio, DisplayName, Phone},
    view::{OwnMembershipView, UpdatedUserView, UserWithProfileView},
};

#[derive(Serialize, ToSchema)]
pub(crate) struct ProfileData {
    user: UserWithProfileView,
    membership: OwnMembershipView,
}

pub(crate) async fn get(member: Member, (): ()) -> Outcome<ProfileData> {
    Ok(ProfileData { user: member.user().into(), membership: member.membership().into() }.into())
}

#[derive(Deserialize, ToSchema)]
pub(crate) struct UpdateProfileRequest {
    name: DisplayName,
    bio: Option<Bio>,
    phone: Option<Phone>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct UpdatedProfileData {
    user: UpdatedUserView,
}

pub(crate) async fn update(member: Member, Json(request): Json<UpdateProfileRequest>) -> Outcome<UpdatedProfileData> {
    let profile = Profile { bio: request.bio, phone: request.phone };
    let user = member.update_profile(ProfileUpdate { name: request.name, profile }).await?;
    Ok(UpdatedProfileData { user: (&user).into() }.into())
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
    member.change_password(change).await.map_err(|error| Refusal::of_new_password(error, "newPassword"))?;
    Ok(done("The password was changed. Every other session has ended."))
}
