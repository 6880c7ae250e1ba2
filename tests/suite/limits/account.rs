//! Failed logins of one account at one address: five in a quarter of an hour, then a wait that doubles (behaviour.md, B82).

use std::sync::Arc;

use serde_json::json;
use tenant_auth_conformance::{App, BusyHasher, Caller, PASSWORD, Response, scenarios};

use crate::suite::support::authenticator::{STEP, SecondFactor, guarded_member};

scenarios![
    the_fifth_wrong_password_is_401_and_the_sixth_try_429,
    the_right_password_makes_no_difference_then,
    the_wait_doubles_to_a_quarter_of_an_hour,
    a_quarter_of_an_hour_without_a_failure_forgets_a_wait,
    a_wait_as_long_as_the_window_is_forgotten_a_window_after_its_end,
    a_try_during_the_wait_does_not_lengthen_it,
    after_a_quarter_of_an_hour_failures_are_forgotten,
    failures_spread_wider_than_the_window_never_block,
    a_completed_login_clears_the_count,
    the_first_step_alone_clears_nothing,
    an_unknown_address_is_treated_alike_byte_for_byte,
    the_address_is_counted_folded,
    every_organization_and_server_counts_together,
    another_account_is_not_concerned,
    wrong_confirmations_count_like_wrong_logins,
    wrong_logins_close_confirmations_too,
    a_right_confirmation_clears_nothing,
    a_busy_hasher_counts_nothing,
    who_may_not_enter_has_not_failed,
    an_open_session_goes_on,
    a_reset_password_forgives,
    the_limit_follows_the_setting,
];

const WRONG: &str = "not-the-password";
const NEW: &str = "velvet-anchor-93-comet";
const WINDOW: u64 = 900;

fn wrong(app: &App) -> tenant_auth_conformance::Request {
    app.anonymous().login_with(app.member().email(), WRONG)
}

/// Wrong passwords, each judged.
async fn fail(app: &App, times: usize) {
    for _ in 0..times {
        wrong(app).await.expect_error(401, "invalid_credentials");
    }
}

#[track_caller]
fn expect_blocked(answer: Response) -> u64 {
    let refused = answer.expect_error(429, "rate_limited");
    assert!(refused.cookies().is_empty(), "nothing is set or cleared");
    refused.header("Retry-After").expect("a Retry-After").parse().expect("whole seconds")
}

async fn the_fifth_wrong_password_is_401_and_the_sixth_try_429(app: &App) {
    fail(app, 5).await;
    assert_eq!(expect_blocked(wrong(app).await), 60);
}

async fn the_right_password_makes_no_difference_then(app: &App) {
    fail(app, 5).await;
    assert_eq!(expect_blocked(app.member().login().await), 60);
    app.advance(59);
    assert_eq!(expect_blocked(app.member().login().await), 1);
    app.advance(1);
    app.member().login().await.expect(200);
}

async fn the_wait_doubles_to_a_quarter_of_an_hour(app: &App) {
    fail(app, 4).await;
    for wait in [60, 120, 240, 480, 900] {
        fail(app, 1).await;
        assert_eq!(expect_blocked(app.member().login().await), wait);
        app.clock.advance(std::time::Duration::from_millis(wait * 1_000 - 1));
        assert_eq!(expect_blocked(app.member().login().await), 1, "rounded up: a client that waits this long is let in");
        app.clock.advance(std::time::Duration::from_millis(1));
    }
    fail(app, 1).await;
    assert_eq!(expect_blocked(app.member().login().await), 900, "the longest wait ends, and is not forgotten with its end");
    app.advance(900);
    app.member().login().await.expect(200);
    fail(app, 4).await;
    app.member().login().await.expect(200);
}

async fn a_quarter_of_an_hour_without_a_failure_forgets_a_wait(app: &App) {
    fail(app, 5).await;
    app.advance(WINDOW - 1);
    fail(app, 1).await;
    assert_eq!(expect_blocked(app.member().login().await), 120);
    app.advance(WINDOW);
    fail(app, 5).await;
    assert_eq!(expect_blocked(wrong(app).await), 60);
}

async fn a_wait_as_long_as_the_window_is_forgotten_a_window_after_its_end(app: &App) {
    fail(app, 5).await;
    for wait in [60, 120, 240, 480] {
        app.advance(wait);
        fail(app, 1).await;
    }
    app.advance(2 * WINDOW - 1);
    fail(app, 1).await;
    assert_eq!(expect_blocked(wrong(app).await), 900);
    app.advance(2 * WINDOW);
    fail(app, 5).await;
    assert_eq!(expect_blocked(wrong(app).await), 60);
}

