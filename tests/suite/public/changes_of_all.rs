//! GET /public/changes with a deployment key and no slug: the product's backend is told of all organizations in one answer, as of each
//! apart, and nothing of the operators' own.

use std::{
    future::IntoFuture,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, Org, Setup, scenarios, shape};
use tenant_auth_core::{
    id::DeploymentKeyId,
    model::DeploymentScope::{MembersRead, Verify},
    testing::change_log::ChangeLog,
};

use super::{
    changes::{ask, changes, cursor_of_now, session_of},
    deployment_keys::{made, new_key},
};
use crate::suite::admin::removal::{globex, id_of_globex, number};

scenarios![
    without_a_cursor_it_is_the_one_of_now,
    each_organization_is_told_of_beside_the_others,
    what_changes_an_organization_is_everything_of_it,
    an_organization_that_is_removed_is_everything_of_it,
    what_changes_all_answers_is_everything,
    of_too_many_everything_may_have_changed,
    nothing_is_told_of_the_operators_organization,
    a_cursor_of_the_other_kind_is_everything,
    only_a_deployment_key_for_verify_may_ask,
];

/// The product's backend, which names no organization.
pub(super) async fn product(app: &App) -> (DeploymentKeyId, Caller) {
    let (id, key) = made(app, new_key(&[Verify])).await;
    (id, app.anonymous().backend_with(&key).without_slug())
}

/// The organization's id, as verify tells it.
pub(super) async fn id_of(org: Org<'_>, product: &Caller) -> String {
    let token = org.admin().logged_in().await.access_token();
    let answer = product.clone().at_org(org.slug()).verify(&token).await.expect_ok();
    answer["org"]["id"].as_str().expect("an id").to_owned()
}

/// What is told of an organization.
pub(super) fn told(id: &str, sessions: &[&Value], users: &[&str]) -> Value {
    json!({ "id": id, "everything": false, "sessions": sessions, "users": users })
}

fn everything_of(id: &str) -> Value {
    json!({ "id": id, "everything": true, "sessions": [], "users": [] })
}

/// The organizations of an answer in which not everything may have changed.
pub(super) fn orgs(changes: &Value) -> &Value {
    assert_eq!(changes["everything"], false, "{changes}");
    &changes["orgs"]
}

pub(super) fn is_everything(changes: &Value) -> bool {
    changes["everything"] == true && changes["orgs"] == json!([])
}

async fn without_a_cursor_it_is_the_one_of_now(app: &App) {
    let (_, product) = product(app).await;
    app.member().logged_in().await.logout().await.expect(200);
    let first = product.get("/public/changes").await.expect_ok();
    assert_eq!(shape(&first), ["cursor", "everything", "keyExpiresAt", "orgs"]);
    assert_eq!((orgs(&first), &first["keyExpiresAt"]), (&json!([]), &Value::Null));
    let second = changes(&product, &first["cursor"]).await;
    assert_eq!(orgs(&second), &json!([]));
    let of_one = cursor_of_now(&app.backend()).await;
    let texts = [&first["cursor"], &second["cursor"], &of_one].map(|cursor| cursor.as_str().expect("a text"));
    assert!(texts[0] != texts[1] && texts.iter().all(|text| text.len() == of_one.as_str().map_or(0, str::len)));
}

async fn each_organization_is_told_of_beside_the_others(app: &App) {
    let (_, product) = product(app).await;
    let (acme, globex) = (id_of(app.org(), &product).await, id_of(app.other_org(), &product).await);
    let (member, stranger) = (app.member().logged_in().await, app.other_org().member().logged_in().await);
    let (start, session) = (cursor_of_now(&product).await, session_of(&member));
    member.logout().await.expect(200);
    let data = changes(&product, &start).await;
    assert_eq!(orgs(&data), &json!([told(&acme, &[&session], &[])]));
    stranger.put("/auth/profile", json!({ "name": "Another Name" })).await.expect(200);
    let admin = app.admin().logged_in().await;
    admin.set_metadata(member.id(), json!({ "a": 1 })).await.expect(200);
    let next = changes(&product, &data["cursor"]).await;
    assert_eq!(orgs(&next), &sorted([told(&acme, &[], &[member.id()]), told(&globex, &[], &[stranger.id()])]));
    assert_eq!(orgs(&changes(&product, &next["cursor"]).await), &json!([]), "each once");
    let both = sorted([told(&acme, &[&session], &[member.id()]), told(&globex, &[], &[stranger.id()])]);
    // The same from the database, by a process that was not there.
    for app in [app, &app.beside(|_| {}).await] {
        assert_eq!(orgs(&changes(&product.via(app), &start).await), &both);
    }
    let at_globex = product.clone().at_org("globex");
    let of_one = cursor_of_now(&at_globex).await;
    app.admin().logged_in().await.logout().await.expect(200);
    assert_eq!(shape(&changes(&at_globex, &of_one).await), ["cursor", "everything", "keyExpiresAt", "sessions", "users"]);
}

