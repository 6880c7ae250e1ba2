//! How often codes may be wrong: per waiting login, per account in a quarter of an hour and in a day (behaviour.md, B86).

use tenant_auth_conformance::{App, Caller, PASSWORD, Response, scenarios};

use crate::suite::support::authenticator::{Authenticator, SecondFactor, guarded_member};

scenarios![
    ten_wrong_codes_close_this_step_for_a_quarter_of_an_hour,
    the_passwords_step_stays_open,
    the_owner_is_told_once,
    the_owner_is_told_wherever_the_tenth_was_entered,
    the_limit_is_the_accounts_on_every_server,
    another_members_limit_is_their_own,
    a_refusal_neither_spends_a_code_nor_counts,
    right_codes_do_not_count,
    tries_on_a_burnt_wait_do_not_count,
    fifty_wrong_codes_close_it_for_a_day,
    wrong_codes_where_a_session_confirms_count_too,
    wrong_codes_when_enabling_count_too,
    a_session_in_use_is_not_disturbed,
    a_reset_password_forgives_no_code,
    a_second_factor_taken_away_by_the_operator_forgives,
];

const WINDOW: u64 = 900;

#[track_caller]
fn retry_after(answer: &Response) -> u64 {
    answer.header("Retry-After").expect("a Retry-After").parse().expect("whole seconds")
}

/// Enters wrong codes, five for each login that waits; each is judged.
async fn guess(app: &App, authenticator: &Authenticator, times: usize) {
    let mut device = app.member().waiting().await;
    for n in 0..times {
        if n > 0 && n % 5 == 0 {
            device = app.member().waiting().await;
        }
        device.enter(&authenticator.wrong_code(app)).await.expect_error(401, "second_factor_failed");
    }
}

async fn expect_closed(device: &Caller, code: &str) -> u64 {
    let refused = device.enter(code).await.expect_error(429, "rate_limited");
    assert!(refused.cookies().is_empty(), "nothing is set or cleared");
    retry_after(&refused)
}

async fn ten_wrong_codes_close_this_step_for_a_quarter_of_an_hour(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    guess(app, &authenticator, 10).await;
    let device = app.member().waiting().await;
    assert_eq!(expect_closed(&device, &authenticator.code(app)).await, WINDOW, "the right code makes no difference");
    expect_closed(&device, &authenticator.wrong_code(app)).await;
    expect_closed(&device, &authenticator.recovery_codes[0]).await;
    app.advance(WINDOW - 1);
    let device = app.member().waiting().await;
    assert_eq!(expect_closed(&device, &authenticator.code(app)).await, 1);
    app.advance(1);
    device.enter(&authenticator.code(app)).await.expect(200);
}

async fn the_passwords_step_stays_open(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    guess(app, &authenticator, 10).await;
    let device = app.member().waiting().await;
    expect_closed(&device, &authenticator.code(app)).await;
    app.anonymous().login_with(device.email(), "not-the-password").await.expect_error(401, "invalid_credentials");
    app.member().waiting().await;
}

async fn the_owner_is_told_once(app: &App) {
    let (member, authenticator) = guarded_member(app).await;
    let before = app.mail_to(member.email()).await.len();
    guess(app, &authenticator, 9).await;
    assert_eq!(app.mail_to(member.email()).await.len(), before, "anybody mistypes");
    guess(app, &authenticator, 1).await;
    let device = app.member().waiting().await;
    for _ in 0..3 {
        expect_closed(&device, &authenticator.code(app)).await;
    }
    let mails = app.mail_to(member.email()).await;
    assert_eq!(mails.len(), before + 1);
    assert!(mails[before].text.to_lowercase().contains("code"), "{}", mails[before].text);
}

/// Confirmations count alike, so one of them may be what closes the second step.
async fn the_owner_is_told_wherever_the_tenth_was_entered(app: &App) {
    let (member, authenticator) = guarded_member(app).await;
    let before = app.mail_to(member.email()).await.len();
    guess(app, &authenticator, 9).await;
    member.disable(PASSWORD, &authenticator.wrong_code(app)).await.expect_error(400, "wrong_code");
    expect_closed(&app.member().waiting().await, &authenticator.code(app)).await;
    assert_eq!(app.mail_to(member.email()).await.len(), before + 1);
}

async fn the_limit_is_the_accounts_on_every_server(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    let other = app.beside(|_| {}).await;
    guess(app, &authenticator, 5).await;
    guess(&other, &authenticator, 5).await;
    for app in [app, &other] {
        expect_closed(&app.member().waiting().await, &authenticator.code(app)).await;
    }
}

async fn another_members_limit_is_their_own(app: &App) {
    let (_, maxs) = guarded_member(app).await;
    let adas = app.admin().logged_in().await.guard(app).await;
    guess(app, &maxs, 10).await;
    app.admin().waiting().await.enter(&adas.code(app)).await.expect(200);
}

