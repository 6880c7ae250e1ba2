//! Exporting an audit log, an organization's or the deployment's own, as a file that can be verified without the service. The file is of one moment: what is
//! in it is decided when the export begins, by the chain's last entry then. It is read page by page while it is written, so that a slow
//! receiver holds no transaction; entries never change, and an erasure in between, which tells of itself, ends the export.

use std::time::Duration;

use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    time::timeout,
};

use super::{
    chain::Hash,
    claim::Claim,
    format::{FORMAT, Header, Last, Lines},
    source::{Extent, Log},
};
use crate::{
    audit_keys,
    caller::OrgAdmin,
    error::{Error, InvalidValue},
    event::AuditExportedData,
    model::EventKind,
    service::TenantAuth,
    store::{Actor, DeploymentDeed, ExportedEntry, Tx},
    throttle::AUDIT_EXPORTS,
    time::Timestamp,
};

/// How many entries are read at once.
const PAGE: i64 = 32;
/// How many bytes are written at once.
const CHUNK: usize = 64 * 1024;
/// How long a receiver may take for [`CHUNK`] bytes, and for all of it, where an admin asked.
const STALL: Duration = Duration::from_secs(30);
const LONGEST: Duration = Duration::from_secs(3_600);

/// The entries that are wanted, by their times.
#[derive(Debug, Clone, Copy, Default)]
pub struct AuditRange {
    /// The first time; `None`: from the oldest entry that is kept.
    pub from: Option<Timestamp>,
    /// The time before which they lie; `None`: to the newest.
    pub to: Option<Timestamp>,
}

/// An export that has begun: what is in the file is decided, and [`AuditExport::write`] writes it.
pub struct AuditExport {
    auth: TenantAuth,
    log: Log,
    header: Header,
    lines: Lines,
    /// The number before the first entry.
    after: i64,
    /// The number of the last one.
    last: i64,
    /// The number of the chain's last entry when the export began.
    moment: i64,
    claim: Option<Claim>,
}

