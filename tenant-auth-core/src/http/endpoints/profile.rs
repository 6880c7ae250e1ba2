//! `/auth/profile` and `/auth/change-password`: a person's own account.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::AskedAddress;
use crate::{
    account::{NewPassword, ProfileUpdate},
    caller::Member,
    http::{
        answer::{Message, Outcome, done},
        context::Context,
        error_code::ErrorCode,
        input::{Input, Json},
        openapi::{InputFacts, Schemas},
        query,
        refusal::Refusal,
    },
    model::Profile,
    value::{Bio, DisplayName, Phone, ReturnAddress},
    view::{OwnMembershipView, UpdatedUserView, UserWithProfileView},
};

#[derive(Serialize, ToSchema)]
pub(crate) struct ProfileData {
    user: UserWithProfileView,
    membership: OwnMembershipView,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    next: Option<ReturnAddress>,
}

/// `?next=`, which a page asks about for somebody who is signed in already.
pub(crate) struct NextQuery(Option<AskedAddress>);

impl Input for NextQuery {
    fn describe(facts: &mut InputFacts, _: &mut Schemas) {
        facts.query.push("Next");
    }
    fn may() -> Vec<ErrorCode> {
        vec![ErrorCode::InvalidRequest]
    }
    fn read(context: &Context) -> Result<Self, Refusal> {
        let asked = query::nul_free(context, "next")?.map(AskedAddress::try_from).transpose();
        Ok(Self(asked.map_err(|rejected| Refusal::invalid("next", rejected.to_string()))?))
    }
}

pub(crate) async fn get(member: Member, NextQuery(asked): NextQuery) -> Outcome<ProfileData> {
    let next = asked.and_then(|next| member.return_address(next.as_str()));
    Ok(ProfileData { user: member.user().into(), membership: member.membership().into(), next }.into())
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
    member.change_password(change).await.map_err(Refusal::of_changed_password)?;
    Ok(done("The password was changed. Every other session has ended."))
}
