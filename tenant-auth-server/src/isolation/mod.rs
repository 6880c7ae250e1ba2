//! The isolation check: a proof by trying, for auditors, that nothing of one organization is reached with another's credentials. Every
//! operation of a deployment is asked with every credential of each organization against the other; the answers become a report.
//!
//! What must stay true: where the deployment is sound the check changes nothing, and where there is a hole it finds it without
//! making use of it. So nothing is sent that would change something if it were carried out, unless the caller allows it
//! (`plan.rs`).

mod ask;
mod attempts;
mod belongings;
mod credentials;
mod judge;
mod operations;
mod plan;
mod report;
mod side;

pub(crate) use credentials::Credentials;
pub(crate) use report::{Report, Verdict};

use tenant_auth_core::ports::{Clock, SystemClock};
use url::Url;

use crate::failure::Failure;
use ask::Service;
use attempts::Attempts;
use side::Side;

/// Where to check, and how far to go.
pub(crate) struct Aim {
    /// The service's URL, with or without its base path.
    pub(crate) url: Url,
    /// Whether to send what would destroy something if there were a hole.
    pub(crate) at_risk: bool,
}

/// Checks two organizations against each other, in both directions.
///
/// # Errors
/// [`Failure::Unchecked`] when the service does not answer or a credential is not good.
pub(crate) async fn check(aim: &Aim, a: Credentials, b: Credentials) -> Result<Report, Failure> {
    let service = Service::at(&aim.url)?;
    let operations = operations::of(&service).await?;
    let a = Side::enter(&service, a).await?;
    let b = match Side::enter(&service, b).await {
        Ok(b) => b,
        Err(failure) => {
            a.leave(&service).await;
            return Err(failure);
        }
    };
    let checked = tried(&service, aim, &operations, [&a, &b]).await;
    a.leave(&service).await;
    b.leave(&service).await;
    let (attempts, wanting) = checked?;
    let (url, at, orgs) = (service.base(), SystemClock.now(), [a.slug.clone(), b.slug.clone()]);
    Ok(Report::of(report::Checked { url, at, orgs, wanting, operations: &operations, attempts }))
}

async fn tried<'a>(
    service: &'a Service,
    aim: &'a Aim,
    operations: &'a operations::Operations,
    [a, b]: [&'a Side; 2],
) -> Result<(Attempts<'a>, Vec<String>), Failure> {
    let (of_a, of_b) = (belongings::of(service, a).await?, belongings::of(service, b).await?);
    let (of_a, of_b) = (of_a.beyond(&of_b), of_b.beyond(&of_a));
    let mut attempts = Attempts::new(service, operations, aim.at_risk);
    attempts.make(a, b, &of_b).await;
    attempts.make(b, a, &of_a).await;
    let wanting = [(a, of_a), (b, of_b)]
        .into_iter()
        .flat_map(|(side, has)| has.wanting().into_iter().map(|kind| format!("{}: no {kind}", side.slug)).collect::<Vec<_>>());
    Ok((attempts, wanting.collect()))
}
