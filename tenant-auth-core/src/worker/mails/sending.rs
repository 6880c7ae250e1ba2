//! One attempt to send a mail, and what comes after it. A mail is claimed with a lease, sent outside any transaction and recorded
//! afterwards. A permanent failure is recorded and not retried; a transient one follows the retry schedule.

use std::time::Duration;

use tracing::{Span, field::Empty};

use crate::{
    error::Error,
    mail::{self, RETRIES, comes_too_late, wait_after},
    metrics::{Label, MailOutcome},
    ports::MailError,
    service::TenantAuth,
    store::ClaimedMail,
    time::Timestamp,
};

/// How often a mail is tried at least: by the schedule, for a day.
const ATTEMPTS: usize = RETRIES.len() + 24;
/// The age from which a mail is given up, for an attempt that nobody finished counts, too.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(24 * 3_600);

/// Makes one attempt and records what came of it; nothing where the claim comes too late for one.
///
/// # Errors
/// [`Error::Unavailable`] when the outcome cannot be recorded; the mail is tried again after its lease.
pub(super) async fn send(auth: &TenantAuth, mail: &ClaimedMail, span: &Span) -> Result<(), Error> {
    if comes_too_late(mail.lease_until, auth.now()) {
        return Ok(());
    }
    let is_useless = auth.now() >= mail.useless_after;
    let mut lease_until = mail.lease_until;
    let outcome = match auth.mailer() {
        _ if is_useless => Err(MailError::Permanent("its time was over before it could be sent".to_owned())),
        Some(mailer) => match mail::open(auth, mail) {
            Ok(message) => mail::hand_over(mailer, &message, keep(auth, mail, &mut lease_until)).await,
            // Not for good: another server may have sealed it with a master key that this one is given at its next start.
            Err(error) => {
                tracing::error!(mail = %mail.id, error = %error.causes(), "a mail cannot be read with the master keys of this server");
                Err(MailError::Transient("it cannot be read with the master keys of the server that tried".to_owned()))
            }
        },
        None => return Ok(()),
    };
    let lasts = lease_until.since(auth.now());
    let came_of_it = mail::record_while_claimed(lasts, || record(auth, mail, &outcome, is_useless)).await?;
    span.record("outcome", came_of_it.as_str());
    auth.metrics().mail(came_of_it);
    Ok(())
}

/// Records what came of an attempt. Whoever repeats it changes nothing: a claim is known by its number.
async fn record(
    auth: &TenantAuth,
    mail: &ClaimedMail,
    outcome: &Result<(), MailError>,
    is_useless: bool,
) -> Result<MailOutcome, Error> {
    let mut tx = auth.begin().await?;
    let came_of_it = match outcome {
        Ok(()) => {
            tx.mails().sent(mail).await?;
            MailOutcome::Sent
        }
        Err(MailError::Permanent(reason)) => {
            tracing::warn!(mail = %mail.id, %reason, "a mail was given up");
            tx.mails().fail(mail, reason).await?;
            if is_useless { MailOutcome::Expired } else { MailOutcome::Failed }
        }
        Err(MailError::Transient(reason)) => match next_attempt(mail, tx.now()) {
            Some(at) => {
                tracing::info!(mail = %mail.id, %reason, next = %at.to_iso(), "a mail could not be sent yet");
                tx.mails().retry(mail, at, reason).await?;
                MailOutcome::Retried
            }
            None => {
                tracing::warn!(mail = %mail.id, %reason, "a mail was given up after a day");
                tx.mails().fail(mail, reason).await?;
                MailOutcome::Expired
            }
        },
    };
    tx.commit().await?;
    Ok(came_of_it)
}

/// Keeps the claim of a mail that is on its way; ends where it is lost, or would end before it can be renewed.
async fn keep(auth: &TenantAuth, mail: &ClaimedMail, lease_until: &mut Timestamp) {
    mail::keep_claimed(&mail.id, lease_until, || auth.now(), || renew(auth, mail)).await;
}

/// Until when the claim is renewed; `None` when it is lost.
async fn renew(auth: &TenantAuth, mail: &ClaimedMail) -> Result<Option<Timestamp>, Error> {
    let mut tx = auth.begin().await?;
    let until = tx.now().plus(mail::LEASE);
    let is_renewed = tx.mails().renew(mail, until).await?;
    tx.commit().await?;
    Ok(is_renewed.then_some(until))
}

/// The span of one attempt, below the current one. It names nobody: neither recipient nor subject.
pub(super) fn span_of(mail: &ClaimedMail) -> Span {
    tracing::info_span!(
        target: "tenant_auth::mails", "mail",
        mail = %mail.id, organization_id = %mail.org_id, attempt = mail.attempt, outcome = Empty,
    )
}

