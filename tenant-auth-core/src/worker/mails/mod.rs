//! The mail worker: sends the mails in the outbox. Slots are refilled one by one, as attempts end, so that a mail that hangs delays
//! no other; organizations take turns.

mod sending;
mod slots;
#[cfg(all(test, feature = "testing", feature = "sqlite"))]
mod tests;

use std::{future::Future, pin::pin, time::Duration};

use tokio::{
    sync::watch,
    task::{Id as TaskId, JoinError, JoinSet},
    time::{Instant, timeout},
};
use tracing::Instrument;

use super::STOP_WITHIN;
use crate::{
    error::Error,
    id::{MailId, OrgId},
    mail::LEASE,
    metrics::WorkerLoop,
    service::TenantAuth,
    store::{ClaimedMail, Work},
    time::Timestamp,
};
use sending::{send, span_of};
pub(crate) use slots::CONNECTIONS;
use slots::{Held, SLOTS, SLOTS_OF_ONE, Slots};

/// How many organizations one look at the outbox finds.
const ORGANIZATIONS: u32 = 100;
/// How often the outbox is looked at when no commit of this process wakes the worker: another process may have filled it.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// A look that finds nothing is followed by so many times its duration without another: attempts end often, and each lets the outbox be
/// looked at.
const REST: u32 = 4;

/// How many mails of an organization that began none lately are begun before others have had their turn: half of what it may have.
const AT_FIRST: usize = SLOTS_OF_ONE / 2;

/// What came of looking at an organization's mails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Served {
    Nothing,
    /// Some were begun, and more are due for which the domains have slots.
    InPart,
    /// All were begun for which there are slots.
    Wholly,
}

/// The mail loop's state. One per worker.
pub(super) struct Post {
    auth: TenantAuth,
    filled: watch::Receiver<()>,
    attempts: JoinSet<()>,
    slots: Slots,
    /// Until when the outbox is not looked at.
    rests_until: Instant,
    /// Round robin: the organization that began no attempt lately and was served last. The next round begins after it.
    after: String,
}

type Ended = Result<(TaskId, ()), JoinError>;

impl Post {
    pub(super) fn new(auth: &TenantAuth) -> Self {
        let (filled, attempts) = (auth.work_left(Work::Mails), JoinSet::new());
        let (slots, rests_until) = (Slots::default(), Instant::now());
        Self { auth: auth.clone(), filled, attempts, slots, rests_until, after: String::new() }
    }

    /// Runs until `shutdown` is ready. Attempts that are running then have a moment to end.
    pub(super) async fn run_until(mut self, shutdown: impl Future<Output = ()>) {
        let mut shutdown = pin!(shutdown);
        loop {
            self.filled.borrow_and_update();
            let rest = self.rests_until.saturating_duration_since(Instant::now());
            let pause = if rest.is_zero() { self.serve_or_rest().await } else { rest };
            tokio::select! {
                biased;
                () = &mut shutdown => break,
                Some(ended) = self.attempts.join_next_with_id() => self.finish(ended),
                _ = self.filled.changed(), if !pause.is_zero() => {}
                () = tokio::time::sleep(pause) => {}
            }
            while let Some(ended) = self.attempts.try_join_next_with_id() {
                self.finish(ended);
            }
        }
        if timeout(STOP_WITHIN, self.wait()).await.is_err() {
            tracing::info!("mails that are being sent are let go; they are tried again after their leases");
        }
    }

    /// Serves what is due, and returns how long this worker may sleep then.
    async fn serve_or_rest(&mut self) -> Duration {
        let began = Instant::now();
        let served = self.serve().await;
        if served.is_ok() {
            self.auth.worked(WorkerLoop::Mails);
        }
        match served {
            Ok(true) => Duration::ZERO,
            Ok(false) => {
                self.rests_until = Instant::now() + (began.elapsed() * REST).min(LOOK_EVERY);
                self.pause().await
            }
            Err(error) => {
                tracing::warn!(error = %error.causes(), "the outbox cannot be read; it is tried again shortly");
                LOOK_EVERY
            }
        }
    }

    /// Runs until nothing is due and no attempt is in flight. For tests and `Worker::tick`.
    pub(super) async fn drain(mut self) -> Result<(), Error> {
        loop {
            let served = self.serve().await;
            // The mails being sent must be finished and recorded, whatever happened.
            if self.attempts.is_empty() {
                return served.map(drop);
            }
            match self.attempts.join_next_with_id().await {
                Some(ended) if served.is_ok() => self.finish(ended),
                _ => {
                    self.wait().await;
                    return served.map(drop);
                }
            }
        }
    }

    /// Claims and starts due mails, until slots or organizations run out; `true` when there was work. First come the organizations that
    /// began no attempt lately, in turns; what they leave goes to the others, the one that began the fewest first. So whoever has a backlog
    /// for one server takes no freed place of it before those that wait for their first. Organizations that have mails for full domains only
    /// are not looked at one by one: hundreds of them may wait for one server that hangs. An attempt that hangs puts its organization behind
    /// nobody.
    async fn serve(&mut self) -> Result<bool, Error> {
        self.slots.let_linger();
        if self.auth.mailer().is_none() {
            return Ok(false);
        }
        let mut behind = Vec::new();
        let mut worked = self.serve_in_turn(&mut behind).await?;
        behind.sort_by_key(|org| self.slots.lately_held_by(org));
        for org in &behind {
            if self.slots.are_none_free() {
                break;
            }
            worked |= self.serve_one(org, SLOTS).await? != Served::Nothing;
        }
        Ok(worked)
    }

