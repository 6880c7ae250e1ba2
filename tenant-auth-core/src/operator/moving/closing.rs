//! Closing an organization with its export: a transaction that holds the organization and the end of its audit log from before the
//! file's moment, and that suspends it once the file is written. So the file is good only where the suspension was committed after it, and
//! a program that dies before leaves the organization as it was.

use std::{pin::pin, time::Duration};

use crate::{
    error::Error,
    event::{EventKind, ExportData},
    model::{Organization, Status},
    operator::{Operator, OrganizationChange},
    store::{Actor, Event, Tx},
    value::Slug,
};

/// How often a closing asks something while it waits: more than once in the ten seconds after which PostgreSQL ends it.
const STAYS: Duration = Duration::from_secs(3);

/// An organization that will be closed.
pub(super) struct Closing {
    tx: Tx,
    org: Organization,
}

impl Closing {
    /// Holds the organization and its log: whoever would change something that its events tell waits.
    ///
    /// # Errors
    /// [`Error::UnknownOrganization`], [`Error::OperatorOrganization`].
    pub(super) async fn begin(operator: &Operator, slug: &Slug) -> Result<Self, Error> {
        if operator.auth.config().organizations.operator_org.as_ref() == Some(slug) {
            return Err(Error::OperatorOrganization);
        }
        let (mut tx, org) = operator.begin_in(slug).await?;
        tx.exports().hold_chain(&org.id).await?;
        Ok(Self { tx, org })
    }

    /// Keeps the transaction: PostgreSQL ends one in which nothing is asked for a while.
    pub(super) async fn stay(&mut self) -> Result<(), Error> {
        self.tx.organizations().find(&self.org.id).await.map(drop)
    }

    /// The same, while something goes on that may take long: a disk that is slow to take the end of a file.
    pub(super) async fn stay_while<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Error> {
        let mut work = pin!(work);
        loop {
            if let Ok(done) = tokio::time::timeout(STAYS, &mut work).await {
                return Ok(done);
            }
            self.stay().await?;
        }
    }

    /// Suspends the organization, and tells of its export.
    pub(super) async fn commit(self, operator: &Operator, data: &ExportData) -> Result<(), Error> {
        let Self { mut tx, org } = self;
        tx.push(Event::new(EventKind::OrgExported, &org, Actor::System, data)?);
        if org.status == Status::Suspended {
            return tx.commit().await;
        }
        let change = OrganizationChange { status: Some(Status::Suspended), ..OrganizationChange::default() };
        operator.auth.ending(operator.write(tx).change(org, change)).await.map(drop)
    }
}
