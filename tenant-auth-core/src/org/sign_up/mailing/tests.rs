//! The claims and the places of sign-up's mails.

use super::*;
use crate::{caller::Client, ports::MockClock, testing::TestAuth, value::Email};

/// A service, and a request of Rita's that this process has claimed.
async fn claimed() -> (TestAuth, Email, SignUpRequest) {
    let test = TestAuth::with(|config| config.sign_up.is_open = true).await;
    let rita = Email::parse("rita@rockets.example").expect("an address");
    test.auth.request_sign_up(&rita, &Client::default()).await.expect("it is open");
    let claimed = claim(&test).await.expect("it is due");
    (test, rita, claimed)
}

/// The request that is due.
async fn claim(test: &TestAuth) -> Option<SignUpRequest> {
    let mut tx = test.auth.begin().await.expect("a transaction");
    let now = tx.now();
    let due = tx.sign_ups().untried(now, 1).await.expect("it can be read").pop()?;
    let claimed = tx.sign_ups().claim(&due, now.plus(LEASE)).await.expect("it can be written");
    tx.commit().await.expect("a commit");
    claimed
}

/// Made again while its mail was on its way, so that the next worker claims it anew.
#[tokio::test]
async fn what_is_recorded_twice_frees_no_claim_that_came_in_between() {
    let (test, rita, claimed) = claimed().await;
    test.clock.advance(Duration::from_secs(1));
    test.auth.request_sign_up(&rita, &Client::default()).await.expect("it is open");
    record(&test.auth, &claimed, &Ok(())).await.expect("it can be written");
    let next = claim(&test).await.expect("it is due again");
    assert_eq!((claimed.attempt, next.attempt), (1, 1), "as a request that was not tried yet");
    record(&test.auth, &claimed, &Ok(())).await.expect("the first COMMIT had no answer");
    assert!(claim(&test).await.is_none(), "another worker has it");
}

#[tokio::test]
async fn mails_that_hang_hold_their_places_for_half_a_minute_unless_too_many_do() {
    let test = TestAuth::new().await;
    let mut post = SignUpPost::new(&test.auth);
    tokio::time::pause();
    for round in 0..=LINGERING / AT_ONCE {
        for _ in 0..AT_ONCE {
            let task = post.sending.spawn(std::future::pending());
            post.held.insert(task.id(), Instant::now());
        }
        tokio::time::advance(HELD_FOR - Duration::from_millis(1)).await;
        post.let_linger();
        assert_eq!(post.held.len(), AT_ONCE);
        tokio::time::advance(Duration::from_millis(1)).await;
        post.let_linger();
        assert_eq!(post.held.is_empty(), round < LINGERING / AT_ONCE, "round {round}");
    }
    post.sending.abort_all();
    while post.ended().await.is_some() {}
    assert!(post.held.is_empty());
}

fn mails_to(test: &TestAuth, address: &Email) -> usize {
    test.mails.sent().iter().filter(|sent| sent.to == *address).count()
}

#[tokio::test]
async fn a_claim_whose_commit_was_answered_late_is_left_to_its_lease() {
    let (test, rita, claimed) = claimed().await;
    let mut tx = test.auth.begin().await.expect("a transaction");
    let message = compose(&test.auth, &mut tx, &claimed).await.expect("it can be read").expect("it is wanted");
    tx.commit().await.expect("a commit");
    test.clock.advance(2 * LEASE / 3 + Duration::from_millis(1));
    send(&test.auth, &claimed, &message).await.expect("nothing is to be recorded");
    assert!(test.mails.sent().is_empty(), "another worker may have it before this one is done");
    test.clock.advance(LEASE / 3);
    test.tick().await;
    assert_eq!(mails_to(&test, &rita), 1);
}

#[tokio::test]
async fn no_other_worker_mails_a_link_whose_claim_is_renewed() {
    let (test, rita, claimed) = claimed().await;
    for _ in 0..3 {
        test.clock.advance(LEASE - Duration::from_millis(1));
        assert!(renew(&test.auth, &claimed).await.expect("it can be written").is_some());
        test.tick().await;
        assert_eq!(mails_to(&test, &rita), 0, "it is on its way");
    }
    test.clock.advance(LEASE);
    test.tick().await;
    assert_eq!(mails_to(&test, &rita), 1, "its worker died");
    assert!(renew(&test.auth, &claimed).await.expect("it can be written").is_none(), "it is mailed");
}

/// So long as a lease, without its last second.
async fn pass(clock: &MockClock) {
    for _ in 1..LEASE.as_secs() {
        tokio::time::sleep(Duration::from_secs(1)).await;
        clock.advance(Duration::from_secs(1));
    }
}

#[tokio::test]
async fn a_server_that_is_cut_off_from_the_database_ends_its_attempt_before_another_mails_the_link() {
    let (test, _, claimed) = claimed().await;
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
