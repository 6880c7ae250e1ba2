//! Notices: a change that makes an account or an organization more or less safe is told to its owners by mail, and no link in that
//! mail does anything (behaviour.md, B113).

use serde_json::json;
use tenant_auth_conformance::{App, PASSWORD, scenarios};
use tenant_auth_core::{backend::NewApiKey, model::Scope, ports::Message};

use crate::suite::support::{
    account::{NEW, expect_no_link, guard},
    authenticator::{SecondFactor, recovery_codes_in},
};

scenarios![
    a_password_change_is_told_to_its_owner,
    a_second_factor_is_told_of_on_and_off,
    new_recovery_codes_are_told_of,
    a_change_that_is_repeated_is_mailed_twenty_times_an_hour,
    a_recovery_code_that_opened_a_session_is_told_of,
    guessed_codes_are_told_to_the_owner,
    a_new_api_key_is_told_to_every_active_admin,
    a_rotated_api_key_is_told_to_the_admins,
    a_key_made_by_the_operator_is_told_to_the_admins,
    a_promoted_member_is_told_to_the_admins,
    an_admin_who_joins_is_told_to_the_admins,
    an_admin_made_by_the_operator_is_told_to_the_admins,
    what_concerns_nobody_else_is_told_to_nobody_else,
];

/// The only mail to an address, which is a notice about this.
async fn only_notice(app: &App, address: &str, about: &str) -> Message {
    let mut mails = app.mail_to(address).await;
    assert_eq!(mails.len(), 1, "{mails:?}");
    let mail = mails.remove(0);
    assert_eq!(mail.to.as_str(), address);
    expect_notice(&mail, about);
    mail
}

#[track_caller]
fn expect_notice(mail: &Message, about: &str) {
    assert!(mail.subject.to_lowercase().contains(about), "{}", mail.subject);
    expect_no_link(mail);
}

async fn a_password_change_is_told_to_its_owner(app: &App) {
    let member = app.member().logged_in().await;
    member.change_password("not-the-password", NEW).await.expect(401);
    assert!(app.mail_to(member.email()).await.is_empty());
    member.change_password(PASSWORD, NEW).await.expect(200);
    let mail = only_notice(app, member.email(), "password").await;
    assert!(!format!("{mail:?}").contains(NEW));
}

async fn a_second_factor_is_told_of_on_and_off(app: &App) {
    let member = app.member().logged_in().await;
    let guarded = guard(app, &member).await;
    let on = only_notice(app, member.email(), "two-factor authentication is on").await;
    let shown = format!("{on:?}");
    for secret in guarded.recovery_codes.iter().chain([&guarded.secret]) {
        assert!(!shown.contains(secret), "{secret}");
    }
    member.disable(PASSWORD, &guarded.recovery_codes[0]).await.expect(200);
    let mails = app.mail_to(member.email()).await;
    assert_eq!(mails.len(), 2);
    expect_notice(&mails[1], "two-factor authentication is off");
}

async fn new_recovery_codes_are_told_of(app: &App) {
    let member = app.member().logged_in().await;
    let guarded = guard(app, &member).await;
    let data = member.renew_codes(PASSWORD, &guarded.recovery_codes[0]).await.expect_ok();
    let mails = app.mail_to(member.email()).await;
    assert_eq!(mails.len(), 2);
    expect_notice(&mails[1], "recovery codes");
    for code in recovery_codes_in(&data) {
        assert!(!format!("{mails:?}").contains(&code));
    }
}

/// Whoever repeats a change mails no more; the change itself is never refused for a mail (behaviour.md, B300).
async fn a_change_that_is_repeated_is_mailed_twenty_times_an_hour(app: &App) {
    let member = app.member().logged_in().await;
    let mut code = guard(app, &member).await.recovery_codes.remove(0);
    let told = async |about: &str| {
        app.mail_to(member.email()).await.iter().filter(|mail| mail.subject.to_lowercase().contains(about)).count()
    };
    for _ in 0..100 {
        code = recovery_codes_in(&member.renew_codes(PASSWORD, &code).await.expect_ok()).remove(0);
    }
    assert_eq!(told("recovery codes").await, 20);
    assert_eq!(member.status().await["recoveryCodesRemaining"], 10, "the last ones are good");
    member.change_password(PASSWORD, NEW).await.expect(200);
    assert_eq!(told("password").await, 1, "another change has a count of its own");
    app.advance(3_600);
    member.refresh().await.expect(200);
    member.renew_codes(NEW, &code).await.expect(200);
    assert_eq!(told("recovery codes").await, 21);
}

async fn a_recovery_code_that_opened_a_session_is_told_of(app: &App) {
    let member = app.member().logged_in().await;
    let guarded = guard(app, &member).await;
    app.member().waiting().await.enter(&guarded.fresh_code(app)).await.expect(200);
    assert_eq!(app.mail_to(member.email()).await.len(), 1, "a code of the authenticator is no news");
    app.member().waiting().await.enter(&guarded.recovery_codes[0]).await.expect(200);
    let mails = app.mail_to(member.email()).await;
    assert_eq!(mails.len(), 2);
    expect_notice(&mails[1], "a recovery code was used to sign in");
    assert!(!format!("{mails:?}").contains(&guarded.recovery_codes[0]));
}

