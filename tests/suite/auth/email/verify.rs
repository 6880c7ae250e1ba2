//! Proving the address of an account: POST /auth/verify-email/send in a session, POST /auth/verify-email with the link, in a session too
//! or with the password. Changing it is
//! `email_change`'s subject.

use std::time::Duration;

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, PASSWORD, Request, scenarios, shape};

use crate::suite::support::{
    account::{NEW, in_both, mailed_token},
    stored::{forget_proof, give_address},
};

scenarios![
    the_link_verifies_the_address,
    nothing_is_sent_when_it_is_verified,
    the_link_counts_in_a_session_of_its_owner_or_with_the_password,
    the_account_has_the_address_that_the_link_was_mailed_to,
    wrong_passwords_beside_a_link_count_as_failed_logins,
    a_verification_link_works_for_a_day_exactly,
    a_verification_link_works_once_and_in_its_organization_only,
    a_fourth_verification_mail_in_an_hour_is_429,
];

pub(crate) fn verify(caller: &Caller, token: &str) -> Request {
    caller.post("/auth/verify-email", json!({ "token": token }))
}

/// The same with the account's password, as who has no session does.
pub(crate) fn verify_with(caller: &Caller, token: &str, password: &str) -> Request {
    caller.post("/auth/verify-email", json!({ "token": token, "password": password }))
}

/// Max, before he proved his address.
async fn unproved(app: &App) -> Caller {
    let member = app.member().logged_in().await;
    forget_proof(app, member.id()).await;
    member
}

/// Asks for a link and finds it in the mail.
pub(crate) async fn verify_token(app: &App, member: &Caller) -> String {
    member.post_nothing("/auth/verify-email/send").await.expect(200);
    mailed_token(app, member.email(), "verify").await
}

/// The caller's account as they see it.
pub(crate) async fn user(caller: &Caller) -> Value {
    caller.get("/auth/profile").await.expect_ok()["user"].clone()
}

async fn the_link_verifies_the_address(app: &App) {
    let member = unproved(app).await;
    assert_eq!(user(&member).await["isEmailVerified"], false);
    let sent = member.post_nothing("/auth/verify-email/send").await.expect(200);
    assert_eq!(shape(&sent.data()), ["message"]);
    let token = mailed_token(app, member.email(), "verify").await;
    assert_eq!(user(&member).await["isEmailVerified"], false);
    let answer = verify(&member, &token).await.expect(200);
    assert_eq!(shape(&answer.data()), ["message"]);
    assert!(answer.cookies().is_empty(), "it opens no session");
    assert_eq!(user(&member).await["isEmailVerified"], true);
}

async fn nothing_is_sent_when_it_is_verified(app: &App) {
    let member = unproved(app).await;
    let token = verify_token(app, &member).await;
    verify(&member, &token).await.expect(200);
    let before = app.mail_to(member.email()).await.len();
    for _ in 0..5 {
        member.post_nothing("/auth/verify-email/send").await.expect(200);
    }
    assert_eq!(app.mail_to(member.email()).await.len(), before);
}

/// The link alone proves that somebody reads the mail, not that they own an account which others may have made.
async fn the_link_counts_in_a_session_of_its_owner_or_with_the_password(app: &App) {
    let (_, there) = in_both(app).await;
    let member = unproved(app).await;
    let token = verify_token(app, &member).await;
    let ended = member.copied();
    app.member().logged_in().await.logout().await.expect(200);
    let gone = app.member().logged_in().await;
    let stale = gone.copied();
    gone.logout().await.expect(200);
    let foreign = app.anonymous().with_bearer(&there.access_token());
    for other in [&app.anonymous(), &app.admin().logged_in().await, &stale, &foreign, &app.anonymous().with_bearer("x")] {
        let refused = verify(other, &token).await.expect_error(401, "wrong_password");
        assert!(refused.cookies().is_empty(), "whatever session they have is fine");
    }
    app.admin().logged_in().await.set_status(member.id(), "suspended").await.expect(200);
    verify(&ended, &token).await.expect_error(401, "wrong_password");
    app.admin().logged_in().await.set_status(member.id(), "active").await.expect(200);
    assert_eq!(user(&member).await["isEmailVerified"], false);
    app.anonymous().post("/auth/verify-email", json!({ "token": token, "password": 7 })).await.expect_invalid("password");
    verify_with(&app.anonymous(), &token, "not-the-password").await.expect_error(401, "wrong_password");
    let answer = verify_with(&app.admin().logged_in().await, &token, PASSWORD).await.expect(200);
    assert!(answer.cookies().is_empty(), "it opens no session");
    assert_eq!(user(&member).await["isEmailVerified"], true);
}

