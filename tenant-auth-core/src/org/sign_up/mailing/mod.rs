//! Mailing the links of sign-up. These mails belong to no organization, so they do not wait in the outbox of mails: a request is claimed
//! with a lease, its link is stored and mailed outside any transaction, and the request is deleted once the mail was sent. The link's
//! token is nowhere but in the mail; a further attempt makes a further link.

#[cfg(all(test, feature = "testing", feature = "sqlite"))]
mod tests;

use std::{collections::HashMap, time::Duration};

use tokio::{
    task::{Id as TaskId, JoinSet},
    time::Instant,
};
use tracing::Instrument;

use crate::{
    config::LinkedPage,
    error::Error,
    id::DeliveryId,
    mail::{self, HELD_FOR, LEASE, Letter, comes_too_late, wait_after},
    metrics::MailOutcome,
    ports::{MailError, Message},
    service::TenantAuth,
    store::{LinkPurpose, SignUpLink, SignUpRequest, Tx},
    throttle::{count_mail, sign_up_mails_of_deployment},
    time::{DAY, Timestamp},
};

/// How long a link works (behaviour.md, B196).
const LINK_TTL: Duration = DAY;
/// How many mails are under way at once.
const AT_ONCE: usize = 8;
/// How many more may be that a mail server lets wait for long: few, for it allows a client only so many connections.
const LINGERING: usize = 8;

/// The mailing of the links that were asked for. Places are filled one by one, as attempts end or linger: a mail server may take minutes to
/// accept one mail, and the others do not wait for it. One per worker.
pub(crate) struct SignUpPost {
    auth: TenantAuth,
    sending: JoinSet<Result<bool, Error>>,
    /// The attempts that hold a place, and since when.
    held: HashMap<TaskId, Instant>,
}

impl SignUpPost {
    pub(crate) fn new(auth: &TenantAuth) -> Self {
        Self { auth: auth.clone(), sending: JoinSet::new(), held: HashMap::new() }
    }

    /// Begins to mail what is due, as much as there are places for.
    ///
    /// # Errors
    /// [`Error::Unavailable`]; the requests wait on then.
    pub(crate) async fn begin(&mut self) -> Result<(), Error> {
        self.let_linger();
        let places = AT_ONCE.saturating_sub(self.held.len());
        if self.auth.mailer().is_none() || places == 0 {
            return Ok(());
        }
        for id in self.due(places).await? {
            let auth = self.auth.clone();
            let span = tracing::info_span!(target: "tenant_auth::mails", "mail", mail = %id);
            let attempt = async move {
                match attempt(&auth, &id).await {
                    Err(error) if !matches!(error, Error::Unavailable(_)) => {
                        tracing::error!(error = %error.causes(), "a link to sign up with could not be mailed; it is put off");
                        put_off(&auth, &id).await
                    }
                    attempted => attempted,
                }
            };
            let task = self.sending.spawn(attempt.instrument(span));
            self.held.insert(task.id(), Instant::now());
        }
        Ok(())
    }

    /// Up to so many requests that are due: first what was not tried yet, as much as may still be mailed in this hour, so that mail servers
    /// that hang delay those who ask again and nobody else. Where sign-up is closed all are: they are dropped.
    async fn due(&self, places: usize) -> Result<Vec<DeliveryId>, Error> {
        let (now, limit) = (self.auth.now(), u32::try_from(places).unwrap_or(u32::MAX));
        let mut reader = self.auth.store().read().await?;
        let mut due = reader.sign_ups().untried(now, limit).await?;
        let tried = reader.sign_ups().tried(now, limit).await?;
        drop(reader); // the next may need its connection
        if !due.is_empty() && self.auth.config().sign_up.is_open {
            let may_be_mailed = sign_up_mails_of_deployment(self.auth.config()).left(&self.auth, "all").await?;
            due.truncate(usize::try_from(may_be_mailed).unwrap_or(usize::MAX));
        }
        due.extend(tried);
        due.truncate(places);
        Ok(due)
    }

    /// Frees the places that were held for long, of as many attempts as may go on without one.
    fn let_linger(&mut self) {
        let mut places = LINGERING.saturating_sub(self.sending.len().saturating_sub(self.held.len()));
        self.held.retain(|_, since| {
            let lingers = places > 0 && since.elapsed() >= HELD_FOR;
            places -= usize::from(lingers);
            !lingers
        });
    }

