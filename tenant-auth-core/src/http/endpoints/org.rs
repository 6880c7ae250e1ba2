//! `/org`: the organization itself.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::org_admins::Insider;
use crate::{
    caller::OrgAdmin,
    http::{
        answer::Outcome,
        input::{Json, patch},
    },
    model::{Organization, Role},
    org::{OrganizationUpdate, Patch},
    value::{AppUrl, DisplayName, Origin},
    view::OrganizationView,
};

#[derive(Serialize, ToSchema)]
pub(crate) struct OrgData {
    org: OrganizationInside,
}

/// The organization; its allowed origins are an admin's business.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OrganizationView)]
struct OrganizationInside {
    #[serde(flatten)]
    organization: OrganizationView,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    allowed_origins: Option<Vec<Origin>>,
}

impl OrgData {
    fn seen_by(role: Role, organization: &Organization) -> Self {
        let allowed_origins = (role == Role::OrgAdmin).then(|| organization.allowed_origins.clone());
        Self { org: OrganizationInside { organization: organization.into(), allowed_origins } }
    }
}

pub(crate) async fn get(insider: Insider, (): ()) -> Outcome<OrgData> {
    Ok(OrgData::seen_by(insider.role(), insider.organization()).into())
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UpdateOrgRequest {
    name: Option<DisplayName>,
    #[serde(default, deserialize_with = "patch")]
    #[schema(value_type = Option<AppUrl>)]
    app_url: Patch<AppUrl>,
    #[serde(default, deserialize_with = "patch")]
    #[schema(value_type = Option<Vec<Origin>>, max_items = 50)]
    allowed_origins: Patch<Vec<Origin>>,
}

pub(crate) async fn update(admin: OrgAdmin, Json(request): Json<UpdateOrgRequest>) -> Outcome<OrgData> {
    let UpdateOrgRequest { name, app_url, allowed_origins } = request;
    let org = admin.update_organization(OrganizationUpdate { name, app_url, allowed_origins }).await?;
    Ok(OrgData::seen_by(Role::OrgAdmin, &org).into())
}
