//! POST /auth/refresh: a new generation of tokens for a live session; tabs and lost replies are forgiven, a thief is not.

use std::time::Duration;

use serde_json::json;
use tenant_auth_conformance::{App, Caller, PUBLIC_URL, Request, jwt, scenarios, shape, together};

scenarios![
    a_refresh_replaces_both_tokens_and_retires_the_old_access_token,
    a_missing_refresh_token_is_401,
    a_token_that_is_no_refresh_token_is_401,
    a_revoked_refresh_token_is_401,
    a_refresh_token_expires_after_seven_days,
    a_session_kept_alive_ends_thirty_days_after_its_login,
    within_the_grace_a_superseded_token_gets_the_current_generation_without_rotating,
    the_grace_counts_from_the_tokens_own_supersession,
    a_refresh_token_replayed_after_the_grace_ends_the_session,
    without_a_grace_a_second_use_ends_the_session_at_once,
    parallel_refreshes_all_succeed_in_one_generation,
    refreshes_that_come_together_are_each_sessions_own,
    the_access_token_is_not_needed,
    beside_a_cookie_a_body_is_ignored,
    without_a_cookie_the_token_may_stand_in_the_body,
    a_body_without_a_token_is_no_session,
    a_browsers_body_is_not_looked_at,
    a_body_is_judged_like_a_cookie,
    in_another_organization_it_is_401_and_nothing_is_revoked,
    reuse_is_judged_only_under_the_tokens_own_slug,
    two_different_refresh_cookies_are_401_and_equal_ones_are_fine,
];

const DAY: u64 = 24 * 60 * 60;

/// The generation an access token belongs to.
fn generation(caller: &Caller) -> i64 {
    jwt::claims(&caller.access_token())["gen"].as_i64().expect("a number")
}

async fn a_refresh_replaces_both_tokens_and_retires_the_old_access_token(app: &App) {
    let member = app.member().logged_in().await;
    let (access, refresh, before) = (member.access_token(), member.refresh_token(), generation(&member));
    let data = member.refresh().await.expect_ok();
    assert_eq!(shape(&data), ["accessToken", "refreshToken"]);
    assert_eq!((&data["accessToken"], &data["refreshToken"]), (&member.access_token().into(), &member.refresh_token().into()));
    assert_ne!(member.access_token(), access);
    assert_ne!(member.refresh_token(), refresh);
    assert_eq!(generation(&member), before + 1);
    member.get("/org").await.expect(200);
    member.elsewhere().with_bearer(&access).get("/org").await.expect_no_session();
    assert!(!app.backend().finds_valid(&access).await, "the old access token is invalidated at once");
}

async fn a_missing_refresh_token_is_401(app: &App) {
    app.anonymous().refresh().await.expect_no_session();
    let member = app.member().logged_in().await;
    member.jar().forget("refresh_token");
    member.refresh().await.expect_no_session();
    member.get("/org").await.expect(200);
}

async fn a_token_that_is_no_refresh_token_is_401(app: &App) {
    let member = app.member().logged_in().await;
    let forged = jwt::with_claims(&member.refresh_token(), |claims| claims["exp"] = (i64::from(i32::MAX)).into());
    for token in [member.access_token(), forged, "rubbish".to_owned(), String::new(), "a.b.c".to_owned()] {
        app.anonymous().refresh_with(&token).await.expect_no_session();
    }
    let bearer = member.elsewhere().with_bearer(&member.refresh_token());
    bearer.get("/org").await.expect_no_session();
    bearer.refresh().await.expect_no_session();
    member.refresh().await.expect(200);
}

async fn a_revoked_refresh_token_is_401(app: &App) {
    let member = app.member().logged_in().await;
    let refresh = member.refresh_token();
    member.logout().await.expect(200);
    app.anonymous().refresh_with(&refresh).await.expect_no_session();
}

async fn a_refresh_token_expires_after_seven_days(app: &App) {
    let (early, late) = (app.member().logged_in().await, app.member().logged_in().await);
    app.advance(7 * DAY - 1);
    early.refresh().await.expect(200);
    app.advance(1);
    late.refresh().await.expect_no_session();
}

async fn a_session_kept_alive_ends_thirty_days_after_its_login(app: &App) {
    let member = app.member().logged_in().await;
    for _ in 0..4 {
        app.advance(6 * DAY);
        member.refresh().await.expect(200);
    }
    app.advance(6 * DAY - 1);
    member.refresh().await.expect(200);
    member.get("/org").await.expect(200);
    let access = member.access_token();
    app.advance(1);
    member.get("/org").await.expect_no_session();
    assert!(!app.backend().finds_valid(&access).await, "no token outlives its session");
    member.refresh().await.expect_no_session();
}

async fn within_the_grace_a_superseded_token_gets_the_current_generation_without_rotating(app: &App) {
    let tab = app.member().logged_in().await;
    let other_tab = tab.copied();
    tab.refresh().await.expect(200);
    app.clock.advance(app.config.sessions.refresh_grace - Duration::from_millis(1));
    other_tab.refresh().await.expect(200);
    assert_eq!(generation(&other_tab), generation(&tab), "no second rotation");
    tab.get("/org").await.expect(200);
    other_tab.get("/org").await.expect(200);
    tab.refresh().await.expect(200);
}

