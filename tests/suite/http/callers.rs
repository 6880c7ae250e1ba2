//! Who asks: every way to have no session, the wrong one, or one without the right, on every route that needs it.

use serde_json::json;
use tenant_auth_conformance::{App, Caller, jwt, routes, scenarios};

scenarios![
    a_stranger_is_401_on_every_user_route,
    a_stranger_is_401_whatever_the_body,
    a_plain_member_is_403_on_every_admin_route,
    a_bearer_token_is_as_good_as_a_cookie,
    an_invalid_bearer_beside_a_good_cookie_is_401,
    two_different_access_cookies_are_401,
    equal_cookies_and_foreign_cookies_do_no_harm,
    a_foreign_cookie_in_any_script_does_no_harm,
    two_authorization_headers_are_400,
    two_authorization_headers_are_400_on_every_route,
    a_token_in_another_organization_is_401_and_nothing_happens,
    an_expired_token_of_another_organization_is_no_session,
    no_session_is_needed_where_none_is_asked_for,
    the_caller_is_judged_before_path_and_body,
    a_superseded_token_is_401,
];

/// The routes for members, for admins and for operators.
const MEMBER: [(&str, &str); 8] = [
    ("GET", "/auth/profile"),
    ("PUT", "/auth/profile"),
    ("POST", "/auth/change-password"),
    ("GET", "/org"),
    ("GET", "/org/members"),
    ("GET", "/org/members/x"),
    ("POST", "/org/leave"),
    ("PATCH", "/org"),
];
const ADMIN: [(&str, &str); 16] = [
    ("PATCH", "/org"),
    ("POST", "/org/members/invite"),
    ("PATCH", "/org/members/x"),
    ("DELETE", "/org/members/x"),
    ("PUT", "/org/members/x/role"),
    ("PUT", "/org/members/x/status"),
    ("DELETE", "/org/members/x/sessions"),
    ("DELETE", "/org/members/x/sessions/x"),
    ("GET", "/org/invites"),
    ("POST", "/org/invites/x/resend"),
    ("DELETE", "/org/invites/x"),
    ("GET", "/org/api-keys"),
    ("POST", "/org/api-keys"),
    ("POST", "/org/api-keys/x/rotate"),
    ("DELETE", "/org/api-keys/x"),
    ("PATCH", "/org/members/%00"),
];

const OPERATOR: [(&str, &str); 6] = [
    ("GET", "/admin/organizations"),
    ("POST", "/admin/organizations"),
    ("GET", "/admin/organizations/acme"),
    ("PATCH", "/admin/organizations/acme"),
    ("DELETE", "/admin/organizations/acme"),
    ("POST", "/admin/organizations/acme/invites"),
];

fn user_routes() -> impl Iterator<Item = (&'static str, &'static str)> {
    MEMBER.into_iter().chain(ADMIN).chain(OPERATOR)
}

async fn a_stranger_is_401_on_every_user_route(app: &App) {
    let rubbish = app.anonymous().with_bearer("rubbish");
    for (method, path) in user_routes() {
        assert!(routes::row_for(method, path).is_some(), "the table has {method} {path}");
        for stranger in [&app.anonymous(), &rubbish, &app.backend()] {
            let refused = stranger.request(method, path).await.expect_no_session();
            assert!(refused.cookies().is_empty(), "{}", refused.shown());
        }
    }
}

async fn a_stranger_is_401_whatever_the_body(app: &App) {
    for (method, path) in user_routes() {
        let ask = || app.anonymous().request(method, path);
        ask().text("{").await.expect_no_session();
        ask().body("text/plain", "x").await.expect_no_session();
        ask().text(vec![b' '; 70_000]).await.expect_no_session();
        ask().text("{}").header("Content-Encoding", "gzip").await.expect_no_session();
    }
    app.anonymous().post_nothing("/public/verify").text("{").await.expect_error(401, "invalid_api_key");
    app.anonymous().post_nothing("/public/verify").text(vec![b' '; 70_000]).await.expect_error(401, "invalid_api_key");
}

async fn a_plain_member_is_403_on_every_admin_route(app: &App) {
    let member = app.member().logged_in().await;
    for (method, path) in ADMIN {
        member.request(method, path).await.expect_error(403, "admin_required");
        member.request(method, path).text("{").await.expect_error(403, "admin_required");
    }
}

async fn a_bearer_token_is_as_good_as_a_cookie(app: &App) {
    let member = app.member().logged_in().await;
    let token = member.access_token();
    let bearer = member.elsewhere().with_bearer(&token);
    bearer.get("/org").await.expect(200);
    bearer.put("/auth/profile", json!({ "name": "Max" })).await.expect(200);
    let scheme = member.elsewhere().with("Authorization", &format!("bearer {token}"));
    scheme.get("/org").await.expect(200);
}

async fn an_invalid_bearer_beside_a_good_cookie_is_401(app: &App) {
    let member = app.member().logged_in().await;
    for bad in ["Bearer rubbish", "Bearer ", "Bearer", "bearer a.b.c", &format!("Bearer {}", member.refresh_token())] {
        member.get("/org").header("Authorization", bad).await.expect_no_session();
    }
    let token = member.access_token();
    member.get("/org").header("Authorization", format!("Bearer {token}x")).await.expect_no_session();
    member.get("/org").header("Authorization", format!("Bearer {token}")).await.expect(200);
}

