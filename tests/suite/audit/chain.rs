//! The hash chain as it stands in the database.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, PASSWORD, scenarios};
use tenant_auth_core::ports::{Clock, MockClock};

use crate::suite::support::{
    account::in_both,
    authenticator::{SecondFactor, guarded_member},
    chain::{column, head, one, verified},
    hooks::{Hook, RECEIVER, event_in, run_sql},
    listener::session_of,
};

scenarios![
    every_event_is_chained_to_the_one_before,
    two_organizations_have_two_chains,
    times_of_an_organization_never_go_back,
    a_context_is_told_in_the_organization_of_the_request_only,
    a_second_step_is_told_by_its_own_request,
    what_nobody_asked_for_has_no_context,
    events_of_a_former_version_are_chained_by_the_next_commit,
    events_of_a_former_version_are_chained_by_a_migration,
    a_former_event_is_delivered_as_it_was_written,
];

const HOUR: Duration = Duration::from_secs(3_600);

fn renamed(admin: &Caller, name: &str) -> tenant_auth_conformance::Request {
    admin.patch("/org", json!({ "name": name }))
}

async fn every_event_is_chained_to_the_one_before(app: &App) {
    let (admin, max) = (app.admin().logged_in().await, app.member().logged_in().await);
    admin.invite("new@example.com").await.expect(201);
    max.put("/auth/profile", json!({ "name": "Max \u{1f600} \"quoted\" \\" })).await.expect(200);
    admin.delete(&format!("/org/members/{}", max.id())).await.expect(200);
    let kinds = verified(app, "acme").await;
    for kind in ["session.created", "invite.created", "user.updated", "member.removed", "session.revoked"] {
        assert!(kinds.iter().any(|have| have == kind), "{kind}: {kinds:?}");
    }
    let about = column(app, "acme", "user_id").await;
    let removed = kinds.iter().position(|kind| kind == "member.removed").expect("told");
    assert_eq!(about[removed], max.id());
    let salts = [column(app, "acme", "data_salt").await, column(app, "acme", "context_salt").await].concat();
    let mut different = salts.clone();
    different.sort();
    different.dedup();
    assert_eq!((different.len(), salts[0].len()), (salts.len(), 64), "no salt comes twice");
}

async fn two_organizations_have_two_chains(app: &App) {
    let (max, _) = in_both(app).await;
    max.put("/auth/profile", json!({ "name": "Maximilian" })).await.expect(200);
    let (here, there) = (verified(app, "acme").await, verified(app, "globex").await);
    assert_eq!((here.last(), there.last()), (Some(&"user.updated".to_owned()), Some(&"user.updated".to_owned())));
    assert_ne!(head(app, "acme", "hash").await, head(app, "globex", "hash").await);
}

async fn times_of_an_organization_never_go_back(app: &App) {
    let admin = app.admin().logged_in().await;
    renamed(&admin, "Acme before").await.expect(200);
    let before = column(app, "acme", "created_at").await;
    let clock = Arc::new(MockClock::at(app.clock.now().minus(HOUR)));
    let set_back = app.beside(move |setup| setup.clock = clock).await;
    app.member().via(&set_back).logged_in().await;
    let after = column(app, "acme", "created_at").await;
    assert_eq!(after.len(), before.len() + 1);
    assert_eq!(after.last(), before.last(), "the time of the last one, not an hour less");
    verified(app, "acme").await;
}

async fn a_context_is_told_in_the_organization_of_the_request_only(app: &App) {
    let (max, _) = in_both(app).await;
    let max = max.with("User-Agent", "Firefox on the moon");
    max.put("/auth/profile", json!({ "name": "Maximilian" })).await.expect(200);
    let told: Value = serde_json::from_str(column(app, "acme", "context").await.last().expect("one")).expect("JSON");
    assert_eq!(told, json!({ "ip": "127.0.0.1", "userAgent": "Firefox on the moon", "sessionId": session_of(&max) }));
    assert_eq!(column(app, "globex", "context").await.last().map(String::as_str), Some("null"));

    let again = app.member().with("User-Agent", &"a".repeat(600)).logged_in().await;
    let told: Value = serde_json::from_str(column(app, "acme", "context").await.last().expect("one")).expect("JSON");
    assert_eq!(told["sessionId"], session_of(&again), "at a login the session that it opens");
    assert_eq!(told["userAgent"], "a".repeat(512));
    let session = session_of(&again);
    again.logout().await.expect(200);
    let told: Value = serde_json::from_str(column(app, "acme", "context").await.last().expect("one")).expect("JSON");
    assert_eq!((&told["ip"], &told["sessionId"]), (&"127.0.0.1".into(), &session.into()));
}