/// Why an export has no end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditExportError {
    /// The service failed.
    #[error(transparent)]
    Service(#[from] Error),
    /// The log is not what it was when the export began, and the file has no way to tell.
    #[error("The audit log cannot be exported: {0}")]
    Changed(String),
    /// The file cannot be written to where it should go.
    #[error("The audit log cannot be written: {0}")]
    Unwritable(#[from] std::io::Error),
}

impl OrgAdmin {
    /// Begins an export of the organization's audit log: one at a time in an organization, and 24 in 24 hours; those of the process
    /// itself are not counted, and run beside others. The log tells of it.
    ///
    /// # Errors
    /// [`Error::RateLimited`]; [`Error::Invalid`] for an end before the beginning; those of a right that was lost.
    pub async fn export_audit(&self, range: AuditRange) -> Result<AuditExport, Error> {
        AUDIT_EXPORTS.refuse_spent_in_organization(self).await?;
        let mut write = self.begin_write().await?;
        AUDIT_EXPORTS.spend_in_organization(&mut write, 1).await?;
        let claim = if self.is_process() { None } else { Some(Claim::take(&mut write.tx, self.auth(), self.org_id()).await?) };
        let export = AuditExport::begin(self.auth(), &mut write.tx, Log::Organization(self.org_id().clone()), range).await?;
        write.push(EventKind::AuditExported, &export.told())?;
        write.commit().await?;
        Ok(AuditExport { claim, ..export })
    }
}

impl AuditExport {
    /// Begins the export of the deployment's own log, which tells of it.
    pub(crate) async fn of_deployment(auth: &TenantAuth, range: AuditRange) -> Result<Self, Error> {
        let mut tx = auth.begin().await?;
        let export = Self::begin(auth, &mut tx, Log::Deployment, range).await?;
        tx.record(Actor::System, DeploymentDeed::Exported(export.told()));
        tx.commit().await?;
        Ok(export)
    }

    async fn begin(auth: &TenantAuth, tx: &mut Tx, log: Log, range: AuditRange) -> Result<Self, Error> {
        if range.from.zip(range.to).is_some_and(|(from, to)| to < from) {
            return Err(InvalidValue::RangeReversed.into());
        }
        let Extent { first: oldest, previous: before, last } = log.extent(tx).await?;
        let end = last + 1;
        let first = match range.from {
            Some(from) => log.first_since(tx, from).await?.clamp(oldest, end),
            None => oldest,
        };
        let end = match range.to {
            Some(to) => log.first_since(tx, to).await?.clamp(first, end),
            None => end,
        };
        let previous = if first == oldest {
            before.unwrap_or_else(|| Hash::beginning(log.word()).to_string())
        } else {
            log.hash_of(tx, first - 1).await?.ok_or_else(|| {
                let missing = first - 1;
                Error::internal(format!(
                    "the audit log cannot be exported: entry {missing}, on which the range rests, is missing in the database"
                ))
            })?
        };
        let header = Header {
            format: FORMAT.to_owned(),
            org: log.word().to_owned(),
            from: range.from,
            to: range.to,
            previous,
            imported: log.imported(tx, first).await?,
            jws: None,
        };
        // A verifier takes an end that is later than the signature for one that cuts nothing off. Where another server's clock is ahead,
        // and entries of after that end are there already, the end has come, and the signature says so.
        let now = tx.now();
        let signed_at = range.to.filter(|_| end <= last).map_or(now, |to| to.max(now));
        let lines = Lines::new(audit_keys::active(tx).await?, signed_at);
        Ok(Self { auth: auth.clone(), log, header, lines, after: first - 1, last: end - 1, moment: last, claim: None })
    }

    /// The runtime on which the service was built.
    #[cfg(feature = "http")]
    pub(crate) fn runtime(&self) -> &tokio::runtime::Handle {
        self.auth.runtime()
    }

    /// How many entries the file has.
    pub fn entries(&self) -> u64 {
        u64::try_from(self.last - self.after).unwrap_or_default()
    }

    fn told(&self) -> AuditExportedData {
        AuditExportedData { from: self.header.from, to: self.header.to, entries: self.entries() }
    }

    /// Writes the file to `sink` and flushes it. When it fails, what was written is no whole file: its last line is missing.
    ///
    /// # Errors
    /// [`AuditExportError`].
    pub async fn write(mut self, sink: impl AsyncWrite + Unpin + Send) -> Result<u64, AuditExportError> {
        let claim = self.claim.take();
        let limit = if claim.is_some() { LONGEST } else { Duration::MAX };
        let mut receiver = Receiver { sink, claim: claim.as_ref(), auth: self.auth.clone() };
        let written = timeout(limit, self.write_to(&mut receiver)).await.unwrap_or_else(|_| Err(late()));
        if let Some(claim) = &claim
            && let Err(error) = claim.release(&self.auth).await
        {
            tracing::warn!(error = %error.causes(), "the claim of an audit export lapses in two minutes");
        }
        written
    }

    async fn write_to<W: AsyncWrite + Unpin>(&mut self, receiver: &mut Receiver<'_, W>) -> Result<u64, AuditExportError> {
        let count = self.entries();
        let mut head = self.header.previous.clone();
        self.lines.header(self.header.clone())?;
        while self.after < self.last {
            for entry in self.page().await? {
                head.clone_from(&entry.hash);
                self.lines.entry(&entry, self.log.word())?;
                if self.lines.waiting.len() >= CHUNK {
                    receiver.take(&mut self.lines.waiting).await?;
                }
            }
        }
        self.lines.last(Last { count, head, jws: None })?;
        receiver.take(&mut self.lines.waiting).await?;
        receiver.sink.flush().await?;
        Ok(count)
    }

    /// The next entries, as they were when the export began.
    async fn page(&mut self) -> Result<Vec<ExportedEntry>, AuditExportError> {
        let mut reader = self.auth.store().read().await?;
        let page = self.log.entries(&mut reader, self.after, PAGE.min(self.last - self.after)).await?;
        let there = page.iter().zip(self.after + 1..).take_while(|(entry, sequence)| entry.sequence == *sequence).count();
        if page.is_empty() || there < page.len() {
            let missing = self.after + 1 + i64::try_from(there).unwrap_or_default();
            return Err(AuditExportError::Changed(format!(
                "entry {missing} is missing. If its retention ended just now, export again; if it stays so, somebody removed it from the database"
            )));
        }
        // After the page was read: what was erased in it was told before.
        if self.log.erased_since(&mut reader, self.moment).await? {
            return Err(AuditExportError::Changed("somebody was erased meanwhile. Export again".to_owned()));
        }
        self.after += i64::try_from(page.len()).unwrap_or_default();
        Ok(page)
    }
}

fn late() -> AuditExportError {
    Error::unavailable("the audit log was not read in time").into()
}

/// Who takes the file.
struct Receiver<'a, W> {
    sink: W,
    claim: Option<&'a Claim>,
    auth: TenantAuth,
}

impl<W: AsyncWrite + Unpin> Receiver<'_, W> {
    async fn take(&mut self, bytes: &mut Vec<u8>) -> Result<(), AuditExportError> {
        match self.claim {
            Some(claim) => {
                for chunk in bytes.chunks(CHUNK) {
                    timeout(STALL, self.sink.write_all(chunk)).await.map_err(|_| late())??;
                    claim.renew_if_due(&self.auth).await?;
                }
            }
            None => self.sink.write_all(bytes).await?,
        }
        bytes.clear();
        Ok(())
    }
}

/// Without the lines, which are personal.
impl std::fmt::Debug for AuditExport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AuditExport").field("log", &self.log).field("entries", &self.entries()).finish_non_exhaustive()
    }
}