async fn the_grace_counts_from_the_tokens_own_supersession(app: &App) {
    let member = app.member().logged_in().await;
    let first = member.copied();
    member.refresh().await.expect(200);
    let second = member.copied();
    app.advance(20);
    member.refresh().await.expect(200);
    app.advance(9);
    first.refresh().await.expect(200);
    assert_eq!(generation(&first), generation(&member), "the first is honoured 29 s after its supersession");
    app.advance(20);
    second.refresh().await.expect(200);
    assert_eq!(generation(&second), generation(&member), "the second 29 s after its own");
    member.get("/org").await.expect(200);
}

async fn a_refresh_token_replayed_after_the_grace_ends_the_session(app: &App) {
    let member = app.member().logged_in().await;
    let (thief, other_device) = (member.copied(), app.member().logged_in().await);
    member.refresh().await.expect(200);
    let access = member.access_token();
    app.clock.advance(app.config.sessions.refresh_grace);
    thief.refresh().await.expect_no_session();
    member.get("/org").await.expect_no_session();
    member.refresh().await.expect_no_session();
    assert!(!app.backend().finds_valid(&access).await, "the whole session is gone");
    other_device.get("/org").await.expect(200);
}

async fn without_a_grace_a_second_use_ends_the_session_at_once(app: &App) {
    let strict = app.beside(|setup| setup.config.sessions.refresh_grace = Duration::ZERO).await;
    let member = strict.member().logged_in().await;
    let thief = member.copied();
    member.refresh().await.expect(200);
    thief.refresh().await.expect_no_session();
    member.refresh().await.expect_no_session();
}

async fn parallel_refreshes_all_succeed_in_one_generation(app: &App) {
    let member = app.member().logged_in().await;
    let tabs: Vec<Caller> = (0..8).map(|_| member.copied()).collect();
    for answer in together(tabs.iter().map(Caller::refresh).collect()).await {
        answer.expect(200);
    }
    for tab in &tabs {
        assert_eq!(generation(tab), generation(&member) + 1);
        tab.get("/org").await.expect(200);
    }
}

// The database rotates them together.
async fn refreshes_that_come_together_are_each_sessions_own(app: &App) {
    let admin = app.admin().logged_in().await;
    let mut sessions = Vec::new();
    for number in 0..8 {
        sessions.push(app.org().new_member(&format!("Refreshing{number}")).await.logged_in().await);
    }
    // One is over, one suspended, and one has a second tab.
    let (ended, suspended) = (sessions[0].elsewhere(), sessions[1].id().to_owned());
    let (ended_refresh, second_tab) = (sessions[0].refresh_token(), sessions[2].refresh_token());
    sessions[0].post("/auth/logout", json!({})).await.expect(200);
    admin.set_status(&suspended, "suspended").await.expect(200);
    let ended = ended.with("Cookie", &format!("refresh_token={ended_refresh}"));
    let tab = app.anonymous().with("Cookie", &format!("refresh_token={second_tab}"));
    let before: Vec<_> = sessions[2..].iter().map(|one| jwt::claims(&one.access_token())).collect();
    let refreshing: Vec<Request> = [&ended, &tab].into_iter().chain(&sessions[1..]).map(|caller| caller.refresh()).collect();
    let answers = together(refreshing).await;
    assert_eq!(answers.iter().map(|answer| answer.status).collect::<Vec<_>>(), [401, 200, 401, 200, 200, 200, 200, 200, 200]);
    for (answer, before) in answers[3..].iter().zip(&before) {
        let after = jwt::claims(answer.json()["data"]["accessToken"].as_str().expect("a token"));
        assert_eq!((&after["sub"], &after["sid"]), (&before["sub"], &before["sid"]));
        assert_eq!(after["gen"].as_i64(), before["gen"].as_i64().map(|generation| generation + 1));
    }
    let tab = jwt::claims(answers[1].json()["data"]["accessToken"].as_str().expect("a token"));
    assert_eq!((&tab["sid"], tab["gen"].as_i64()), (&before[0]["sid"], Some(2)), "one rotation for both tabs");
}

async fn the_access_token_is_not_needed(app: &App) {
    let member = app.member().logged_in().await;
    app.advance(900);
    member.get("/org").await.expect_no_session();
    member.refresh().await.expect(200);
    member.jar().forget("access_token");
    member.refresh().await.expect(200);
    member.get("/org").await.expect(200);
}

/// Refreshes with this token in the body and no cookie.
fn with_body(app: &App, token: &str) -> Request {
    app.anonymous().post("/auth/refresh", json!({ "refreshToken": token }))
}

async fn without_a_cookie_the_token_may_stand_in_the_body(app: &App) {
    let member = app.member().logged_in().await;
    let data = with_body(app, &member.refresh_token()).await.expect_ok();
    assert_eq!(shape(&data), ["accessToken", "refreshToken"]);
    let token = |name: &str| data[name].as_str().expect("a token").to_owned();
    app.anonymous().with_bearer(&token("accessToken")).get("/org").await.expect(200);
    let again = with_body(app, &token("refreshToken")).await.expect(200);
    assert!(!again.cookie("refresh_token").is_cleared(), "the cookies are set as ever");
    member.get("/org").await.expect_no_session();
}

