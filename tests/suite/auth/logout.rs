//! POST /auth/logout: the session ends with either of its tokens, and the browser forgets both.

use serde_json::Value;
use tenant_auth_conformance::{App, Response, scenarios};

scenarios![
    the_session_ends_and_all_three_cookies_are_cleared,
    a_bearer_token_logs_out_too,
    a_missing_access_token_with_a_live_refresh_cookie_counts,
    an_expired_access_token_with_a_live_refresh_cookie_counts,
    a_superseded_access_token_with_a_live_refresh_cookie_counts,
    without_a_session_it_is_401_and_the_cookies_are_cleared_all_the_same,
    in_another_organization_it_is_401_and_the_cookies_stay,
    a_refresh_token_that_was_superseded_long_ago_is_a_reuse,
    a_suspended_member_may_log_out,
    a_member_of_a_suspended_organization_may_log_out,
    the_body_is_optional_but_not_rubbish,
];

/// Every cookie of ours, cleared, and nothing else.
#[track_caller]
fn expect_all_cleared(response: &Response) {
    let mut cleared: Vec<String> =
        response.cookies().into_iter().filter(|cookie| cookie.is_cleared()).map(|cookie| cookie.name).collect();
    cleared.sort();
    assert_eq!(cleared, ["access_token", "partial_token", "refresh_token"], "{}", response.shown());
    assert_eq!(response.cookies().len(), 3);
}

async fn the_session_ends_and_all_three_cookies_are_cleared(app: &App) {
    let member = app.member().logged_in().await;
    let stolen = member.copied();
    let answer = member.logout().await.expect(200);
    expect_all_cleared(&answer);
    assert!(answer.data()["message"].is_string());
    assert_eq!(member.jar().header(), "");
    stolen.get("/org").await.expect_no_session();
    stolen.refresh().await.expect_no_session();
    assert!(!app.backend().finds_valid(&stolen.access_token()).await);
}

async fn a_bearer_token_logs_out_too(app: &App) {
    let member = app.member().logged_in().await;
    member.elsewhere().with_bearer(&member.access_token()).logout().await.expect(200);
    member.refresh().await.expect_no_session();
}

async fn a_missing_access_token_with_a_live_refresh_cookie_counts(app: &App) {
    let member = app.member().logged_in().await;
    let copy = member.copied();
    member.jar().forget("access_token");
    expect_all_cleared(&member.logout().await.expect(200));
    copy.get("/org").await.expect_no_session();
}

async fn an_expired_access_token_with_a_live_refresh_cookie_counts(app: &App) {
    let member = app.member().logged_in().await;
    let copy = member.copied();
    app.advance(900);
    member.logout().await.expect(200);
    copy.refresh().await.expect_no_session();
}

async fn a_superseded_access_token_with_a_live_refresh_cookie_counts(app: &App) {
    let member = app.member().logged_in().await;
    let superseded = member.access_token();
    member.refresh().await.expect(200);
    let copy = member.copied();
    member.jar().put("access_token", &superseded);
    member.logout().await.expect(200);
    copy.get("/org").await.expect_no_session();
}

async fn without_a_session_it_is_401_and_the_cookies_are_cleared_all_the_same(app: &App) {
    expect_all_cleared(&app.anonymous().logout().await.expect_no_session());
    expect_all_cleared(&app.anonymous().logout().cookies("access_token=x; refresh_token=y").await.expect_no_session());
    let member = app.member().logged_in().await;
    let copy = member.copied();
    member.logout().await.expect(200);
    expect_all_cleared(&copy.logout().await.expect_no_session());
}

async fn in_another_organization_it_is_401_and_the_cookies_stay(app: &App) {
    let member = app.member().logged_in().await;
    let refused = member.clone().at_org("globex").logout().await.expect_error(401, "wrong_organization");
    assert!(refused.cookies().is_empty(), "{}", refused.shown());
    member.get("/org").await.expect(200);
    let only_refresh = member.copied().at_org("globex");
    only_refresh.jar().forget("access_token");
    let refused = only_refresh.logout().await.expect_error(401, "wrong_organization");
    assert!(refused.cookies().is_empty(), "{}", refused.shown());
    member.refresh().await.expect(200);
}

async fn a_refresh_token_that_was_superseded_long_ago_is_a_reuse(app: &App) {
    let member = app.member().logged_in().await;
    let stolen = member.copied();
    stolen.jar().forget("access_token");
    member.refresh().await.expect(200);
    app.advance(31);
    let elsewhere = stolen.clone().at_org("globex").logout().await.expect_error(401, "wrong_organization");
    assert!(elsewhere.cookies().is_empty(), "{}", elsewhere.shown());
    member.get("/org").await.expect(200);
    expect_all_cleared(&stolen.logout().await.expect_no_session());
    member.get("/org").await.expect_no_session();
    let admin = app.admin().logged_in().await;
    let told = admin.get("/org/audit?kind=session.reuse_detected").await.expect_ok();
    assert_eq!(told["entries"].as_array().map(Vec::len), Some(1), "{told}");
}

async fn a_suspended_member_may_log_out(app: &App) {
    let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
    let copy = member.copied();
    admin.set_status(member.id(), "suspended").await.expect(200);
    member.get("/org").await.expect_error(403, "suspended");
    expect_all_cleared(&member.logout().await.expect(200));
    admin.set_status(copy.id(), "active").await.expect(200);
    copy.get("/org").await.expect_no_session();
    copy.refresh().await.expect_no_session();
}

async fn a_member_of_a_suspended_organization_may_log_out(app: &App) {
    let member = app.member().logged_in().await;
    let copy = member.copied();
    app.org().suspend().await;
    member.logout().await.expect(200);
    app.org().reactivate().await;
    copy.refresh().await.expect_no_session();
}

async fn the_body_is_optional_but_not_rubbish(app: &App) {
    let member = app.member().logged_in().await;
    member.logout().body("text/plain", "bye").await.expect_error(415, "unsupported_media_type");
    member.logout().text("{bye").await.expect_error(400, "invalid_request");
    member.get("/org").await.expect(200);
    let data: Value = member.logout().text("{}").await.expect_ok();
    assert!(data["message"].is_string());
}
