//! POST /keys/leaked: whoever shows a live key ends it, and nobody learns from the answer whether they did.

use std::{
    future::IntoFuture,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Response, id_of, scenarios, together};
use tenant_auth_core::model::Scope;

use crate::suite::{
    limits::addresses::{at, behind_proxy},
    support::listener::{Listener, system},
};

scenarios![
    a_reported_key_is_dead_at_once_and_its_admins_are_told,
    a_report_is_answered_alike_whatever_it_names,
    only_the_whole_key_that_is_shown_dies,
    keys_of_several_organizations_die_by_one_report,
    keys_of_a_suspended_organization_die_too,
    a_key_that_many_report_at_once_has_one_event_and_one_mail,
    false_reports_are_refused_after_thirty_and_live_keys_die_all_the_same,
    false_reports_are_counted_by_the_client_network_and_apart_from_guesses,
    keys_that_were_good_once_are_not_counted,
    a_report_names_one_key_or_up_to_a_hundred,
    the_pattern_of_the_guide_finds_every_key,
];

fn false_key(n: usize) -> String {
    format!("pk_live_01k9f3s8v6q2w4x7y9z0a1b2c3{n:065}")
}

/// A report by somebody of no organization.
async fn report(app: &App, body: Value) -> Response {
    app.anonymous().without_slug().post("/keys/leaked", body).await
}

async fn a_reported_key_is_dead_at_once_and_its_admins_are_told(app: &App) {
    let admin = app.admin().logged_in().await;
    let mut listener = Listener::new(app, &admin).await;
    let (api_key, key) = admin.created_key(json!({ "name": "Back end" })).await;
    listener.heard().await;
    report(app, json!({ "key": key })).await.expect(200);
    assert!(!app.key_works(&key).await);
    let told = json!({ "apiKey": api_key, "reason": "leaked" });
    assert_eq!(listener.only("api_key.revoked").await, (system(), told));
    let mails = app.mail_to(admin.email()).await;
    let mail = mails.last().expect("a mail");
    assert!(mail.subject.contains("leaked") && mail.text.contains("'Back end'"), "{mail:?}");
    assert!(!format!("{mail:?}").contains(&key));
    let before = mails.len();
    report(app, json!({ "key": key })).await.expect(200);
    listener.nothing().await;
    assert_eq!(app.mail_to(admin.email()).await.len(), before, "a second report is no news");
    assert!(app.mail_to(app.other_org().admin().email()).await.is_empty());
}

