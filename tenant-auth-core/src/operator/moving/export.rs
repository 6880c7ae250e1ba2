//! Exporting an organization. There are two files: the portable one, which its people may be given and which opens nothing, and the
//! sealed one, which another deployment imports. What is in a file is of one moment, and it is written as it is read, so that memory
//! does not grow with the organization.

use tokio::io::AsyncWrite;
use zeroize::Zeroizing;

use super::{
    closing::Closing,
    entry::EntryRecord,
    exported::{ExportError, ExportStep, Exported, SealedExport},
    opening::{credentials, secrets},
    record::{ApiKeyRecord, End, FORMAT, Head, InviteRecord, MemberRecord, OrganizationRecord, PROBE, Record, WebhookRecord},
    sealed_file::SealedWriter,
    sink::Sink,
};
use crate::{
    bounded::QueueShare,
    error::Error,
    event::{EventKind, ExportData, ExportedCredentials},
    model::{Organization, SortOrder, Status},
    operator::Operator,
    page::{Bounds, Listed},
    secret::Password,
    store::{Actor, Event, Tx},
    value::Slug,
};

/// How many rows are read at once.
const PAGE: i64 = 500;

impl Operator {
    /// Writes what an organization's people may be given of it to `sink`, one JSON object a line, and flushes it. When it fails, what was
    /// written is no whole export: its last line is missing. The organization's events tell of an export that succeeded.
    ///
    /// # Errors
    /// [`ExportError`]; [`Error::UnknownOrganization`].
    pub async fn export_portable(
        &self,
        slug: &Slug,
        sink: impl AsyncWrite + Unpin + Send,
        tell: &mut (dyn FnMut(ExportStep) + Send),
    ) -> Result<Exported, ExportError> {
        let snapshot = self.snapshot(slug).await?;
        self.export(snapshot, Sink::Plain(sink), None, tell).await
    }

    /// Writes a whole organization to `sink`, sealed, for [`Self::import_organization`] of another deployment, and flushes it. Suspend
    /// the organization before or close it by the same call, so that nothing changes here that the file does not hold. Its events tell
    /// of an export that succeeded. Closed is the organization only once the flush has ended: an error leaves it as it was, but for
    /// [`ExportError::Unsettled`].
    ///
    /// # Errors
    /// [`ExportError`]; [`Error::UnknownOrganization`]; [`Error::OperatorOrganization`] where the operators' own should be closed.
    pub async fn export_organization(
        &self,
        slug: &Slug,
        sink: impl AsyncWrite + Unpin + Send,
        how: &SealedExport,
        tell: &mut (dyn FnMut(ExportStep) + Send),
    ) -> Result<Exported, ExportError> {
        if how.close && self.auth.store().most_connections() < 2 {
            return Err(ExportError::TooFewConnections);
        }
        let share = QueueShare::new(&self.auth.tenant(slug).await?.org.id, None);
        let probes = self.auth.hasher().hash_with_each(&Password::new(PROBE), &share).await?;
        let closing = if how.close { Some(Closing::begin(self, slug).await?) } else { None };
        let snapshot = self.snapshot(slug).await?;
        let sink = Sink::Sealed(SealedWriter::begin(sink, &how.key, self.auth.entropy()).await?);
        let probes = probes.iter().map(|probe| probe.as_str().to_owned()).collect();
        let opening = Opening { probes, all_credentials: how.all_credentials, closing };
        self.export(snapshot, sink, Some(opening), tell).await
    }

    async fn snapshot(&self, slug: &Slug) -> Result<Snapshot, ExportError> {
        let known = self.auth.tenant(slug).await?.org;
        let mut tx = self.auth.transactions().begin_snapshot().await?;
        let org = tx.organizations().find(&known.id).await?.ok_or(Error::UnknownOrganization)?;
        Ok(Snapshot { tx, org })
    }

    async fn export<W: AsyncWrite + Unpin + Send>(
        &self,
        Snapshot { tx, org }: Snapshot,
        sink: Sink<W>,
        opening: Option<Opening>,
        tell: &mut (dyn FnMut(ExportStep) + Send),
    ) -> Result<Exported, ExportError> {
        let (slug, is_portable) = (org.slug.clone(), opening.is_none());
        let credentials = match &opening {
            None => ExportedCredentials::None,
            Some(opening) if opening.all_credentials => ExportedCredentials::All,
            Some(_) => ExportedCredentials::Own,
        };
        let mut export = Export { tx, sink, org, opening, line: Zeroizing::default(), done: Exported::default() };
        export.write(tell).await?;
        let Export { tx, sink, opening, done, .. } = export;
        drop(tx);
        let mut closing = opening.and_then(|opening| opening.closing);
        match &mut closing {
            Some(closing) => closing.stay_while(sink.finish()).await??,
            None => sink.finish().await?,
        }

        let data = ExportData { members: done.members, is_portable, credentials };
        match closing {
            Some(closing) => closing.commit(self, &data).await.map_err(|error| match error {
                Error::Unavailable(_) => ExportError::Unsettled(error),
                refused => refused.into(),
            })?,
            None => {
                let (mut tx, org) = self.begin_in(&slug).await?;
                tx.push(Event::new(EventKind::OrgExported, &org, Actor::System, &data)?);
                tx.commit().await?;
            }
        }
        Ok(done)
    }
}

/// An organization at one moment.
struct Snapshot {
    tx: Tx,
    org: Organization,
}

/// What the file holds beside what its people may have.
struct Opening {
    /// The hashes of [`PROBE`] with each pepper.
    probes: Vec<String>,
    all_credentials: bool,
    closing: Option<Closing>,
}

