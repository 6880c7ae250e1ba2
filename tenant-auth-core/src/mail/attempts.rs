//! Attempts to send a mail, of the outbox as of sign-up: the lease of a claim, the time limit of an attempt, and the retry schedule.

use std::{fmt::Display, future::Future, time::Duration};

use tokio::time::{Instant, sleep, timeout};

use crate::{
    error::Error,
    ports::{MailError, Mailer, Message},
    time::Timestamp,
};

/// The lease of a claimed mail, during which no other worker tries it. What a process that died had claimed goes out after it.
pub(crate) const LEASE: Duration = Duration::from_secs(45);
/// How often the lease of a mail that is on its way is renewed: a mail server may take minutes to accept it, and a mail that another
/// worker sends meanwhile arrives twice.
const RENEW_EVERY: Duration = Duration::from_secs(15);
/// How long a renewal may take: a server that is cut off from the database notices by it that it is.
const RENEW_WITHIN: Duration = Duration::from_secs(10);
/// How soon another renewal follows one that failed: a database that is busy for a moment cancels no delivery.
const RENEW_AGAIN: Duration = Duration::from_secs(1);
/// How soon an outcome that could not be recorded is recorded again.
const RECORD_AGAIN: Duration = Duration::from_secs(1);
/// How long an attempt holds its place among those that are made at once. A mail server may take ten minutes over a mail, and a few of
/// those would keep all others from it.
pub(crate) const HELD_FOR: Duration = Duration::from_secs(30);
/// The retry schedule: the wait after each failed attempt; the last one repeats (behaviour.md, B111).
pub(crate) const RETRIES: [Duration; 5] = [
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_secs(5 * 60),
    Duration::from_secs(30 * 60),
    Duration::from_secs(3_600),
];

/// The wait after the failure of the attempt with this number, from 1.
pub(crate) fn wait_after(attempt: i64) -> Duration {
    let tried = usize::try_from(attempt).unwrap_or(1).saturating_sub(1);
    let [.., last] = RETRIES;
    RETRIES.get(tried).copied().unwrap_or(last)
}

/// Hands a message over within the mailer's time limit; `claimed` renews the claim meanwhile, and ends where that is lost.
pub(crate) async fn hand_over(mailer: &dyn Mailer, message: &Message, claimed: impl Future<Output = ()>) -> Result<(), MailError> {
    let not_now = |reason: &str| Err(MailError::Transient(reason.to_owned()));
    tokio::select! {
        biased;
        sent = timeout(mailer.time_limit(), mailer.send(message)) => {
            sent.unwrap_or_else(|_| not_now("the mail server did not answer in time"))
        }
        () = claimed => not_now("another worker has it or may have it soon, or nobody wants it any more"),
    }
}

/// Keeps the claim of a mail that is on its way; ends where it is lost, or would end before it can be renewed. `renew` tells until when it
/// is renewed, and nothing where another worker has it.
pub(crate) async fn keep_claimed<R>(
    mail: &(dyn Display + Sync),
    lease_until: &mut Timestamp,
    now: impl Fn() -> Timestamp,
    renew: impl Fn() -> R,
) where
    R: Future<Output = Result<Option<Timestamp>, Error>>,
{
    let mut pause = RENEW_EVERY;
    loop {
        sleep(pause).await;
        let renewal = timeout(RENEW_WITHIN, renew()).await;
        match renewal.unwrap_or_else(|_| Err(Error::unavailable("the database did not answer in time"))) {
            Ok(Some(renewed)) => (*lease_until, pause) = (renewed, RENEW_EVERY),
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(%mail, error = %error.causes(), "the claim of a mail that is being sent was not renewed");
                if ends_unrenewed(*lease_until, now()) {
                    return;
                }
                pause = RENEW_AGAIN;
            }
        }
    }
}

/// Records what came of an attempt. A database that is busy for a moment is asked again while the lease lasts: were the outcome lost, a
/// mail that was accepted would be sent once more. `lasts`: what is left of the lease, as it was last renewed.
///
/// # Errors
/// What `recording` failed with last.
pub(crate) async fn record_while_claimed<T, R>(lasts: Duration, recording: impl Fn() -> R) -> Result<T, Error>
where
    R: Future<Output = Result<T, Error>>,
{
    let deadline = Instant::now() + lasts;
    loop {
        match recording().await {
            Err(Error::Unavailable(_)) if Instant::now() + RECORD_AGAIN < deadline => sleep(RECORD_AGAIN).await,
            recorded => return recorded,
        }
    }
}

/// For a renewal that the database delays, and for clocks that differ.
const MARGIN: Duration = Duration::from_secs(20);

/// Whether so little is left of a claim's lease that another worker might begin before it is renewed: the answer to the commit of the
/// claim came late. The mail is not sent then, so that nobody gets it twice; after the lease it is tried again.
pub(crate) fn comes_too_late(lease_until: Timestamp, now: Timestamp) -> bool {
    lease_until.since(now) < RENEW_EVERY + MARGIN
}

/// For the pause before another renewal, and for clocks that differ.
const SLACK: Duration = Duration::from_secs(5);

