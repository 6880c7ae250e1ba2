//! Forgotten passwords: POST /auth/forgot-password tells nobody anything; POST /auth/reset-password ends all sessions, opens none.

use std::time::Duration;

use serde_json::json;
use tenant_auth_conformance::{App, Caller, Cookie, PASSWORD, Request, scenarios, shape};

use crate::suite::support::{
    account::{NEW, expect_no_link, guard, in_both, linked_token, login_with_code, mailed_token},
    stored::{forget_proof, give_address},
};

scenarios![
    a_link_shows_whose_it_is_and_is_not_used_up,
    asking_says_the_same_for_every_address,
    only_members_of_this_organization_get_a_mail,
    the_mail_goes_to_the_stored_form_of_the_address,
    a_suspended_organization_sends_none,
    the_link_sets_a_new_password,
    a_link_works_for_thirty_minutes_exactly,
    a_link_works_once,
    earlier_links_work_until_one_is_used,
    an_address_gets_three_mails_an_hour,
    the_three_mails_are_counted_over_all_organizations,
    using_a_link_does_not_refill_the_three,
    a_reset_ends_every_session_everywhere_and_opens_none,
    a_reset_kills_links_that_change_the_address,
    a_reset_ends_a_login_that_waits_for_its_second_factor,
    a_reset_leaves_the_second_factor_in_force,
    a_reset_clears_the_accounts_throttle,
    a_weak_password_leaves_the_link_usable,
    a_link_works_in_its_own_organization_only,
    a_link_is_good_only_while_its_address_is_the_accounts,
    what_is_no_link_is_400,
    both_fields_are_required,
    the_owner_is_told_of_the_new_password,
];

pub(crate) fn forgot(caller: &Caller, email: &str) -> Request {
    caller.post("/auth/forgot-password", json!({ "email": email }))
}

pub(crate) fn reset(caller: &Caller, token: &str, password: &str) -> Request {
    caller.post("/auth/reset-password", json!({ "token": token, "newPassword": password }))
}

/// Asks for a link and finds it in the mail.
pub(crate) async fn reset_token(app: &App, email: &str) -> String {
    forgot(&app.anonymous(), email).await.expect(200);
    mailed_token(app, email, "reset").await
}

/// How many links to reset a password an address was sent.
pub(crate) async fn reset_mails(app: &App, email: &str) -> usize {
    app.mail_to(email).await.iter().filter(|mail| mail.text.contains("/reset#")).count()
}

async fn a_link_shows_whose_it_is_and_is_not_used_up(app: &App) {
    let (max, stranger) = (app.member().logged_in().await, app.anonymous());
    let token = reset_token(app, max.email()).await;
    let look = |caller: &Caller, token: &str| caller.post("/auth/links/preview", json!({ "token": token }));
    for _ in 0..2 {
        let shown = look(&stranger, &token).await.expect_ok();
        assert_eq!(shown, json!({ "link": { "purpose": "reset", "email": max.email() } }));
    }
    look(&stranger.clone().at_org("globex"), &token).await.expect_error(400, "invalid_link");
    look(&stranger, &token[1..]).await.expect_error(400, "invalid_link");
    stranger.post("/auth/links/preview", json!({})).await.expect_invalid("token");
    max.get("/org").await.expect(200);
    reset(&stranger, &token, NEW).await.expect(200);
    look(&stranger, &token).await.expect_error(400, "invalid_link");
    let una = app.org().new_member("Una").await.logged_in().await;
    una.post_nothing("/auth/verify-email/send").await.expect(200);
    let token = mailed_token(app, una.email(), "verify").await;
    assert_eq!(look(&stranger, &token).await.expect_ok()["link"], json!({ "purpose": "verify", "email": una.email() }));
    let waiting = reset_token(app, una.email()).await;
    app.advance(30 * 60);
    look(&stranger, &waiting).await.expect_error(400, "invalid_link");
}

