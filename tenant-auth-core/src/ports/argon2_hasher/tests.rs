use std::time::Instant;

use super::*;
use crate::ports::{ForeignHash, HashScheme};

fn cheap(memory_kib: u32, pepper: Option<&str>) -> Argon2Hasher {
    Argon2Hasher::new(Argon2Params { memory_kib, iterations: 1, parallelism: 1 }, pepper).expect("valid parameters")
}

fn share() -> QueueShare {
    QueueShare::new(&"org_00000000000000000000000001".parse().expect("an id"), None)
}

async fn verdict(hasher: &Argon2Hasher, password: &str, stored: Option<&StoredPassword>) -> Verdict {
    hasher.verify(&Password::new(password), stored, &share()).await.expect("verifies")
}

#[tokio::test]
async fn a_hash_matches_its_password_only() {
    let hasher = cheap(64, None);
    let stored = hasher.hash(&Password::new("correct horse"), &share()).await.expect("hashes");
    assert_eq!(verdict(&hasher, "correct horse", Some(&stored)).await, Verdict::Match);
    assert_eq!(verdict(&hasher, "wrong horse", Some(&stored)).await, Verdict::Mismatch);
    assert_eq!(verdict(&hasher, "a password that nobody has", None).await, Verdict::Mismatch);
}

#[tokio::test]
async fn weaker_parameters_and_another_pepper_are_noticed() {
    let stored = cheap(64, None).hash(&Password::new("correct horse"), &share()).await.expect("hashes");
    assert_eq!(verdict(&cheap(128, None), "correct horse", Some(&stored)).await, Verdict::MatchOutdated);
    assert_eq!(verdict(&cheap(64, Some("pepper")), "correct horse", Some(&stored)).await, Verdict::Mismatch);
}

fn with_peppers(peppers: &[&str]) -> Argon2Hasher {
    let cost = Argon2Params { memory_kib: 64, iterations: 1, parallelism: 1 };
    Argon2Hasher::metered(cost, peppers, WorkMeter::unread()).expect("valid parameters")
}

#[tokio::test]
async fn each_pepper_verifies_and_the_first_one_hashes() {
    let rotated = with_peppers(&["new", "old", ""]);
    for former in [Some("old"), None] {
        let stored = cheap(64, former).hash(&Password::new("correct horse"), &share()).await.expect("hashes");
        assert_eq!(verdict(&rotated, "correct horse", Some(&stored)).await, Verdict::MatchOutdated, "{former:?}");
        assert_eq!(verdict(&rotated, "wrong horse", Some(&stored)).await, Verdict::Mismatch);
    }
    let stored = rotated.hash(&Password::new("correct horse"), &share()).await.expect("hashes");
    assert_eq!(verdict(&rotated, "correct horse", Some(&stored)).await, Verdict::Match);
    assert_eq!(verdict(&cheap(64, Some("new")), "correct horse", Some(&stored)).await, Verdict::Match);
    for other in [Some("old"), None] {
        assert_eq!(verdict(&cheap(64, other), "correct horse", Some(&stored)).await, Verdict::Mismatch);
    }
}

#[tokio::test]
async fn a_wrong_password_costs_the_same_whichever_pepper_the_account_was_hashed_with() {
    let rotated = with_peppers(&["new", "old"]);
    let work = || rotated.engine.done.0.swap(0, std::sync::atomic::Ordering::Relaxed);
    work();
    verdict(&rotated, "wrong horse", None).await;
    assert_eq!(work(), 2 * 64, "each pepper is tried");
    for hasher in [cheap(64, Some("new")), cheap(64, Some("old")), cheap(32, Some("old"))] {
        let stored = hasher.hash(&Password::new("correct horse"), &share()).await.expect("hashes");
        assert_eq!(verdict(&rotated, "wrong horse", Some(&stored)).await, Verdict::Mismatch);
        assert_eq!(work(), 2 * 64);
    }
}

#[tokio::test]
async fn a_wrong_password_costs_the_same_whatever_the_account_was_hashed_with() {
    let costs = [(64, 1, 1), (64, 3, 1), (100, 2, 1), (4_096, 1, 4), (4_000, 3, 1)];
    let of = |(memory_kib, iterations, parallelism)| Argon2Params { memory_kib, iterations, parallelism };
    let today = Argon2Hasher::new(of((4_096, 3, 1)), None).expect("valid parameters");
    let work = || today.engine.done.0.swap(0, std::sync::atomic::Ordering::Relaxed);
    work();
    verdict(&today, "wrong horse", None).await;
    let decoy = work();
    assert_eq!(decoy, 3 * 4_096);
    for older in costs.map(of) {
        let older = Argon2Hasher::new(older, None).expect("valid parameters");
        let stored = older.hash(&Password::new("correct horse"), &share()).await.expect("hashes");
        assert_eq!(verdict(&today, "wrong horse", Some(&stored)).await, Verdict::Mismatch);
        let spent = work();
        assert!((decoy..decoy + 32).contains(&spent), "{spent} instead of {decoy} after {older:?}");
    }
}

#[tokio::test]
async fn a_failed_login_takes_as_long_as_with_the_dearest_imported_hash() {
    let hasher = cheap(64, Some("pepper"));
    let imported = "$argon2id$v=19$m=64,t=2,p=1$c2l4dGVlbiBieXRlcyBvaw$6l+5b6xNgkpIVRAh2b57tbFCa6MezZlThsJN9gGMC8o";
    let imported = ForeignHash::parse(imported).expect("a hash").stored();
    let dear = [ForeignCost { scheme: HashScheme::Bcrypt, units: 1 << 10 }];
    let least = hasher.engine.pace.dearest(&dear).expect("it is measured");
    let took = async |password: &str, stored: Option<&StoredPassword>| {
        let begun = Instant::now();
        let even = hasher.verify_evenly(&Password::new(password), stored, &dear, &share()).await.expect("verifies");
        (even.verdict, begun.elapsed() + even.wait >= least)
    };
    let own = hasher.hash(&Password::new("correct horse battery"), &share()).await.expect("hashes");
    for stored in [None, Some(&own), Some(&imported)] {
        assert_eq!(took("wrong horse", stored).await, (Verdict::Mismatch, true));
    }
    assert_eq!(took("correct horse battery", Some(&own)).await.0, Verdict::Match);
    assert_eq!(took("correct horse battery", Some(&imported)).await.0, Verdict::MatchOutdated, "without the pepper");
    assert_eq!(verdict(&hasher, "correct horse battery", Some(&imported)).await, Verdict::MatchOutdated);
}
