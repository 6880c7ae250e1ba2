//! Events of sessions: each one that begins, and each one that ends before its time, with the reason.

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, PASSWORD, id_of, scenarios, shape};
use tenant_auth_core::operator::SessionsOf;

use crate::suite::support::{
    account::{NEW, guard, in_both, mailed_token},
    authenticator::SecondFactor,
    listener::{Listener, data_of, kinds, session_of, system, user},
};

scenarios![
    a_login_tells_of_the_session,
    a_login_in_two_steps_tells_of_the_session_once,
    a_logout_tells_of_it,
    ending_sessions_tells_of_each,
    an_admin_who_ends_sessions_is_named,
    a_new_password_tells_of_what_it_ended,
    a_reset_password_tells_of_what_it_ended,
    a_new_address_tells_of_what_it_ended,
    a_second_factor_tells_of_what_it_ended,
    one_session_too_many_ends_the_oldest,
    a_session_that_has_expired_takes_no_place_and_ends_by_itself,
    a_replayed_refresh_token_is_told_twice_over,
    the_operator_ends_sessions,
    sessions_are_told_of_where_they_were,
];

/// A session as its owner sees it, without what only they can see: an event holds neither address nor `User-Agent`.
async fn seen(caller: &Caller) -> Value {
    let data = caller.get("/auth/sessions").await.expect_ok();
    let all = data["sessions"].as_array().expect("a list");
    let mut session = all.iter().find(|session| session["current"] == true).expect("this one").clone();
    for own in ["current", "ip", "userAgent"] {
        session.as_object_mut().expect("an object").remove(own).expect("its owner sees it");
    }
    session
}

/// Exactly these sessions ended for this reason.
#[track_caller]
fn expect_ended(events: &[Value], reason: &str, actor: &Value, sessions: &[String]) {
    let ended: Vec<&Value> = events.iter().filter(|event| event["type"] == "session.revoked").collect();
    let mut ids: Vec<&str> = ended.iter().map(|event| id_of(&event["data"]["session"])).collect();
    let mut expected: Vec<&str> = sessions.iter().map(String::as_str).collect();
    ids.sort_unstable();
    expected.sort_unstable();
    assert_eq!(ids, expected, "{events:#?}");
    for event in ended {
        assert_eq!(shape(&event["data"]), ["reason", "session", "user"]);
        assert_eq!((&event["data"]["reason"], &event["actor"]), (&reason.into(), actor));
    }
}

async fn a_login_tells_of_the_session(app: &App) {
    let admin = app.admin().logged_in().await;
    let mut listener = Listener::new(app, &admin).await;
    let max = app.member().with("User-Agent", "Firefox on the moon");
    let shown = max.login().await.expect_ok()["user"].clone();
    let (actor, data) = listener.only("session.created").await;
    assert_eq!((actor, data), (user(&max), json!({ "session": seen(&max).await, "user": shown })));
}

async fn a_login_in_two_steps_tells_of_the_session_once(app: &App) {
    let (admin, max) = (app.admin().logged_in().await, app.member().logged_in().await);
    let guarded = guard(app, &max).await;
    let mut listener = Listener::new(app, &admin).await;
    let waiting = app.member().waiting().await;
    listener.nothing().await;
    waiting.enter(&guarded.authenticator.wrong_code(app)).await.expect(401);
    listener.nothing().await;
    waiting.enter(&guarded.fresh_code(app)).await.expect(200);
    let (actor, data) = listener.only("session.created").await;
    assert_eq!((actor, id_of(&data["session"])), (user(&max), session_of(&waiting).as_str()));
}

async fn a_logout_tells_of_it(app: &App) {
    let (admin, max) = (app.admin().logged_in().await, app.member().logged_in().await);
    let (session, shown) = (seen(&max).await, max.get("/auth/profile").await.expect_ok());
    let mut listener = Listener::new(app, &admin).await;
    max.logout().await.expect(200);
    let (actor, data) = listener.only("session.revoked").await;
    assert_eq!((actor, &data["session"], &data["reason"]), (user(&max), &session, &"logout".into()));
    assert_eq!(data["user"]["id"], max.id(), "{shown}");
    max.logout().await.expect(401);
    listener.nothing().await;
}