/// In the order of their ids.
fn sorted(mut orgs: [Value; 2]) -> Value {
    orgs.sort_by_key(|org| org["id"].to_string());
    json!(orgs)
}

async fn what_changes_an_organization_is_everything_of_it(app: &App) {
    let (_, product) = product(app).await;
    let (acme, globex) = (id_of(app.org(), &product).await, id_of(app.other_org(), &product).await);
    let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
    let stranger = app.other_org().member().logged_in().await;
    let mut cursor = cursor_of_now(&product).await;
    member.refresh().await.expect(200);
    for step in 0..3 {
        match step {
            0 => drop(admin.patch("/org", json!({ "name": "Acme Liners" })).await.expect(200)),
            1 => app.org().suspend().await,
            _ => app.org().reactivate().await,
        }
        stranger.refresh().await.expect(200);
        let data = changes(&product, &cursor).await;
        assert_eq!(orgs(&data), &sorted([everything_of(&acme), told(&globex, &[&session_of(&stranger)], &[])]), "step {step}");
        cursor = data["cursor"].clone();
    }
}

async fn an_organization_that_is_removed_is_everything_of_it(app: &App) {
    let (_, product) = product(app).await;
    let id = id_of_globex(app).await;
    app.other_org().member().logged_in().await;
    let cursor = cursor_of_now(&product).await;
    app.auth.operator().delete_organization_now(&globex()).await.expect("it is there");
    let data = changes(&product, &cursor).await;
    assert_eq!(orgs(&data), &json!([everything_of(&id)]));
    while number(app, &format!("SELECT CAST(COUNT(*) AS TEXT) FROM tenant_auth_organizations WHERE id = '{id}'")).await > 0 {
        app.tick().await;
    }
    assert_eq!(orgs(&changes(&product, &cursor).await), &json!([everything_of(&id)]));
    product.at_org("globex").get("/public/changes").await.expect_error(404, "unknown_organization");
}

async fn what_changes_all_answers_is_everything(app: &App) {
    let (own, product) = product(app).await;
    let operator = app.auth.operator();
    let cursor = cursor_of_now(&product).await;
    let (_, key) = app.admin().logged_in().await.created_key(json!({ "name": "other", "scopes": ["verify"] })).await;
    app.anonymous().without_slug().post("/keys/leaked", json!({ "key": key })).await.expect(200);
    let (other, _) = made(app, new_key(&[Verify])).await;
    operator.revoke_deployment_key(&other).await.expect("it lives");
    assert_eq!(orgs(&changes(&product, &cursor).await), &json!([]), "other keys");
    operator.rotate_keys(true).await.expect("they can be rotated");
    let data = changes(&product, &cursor).await;
    assert!(is_everything(&data), "signing keys: {data}");
    operator.rotate_deployment_key(&own, Duration::from_secs(60)).await.expect("a successor");
    let data = changes(&product, &data["cursor"]).await;
    assert!(is_everything(&data), "its own key: {data}");
    assert_eq!(data["keyExpiresAt"], "2026-11-20T08:22:00.000Z");
    assert_eq!(orgs(&changes(&product, &data["cursor"]).await), &json!([]));
    app.advance(60);
    product.get("/public/changes").await.expect_error(401, "invalid_api_key");
}

/// The organization of which [`ChangeLog`] writes changes.
const NOBODYS: &str = "org_00000000000000000000000000";

async fn write(log: &ChangeLog, sessions: usize) {
    let ids: Vec<String> = (0..sessions).map(|number| format!("ses_{number:026}")).collect();
    log.write(&ids).await.expect("is written").commit().await.expect("commits");
}

async fn of_too_many_everything_may_have_changed(app: &App) {
    let (_, product) = product(app).await;
    let log = ChangeLog::of(&app.auth);
    let acme = id_of(app.org(), &product).await;
    let member = app.member().logged_in().await;
    let mut cursor = cursor_of_now(&product).await;
    for (count, is_everything_of_one) in [(1_000, false), (1_001, true)] {
        write(&log, count).await;
        member.refresh().await.expect(200);
        // An answer of the pages, and one of the database.
        for app in [app, &app.beside(|_| {}).await] {
            let data = changes(&product.via(app), &cursor).await;
            let of = |id: &str| orgs(&data).as_array().into_iter().flatten().find(|org| org["id"] == id).cloned();
            assert_eq!(of(&acme), Some(told(&acme, &[&session_of(&member)], &[])));
            let many = of(NOBODYS).expect("an organization");
            assert_eq!(many["everything"], is_everything_of_one);
            assert_eq!(many["sessions"].as_array().map(Vec::len), Some(if is_everything_of_one { 0 } else { count }));
        }
        cursor = cursor_of_now(&product).await;
    }
    write(&log, 10_001).await;
    for app in [app, &app.beside(|_| {}).await] {
        let data = changes(&product.via(app), &cursor).await;
        assert!(is_everything(&data), "{}", data["everything"]);
        assert_eq!(orgs(&changes(&product.via(app), &data["cursor"]).await), &json!([]));
    }
}

