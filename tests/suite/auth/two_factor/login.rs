//! The second step of a login: POST /auth/verify-2fa, what it takes and what it gives (behaviour.md, B51).

use serde_json::json;
use tenant_auth_conformance::{App, Caller, PUBLIC_URL, Response, id_of, jwt, scenarios, shape};

use crate::suite::support::authenticator::{STEP, SecondFactor, guarded_member};

scenarios![
    the_password_opens_nothing_but_a_wait,
    the_code_opens_the_session,
    browsers_get_no_tokens_in_the_body,
    the_token_says_how_one_came_in,
    a_code_of_the_step_before_or_after_is_right,
    a_code_two_steps_away_is_wrong,
    spaces_in_a_code_do_not_matter,
    a_code_works_once,
    a_wrong_code_opens_nothing_and_may_be_corrected,
    a_wait_ends_exactly_after_five_minutes,
    a_wait_is_used_once,
    five_wrong_codes_burn_a_wait,
    nobody_waits_without_a_token,
    nothing_is_parsed_for_who_does_not_wait,
    two_different_tokens_are_none,
    the_session_is_as_any_other,
    a_member_suspended_meanwhile_is_403,
    a_member_removed_meanwhile_does_not_come_in,
    a_suspended_organization_admits_nobody,
    who_is_no_member_is_told_before_the_code,
];

fn set_names(response: &Response) -> Vec<String> {
    let mut names: Vec<String> =
        response.cookies().into_iter().filter(|cookie| !cookie.is_cleared()).map(|cookie| cookie.name).collect();
    names.sort();
    names
}

async fn the_password_opens_nothing_but_a_wait(app: &App) {
    guarded_member(app).await;
    let member = app.member();
    let answer = member.login().await.expect(200);
    assert_eq!(answer.data(), json!({ "requires2FA": true }));
    assert_eq!(set_names(&answer), ["partial_token"]);
    let mut attributes = answer.cookie("partial_token").attributes;
    attributes.sort();
    assert_eq!(attributes, ["HttpOnly", "Max-Age=300", "Path=/", "SameSite=Lax", "Secure"]);
    member.get("/org").await.expect_no_session();
    member.refresh().await.expect_no_session();
    app.anonymous().login_with(member.email(), "not-the-password").await.expect_error(401, "invalid_credentials");
}

async fn the_code_opens_the_session(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    let member = app.member().waiting().await;
    let answer = member.enter(&authenticator.code(app)).await.expect(200);
    let data = answer.data();
    assert_eq!(shape(&data), ["accessToken", "membership", "refreshToken", "user"]);
    assert_eq!((&data["accessToken"], &data["refreshToken"]), (&member.access_token().into(), &member.refresh_token().into()));
    let user = json!({ "id": member.id(), "name": "Max Member", "email": member.email(), "role": "user", "isEmailVerified": true });
    assert_eq!(data["user"], user);
    assert_eq!(data["membership"], json!({ "role": "member", "status": "active" }));
    assert_eq!(set_names(&answer), ["access_token", "refresh_token"]);
    assert_eq!(answer.cookie("access_token").max_age(), 900);
    assert_eq!(answer.cookie("refresh_token").max_age(), 7 * 86_400);
    assert!(answer.cookie("partial_token").is_cleared());
    member.get("/org").await.expect(200);
    member.refresh().await.expect(200);
}

async fn browsers_get_no_tokens_in_the_body(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    let member = app.member().waiting().await;
    member.enter(&authenticator.code(app)).from_origin("https://evil.example").await.expect_error(403, "forbidden_origin");
    let data = member.enter(&authenticator.code(app)).from_origin(PUBLIC_URL).await.expect_ok();
    assert_eq!(shape(&data), ["membership", "user"]);
    member.get("/org").await.expect(200);
}

