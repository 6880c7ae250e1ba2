//! `/public`: what a customer's backend asks with its API key.

use serde::{Deserialize, Serialize};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        AllOfBuilder, ObjectBuilder, OneOfBuilder, Ref, RefOr, Schema,
        schema::{SchemaType, Type},
    },
};

use super::{ChangesCaller, VerifyCaller};
use crate::{
    backend::Verification,
    caller::Backend,
    http::{
        answer::{Outcome, Written, enveloped},
        input::{Path, TokenJson},
        listing::Listing,
        query::{ChangesQuery, MembersQuery},
        refusal::Refusal,
    },
    id::{OrgId, SessionId, UserId},
    model::{self, Changes, DeploymentChanges},
    principal::{Principal, PrincipalMembership},
    schema,
    scope::{MembersRead, UsersRead},
    time::Timestamp,
    view::{MemberView, UserView},
};

#[derive(Deserialize, ToSchema)]
pub(crate) struct VerifyRequest {
    token: String,
    /// The cursor that the backend holds, of `GET /public/changes`: the answer is of no earlier moment.
    #[expect(dead_code, reason = "`VerifyCaller` reads it in advance, with the token; this judges its type")]
    after: Option<String>,
}

#[derive(Serialize)]
pub(crate) struct VerifyData {
    valid: bool,
    #[serde(flatten)]
    principal: Option<Principal>,
}

/// The names of both in the OpenAPI document.
const VALID: &str = "ValidToken";
const INVALID: &str = "InvalidToken";

/// `{valid: false}` or the principal; nothing is said of an invalid token.
impl PartialSchema for VerifyData {
    fn schema() -> RefOr<Schema> {
        let either = [VALID, INVALID].map(Ref::from_schema_name);
        either.into_iter().fold(OneOfBuilder::new(), OneOfBuilder::item).into()
    }
}

impl ToSchema for VerifyData {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        let is = |valid: bool| schema::object("valid", schema::flag(valid));
        let valid = AllOfBuilder::new().item(is(true)).item(Ref::from_schema_name(Principal::name()));
        schemas.push((VALID.to_owned(), valid.into()));
        schemas.push((INVALID.to_owned(), is(false).into()));
        schemas.push((Principal::name().into_owned(), Principal::schema()));
        Principal::schemas(schemas);
    }
}

pub(crate) async fn verify(
    VerifyCaller(query): VerifyCaller,
    TokenJson(request): TokenJson<VerifyRequest>,
) -> Result<Written<VerifyData>, Refusal> {
    Ok(query.told(&request.token, |verification| enveloped(&VerifyData::from(verification)))?.into())
}

impl From<Verification> for VerifyData {
    fn from(verification: Verification) -> Self {
        match verification {
            Verification::Valid(principal) => Self { valid: true, principal: Some(*principal) },
            Verification::Invalid => Self { valid: false, principal: None },
        }
    }
}

/// What is no longer true: of an organization's answers, or of all organizations'.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum ChangesData {
    OfOne(ChangesOfOne),
    OfAll(ChangesOfAll),
}

/// What of an organization's answers is no longer true.
#[derive(Serialize, ToSchema)]
#[schema(as = OrganizationChanges)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChangesOfOne {
    /// From where to ask next.
    cursor: String,
    /// Whether anything may have changed: no answer that is kept counts any more.
    everything: bool,
    sessions: Vec<SessionId>,
    users: Vec<UserId>,
    /// When the key ends; null: never.
    key_expires_at: Option<Timestamp>,
}

/// What of all organizations' answers is no longer true.
#[derive(Serialize, ToSchema)]
#[schema(as = DeploymentChanges)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChangesOfAll {
    /// From where to ask next.
    cursor: String,
    /// Whether anything may have changed: no answer that is kept counts any more, whatever the organization.
    everything: bool,
    /// The organizations of which something changed.
    orgs: Vec<ChangedOrganization>,
    /// When the key ends; null: never.
    key_expires_at: Option<Timestamp>,
}