    /// Waits for an attempt to end: whether its request was claimed or put off by it. `None` where none is under way.
    ///
    /// # Errors
    /// [`Error::Unavailable`]; the request waits on then.
    pub(crate) async fn ended(&mut self) -> Option<Result<bool, Error>> {
        let (task, ended) = match self.sending.join_next_with_id().await? {
            Ok(ended) => ended,
            Err(panic) => (panic.id(), Err(Error::internal(panic))),
        };
        self.held.remove(&task);
        match ended {
            Err(error) if !matches!(error, Error::Unavailable(_)) => {
                // It is tried again after its lease, and hinders no other.
                tracing::error!(error = %error.causes(), "a link to sign up with could not be mailed");
                Some(Ok(false))
            }
            ended => Some(ended),
        }
    }

    /// Mails what is due, as much as goes at once; `true` when something was claimed or put off. For `Worker::tick`.
    ///
    /// # Errors
    /// [`Error::Unavailable`]; the requests wait on then.
    pub(crate) async fn round(&mut self) -> Result<bool, Error> {
        self.begin().await?;
        // All are waited for, whatever becomes of one: a mail that was sent and not noted would be sent again.
        let (mut worked, mut unavailable) = (false, None);
        while let Some(ended) = self.ended().await {
            match ended {
                Ok(is_claimed) => worked |= is_claimed,
                Err(error) => unavailable = Some(error),
            }
        }
        match unavailable {
            Some(error) => Err(error),
            None => Ok(worked),
        }
    }
}

/// Claims a request and mails its link; `false` when another worker has claimed it, or when it is to wait: what it wrote is taken back then.
async fn attempt(auth: &TenantAuth, id: &DeliveryId) -> Result<bool, Error> {
    let mut tx = auth.begin().await?;
    let until = tx.now().plus(LEASE);
    let Some(request) = tx.sign_ups().claim(id, until).await? else { return Ok(false) };
    let Some(message) = compose(auth, &mut tx, &request).await? else {
        tx.sign_ups().done(&request).await?;
        tx.commit().await?;
        return Ok(true);
    };
    if !may_be_mailed(auth, &mut tx, &request).await? {
        return Ok(false);
    }
    tx.commit().await?;
    send(auth, &request, &message).await?;
    Ok(true)
}

/// Counts an attempt at a request whose mail cannot be written, such as one to an account whose row was changed by hand. Its claim was
/// taken back with all else, so that it would be due again at once, and hinder those behind it.
async fn put_off(auth: &TenantAuth, id: &DeliveryId) -> Result<bool, Error> {
    let mut tx = auth.begin().await?;
    let now = tx.now();
    let Some(request) = tx.sign_ups().claim(id, now.plus(LEASE)).await? else { return Ok(false) };
    let is_over = is_one_too_many(&mut tx, &request).await?;
    if is_over {
        tx.sign_ups().done(&request).await?;
    } else {
        tx.sign_ups().retry(&request, next_attempt(&request, now)).await?;
    }
    tx.commit().await?;
    if !is_over {
        auth.metrics().mail(MailOutcome::Retried);
    }
    Ok(true)
}

/// Counts the mail at its first attempt: whether its address has had too many.
async fn is_one_too_many(tx: &mut Tx, request: &SignUpRequest) -> Result<bool, Error> {
    if request.attempt > 1 {
        return Ok(false);
    }
    match count_mail(tx, LinkPurpose::SignUp, &request.email).await {
        Err(Error::RateLimited { .. }) => Ok(true),
        counted => counted.map(|()| false),
    }
}

/// Counts the mail among all the deployment's, at its first attempt; `false` when as many were mailed as may be in an hour. The last of
/// them warns.
async fn may_be_mailed(auth: &TenantAuth, tx: &mut Tx, request: &SignUpRequest) -> Result<bool, Error> {
    if request.attempt > 1 {
        return Ok(true);
    }
    let rate = sign_up_mails_of_deployment(auth.config());
    let is_one_of_them = rate.allows(tx, "all").await?;
    if is_one_of_them && rate.is_spent(tx, "all").await? {
        tracing::warn!("as many links to sign up with are mailed as may be in an hour; further requests wait until it is over");
    }
    Ok(is_one_of_them)
}

