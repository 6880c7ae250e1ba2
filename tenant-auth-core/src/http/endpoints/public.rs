//! `/public`: what a customer's backend asks with its API key.

use serde::{Deserialize, Serialize};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        AllOfBuilder, ObjectBuilder, OneOfBuilder, Ref, RefOr, Schema,
        schema::{SchemaType, Type},
    },
};

use super::{PollCaller, VerifyCaller};
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
    id::{SessionId, UserId},
    model::Changes,
    principal::{Principal, PrincipalMembership},
    schema,
    scope::{MembersRead, UsersRead, Verify},
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

/// What of an organization's answers is no longer true.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChangesData {
    /// From where to ask next.
    cursor: String,
    /// Whether anything may have changed: no answer that is kept counts any more.
    everything: bool,
    sessions: Vec<SessionId>,
    users: Vec<UserId>,
    /// When the key ends; null: never.
    key_expires_at: Option<Timestamp>,
}

pub(crate) async fn changes(PollCaller(backend): PollCaller<Verify>, query: ChangesQuery) -> Outcome<ChangesData> {
    let Changes { cursor, everything, sessions, users, key_expires_at } =
        backend.changes(query.after.as_deref(), query.wait).await?;
    Ok(ChangesData { cursor, everything, sessions, users, key_expires_at }.into())
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