async fn a_try_during_the_wait_does_not_lengthen_it(app: &App) {
    fail(app, 5).await;
    for elapsed in 0..60 {
        assert_eq!(expect_blocked(wrong(app).await), 60 - elapsed);
        app.advance(1);
    }
    app.member().login().await.expect(200);
}

async fn after_a_quarter_of_an_hour_failures_are_forgotten(app: &App) {
    fail(app, 4).await;
    app.advance(WINDOW);
    fail(app, 5).await;
    assert_eq!(expect_blocked(wrong(app).await), 60, "as if it were the first time");
}

/// Five in a quarter of an hour, not five in a row: who mistypes now and then is never shut out.
async fn failures_spread_wider_than_the_window_never_block(app: &App) {
    for _ in 0..6 {
        fail(app, 1).await;
        app.advance(WINDOW - 60);
    }
    fail(app, 1).await;
    app.member().login().await.expect(200);
}

async fn a_completed_login_clears_the_count(app: &App) {
    for _ in 0..3 {
        fail(app, 4).await;
        app.member().login().await.expect(200);
    }
    fail(app, 5).await;
    assert_eq!(expect_blocked(wrong(app).await), 60);
    app.advance(60);
    app.member().login().await.expect(200);
    fail(app, 5).await;
    assert_eq!(expect_blocked(wrong(app).await), 60, "the doubling begins anew");
}

async fn the_first_step_alone_clears_nothing(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    fail(app, 4).await;
    let waiting = app.member().waiting().await;
    waiting.enter(&authenticator.wrong_code(app)).await.expect_error(401, "second_factor_failed");
    fail(app, 1).await;
    assert_eq!(expect_blocked(app.member().login().await), 60);
    app.advance(60);
    let waiting = app.member().waiting().await;
    waiting.enter(&authenticator.code(app)).await.expect(200);
    fail(app, 5).await;
    assert_eq!(expect_blocked(wrong(app).await), 60, "the whole login cleared it");
}

/// An answer without what differs from one to the next by nature.
fn comparable(response: Response) -> (u16, Vec<(String, String)>, String) {
    let moving = ["date", "x-request-id", "retry-after"];
    let headers = response.headers.into_iter().filter(|(name, _)| !moving.contains(&name.to_lowercase().as_str())).collect();
    (response.status, headers, response.body)
}

async fn an_unknown_address_is_treated_alike_byte_for_byte(app: &App) {
    let (known, unknown) = (app.member().email().to_owned(), "nobody@acme.example");
    for wait in [0, 60, 120, 240] {
        app.advance(wait);
        for _ in 0..6 {
            let [ours, theirs] =
                [app.anonymous().login_with(&known, WRONG).await, app.anonymous().login_with(unknown, WRONG).await];
            assert_eq!(ours.header("Retry-After"), theirs.header("Retry-After"));
            assert_eq!(comparable(ours), comparable(theirs));
        }
    }
}

async fn the_address_is_counted_folded(app: &App) {
    for typed in ["max@acme.example", "MAX@ACME.EXAMPLE", " Max@Acme.Example ", "ｍａｘ@acme.example", "max@ACME.example"] {
        app.anonymous().login_with(typed, WRONG).await.expect(401);
    }
    expect_blocked(app.member().login().await);
}

async fn every_organization_and_server_counts_together(app: &App) {
    let other = app.beside(|_| {}).await;
    let max = app.member();
    for n in 0..5 {
        let server = if n % 2 == 0 { app } else { &other };
        let org = if n % 3 == 0 { server.org() } else { server.other_org() };
        org.anonymous().login_with(max.email(), WRONG).await.expect(401);
    }
    expect_blocked(app.member().login().await);
    expect_blocked(other.other_org().device_of(max.person()).login().await);
}

async fn another_account_is_not_concerned(app: &App) {
    fail(app, 5).await;
    expect_blocked(app.member().login().await);
    app.admin().login().await.expect(200);
    app.other_org().member().login().await.expect(200);
}

