//! The mail worker: sends the mails in the outbox. A mail is claimed with a lease, sent outside any transaction and recorded
//! afterwards. A permanent failure is recorded and not retried; a transient one follows the retry schedule.

use std::time::Duration;

use tokio::{task::JoinSet, time::timeout};
use tracing::{Instrument, Span, field::Empty};

use super::Worker;
use crate::{
    account::fulfil_reset_request,
    error::Error,
    id::MailId,
    mail,
    metrics::{Label, MailOutcome},
    ports::MailError,
    store::ClaimedMail,
    time::Timestamp,
};

/// The concurrency limit of one round.
const BATCH: u32 = 8;
/// The lease of a claimed mail, during which no other worker tries it; longer than a mail server can take.
const LEASE: Duration = Duration::from_secs(120);
/// The time limit of one attempt; well within the lease.
const PATIENCE: Duration = Duration::from_secs(90);
/// The retry schedule: the wait after each failed attempt; the last one repeats (behaviour.md, B111).
const RETRIES: [Duration; 5] = [
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_secs(5 * 60),
    Duration::from_secs(30 * 60),
    Duration::from_secs(3_600),
];
/// The age at which a mail is given up.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(24 * 3_600);
/// How often the outbox is looked at when no commit of this process wakes the worker: another process may have filled it.
const LOOK_EVERY: Duration = Duration::from_secs(5);

impl Worker {
    /// One round of the outbox; `true` when there was work.
    pub(super) async fn send_mails(&self) -> Result<bool, Error> {
        let asked = fulfil_reset_request(&self.auth).await?;
        let sent = self.send_due_mail().await?;
        self.auth.metrics().worked(self.auth.now());
        Ok(sent || asked)
    }

    /// How long this worker may sleep: until the next mail is due, at most `LOOK_EVERY`.
    pub(super) async fn until_next_mail(&self) -> Duration {
        let next = match self.auth.store().read().await {
            Ok(mut reader) => reader.mails().next_due().await.ok().flatten(),
            Err(_) => None,
        };
        match next {
            Some(due) if self.auth.mailer().is_some() => due.since(self.auth.now()).clamp(Duration::from_millis(50), LOOK_EVERY),
            _ => LOOK_EVERY,
        }
    }

    /// Claims and sends one batch; `true` when there was work.
    async fn send_due_mail(&self) -> Result<bool, Error> {
        if self.auth.mailer().is_none() {
            return Ok(false);
        }
        let now = self.auth.now();
        let due = self.auth.store().read().await?.mails().due(now, BATCH).await?;
        let mut sending = JoinSet::new();
        let mut trouble = Ok(());
        for id in &due {
            let mail = match self.claim(id).await {
                Ok(Some(mail)) => mail,
                Ok(None) => continue,
                Err(error) => {
                    // The mails already being sent must be finished and recorded first.
                    trouble = Err(error);
                    break;
                }
            };
            let worker = self.clone();
            let span = span_of(&mail);
            let known = span.clone();
            let attempt = async move {
                if let Err(error) = worker.send(&mail, &known).await {
                    tracing::warn!(mail = %mail.id, error = %error.causes(), "the outcome of a mail was not recorded; it is tried again after its lease");
                }
            };
            sending.spawn(attempt.instrument(span));
        }
        while let Some(sent) = sending.join_next().await {
            if let Err(panic) = sent {
                tracing::error!(error = %panic, "the mailer panicked; the mail is tried again after its lease");
            }
        }
        trouble.map(|()| !due.is_empty())
    }

    async fn claim(&self, mail: &MailId) -> Result<Option<ClaimedMail>, Error> {
        let mut tx = self.auth.begin().await?;
        let lease_until = tx.now().plus(LEASE);
        let claimed = tx.mails().claim(mail, lease_until).await?;
        tx.commit().await?;
        Ok(claimed)
    }

    async fn send(&self, mail: &ClaimedMail, span: &Span) -> Result<(), Error> {
        let now = self.auth.now();
        let outcome = match self.auth.mailer() {
            _ if now >= mail.useless_after => Err(MailError::Permanent("its link expired before it could be sent".to_owned())),
            Some(mailer) => match mail::open(&self.auth, mail) {
                Ok(message) => match timeout(PATIENCE, mailer.send(&message)).await {
                    Ok(sent) => sent,
                    Err(_) => Err(MailError::Transient("the mail server did not answer in time".to_owned())),
                },
                Err(error) => Err(MailError::Permanent(error.to_string())),
            },
            None => return Ok(()),
        };
        let mut tx = self.auth.begin().await?;
        let came_of_it = match outcome {
            Ok(()) => {
                tx.mails().sent(mail).await?;
                MailOutcome::Sent
            }
            Err(MailError::Permanent(reason)) => {
                tracing::warn!(mail = %mail.id, %reason, "a mail was given up");
                tx.mails().fail(mail, &reason).await?;
                MailOutcome::Failed
            }
            Err(MailError::Transient(reason)) => match next_attempt(mail, tx.now()) {
                Some(at) => {
                    tracing::info!(mail = %mail.id, %reason, next = %at.to_iso(), "a mail could not be sent yet");
                    tx.mails().retry(mail, at, &reason).await?;
                    MailOutcome::Retried
                }
                None => {
                    tracing::warn!(mail = %mail.id, %reason, "a mail was given up after a day");
                    tx.mails().fail(mail, &reason).await?;
                    MailOutcome::Failed
                }
            },
        };
        tx.commit().await?;
        span.record("outcome", came_of_it.as_str());
        self.auth.metrics().mail(came_of_it);
        Ok(())
    }
}

/// The span of one attempt, below the current one. It names nobody: neither recipient nor subject.
fn span_of(mail: &ClaimedMail) -> Span {
    tracing::info_span!(
        target: "tenant_auth::mails", "mail",
        mail = %mail.id, organization_id = %mail.org_id, attempt = mail.attempt, outcome = Empty,
    )
}

/// The retry schedule: when a mail is tried again; `None` when it has been tried for a day.
fn next_attempt(mail: &ClaimedMail, now: Timestamp) -> Option<Timestamp> {
    let tried = usize::try_from(mail.attempt).unwrap_or(1).saturating_sub(1);
    let wait = RETRIES.get(tried).or(RETRIES.last())?;
    let at = now.plus(*wait);
    (at < mail.created_at.plus(GIVEN_UP_AFTER)).then_some(at)
}
