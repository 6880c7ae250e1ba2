//! Proving the address of an account: POST /auth/verify-email/send in a session, POST /auth/verify-email with the link. Changing it is
//! `email_change`'s subject.

use std::time::Duration;

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, Request, scenarios, shape};

use crate::suite::support::account::mailed_token;

scenarios![
    the_link_verifies_the_address,
    nothing_is_sent_when_it_is_verified,
    a_verification_link_works_for_a_day_exactly,
    a_verification_link_works_once_and_in_its_organization_only,
    a_fourth_verification_mail_in_an_hour_is_429,
];

pub(crate) fn verify(caller: &Caller, token: &str) -> Request {
    caller.post("/auth/verify-email", json!({ "token": token }))
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
    let member = app.member().logged_in().await;
    assert_eq!(user(&member).await["isEmailVerified"], false);
    let sent = member.post_nothing("/auth/verify-email/send").await.expect(200);
    assert_eq!(shape(&sent.data()), ["message"]);
    let token = mailed_token(app, member.email(), "verify").await;
    assert_eq!(user(&member).await["isEmailVerified"], false);
    let answer = verify(&app.anonymous(), &token).await.expect(200);
    assert_eq!(shape(&answer.data()), ["message"]);
    assert!(answer.cookies().is_empty(), "it opens no session");
    assert_eq!(user(&member).await["isEmailVerified"], true);
}

async fn nothing_is_sent_when_it_is_verified(app: &App) {
    let member = app.member().logged_in().await;
    let token = verify_token(app, &member).await;
    verify(&app.anonymous(), &token).await.expect(200);
    let before = app.mail_to(member.email()).await.len();
    for _ in 0..5 {
        member.post_nothing("/auth/verify-email/send").await.expect(200);
    }
    assert_eq!(app.mail_to(member.email()).await.len(), before);
}

async fn a_verification_link_works_for_a_day_exactly(app: &App) {
    let (member, admin) = (app.member().logged_in().await, app.admin().logged_in().await);
    let (first, second) = (verify_token(app, &member).await, verify_token(app, &admin).await);
    app.clock.advance(Duration::from_millis(24 * 3_600 * 1_000 - 1));
    verify(&app.anonymous(), &first).await.expect(200);
    app.clock.advance(Duration::from_millis(1));
    verify(&app.anonymous(), &second).await.expect_error(400, "invalid_link");
    assert_eq!(user(&app.admin().logged_in().await).await["isEmailVerified"], false);
}

async fn a_verification_link_works_once_and_in_its_organization_only(app: &App) {
    let member = app.member().logged_in().await;
    let token = verify_token(app, &member).await;
    verify(&app.other_org().anonymous(), &token).await.expect_error(400, "invalid_link");
    member.post("/auth/change-email/confirm", json!({ "token": token })).await.expect_error(400, "invalid_link");
    verify(&app.anonymous(), &token).await.expect(200);
    verify(&app.anonymous(), &token).await.expect_error(400, "invalid_link");
    verify(&app.anonymous(), "x").await.expect_error(400, "invalid_link");
    app.anonymous().post("/auth/verify-email", json!({})).await.expect_invalid("token");
}

async fn a_fourth_verification_mail_in_an_hour_is_429(app: &App) {
    let member = app.member().logged_in().await;
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
