//! API keys: a verification beside the end of its key.

use std::sync::atomic::{AtomicBool, Ordering};

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

async fn made(admin: &Caller) -> Value {
    admin.create_key("Back end").await.expect(201).data()
}