async fn a_second_step_is_told_by_its_own_request(app: &App) {
    let (member, authenticator) = guarded_member(app).await;
    let device = app.anonymous();
    device.login_with(member.email(), PASSWORD).header("user-agent", "First/1").await.expect(200);
    app.advance(60);
    device.enter(&authenticator.code(app)).header("user-agent", "Second/2").await.expect(200);
    let told: Value = serde_json::from_str(column(app, "acme", "context").await.last().expect("one")).expect("JSON");
    assert_eq!(told["userAgent"], "Second/2");
}

async fn what_nobody_asked_for_has_no_context(app: &App) {
    let slug = "acme".parse().expect("a slug");
    app.auth.operator().set_organization_status(&slug, tenant_auth_core::model::Status::Suspended).await.expect("suspended");
    let (kinds, contexts) = (column(app, "acme", "kind").await, column(app, "acme", "context").await);
    assert_eq!((kinds.last().map(String::as_str), contexts.last().map(String::as_str)), (Some("org.suspended"), Some("null")));
    verified(app, "acme").await;
}

/// Writes three events as the version before the chain did, with a gap that its sweep left before the last two.
async fn former_events(app: &App) -> Vec<Value> {
    let org = one(app, "SELECT id FROM tenant_auth_organizations WHERE slug = 'acme'").await;
    let mut sequence: i64 = head(app, "acme", "sequence").await.parse().expect("a number");
    let mut payloads = Vec::new();
    for (n, step) in [1, 3, 1].into_iter().enumerate() {
        sequence += step;
        let at = app.clock.now();
        let payload = format!(
            r#"{{"id":"evt_0000000000000000000000000{n}","type":"org.updated","timestamp":"{}","sequence":{sequence},"org":{{"id":"{org}","slug":"acme"}},"actor":{{"type":"user","id":"usr_{n}"}},"data":{{"z":1,  "a":"\u00e9","member":{{"userId":"usr_about"}}}}}}"#,
            at.to_iso()
        );
        run_sql(
            app,
            &format!(
                "INSERT INTO tenant_auth_events (id, org_id, sequence, kind, payload, created_at) VALUES \
                 ('evt_0000000000000000000000000{n}', '{org}', {sequence}, 'org.updated', '{payload}', {})",
                at.millis()
            ),
        )
        .await;
        let waits = format!(
            "INSERT INTO tenant_auth_outbox (event_id, org_id, sequence, kind, created_at) VALUES \
             ('evt_0000000000000000000000000{n}', '{org}', {sequence}, 'org.updated', {})",
            at.millis()
        );
        run_sql(app, &waits).await;
        payloads.push(serde_json::from_str(&payload).expect("JSON"));
    }
    run_sql(app, &format!("UPDATE tenant_auth_event_sequences SET sequence = {sequence} WHERE org_id = '{org}'")).await;
    payloads
}

async fn expect_former_chained(app: &App) {
    assert!(column(app, "acme", "payload").await.iter().all(String::is_empty), "each is in parts");
    let (ids, users) = (column(app, "acme", "id").await, column(app, "acme", "user_id").await);
    let first = ids.iter().position(|id| id == "evt_00000000000000000000000000").expect("nothing is lost");
    assert_eq!(users[first], "usr_about");
    assert_eq!(column(app, "acme", "actor_id").await[first + 1], "usr_1");
    assert_eq!(column(app, "acme", "data").await[first], r#"{"z":1,  "a":"\u00e9","member":{"userId":"usr_about"}}"#);
    assert_eq!(head(app, "acme", "first_sequence").await, column(app, "acme", "sequence").await[first + 1], "after the gap");
    verified(app, "acme").await;
}

async fn events_of_a_former_version_are_chained_by_the_next_commit(app: &App) {
    let admin = app.admin().logged_in().await;
    former_events(app).await;
    renamed(&admin, "Acme after").await.expect(200);
    expect_former_chained(app).await;
    assert_eq!(verified(app, "acme").await.last().map(String::as_str), Some("org.updated"));
}

async fn events_of_a_former_version_are_chained_by_a_migration(app: &App) {
    app.admin().logged_in().await;
    former_events(app).await;
    let store = app.database().store().await;
    store.migrate().await.expect("up to date");
    store.migrate().await.expect("nothing to do");
    store.close().await;
    expect_former_chained(app).await;
}

async fn a_former_event_is_delivered_as_it_was_written(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    let written = former_events(app).await;
    app.tick().await;
    let whole: Vec<Value> = hook.sent(app).iter().map(event_in).collect();
    assert_eq!(whole.len(), 3);
    assert!(written.iter().all(|payload| whole.contains(payload)));
    let delivery = hook.log(&admin).await[0]["id"].as_str().expect("an id").to_owned();
    renamed(&admin, "Acme after").await.expect(200);
    hook.redelivering(&admin, &delivery).await.expect(202);
    app.tick().await;
    let sent = hook.sent(app);
    let bodies: Vec<&str> = sent.iter().map(|request| request.body.as_str()).collect();
    let again = sent.iter().map(event_in).filter(|event| written.contains(event)).count();
    assert_eq!(again, 4, "{bodies:#?}");
}