async fn a_body_without_a_token_is_no_session(app: &App) {
    let token = app.member().logged_in().await.refresh_token();
    for body in [json!({}), json!({ "refreshToken": "" }), json!({ "refreshToken": null }), json!({ "refresh_token": token })] {
        app.anonymous().post("/auth/refresh", body).await.expect_no_session();
    }
    for body in [json!([token]), json!(token), json!({ "refreshToken": 1 }), json!({ "refreshToken": [token] })] {
        app.anonymous().post("/auth/refresh", body).await.expect_no_session();
    }
    let twice = format!(r#"{{"refreshToken":"{token}","refreshToken":"{token}"}}"#);
    app.anonymous().refresh().text(twice).await.expect_no_session();
    app.anonymous().refresh().text("{not json").await.expect_no_session();
    let right = json!({ "refreshToken": token }).to_string();
    app.anonymous().refresh().body("text/plain", right.clone()).await.expect_no_session();
    app.anonymous().refresh().text(right.clone()).header("Content-Encoding", "gzip").await.expect_no_session();
    app.anonymous().refresh().text(format!("{right}{}", " ".repeat(70_000))).await.expect_no_session();
    with_body(app, &token).await.expect(200);
}

async fn a_browsers_body_is_not_looked_at(app: &App) {
    let member = app.member().logged_in().await;
    for (name, value) in [("Origin", PUBLIC_URL), ("Sec-Fetch-Site", "same-origin")] {
        with_body(app, &member.refresh_token()).header(name, value).await.expect_no_session();
        member.refresh().header(name, value).await.expect(200);
    }
    with_body(app, &member.refresh_token()).header("Origin", "https://evil.example").await.expect_error(403, "forbidden_origin");
}

async fn a_body_is_judged_like_a_cookie(app: &App) {
    let member = app.member().logged_in().await;
    let old = member.refresh_token();
    for token in [member.access_token(), "rubbish".to_owned(), "a.b.c".to_owned(), "\0".to_owned()] {
        with_body(app, &token).await.expect_no_session();
    }
    let elsewhere = app.other_org().anonymous().post("/auth/refresh", json!({ "refreshToken": old }));
    elsewhere.await.expect_error(401, "wrong_organization");
    let next = with_body(app, &old).await.expect_ok()["refreshToken"].clone();
    with_body(app, &old).await.expect(200);
    app.clock.advance(app.config.sessions.refresh_grace);
    with_body(app, &old).await.expect_no_session();
    with_body(app, next.as_str().expect("a token")).await.expect_no_session();
}

async fn beside_a_cookie_a_body_is_ignored(app: &App) {
    let member = app.member().logged_in().await;
    member.refresh().body("text/plain", "whatever").await.expect(200);
    member.refresh().text("{not json").await.expect(200);
    member.refresh().text("{}").await.expect(200);
    let other = app.admin().logged_in().await;
    let data = member.post("/auth/refresh", json!({ "refreshToken": other.refresh_token() })).await.expect_ok();
    assert_eq!(jwt::claims(data["accessToken"].as_str().expect("a token"))["sub"], member.id(), "the cookie's session");
    other.get("/org").await.expect(200);
    let dead = member.refresh_token();
    member.logout().await.expect(200);
    let beside = |cookie: &str| with_body(app, &other.refresh_token()).cookies(cookie.to_owned());
    beside(&format!("refresh_token={dead}")).await.expect_no_session();
    beside("refresh_token=rubbish").await.expect_no_session();
    beside("refresh_token=").await.expect(200);
    app.anonymous().refresh().cookies("refresh_token=".to_owned()).await.expect_no_session();
}

async fn in_another_organization_it_is_401_and_nothing_is_revoked(app: &App) {
    let member = app.member().logged_in().await;
    let refused = member.clone().at_org("globex").refresh().await.expect_error(401, "wrong_organization");
    assert!(refused.cookies().is_empty(), "no cookie is cleared");
    member.refresh().await.expect(200);
}

async fn reuse_is_judged_only_under_the_tokens_own_slug(app: &App) {
    let member = app.member().logged_in().await;
    let old = member.refresh_token();
    member.refresh().await.expect(200);
    app.clock.advance(app.config.sessions.refresh_grace);
    let refused = app.other_org().anonymous().refresh_with(&old).await.expect(401);
    assert!(refused.cookies().is_empty());
    member.get("/org").await.expect(200);
    member.refresh().await.expect(200);
}

async fn two_different_refresh_cookies_are_401_and_equal_ones_are_fine(app: &App) {
    let member = app.member().logged_in().await;
    let (one, another) = (member.refresh_token(), app.member().logged_in().await.refresh_token());
    member.refresh().cookies(format!("refresh_token={one}; refresh_token={another}")).await.expect_no_session();
    member.jar().put("refresh_token", &one);
    member.refresh().cookies(format!("refresh_token={one}; refresh_token={one}")).await.expect(200);
}
