//! `/public`: what a customer's backend asks with its API key.

use serde::{Deserialize, Serialize};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{AllOfBuilder, OneOfBuilder, Ref, RefOr, Schema},
};

use super::{Asked, BackendWith, MembersRead, UsersRead, members::MembersData};
use crate::{
    backend::{Identity, Verification},
    http::{
        answer::Outcome,
        input::{Path, TokenJson},
    },
    id::{OrgId, SessionId, UserId},
    model::{AuthMethod, MemberEntry, Membership, Role, Status, User},
    page::Page,
    schema,
    time::Timestamp,
    value::{DisplayName, Metadata, Plan, Slug},
};

#[derive(Deserialize, ToSchema)]
pub(crate) struct VerifyRequest {
    #[serde(rename = "token")]
    _token: String,
}

#[derive(Serialize)]
pub(crate) struct VerifyData {
    valid: bool,
    #[serde(flatten)]
    identity: Option<IdentityView>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct IdentityView {
    user: User,
    membership: MembershipView,
    org: OrgView,
    session: SessionView,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MembershipView {
    role: Role,
    status: Status,
    joined_at: Timestamp,
    metadata: Metadata,
}

#[derive(Serialize, ToSchema)]
struct OrgView {
    id: OrgId,
    name: DisplayName,
    slug: Slug,
    plan: Plan,
    status: Status,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SessionView {
    id: SessionId,
    amr: Vec<AuthMethod>,
    auth_time: Timestamp,
    expires_at: Timestamp,
}

impl From<Membership> for MembershipView {
    fn from(membership: Membership) -> Self {
        let Membership { role, status, joined_at, metadata, .. } = membership;
        Self { role, status, joined_at, metadata }
    }
}

impl From<Identity> for IdentityView {
    fn from(identity: Identity) -> Self {
        let Identity { user, membership, org, session } = identity;
        Self {
            user,
            membership: membership.into(),
            org: OrgView { id: org.id, name: org.name, slug: org.slug, plan: org.plan, status: org.status },
            session: SessionView { id: session.id, amr: session.amr, auth_time: session.auth_time, expires_at: session.expires_at },
        }
    }
}

/// `{valid: false}` or the identity; nothing is said of an invalid token.
impl PartialSchema for VerifyData {
    fn schema() -> RefOr<Schema> {
        let valid =
            AllOfBuilder::new().item(schema::object("valid", schema::flag(true))).item(Ref::from_schema_name(IdentityView::name()));
        OneOfBuilder::new().item(valid).item(schema::object("valid", schema::flag(false))).into()
    }
}

impl ToSchema for VerifyData {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((IdentityView::name().into_owned(), IdentityView::schema()));
        IdentityView::schemas(schemas);
    }
}

/// The token was read, and looked up, together with the key.
pub(crate) async fn verify(Asked(asking): Asked, TokenJson(_): TokenJson<VerifyRequest>) -> Outcome<VerifyData> {
    Ok(match asking.verify()? {
        Verification::Valid(identity) => VerifyData { valid: true, identity: Some((*identity).into()) },
        Verification::Invalid => VerifyData { valid: false, identity: None },
    }
    .into())
}

#[derive(Serialize, ToSchema)]
pub(crate) struct UserData {
    user: User,
    membership: MembershipView,
}

pub(crate) async fn user(caller: BackendWith<UsersRead>, Path(user): Path<UserId>) -> Outcome<UserData> {
    let (user, membership) = caller.backend.user(&user).await?;
    Ok(UserData { user, membership: membership.into() }.into())
}

pub(crate) async fn members(caller: BackendWith<MembersRead>, page: Page) -> Outcome<MembersData> {
    Ok(MembersData::from(caller.backend.members(&page).await?).into())
}

#[derive(Serialize, ToSchema)]
pub(crate) struct MemberData {
    member: MemberEntry,
}

pub(crate) async fn member(caller: BackendWith<MembersRead>, Path(user): Path<UserId>) -> Outcome<MemberData> {
    Ok(MemberData { member: caller.backend.member(&user).await? }.into())
}