async fn nothing_is_told_of_the_operators_organization(app: &App) {
    let operators = |setup: &mut Setup| setup.config.organizations.operator_org = Some(globex());
    let operated = app.beside(operators).await;
    let (_, product) = product(&operated).await;
    let acme = id_of(operated.org(), &product).await;
    let (member, operator) = (operated.member().logged_in().await, operated.other_org().member().logged_in().await);
    let (cursor, session) = (cursor_of_now(&product).await, session_of(&member));
    let began = Instant::now();
    let waiting = tokio::spawn(ask(&product, &cursor, 400).into_future());
    tokio::time::sleep(Duration::from_millis(100)).await;
    operator.put("/auth/profile", json!({ "name": "Busy" })).await.expect(200);
    operated.other_org().admin().logged_in().await.patch("/org", json!({ "name": "Busy" })).await.expect(200);
    operator.logout().await.expect(200);
    assert_eq!(orgs(&waiting.await.expect("it is answered").expect_ok()), &json!([]));
    assert!(began.elapsed() >= Duration::from_millis(400), "its end tells nothing either");
    member.logout().await.expect(200);
    for app in [&operated, &app.beside(operators).await] {
        let data = changes(&product.via(app), &cursor).await;
        assert_eq!(orgs(&data), &json!([told(&acme, &[&session], &[])]));
    }
}

async fn a_cursor_of_the_other_kind_is_everything(app: &App) {
    let (_, product) = product(app).await;
    let at_acme = product.clone().at_org("acme");
    let (of_all, of_one) = (cursor_of_now(&product).await, cursor_of_now(&at_acme).await);
    for cursor in [&of_one, &cursor_of_now(&app.backend()).await, &json!(""), &json!("rubbish")] {
        let data = changes(&product, cursor).await;
        assert!(is_everything(&data), "{data}");
        assert_eq!(orgs(&changes(&product, &data["cursor"]).await), &json!([]));
    }
    for backend in [&at_acme, &app.backend()] {
        let data = changes(backend, &of_all).await;
        assert_eq!((&data["everything"], &data["sessions"], &data["users"]), (&json!(true), &json!([]), &json!([])));
    }
    let (_, another) = self::product(app).await;
    assert_eq!(orgs(&changes(&another, &of_all).await), &json!([]), "another key of the product asks the same");
    product.get("/public/changes?after=a&after=b").await.expect_invalid("after");
    product.get("/public/changes?wait=1001").await.expect_invalid("wait");
}

async fn only_a_deployment_key_for_verify_may_ask(app: &App) {
    let (_, product) = product(app).await;
    let nowhere = app.anonymous().without_slug();
    nowhere.get("/public/changes").await.expect_error(400, "invalid_slug");
    for key in [app.org().api_key(), "pk_live_rubbish", "rubbish", ""] {
        nowhere.backend_with(key).get("/public/changes").await.expect_error(400, "invalid_slug");
    }
    app.member().logged_in().await.without_slug().get("/public/changes").await.expect_error(400, "invalid_slug");
    for slug in ["", "ACME", "a", "acme globex"] {
        product.get("/public/changes").header("X-Org-Slug", slug).await.expect_error(400, "invalid_slug");
    }
    let twice = product.get("/public/changes").header("X-Org-Slug", "acme").header("X-Org-Slug", "acme");
    twice.await.expect_error(400, "invalid_slug");

    let (_, other) = made(app, new_key(&[MembersRead])).await;
    nowhere.backend_with(&other).get("/public/changes").await.expect_error(403, "missing_scope");
    let rubbish = nowhere.backend_with("dk_live_rubbish");
    rubbish.get("/public/changes").await.expect_error(401, "invalid_api_key");
    product.get("/public/changes").header("X-API-Key", "pk_live_rubbish").await.expect_error(401, "invalid_api_key");
    let authorized = product.get("/public/changes").header("Authorization", "a").header("Authorization", "b");
    authorized.await.expect_error(400, "invalid_request");
    for (name, value) in [("Origin", "null"), ("Sec-Fetch-Site", "same-origin"), ("X-Client-IP", "203.0.113.9")] {
        for key in [&product, &rubbish] {
            key.get("/public/changes").header(name, value).await.expect_error(403, "forbidden_origin");
        }
    }
    // The other questions are about an organization.
    for path in ["/public/events", "/public/members"] {
        product.get(path).await.expect_error(400, "invalid_slug");
    }
    product.verify("x").await.expect_error(400, "invalid_slug");
    for _ in 0..30 {
        let answer = rubbish.get("/public/changes").await;
        if answer.status == 429 {
            return;
        }
        answer.expect_error(401, "invalid_api_key");
    }
    panic!("a false key is a guess");
}