/// An organization of which something changed.
#[derive(Serialize, ToSchema)]
struct ChangedOrganization {
    /// As verify names it.
    id: OrgId,
    /// Whether anything of it may have changed, or it is gone: no answer of it that is kept counts any more.
    everything: bool,
    sessions: Vec<SessionId>,
    users: Vec<UserId>,
}

impl PartialSchema for ChangesData {
    fn schema() -> RefOr<Schema> {
        let either = [ChangesOfOne::name(), ChangesOfAll::name()].map(Ref::from_schema_name);
        either.into_iter().fold(OneOfBuilder::new(), OneOfBuilder::item).into()
    }
}

impl ToSchema for ChangesData {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((ChangesOfOne::name().into_owned(), ChangesOfOne::schema()));
        schemas.push((ChangesOfAll::name().into_owned(), ChangesOfAll::schema()));
        ChangesOfOne::schemas(schemas);
        ChangesOfAll::schemas(schemas);
    }
}

pub(crate) async fn changes(caller: ChangesCaller, query: ChangesQuery) -> Outcome<ChangesData> {
    let (after, wait) = (query.after.as_deref(), query.wait);
    let data = match caller {
        ChangesCaller::OfOne(backend) => ChangesData::OfOne(backend.changes(after, wait).await?.into()),
        ChangesCaller::OfAll(backend) => ChangesData::OfAll(backend.changes(after, wait).await?.into()),
    };
    Ok(data.into())
}

impl From<Changes> for ChangesOfOne {
    fn from(Changes { cursor, everything, sessions, users, key_expires_at }: Changes) -> Self {
        Self { cursor, everything, sessions, users, key_expires_at }
    }
}

impl From<DeploymentChanges> for ChangesOfAll {
    fn from(DeploymentChanges { cursor, everything, orgs, key_expires_at }: DeploymentChanges) -> Self {
        Self { cursor, everything, orgs: orgs.into_iter().map(Into::into).collect(), key_expires_at }
    }
}

impl From<model::ChangedOrganization> for ChangedOrganization {
    fn from(model::ChangedOrganization { id, everything, sessions, users }: model::ChangedOrganization) -> Self {
        Self { id, everything, sessions, users }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct UserData {
    user: UserView,
    membership: PrincipalMembership,
}

pub(crate) async fn user(backend: Backend<UsersRead>, Path(user): Path<UserId>) -> Outcome<UserData> {
    let (user, membership) = backend.user(&user).await?;
    Ok(UserData { user: (&user).into(), membership: membership.into() }.into())
}

/// A page of members and, on the first, from where to read their events.
#[derive(Serialize)]
pub(crate) struct MembersToCopy {
    #[serde(flatten)]
    members: Listing<MemberView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence: Option<i64>,
}

/// The list and its number.
impl PartialSchema for MembersToCopy {
    fn schema() -> RefOr<Schema> {
        let means = "On the first page: the number of the organization's last event, when the page was read. To keep a copy, apply every \
                     later event.";
        let sequence = ObjectBuilder::new().schema_type(SchemaType::Type(Type::Integer)).minimum(Some(0)).description(Some(means));
        let own = ObjectBuilder::new().schema_type(SchemaType::Type(Type::Object)).property("sequence", sequence);
        AllOfBuilder::new().item(Ref::from_schema_name(Listing::<MemberView>::name())).item(own).into()
    }
}

impl ToSchema for MembersToCopy {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((Listing::<MemberView>::name().into_owned(), Listing::<MemberView>::schema()));
        Listing::<MemberView>::schemas(schemas);
    }
}

pub(crate) async fn members(backend: Backend<MembersRead>, query: MembersQuery) -> Outcome<MembersToCopy> {
    let (members, sequence) = backend.members_to_copy(&query.filter, &query.page).await?;
    Ok(MembersToCopy { members: members.into(), sequence }.into())
}

#[derive(Serialize, ToSchema)]
pub(crate) struct MemberData {
    pub(super) member: MemberView,
}

pub(crate) async fn member(backend: Backend<MembersRead>, Path(user): Path<UserId>) -> Outcome<MemberData> {
    Ok(MemberData { member: (&backend.member(&user).await?).into() }.into())
}
