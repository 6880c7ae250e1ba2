//! API keys: a verification beside the end of its key.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::Duration,
};

use serde_json::{Value, json};
use tenant_auth_conformance::{Caller, id_of};
use tenant_auth_core::model::Role;

use super::{Deployment, Tally, rounds};

/// The key is rotated without an overlap in one round and revoked in the next, at one server, while the other verifies with it
/// again and again: what is sent after the end was acknowledged is refused.
pub(super) async fn a_key_is_dead_everywhere_once_it_was_ended(deployment: &Deployment, tally: &mut Tally) {
    let admin = deployment.person(Role::OrgAdmin).await;
    let token = admin.access_token();
    let mut shown = made(&admin).await;
    for round in 0..rounds() {
        deployment.forget_counts(round, 100);
        let (id, key) = (id_of(&shown["apiKey"]), shown["key"].as_str().expect("a key"));
        let path = format!("/org/api-keys/{id}");
        let end = if round % 2 == 0 {
            admin.post(&format!("{path}/rotate"), json!({ "overlapSeconds": 0 }))
        } else {
            admin.delete(&path)
        };
        let backend = deployment.caller(1).backend_with(key);
        let is_ended = AtomicBool::new(false);
        let ending = async {
            let ended = end.await;
            is_ended.store(true, Ordering::SeqCst);
            ended
        };
        let verifying = async {
            loop {
                let is_late = is_ended.load(Ordering::SeqCst);
                let answer = backend.verify(&token).await;
                if answer.status != 200 {
                    break answer;
                }
                assert!(!is_late && answer.expect_ok()["valid"] == true, "verified after its key was ended");
                tally.count("verified");
            }
        };
        let (ended, refused) = tokio::join!(ending, verifying);
        refused.expect_error(401, "invalid_api_key");
        tally.count("refused");
        assert!(ended.status < 300, "{}", ended.shown());
        for side in [1, 0] {
            deployment.caller(side).backend_with(key).verify(&token).await.expect_error(401, "invalid_api_key");
        }
        shown = if round % 2 == 0 { ended.data() } else { made(&admin).await };
        for side in [1, 0] {
            let key = shown["key"].as_str().expect("a key");
            assert!(deployment.caller(side).backend_with(key).finds_valid(&token).await, "the new key works everywhere at once");
        }
    }
}

/// The product changes an organization by its key at both servers, again and again, while the key is revoked on the command line: what
/// was let in before is committed before the revocation is answered, or comes to nothing.
pub(super) async fn a_deployment_key_changes_nothing_once_it_was_revoked(deployment: &Deployment, tally: &mut Tally) {
    let admin = deployment.person(Role::OrgAdmin).await;
    let name = async || admin.get("/org").await.expect_ok()["org"]["name"].clone();
    for round in 0..rounds() {
        deployment.forget_counts(round, 5);
        let (id, key) = deployment.product_key().await;
        let (is_ended, changed) = (AtomicBool::new(false), AtomicUsize::new(0));
        let revoking = async {
            while changed.load(Ordering::SeqCst) < 4 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            deployment.revoke_product_key(&id).await;
            is_ended.store(true, Ordering::SeqCst);
            name().await
        };
        let changing = async |side: usize| {
            let product = deployment.caller(side).backend_with(&key);
            for n in 0.. {
                let is_late = is_ended.load(Ordering::SeqCst);
                let answer = product.patch("/org", json!({ "name": format!("Round {round}.{side}.{n}") })).await;
                if answer.status != 200 {
                    answer.expect_error(401, "invalid_api_key");
                    break;
                }
                assert!(!is_late, "changed after its key was revoked");
                changed.fetch_add(1, Ordering::SeqCst);
            }
        };
        let (seen, ..) = tokio::join!(revoking, changing(0), changing(1));
        assert_eq!(seen, name().await, "what the key did was done when its end was told");
        (0..changed.into_inner()).for_each(|_| tally.count("changed"));
        tally.count("revoked");
    }
}

async fn made(admin: &Caller) -> Value {
    admin.create_key("Back end").await.expect(201).data()
}
