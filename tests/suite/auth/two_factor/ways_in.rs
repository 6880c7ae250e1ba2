//! No way into a guarded account goes round its second factor, and putting one in force or removing it ends what was open before,
//! in all organizations, logins in flight included (behaviour.md, B38).

use std::{future::IntoFuture, sync::Arc};

use serde_json::json;
use tenant_auth_conformance::{App, Caller, GatedHasher, PASSWORD, Request, jwt, scenarios};

use crate::suite::support::authenticator::{Authenticator, STEP, SecondFactor, guarded_member};

scenarios![
    accepting_an_invite_asks_for_it,
    an_invite_may_be_completed_with_a_recovery_code,
    who_does_not_complete_an_invite_is_a_member_all_the_same,
    every_organization_asks_for_it,
    a_reset_password_does_not_skip_it,
    a_reset_password_ends_a_login_that_waits,
    a_changed_password_ends_a_login_that_waits,
    enabling_ends_every_other_session_in_all_organizations,
    disabling_ends_every_other_session_in_all_organizations,
    disabling_ends_a_login_that_waits,
    a_login_held_while_it_is_enabled_comes_to_nothing,
    a_login_held_while_it_is_disabled_comes_to_nothing,
    a_session_opened_before_keeps_its_refresh_only_where_it_was_enabled,
    changing_the_email_needs_a_code,
    whoever_logs_out_cannot_enable_any_more,
];

const NEW: &str = "velvet-anchor-93-comet";

/// Invites Max to the neighbour; the token.
async fn invited_next_door(app: &App) -> String {
    let greta = app.other_org().admin().logged_in().await;
    greta.invite(app.member().email()).await.expect(201);
    app.link_token_of(app.member().email()).await
}

/// Max, who joined the neighbour before his account was guarded.
async fn next_door(app: &App) -> Caller {
    let there = app.other_org().device_of(app.member().person());
    there.accept_with_account(&invited_next_door(app).await).await.expect(200);
    there
}

async fn expect_ended(caller: &Caller) {
    caller.get("/org").await.expect_no_session();
    caller.refresh().await.expect_no_session();
}

async fn accepting_an_invite_asks_for_it(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    let token = invited_next_door(app).await;
    let there = app.other_org().device_of(app.member().person());
    let answer = there.accept_with_account(&token).await.expect(200);
    assert_eq!(answer.data(), json!({ "requires2FA": true }));
    let set: Vec<String> = answer.cookies().into_iter().filter(|cookie| !cookie.is_cleared()).map(|cookie| cookie.name).collect();
    assert_eq!(set, ["partial_token"]);
    assert_eq!(answer.cookie("partial_token").max_age(), 300);
    there.get("/org").await.expect_no_session();
    there.refresh().await.expect_no_session();

    there.enter(&authenticator.wrong_code(app)).await.expect_error(401, "second_factor_failed");
    there.clone().at_org("acme").enter(&authenticator.code(app)).await.expect(401);
    let data = there.enter(&authenticator.code(app)).await.expect_ok();
    assert_eq!(data["membership"], json!({ "role": "member", "status": "active" }));
    there.get("/org").await.expect(200);
    assert_eq!(jwt::claims(&there.access_token())["amr"], json!(["invite", "otp"]));
}

async fn an_invite_may_be_completed_with_a_recovery_code(app: &App) {
    let (member, authenticator) = guarded_member(app).await;
    let token = invited_next_door(app).await;
    let there = app.other_org().device_of(app.member().person());
    there.accept_with_account(&token).await.expect(200);
    there.enter(&authenticator.recovery_codes[0]).await.expect(200);
    assert_eq!(member.status().await["recoveryCodesRemaining"], 9);
}

async fn who_does_not_complete_an_invite_is_a_member_all_the_same(app: &App) {
    let (member, authenticator) = guarded_member(app).await;
    let token = invited_next_door(app).await;
    let there = app.other_org().device_of(app.member().person());
    there.accept_with_account(&token).await.expect(200);
    app.advance(300);
    there.enter(&authenticator.code(app)).await.expect_error(401, "second_factor_failed");
    let greta = app.other_org().admin().logged_in().await;
    assert_eq!(greta.member_entry(member.id()).await.expect("a member")["status"], "active");
    assert!(greta.pending_invites().await.is_empty());
    there.accept_with_account(&token).await.expect(400);
    there.elsewhere().through(app, &authenticator).await.get("/org").await.expect(200);
}

async fn every_organization_asks_for_it(app: &App) {
    let there = next_door(app).await;
    let (_, authenticator) = guarded_member(app).await;
    let device = there.elsewhere().waiting().await;
    device.get("/org").await.expect_no_session();
    device.enter(&authenticator.code(app)).await.expect(200);
    assert_eq!(device.status().await["enabled"], true, "it is the account's, not the membership's");
    assert_eq!(jwt::claims(&device.access_token())["amr"], json!(["pwd", "otp"]));
}

/// Resets a forgotten password by mail.
async fn reset(app: &App, caller: &Caller) {
    caller.post("/auth/forgot-password", json!({ "email": caller.email() })).await.expect(200);
    let token = app.link_token_of(caller.email()).await;
    let answer = caller.post("/auth/reset-password", json!({ "token": token, "newPassword": NEW })).await.expect(200);
    assert!(answer.cookies().iter().all(tenant_auth_conformance::Cookie::is_cleared), "no session is opened");
    caller.get("/org").await.expect_no_session();
}