/// The retry schedule: when a mail is tried again; `None` when it has been tried for a day.
fn next_attempt(mail: &ClaimedMail, now: Timestamp) -> Option<Timestamp> {
    let is_often_enough = usize::try_from(mail.attempt).is_ok_and(|attempts| attempts >= ATTEMPTS);
    let is_tried_out = is_often_enough && now >= mail.created_at.plus(GIVEN_UP_AFTER);
    (!is_tried_out).then(|| now.plus(wait_after(mail.attempt)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{id::Id, ports::OsEntropy};

    #[test]
    fn a_mail_is_tried_for_a_day_however_long_it_waited_before() {
        let now = Timestamp::from_millis(0);
        let mail = |attempt| ClaimedMail {
            id: Id::generate(now, &OsEntropy),
            org_id: Id::generate(now, &OsEntropy),
            content: String::new(),
            attempt,
            lease_until: now,
            useless_after: now,
            created_at: now,
        };
        let late = now.plus(3 * GIVEN_UP_AFTER);
        let waits: Vec<_> =
            (1..).map_while(|attempt| next_attempt(&mail(attempt), late)).map(|at| at.since(late).as_secs()).collect();
        assert_eq!(waits[..6], [5, 30, 300, 1_800, 3_600, 3_600]);
        assert_eq!(waits.iter().sum::<u64>() / 3_600, 24);
        assert!(next_attempt(&mail(100), now).is_some(), "a mailer that never ends its attempts is no day");
    }

    #[cfg(all(feature = "testing", feature = "sqlite"))]
    #[tokio::test]
    async fn a_claim_whose_commit_was_answered_late_is_left_to_its_lease() {
        let test = crate::testing::TestAuth::new().await;
        let mut tx = test.auth.begin().await.expect("a transaction");
        let now = tx.now();
        let due = tx.mail_queue().due(&test.org.org.id, now, 1, &[]).await.expect("it can be read").remove(0);
        let claimed = tx.mails().claim(&due.id, now.plus(mail::LEASE)).await.expect("it can be written").expect("it is due");
        tx.commit().await.expect("a commit");
        test.clock.advance(2 * mail::LEASE / 3 + Duration::from_millis(1));
        send(&test.auth, &claimed, &Span::none()).await.expect("nothing is to be recorded");
        assert!(test.mails.sent().is_empty(), "another worker may have it before this one is done");
        test.clock.advance(mail::LEASE / 3);
        test.tick().await;
        assert_eq!(test.mails.sent().iter().filter(|sent| sent.id == claimed.id.as_str()).count(), 1);
    }

    #[cfg(all(feature = "testing", feature = "sqlite"))]
    #[tokio::test]
    async fn no_other_worker_tries_a_mail_whose_claim_is_renewed() {
        let test = crate::testing::TestAuth::new().await;
        let mut tx = test.auth.begin().await.expect("a transaction");
        let now = tx.now();
        let due = tx.mail_queue().due(&test.org.org.id, now, 1, &[]).await.expect("it can be read").remove(0);
        let claimed = tx.mails().claim(&due.id, now.plus(mail::LEASE)).await.expect("it can be written").expect("it is due");
        tx.commit().await.expect("a commit");
        let tries = || test.mails.sent().iter().filter(|sent| sent.id == claimed.id.as_str()).count();
        for _ in 0..3 {
            test.clock.advance(mail::LEASE - Duration::from_millis(1));
            assert!(renew(&test.auth, &claimed).await.expect("it can be written").is_some());
            test.tick().await;
            assert_eq!(tries(), 0, "it is on its way");
        }
        test.clock.advance(mail::LEASE);
        test.tick().await;
        assert_eq!(tries(), 1, "its worker died");
        assert!(renew(&test.auth, &claimed).await.expect("it can be written").is_none(), "it is sent");
        test.clock.advance(mail::LEASE);
        test.tick().await;
        assert_eq!(tries(), 1, "who is late changes nothing");
    }

    /// So long as a lease, without its last second.
    #[cfg(all(feature = "testing", feature = "sqlite"))]
    async fn pass(clock: &crate::ports::MockClock) {
        for _ in 1..mail::LEASE.as_secs() {
            tokio::time::sleep(Duration::from_secs(1)).await;
            clock.advance(Duration::from_secs(1));
        }
    }

    #[cfg(all(feature = "testing", feature = "sqlite"))]
    #[tokio::test]
    async fn a_server_that_is_cut_off_from_the_database_ends_its_attempt_before_another_sends_the_mail() {
        let test = crate::testing::TestAuth::new().await;
        let mut tx = test.auth.begin().await.expect("a transaction");
        let now = tx.now();
        let due = tx.mail_queue().due(&test.org.org.id, now, 1, &[]).await.expect("it can be read").remove(0);
        let claimed = tx.mails().claim(&due.id, now.plus(mail::LEASE)).await.expect("it can be written").expect("it is due");
        tx.commit().await.expect("a commit");
        test.auth.store().close().await;
        tokio::time::pause();
        let mut lease_until = claimed.lease_until;
        let has_ended = tokio::select! {
            biased;
            () = pass(&test.clock) => false,
            () = keep(&test.auth, &claimed, &mut lease_until) => true,
        };
        assert!(has_ended);
    }
}
