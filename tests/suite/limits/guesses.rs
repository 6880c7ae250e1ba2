//! Guesses at keys and links (behaviour.md, B149): thirty bad ones of one client are answered, the next are refused for a while. A
//! good, used, revoked or expired one is neither counted nor refused for the guesses of others at the same address.

use std::future::IntoFuture;

use serde_json::json;
use tenant_auth_conformance::{App, Caller, PASSWORD, Request, Response, scenarios};
use tenant_auth_core::model::Scope;

use crate::suite::limits::addresses::{at, behind_proxy};

scenarios![
    guesses_at_keys_are_refused_after_thirty,
    guesses_at_links_of_any_kind_share_one_count,
    guesses_at_a_proxy_key_are_refused,
    guesses_are_counted_by_network,
    guesses_at_a_stated_address_are_the_organizations,
    a_key_that_was_good_once_is_no_guess,
    a_link_that_was_good_once_is_no_guess,
    a_good_one_is_never_refused_for_the_guesses_of_others,
    parallel_guesses_do_not_exceed_the_limit,
    without_a_key_nothing_is_guessed,
];

const MOST: usize = 30;
const WINDOW: u64 = 900;
const HOME: &str = "203.0.113.7";

fn key(n: usize) -> String {
    format!("pk_live_01k9f3s8v6q2w4x7y9z0a1b2c3{n:043}")
}

fn link(n: usize) -> String {
    format!("{n:043}")
}

/// A guess at a key.
fn guess(caller: &Caller, n: usize) -> Request {
    caller.clone().with("X-API-Key", &key(n)).verify("x")
}

#[track_caller]
fn expect_refused(answer: Response, seconds: u64) {
    let answer = answer.expect_error(429, "rate_limited");
    assert_eq!(answer.header("Retry-After"), Some(seconds.to_string().as_str()));
}

/// Uses up the guesses of this caller.
async fn exhaust(caller: &Caller) {
    for n in 0..MOST {
        guess(caller, n).await.expect_error(401, "invalid_api_key");
    }
}

async fn guesses_at_keys_are_refused_after_thirty(app: &App) {
    let caller = app.anonymous();
    for n in 0..MOST / 3 {
        guess(&caller, n).await.expect_error(401, "invalid_api_key");
        caller.backend_with("rubbish").get("/public/members").await.expect_error(401, "invalid_api_key");
        caller.backend_with(&key(n)).get("/public/users/usr_00000000000000000000000000").await.expect(401);
    }
    expect_refused(guess(&caller, MOST).await, WINDOW);
    expect_refused(caller.backend_with("rubbish").verify("x").await, WINDOW);
    expect_refused(caller.backend_with(&key(1)).get("/public/members").await, WINDOW);
    app.advance(WINDOW - 1);
    expect_refused(guess(&caller, 1).await, 1);
    app.advance(1);
    exhaust(&caller).await;
    expect_refused(guess(&caller, 1).await, WINDOW);
}

/// A guess at each kind of link, by whoever may try it.
fn guesses_at_links(member: &Caller, n: usize) -> [Request; 5] {
    let anonymous = member.elsewhere();
    [
        anonymous.preview(&link(n)),
        anonymous.accept(&link(n), "Nora"),
        anonymous.post("/auth/reset-password", json!({ "token": link(n), "newPassword": "velvet-anchor-93-comet" })),
        anonymous.post("/auth/verify-email", json!({ "token": link(n), "password": PASSWORD })),
        member.post("/auth/change-email/confirm", json!({ "token": link(n) })),
    ]
}

async fn guesses_at_links_of_any_kind_share_one_count(app: &App) {
    let member = app.member().logged_in().await;
    for n in 0..MOST / 5 {
        for guess in guesses_at_links(&member, n) {
            guess.await.expect(400);
        }
    }
    for guess in guesses_at_links(&member, MOST) {
        expect_refused(guess.await, WINDOW);
    }
    expect_refused(guess(&member, 1).await, WINDOW);
    member.get("/auth/profile").await.expect(200);
}

async fn guesses_at_a_proxy_key_are_refused(app: &App) {
    let member = app.member().logged_in().await;
    let stating = |n: usize| member.clone().with("X-API-Key", &key(n)).with("X-Client-IP", HOME);
    for n in 0..MOST {
        stating(n).get("/auth/profile").await.expect(200);
    }
    expect_refused(stating(1).get("/auth/profile").await, WINDOW);
    expect_refused(stating(1).login().await, WINDOW);
    expect_refused(stating(1).refresh().await, WINDOW);
    expect_refused(guess(&app.anonymous(), 1).await, WINDOW);
    member.get("/auth/profile").await.expect(200);
    let proxy = app.org().operators_key(&[Scope::Proxy]).await;
    member.clone().with("X-API-Key", &proxy).with("X-Client-IP", HOME).get("/auth/profile").await.expect(200);
}

