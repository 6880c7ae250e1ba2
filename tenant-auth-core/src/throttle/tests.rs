//! What holds for the attempts of one client network, whatever accounts and addresses they name.

use std::net::{IpAddr, Ipv6Addr};

use tokio::time::timeout;

use super::*;
use crate::testing::TestAuth;

/// An attempt on an account of its own, from an address of its own in this /48.
async fn attempt(auth: &TenantAuth, network: u16, number: u16) -> Result<Attempt, Error> {
    let email = format!("nobody{network}-{number}@acme.example").parse().expect("an address");
    let ip = IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, network, number, 0, 0, 0, 1));
    auth.password_attempt(&email, &Client { ip: Some(ip), ..Client::default() }).await
}

#[tokio::test]
async fn one_network_has_so_many_undecided_attempts_and_keeps_no_other_waiting() {
    let test = TestAuth::new().await;
    let mut undecided = Vec::new();
    for number in 0..128 {
        undecided.push(attempt(&test.auth, 1, number).await.expect("one of its places"));
    }
    let moment = Duration::from_millis(200);
    assert!(timeout(moment, attempt(&test.auth, 1, 128)).await.is_err(), "it waits, and takes no turn at the writer");
    attempt(&test.auth, 2, 0).await.expect("another network").withdrawn().await;
    undecided.pop().expect("one of them").withdrawn().await;
    attempt(&test.auth, 1, 129).await.expect("a place is free again").withdrawn().await;
}

/// A crash of the database may have lost it: it need not be on the disk.
#[tokio::test]
async fn a_failure_counts_without_its_reservation() {
    let test = TestAuth::new().await;
    let attempt = attempt(&test.auth, 1, 0).await.expect("its place");
    let keys: Vec<String> = attempt.limits.iter().map(|limit| limit.key.clone()).collect();
    let mut tx = test.auth.begin().await.expect("the writer");
    for key in &keys {
        tx.throttles().forget(key).await.expect("an answer");
    }
    tx.commit().await.expect("commits");
    attempt.failed().await.expect("the database is there");
    for key in &keys {
        let mut reader = test.auth.store().read().await.expect("a reader");
        assert_eq!(reader.throttles().state(key).await.expect("an answer").expect("a counter").failures, 1, "{key}");
    }
}

/// So many attempts may be made under the limit beside those that are undecided.
async fn free(auth: &TenantAuth, limit: &Limit) -> u32 {
    let mut tx = auth.begin().await.expect("the writer");
    let mut free = 0;
    let lease_until = tx.now().plus(LEASE);
    while tx.throttles().reserve(limit, lease_until).await.expect("an answer") {
        free += 1;
    }
    free
}

/// Its own place has ended by then, and others have theirs.
#[tokio::test]
async fn an_attempt_that_is_settled_after_its_lease_frees_no_place() {
    async fn completed(attempt: Attempt) {
        let mut tx = attempt.auth.begin().await.expect("the writer");
        attempt.completed(&mut tx).await.expect("an answer");
        tx.commit().await.expect("commits");
    }
    for (network, way) in ["withdrawn", "failed", "completed", "completed at a known address"].into_iter().enumerate() {
        let test = TestAuth::new().await;
        let network = u16::try_from(network).expect("a few");
        let attempt = async || attempt(&test.auth, network, 0).await.expect("one of its places");
        if way.ends_with("known address") {
            completed(attempt().await).await;
        }
        for is_late in [true, false] {
            let settled = attempt().await;
            let limit = settled.limits[0].clone();
            if is_late {
                test.clock.advance(LEASE);
            }
            let other = attempt().await;
            let left = free(&test.auth, &limit).await;
            match way {
                "withdrawn" => settled.withdrawn().await,
                "failed" => settled.failed().await.expect("the database is there"),
                _ => completed(settled).await,
            }
            let counted = u32::from(way == "failed");
            assert_eq!(free(&test.auth, &limit).await, left + u32::from(!is_late) - counted, "{way}, late: {is_late}");
            other.withdrawn().await;
        }
    }
}

/// The windows of their counts end a day ahead then.
#[tokio::test]
async fn wrong_codes_of_a_clock_that_was_ahead_are_over() {
    let test = TestAuth::new().await;
    let (user, client) = (UserId::from_stored("usr_1"), Client::default());
    let wrong = async || {
        let attempt = test.auth.code_attempt(&user, &client).await.expect("no block");
        attempt.failed().await.expect("the database is there");
    };
    for _ in 0..9 {
        wrong().await;
    }
    test.clock.set(test.auth.now().minus(DAY));
    wrong().await;
    test.clock.advance(Duration::from_secs(900));
    wrong().await;
    wrong().await;
}
