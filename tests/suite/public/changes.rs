//! GET /public/changes: a backend that remembers is told which of its answers are no longer true, wherever it asks and however late, and
//! nothing of anybody else.

use std::{
    future::IntoFuture,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, Request, jwt, scenarios, shape};

scenarios![
    without_a_cursor_it_is_the_one_of_now,
    sessions_are_named_by_what_ends_or_changes_them,
    users_are_named_by_what_changes_of_them,
    an_account_is_named_in_each_of_its_organizations_and_nowhere_else,
    what_changes_all_answers_is_everything,
    a_suspended_organization_is_told_so,
    a_cursor_lasts_however_often_a_scheduler_comes_by,
    nothing_is_told_of_another_organization,
];

async fn a_cursor_lasts_however_often_a_scheduler_comes_by(app: &App) {
    let backend = app.backend();
    let cursor = cursor_of_now(&backend).await;
    let member = app.member().logged_in().await;
    let session = session_of(&member);
    member.logout().await.expect(200);
    for _ in 0..30 {
        app.advance(1);
        app.tick().await;
    }
    let data = changes(&backend, &cursor).await;
    assert_eq!(told(&data), (false, &json!([session]), &json!([])));
    for _ in 0..16 {
        app.advance(60);
        app.tick().await;
    }
    assert_eq!(changes(&backend, &cursor).await["everything"], true, "older than is kept");
}

/// What changed since `after`, without waiting.
pub(super) async fn changes(backend: &Caller, after: &Value) -> Value {
    ask(backend, after, 0).await.expect_ok()
}

pub(super) fn ask(backend: &Caller, after: &Value, wait: u32) -> Request {
    backend.get(&format!("/public/changes?after={}&wait={wait}", after.as_str().expect("a cursor")))
}

pub(super) async fn cursor_of_now(backend: &Caller) -> Value {
    backend.get("/public/changes").await.expect_ok()["cursor"].clone()
}

pub(super) fn session_of(caller: &Caller) -> Value {
    jwt::claims(&caller.access_token())["sid"].clone()
}

pub(super) fn told(changes: &Value) -> (bool, &Value, &Value) {
    (changes["everything"] == true, &changes["sessions"], &changes["users"])
}

async fn without_a_cursor_it_is_the_one_of_now(app: &App) {
    let backend = app.backend();
    let member = app.member().logged_in().await;
    member.logout().await.expect(200);
    let first = backend.get("/public/changes").await.expect_ok();
    assert_eq!(shape(&first), ["cursor", "everything", "keyExpiresAt", "sessions", "users"]);
    assert_eq!((told(&first), &first["keyExpiresAt"]), ((false, &json!([]), &json!([])), &Value::Null));
    let second = changes(&backend, &first["cursor"]).await;
    assert_eq!(told(&second), (false, &json!([]), &json!([])));
    let (first, second) = (first["cursor"].as_str().expect("a text"), second["cursor"].as_str().expect("a text"));
    assert!(first != second && first.len() == second.len(), "no cursor tells whether anything happened anywhere");
    app.backend().without_slug().get("/public/changes").await.expect_error(400, "invalid_slug");
    app.anonymous().get("/public/changes").await.expect_error(401, "invalid_api_key");
    let (_, key) = app.admin().logged_in().await.created_key(json!({ "name": "x", "scopes": ["users:read"] })).await;
    app.anonymous().backend_with(&key).get("/public/changes").await.expect_error(403, "missing_scope");
}

async fn sessions_are_named_by_what_ends_or_changes_them(app: &App) {
    let backend = app.backend();
    let (desk, phone) = (app.member().logged_in().await, app.member().logged_in().await);
    let (at_desk, at_phone) = (session_of(&desk), session_of(&phone));
    let mut cursor = cursor_of_now(&backend).await;
    desk.refresh().await.expect(200);
    let data = changes(&backend, &cursor).await;
    assert_eq!(told(&data), (false, &json!([at_desk]), &json!([])), "a refresh supersedes the token before");
    cursor = data["cursor"].clone();
    desk.delete("/auth/sessions").await.expect(200);
    let data = changes(&backend, &cursor).await;
    assert_eq!(told(&data), (false, &json!([at_phone]), &json!([])));
    desk.logout().await.expect(200);
    let data = changes(&backend, &cursor).await;
    let mut both = [at_desk, at_phone];
    both.sort_by_key(ToString::to_string);
    assert_eq!(told(&data), (false, &json!(both), &json!([])), "both since that cursor");
}

