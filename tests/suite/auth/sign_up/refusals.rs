//! What the deployment's own log tells of refused sign-ups (behaviour.md, B267).

use serde_json::{Value, json};
use tenant_auth_conformance::{App, scenarios};
use tenant_auth_core::audit::AuditVerifier;

use super::{complete, newcomer, nobody, sign_up_token};
use crate::suite::{
    audit::deployment::{exported, lines, sha256},
    limits::addresses::{at, behind_proxy},
    support::hooks::run_sql,
};

scenarios![on each database:
    what_a_good_link_is_refused_is_told,
    few_are_told_of_a_network_and_of_all,
    what_cannot_be_told_is_refused_alike,
];

/// The entries about refused sign-ups.
async fn told(app: &App) -> Vec<Value> {
    let lines = lines(&exported(app).await);
    lines.into_iter().filter(|line| line["facts"]["type"] == "sign_up.refused").collect()
}

/// What the last of them tells.
pub(super) async fn last_told(app: &App) -> Value {
    told(app).await.pop().expect("one is told")["data"]["part"].take()
}

async fn what_a_good_link_is_refused_is_told(app: &App) {
    let address = "rita@rockets.example";
    let token = sign_up_token(app, address).await;
    let mut weak = newcomer(&token, "rockets");
    weak["password"] = json!("password");
    complete(&nobody(app), weak).await.expect_error(400, "weak_password");
    complete(&nobody(app), newcomer("guess", "acme")).await.expect_error(400, "invalid_link");
    assert!(told(app).await.is_empty(), "neither what was typed nor a bad link is told");
    complete(&nobody(app), newcomer(&token, "acme")).await.expect_error(409, "slug_taken");
    complete(&nobody(app), newcomer(&token, "www")).await.expect_error(400, "slug_reserved");
    let told = told(app).await;
    let parts: Vec<&Value> = told.iter().map(|entry| &entry["data"]["part"]).collect();
    let taken = json!({ "reason": "slug_taken", "slugDigest": sha256("acme") });
    assert_eq!(parts, [&taken, &json!({ "reason": "slug_reserved", "slugDigest": sha256("www") })]);
    for entry in &told {
        assert_eq!(entry["facts"]["actor"], json!({ "type": "system", "id": null }));
        assert_eq!((&entry["facts"]["user"], &entry["context"]["part"]), (&Value::Null, &Value::Null));
    }
    complete(&nobody(app), newcomer(&token, "rockets")).await.expect(201);
    let file = exported(app).await;
    for word in [address, "Rita", "Rockets", "\"acme\"", "\"www\"", "127.0.0.1"] {
        assert!(!file.contains(word), "{word}");
    }
    assert!(AuditVerifier::new(&app.auth.audit_keys()).verify(file.as_bytes()).expect("an audit file").is_good());
}

async fn few_are_told_of_a_network_and_of_all(app: &App) {
    let app = &behind_proxy(app).await;
    let token = sign_up_token(app, "rita@rockets.example").await;
    let refused = async |network: usize, count: usize| {
        for n in 0..count {
            let rita = at(nobody(app), &format!("203.0.{network}.{n}"));
            complete(&rita, newcomer(&token, "acme")).await.expect_error(409, "slug_taken");
        }
        told(app).await.len()
    };
    assert_eq!(refused(0, 12).await, 10, "of one network");
    assert_eq!(refused(1, 1).await, 11, "another has a count of its own");
    for network in 2..10 {
        refused(network, 10).await;
    }
    assert_eq!(refused(10, 10).await, 100, "of all");
    assert_eq!(refused(11, 1).await, 100);
    app.advance(24 * 3_600);
    let token = sign_up_token(app, "rita@rockets.example").await;
    complete(&at(nobody(app), "203.0.0.1"), newcomer(&token, "acme")).await.expect_error(409, "slug_taken");
    assert_eq!(told(app).await.len(), 101);
}

async fn what_cannot_be_told_is_refused_alike(app: &App) {
    let token = sign_up_token(app, "rita@rockets.example").await;
    let told_of = complete(&nobody(app), newcomer(&token, "acme")).await.expect_error(409, "slug_taken");
    run_sql(app, "ALTER TABLE tenant_auth_deployment_entries RENAME TO away").await;
    let untold = complete(&nobody(app), newcomer(&token, "acme")).await.expect_error(409, "slug_taken");
    run_sql(app, "ALTER TABLE away RENAME TO tenant_auth_deployment_entries").await;
    assert_eq!(untold.body, told_of.body);
    assert_eq!(told(app).await.len(), 1);
    complete(&nobody(app), newcomer(&token, "rockets")).await.expect(201);
}
