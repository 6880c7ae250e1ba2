//! POST /auth/login: who gets in, what they are told, and what a stranger learns from a refusal (nothing).

use std::sync::Arc;

use serde_json::json;
use tenant_auth_conformance::{App, BusyHasher, GatedHasher, PASSWORD, PUBLIC_URL, PanickingHasher, Response, scenarios, shape};

scenarios![
    the_right_password_opens_a_session,
    a_wrong_password_is_401,
    an_unknown_address_is_answered_like_a_wrong_password_byte_for_byte,
    an_unknown_address_costs_a_hash_too,
    somebody_elses_member_is_403_after_the_right_password_only,
    a_suspended_member_is_403_after_the_right_password_only,
    a_suspended_organization_admits_nobody,
    the_address_is_compared_folded,
    email_and_password_are_required_texts,
    unknown_fields_have_no_effect,
    each_login_is_a_session_of_its_own,
    a_refused_login_leaves_the_session_alone,
    a_long_password_is_never_truncated,
    a_password_is_the_same_in_every_normal_form,
    a_full_hashing_queue_is_503_and_clears_no_cookie,
    a_panic_is_500_in_the_envelope_and_the_service_goes_on,
];

async fn the_right_password_opens_a_session(app: &App) {
    let member = app.member();
    let data = member.login().await.expect_ok();
    assert_eq!(shape(&data), ["accessToken", "membership", "refreshToken", "user"]);
    assert_eq!(data["accessToken"], member.access_token(), "the body and the cookie carry one token");
    assert_eq!(data["refreshToken"], member.refresh_token());
    let user = json!({ "id": member.id(), "name": "Max Member", "email": member.email(), "role": "user", "isEmailVerified": true });
    assert_eq!(data["user"], user);
    assert_eq!(data["membership"], json!({ "role": "member", "status": "active" }));
    member.get("/org").await.expect(200);
}

async fn a_wrong_password_is_401(app: &App) {
    let refused =
        app.anonymous().login_with(app.member().email(), "not-the-password").await.expect_error(401, "invalid_credentials");
    assert!(refused.cookies().is_empty(), "nothing is set or cleared");
}

async fn an_unknown_address_is_answered_like_a_wrong_password_byte_for_byte(app: &App) {
    let nobody = app.anonymous().login_with("nobody@acme.example", PASSWORD).await.expect(401);
    let wrong = app.anonymous().login_with(app.member().email(), "not-the-password").await.expect(401);
    assert_eq!(comparable(&nobody), comparable(&wrong));
}

/// An answer without what differs from one to the next by nature.
fn comparable(response: &Response) -> (u16, Vec<&(String, String)>, &str) {
    let moving = ["date", "x-request-id"];
    let headers = response.headers.iter().filter(|(name, _)| !moving.contains(&name.to_lowercase().as_str())).collect();
    (response.status, headers, &response.body)
}

async fn an_unknown_address_costs_a_hash_too(app: &App) {
    let hasher = GatedHasher::new();
    let counted = app.beside(|setup| setup.hasher = Some(Arc::clone(&hasher) as _)).await;
    counted.anonymous().login_with(app.member().email(), "not-the-password").await.expect(401);
    assert_eq!(hasher.verified(), 1);
    counted.anonymous().login_with("nobody@acme.example", PASSWORD).await.expect(401);
    assert_eq!(hasher.verified(), 2, "a decoy is compared, so that the time tells nothing");
}

async fn somebody_elses_member_is_403_after_the_right_password_only(app: &App) {
    let gus = app.other_org().member();
    let stranger = app.anonymous();
    stranger.login_with(gus.email(), "not-the-password").await.expect_error(401, "invalid_credentials");
    let refused = stranger.login_with(gus.email(), PASSWORD).await.expect(403);
    assert!(refused.cookies().is_empty(), "no session was opened");
}

async fn a_suspended_member_is_403_after_the_right_password_only(app: &App) {
    let admin = app.admin().logged_in().await;
    admin.set_status(app.member().id(), "suspended").await.expect(200);
    app.anonymous().login_with(app.member().email(), "not-the-password").await.expect_error(401, "invalid_credentials");
    app.member().login().await.expect_error(403, "suspended");
}

