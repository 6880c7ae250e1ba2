//! `/org/members` and `/org/leave`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{callers::Ender, org_admins::Insider, public::MemberData};
use crate::{
    caller::{Member, OrgAdmin},
    http::{
        answer::{Message, Outcome, done},
        input::{Json, Path},
        listing::Listing,
        query::MembersQuery,
    },
    id::UserId,
    model::{Membership, Role, Status},
    value::Metadata,
    view::{ManagedMembershipView, MemberView},
};

pub(crate) async fn list(insider: Insider, query: MembersQuery) -> Outcome<Listing<MemberView>> {
    Ok(insider.members_like(&query.filter, &query.page).await?.into())
}

pub(crate) async fn get(insider: Insider, Path(user): Path<UserId>) -> Outcome<MemberData> {
    Ok(MemberData { member: (&insider.member(&user).await?).into() }.into())
}

#[derive(Serialize, ToSchema)]
pub(crate) struct MembershipData {
    membership: ManagedMembershipView,
}

impl From<Membership> for MembershipData {
    fn from(membership: Membership) -> Self {
        Self { membership: (&membership).into() }
    }
}

#[derive(Deserialize, ToSchema)]
pub(crate) struct MetadataRequest {
    metadata: Metadata,
}

type Target<T> = (Path<UserId>, Json<T>);

pub(crate) async fn set_metadata(admin: OrgAdmin, (Path(user), Json(request)): Target<MetadataRequest>) -> Outcome<MembershipData> {
    Ok(MembershipData::from(admin.set_metadata(&user, request.metadata).await?).into())
}

#[derive(Deserialize, ToSchema)]
pub(crate) struct RoleRequest {
    role: Role,
}

pub(crate) async fn set_role(
    Ender(admin): Ender<OrgAdmin>,
    (Path(user), Json(request)): Target<RoleRequest>,
) -> Outcome<MembershipData> {
    Ok(MembershipData::from(admin.set_role(&user, request.role).await?).into())
}

#[derive(Deserialize, ToSchema)]
pub(crate) struct StatusRequest {
    status: Status,
}

pub(crate) async fn set_status(admin: OrgAdmin, (Path(user), Json(request)): Target<StatusRequest>) -> Outcome<MembershipData> {
    Ok(MembershipData::from(admin.set_status(&user, request.status).await?).into())
}

pub(crate) async fn remove(admin: OrgAdmin, Path(user): Path<UserId>) -> Outcome<Message> {
    admin.remove_member(&user).await?;
    Ok(done("The member was removed."))
}

pub(crate) async fn end_sessions(Ender(admin): Ender<OrgAdmin>, Path(user): Path<UserId>) -> Outcome<Message> {
    admin.end_member_sessions(&user).await?;
    Ok(done("The member's sessions in this organization have ended."))
}

pub(crate) async fn leave(Ender(member): Ender<Member>, (): ()) -> Outcome<Message> {
    member.leave().await?;
    Ok(done("You have left the organization."))
}
