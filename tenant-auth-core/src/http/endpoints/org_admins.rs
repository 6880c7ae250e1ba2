//! Callers with the right of an org_admin: a member by a session, or the product by a deployment key. One caller, never two: a request
//! that carries a token of a session, good or not, is judged by it alone, so that nobody's request gets the rights of a key beside it.

use super::callers::{SESSION, TENANT};
use crate::{
    caller::{Member, OrgAdmin},
    error::Error,
    http::{context::Context, error_code::ErrorCode, openapi::CallerFacts, refusal::Refusal, route::Caller},
    id::UserId,
    model::{DeploymentScope, MemberEntry, MemberFilter, Organization, Role},
    page::{List, Page},
};

/// The refusals of a deployment key.
const KEY: &[ErrorCode] = &[ErrorCode::InvalidApiKey, ErrorCode::MissingScope, ErrorCode::RateLimited];

impl Caller for OrgAdmin {
    const FACTS: CallerFacts = CallerFacts {
        who: "an org_admin, or a deployment key with the scope `admin`",
        deployment_key: Some(DeploymentScope::Admin),
        ..Member::FACTS
    };
    const MAY: &'static [&'static [ErrorCode]] = &[TENANT, SESSION, KEY, &[ErrorCode::AdminRequired]];
    async fn identify(context: &Context) -> Result<Self, Refusal> {
        match by_key(context).await? {
            Some(admin) => Ok(admin),
            None => Ok(Member::identify(context).await?.into_admin()?),
        }
    }
}

/// A caller who may look at the organization: any active member, or the product as an org_admin.
pub(crate) enum Insider {
    Member(Member),
    Product(OrgAdmin),
}

impl Caller for Insider {
    const FACTS: CallerFacts =
        CallerFacts { who: "any active member, or a deployment key with the scope `admin`", ..OrgAdmin::FACTS };
    const MAY: &'static [&'static [ErrorCode]] = &[TENANT, SESSION, KEY];
    async fn identify(context: &Context) -> Result<Self, Refusal> {
        match by_key(context).await? {
            Some(admin) => Ok(Self::Product(admin)),
            None => Ok(Self::Member(Member::identify(context).await?)),
        }
    }
}

impl Insider {
    pub(crate) fn organization(&self) -> &Organization {
        match self {
            Self::Member(member) => member.organization(),
            Self::Product(admin) => admin.organization(),
        }
    }

    pub(crate) fn role(&self) -> Role {
        match self {
            Self::Member(member) => member.membership().role,
            Self::Product(_) => Role::OrgAdmin,
        }
    }

    pub(crate) async fn member(&self, user: &UserId) -> Result<MemberEntry, Error> {
        match self {
            Self::Member(member) => member.member(user).await,
            Self::Product(admin) => admin.member(user).await,
        }
    }

    pub(crate) async fn members_like(&self, filter: &MemberFilter, page: &Page) -> Result<List<MemberEntry>, Error> {
        match self {
            Self::Member(member) => member.members_like(filter, page).await,
            Self::Product(admin) => admin.members_like(filter, page).await,
        }
    }
}

/// The product, where the request shows a deployment key and no token of a session.
async fn by_key(context: &Context) -> Result<Option<OrgAdmin>, Refusal> {
    if !context.shows_deployment_key() || context.shows_token() {
        return Ok(None);
    }
    let slug = context.slug()?;
    // Everybody is told of a slug that is nobody's, and before anything else.
    context.auth.tenant(&slug).await?;
    let Some(key) = context.deployment_key()? else { return Ok(None) };
    let admin = context.auth.org_admin_of_deployment(&slug, &key, context.sender_address()).await;
    let admin = context.counted(admin, &key)?;
    context.traced.in_organization(&slug);
    Ok(Some(admin))
}
