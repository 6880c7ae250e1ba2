//! `/admin/organizations`: the deployment's organizations, for its operators.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::invites::InviteData;
use crate::{
    caller::Member,
    http::{
        answer::Outcome,
        codes::{self, Code},
        context::Context,
        input::{Json, Path, patch},
        openapi::CallerFacts,
        refusal::Refusal,
        route::Caller,
    },
    model::{InviteSummary, Organization, Status},
    operator::{DeploymentAdmin, NewOrganization, OrganizationChange},
    org::Patch,
    page::Page,
    value::{AppUrl, DisplayName, Email, Plan, Slug},
};

impl Caller for DeploymentAdmin {
    const FACTS: CallerFacts = CallerFacts { who: "an operator of the deployment", seen_from: false, ..Member::FACTS };
    const MAY: &'static [Code] = &[
        codes::INVALID_SLUG,
        codes::UNKNOWN_ORGANIZATION,
        codes::FORBIDDEN_ORIGIN,
        codes::INVALID_REQUEST,
        codes::SESSION_REQUIRED,
        codes::WRONG_ORGANIZATION,
        codes::SUSPENDED,
        codes::OPERATOR_REQUIRED,
    ];
    async fn identify(context: &Context) -> Result<Self, Refusal> {
        Ok(Member::identify(context).await?.into_deployment_admin().await?)
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OrganizationsData {
    organizations: Vec<Organization>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    next_cursor: Option<String>,
}

pub(crate) async fn list(operator: DeploymentAdmin, page: Page) -> Outcome<OrganizationsData> {
    let list = operator.organizations(&page).await?;
    Ok(OrganizationsData { organizations: list.items, next_cursor: list.next_cursor }.into())
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
    org: Organization,
    invite: InviteSummary,
}

pub(crate) async fn create(
    operator: DeploymentAdmin,
    Json(request): Json<CreateOrganizationRequest>,
) -> Outcome<CreatedOrganizationData> {
    let CreateOrganizationRequest { name, slug, admin_email, plan, app_url } = request;
    let new = NewOrganization { name, slug, admin_email, plan: plan.unwrap_or_default(), app_url };
    let (org, invite) = operator.create_organization(new).await?;
    Ok(CreatedOrganizationData { org, invite }.into())
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
    org: Organization,
}

pub(crate) async fn update(
    operator: DeploymentAdmin,
    (Path(slug), Json(request)): (Path<Slug>, Json<ChangeOrganizationRequest>),
) -> Outcome<ChangedOrganizationData> {
    let ChangeOrganizationRequest { name, plan, app_url, status } = request;
    let org = operator.change_organization(&slug, OrganizationChange { name, plan, app_url, status }).await?;
    Ok(ChangedOrganizationData { org }.into())
}

#[derive(Deserialize, ToSchema)]
pub(crate) struct InviteAdminRequest {
    email: Email,
}

pub(crate) async fn invite(
    operator: DeploymentAdmin,
    (Path(slug), Json(request)): (Path<Slug>, Json<InviteAdminRequest>),
) -> Outcome<InviteData> {
    Ok(InviteData::from(operator.invite_admin(&slug, &request.email).await?).into())
}