async fn guesses_are_counted_by_network(app: &App) {
    let app = behind_proxy(app).await;
    exhaust(&at(app.anonymous(), HOME)).await;
    expect_refused(guess(&at(app.anonymous(), HOME), 1).await, WINDOW);
    guess(&at(app.anonymous(), "203.0.113.8"), 1).await.expect(401);
    for n in 0..MOST {
        guess(&at(app.anonymous(), &format!("2001:db8:1:2::{n:x}")), n).await.expect(401);
    }
    expect_refused(guess(&at(app.anonymous(), "2001:db8:1:2:ffff::1"), 1).await, WINDOW);
    guess(&at(app.anonymous(), "2001:db8:1:3::1"), 1).await.expect(401);
}

async fn guesses_at_a_stated_address_are_the_organizations(app: &App) {
    let proxy = app.other_org().operators_key(&[Scope::Proxy]).await;
    let stating = app.other_org().anonymous().with("X-API-Key", &proxy).with("X-Client-IP", "127.0.0.1");
    let try_link = |caller: &Caller, n: usize| {
        caller.post("/auth/reset-password", json!({ "token": link(n), "newPassword": "velvet-anchor-93-comet" }))
    };
    for n in 0..MOST {
        try_link(&stating, n).await.expect_error(400, "invalid_link");
    }
    expect_refused(try_link(&stating, 1).await, WINDOW);
    try_link(&app.anonymous(), 1).await.expect_error(400, "invalid_link");
    try_link(&app.other_org().anonymous(), 1).await.expect_error(400, "invalid_link");
}

async fn a_key_that_was_good_once_is_no_guess(app: &App) {
    let admin = app.admin().logged_in().await;
    let (revoked, revoked_key) = admin.created_key(json!({ "name": "Revoked" })).await;
    let (_, expired_key) = admin.created_key(json!({ "name": "Expired", "expiresAt": "2026-11-20T08:22:00Z" })).await;
    admin.delete(&format!("/org/api-keys/{}", revoked["id"].as_str().expect("an id"))).await.expect(200);
    app.advance(24 * 3_600);
    app.tick().await;
    let foreign_key = app.other_org().api_key();
    for key in [revoked_key.as_str(), &expired_key, foreign_key] {
        for _ in 0..MOST {
            app.anonymous().backend_with(key).verify("x").await.expect_error(401, "invalid_api_key");
        }
    }
    exhaust(&app.anonymous()).await;
    expect_refused(guess(&app.anonymous(), 1).await, WINDOW);
    for key in [revoked_key.as_str(), &expired_key, foreign_key] {
        app.anonymous().backend_with(key).verify("x").await.expect_error(401, "invalid_api_key");
    }
}

async fn a_link_that_was_good_once_is_no_guess(app: &App) {
    let admin = app.admin().logged_in().await;
    let used = app.invited(&admin, "nora@acme.example").await;
    app.anonymous().accept(&used, "Nora").await.expect(200);
    let revoked = app.invited(&admin, "rita@acme.example").await;
    let pending = admin.pending_invites().await;
    admin.delete(&format!("/org/invites/{}", pending[0]["id"].as_str().expect("an id"))).await.expect(200);
    let replaced = app.invited(&admin, "rolf@acme.example").await;
    let pending = admin.pending_invites().await;
    admin.post_nothing(&format!("/org/invites/{}/resend", pending[0]["id"].as_str().expect("an id"))).await.expect(200);
    let expired = app.invited(&admin, "emil@acme.example").await;
    app.anonymous().post("/auth/forgot-password", json!({ "email": app.member().email() })).await.expect(200);
    app.tick().await;
    let reset = app.link_token_of(app.member().email()).await;
    app.advance(8 * 24 * 3_600);
    app.tick().await;
    let shown = [used, revoked, replaced, expired, reset];
    for token in shown.iter().cycle().take(2 * MOST) {
        app.anonymous().preview(token).await.expect_error(400, "invalid_invite");
    }
    exhaust(&app.anonymous()).await;
    expect_refused(app.anonymous().preview(&link(1)).await, WINDOW);
    for token in &shown {
        app.anonymous().preview(token).await.expect_error(400, "invalid_invite");
        let reset = json!({ "token": token, "newPassword": "velvet-anchor-93-comet" });
        app.anonymous().post("/auth/reset-password", reset).await.expect_error(400, "invalid_link");
    }
}

async fn a_good_one_is_never_refused_for_the_guesses_of_others(app: &App) {
    let admin = app.admin().logged_in().await;
    let token = app.invited(&admin, "nora@acme.example").await;
    exhaust(&app.anonymous()).await;
    expect_refused(guess(&app.anonymous(), 1).await, WINDOW);
    app.backend().verify("x").await.expect(200);
    app.anonymous().preview(&token).await.expect(200);
    app.anonymous().accept(&token, "Nora").await.expect(200);
    app.member().login().await.expect(200);
}

async fn parallel_guesses_do_not_exceed_the_limit(app: &App) {
    let guesses = (0..2 * MOST).map(|n| tokio::spawn(guess(&app.anonymous(), n).into_future()));
    let mut statuses = Vec::new();
    for guess in guesses.collect::<Vec<_>>() {
        statuses.push(guess.await.expect("an answer").status);
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [[401; MOST], [429; MOST]].concat());
}

async fn without_a_key_nothing_is_guessed(app: &App) {
    for _ in 0..=MOST {
        app.anonymous().verify("x").await.expect_error(401, "invalid_api_key");
    }
    guess(&app.anonymous(), 1).await.expect(401);
}