async fn ending_sessions_tells_of_each(app: &App) {
    let admin = app.admin().logged_in().await;
    let max = [
        app.member().logged_in().await,
        app.member().logged_in().await,
        app.member().logged_in().await,
        app.member().logged_in().await,
    ];
    let mut listener = Listener::new(app, &admin).await;
    max[0].delete(&format!("/auth/sessions/{}", session_of(&max[1]))).await.expect(200);
    expect_ended(&listener.heard().await, "ended", &user(&max[0]), &[session_of(&max[1])]);
    max[0].delete("/auth/sessions").await.expect(200);
    expect_ended(&listener.heard().await, "ended", &user(&max[0]), &[session_of(&max[2]), session_of(&max[3])]);
    max[0].delete("/auth/sessions").await.expect(200);
    listener.nothing().await;
}

async fn an_admin_who_ends_sessions_is_named(app: &App) {
    let (admin, max) = (app.admin().logged_in().await, app.member().logged_in().await);
    let mut listener = Listener::new(app, &admin).await;
    admin.delete(&format!("/org/members/{}/sessions", max.id())).await.expect(200);
    expect_ended(&listener.heard().await, "admin", &user(&admin), &[session_of(&max)]);
}

async fn a_new_password_tells_of_what_it_ended(app: &App) {
    let admin = app.admin().logged_in().await;
    let (max, other) = (app.member().logged_in().await, app.member().logged_in().await);
    let mut listener = Listener::new(app, &admin).await;
    max.change_password(PASSWORD, NEW).await.expect(200);
    let events = listener.heard().await;
    assert_eq!(events.len(), 2);
    expect_ended(&events, "password", &user(&max), &[session_of(&other)]);
    assert_eq!(data_of(&events, "user.password_changed")["user"]["id"], max.id());
}

async fn a_reset_password_tells_of_what_it_ended(app: &App) {
    let (admin, max) = (app.admin().logged_in().await, app.member().logged_in().await);
    let mut listener = Listener::new(app, &admin).await;
    app.anonymous().post("/auth/forgot-password", json!({ "email": max.email() })).await.expect(200);
    let token = mailed_token(app, max.email(), "reset").await;
    listener.nothing().await;
    app.anonymous().post("/auth/reset-password", json!({ "token": token, "newPassword": NEW })).await.expect(200);
    let events = listener.heard().await;
    assert_eq!(events.len(), 2);
    expect_ended(&events, "password", &user(&max), &[session_of(&max)]);
    assert_eq!(data_of(&events, "user.password_changed")["user"]["id"], max.id());
}

async fn a_new_address_tells_of_what_it_ended(app: &App) {
    let admin = app.admin().logged_in().await;
    let (max, other) = (app.member().logged_in().await, app.member().logged_in().await);
    let mut listener = Listener::new(app, &admin).await;
    let change = json!({ "newEmail": "maximilian@acme.example", "password": PASSWORD });
    max.post("/auth/change-email", change).await.expect(200);
    let token = mailed_token(app, "maximilian@acme.example", "change-email").await;
    listener.nothing().await;
    max.post("/auth/change-email/confirm", json!({ "token": token })).await.expect(200);
    let events = listener.heard().await;
    assert_eq!(events.len(), 2);
    expect_ended(&events, "email", &user(&max), &[session_of(&other)]);
    let data = data_of(&events, "user.updated");
    assert_eq!((&data["user"]["email"], &data["previous"]["email"]), (&"maximilian@acme.example".into(), &max.email().into()));
}

async fn a_second_factor_tells_of_what_it_ended(app: &App) {
    let admin = app.admin().logged_in().await;
    let (max, other) = (app.member().logged_in().await, app.member().logged_in().await);
    let mut listener = Listener::new(app, &admin).await;
    let guarded = guard(app, &max).await;
    let events = listener.heard().await;
    assert_eq!(events.len(), 2);
    expect_ended(&events, "two_factor", &user(&max), &[session_of(&other)]);
    assert_eq!(data_of(&events, "user.two_factor_enabled")["user"]["id"], max.id());
    max.disable(PASSWORD, &guarded.recovery_codes[0]).await.expect(200);
    let (actor, data) = listener.only("user.two_factor_disabled").await;
    assert_eq!((actor, &data["user"]["id"]), (user(&max), &max.id().into()));
    guard(app, &max).await;
    listener.heard().await;
    app.auth.operator().reset_second_factor(&max.email().parse().expect("an address")).await.expect("there was one");
    let events = listener.heard().await;
    expect_ended(&events, "two_factor", &system(), &[session_of(&max)]);
    assert_eq!(data_of(&events, "user.two_factor_disabled")["user"]["id"], max.id());
}

