//! Whoever first proves an address owns its account (behaviour.md, B142). Somebody made an account with Nora's address and a password
//! of their own, as `user create` lets an operator do; then a mail reaches Nora herself.

use serde_json::json;
use tenant_auth_conformance::{App, Caller, GatedHasher, PASSWORD, scenarios};

use crate::suite::{
    auth::{
        email::verify::{user, verify_token, verify_with},
        recovery::reset::{forgot, reset, reset_mails, reset_token},
    },
    support::{
        account::{NEW, expect_no_link, guard, mailed_token},
        authenticator::{Authenticator, SecondFactor},
        hooks::{run_sql, texts_in},
        listener::{Listener, data_of, kinds},
        stored::operators,
    },
};

scenarios![
    an_accepted_invite_takes_the_account_over,
    an_accepted_invite_mails_a_link_that_sets_a_password,
    an_account_that_was_taken_over_is_as_unknown_to_a_login_as_none,
    a_used_reset_link_takes_the_account_over,
    a_takeover_forgets_wrong_codes_of_the_other_one,
    a_takeover_ends_the_role_of_an_operator,
    a_takeover_is_told_of,
    a_takeover_happens_once,
    a_refused_accept_takes_nothing_over,
    an_account_made_by_the_command_line_is_its_owners_by_password_and_link,
];

scenarios![on each database:
    a_login_held_during_a_takeover_comes_to_nothing,
    a_verification_held_while_the_password_changes_comes_to_nothing,
];

const NORA: &str = "nora@globex.example";

/// The account that somebody else made at `globex`: they are logged in, with a second factor of theirs.
async fn made_by_another(app: &App) -> Caller {
    let another = app.other_org().new_member("Nora").await.logged_in().await;
    guard(app, &another).await;
    another
}

/// Nora's own link: an invite to `acme`.
async fn invited(app: &App) -> String {
    let admin = app.admin().logged_in().await;
    app.invited(&admin, NORA).await
}

/// Nothing that the other one has is good any more.
async fn expect_shut_out(app: &App, another: &Caller) {
    another.get("/org").await.expect_no_session();
    another.refresh().await.expect_no_session();
    assert!(!app.other_org().backend().finds_valid(&another.access_token()).await);
    for org in [app.org(), app.other_org()] {
        org.anonymous().login_with(NORA, PASSWORD).await.expect_error(401, "invalid_credentials");
    }
}

async fn an_accepted_invite_takes_the_account_over(app: &App) {
    let another = app.other_org().new_member("Nora").await.logged_in().await;
    let change = json!({ "newEmail": "another@elsewhere.example", "password": PASSWORD });
    another.post("/auth/change-email", change).await.expect(200);
    let change = app.link_token_of("another@elsewhere.example").await;
    let guarded = guard(app, &another).await;
    let waiting = app.other_org().device_of(another.person()).waiting().await;
    let nora = app.org().device_of(another.person());
    let data = nora.accept_with_account(&invited(app).await).await.expect_ok();
    assert_eq!(data["user"]["id"], another.id(), "no code of the other one's authenticator is asked for");
    nora.get("/org").await.expect(200);
    assert_eq!(user(&nora).await["isEmailVerified"], true);
    let none = json!({ "enabled": false, "enabledAt": null, "recoveryCodesRemaining": 0 });
    assert_eq!(nora.status().await, none);
    expect_shut_out(app, &another).await;
    another.post("/auth/change-email/confirm", json!({ "token": change })).await.expect_no_session();
    waiting.enter(&guarded.fresh_code(app)).await.expect_error(401, "second_factor_failed");
    nora.change_password(PASSWORD, NEW).await.expect_error(401, "wrong_password");
    assert_eq!(user(&nora).await["email"], NORA);
}

async fn an_accepted_invite_mails_a_link_that_sets_a_password(app: &App) {
    let another = made_by_another(app).await;
    for _ in 0..3 {
        forgot(&app.other_org().anonymous(), NORA).await.expect(200);
    }
    let theirs = app.link_token_of(NORA).await;
    let before = reset_mails(app, NORA).await;
    let nora = app.org().device_of(another.person());
    nora.accept_with_account(&invited(app).await).await.expect(200);
    assert_eq!(reset_mails(app, NORA).await, before + 1, "however many were asked for lately");
    reset(&app.other_org().anonymous(), &theirs, NEW).await.expect_error(400, "invalid_link");
    let hers = mailed_token(app, NORA, "reset").await;
    reset(&app.anonymous(), &hers, NEW).await.expect(200);
    nora.get("/org").await.expect_no_session();
    for org in [app.org(), app.other_org()] {
        let device = org.device_of(another.person());
        assert!(device.login_with(NORA, NEW).await.expect_ok().get("requires2FA").is_none());
        device.get("/org").await.expect(200);
    }
}