    /// Serves each organization that began no attempt lately, at first with a part of what it may have, beginning after the one that was
    /// served last. Those that are to have what is left are put into `behind`: they hold slots, so they are few.
    async fn serve_in_turn(&mut self, behind: &mut Vec<OrgId>) -> Result<bool, Error> {
        let (begun_after, mut after) = (self.after.clone(), self.after.clone());
        let mut is_last_lap = after.is_empty();
        let mut worked = false;
        loop {
            let now = self.auth.now();
            let full = self.slots.full_domains().len();
            let until = if is_last_lap { begun_after.as_str() } else { "" };
            let due = self.due_organizations(now, &after, until).await?;
            let mut is_outdated = false;
            for org in &due {
                if self.slots.are_none_free() {
                    return Ok(worked);
                }
                org.as_str().clone_into(&mut after);
                if self.slots.lately_held_by(org) > 0 {
                    if !behind.contains(org) {
                        behind.push(org.clone());
                    }
                    continue;
                }
                let served = self.serve_one(org, AT_FIRST).await?;
                if served == Served::Nothing {
                    continue;
                }
                worked = true;
                self.after.clone_from(&after);
                if served == Served::InPart {
                    behind.push(org.clone());
                }
                // Another domain is full: who waits for nothing else is passed over from here on.
                is_outdated = self.slots.full_domains().len() != full;
                if is_outdated {
                    break;
                }
            }
            if !is_outdated && due.len() < ORGANIZATIONS as usize {
                if is_last_lap {
                    return Ok(worked);
                }
                after.clear();
                is_last_lap = true;
            }
        }
    }

    async fn due_organizations(&self, now: Timestamp, after: &str, until: &str) -> Result<Vec<OrgId>, Error> {
        let mut reader = self.auth.store().read().await?;
        reader.mail_queue().due_organizations(now, (after, until), ORGANIZATIONS, &self.slots.full_domains()).await
    }

    /// Claims and starts as many of an organization's due mails as the limits allow, `most` of them.
    async fn serve_one(&mut self, org: &OrgId, most: usize) -> Result<Served, Error> {
        let mut share = self.slots.of_organization(org).min(most);
        let mut served = Served::Nothing;
        if share == 0 {
            return Ok(served);
        }
        let now = self.auth.now();
        let due = self.auth.store().read().await?.mail_queue().due(org, now, SLOTS, &self.slots.full_domains()).await?;
        for mail in due {
            if self.slots.of_domain(&mail.recipient_domain) == 0 {
                continue;
            }
            if share == 0 {
                return Ok(Served::InPart);
            }
            let Some(claimed) = self.claim(&mail.id).await? else { continue };
            self.start(claimed, mail.recipient_domain);
            share -= 1;
            served = Served::Wholly;
        }
        Ok(served)
    }

    async fn claim(&self, mail: &MailId) -> Result<Option<ClaimedMail>, Error> {
        let mut tx = self.auth.begin().await?;
        let lease_until = tx.now().plus(LEASE);
        let claimed = tx.mails().claim(mail, lease_until).await?;
        tx.commit().await?;
        Ok(claimed)
    }

    fn start(&mut self, mail: ClaimedMail, domain: String) {
        let (auth, held) = (self.auth.clone(), Held { org: mail.org_id.clone(), domain, since: Instant::now() });
        let span = span_of(&mail);
        let known = span.clone();
        let attempt = async move {
            if let Err(error) = send(&auth, &mail, &known).await {
                tracing::warn!(mail = %mail.id, error = %error.causes(), "the outcome of a mail was not recorded; it is tried again after its lease");
            }
        };
        let task = self.attempts.spawn(attempt.instrument(span));
        self.slots.take(task.id(), held);
    }

    fn finish(&mut self, ended: Ended) {
        match ended {
            Ok((task, ())) => self.slots.free(task),
            Err(panic) => {
                self.slots.free(panic.id());
                tracing::error!(error = %panic, "the mailer panicked; the mail is tried again after its lease");
            }
        }
    }

    /// Waits for the attempts that are running.
    async fn wait(&mut self) {
        while let Some(ended) = self.attempts.join_next_with_id().await {
            self.finish(ended);
        }
    }

    /// How long this worker may sleep: until the next mail is due, at most `LOOK_EVERY`. A mail that is due and finds no slot waits
    /// for the end of an attempt.
    async fn pause(&self) -> Duration {
        let now = self.auth.now();
        let next = match self.auth.store().read().await {
            Ok(mut reader) => reader.mails().next_due(now).await.ok().flatten(),
            Err(_) => None,
        };
        match next {
            Some(due) if self.auth.mailer().is_some() => due.since(now).clamp(Duration::from_millis(50), LOOK_EVERY),
            _ => LOOK_EVERY,
        }
    }
}