async fn a_refusal_neither_spends_a_code_nor_counts(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    guess(app, &authenticator, 10).await;
    app.advance(WINDOW - 10);
    let device = app.member().waiting().await;
    for _ in 0..12 {
        expect_closed(&device, &authenticator.recovery_codes[0]).await;
    }
    app.advance(10);
    device.enter(&authenticator.recovery_codes[0]).await.expect(200);
    assert_eq!(device.status().await["recoveryCodesRemaining"], 9);
}

async fn right_codes_do_not_count(app: &App) {
    let (member, authenticator) = guarded_member(app).await;
    guess(app, &authenticator, 9).await;
    for code in &authenticator.recovery_codes {
        app.member().waiting().await.enter(code).await.expect(200);
    }
    member.renew_codes(PASSWORD, &authenticator.code(app)).await.expect(200);
    guess(app, &authenticator, 1).await;
    expect_closed(&app.member().waiting().await, &authenticator.code(app)).await;
}

/// Ten wrong codes close the step; what is entered where nothing waits any more is not judged, so it is not wrong.
async fn tries_on_a_burnt_wait_do_not_count(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    let burnt = app.member().waiting().await;
    for _ in 0..5 {
        burnt.enter(&authenticator.wrong_code(app)).await.expect_error(401, "second_factor_failed");
    }
    for _ in 0..10 {
        burnt.enter(&authenticator.code(app)).await.expect_error(401, "second_factor_failed");
    }
    app.member().waiting().await.enter(&authenticator.code(app)).await.expect(200);
}

async fn fifty_wrong_codes_close_it_for_a_day(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    for _ in 0..5 {
        guess(app, &authenticator, 10).await;
        app.advance(WINDOW);
        app.tick().await;
    }
    let device = app.member().waiting().await;
    assert_eq!(expect_closed(&device, &authenticator.code(app)).await, 24 * 60 * 60 - 5 * WINDOW);
    app.advance(24 * 60 * 60 - 5 * WINDOW - 1);
    let device = app.member().waiting().await;
    assert_eq!(expect_closed(&device, &authenticator.code(app)).await, 1);
    app.advance(1);
    device.enter(&authenticator.code(app)).await.expect(200);
}

async fn wrong_codes_where_a_session_confirms_count_too(app: &App) {
    let (member, authenticator) = guarded_member(app).await;
    guess(app, &authenticator, 5).await;
    for n in 0..5 {
        let wrong = authenticator.wrong_code(app);
        let refused = if n % 2 == 0 { member.disable(PASSWORD, &wrong) } else { member.renew_codes(PASSWORD, &wrong) };
        refused.await.expect_error(400, "wrong_code");
    }
    let code = authenticator.code(app);
    expect_closed(&app.member().waiting().await, &code).await;
    let refused = member.disable(PASSWORD, &code).await.expect_error(429, "rate_limited");
    assert_eq!(retry_after(&refused), WINDOW);
    member.renew_codes(PASSWORD, &code).await.expect_error(429, "rate_limited");
    app.advance(WINDOW);
    app.member().waiting().await.enter(&authenticator.code(app)).await.expect(200);
}

async fn wrong_codes_when_enabling_count_too(app: &App) {
    let member = app.member().logged_in().await;
    let authenticator = Authenticator::new(&member.set_up(PASSWORD).await.expect_ok()["secret"]);
    for _ in 0..10 {
        member.enable(&authenticator.wrong_code(app)).await.expect_error(400, "wrong_code");
    }
    member.enable(&authenticator.code(app)).await.expect_error(429, "rate_limited");
    app.member().logged_in().await;
    app.advance(WINDOW);
    member.refresh().await.expect(200);
    member.enable(&authenticator.code(app)).await.expect(200);
}

async fn a_session_in_use_is_not_disturbed(app: &App) {
    let (member, authenticator) = guarded_member(app).await;
    guess(app, &authenticator, 10).await;
    member.get("/org").await.expect(200);
    member.refresh().await.expect(200);
    member.change_password(PASSWORD, "velvet-anchor-93-comet").await.expect(200);
}

/// The second factor guards against whoever reads the mailbox: resets give them no further guesses (behaviour.md, B86).
async fn a_reset_password_forgives_no_code(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    guess(app, &authenticator, 10).await;
    app.tick().await;
    let mut device = app.member();
    let new = "velvet-anchor-93-comet";
    device.post("/auth/forgot-password", serde_json::json!({ "email": device.email() })).await.expect(200);
    let token = app.link_token_of(device.email()).await;
    device.post("/auth/reset-password", serde_json::json!({ "token": token, "newPassword": new })).await.expect(200);
    device.set_password(new);
    expect_closed(&device.clone().waiting().await, &authenticator.code(app)).await;
    app.advance(WINDOW);
    device.waiting().await.enter(&authenticator.code(app)).await.expect(200);
}

async fn a_second_factor_taken_away_by_the_operator_forgives(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    guess(app, &authenticator, 10).await;
    let email = app.member().email().parse().expect("an address");
    app.auth.operator().reset_second_factor(&email).await.expect("there is one");
    let member = app.member().logged_in().await;
    let authenticator = member.guard(app).await;
    app.member().waiting().await.enter(&authenticator.code(app)).await.expect(200);
}