/// Whether a lease that was not renewed would end before another renewal is through. Another worker, which may reach the database, sends
/// the mail then; so this attempt ends, although a server that has the content may deliver it all the same.
fn ends_unrenewed(lease_until: Timestamp, now: Timestamp) -> bool {
    lease_until <= now.plus(RENEW_WITHIN + SLACK)
}

#[cfg(test)]
mod tests {
    use std::{
        collections::BTreeMap,
        sync::atomic::{AtomicUsize, Ordering},
    };

    use super::*;
    use crate::value::{Email, Language};

    #[test]
    fn the_last_wait_repeats() {
        assert_eq!([0, 1, 2, 5, 6, 100].map(|attempt| wait_after(attempt).as_secs()), [5, 5, 30, 3_600, 3_600, 3_600]);
    }

    #[test]
    fn an_attempt_that_would_outlast_its_lease_comes_too_late() {
        let claimed_at = Timestamp::from_millis(0);
        let until = claimed_at.plus(LEASE);
        assert!(!comes_too_late(until, claimed_at) && !comes_too_late(until, claimed_at.plus(LEASE - RENEW_EVERY - MARGIN)));
        assert!(comes_too_late(until, claimed_at.plus(LEASE - RENEW_EVERY - MARGIN + Duration::from_millis(1))));
        assert!(comes_too_late(until, until.plus(LEASE)));
    }

    #[test]
    fn an_attempt_outlasts_a_renewal_that_failed_and_ends_while_another_has_time_to_fail() {
        let claimed_at = Timestamp::from_millis(0);
        let until = claimed_at.plus(LEASE);
        let has_failed = claimed_at.plus(RENEW_EVERY + RENEW_WITHIN);
        assert!(!ends_unrenewed(until, has_failed), "the next renewal has {:?}", until.since(has_failed));
        assert!(!ends_unrenewed(until, until.minus(RENEW_WITHIN + SLACK + Duration::from_millis(1))));
        assert!(ends_unrenewed(until, until.minus(RENEW_WITHIN + SLACK)));
    }

    /// Takes every mail after five minutes.
    #[derive(Debug)]
    struct Slow;

    #[async_trait::async_trait]
    impl Mailer for Slow {
        async fn send(&self, _: &Message) -> Result<(), MailError> {
            tokio::time::sleep(Duration::from_secs(5 * 60)).await;
            Ok(())
        }
    }

    /// The same, and it may.
    #[derive(Debug)]
    struct Patient;

    #[async_trait::async_trait]
    impl Mailer for Patient {
        async fn send(&self, message: &Message) -> Result<(), MailError> {
            Slow.send(message).await
        }

        fn time_limit(&self) -> Duration {
            Duration::from_secs(10 * 60)
        }
    }

    /// Renews the claim until it is lost.
    async fn renewed(times: &AtomicUsize, most: usize) {
        while times.load(Ordering::SeqCst) < most {
            tokio::time::sleep(RENEW_EVERY).await;
            times.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_mail_that_a_server_takes_slowly_is_kept_claimed_until_the_mailers_limit() {
        let message = Message {
            id: "mail_1".to_owned(),
            to: Email::parse("a@example.com").expect("an address"),
            subject: String::new(),
            text: String::new(),
            html: String::new(),
            logo: None,
            kind: String::new(),
            language: Language::ENGLISH,
            link: None,
            values: BTreeMap::new(),
        };
        let times = AtomicUsize::new(0);
        assert!(hand_over(&Patient, &message, renewed(&times, usize::MAX)).await.is_ok());
        assert!((18..=20).contains(&times.load(Ordering::SeqCst)), "{times:?}");
        let begun = Instant::now();
        assert!(matches!(hand_over(&Slow, &message, renewed(&times, usize::MAX)).await, Err(MailError::Transient(_))));
        assert_eq!(begun.elapsed(), Duration::from_secs(30));
        let (lost, begun) = (AtomicUsize::new(0), Instant::now());
        assert!(matches!(hand_over(&Patient, &message, renewed(&lost, 2)).await, Err(MailError::Transient(_))));
        assert_eq!(begun.elapsed(), 2 * RENEW_EVERY);
    }

    #[tokio::test(start_paused = true)]
    async fn an_outcome_is_recorded_once_the_database_takes_it_while_the_lease_lasts() {
        let tries = &AtomicUsize::new(0);
        let busy_for = |most: usize| {
            move || async move {
                let is_busy = tries.fetch_add(1, Ordering::SeqCst) < most;
                if is_busy { Err(Error::unavailable("busy")) } else { Ok(()) }
            }
        };
        assert!(record_while_claimed(LEASE, busy_for(3)).await.is_ok());
        assert_eq!(tries.load(Ordering::SeqCst), 4);
        let begun = Instant::now();
        assert!(record_while_claimed(LEASE, busy_for(usize::MAX)).await.is_err());
        assert!(begun.elapsed() < LEASE && begun.elapsed() + 2 * RECORD_AGAIN >= LEASE, "{:?}", begun.elapsed());
        tries.store(0, Ordering::SeqCst);
        assert!(record_while_claimed(Duration::ZERO, busy_for(1)).await.is_err(), "another worker may have it");
    }
}