async fn an_account_that_was_taken_over_is_as_unknown_to_a_login_as_none(app: &App) {
    let another = made_by_another(app).await;
    app.org().device_of(another.person()).accept_with_account(&invited(app).await).await.expect(200);
    let unknown = app.anonymous().login_with("nobody@acme.example", PASSWORD).await.expect(401);
    for password in [PASSWORD, "not-the-password", " "] {
        let answer = app.anonymous().login_with(NORA, password).await.expect_error(401, "invalid_credentials");
        assert_eq!(answer.body, unknown.body, "{password}");
    }
}

async fn a_used_reset_link_takes_the_account_over(app: &App) {
    let another = app.other_org().new_member("Nora").await.logged_in().await;
    let guarded = guard(app, &another).await;
    let waiting = app.other_org().device_of(another.person()).waiting().await;
    forgot(&app.other_org().anonymous(), NORA).await.expect(200);
    let token = app.link_token_of(NORA).await;
    let answer = reset(&app.other_org().anonymous(), &token, NEW).await.expect(200);
    assert!(answer.cookies().is_empty(), "it opens no session");
    expect_shut_out(app, &another).await;
    waiting.enter(&guarded.fresh_code(app)).await.expect_error(401, "second_factor_failed");
    let nora = app.other_org().device_of(another.person());
    assert!(nora.login_with(NORA, NEW).await.expect_ok().get("requires2FA").is_none(), "the second factor was not hers");
    assert_eq!(user(&nora).await["isEmailVerified"], true);
}

async fn a_takeover_forgets_wrong_codes_of_the_other_one(app: &App) {
    let another = app.other_org().new_member("Nora").await.logged_in().await;
    let guarded = guard(app, &another).await;
    let device = app.other_org().device_of(another.person());
    for _ in 0..2 {
        let waiting = device.elsewhere().waiting().await;
        for _ in 0..5 {
            let wrong = guarded.authenticator.wrong_code(app);
            waiting.enter(&wrong).await.expect_error(401, "second_factor_failed");
        }
    }
    device.elsewhere().waiting().await.enter(&guarded.fresh_code(app)).await.expect_error(429, "rate_limited");
    app.tick().await; // the mail about the wrong codes leaves before the link
    forgot(&app.other_org().anonymous(), NORA).await.expect(200);
    let token = app.link_token_of(NORA).await;
    reset(&app.other_org().anonymous(), &token, NEW).await.expect(200);
    let mut nora = device.elsewhere();
    nora.set_password(NEW);
    nora.login().await.expect(200);
    let setup = nora.set_up(NEW).await.expect_ok();
    let hers = Authenticator::new(&setup["secret"]);
    nora.enable(&hers.code(app)).await.expect(200);
    nora.elsewhere().waiting().await.enter(&hers.code_in(app, 1)).await.expect(200);
}

/// Whoever was appointed is not who proves the address.
async fn a_takeover_ends_the_role_of_an_operator(app: &App) {
    let another = made_by_another(app).await;
    run_sql(app, &format!("UPDATE tenant_auth_users SET role = 'admin' WHERE email = '{NORA}'")).await;
    let (greta, token) = (app.other_org().admin().logged_in().await, invited(app).await);
    let mut listener = Listener::at(app, &greta, "globex").await;
    let device = app.org().device_of(another.person());
    device.accept_with_account(&token).await.expect(200);
    assert_eq!(operators(app).await, Vec::<String>::new());
    let events = listener.heard().await;
    assert!(kinds(&events).contains(&"user.updated"), "{:?}", kinds(&events));
    let deeds = texts_in(app, "SELECT kind FROM tenant_auth_deployment_entries WHERE kind = 'operator.revoked'").await;
    assert_eq!(deeds.len(), 1, "the deployment's log tells of it");
}

async fn a_takeover_is_told_of(app: &App) {
    let another = made_by_another(app).await;
    let (greta, token) = (app.other_org().admin().logged_in().await, invited(app).await);
    let mut listener = Listener::at(app, &greta, "globex").await;
    app.org().device_of(another.person()).accept_with_account(&token).await.expect(200);
    let events = listener.heard().await;
    let mut told = kinds(&events);
    told.sort_unstable();
    assert_eq!(told, ["session.revoked", "user.email_verified", "user.two_factor_disabled"]);
    assert_eq!(data_of(&events, "session.revoked")["reason"], "password");
    assert_eq!(data_of(&events, "user.two_factor_disabled")["user"]["isEmailVerified"], true);
    let mails = app.mail_to(NORA).await;
    let notice = mails.iter().rfind(|mail| mail.subject.contains("is off")).expect("a mail about the second factor");
    expect_no_link(notice);
}

