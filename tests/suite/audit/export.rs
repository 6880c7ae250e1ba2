//! `POST /org/audit/export`: the audit log as a file that whoever has the published keys can verify.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, Response, scenarios};
use tenant_auth_core::{
    audit::{AuditKeySet, AuditRange, AuditVerifier, VerifiedAuditFile},
    http::{Body, Service},
    ports::{Clock, MockClock},
};

use crate::suite::support::{
    chain::{column, head, verified},
    hooks::{run_sql, texts_in},
};

scenarios![
    an_export_is_the_whole_log_and_can_be_verified,
    a_range_is_a_part_of_the_chain,
    an_export_tells_of_itself_after_its_moment,
    an_end_that_has_not_come_is_told_and_excuses_nothing,
    an_end_that_has_come_by_another_clock_cuts_the_log,
    one_byte_of_difference_is_found,
    what_was_erased_is_told_as_wiped,
    an_empty_range_is_a_file_too,
    one_export_at_a_time_and_none_that_died_is_in_the_way,
    there_are_24_exports_in_24_hours,
    only_admins_export_and_only_their_own_log,
    an_export_of_a_shortened_log_begins_where_the_log_does,
    a_log_that_is_longer_than_a_page_is_exported_whole,
    who_stops_reading_leaves_room_for_the_next,
    who_is_erased_meanwhile_ends_an_export,
    the_operator_is_not_counted,
    a_file_of_before_a_rotation_can_be_verified_after_it,
];

async fn keys_text(app: &App) -> String {
    app.anonymous().without_slug().get("/.well-known/audit-keys.json").await.expect(200).body
}

async fn keys(app: &App) -> AuditKeySet {
    AuditKeySet::parse(&keys_text(app).await).expect("a set of keys")
}

async fn export(admin: &Caller, range: Value) -> Response {
    admin.post("/org/audit/export", range).await
}

async fn judged(app: &App, file: &str) -> VerifiedAuditFile {
    AuditVerifier::new(&keys(app).await).verify(file.as_bytes()).expect("an audit file")
}