async fn the_account_has_the_address_that_the_link_was_mailed_to(app: &App) {
    let member = unproved(app).await;
    let token = verify_token(app, &member).await;
    give_address(app, member.id(), "max@elsewhere.example").await;
    verify(&member, &token).await.expect_error(400, "invalid_link");
    verify_with(&app.anonymous(), &token, PASSWORD).await.expect_error(400, "invalid_link");
    assert_eq!(user(&member).await["isEmailVerified"], false);
}

async fn wrong_passwords_beside_a_link_count_as_failed_logins(app: &App) {
    let member = unproved(app).await;
    let token = verify_token(app, &member).await;
    for _ in 0..3 {
        verify(&app.anonymous(), &token).await.expect_error(401, "wrong_password");
    }
    app.anonymous().login_with(member.email(), NEW).await.expect_error(401, "invalid_credentials");
    for _ in 0..4 {
        verify_with(&app.anonymous(), &token, "not-the-password").await.expect_error(401, "wrong_password");
    }
    verify_with(&app.anonymous(), &token, PASSWORD).await.expect_error(429, "rate_limited");
    app.member().login().await.expect_error(429, "rate_limited");
    verify(&member, &token).await.expect(200);
}

async fn a_verification_link_works_for_a_day_exactly(app: &App) {
    let (member, admin) = (unproved(app).await, app.admin().logged_in().await);
    forget_proof(app, admin.id()).await;
    let (first, second) = (verify_token(app, &member).await, verify_token(app, &admin).await);
    app.clock.advance(Duration::from_millis(24 * 3_600 * 1_000 - 1));
    verify_with(&app.anonymous(), &first, PASSWORD).await.expect(200);
    app.clock.advance(Duration::from_millis(1));
    verify_with(&app.anonymous(), &second, PASSWORD).await.expect_error(400, "invalid_link");
    assert_eq!(user(&app.admin().logged_in().await).await["isEmailVerified"], false);
}

async fn a_verification_link_works_once_and_in_its_organization_only(app: &App) {
    let member = unproved(app).await;
    let token = verify_token(app, &member).await;
    verify(&app.other_org().anonymous(), &token).await.expect_error(400, "invalid_link");
    member.post("/auth/change-email/confirm", json!({ "token": token })).await.expect_error(400, "invalid_link");
    verify(&member, &token).await.expect(200);
    verify(&member, &token).await.expect_error(400, "invalid_link");
    verify_with(&app.anonymous(), &token, PASSWORD).await.expect_error(400, "invalid_link");
    verify(&app.anonymous(), "x").await.expect_error(400, "invalid_link");
    app.anonymous().post("/auth/verify-email", json!({})).await.expect_invalid("token");
}

async fn a_fourth_verification_mail_in_an_hour_is_429(app: &App) {
    let member = unproved(app).await;
    for _ in 0..3 {
        member.post_nothing("/auth/verify-email/send").await.expect(200);
    }
    let refused = member.post_nothing("/auth/verify-email/send").await.expect_error(429, "rate_limited");
    let wait: u64 = refused.header("Retry-After").and_then(|wait| wait.parse().ok()).expect("a Retry-After");
    assert!(wait <= 3_600);
    assert_eq!(app.mail_to(member.email()).await.len(), 3);
    app.advance(3_599);
    let later = app.member().logged_in().await;
    later.post_nothing("/auth/verify-email/send").await.expect_error(429, "rate_limited");
    app.advance(1);
    later.post_nothing("/auth/verify-email/send").await.expect(200);
    assert_eq!(app.mail_to(member.email()).await.len(), 4);
}