/// An export on its way.
struct Export<W> {
    tx: Tx,
    sink: Sink<W>,
    org: Organization,
    /// `None` for what its people may have.
    opening: Option<Opening>,
    line: Zeroizing<Vec<u8>>,
    done: Exported,
}

impl<W: AsyncWrite + Unpin + Send> Export<W> {
    async fn write(&mut self, tell: &mut (dyn FnMut(ExportStep) + Send)) -> Result<(), ExportError> {
        let mut probes = self.opening.as_ref().map(|opening| opening.probes.clone()).unwrap_or_default().into_iter();
        let head = Head {
            format: FORMAT.to_owned(),
            exported_at: self.tx.now(),
            is_portable: self.opening.is_none(),
            is_closed: self.org.status == Status::Suspended || self.closing().is_some(),
            probe: probes.next(),
            former_probes: probes.collect(),
        };
        self.put(&Record::Head(head)).await?;
        let chain = self.tx.exports().chain(&self.org.id).await?.ok_or(Error::UnknownOrganization)?;
        if chain.chained < chain.sequence {
            return Err(
                Error::unavailable("a former version wrote the organization's last events; its next change chains them").into()
            );
        }
        let before_entries = chain.first_sequence - 1;
        self.put(&Record::Organization(OrganizationRecord::of(&self.org, chain))).await?;
        self.members(tell).await?;
        self.invites().await?;
        self.api_keys().await?;
        self.webhooks().await?;
        self.entries(before_entries).await?;
        let Exported { members, invites, api_keys, webhooks, entries } = self.done;
        self.put(&Record::End(End { members, invites, api_keys, webhooks, entries })).await
    }

    async fn members(&mut self, tell: &mut (dyn FnMut(ExportStep) + Send)) -> Result<(), ExportError> {
        let of = u64::try_from(self.tx.members().count(&self.org.id).await?).unwrap_or_default();
        let mut after = String::new();
        loop {
            let page = self.tx.exports().members(&self.org.id, &after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = last.user.id.as_str().to_owned();
            for member in page {
                let credentials = match &self.opening {
                    Some(opening) if opening.all_credentials || !member.is_elsewhere => {
                        Some(credentials(&mut self.tx, &member).await?)
                    }
                    _ => None,
                };
                self.put(&Record::Member(Box::new(MemberRecord::of(member, credentials)))).await?;
                self.done.members += 1;
            }
            tell(ExportStep { members: self.done.members, of });
            self.stay_closing().await?;
        }
    }

    async fn invites(&mut self) -> Result<(), ExportError> {
        let now = self.tx.now();
        let mut bounds = first();
        loop {
            let page = self.tx.invites().list(&self.org.id, &bounds, now).await?;
            let Some(next) = after(&page) else { return Ok(()) };
            bounds = next;
            for invite in &page {
                let metadata = self.tx.invites().metadata(&self.org.id, &invite.id).await?;
                self.put(&Record::Invite(InviteRecord::of(invite, metadata))).await?;
                self.done.invites += 1;
            }
        }
    }

    async fn api_keys(&mut self) -> Result<(), ExportError> {
        let now = self.tx.now();
        let mut bounds = first();
        loop {
            let page = self.tx.api_keys().list(&self.org.id, &bounds, now).await?;
            let Some(next) = after(&page) else { return Ok(()) };
            bounds = next;
            for key in &page {
                let digest = match self.opening {
                    Some(_) => self.tx.exports().api_key_digest(&self.org.id, &key.id).await?,
                    None => None,
                };
                self.put(&Record::ApiKey(ApiKeyRecord::of(key, digest))).await?;
                self.done.api_keys += 1;
            }
        }
    }

    async fn webhooks(&mut self) -> Result<(), ExportError> {
        let mut bounds = first();
        loop {
            let page = self.tx.webhooks().list(&self.org.id, &bounds).await?;
            let Some(next) = after(&page) else { return Ok(()) };
            bounds = next;
            for webhook in &page {
                let secrets = match self.opening {
                    Some(_) => Some(secrets(&mut self.tx, webhook).await?),
                    None => None,
                };
                self.put(&Record::Webhook(WebhookRecord::of(webhook, secrets))).await?;
                self.done.webhooks += 1;
            }
        }
    }

    async fn entries(&mut self, mut after: i64) -> Result<(), ExportError> {
        loop {
            let page = self.tx.exports().entries(&self.org.id, after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = last.sequence;
            for entry in page {
                self.put(&Record::Entry(Box::new(EntryRecord::of(entry)?))).await?;
                self.done.entries += 1;
            }
            self.stay_closing().await?;
        }
    }

    fn closing(&mut self) -> Option<&mut Closing> {
        self.opening.as_mut()?.closing.as_mut()
    }

    async fn stay_closing(&mut self) -> Result<(), Error> {
        match self.closing() {
            Some(closing) => closing.stay().await,
            None => Ok(()),
        }
    }

    /// Writes a record as one line.
    async fn put(&mut self, record: &Record) -> Result<(), ExportError> {
        self.line.clear();
        serde_json::to_writer(&mut *self.line, record).map_err(Error::internal)?;
        self.line.push(b'\n');
        Ok(self.sink.write(&self.line).await?)
    }
}

/// The first rows of a list.
fn first() -> Bounds {
    Bounds { order: SortOrder::Ascending, time: i64::MIN, id: String::new(), rows: PAGE }
}

/// The rows after these; `None` when there are none of these.
fn after<T: Listed>(page: &[T]) -> Option<Bounds> {
    let position = page.last()?.position();
    Some(Bounds { time: position.time.millis(), id: position.id, ..first() })
}