async fn users_are_named_by_what_changes_of_them(app: &App) {
    let backend = app.backend();
    let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
    let only_them = json!([member.id()]);
    let mut cursor = cursor_of_now(&backend).await;
    for step in 0..7 {
        match step {
            0 => admin.set_metadata(member.id(), json!({ "a": 1 })).await.expect(200),
            1 => admin.set_role(member.id(), "org_admin").await.expect(200),
            2 => admin.set_status(member.id(), "suspended").await.expect(200),
            3 => admin.set_status(member.id(), "active").await.expect(200),
            4 => member.put("/auth/profile", json!({ "name": "Another Name" })).await.expect(200),
            5 => member.change_password("mauve-otter-plinth-42", "velvet-anchor-93-comet").await.expect(200),
            _ => admin.remove(member.id()).await.expect(200),
        };
        let data = changes(&backend, &cursor).await;
        assert_eq!((data["everything"].as_bool(), &data["users"]), (Some(false), &only_them), "step {step}: {data}");
        cursor = data["cursor"].clone();
    }
    assert_eq!(told(&changes(&backend, &cursor).await), (false, &json!([]), &json!([])), "each once");
}

async fn an_account_is_named_in_each_of_its_organizations_and_nowhere_else(app: &App) {
    let other_admin = app.other_org().admin().logged_in().await;
    let member = app.member().logged_in().await;
    other_admin.invite(member.email()).await.expect(201);
    let token = app.link_token_of(member.email()).await;
    app.other_org().anonymous().accept_with_account(&token).await.expect(200);
    let stranger = app.other_org().member().logged_in().await;
    let (here, there) = (app.backend(), app.other_org().backend());
    let (at_here, at_there) = (cursor_of_now(&here).await, cursor_of_now(&there).await);
    member.put("/auth/profile", json!({ "name": "In Both" })).await.expect(200);
    for (backend, cursor) in [(&here, &at_here), (&there, &at_there)] {
        assert_eq!(told(&changes(backend, cursor).await), (false, &json!([]), &json!([member.id()])));
    }
    stranger.put("/auth/profile", json!({ "name": "There Only" })).await.expect(200);
    assert_eq!(changes(&here, &at_here).await["users"], json!([member.id()]));
    member.logout().await.expect(200);
    assert_eq!(changes(&there, &at_there).await["sessions"], json!([]), "a session is named in its own organization only");
}

async fn what_changes_all_answers_is_everything(app: &App) {
    let (admin, everything) = (app.admin().logged_in().await, (true, &json!([]), &json!([])));
    let backend = app.backend();
    let cursor = cursor_of_now(&backend).await;
    admin.patch("/org", json!({ "name": "Acme Liners" })).await.expect(200);
    let data = changes(&backend, &cursor).await;
    assert_eq!(told(&data), everything);
    let (key, text) = admin.created_key(json!({ "name": "own", "scopes": ["verify"] })).await;
    let (other, _) = admin.created_key(json!({ "name": "other", "scopes": ["verify"] })).await;
    let own = app.anonymous().backend_with(&text);
    let cursor = cursor_of_now(&own).await;
    admin.delete(&format!("/org/api-keys/{}", other["id"].as_str().expect("an id"))).await.expect(200);
    assert_eq!(told(&changes(&own, &cursor).await), (false, &json!([]), &json!([])), "another key");
    admin.post_nothing(&format!("/org/api-keys/{}/rotate", key["id"].as_str().expect("an id"))).await.expect(201);
    let data = changes(&own, &cursor).await;
    assert_eq!((told(&data), &data["keyExpiresAt"]), (everything, &"2026-11-21T08:21:00.000Z".into()), "a day of overlap");
    app.advance(86_400);
    own.get("/public/changes").await.expect_error(401, "invalid_api_key");
}

async fn a_suspended_organization_is_told_so(app: &App) {
    let cursor = cursor_of_now(&app.backend()).await;
    app.org().suspend().await;
    let data = changes(&app.backend(), &cursor).await;
    assert_eq!(data["everything"], true);
    app.org().reactivate().await;
    assert_eq!(changes(&app.backend(), &data["cursor"]).await["everything"], true);
}

async fn nothing_is_told_of_another_organization(app: &App) {
    let (backend, stranger) = (app.backend(), app.other_org().member().logged_in().await);
    let cursor = cursor_of_now(&backend).await;
    let began = Instant::now();
    let waiting = tokio::spawn(ask(&backend, &cursor, 400).into_future());
    tokio::time::sleep(Duration::from_millis(100)).await;
    stranger.put("/auth/profile", json!({ "name": "Busy" })).await.expect(200);
    app.other_org().admin().logged_in().await.patch("/org", json!({ "name": "Busy" })).await.expect(200);
    stranger.logout().await.expect(200);
    let data = waiting.await.expect("it is answered").expect_ok();
    assert_eq!(told(&data), (false, &json!([]), &json!([])));
    assert!(began.elapsed() >= Duration::from_millis(400), "its end tells nothing either");
    let theirs = cursor_of_now(&app.other_org().backend()).await;
    assert_eq!(told(&changes(&backend, &theirs).await), (true, &json!([]), &json!([])), "their cursor is nobody's here");
}