async fn a_reset_password_does_not_skip_it(app: &App) {
    let (member, authenticator) = guarded_member(app).await;
    let mut device = app.member();
    reset(app, &device).await;
    expect_ended(&member).await;
    device.set_password(NEW);
    let device = device.waiting().await;
    device.get("/org").await.expect_no_session();
    device.enter(&authenticator.wrong_code(app)).await.expect_error(401, "second_factor_failed");
    device.enter(&authenticator.code(app)).await.expect(200);
    let status = device.status().await;
    assert_eq!((&status["enabled"], &status["recoveryCodesRemaining"]), (&true.into(), &10.into()));
}

async fn a_reset_password_ends_a_login_that_waits(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    let waiting = app.member().waiting().await;
    reset(app, &app.member()).await;
    waiting.enter(&authenticator.code(app)).await.expect_error(401, "second_factor_failed");
    waiting.enter(&authenticator.recovery_codes[0]).await.expect_error(401, "second_factor_failed");
}

async fn a_changed_password_ends_a_login_that_waits(app: &App) {
    let (member, authenticator) = guarded_member(app).await;
    let waiting = app.member().waiting().await;
    member.change_password(PASSWORD, NEW).await.expect(200);
    waiting.enter(&authenticator.code(app)).await.expect_error(401, "second_factor_failed");
}

async fn enabling_ends_every_other_session_in_all_organizations(app: &App) {
    let there = next_door(app).await;
    let (phone, admin) = (app.member().logged_in().await, app.admin().logged_in().await);
    let (member, _) = guarded_member(app).await;
    expect_ended(&there).await;
    expect_ended(&phone).await;
    assert!(!app.backend().finds_valid(&phone.access_token()).await);
    member.get("/org").await.expect(200);
    member.refresh().await.expect(200);
    admin.get("/org").await.expect(200);
}

async fn disabling_ends_every_other_session_in_all_organizations(app: &App) {
    let there = next_door(app).await;
    let (member, authenticator) = guarded_member(app).await;
    let phone = app.member().through(app, &authenticator).await;
    let there = there.elsewhere().through(app, &authenticator).await;
    app.advance(STEP);
    member.disable(PASSWORD, &authenticator.code(app)).await.expect(200);
    expect_ended(&there).await;
    expect_ended(&phone).await;
    member.get("/org").await.expect(200);
    member.refresh().await.expect(200);
}

async fn disabling_ends_a_login_that_waits(app: &App) {
    let (member, authenticator) = guarded_member(app).await;
    let waiting = app.member().waiting().await;
    member.disable(PASSWORD, &authenticator.recovery_codes[0]).await.expect(200);
    waiting.enter(&authenticator.code(app)).await.expect_error(401, "second_factor_failed");
    let again = member.guard(app).await;
    waiting.enter(&again.code(app)).await.expect_error(401, "second_factor_failed");
    waiting.get("/org").await.expect_no_session();
}

/// A login whose password is being compared while another change happens; with any answer, it opens no session.
async fn held_login(app: &App, meanwhile: Request) {
    let hasher = GatedHasher::new();
    let gated = app.beside(|setup| setup.hasher = Some(Arc::clone(&hasher) as _)).await;
    let thief = gated.member();
    let answer = hasher.meanwhile(thief.login(), async { drop(meanwhile.into_future().await.expect(200)) }).await;
    if answer.status == 200 && answer.data() != json!({ "requires2FA": true }) {
        assert!(!app.backend().finds_valid(&thief.access_token()).await, "{}", answer.shown());
    }
    expect_ended(&thief).await;
}

async fn a_login_held_while_it_is_enabled_comes_to_nothing(app: &App) {
    let member = app.member().logged_in().await;
    let authenticator = Authenticator::new(&member.set_up(PASSWORD).await.expect_ok()["secret"]);
    held_login(app, member.enable(&authenticator.code(app))).await;
    member.get("/org").await.expect(200);
    assert_eq!(member.status().await["enabled"], true);
}

async fn a_login_held_while_it_is_disabled_comes_to_nothing(app: &App) {
    let (member, authenticator) = guarded_member(app).await;
    held_login(app, member.disable(PASSWORD, &authenticator.code(app))).await;
    member.get("/org").await.expect(200);
    assert_eq!(member.status().await["enabled"], false);
}

async fn a_session_opened_before_keeps_its_refresh_only_where_it_was_enabled(app: &App) {
    let phone = app.member().logged_in().await;
    phone.refresh().await.expect(200);
    let (member, _) = guarded_member(app).await;
    phone.refresh().await.expect_no_session();
    app.advance(900);
    phone.refresh().await.expect_no_session();
    member.get("/org").await.expect_no_session();
    member.refresh().await.expect(200);
    member.get("/org").await.expect(200);
}

async fn changing_the_email_needs_a_code(app: &App) {
    let (member, authenticator) = guarded_member(app).await;
    let change = |body| member.post("/auth/change-email", body);
    change(json!({ "newEmail": "maxi@acme.example", "password": PASSWORD })).await.expect_invalid("code");
    let wrong = json!({ "newEmail": "maxi@acme.example", "password": PASSWORD, "code": authenticator.wrong_code(app) });
    change(wrong).await.expect_error(400, "wrong_code");
    assert!(app.mail_to("maxi@acme.example").await.is_empty(), "nothing was sent");
    let right = json!({ "newEmail": "maxi@acme.example", "password": PASSWORD, "code": authenticator.code(app) });
    change(right.clone()).await.expect(200);
    change(right).await.expect_error(400, "wrong_code");
    assert_eq!(app.mail_to("maxi@acme.example").await.len(), 1);
}

async fn whoever_logs_out_cannot_enable_any_more(app: &App) {
    let member = app.member().logged_in().await;
    let authenticator = Authenticator::new(&member.set_up(PASSWORD).await.expect_ok()["secret"]);
    let copy = member.copied();
    member.logout().await.expect(200);
    copy.enable(&authenticator.code(app)).await.expect_no_session();
    app.member().logged_in().await.get("/org").await.expect(200);
}