async fn one_session_too_many_ends_the_oldest(app: &App) {
    let app = &app.beside(|setup| setup.config.sessions.max_per_user = 2).await;
    let (admin, max) = (app.admin().logged_in().await, app.member().logged_in().await);
    app.advance(1);
    app.member().logged_in().await;
    app.advance(1);
    let mut listener = Listener::new(app, &admin).await;
    app.member().logged_in().await;
    let events = listener.heard().await;
    assert_eq!(kinds(&events).len(), 2);
    expect_ended(&events, "limit", &user(&max), &[session_of(&max)]);
}

/// It has not been swept yet.
async fn a_session_that_has_expired_takes_no_place_and_ends_by_itself(app: &App) {
    let app = &app.beside(|setup| setup.config.sessions.max_per_user = 2).await;
    let (admin, max) = (app.admin().logged_in().await, app.member().logged_in().await);
    app.advance(1);
    let expired = app.member().logged_in().await;
    app.advance(6 * 86_400);
    for caller in [&admin, &max] {
        caller.refresh().await.expect(200);
    }
    app.advance(86_400 + 60);
    for caller in [&admin, &max] {
        caller.refresh().await.expect(200);
    }
    let mut listener = Listener::new(app, &admin).await;
    app.member().logged_in().await;
    assert_eq!(kinds(&listener.heard().await).len(), 1, "the one that begins");
    max.get("/org").await.expect(200);
    max.delete(&format!("/auth/sessions/{}", session_of(&expired))).await.expect_error(404, "not_found");
    max.delete("/auth/sessions").await.expect(200);
    assert_eq!(kinds(&listener.heard().await).len(), 1, "the other that lives");
}

async fn a_replayed_refresh_token_is_told_twice_over(app: &App) {
    let (admin, max) = (app.admin().logged_in().await, app.member().logged_in().await);
    let mut listener = Listener::new(app, &admin).await;
    let (session, old) = (session_of(&max), max.refresh_token());
    max.refresh().await.expect(200);
    app.anonymous().refresh_with(&old).await.expect(200);
    listener.nothing().await;
    app.advance(31);
    app.anonymous().refresh_with(&old).await.expect(401);
    let events = listener.heard().await;
    assert_eq!(events.len(), 2);
    expect_ended(&events, "reuse", &system(), std::slice::from_ref(&session));
    let data = data_of(&events, "session.reuse_detected");
    assert_eq!((shape(&data), id_of(&data["session"])), (vec!["session", "user"], session.as_str()));
    app.anonymous().refresh_with(&old).await.expect(401);
    listener.nothing().await;
}

async fn the_operator_ends_sessions(app: &App) {
    let (admin, max) = (app.admin().logged_in().await, app.member().logged_in().await);
    let mut listener = Listener::new(app, &admin).await;
    let end = async |whose: SessionsOf| app.auth.operator().revoke_sessions(whose).await.expect("they can be ended");
    end(SessionsOf::User(max.email().parse().expect("an address"))).await;
    expect_ended(&listener.heard().await, "operator", &system(), &[session_of(&max)]);
    end(SessionsOf::Organization("acme".parse().expect("a slug"))).await;
    expect_ended(&listener.heard().await, "operator", &system(), &[session_of(&admin)]);
}

async fn sessions_are_told_of_where_they_were(app: &App) {
    let (here, there) = in_both(app).await;
    let (admin, greta) = (app.admin().logged_in().await, app.other_org().admin().logged_in().await);
    let (mut acme, mut globex) = (Listener::new(app, &admin).await, Listener::at(app, &greta, "globex").await);
    let copy = here.copied();
    here.change_password(PASSWORD, NEW).await.expect(200);
    assert_eq!(kinds(&acme.heard().await), ["user.password_changed"], "{}", copy.id());
    let events = globex.heard().await;
    expect_ended(&events, "password", &user(&here), &[session_of(&there)]);
    assert_eq!(data_of(&events, "user.password_changed")["user"]["id"], here.id());
}