/// Each way to confirm something with the password, and a wrong one.
fn confirmations(member: &Caller, password: &str) -> [tenant_auth_conformance::Request; 3] {
    let change = json!({ "newEmail": "maxi@acme.example", "password": password });
    [member.change_password(password, NEW), member.set_up(password), member.post("/auth/change-email", change)]
}

async fn wrong_confirmations_count_like_wrong_logins(app: &App) {
    let member = app.member().logged_in().await;
    for confirmation in confirmations(&member, WRONG) {
        confirmation.await.expect_error(401, "wrong_password");
    }
    member.disable(WRONG, "123456").await.expect_error(401, "wrong_password");
    fail(app, 1).await;
    assert_eq!(expect_blocked(app.member().login().await), 60);
    for confirmation in confirmations(&member, PASSWORD) {
        expect_blocked(confirmation.await);
    }
    app.advance(60);
    member.set_up(WRONG).await.expect_error(401, "wrong_password");
    assert_eq!(expect_blocked(app.member().login().await), 120);
}

async fn wrong_logins_close_confirmations_too(app: &App) {
    let member = app.member().logged_in().await;
    fail(app, 5).await;
    for confirmation in confirmations(&member, PASSWORD) {
        assert_eq!(expect_blocked(confirmation.await), 60);
    }
    member.get("/org").await.expect(200);
    app.advance(60);
    member.change_password(PASSWORD, NEW).await.expect(200);
}

async fn a_right_confirmation_clears_nothing(app: &App) {
    let (member, authenticator) = guarded_member(app).await;
    fail(app, 4).await;
    member.renew_codes(PASSWORD, &authenticator.code(app)).await.expect(200);
    app.advance(STEP);
    member.disable(PASSWORD, &authenticator.code(app)).await.expect(200);
    fail(app, 1).await;
    expect_blocked(app.member().login().await);
}

async fn a_busy_hasher_counts_nothing(app: &App) {
    let busy = app.beside(|setup| setup.hasher = Some(Arc::new(BusyHasher))).await;
    let member = app.member().logged_in().await;
    fail(app, 4).await;
    for _ in 0..6 {
        wrong(&busy).may_fail().await.expect_error(503, "unavailable");
        busy.member().login().may_fail().await.expect_error(503, "unavailable");
        member.via(&busy).set_up(PASSWORD).may_fail().await.expect_error(503, "unavailable");
    }
    fail(app, 1).await;
    expect_blocked(app.member().login().await);
    app.advance(60);
    for _ in 0..6 {
        busy.member().login().may_fail().await.expect_error(503, "unavailable");
    }
    app.member().login().await.expect(200);
}

async fn who_may_not_enter_has_not_failed(app: &App) {
    let gus = app.other_org().member();
    app.admin().logged_in().await.set_status(app.member().id(), "suspended").await.expect(200);
    for _ in 0..6 {
        app.org().device_of(gus.person()).login().await.expect(403);
        app.member().login().await.expect_error(403, "suspended");
    }
    gus.login().await.expect(200);
    fail(app, 4).await;
    app.member().login().await.expect_error(403, "suspended");
    fail(app, 1).await;
    expect_blocked(app.member().login().await);
}

async fn an_open_session_goes_on(app: &App) {
    let member = app.member().logged_in().await;
    fail(app, 5).await;
    expect_blocked(app.member().login().await);
    member.get("/org").await.expect(200);
    member.refresh().await.expect(200);
    member.logout().await.expect(200);
}

async fn a_reset_password_forgives(app: &App) {
    fail(app, 5).await;
    expect_blocked(app.member().login().await);
    let member = app.member();
    member.post("/auth/forgot-password", json!({ "email": member.email() })).await.expect(200);
    let token = app.link_token_of(member.email()).await;
    expect_blocked(app.member().login().await);
    member.post("/auth/reset-password", json!({ "token": token, "newPassword": NEW })).await.expect(200);
    app.anonymous().login_with(member.email(), NEW).await.expect(200);
}

async fn the_limit_follows_the_setting(app: &App) {
    let strict = app
        .beside(|setup| {
            setup.config.login.max_failures = 2;
            setup.config.login.window = std::time::Duration::from_secs(30);
        })
        .await;
    fail(&strict, 1).await;
    app.advance(30);
    fail(&strict, 2).await;
    assert_eq!(expect_blocked(strict.member().login().await), 60);
    app.advance(60);
    fail(&strict, 1).await;
    assert_eq!(expect_blocked(strict.member().login().await), 120, "also where the window is shorter than the wait");
}