async fn a_report_is_answered_alike_whatever_it_names(app: &App) {
    let live = app.org().operators_key(&[Scope::Verify]).await;
    let mut answers = Vec::new();
    for key in [false_key(1), live.clone(), live, "rubbish".to_owned(), String::new()] {
        let began = Instant::now();
        answers.push(report(app, json!({ "key": key })).await.expect(200).body);
        assert!(began.elapsed() >= Duration::from_millis(500), "as long as it may take to revoke one");
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
    for slug in ["acme", "globex", "nowhere", "NO SLUG"] {
        let answer = app.anonymous().without_slug().with("X-Org-Slug", slug).post("/keys/leaked", json!({ "key": "x" })).await;
        assert_eq!(answer.expect(200).body, answers[0], "a slug is not looked at");
    }
}

async fn only_the_whole_key_that_is_shown_dies(app: &App) {
    let admin = app.admin().logged_in().await;
    let (old, old_key) = admin.created_key(json!({ "name": "Back end" })).await;
    let rotated = admin.post_nothing(&format!("/org/api-keys/{}/rotate", id_of(&old))).await.expect(201).data();
    let new_key = rotated["key"].as_str().expect("a key").to_owned();
    let parts = json!([&old_key[..old_key.len() - 1], format!("{old_key}x"), old_key.to_uppercase(), format!(" {old_key}")]);
    report(app, json!({ "keys": parts })).await.expect(200);
    assert!(app.key_works(&old_key).await && app.key_works(&new_key).await);
    report(app, json!({ "key": old_key })).await.expect(200);
    assert!(!app.key_works(&old_key).await && app.key_works(&new_key).await, "the successor lives");
    report(app, json!({ "key": new_key })).await.expect(200);
    assert!(!app.key_works(&new_key).await && app.key_works(app.org().api_key()).await);
}

async fn keys_of_several_organizations_die_by_one_report(app: &App) {
    let (here, there) = (app.org().api_key(), app.other_org().api_key());
    report(app, json!({ "keys": [false_key(1), here, "rubbish", there, here] })).await.expect(200);
    assert!(!app.key_works(here).await);
    app.other_org().backend().verify("x").await.expect_error(401, "invalid_api_key");
    for org in [app.org(), app.other_org()] {
        assert_eq!(app.mail_to(org.admin().email()).await.len(), 1);
    }
}

async fn keys_of_a_suspended_organization_die_too(app: &App) {
    app.org().suspend().await;
    report(app, json!({ "key": app.org().api_key() })).await.expect(200);
    app.org().reactivate().await;
    assert!(!app.key_works(app.org().api_key()).await);
}

async fn a_key_that_many_report_at_once_has_one_event_and_one_mail(app: &App) {
    let admin = app.admin().logged_in().await;
    let mut listener = Listener::new(app, &admin).await;
    let key = app.org().operators_key(&[Scope::Verify]).await;
    listener.heard().await;
    let before = app.mail_to(admin.email()).await.len();
    let nobody = app.anonymous().without_slug();
    let reports = (0..6).map(|_| tokio::spawn(nobody.post("/keys/leaked", json!({ "keys": [key, key] })).into_future()));
    for report in reports.collect::<Vec<_>>() {
        report.await.expect("an answer").expect(200);
    }
    listener.only("api_key.revoked").await;
    assert_eq!(app.mail_to(admin.email()).await.len(), before + 1);
}

async fn false_reports_are_refused_after_thirty_and_live_keys_die_all_the_same(app: &App) {
    let live = app.org().operators_key(&[Scope::Verify]).await;
    let thirty: Vec<String> = (0..30).map(false_key).collect();
    report(app, json!({ "keys": thirty })).await.expect(200);
    let refused = report(app, json!({ "keys": [false_key(31), live] })).await.expect_error(429, "rate_limited");
    assert_eq!(refused.header("Retry-After"), Some("900"));
    assert!(!app.key_works(&live).await);
    let other = app.org().operators_key(&[Scope::Verify]).await;
    report(app, json!({ "key": other })).await.expect(200);
    app.advance(900);
    report(app, json!({ "key": false_key(1) })).await.expect(200);
}

async fn false_reports_are_counted_by_the_client_network_and_apart_from_guesses(app: &App) {
    let app = behind_proxy(app).await;
    let fifteen: Vec<String> = ["", "rubbish", "dk_live_x"].map(str::to_owned).into_iter().chain((0..12).map(false_key)).collect();
    let report = |ip: &str| at(app.anonymous().without_slug(), ip).post("/keys/leaked", json!({ "keys": fifteen }));
    let thirty = ["203.0.113.1", "203.0.113.2", "2001:db8:1:2::3", "2001:db8:1:3::4"];
    for answer in together(thirty.into_iter().map(report).collect()).await {
        answer.expect(200);
    }
    let next = [("203.0.113.200", 429), ("2001:db8:1:ffff::9", 429), ("203.0.114.1", 200), ("2001:db8:2:3::4", 200)];
    for (answer, (ip, status)) in together(next.iter().map(|(ip, _)| report(ip)).collect()).await.into_iter().zip(next) {
        assert_eq!(answer.status, status, "{ip}");
    }
    let guess = |ip: &str| at(app.anonymous().backend_with(&false_key(1)), ip).verify("x");
    for _ in 0..30 {
        guess("203.0.113.200").await.expect_error(401, "invalid_api_key");
        guess("198.51.100.1").await.expect_error(401, "invalid_api_key");
    }
    guess("198.51.100.1").await.expect_error(429, "rate_limited");
    report("198.51.100.1").await.expect(200);
}

async fn keys_that_were_good_once_are_not_counted(app: &App) {
    let key = app.org().operators_key(&[Scope::Verify]).await;
    let again = vec![key; 100];
    report(app, json!({ "keys": again })).await.expect(200);
    report(app, json!({ "keys": again })).await.expect(200);
    report(app, json!({ "key": false_key(1) })).await.expect(200);
}

async fn a_report_names_one_key_or_up_to_a_hundred(app: &App) {
    let key = app.org().api_key();
    for (body, field) in [
        (json!({}), "key"),
        (json!({ "key": null }), "key"),
        (json!({ "key": 7 }), "key"),
        (json!({ "key": [key] }), "key"),
        (json!({ "keys": key }), "keys"),
        (json!({ "keys": [key, 7] }), "keys"),
        (json!({ "keys": vec![key; 101] }), "keys"),
        (json!({ "key": key, "keys": [key] }), "keys"),
    ] {
        report(app, body).await.expect_invalid(field);
    }
    let nobody = app.anonymous().without_slug();
    assert_eq!(
        report(app, json!({ "keys": [] })).await.expect(200).body,
        report(app, json!({ "key": "x" })).await.expect(200).body
    );
    nobody.post_nothing("/keys/leaked").text(key).await.expect_error(400, "invalid_request");
    nobody.post_nothing("/keys/leaked").body("text/plain", key).await.expect_error(415, "unsupported_media_type");
    nobody.get("/keys/leaked").await.expect_error(405, "method_not_allowed");
    let by_page = nobody.post("/keys/leaked", json!({ "key": key })).from_origin("https://evil.example");
    by_page.await.expect_error(403, "forbidden_origin");
    assert!(app.key_works(key).await);
}

/// The pattern that the guide gives to secret scanners.
async fn the_pattern_of_the_guide_finds_every_key(app: &App) {
    let guide = include_str!("../../../../tenant-auth-server/guides/operations.md");
    let (_, pattern) = guide.split_once("```text\npk_live_").expect("the guide has the pattern");
    let (pattern, _) = pattern.split_once('\n').expect("a line");
    let finds = jsonschema::validator_for(&json!({ "type": "string", "pattern": format!("^pk_live_{pattern}$") }));
    let finds = finds.expect("a regular expression");
    for _ in 1..20 {
        let key = app.org().operators_key(&[Scope::Verify]).await;
        assert!(finds.is_valid(&json!(key)), "{key}");
        assert!(!finds.is_valid(&json!(&key[..key.len() - 1])));
    }
    assert!(finds.is_valid(&json!(app.org().api_key())) && !finds.is_valid(&json!("pk_live_01k9f3s8")));
}
