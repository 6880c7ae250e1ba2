//! `login.blocked`: an organization hears, once an hour, that a member's logins are refused, and of nobody else's.

use std::time::Duration;

use serde_json::{Value, json};
use sqlx::Connection;
use tenant_auth_conformance::{App, Caller, PASSWORD, scenarios, shape};

use crate::suite::{
    storage::locks::{HOLD_CHAIN, holding},
    support::{
        authenticator::guarded_member,
        hooks::{Hook, RECEIVER, texts_in},
        listener::Listener,
    },
};

scenarios![
    a_blocked_member_is_told_of_once_an_hour,
    a_blocked_second_step_is_told_of_too,
    whoever_is_no_member_is_nobodys_news,
    a_blocked_network_is_nothing_about_a_person,
    two_servers_tell_it_once,
    it_is_told_without_a_worker_that_is_asked_to,
    one_that_cannot_be_told_hinders_no_other_and_is_noted_again,
];

const WRONG: &str = "not-the-password";

async fn blocked(app: &App, email: &str) {
    blocked_by(&app.anonymous(), email).await;
}

async fn blocked_by(caller: &Caller, email: &str) {
    for _ in 0..5 {
        caller.login_with(email, WRONG).await.expect_error(401, "invalid_credentials");
    }
    for _ in 0..3 {
        caller.login_with(email, WRONG).header("user-agent", "Guesser/1").await.expect_error(429, "rate_limited");
    }
}

async fn a_blocked_member_is_told_of_once_an_hour(app: &App) {
    let admin = app.admin().logged_in().await;
    let mut listener = Listener::new(app, &admin).await;
    let member = app.member();
    blocked(app, member.email()).await;
    let (actor, data) = listener.only("login.blocked").await;
    assert_eq!(actor, json!({ "type": "system", "id": null }));
    assert_eq!(shape(&data), ["until", "user"]);
    assert_eq!(data["user"]["id"], member.id());
    assert!(data["until"].as_str().is_some_and(|until| until.ends_with('Z')), "{data}");
    let kept = "SELECT context FROM tenant_auth_events WHERE kind = 'login.blocked'";
    let context: Value = serde_json::from_str(&texts_in(app, kept).await[0]).expect("JSON");
    assert_eq!((&context["userAgent"], &context["sessionId"]), (&json!("Guesser/1"), &Value::Null));
    assert!(context["ip"].as_str().is_some_and(|ip| !ip.is_empty()), "the first refused request's: {context}");

    app.anonymous().login_with(member.email(), WRONG).await.expect_error(429, "rate_limited");
    listener.nothing().await;
    app.advance(3_601);
    blocked(app, member.email()).await;
    listener.only("login.blocked").await;
}

async fn a_blocked_second_step_is_told_of_too(app: &App) {
    let (guarded, _) = guarded_member(app).await;
    let admin = app.admin().logged_in().await;
    let mut listener = Listener::new(app, &admin).await;
    let mut refused = 0;
    while refused == 0 {
        let entering = app.anonymous();
        entering.login_with(guarded.email(), PASSWORD).await.expect(200);
        for _ in 0..5 {
            let answer = entering.post("/auth/verify-2fa", json!({ "code": "000000" })).may_fail().await;
            refused += usize::from(answer.status == 429);
        }
    }
    let (_, data) = listener.only("login.blocked").await;
    assert_eq!(data["user"]["id"], guarded.id());
}

async fn whoever_is_no_member_is_nobodys_news(app: &App) {
    let (admin, other) = (app.admin().logged_in().await, app.other_org().admin().logged_in().await);
    let mut listeners = [Listener::at(app, &admin, "acme").await, Listener::at(app, &other, "globex").await];
    blocked(app, "nobody@nowhere.example").await;
    blocked(app, app.other_org().member().email()).await;
    for listener in &mut listeners {
        listener.nothing().await;
    }
}

async fn a_blocked_network_is_nothing_about_a_person(app: &App) {
    let strict = app.beside(|setup| setup.config.login.max_failures_per_ip = 4).await;
    let admin = strict.admin().logged_in().await;
    let mut listener = Listener::new(&strict, &admin).await;
    for number in 0..4 {
        strict.anonymous().login_with(&format!("x{number}@nowhere.example"), WRONG).await.expect_error(401, "invalid_credentials");
    }
    strict.anonymous().login_with(strict.member().email(), WRONG).await.expect_error(429, "rate_limited");
    listener.nothing().await;
}

async fn two_servers_tell_it_once(app: &App) {
    let admin = app.admin().logged_in().await;
    let mut listener = Listener::new(app, &admin).await;
    let other = app.beside(|_| {}).await;
    blocked(app, app.member().email()).await;
    other.anonymous().login_with(app.member().email(), WRONG).await.expect_error(429, "rate_limited");
    other.tick().await;
    app.tick().await;
    listener.only("login.blocked").await;
    other.tick().await;
    listener.nothing().await;
}

async fn it_is_told_without_a_worker_that_is_asked_to(app: &App) {
    blocked(app, app.member().email()).await;
    let kept = "SELECT id FROM tenant_auth_events WHERE kind = 'login.blocked'";
    for _ in 0..100 {
        if !texts_in(app, kept).await.is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("nobody was told within 10 s");
}

async fn one_that_cannot_be_told_hinders_no_other_and_is_noted_again(app: &App) {
    let Some(url) = app.database().url() else { return }; // on SQLite nobody else writes meanwhile
    let is_told = async |slug: &str| {
        let kept = "SELECT e.id FROM tenant_auth_events e JOIN tenant_auth_organizations o ON o.id = e.org_id";
        !texts_in(app, &format!("{kept} WHERE e.kind = 'login.blocked' AND o.slug = '{slug}'")).await.is_empty()
    };
    let (member, other) = (app.member(), app.other_org().member());
    let greta = app.other_org().admin().logged_in().await;
    let hook = Hook::new(&greta, RECEIVER, &["org.updated"]).await;
    hook.test(&greta).await;
    let chain = holding(&url, HOLD_CHAIN, "acme").await;
    blocked(app, member.email()).await;
    blocked_by(&app.other_org().anonymous(), other.email()).await;
    drop(app.auth.worker().tick().await); // unless it was told without being asked to by now
    assert!(!hook.sent(app).is_empty(), "the rest of the round is done");
    while !is_told("globex").await {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    chain.close().await.expect("the chain is free");
    while !is_told("acme").await {
        app.anonymous().login_with(member.email(), WRONG).await.expect_error(429, "rate_limited");
        app.tick().await;
    }
}
