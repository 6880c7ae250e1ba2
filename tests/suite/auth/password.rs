//! POST /auth/change-password, and what a new password must be wherever one is chosen (behaviour.md, B28, B265).

use serde_json::json;
use tenant_auth_conformance::{App, Caller, PASSWORD, Response, scenarios};

use crate::suite::support::account::mailed_token;

scenarios![
    the_new_password_replaces_the_old_one,
    a_wrong_current_password_is_401_and_changes_nothing,
    the_attempt_is_judged_first_then_the_old_password_then_the_new_one,
    the_current_password_is_no_new_one,
    a_changed_password_kills_links_that_reset_it_or_change_the_address,
    every_other_session_ends_in_all_organizations,
    both_fields_are_required,
    a_short_password_is_400,
    a_long_password_is_400,
    a_common_password_is_400_whatever_its_case,
    ones_own_names_are_no_passwords,
    a_guessable_password_is_400,
    every_broken_rule_is_named_in_one_answer,
    the_minimum_score_is_a_setting,
    the_same_rules_hold_for_a_new_account,
];

const NEW: &str = "velvet-anchor-93-comet";

async fn the_new_password_replaces_the_old_one(app: &App) {
    let member = app.member().logged_in().await;
    let data = member.change_password(PASSWORD, NEW).await.expect_ok();
    assert!(data["message"].is_string());
    member.get("/org").await.expect(200);
    member.refresh().await.expect(200);
    app.anonymous().login_with(member.email(), PASSWORD).await.expect_error(401, "invalid_credentials");
    app.anonymous().login_with(member.email(), NEW).await.expect(200);
}

async fn a_wrong_current_password_is_401_and_changes_nothing(app: &App) {
    let member = app.member().logged_in().await;
    let other = app.member().logged_in().await;
    let refused = member.change_password("not-the-password", NEW).await.expect_error(401, "wrong_password");
    assert!(refused.cookies().is_empty(), "the session is fine");
    member.get("/org").await.expect(200);
    other.get("/org").await.expect(200);
    app.anonymous().login_with(member.email(), PASSWORD).await.expect(200);
}

/// No hash is computed for a person who has used up the attempts, nor for one who does not know the password.
async fn the_attempt_is_judged_first_then_the_old_password_then_the_new_one(app: &App) {
    let member = app.member().logged_in().await;
    member.change_password(PASSWORD, "short").await.expect_error(400, "weak_password");
    for _ in 0..5 {
        member.change_password("not-the-password", "short").await.expect_error(401, "wrong_password");
    }
    for (current, new) in [("not-the-password", "short"), (PASSWORD, "short"), (PASSWORD, NEW)] {
        member.change_password(current, new).await.expect_error(429, "rate_limited");
    }
}

/// Only who knows the current password is told so; nothing ends by it, and it counts as no attempt.
async fn the_current_password_is_no_new_one(app: &App) {
    let (member, other) = (app.member().logged_in().await, app.member().logged_in().await);
    for _ in 0..6 {
        let answer = member.change_password(PASSWORD, PASSWORD).await.expect_error(400, "weak_password");
        assert_eq!(answer.message(), "The new password must not be the current password.");
        assert_eq!(answer.field(), Some("newPassword"));
    }
    member.change_password("not-the-password", "not-the-password").await.expect_error(401, "wrong_password");
    other.get("/org").await.expect(200);
    app.anonymous().login_with(member.email(), PASSWORD).await.expect(200);
    let (composed, decomposed) = ("caf\u{e9}-anchor-93-comet", "cafe\u{301}-anchor-93-comet");
    member.change_password(PASSWORD, composed).await.expect(200);
    let same = member.change_password(composed, decomposed).await.expect_error(400, "weak_password");
    assert!(same.message().contains("current"), "one password in two encodings: {}", same.shown());
    member.change_password(composed, PASSWORD).await.expect(200);
}

async fn a_changed_password_kills_links_that_reset_it_or_change_the_address(app: &App) {
    let member = app.member().logged_in().await;
    member.post("/auth/forgot-password", json!({ "email": member.email() })).await.expect(200);
    let reset = mailed_token(app, member.email(), "reset").await;
    let change = json!({ "newEmail": "max@elsewhere.example", "password": PASSWORD });
    member.post("/auth/change-email", change).await.expect(200);
    let change = mailed_token(app, "max@elsewhere.example", "change-email").await;
    member.change_password(PASSWORD, NEW).await.expect(200);
    let stolen = json!({ "token": reset, "newPassword": "mauve-gantry-17-plinth" });
    app.anonymous().post("/auth/reset-password", stolen).await.expect_error(400, "invalid_link");
    member.post("/auth/change-email/confirm", json!({ "token": change })).await.expect_error(400, "invalid_link");
    app.anonymous().login_with(member.email(), NEW).await.expect(200);
}

async fn every_other_session_ends_in_all_organizations(app: &App) {
    let greta = app.other_org().admin().logged_in().await;
    greta.invite(app.member().email()).await.expect(201);
    let token = app.link_token_of(app.member().email()).await;
    let there = app.other_org().device_of(app.member().person());
    there.accept_with_account(&token).await.expect(200);
    let (desk, phone) = (app.member().logged_in().await, app.member().logged_in().await);
    desk.change_password(PASSWORD, NEW).await.expect(200);
    desk.get("/org").await.expect(200);
    desk.refresh().await.expect(200);
    for ended in [&phone, &there] {
        ended.get("/org").await.expect_no_session();
        ended.refresh().await.expect_no_session();
    }
    app.admin().logged_in().await.get("/org").await.expect(200);
}