async fn guessed_codes_are_told_to_the_owner(app: &App) {
    let member = app.member().logged_in().await;
    let guarded = guard(app, &member).await;
    let wrong = guarded.authenticator.wrong_code(app);
    for _ in 0..5 {
        let thief = app.member().waiting().await;
        thief.enter(&wrong).await.expect(401);
        thief.enter(&wrong).await.expect(401);
    }
    app.member().waiting().await.enter(&wrong).await.expect_error(429, "rate_limited");
    let mails = app.mail_to(member.email()).await;
    assert_eq!(mails.len(), 2, "{mails:?}");
    expect_notice(&mails[1], "wrong codes");
}

async fn a_new_api_key_is_told_to_every_active_admin(app: &App) {
    let admin = app.admin().logged_in().await;
    let deputy = app.org().new_admin("Dora").await;
    let away = app.org().new_admin("Alma").await;
    admin.set_status(away.id(), "suspended").await.expect(200);
    let before = app.mail_to(away.email()).await.len();
    let (shown, key) = admin.created_key(json!({ "name": "Billing <b>robot</b>" })).await;
    for address in [admin.email(), deputy.email()] {
        let mails = app.mail_to(address).await;
        let mail = mails.iter().find(|mail| mail.subject.contains("API key")).expect("a notice");
        expect_notice(mail, "api key");
        assert!(mail.text.contains("Billing <b>robot</\u{2060}b>") && mail.text.contains("Acme Rockets"), "{}", mail.text);
        assert!(!mail.html.contains("<b>robot"), "{}", mail.html);
        let all = format!("{mail:?}");
        assert!(!all.contains(&key) && !all.contains(shown["prefix"].as_str().expect("a prefix")));
    }
    assert_eq!(app.mail_to(away.email()).await.len(), before, "not to the suspended one");
    assert!(app.mail_to(app.member().email()).await.is_empty());
    assert!(app.mail_to(app.other_org().admin().email()).await.is_empty());
}

async fn a_rotated_api_key_is_told_to_the_admins(app: &App) {
    let admin = app.admin().logged_in().await;
    admin.post_nothing(&format!("/org/api-keys/{}/rotate", app.org().api_key_id())).await.expect(201);
    only_notice(app, admin.email(), "api key").await;
}

async fn a_key_made_by_the_operator_is_told_to_the_admins(app: &App) {
    let new = NewApiKey { name: "By hand".parse().expect("a name"), scopes: vec![Scope::Verify], expires_at: None };
    app.auth.operator().create_api_key(&"acme".parse().expect("a slug"), new).await.expect("room for a key");
    only_notice(app, app.admin().email(), "api key").await;
}

async fn a_promoted_member_is_told_to_the_admins(app: &App) {
    let admin = app.admin().logged_in().await;
    admin.set_role(app.member().id(), "org_admin").await.expect(200);
    let mail = only_notice(app, admin.email(), "administrator").await;
    assert!(mail.text.contains(app.member().email()) && mail.text.contains("Acme Rockets"), "{}", mail.text);
    admin.set_role(app.member().id(), "org_admin").await.expect(200);
    assert_eq!(app.mail_to(admin.email()).await.len(), 1, "an admin already");
}

async fn an_admin_who_joins_is_told_to_the_admins(app: &App) {
    let admin = app.admin().logged_in().await;
    admin.invite_as("nora@acme.example", "org_admin").await.expect(201);
    let token = app.link_token_of("nora@acme.example").await;
    assert!(app.mail_to(admin.email()).await.is_empty(), "an invite is no admin");
    app.anonymous().accept(&token, "Nora").await.expect(200);
    let mail = only_notice(app, admin.email(), "administrator").await;
    assert!(mail.text.contains("nora@acme.example"), "{}", mail.text);
}

async fn an_admin_made_by_the_operator_is_told_to_the_admins(app: &App) {
    let dora = app.org().new_admin("Dora").await;
    let mail = only_notice(app, app.admin().email(), "administrator").await;
    assert!(mail.text.contains(dora.email()), "{}", mail.text);
}

async fn what_concerns_nobody_else_is_told_to_nobody_else(app: &App) {
    let member = app.member().logged_in().await;
    member.change_password(PASSWORD, NEW).await.expect(200);
    app.org().new_member("Pat").await;
    let token = app.invited(&app.admin().logged_in().await, "nora@acme.example").await;
    app.anonymous().accept(&token, "Nora").await.expect(200);
    assert!(app.mail_to(app.admin().email()).await.is_empty(), "no plain member's affair is the admins'");
    assert!(app.mail_to(app.other_org().admin().email()).await.is_empty());
}