async fn asking_says_the_same_for_every_address(app: &App) {
    let known = forgot(&app.anonymous(), app.member().email()).await.expect(200);
    assert_eq!(shape(&known.data()), ["message"]);
    for other in ["nobody@acme.example", app.other_org().member().email(), "nobody@nowhere.example"] {
        let answer = forgot(&app.anonymous(), other).await.expect(200);
        assert_eq!(answer.body, known.body, "{other}");
        assert!(answer.cookies().is_empty());
    }
    forgot(&app.anonymous(), "no address").await.expect_invalid("email");
}

async fn only_members_of_this_organization_get_a_mail(app: &App) {
    let gus = app.other_org().member();
    for address in [app.member().email(), gus.email(), "nobody@acme.example"] {
        forgot(&app.anonymous(), address).await.expect(200);
    }
    assert_eq!(reset_mails(app, app.member().email()).await, 1);
    assert!(app.mail_to(gus.email()).await.is_empty(), "a stranger here");
    assert!(app.mail_to("nobody@acme.example").await.is_empty());
    forgot(&app.other_org().anonymous(), gus.email()).await.expect(200);
    linked_token(&app.mail_to(gus.email()).await.pop().expect("a mail"), "reset", "globex");
}

async fn the_mail_goes_to_the_stored_form_of_the_address(app: &App) {
    let admin = app.admin().logged_in().await;
    let token = app.invited(&admin, "Nora.Jones@acme.example").await;
    app.anonymous().accept(&token, "Nora").await.expect(200);
    forgot(&app.anonymous(), "  nORA.jONES@ACME.example ").await.expect(200);
    let mail = app.mail_to("nora.jones@acme.example").await.pop().expect("a mail");
    assert_eq!(mail.to.as_str(), "Nora.Jones@acme.example");
    linked_token(&mail, "reset", "acme");
}

async fn a_suspended_organization_sends_none(app: &App) {
    app.org().suspend().await;
    forgot(&app.anonymous(), app.member().email()).await.expect(200);
    assert_eq!(reset_mails(app, app.member().email()).await, 0);
}

async fn the_link_sets_a_new_password(app: &App) {
    let member = app.member();
    let token = reset_token(app, member.email()).await;
    app.anonymous().login_with(member.email(), PASSWORD).await.expect(200);
    let answer = reset(&app.anonymous(), &token, NEW).await.expect(200);
    assert_eq!(shape(&answer.data()), ["message"]);
    assert!(answer.cookies().is_empty(), "it opens no session");
    app.anonymous().login_with(member.email(), PASSWORD).await.expect_error(401, "invalid_credentials");
    app.anonymous().login_with(member.email(), NEW).await.expect(200);
}

async fn a_link_works_for_thirty_minutes_exactly(app: &App) {
    let token = reset_token(app, app.member().email()).await;
    app.clock.advance(Duration::from_millis(30 * 60 * 1_000 - 1));
    reset(&app.anonymous(), &token, "short").await.expect_error(400, "weak_password");
    app.clock.advance(Duration::from_millis(1));
    reset(&app.anonymous(), &token, NEW).await.expect_error(400, "invalid_link");
    app.member().login().await.expect(200);
}

async fn a_link_works_once(app: &App) {
    let token = reset_token(app, app.member().email()).await;
    reset(&app.anonymous(), &token, NEW).await.expect(200);
    reset(&app.anonymous(), &token, "another-fine-secret-7").await.expect_error(400, "invalid_link");
    app.anonymous().login_with(app.member().email(), NEW).await.expect(200);
}

async fn earlier_links_work_until_one_is_used(app: &App) {
    let member = app.member();
    let first = reset_token(app, member.email()).await;
    app.advance(60);
    let second = reset_token(app, member.email()).await;
    let third = reset_token(app, member.email()).await;
    reset(&app.anonymous(), &first, NEW).await.expect(200);
    for dead in [&first, &second, &third] {
        reset(&app.anonymous(), dead, "another-fine-secret-7").await.expect_error(400, "invalid_link");
    }
    app.anonymous().login_with(member.email(), NEW).await.expect(200);
}

