//! The deployment in figures: what there is, and what happened on each of the last thirty days. Counts only, and never who.

use super::{DeploymentAdmin, Operator};
use crate::{
    error::Error,
    model::{DayFigures, DeploymentFigures, EventKind},
    service::TenantAuth,
    store::{DAYS_SHOWN, DayTally},
    time::Timestamp,
};

impl Operator {
    /// The deployment in figures, of the last thirty days (UTC).
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn figures(&self) -> Result<DeploymentFigures, Error> {
        figures(&self.auth).await
    }
}

impl DeploymentAdmin {
    /// The same as [`Operator::figures`]; a deployment key is told of the operators' own organization in these sums, too.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn deployment_figures(&self) -> Result<DeploymentFigures, Error> {
        figures(self.auth()).await
    }
}

async fn figures(auth: &TenantAuth) -> Result<DeploymentFigures, Error> {
    let today = auth.now().day();
    let first = today - DAYS_SHOWN + 1;
    let mut reader = auth.store().read().await?;
    let tallies = reader.tallies().since(first).await?;
    let totals = reader.tallies().totals().await?;
    Ok(DeploymentFigures {
        active_organizations: totals.active,
        suspended_organizations: totals.suspended,
        deleting_organizations: totals.deleting,
        accounts: totals.accounts,
        members: totals.members,
        days: (first..=today).map(|day| figures_of(day, &tallies)).collect(),
    })
}

fn figures_of(day: i64, tallies: &[DayTally]) -> DayFigures {
    let amount = |kind: EventKind| {
        let found = tallies.iter().find(|tally| tally.day == day && tally.kind == kind.as_str());
        found.map_or(0, |tally| tally.amount)
    };
    DayFigures {
        day: Timestamp::of_day(day),
        sign_ins: amount(EventKind::SessionCreated),
        joined: amount(EventKind::MemberJoined),
        organizations: amount(EventKind::OrgCreated),
    }
}
