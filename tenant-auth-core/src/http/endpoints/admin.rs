//! `/admin/organizations`: the deployment's organizations, for its operators.

use serde::{Deserialize, Serialize};
use utoipa::{
    ToSchema,
    openapi::{ObjectBuilder, Schema, Type},
};

use super::{
    callers::{SESSION, TENANT},
    invites::InviteData,
};
use crate::{
    caller::Member,
    error::Error,
    http::{
        answer::Outcome,
        context::Context,
        error_code::ErrorCode,
        input::{Json, Path, null, patch},
        listing::Listing,
        openapi::{CallerFacts, OrgSlug},
        query::OrganizationsQuery,
        refusal::Refusal,
        route::Caller,
    },
    model::{DeploymentScope, OrganizationFigures, Status},
    operator::{DeploymentAdmin, NewOrganization, OrganizationChange},
    org::Patch,
    value::{AppUrl, DisplayName, Email, Plan, Slug},
    view::{AuditActorView, InviteView, ManagedOrganizationView},
};

impl Caller for DeploymentAdmin {
    const FACTS: CallerFacts = CallerFacts {
        who: "an operator of the deployment, or a deployment key with the scope `organizations`",
        seen_from: false,
        org_slug: OrgSlug::OfSession,
        deployment_key: Some(DeploymentScope::Organizations),
        ..Member::FACTS
    };
    const MAY: &'static [&'static [ErrorCode]] = &[
        TENANT,
        SESSION,
        &[ErrorCode::OperatorRequired, ErrorCode::InvalidApiKey, ErrorCode::MissingScope, ErrorCode::RateLimited],
    ];
    async fn identify(context: &Context) -> Result<Self, Refusal> {
        // The key alone is looked at: it names no organization, and a session beside it gives nothing.
        if let Some(key) = context.deployment_key()? {
            let admin = context.auth.deployment_admin(&key, context.sender_address()).await;
            return Ok(context.counted(admin, &key)?);
        }
        Ok(Member::identify(context).await?.into_deployment_admin().await?)
    }
}

pub(crate) async fn list(operator: DeploymentAdmin, query: OrganizationsQuery) -> Outcome<Listing<ManagedOrganizationView>> {
    Ok(operator.organizations_like(&query.filter, &query.page).await?.into())
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CreateOrganizationRequest {
    name: DisplayName,
    slug: Slug,
    admin_email: Email,
    plan: Option<Plan>,
    app_url: Option<AppUrl>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct CreatedOrganizationData {
    org: ManagedOrganizationView,
    invite: InviteView,
}

pub(crate) async fn create(
    operator: DeploymentAdmin,
    Json(request): Json<CreateOrganizationRequest>,
) -> Outcome<CreatedOrganizationData> {
    let CreateOrganizationRequest { name, slug, admin_email, plan, app_url } = request;
    let new = NewOrganization { name, slug, admin_email, plan: plan.unwrap_or_default(), app_url };
    let (org, invite) = operator.create_organization(new).await?;
    Ok(CreatedOrganizationData { org: (&org).into(), invite: (&invite).into() }.into())
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChangeOrganizationRequest {
    name: Option<DisplayName>,
    plan: Option<Plan>,
    #[serde(default, deserialize_with = "patch")]
    #[schema(value_type = Option<AppUrl>)]
    app_url: Patch<AppUrl>,
    status: Option<Status>,
    /// Null cancels the deletion of the organization, which stays suspended; no other value can be set.
    #[serde(default, rename = "deletesAt", deserialize_with = "null")]
    #[schema(schema_with = null_schema)]
    cancels_deletion: bool,
    /// Whether it may send as many invites as any other; one that sign-up made may not until this is true.
    trusted: Option<bool>,
}

fn null_schema() -> Schema {
    ObjectBuilder::new().schema_type(Type::Null).into()
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ManagedOrganizationData {
    org: ManagedOrganizationView,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OrganizationInFullData {
    org: ManagedOrganizationView,
    figures: OrganizationFiguresData,
    /// Who signed it up; null where an operator made it, or once the audit log keeps it no longer.
    created_by: Option<AuditActorView>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct OrganizationFiguresData {
    /// The suspended ones included.
    members: i64,
    active_admins: i64,
    /// At most 1,000.
    pending_invites: i64,
}

pub(crate) async fn get(operator: DeploymentAdmin, Path(slug): Path<Slug>) -> Outcome<OrganizationInFullData> {
    let org = operator.organization(&slug).await.map_err(of_named)?;
    let OrganizationFigures { members, active_admins, pending_invites, created_by } = operator.figures(&org).await?;
    let figures = OrganizationFiguresData { members, active_admins, pending_invites };
    Ok(OrganizationInFullData { org: (&org).into(), figures, created_by: created_by.map(Into::into) }.into())
}

pub(crate) async fn delete(operator: DeploymentAdmin, Path(slug): Path<Slug>) -> Outcome<ManagedOrganizationData> {
    let org = operator.delete_organization(&slug).await.map_err(of_named)?;
    Ok(ManagedOrganizationData { org: (&org).into() }.into())
}

pub(crate) async fn update(
    operator: DeploymentAdmin,
    (Path(slug), Json(request)): (Path<Slug>, Json<ChangeOrganizationRequest>),
) -> Outcome<ManagedOrganizationData> {
    let ChangeOrganizationRequest { name, plan, app_url, status, cancels_deletion, trusted: is_trusted } = request;
    let change = OrganizationChange { name, plan, app_url, status, cancels_deletion, is_trusted };
    let org = operator.change_organization(&slug, change).await.map_err(of_named)?;
    Ok(ManagedOrganizationData { org: (&org).into() }.into())
}

#[derive(Deserialize, ToSchema)]
pub(crate) struct InviteAdminRequest {
    email: Email,
}

pub(crate) async fn invite(
    operator: DeploymentAdmin,
    (Path(slug), Json(request)): (Path<Slug>, Json<InviteAdminRequest>),
) -> Outcome<InviteData> {
    Ok(InviteData::from(&operator.invite_admin(&slug, &request.email).await.map_err(of_named)?).into())
}

/// The organization that the path names is a resource, and its absence is
/// [`ErrorCode::NotFound`](crate::http::ErrorCode::NotFound); `unknown_organization` speaks of the one that the request is sent
/// to.
fn of_named(error: Error) -> Refusal {
    match error {
        Error::UnknownOrganization => Refusal::no_such_organization(),
        other => other.into(),
    }
}