async fn the_token_says_how_one_came_in(app: &App) {
    let (before, authenticator) = guarded_member(app).await;
    assert_eq!(jwt::claims(&before.access_token())["amr"], json!(["pwd"]));
    let member = app.member().through(app, &authenticator).await;
    let with_recovery_code = app.member().waiting().await;
    with_recovery_code.enter(&authenticator.recovery_codes[0]).await.expect(200);
    for caller in [&member, &with_recovery_code] {
        let claims = jwt::claims(&caller.access_token());
        assert_eq!(claims["amr"], json!(["pwd", "otp"]));
        let known = app.backend().verify(&caller.access_token()).await.expect_ok();
        assert_eq!(known["session"]["amr"], json!(["pwd", "otp"]));
        caller.refresh().await.expect(200);
        assert_eq!(jwt::claims(&caller.access_token())["amr"], json!(["pwd", "otp"]), "after a refresh too");
    }
}

async fn a_code_of_the_step_before_or_after_is_right(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    app.advance(3 * STEP);
    for steps in [-1, 0, 1] {
        app.member().waiting().await.enter(&authenticator.code_in(app, steps)).await.expect(200);
    }
}

async fn a_code_two_steps_away_is_wrong(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    app.advance(5 * STEP);
    let member = app.member().waiting().await;
    for steps in [-2, 2, -3, 3] {
        member.enter(&authenticator.code_in(app, steps)).await.expect_error(401, "second_factor_failed");
    }
    member.enter(&authenticator.code(app)).await.expect(200);
}

async fn spaces_in_a_code_do_not_matter(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    let code = authenticator.code(app);
    app.member().waiting().await.enter(&format!(" {} {} ", &code[..3], &code[3..])).await.expect(200);
    app.member().waiting().await.enter(&code).await.expect_error(401, "second_factor_failed");
}

async fn a_code_works_once(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    let code = authenticator.code(app);
    let [first, second] = [app.member().waiting().await, app.member().waiting().await];
    first.enter(&code).await.expect(200);
    let refused = second.enter(&code).await.expect_error(401, "second_factor_failed");
    assert!(set_names(&refused).is_empty());
    app.advance(STEP);
    second.enter(&code).await.expect_error(401, "second_factor_failed");
    second.enter(&authenticator.code(app)).await.expect(200);
}

async fn a_wrong_code_opens_nothing_and_may_be_corrected(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    let member = app.member().waiting().await;
    for code in [authenticator.wrong_code(app), "12345".into(), "1234567".into(), "x".repeat(10_000), String::new()].iter().take(4)
    {
        let refused = member.enter(code).await.expect_error(401, "second_factor_failed");
        assert!(set_names(&refused).is_empty());
        member.get("/org").await.expect_no_session();
    }
    member.enter(&authenticator.code(app)).await.expect(200);
}

async fn a_wait_ends_exactly_after_five_minutes(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    let [quick, slow] = [app.member().waiting().await, app.member().waiting().await];
    app.clock.advance(std::time::Duration::from_millis(299_999));
    quick.enter(&authenticator.code(app)).await.expect(200);
    app.clock.advance(std::time::Duration::from_millis(1));
    slow.enter(&authenticator.code_in(app, 1)).await.expect_error(401, "second_factor_failed");
    slow.enter(&authenticator.recovery_codes[0]).await.expect_error(401, "second_factor_failed");
}

async fn a_wait_is_used_once(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    let member = app.member().waiting().await;
    let copy = member.copied();
    member.enter(&authenticator.code(app)).await.expect(200);
    app.advance(STEP);
    copy.enter(&authenticator.code(app)).await.expect_error(401, "second_factor_failed");
    copy.enter(&authenticator.recovery_codes[0]).await.expect_error(401, "second_factor_failed");
    member.get("/org").await.expect(200);
    assert_eq!(member.status().await["recoveryCodesRemaining"], 10, "a code is not spent on a used wait");
}

async fn five_wrong_codes_burn_a_wait(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    let [burnt, fresh] = [app.member().waiting().await, app.member().waiting().await];
    for _ in 0..5 {
        burnt.enter(&authenticator.wrong_code(app)).await.expect_error(401, "second_factor_failed");
    }
    burnt.enter(&authenticator.code(app)).await.expect_error(401, "second_factor_failed");
    burnt.enter(&authenticator.recovery_codes[0]).await.expect_error(401, "second_factor_failed");
    fresh.enter(&authenticator.code(app)).await.expect(200);
    assert_eq!(fresh.status().await["recoveryCodesRemaining"], 10, "a code is not spent on a burnt wait");
}