async fn both_fields_are_required(app: &App) {
    let member = app.member().logged_in().await;
    let change = |body| member.post("/auth/change-password", body);
    change(json!({ "newPassword": NEW })).await.expect_invalid("currentPassword");
    change(json!({ "currentPassword": PASSWORD })).await.expect_invalid("newPassword");
    change(json!({ "currentPassword": PASSWORD, "newPassword": 12_345_678 })).await.expect_invalid("newPassword");
    change(json!({ "currentPassword": {}, "newPassword": NEW })).await.expect_invalid("currentPassword");
}

/// Chooses a password that must be refused.
async fn refused(member: &Caller, new: &str) -> Response {
    let answer = member.change_password(PASSWORD, new).await.expect(400);
    assert!(new.len() < 9 || !answer.body.contains(new), "the refusal repeats the password: {}", answer.shown());
    answer
}

async fn a_short_password_is_400(app: &App) {
    let member = app.member().logged_in().await;
    for short in ["", "x7$kQ2!", "ąęółźćż", "🦀🦞🐙🦑🐚🪸🐡"] {
        refused(&member, short).await;
    }
    member.change_password(PASSWORD, "ąęółźćżń").await.expect(200);
}

async fn a_long_password_is_400(app: &App) {
    let member = app.member().logged_in().await;
    let words: String = (0..200).map(|n| format!("{n}ab")).collect();
    let exactly: String = words.chars().take(256).collect();
    let too_many: String = words.chars().take(257).collect();
    refused(&member, &too_many).await;
    refused(&member, &words.chars().take(253).chain("🦀".repeat(200).chars()).collect::<String>()).await;
    member.change_password(PASSWORD, &exactly).await.expect(200);
    let wide: String = (0..256).map(|n| char::from_u32(0x1F400 + n * 37 % 256).expect("an emoji")).collect();
    assert_eq!((wide.chars().count(), wide.len()), (256, 1_024));
    member.change_password(&exactly, &wide).await.expect(200);
    app.anonymous().login_with(member.email(), &wide).await.expect(200);
}

async fn a_common_password_is_400_whatever_its_case(app: &App) {
    let member = app.member().logged_in().await;
    for common in [
        "password",
        "PASSWORD",
        "12345678",
        "qwertyuiop",
        "iloveyou",
        "Football",
        "sunshine1",
        "letmein123",
        "Password1",
        "trustno1",
    ] {
        refused(&member, common).await;
    }
}

async fn ones_own_names_are_no_passwords(app: &App) {
    let member = app.member().logged_in().await;
    let admin = app.admin().logged_in().await;
    let long = json!({ "name": "Maximilian Quux-Zyzzyva" });
    member.put("/auth/profile", long).await.expect(200);
    admin.patch("/org", json!({ "name": "Zephyr Quarry Unlimited" })).await.expect(200);
    for own in
        ["max@acme.example", "MAX@acme.EXAMPLE", "Maximilian Quux-Zyzzyva", "maximilian quux-zyzzyva", "zephyr quarry unlimited"]
    {
        refused(&member, own).await;
    }
    let olivia = app.org().new_member("Olivia-Xanthippe-9j Local").await.logged_in().await;
    refused(&olivia, "olivia-xanthippe-9j").await;
}

async fn a_guessable_password_is_400(app: &App) {
    let member = app.member().logged_in().await;
    for guessable in ["aaaaaaaaaaaa", "abcdefgh", "11111111", "qwerty12"] {
        refused(&member, guessable).await;
    }
}

async fn every_broken_rule_is_named_in_one_answer(app: &App) {
    let member = app.member().logged_in().await;
    let message = refused(&member, "acme").await.message().to_lowercase();
    assert!(message.contains('8'), "too short: {message}");
    assert!(message.contains("name") || message.contains("organization"), "the organization's slug: {message}");
}

async fn the_minimum_score_is_a_setting(app: &App) {
    let strict = app.beside(|setup| setup.config.passwords.min_score = 4).await;
    let (there, here) = (strict.member().logged_in().await, app.member().logged_in().await);
    there.change_password(PASSWORD, "kangaroo99").await.expect(400);
    here.change_password(PASSWORD, "kangaroo99x").await.expect(200);
}

async fn the_same_rules_hold_for_a_new_account(app: &App) {
    let admin = app.admin().logged_in().await;
    let token = app.invited(&admin, "nora.nightingale@acme.example").await;
    let path = format!("/org/invites/{token}/accept");
    for weak in ["short", "password", "nora.nightingale", "Nora Nightingale", "nora.nightingale@acme.example"] {
        app.anonymous().post(&path, json!({ "name": "Nora Nightingale", "password": weak })).await.expect(400);
    }
    assert_eq!(admin.pending_invites().await.len(), 1, "still pending");
    app.anonymous().accept(&token, "Nora Nightingale").await.expect(200);
}