async fn two_different_access_cookies_are_401(app: &App) {
    let member = app.member().logged_in().await;
    let (good, other) = (member.access_token(), app.admin().logged_in().await.access_token());
    for cookies in [
        format!("access_token={good}; access_token={other}"),
        format!("access_token={other}; access_token={good}"),
        format!("access_token={good}; access_token="),
        format!("access_token=rubbish; a=b; access_token={good}"),
    ] {
        let refused = member.get("/org").cookies(cookies).await.expect_no_session();
        assert!(refused.cookies().is_empty(), "nothing to expire without a cookie domain: {}", refused.shown());
    }
    let split = member.get("/org").cookies(format!("access_token={good}")).header("Cookie", format!("access_token={other}"));
    split.await.expect_no_session();
}

async fn equal_cookies_and_foreign_cookies_do_no_harm(app: &App) {
    let member = app.member().logged_in().await;
    let token = member.access_token();
    for cookies in [
        format!("access_token={token}; access_token={token}"),
        format!("theme=dark; access_token={token}; _ga=GA1.2.3; =; ;; x"),
        format!("Access_Token=zzz; xaccess_token=zzz; access_token={token}"),
        format!("a=\"quoted; stuff\"; access_token={token}"),
    ] {
        member.get("/org").cookies(cookies).await.expect(200);
    }
}

/// Any script of a page may set `document.cookie = "name=José"`; that must not lock anybody out.
async fn a_foreign_cookie_in_any_script_does_no_harm(app: &App) {
    let member = app.member().logged_in().await;
    let token = member.access_token();
    member.get("/org").cookies(format!("name=José; access_token={token}; crab=🦀")).await.expect(200);
}

async fn two_authorization_headers_are_400(app: &App) {
    let member = app.member().logged_in().await;
    let bearer = format!("Bearer {}", member.access_token());
    let refused = member
        .get("/org")
        .header("Authorization", &bearer)
        .header("Authorization", &bearer)
        .await
        .expect_error(400, "invalid_request");
    assert!(refused.message().to_lowercase().contains("authorization"), "{}", refused.shown());
    member
        .get("/org")
        .header("Authorization", "Basic eDp5")
        .header("authorization", &bearer)
        .await
        .expect_error(400, "invalid_request");
}

async fn two_authorization_headers_are_400_on_every_route(app: &App) {
    for row in routes::table() {
        let request = app.anonymous().request(&row.method, &row.plausible_path(app.member().id()));
        request.header("Authorization", "Bearer x").header("Authorization", "Basic eDp5").await.expect_invalid("Authorization");
    }
}

async fn a_token_in_another_organization_is_401_and_nothing_happens(app: &App) {
    let admin = app.admin().logged_in().await;
    for (method, path) in user_routes() {
        let refused = admin.clone().at_org("globex").request(method, path).await.expect_error(401, "wrong_organization");
        assert!(refused.cookies().is_empty(), "{}", refused.shown());
    }
    let bearer = admin.elsewhere().with_bearer(&admin.access_token()).at_org("globex");
    bearer.get("/org").await.expect_error(401, "wrong_organization");
    admin.get("/org").await.expect(200);
    admin.refresh().await.expect(200);
}

async fn an_expired_token_of_another_organization_is_no_session(app: &App) {
    let member = app.member().logged_in().await;
    let token = member.access_token();
    app.advance(900);
    app.other_org().anonymous().with_bearer(&token).get("/org").await.expect_no_session();
    member.refresh().await.expect(200);
    app.other_org().anonymous().with_bearer(&token).get("/org").await.expect_no_session();
    let live = member.access_token();
    member.logout().await.expect(200);
    app.other_org().anonymous().with_bearer(&live).get("/org").await.expect_no_session();
}

async fn no_session_is_needed_where_none_is_asked_for(app: &App) {
    let member = app.member();
    let odd: [Caller; 3] = [
        member.clone().with("Authorization", "Bearer rubbish"),
        member.clone().with("Cookie", "access_token=rubbish; refresh_token=rubbish"),
        member.clone().with("Cookie", "access_token=a; access_token=b"),
    ];
    for caller in odd {
        caller.elsewhere().login().await.expect(200);
        caller.login().await.expect(200);
    }
    app.anonymous().with("Authorization", "Bearer rubbish").get("/.well-known/jwks.json").await.expect(200);
}

async fn the_caller_is_judged_before_path_and_body(app: &App) {
    let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
    member.set_metadata("rubbish", json!({})).await.expect_error(403, "admin_required");
    admin.request("PATCH", "/org/members/rubbish").text("{").await.expect_error(404, "not_found");
    admin.request("PATCH", "/org/members/rubbish").body("text/plain", "x").await.expect_error(404, "not_found");
    admin.request("PATCH", "/org/members/rubbish").text(vec![b' '; 70_000]).await.expect_error(404, "not_found");
    app.backend().get("/public/users/rubbish").without("X-API-Key").await.expect_error(401, "invalid_api_key");
}

async fn a_superseded_token_is_401(app: &App) {
    let member = app.member().logged_in().await;
    let old = member.access_token();
    member.refresh().await.expect(200);
    let bearer = member.elsewhere().with_bearer(&old);
    bearer.get("/org").await.expect_no_session();
    assert!(jwt::claims(&old)["exp"].as_i64() > Some(0), "although it has not expired");
}