#[track_caller]
fn lines(file: &str) -> Vec<Value> {
    file.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn sequences(lines: &[Value]) -> Vec<String> {
    lines[1..lines.len() - 1].iter().map(|line| line["facts"]["sequence"].to_string()).collect()
}

async fn an_export_is_the_whole_log_and_can_be_verified(app: &App) {
    let (admin, max) = (app.admin().logged_in().await, app.member().logged_in().await);
    max.put("/auth/profile", json!({ "name": "Max \u{1f600} \"quoted\" \\" })).await.expect(200);
    let before = column(app, "acme", "sequence").await;
    let answer = export(&admin, json!({})).await.expect(200);
    assert_eq!(answer.header("Content-Type"), Some("application/x-ndjson"));
    let found = judged(app, &answer.body).await;
    assert!(found.is_good() && found.notes.is_empty(), "{found:#?}");
    let lines = lines(&answer.body);
    assert_eq!(sequences(&lines), before);
    assert_eq!(
        (&lines[0]["format"], &lines[0]["from"], &lines[0]["to"]),
        (&json!("tenant-auth-audit/1"), &Value::Null, &Value::Null)
    );
    assert_eq!(lines[lines.len() - 1]["count"], before.len());
    let hashes = column(app, "acme", "hash").await;
    assert_eq!(lines[lines.len() - 1]["head"], hashes[before.len() - 1]);
    verified(app, "acme").await;
}

async fn a_range_is_a_part_of_the_chain(app: &App) {
    let admin = app.admin().logged_in().await;
    app.advance(60);
    let from = app.clock.now().to_iso();
    admin.invite("one@example.com").await.expect(201);
    admin.invite("two@example.com").await.expect(201);
    app.advance(60);
    let to = app.clock.now().to_iso();
    let all = column(app, "acme", "sequence").await;
    let later = app.admin().logged_in().await;
    let answer = export(&later, json!({ "from": from, "to": to })).await.expect(200);
    let found = judged(app, &answer.body).await;
    assert!(found.is_good(), "{found:#?}");
    assert_eq!(sequences(&lines(&answer.body)), all[all.len() - 2..], "from is in it, to is not");
    export(&later, json!({ "from": "yesterday" })).await.expect_invalid("from");
    export(&later, json!({ "to": 7 })).await.expect_invalid("to");
    export(&later, json!({ "from": to, "to": from })).await.expect_invalid("to");
    export(&later, json!({ "from": from, "to": from })).await.expect(200);
}

async fn an_export_tells_of_itself_after_its_moment(app: &App) {
    let admin = app.admin().logged_in().await;
    let moment = column(app, "acme", "sequence").await.len();
    let from = "2020-01-01T00:00:00.000Z";
    let body = export(&admin, json!({ "from": from })).await.expect(200).body;
    assert_eq!(lines(&body).len(), moment + 2);
    let told = admin.get("/org/audit?kind=audit.exported").await.expect_ok()["entries"][0].clone();
    assert_eq!(told["data"], json!({ "from": from, "to": null, "entries": moment }));
    assert_eq!((&told["actor"]["id"], &told["context"]["ip"]), (&json!(admin.id()), &json!("127.0.0.1")));
    assert_eq!(told["sequence"], moment + 1);
}

async fn an_end_that_has_not_come_is_told_and_excuses_nothing(app: &App) {
    let admin = app.admin().logged_in().await;
    let moment = column(app, "acme", "sequence").await.len();
    let to = "2099-01-01T00:00:00.000Z";
    let body = export(&admin, json!({ "to": to })).await.expect(200).body;
    assert_eq!((lines(&body).len(), &lines(&body)[0]["to"]), (moment + 2, &json!(to)), "as it was asked for");
    let told = admin.get("/org/audit?kind=audit.exported").await.expect_ok()["entries"][0].clone();
    assert_eq!(told["data"], json!({ "from": null, "to": to, "entries": moment }));
    assert!(judged(app, &body).await.is_good());
    run_sql(app, "UPDATE tenant_auth_events SET data = NULL, data_salt = NULL WHERE kind = 'session.created'").await;
    let found = judged(app, &export(&admin, json!({ "to": to })).await.expect(200).body).await;
    assert!(found.findings.iter().any(|finding| finding.what.starts_with("was wiped")), "{found:#?}");
}

/// One server's clock is an hour ahead: by it the end has come.
async fn an_end_that_has_come_by_another_clock_cuts_the_log(app: &App) {
    let pat = app.org().new_member("Pat Person").await.logged_in().await;
    let behind = Arc::new(MockClock::at(app.clock.now()));
    app.advance(3_600);
    app.auth.operator().delete_user(&pat.email().parse().expect("an address")).await.expect("deleted");
    let to = behind.now().plus(Duration::from_secs(1_800)).to_iso();
    let all = column(app, "acme", "sequence").await.len();
    let behind = app.beside(move |setup| setup.clock = behind).await;
    let body = export(&behind.admin().logged_in().await, json!({ "to": to })).await.expect(200).body;
    assert_eq!(lines(&body)[0]["to"], to);
    assert!(lines(&body).len() < all + 2, "what happened after that end is not in it");
    let found = judged(app, &body).await;
    assert!(found.is_good(), "{found:#?}");
    assert!(found.notes.iter().any(|note| note.what.contains("the deletion is not in this range")), "{found:#?}");
}

async fn one_byte_of_difference_is_found(app: &App) {
    let admin = app.admin().logged_in().await;
    let file = export(&admin, json!({})).await.expect(200).body;
    let keys = keys(app).await;
    for at in (0..file.len()).step_by(17) {
        let mut changed = file.clone().into_bytes();
        changed[at] ^= 1;
        let found = AuditVerifier::new(&keys).verify(&*changed);
        assert!(!found.is_ok_and(|found| found.is_good()), "byte {at}");
    }
}

async fn what_was_erased_is_told_as_wiped(app: &App) {
    let admin = app.admin().logged_in().await;
    let pat = app.org().new_member("Pat Person").await.logged_in().await;
    pat.put("/auth/profile", json!({ "name": "Patricia" })).await.expect(200);
    admin.invite("pat@elsewhere.example").await.expect(201);
    app.auth.operator().delete_user(&pat.email().parse().expect("an address")).await.expect("deleted");
    let file = export(&admin, json!({})).await.expect(200).body;
    assert!(!file.contains("Patricia") && !file.contains(pat.email()));
    let found = judged(app, &file).await;
    assert!(found.is_good(), "{found:#?}");
    assert!(found.notes.iter().any(|note| note.what.starts_with("erased")), "{found:#?}");
    app.advance(60);
    admin.invite("later@elsewhere.example").await.expect(201);
    run_sql(app, "UPDATE tenant_auth_events SET data = NULL, data_salt = NULL WHERE kind = 'invite.created'").await;
    let found = judged(app, &export(&admin, json!({})).await.expect(200).body).await;
    assert!(!found.is_good(), "by hand, after the last deletion: nobody was erased with it");
}

async fn an_empty_range_is_a_file_too(app: &App) {
    let admin = app.admin().logged_in().await;
    let answer = export(&admin, json!({ "from": "2099-01-01T00:00:00Z" })).await.expect(200);
    let found = judged(app, &answer.body).await;
    assert_eq!((found.is_good(), found.entries, lines(&answer.body).len()), (true, 0, 2));
    admin.post_nothing("/org/audit/export").await.expect(200);
}

async fn one_export_at_a_time_and_none_that_died_is_in_the_way(app: &App) {
    let admin = app.admin().logged_in().await;
    let org = texts_in(app, "SELECT id FROM tenant_auth_organizations WHERE slug = 'acme'").await.remove(0);
    let until = app.clock.now().plus(Duration::from_secs(120)).millis();
    let elsewhere =
        format!("INSERT INTO tenant_auth_audit_exports (org_id, token, held_until) VALUES ('{org}', 'another', {until})");
    run_sql(app, &elsewhere).await;
    let refused = export(&admin, json!({})).await.expect_error(429, "rate_limited");
    assert_eq!(refused.header("Retry-After"), Some("120"));
    app.other_org().admin().logged_in().await.post("/org/audit/export", json!({})).await.expect(200);
    app.advance(120);
    let again = app.admin().logged_in().await;
    export(&again, json!({})).await.expect(200);
    export(&again, json!({})).await.expect(200);
    let until = app.clock.now().plus(Duration::from_secs(1_800)).millis();
    let ahead = format!("INSERT INTO tenant_auth_audit_exports (org_id, token, held_until) VALUES ('{org}', 'ahead', {until})");
    run_sql(app, &ahead).await;
    export(&again, json!({})).await.expect_error(429, "rate_limited"); // clocks differ
    let until = app.clock.now().plus(Duration::from_secs(24 * 3_600)).millis();
    run_sql(app, &format!("UPDATE tenant_auth_audit_exports SET held_until = {until}")).await;
    export(&again, json!({})).await.expect(200); // no lease of now ends then: the clock was ahead
    let held = texts_in(app, "SELECT token FROM tenant_auth_audit_exports").await;
    assert!(held.is_empty(), "an export that has ended holds nothing: {held:?}");
}

async fn there_are_24_exports_in_24_hours(app: &App) {
    let admin = app.admin().logged_in().await;
    for _ in 0..24 {
        export(&admin, json!({ "from": "2099-01-01T00:00:00Z" })).await.expect(200);
    }
    export(&admin, json!({})).await.expect_error(429, "rate_limited");
    let exported = column(app, "acme", "kind").await.iter().filter(|kind| *kind == "audit.exported").count();
    assert_eq!(exported, 24, "what is refused is not told");
    app.advance(24 * 3_600);
    export(&app.admin().logged_in().await, json!({})).await.expect(200);
}

async fn only_admins_export_and_only_their_own_log(app: &App) {
    export(&app.member().logged_in().await, json!({})).await.expect_error(403, "admin_required");
    export(&app.anonymous(), json!({})).await.expect_no_session();
    app.admin().logged_in().await;
    let greta = app.other_org().admin().logged_in().await;
    let file = export(&greta, json!({})).await.expect(200).body;
    assert!(!file.contains(app.admin().email()));
    export(&greta.at_org("acme"), json!({})).await.expect_error(401, "wrong_organization");
}

async fn an_export_of_a_shortened_log_begins_where_the_log_does(app: &App) {
    let admin = app.admin().logged_in().await;
    admin.invite("old@example.com").await.expect(201);
    let shortened = column(app, "acme", "sequence").await.len();
    app.advance(401 * 24 * 3_600);
    app.tick().await;
    let later = app.admin().logged_in().await;
    let file = export(&later, json!({})).await.expect(200).body;
    let found = judged(app, &file).await;
    assert!(found.is_good(), "{found:#?}");
    let first = head(app, "acme", "first_sequence").await;
    assert!(first.parse::<usize>().expect("a number") > shortened, "{first}");
    assert_eq!(sequences(&lines(&file))[0], first);
}

/// More than a page has, and more than waits for a client that does not read.
async fn with_a_long_log(app: &App) -> Caller {
    let admin = app.admin().logged_in().await;
    for n in 0..230 {
        admin.patch("/org", json!({ "name": format!("Acme {n} {}", "x".repeat(60)) })).await.expect(200);
    }
    admin
}

async fn who_stops_reading_leaves_room_for_the_next(app: &App) {
    let admin = with_a_long_log(app).await;
    let request = http::Request::post("/api/v1/org/audit/export")
        .header("x-org-slug", "acme")
        .header("authorization", format!("Bearer {}", admin.access_token()))
        .body(Body::Complete(Vec::new().into()))
        .expect("a request");
    let unread = Service::new(&app.auth).call(request, None).await;
    assert_eq!(unread.status(), 200);
    export(&admin, json!({})).await.expect_error(429, "rate_limited");
    drop(unread);
    let mut answer = export(&admin, json!({})).await;
    for _ in 0..100 {
        if answer.status == 200 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        answer = export(&admin, json!({})).await;
    }
    assert!(judged(app, &answer.expect(200).body).await.is_good());
}

async fn a_log_that_is_longer_than_a_page_is_exported_whole(app: &App) {
    let admin = with_a_long_log(app).await;
    let file = export(&admin, json!({})).await.expect(200).body;
    let found = judged(app, &file).await;
    assert!(found.is_good() && found.entries > 230 && file.len() > 128 * 1024, "{} {found:#?}", file.len());
}

async fn who_is_erased_meanwhile_ends_an_export(app: &App) {
    let admin = app.admin().logged_in().await;
    let pat = app.org().new_member("Pat Person").await.logged_in().await;
    let slug = "acme".parse().expect("a slug");
    let begun = app.auth.operator().export_audit(&slug, AuditRange::default()).await.expect("it begins");
    app.auth.operator().delete_user(&pat.email().parse().expect("an address")).await.expect("deleted");
    let mut file = Vec::new();
    begun.write(&mut file).await.expect_err("what it would tell is neither of then nor of now");
    assert!(!String::from_utf8_lossy(&file).contains("\"count\""), "no last line");
    assert!(judged(app, &export(&admin, json!({})).await.expect(200).body).await.is_good());
}

async fn the_operator_is_not_counted(app: &App) {
    app.admin().logged_in().await;
    let slug = "acme".parse().expect("a slug");
    for _ in 0..26 {
        let mut file = Vec::new();
        let export = app.auth.operator().export_audit(&slug, AuditRange::default()).await.expect("it begins");
        let (promised, written) = (export.entries(), export.write(&mut file).await.expect("written"));
        assert_eq!(promised, written);
        let found = judged(app, &String::from_utf8(file).expect("text")).await;
        assert!(found.is_good() && found.entries == written, "{found:#?}");
    }
}

async fn a_file_of_before_a_rotation_can_be_verified_after_it(app: &App) {
    let admin = app.admin().logged_in().await;
    let file = export(&admin, json!({})).await.expect(200).body;
    app.advance(60);
    app.auth.operator().rotate_keys(false).await.expect("rotated");
    let found = judged(app, &file).await;
    assert!(found.is_good() && found.notes.is_empty(), "{found:#?}");
    let retired = app.clock.now().to_iso();
    let published: Value = serde_json::from_str(&keys_text(app).await).expect("JSON");
    let ends: Vec<&Value> = published["keys"].as_array().expect("a list").iter().map(|key| &key["retiredAt"]).collect();
    assert_eq!(ends, [&json!(retired), &Value::Null], "the old one says since when it signs nothing");
    app.auth.operator().rotate_keys(true).await.expect("rotated");
    let found = judged(app, &file).await;
    assert!(found.is_good() && found.notes.len() == 2, "its key is in doubt now: {found:#?}");
}