async fn a_suspended_organization_admits_nobody(app: &App) {
    app.org().suspend().await;
    app.admin().login().await.expect_error(403, "suspended");
    app.member().login().await.expect_error(403, "suspended");
    app.anonymous().login_with(app.member().email(), "not-the-password").await.expect_error(401, "invalid_credentials");
    app.other_org().member().login().await.expect(200);
}

async fn the_address_is_compared_folded(app: &App) {
    for typed in ["MAX@Acme.EXAMPLE", "  max@acme.example ", "ｍａｘ@acme.example"] {
        let data = app.anonymous().login_with(typed, PASSWORD).await.expect_ok();
        assert_eq!(data["user"]["email"], "max@acme.example", "shown as it was first typed");
    }
}

async fn email_and_password_are_required_texts(app: &App) {
    let login = |body| app.anonymous().post("/auth/login", body);
    login(json!({ "password": PASSWORD })).await.expect_invalid("email");
    login(json!({ "email": "max@acme.example" })).await.expect_invalid("password");
    login(json!({ "email": 7, "password": PASSWORD })).await.expect_invalid("email");
    login(json!({ "email": "max@acme.example", "password": null })).await.expect_invalid("password");
    login(json!({ "email": ["max@acme.example"], "password": PASSWORD })).await.expect_invalid("email");
}

async fn unknown_fields_have_no_effect(app: &App) {
    let member = app.member();
    let body =
        json!({ "email": member.email(), "password": PASSWORD, "role": "org_admin", "organization": "globex", "sub": "usr_x" });
    let data = member.post("/auth/login", body).await.expect_ok();
    assert_eq!(data["membership"]["role"], "member");
}

async fn each_login_is_a_session_of_its_own(app: &App) {
    let (desk, phone) = (app.member().logged_in().await, app.member().logged_in().await);
    assert_ne!(desk.refresh_token(), phone.refresh_token());
    desk.logout().await.expect(200);
    desk.get("/org").await.expect_no_session();
    phone.get("/org").await.expect(200);
}

async fn a_refused_login_leaves_the_session_alone(app: &App) {
    let member = app.member().logged_in().await;
    member.login_with(member.email(), "not-the-password").await.expect(401);
    member.get("/org").await.expect(200);
}

async fn a_long_password_is_never_truncated(app: &App) {
    let mut member = app.member().logged_in().await;
    let long: String = (0..60).map(|n| format!("{n:02}é")).chain(["x".repeat(76)]).collect();
    assert_eq!(long.chars().count(), 256);
    member.change_password(PASSWORD, &long).await.expect(200);
    let but_the_last: String = long.chars().take(255).collect();
    app.anonymous().login_with(member.email(), &but_the_last).await.expect(401);
    member.set_password(&long);
    member.elsewhere().login().await.expect(200);
}

async fn a_password_is_the_same_in_every_normal_form(app: &App) {
    let member = app.member().logged_in().await;
    let (composed, decomposed) = ("gr\u{fc}ne-kr\u{f6}te-7-zeh", "gru\u{308}ne-kro\u{308}te-7-zeh");
    member.change_password(PASSWORD, decomposed).await.expect(200);
    for typed in [composed, decomposed] {
        app.anonymous().login_with(member.email(), typed).await.expect(200);
    }
}

async fn a_full_hashing_queue_is_503_and_clears_no_cookie(app: &App) {
    let busy = app.beside(|setup| setup.hasher = Some(Arc::new(BusyHasher))).await;
    let refused = busy.member().login().may_fail().await.expect_error(503, "unavailable");
    assert!(refused.cookies().is_empty(), "a cookie is never cleared for want of time");
}

async fn a_panic_is_500_in_the_envelope_and_the_service_goes_on(app: &App) {
    let defective = app.beside(|setup| setup.hasher = Some(Arc::new(PanickingHasher))).await;
    for _ in 0..3 {
        let refused = defective.member().login().from_origin(PUBLIC_URL).may_fail().await.expect(500);
        assert_eq!(refused.header("Access-Control-Allow-Origin"), Some(PUBLIC_URL), "{}", refused.shown());
        assert_eq!(refused.header("Access-Control-Expose-Headers"), Some("x-request-id, retry-after"), "{}", refused.shown());
        assert!(refused.cookies().is_empty());
        assert!(!refused.body.contains("made to order"), "details stay in the log: {}", refused.shown());
    }
    defective.anonymous().get("/.well-known/jwks.json").await.expect(200);
    app.member().login().await.expect(200);
}