/// Makes the link and its mail; `None` when nobody waits for it any more, or the address gets too many.
async fn compose(auth: &TenantAuth, tx: &mut Tx, request: &SignUpRequest) -> Result<Option<Message>, Error> {
    let now = tx.now();
    let is_useless = request.asked_at.plus(LINK_TTL) <= now;
    if is_useless {
        tracing::warn!(mail = %request.id, "a mail was given up: its link would have expired");
        auth.metrics().mail(MailOutcome::Expired);
    }
    if is_useless || !auth.config().sign_up.is_open {
        return Ok(None);
    }
    if is_one_too_many(tx, request).await? {
        return Ok(None);
    }
    // As its holder wrote it, where it has an account: what was asked for may be another's mailbox (B25).
    let holder = tx.users().find_by_email(&request.email).await?.map(|account| account.user.email);
    let to = holder.as_ref().unwrap_or(&request.email);
    let (token, until) = (tx.new_link_token(), now.plus(LINK_TTL));
    tx.sign_ups().insert_link(&SignUpLink { email: to, token: &token.digest(), expires_at: until }).await?;
    let link = auth.config().link(LinkedPage::SignUp, "", token.expose());
    let language = mail::language_for(tx, &request.email, request.language.as_ref()).await?;
    let words = tx.languages().of(language.as_ref());
    let message = Letter::SignUp { link: &link, until }.to(to, tx.product(), words, tx.mail_templates())?;
    Ok(Some(mail::with_logo(message, tx.product())))
}

async fn send(auth: &TenantAuth, request: &SignUpRequest, message: &Message) -> Result<(), Error> {
    let Some(mailer) = auth.mailer().filter(|_| !comes_too_late(request.lease_until, auth.now())) else { return Ok(()) };
    let mut lease_until = request.lease_until;
    let sent = mail::hand_over(mailer, message, keep(auth, request, &mut lease_until)).await;
    let lasts = lease_until.since(auth.now());
    let outcome = mail::record_while_claimed(lasts, || record(auth, request, &sent)).await?;
    auth.metrics().mail(outcome);
    Ok(())
}

/// Records what came of an attempt. Whoever repeats it changes nothing: a claim is known by its number.
async fn record(auth: &TenantAuth, request: &SignUpRequest, sent: &Result<(), MailError>) -> Result<MailOutcome, Error> {
    let mut tx = auth.begin().await?;
    let outcome = match sent {
        Ok(()) => {
            tx.sign_ups().done(request).await?;
            MailOutcome::Sent
        }
        Err(MailError::Permanent(reason)) => {
            tracing::warn!(mail = %request.id, %reason, "a mail was given up");
            tx.sign_ups().done(request).await?;
            MailOutcome::Failed
        }
        Err(MailError::Transient(reason)) => {
            let at = next_attempt(request, tx.now());
            tracing::info!(mail = %request.id, %reason, next = %at.to_iso(), "a mail could not be sent yet");
            tx.sign_ups().retry(request, at).await?;
            MailOutcome::Retried
        }
    };
    tx.commit().await?;
    Ok(outcome)
}

/// Keeps the claim of a request whose mail is on its way; ends where it is lost, or would end before it can be renewed.
async fn keep(auth: &TenantAuth, request: &SignUpRequest, lease_until: &mut Timestamp) {
    mail::keep_claimed(&request.id, lease_until, || auth.now(), || renew(auth, request)).await;
}

/// Until when the claim is renewed; `None` when it is lost.
async fn renew(auth: &TenantAuth, request: &SignUpRequest) -> Result<Option<Timestamp>, Error> {
    let mut tx = auth.begin().await?;
    let until = tx.now().plus(LEASE);
    let is_renewed = tx.sign_ups().renew(request, until).await?;
    tx.commit().await?;
    Ok(is_renewed.then_some(until))
}

/// When a request is tried again; the next attempt drops it once its link would have ended.
fn next_attempt(request: &SignUpRequest, now: Timestamp) -> Timestamp {
    now.plus(wait_after(request.attempt))
}