async fn an_address_gets_three_mails_an_hour(app: &App) {
    let member = app.member();
    let first = forgot(&app.anonymous(), member.email()).await.expect(200);
    for typed in ["MAX@acme.example", member.email(), "Max@ACME.example", member.email()] {
        app.tick().await;
        assert_eq!(forgot(&app.anonymous(), typed).await.expect(200).body, first.body, "refused in silence");
    }
    assert_eq!(reset_mails(app, member.email()).await, 3);
    app.advance(3_599);
    forgot(&app.anonymous(), member.email()).await.expect(200);
    assert_eq!(reset_mails(app, member.email()).await, 3);
    app.advance(1);
    forgot(&app.anonymous(), member.email()).await.expect(200);
    assert_eq!(reset_mails(app, member.email()).await, 4);
    forgot(&app.anonymous(), app.admin().email()).await.expect(200);
    assert_eq!(reset_mails(app, app.admin().email()).await, 1, "each address for itself");
}

async fn the_three_mails_are_counted_over_all_organizations(app: &App) {
    let (here, _there) = in_both(app).await;
    for _ in 0..2 {
        forgot(&app.anonymous(), here.email()).await.expect(200);
        forgot(&app.other_org().anonymous(), here.email()).await.expect(200);
        app.tick().await;
    }
    assert_eq!(reset_mails(app, here.email()).await, 3);
}

/// Three an hour per address (behaviour.md, B89). Whoever uses one of them gets no more for it.
async fn using_a_link_does_not_refill_the_three(app: &App) {
    let member = app.member();
    let token = reset_token(app, member.email()).await;
    reset_token(app, member.email()).await;
    reset_token(app, member.email()).await;
    reset(&app.anonymous(), &token, NEW).await.expect(200);
    forgot(&app.anonymous(), member.email()).await.expect(200);
    assert_eq!(reset_mails(app, member.email()).await, 3);
    app.advance(3_600);
    forgot(&app.anonymous(), member.email()).await.expect(200);
    assert_eq!(reset_mails(app, member.email()).await, 4);
}

async fn a_reset_ends_every_session_everywhere_and_opens_none(app: &App) {
    let (here, there) = in_both(app).await;
    let phone = app.member().logged_in().await;
    let token = reset_token(app, here.email()).await;
    let answer = reset(&here.clone(), &token, NEW).await.expect(200);
    assert!(answer.cookies().iter().all(Cookie::is_cleared), "it opens no session");
    for (ended, backend) in [(&here, app.backend()), (&phone, app.backend()), (&there, app.other_org().backend())] {
        assert!(!backend.finds_valid(&ended.access_token()).await);
        ended.get("/org").await.expect_no_session();
        ended.refresh().await.expect_no_session();
    }
    app.admin().logged_in().await.get("/org").await.expect(200);
}

async fn a_reset_kills_links_that_change_the_address(app: &App) {
    let member = app.member().logged_in().await;
    let change = json!({ "newEmail": "max@elsewhere.example", "password": PASSWORD });
    member.post("/auth/change-email", change).await.expect(200);
    let change = mailed_token(app, "max@elsewhere.example", "change-email").await;
    let token = reset_token(app, member.email()).await;
    reset(&app.anonymous(), &token, NEW).await.expect(200);
    let again = app.member();
    again.login_with(member.email(), NEW).await.expect(200);
    again.post("/auth/change-email/confirm", json!({ "token": change })).await.expect_error(400, "invalid_link");
    assert_eq!(again.get("/auth/profile").await.expect_ok()["user"]["email"], member.email());
}

async fn a_reset_ends_a_login_that_waits_for_its_second_factor(app: &App) {
    let member = app.member().logged_in().await;
    let guarded = guard(app, &member).await;
    let thief = app.member();
    assert_eq!(thief.login().await.expect_ok()["requires2FA"], true);
    let token = reset_token(app, member.email()).await;
    reset(&app.anonymous(), &token, NEW).await.expect(200);
    let code = guarded.fresh_code(app);
    thief.post("/auth/verify-2fa", json!({ "code": code })).await.expect_error(401, "second_factor_failed");
}

async fn a_reset_leaves_the_second_factor_in_force(app: &App) {
    let member = app.member().logged_in().await;
    let guarded = guard(app, &member).await;
    let token = reset_token(app, member.email()).await;
    reset(&app.anonymous(), &token, NEW).await.expect(200);
    let device = app.member();
    login_with_code(&device, NEW, &guarded.fresh_code(app)).await;
    device.get("/org").await.expect(200);
}

