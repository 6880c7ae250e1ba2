//! A crowd at the hashing queue (behaviour.md, B88): whoever wants many passwords compared at once waits behind nobody but its own
//! organization and its own client network, and takes the places of nobody who holds fewer.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tenant_auth_conformance::{App, Caller, scenarios};
use tenant_auth_core::ports::{Argon2Hasher, Argon2Params};
use tokio::task::JoinSet;

use crate::suite::limits::addresses::at;

scenarios![right_logins_of_one_organization_keep_no_other_out, wrong_logins_from_one_network_keep_no_other_out,];

/// How many log in at the same time, again and again.
const CROWD: usize = 24;
/// How many passwords may wait to be compared.
const PLACES: usize = 6;

/// A server on which each comparison takes a while, and few can wait; it believes the proxy in front of it.
async fn with_a_short_queue(app: &App) -> App {
    // Slow enough for a crowd to fill the queue. The hashing thread gives way to whatever else the machine does, so it is to need
    // little: beside other scenarios a few of these may take a second.
    let slow = Argon2Params { memory_kib: 19_456, iterations: 1, parallelism: 1 };
    let hasher = Argon2Hasher::with_places(slow, PLACES).expect("valid parameters");
    let change = |setup: &mut tenant_auth_conformance::Setup| {
        setup.hasher = Some(Arc::new(hasher));
        setup.config.login.max_failures_per_ip = 100_000;
        setup.config.network.trusted_proxies = vec!["127.0.0.0/8".parse().expect("a network")];
    };
    app.beside(change).await
}

/// Lets every caller of the crowd log in again and again while something else happens; the statuses that the crowd got.
async fn crowded(crowd: Vec<(Caller, String)>, meanwhile: impl Future<Output = ()>) -> Vec<u16> {
    let (is_over, mut crowding) = (Arc::new(AtomicBool::new(false)), JoinSet::new());
    for (caller, password) in crowd {
        let is_over = Arc::clone(&is_over);
        crowding.spawn(async move {
            let mut statuses = Vec::new();
            while !is_over.load(Ordering::SeqCst) {
                statuses.push(caller.login_with(caller.email(), &password).may_fail().await.status);
            }
            statuses
        });
    }
    meanwhile.await;
    is_over.store(true, Ordering::SeqCst);
    crowding.join_all().await.into_iter().flatten().collect()
}

async fn right_logins_of_one_organization_keep_no_other_out(app: &App) {
    let mut crowd = Vec::new();
    for n in 0..CROWD {
        let member = app.other_org().new_member(&format!("Crowd{n}")).await;
        crowd.push((member.person().clone(), member.person().password.clone()));
    }
    let app = with_a_short_queue(app).await;
    let crowd = crowd.into_iter().map(|(person, password)| (app.other_org().device_of(&person), password)).collect();
    let statuses = crowded(crowd, async {
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        for _ in 0..5 {
            app.member().login().await.expect(200);
        }
    });
    let statuses = statuses.await;
    assert!(statuses.contains(&200), "they were not all refused");
    assert!(statuses.contains(&503), "the queue was full");
}

async fn wrong_logins_from_one_network_keep_no_other_out(app: &App) {
    let app = with_a_short_queue(app).await;
    let crowd = (0..CROWD).map(|n| {
        let nobody = app.other_org().member().person().clone();
        let caller = app.anonymous().named(tenant_auth_conformance::Person { email: format!("nobody{n}@acme.example"), ..nobody });
        (at(caller, &format!("203.0.113.{n}")), format!("not-the-password-{n}"))
    });
    let statuses = crowded(crowd.collect(), async {
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        for _ in 0..5 {
            at(app.member(), "198.51.100.7").login().await.expect(200);
        }
    });
    let statuses = statuses.await;
    assert!(statuses.contains(&401), "they were not all refused");
    assert!(statuses.contains(&503), "the queue was full");
}
