//! `/admin/figures`: the deployment in figures, for its operators.

use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    http::answer::Outcome,
    model::{DayFigures, DeploymentFigures},
    operator::DeploymentAdmin,
};

#[derive(Serialize, ToSchema)]
pub(crate) struct FiguresData {
    organizations: OrganizationsInFiguresData,
    /// How many people have an account.
    accounts: i64,
    /// How many memberships those have, the suspended ones included.
    members: i64,
    /// The last 30 days, today last; one on which nothing happened is there, too.
    days: Vec<DayFiguresData>,
}

#[derive(Serialize, ToSchema)]
struct OrganizationsInFiguresData {
    active: i64,
    /// Those that are to stay.
    suspended: i64,
    /// Those that are suspended and to be deleted.
    deleting: i64,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DayFiguresData {
    /// A day in UTC.
    #[schema(format = Date, example = "2026-11-24")]
    day: String,
    /// How many sessions were opened.
    sign_ins: i64,
    /// How many people joined an organization.
    joined: i64,
    /// How many organizations were made that are still there.
    organizations: i64,
}

pub(crate) async fn get(operator: DeploymentAdmin, (): ()) -> Outcome<FiguresData> {
    let figures = operator.deployment_figures().await?;
    let DeploymentFigures { active_organizations, suspended_organizations, deleting_organizations, accounts, members, days } =
        figures;
    let organizations = OrganizationsInFiguresData {
        active: active_organizations,
        suspended: suspended_organizations,
        deleting: deleting_organizations,
    };
    let day = |DayFigures { day, sign_ins, joined, organizations }| DayFiguresData {
        day: day.to_iso().chars().take(10).collect(),
        sign_ins,
        joined,
        organizations,
    };
    Ok(FiguresData { organizations, accounts, members, days: days.into_iter().map(day).collect() }.into())
}