async fn nobody_waits_without_a_token(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    let code = authenticator.code(app);
    for cookies in ["", "partial_token=", "partial_token=nonsense", "partial_token=a.b.c"] {
        let refused = app.member().enter(&code).cookies(cookies).await.expect(401);
        assert!(set_names(&refused).is_empty());
    }
    app.member().waiting().await.enter(&code).await.expect(200);
}

/// 401 beats 400 (behaviour.md, B1).
async fn nothing_is_parsed_for_who_does_not_wait(app: &App) {
    guarded_member(app).await;
    app.member().request("POST", "/auth/verify-2fa").text("{").await.expect(401);
    app.member().post("/auth/verify-2fa", json!({})).await.expect(401);
    app.member().post("/auth/verify-2fa", json!({})).cookies("partial_token=a.b.c").await.expect(401);
}

async fn two_different_tokens_are_none(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    let [one, other] = [app.member().waiting().await, app.member().waiting().await];
    let both = format!("partial_token={}; partial_token={}", one.partial_token(), other.partial_token());
    app.member().enter(&authenticator.code(app)).cookies(both).await.expect_no_session();
    let twice = format!("partial_token={0}; partial_token={0}", one.partial_token());
    app.member().enter(&authenticator.code(app)).cookies(twice).await.expect(200);
}

async fn the_session_is_as_any_other(app: &App) {
    let (before, authenticator) = guarded_member(app).await;
    let member = app.member().through(app, &authenticator).await;
    let sessions = member.get("/auth/sessions").await.expect_ok()["sessions"].as_array().expect("a list").clone();
    assert_eq!(sessions.len(), 2);
    let current: Vec<&str> = sessions.iter().filter(|session| session["current"] == true).map(id_of).collect();
    assert_eq!(current, [jwt::claims(&member.access_token())["sid"].as_str().expect("a session")]);
    before.get("/org").await.expect(200);
    member.logout().await.expect(200);
    member.get("/org").await.expect_no_session();
    member.refresh().await.expect_no_session();
}

/// A member who waits, and the code that would let them in.
async fn about_to_enter(app: &App) -> (Caller, String) {
    let (_, authenticator) = guarded_member(app).await;
    (app.member().waiting().await, authenticator.code(app))
}

async fn a_member_suspended_meanwhile_is_403(app: &App) {
    let (member, code) = about_to_enter(app).await;
    let admin = app.admin().logged_in().await;
    admin.set_status(member.id(), "suspended").await.expect(200);
    let refused = member.enter(&code).await.expect_error(403, "suspended");
    assert!(set_names(&refused).is_empty());
    app.member().login().await.expect_error(403, "suspended");
    admin.set_status(member.id(), "active").await.expect(200);
    member.enter(&code).await.expect(200);
}

async fn a_member_removed_meanwhile_does_not_come_in(app: &App) {
    let (member, code) = about_to_enter(app).await;
    app.admin().logged_in().await.remove(member.id()).await.expect(200);
    let refused = member.enter(&code).await;
    assert!(matches!(refused.status, 401 | 403), "{}", refused.shown());
    assert!(set_names(&refused).is_empty());
    member.get("/org").await.expect_no_session();
}

async fn a_suspended_organization_admits_nobody(app: &App) {
    let (member, code) = about_to_enter(app).await;
    app.org().suspend().await;
    let refused = member.enter(&code).await.expect_error(403, "suspended");
    assert!(set_names(&refused).is_empty());
    app.org().reactivate().await;
    member.enter(&code).await.expect(200);
}

async fn who_is_no_member_is_told_before_the_code(app: &App) {
    let (member, _) = guarded_member(app).await;
    let stranger = app.other_org().device_of(member.person());
    let refused = stranger.login().await.expect(403);
    assert!(refused.cookies().is_empty(), "nothing to wait with where one does not belong");
}