async fn a_reset_clears_the_accounts_throttle(app: &App) {
    let member = app.member();
    for _ in 0..5 {
        app.anonymous().login_with(member.email(), "not-the-password").await.expect_error(401, "invalid_credentials");
    }
    app.anonymous().login_with(member.email(), PASSWORD).await.expect_error(429, "rate_limited");
    let token = reset_token(app, member.email()).await;
    app.anonymous().login_with(member.email(), PASSWORD).await.expect_error(429, "rate_limited");
    reset(&app.anonymous(), &token, NEW).await.expect(200);
    app.anonymous().login_with(member.email(), "not-the-password").await.expect_error(401, "invalid_credentials");
    app.anonymous().login_with(member.email(), NEW).await.expect(200);
}

async fn a_weak_password_leaves_the_link_usable(app: &App) {
    let member = app.member().logged_in().await;
    let token = reset_token(app, member.email()).await;
    for weak in ["short", "password123", member.email(), "Max Member", "acme rockets", &"x".repeat(257)] {
        reset(&app.anonymous(), &token, weak).await.expect_error(400, "weak_password");
    }
    member.get("/org").await.expect(200);
    app.member().login().await.expect(200);
    reset(&app.anonymous(), &token, NEW).await.expect(200);
}

async fn a_link_works_in_its_own_organization_only(app: &App) {
    let (here, there) = in_both(app).await;
    let token = reset_token(app, here.email()).await;
    reset(&app.other_org().anonymous(), &token, NEW).await.expect_error(400, "invalid_link");
    there.get("/org").await.expect(200);
    reset(&app.anonymous(), &token, NEW).await.expect(200);
}

/// However it comes that a link outlives a change of address: it is judged by the address that the account has when it is used.
async fn a_link_is_good_only_while_its_address_is_the_accounts(app: &App) {
    let member = app.member();
    let token = reset_token(app, member.email()).await;
    give_address(app, member.id(), "max@elsewhere.example").await;
    reset(&app.anonymous(), &token, NEW).await.expect_error(400, "invalid_link");
    app.anonymous().login_with("max@elsewhere.example", PASSWORD).await.expect(200);
    give_address(app, member.id(), member.email()).await;
    reset(&app.anonymous(), &token, NEW).await.expect(200);
}

async fn what_is_no_link_is_400(app: &App) {
    let admin = app.admin().logged_in().await;
    let member = app.member().logged_in().await;
    let invite = app.invited(&admin, "nora@acme.example").await;
    forget_proof(app, member.id()).await;
    member.post_nothing("/auth/verify-email/send").await.expect(200);
    let verify = mailed_token(app, member.email(), "verify").await;
    for wrong in ["", "x", &"x".repeat(10_000), &invite, &verify, &member.access_token()] {
        reset(&app.anonymous(), wrong, NEW).await.expect_error(400, "invalid_link");
    }
    member.get("/org").await.expect(200);
    app.anonymous().accept(&invite, "Nora").await.expect(200);
    member.post("/auth/verify-email", json!({ "token": verify })).await.expect(200);
}

async fn both_fields_are_required(app: &App) {
    let token = reset_token(app, app.member().email()).await;
    let send = |body| app.anonymous().post("/auth/reset-password", body);
    send(json!({ "token": token })).await.expect_invalid("newPassword");
    send(json!({ "newPassword": NEW })).await.expect_invalid("token");
    send(json!({ "token": token, "newPassword": 7 })).await.expect_invalid("newPassword");
    app.anonymous().post("/auth/forgot-password", json!({})).await.expect_invalid("email");
    reset(&app.anonymous(), &token, NEW).await.expect(200);
}

async fn the_owner_is_told_of_the_new_password(app: &App) {
    let member = app.member();
    let token = reset_token(app, member.email()).await;
    reset(&app.anonymous(), &token, NEW).await.expect(200);
    let mails = app.mail_to(member.email()).await;
    assert_eq!(mails.len(), 2);
    assert!(mails[1].subject.contains("password was changed"), "{}", mails[1].subject);
    expect_no_link(&mails[1]);
}
