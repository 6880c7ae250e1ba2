//! Whose audit log is exported: an organization's, or the deployment's own. Both are chains of the same entries, kept in tables of their
//! own.

use super::{chain::DEPLOYMENT, format::ImportedPart};
use crate::{
    error::Error,
    id::OrgId,
    model::EventKind,
    store::{ExportedEntry, Reader, Tx},
    time::Timestamp,
};

/// A log.
#[derive(Debug, Clone)]
pub(super) enum Log {
    Organization(OrgId),
    Deployment,
}

/// How far a log goes.
pub(super) struct Extent {
    /// The number of the first entry that is kept.
    pub(super) first: i64,
    /// The hash before it; `None` at the beginning.
    pub(super) previous: Option<String>,
    /// The number of the last entry.
    pub(super) last: i64,
}

impl Log {
    /// What stands in the place of the organization's id: the word whose hash is the first one.
    pub(super) fn word(&self) -> &str {
        match self {
            Self::Organization(org) => org.as_str(),
            Self::Deployment => DEPLOYMENT,
        }
    }

    /// How far the log goes; the transaction holds what would move it.
    pub(super) async fn extent(&self, tx: &mut Tx) -> Result<Extent, Error> {
        match self {
            Self::Organization(org) => {
                let chain = tx.exports().chain(org).await?.ok_or(Error::UnknownOrganization)?;
                Ok(Extent { first: chain.first_sequence, previous: chain.first_previous, last: chain.chained })
            }
            Self::Deployment => {
                let head = tx.deployment_log().hold().await?;
                Ok(Extent { first: 1, previous: None, last: head.sequence })
            }
        }
    }

    /// The number of the first entry of this time or later; one beyond the last where there is none.
    pub(super) async fn first_since(&self, tx: &mut Tx, time: Timestamp) -> Result<i64, Error> {
        match self {
            Self::Organization(org) => tx.audit().first_since(org, time).await,
            Self::Deployment => Ok(tx.deployment_log().first_since(time).await?.unwrap_or(i64::MAX)),
        }
    }

    pub(super) async fn hash_of(&self, tx: &mut Tx, sequence: i64) -> Result<Option<String>, Error> {
        match self {
            Self::Organization(org) => tx.audit().hash_of(org, sequence).await,
            Self::Deployment => tx.deployment_log().hash_of(sequence).await,
        }
    }

    /// The parts that came from another deployment and reach a file that begins with this number. All of them are read, however many there
    /// are: the last one is this deployment's own word, and those before it stood in the file of the import, which anybody may have written.
    pub(super) async fn imported(&self, tx: &mut Tx, first: i64) -> Result<Vec<ImportedPart>, Error> {
        let Self::Organization(org) = self else { return Ok(Vec::new()) };
        let (mut parts, mut after) = (Vec::new(), 0);
        loop {
            let events = tx.erasing().of_kind_after(org, EventKind::OrgImported, after).await?;
            let Some(last) = events.last() else { return Ok(parts) };
            after = last.sequence;
            for event in &events {
                let part = ImportedPart::told(&event.data).map_err(Error::internal)?;
                if part.last_sequence >= first {
                    parts.push(part);
                }
            }
        }
    }

    pub(super) async fn entries(&self, reader: &mut Reader, after: i64, limit: i64) -> Result<Vec<ExportedEntry>, Error> {
        match self {
            Self::Organization(org) => reader.exports().entries(org, after, limit).await,
            Self::Deployment => reader.deployment_log().entries(after, limit).await,
        }
    }

    /// Whether somebody was erased after the entry with this number. The deployment's log holds nothing that is erased.
    pub(super) async fn erased_since(&self, reader: &mut Reader, moment: i64) -> Result<bool, Error> {
        let Self::Organization(org) = self else { return Ok(false) };
        Ok(!reader.erasing().of_kind_after(org, EventKind::UserDeleted, moment).await?.is_empty())
    }
}

#[cfg(all(test, feature = "testing", feature = "sqlite"))]
mod tests {
    use super::*;
    use crate::{
        event::ImportData,
        store::{Actor, Event},
        testing::TestAuth,
    };

    #[tokio::test]
    async fn the_last_part_is_stated_however_many_there_are() {
        let test = TestAuth::new().await;
        let org = test.org.organization();
        let mut tx = test.auth.begin().await.expect("a transaction");
        for last_sequence in 1..=501 {
            let data = ImportData { members: 0, entries: 1, last_sequence, head: String::new() };
            tx.push(Event::new(EventKind::OrgImported, org, Actor::System, &data).expect("an event"));
        }
        tx.commit().await.expect("a commit");
        let mut tx = test.auth.begin().await.expect("a transaction");
        let parts = Log::Organization(org.id.clone()).imported(&mut tx, 1).await.expect("the parts");
        assert_eq!((parts.len(), parts.last().map(|part| part.last_sequence)), (501, Some(501)));
    }
}
