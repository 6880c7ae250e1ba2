//! `/admin/organizations`: the deployment's organizations, for its operators.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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
        input::{Json, Path, patch},
        listing::Listing,
        openapi::CallerFacts,
        refusal::Refusal,
        route::Caller,
    },
    model::Status,
    operator::{DeploymentAdmin, NewOrganization, OrganizationChange},
    org::Patch,
    page::Page,
    value::{AppUrl, DisplayName, Email, Plan, Slug},
    view::{InviteView, OrganizationView},
};

impl Caller for DeploymentAdmin {
    const FACTS: CallerFacts = CallerFacts { who: "an operator of the deployment", seen_from: false, ..Member::FACTS };
    const MAY: &'static [&'static [ErrorCode]] = &[TENANT, SESSION, &[ErrorCode::OperatorRequired]];
    async fn identify(context: &Context) -> Result<Self, Refusal> {
        Ok(Member::identify(context).await?.into_deployment_admin().await?)
    }
}

pub(crate) async fn list(operator: DeploymentAdmin, page: Page) -> Outcome<Listing<OrganizationView>> {
    Ok(operator.organizations(&page).await?.into())
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
    org: OrganizationView,
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
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ChangedOrganizationData {
    org: OrganizationView,
}

pub(crate) async fn update(
    operator: DeploymentAdmin,
    (Path(slug), Json(request)): (Path<Slug>, Json<ChangeOrganizationRequest>),
) -> Outcome<ChangedOrganizationData> {
    let ChangeOrganizationRequest { name, plan, app_url, status } = request;
    let org = operator.change_organization(&slug, OrganizationChange { name, plan, app_url, status }).await.map_err(of_named)?;
    Ok(ChangedOrganizationData { org: (&org).into() }.into())
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