/// Once the address is proved, what hangs on the account is its owner's and stays.
async fn a_takeover_happens_once(app: &App) {
    let another = made_by_another(app).await;
    forgot(&app.other_org().anonymous(), NORA).await.expect(200);
    let token = app.link_token_of(NORA).await;
    reset(&app.other_org().anonymous(), &token, NEW).await.expect(200);
    let mut nora = app.other_org().device_of(another.person());
    nora.set_password(NEW);
    nora.login().await.expect(200);
    let setup = nora.set_up(NEW).await.expect_ok();
    let authenticator = Authenticator::new(&setup["secret"]);
    nora.enable(&authenticator.code(app)).await.expect(200);
    app.tick().await;
    let data = app.org().device_of(nora.person()).accept_with_account(&invited(app).await).await.expect_ok();
    assert_eq!(data["requires2FA"], true);
    nora.get("/org").await.expect(200);
    forgot(&app.other_org().anonymous(), NORA).await.expect(200);
    let token = app.link_token_of(NORA).await;
    reset(&app.other_org().anonymous(), &token, "mauve-gantry-17-plinth").await.expect(200);
    let data = app.other_org().anonymous().login_with(NORA, "mauve-gantry-17-plinth").await.expect_ok();
    assert_eq!(data["requires2FA"], true, "a reset leaves her own second factor in force");
}

async fn a_refused_accept_takes_nothing_over(app: &App) {
    let another = app.other_org().new_member("Nora").await.logged_in().await;
    let token = invited(app).await;
    let fields = json!({ "name": "Nora", "password": NEW });
    app.anonymous().post(&format!("/org/invites/{token}/accept"), fields).await.expect_error(409, "account_exists");
    app.org().suspend().await;
    app.anonymous().accept_with_account(&token).await.expect_error(403, "suspended");
    another.get("/org").await.expect(200);
    another.elsewhere().login().await.expect(200);
    assert_eq!(user(&another).await["isEmailVerified"], false);
}

/// The whole way of `user create`: the password that the operator chose logs in, and proves the address together with the link.
async fn an_account_made_by_the_command_line_is_its_owners_by_password_and_link(app: &App) {
    let pat = app.org().new_member("Pat").await.logged_in().await;
    assert_eq!(user(&pat).await["isEmailVerified"], false);
    let token = verify_token(app, &pat).await;
    verify_with(&app.anonymous(), &token, PASSWORD).await.expect(200);
    assert_eq!(user(&pat).await["isEmailVerified"], true);
    guard(app, &pat).await;
    let greta = app.other_org().admin().logged_in().await;
    greta.invite(pat.email()).await.expect(201);
    let invite = app.link_token_of(pat.email()).await;
    let data = app.other_org().anonymous().accept_with_account(&invite).await.expect_ok();
    assert_eq!(data["requires2FA"], true, "his second factor is his");
    pat.get("/org").await.expect(200);
    assert_eq!(pat.elsewhere().login().await.expect_ok()["requires2FA"], true, "and so is his password");
}

async fn a_login_held_during_a_takeover_comes_to_nothing(app: &App) {
    let hasher = GatedHasher::new();
    let gated = app.beside(|setup| setup.hasher = Some(std::sync::Arc::clone(&hasher) as _)).await;
    let another = app.other_org().new_member("Nora").await.via(&gated);
    let token = invited(app).await;
    let answer = hasher
        .meanwhile(another.login(), async {
            app.anonymous().accept_with_account(&token).await.expect(200);
        })
        .await;
    answer.expect_error(401, "invalid_credentials");
    another.get("/org").await.expect_no_session();
}

async fn a_verification_held_while_the_password_changes_comes_to_nothing(app: &App) {
    let hasher = GatedHasher::new();
    let gated = app.beside(|setup| setup.hasher = Some(std::sync::Arc::clone(&hasher) as _)).await;
    let pat = app.org().new_member("Pat").await.logged_in().await;
    let token = verify_token(app, &pat).await;
    let held = verify_with(&gated.anonymous(), &token, PASSWORD);
    let answer = hasher
        .meanwhile(held, async {
            let reset_link = reset_token(app, pat.email()).await;
            reset(&app.anonymous(), &reset_link, NEW).await.expect(200);
        })
        .await;
    answer.expect_error(401, "wrong_password");
}
