//! Importing an organization from the sealed file of another deployment: all of it or nothing, in one transaction. The file is
//! untrusted input, whoever made it: each value goes through the parser that a request's would, people are users and no operators, and
//! no address counts as verified unless the operator vouches for the source. Whoever reads the refusals learns every clash at once.

mod arrival;
mod chain;
mod checks;
mod log;
mod outcome;
mod parts;
mod people;
mod reader;

use tokio::io::AsyncRead;

use super::record::{FORMAT, Head, OrganizationRecord, PROBE, Record};
use crate::{
    bounded::QueueShare,
    operator::Operator,
    ports::Verdict,
    secret::{Password, StoredPassword},
    store::is_orphan,
};
use arrival::{Arrival, DELETED_MEANWHILE, Peppers};
use checks::{expect_native, printable};
use outcome::refused;
pub use outcome::{ExistingAccounts, ImportedOrganization, OrganizationImport, OrganizationImportError, OrganizationImportStep};
use reader::RecordReader;

/// A deployment has at most so many peppers beside the one that hashes.
const MOST_FORMER_PROBES: usize = 3;

impl Operator {
    /// Imports an organization from a file of [`Self::export_organization`]. People log in with the passwords and authenticators they
    /// have, ids and API keys stay, webhooks arrive disabled with their secrets, pending invites are mailed anew with new links, sessions stay behind. The
    /// audit log goes on where the source's ended.
    ///
    /// # Errors
    /// [`OrganizationImportError`]; nothing is changed then.
    pub async fn import_organization(
        &self,
        source: impl AsyncRead + Unpin + Send,
        import: &OrganizationImport,
        tell: &mut (dyn FnMut(OrganizationImportStep) + Send),
    ) -> Result<ImportedOrganization, OrganizationImportError> {
        match self.take_in_organization(source, import, tell).await {
            Err(OrganizationImportError::Service(error)) if is_orphan(&error) => Err(refused(DELETED_MEANWHILE)),
            outcome => outcome,
        }
    }

    async fn take_in_organization(
        &self,
        source: impl AsyncRead + Unpin + Send,
        import: &OrganizationImport,
        tell: &mut (dyn FnMut(OrganizationImportStep) + Send),
    ) -> Result<ImportedOrganization, OrganizationImportError> {
        // Otherwise a file could make anybody here a member unasked.
        if import.existing == ExistingAccounts::Join && !import.trust {
            return Err(refused("--existing join needs --trust: only a source that somebody vouches for makes accounts members"));
        }
        let mut reader = RecordReader::open(source, &import.key).await?;
        let head = expect_head(reader.next().await?)?;
        let record = expect_organization(reader.next().await?)?;
        let peppers = self.peppers_of(&head, &record).await?;
        let tx = self.auth.begin().await?;
        let mut arrival = Arrival::begin(self, tx, import, record, peppers).await?;
        loop {
            match reader.next().await? {
                Some(Record::Member(member)) => {
                    arrival.member(*member).await?;
                    tell(OrganizationImportStep { members: arrival.seen.members, bytes: reader.at() });
                }
                Some(Record::Invite(invite)) => arrival.invite(invite),
                Some(Record::ApiKey(key)) => arrival.api_key(key).await?,
                Some(Record::Webhook(webhook)) => arrival.webhook(webhook).await?,
                Some(Record::Entry(entry)) => arrival.entry(*entry).await?,
                Some(Record::End(end)) => {
                    arrival.expect_whole(end);
                    break;
                }
                Some(Record::Head(_) | Record::Organization(_)) => return Err(refused("the file holds two organizations")),
                None => return Err(refused("the file has no end")),
            }
        }
        if reader.next().await?.is_some() {
            return Err(refused("the file goes on after its end"));
        }
        let mut done = arrival.finish().await?;
        done.source_lives = !head.is_closed;
        Ok(done)
    }

    /// Which of the source's peppers are ours: with none of ours the probe's password has the probe's hash.
    async fn peppers_of(&self, head: &Head, record: &OrganizationRecord) -> Result<Peppers, OrganizationImportError> {
        let probe =
            head.probe.as_deref().ok_or_else(|| refused("the file was made for people to read: it holds no credentials"))?;
        if head.former_probes.len() > MOST_FORMER_PROBES {
            return Err(refused("head: it holds more probes than there may be peppers"));
        }
        let share = QueueShare::new(&record.id, None);
        let mut peppers = Peppers::default();
        for (at, probe) in [probe].into_iter().chain(head.former_probes.iter().map(String::as_str)).enumerate() {
            expect_native(probe).map_err(|reason| refused(&reason))?;
            let verdict = self.auth.hasher().verify(&Password::new(PROBE), Some(&StoredPassword::new(probe)), &share).await?;
            match verdict {
                Verdict::Mismatch => _ = peppers.missing.get_or_insert(at + 1),
                _ => peppers.has_one = true,
            }
        }
        Ok(peppers)
    }
}

fn expect_head(record: Option<Record>) -> Result<Head, OrganizationImportError> {
    match record {
        Some(Record::Head(head)) if head.format == FORMAT => Ok(head),
        Some(Record::Head(head)) => {
            Err(refused(&format!("the file has another format than {FORMAT}: {}", printable(&head.format))))
        }
        _ => Err(refused("the file does not begin with a head")),
    }
}

fn expect_organization(record: Option<Record>) -> Result<OrganizationRecord, OrganizationImportError> {
    match record {
        Some(Record::Organization(organization)) => Ok(organization),
        _ => Err(refused("the file names no organization")),
    }
}
