//! Races about guessing, on each database, between two servers of one deployment: parallel guesses never exceed a limit, and
//! parallel right passwords never meet one.

use tenant_auth_conformance::{App, Caller, Request, Response, rounds, scenarios, together_until_decided};

scenarios![on each database:
    of_fifty_parallel_guesses_five_are_judged,
    of_fifty_parallel_guesses_at_nobody_five_are_judged,
    after_a_wait_one_parallel_guess_is_judged,
    guesses_and_confirmations_share_the_five,
    twenty_parallel_right_logins_all_succeed,
    twenty_parallel_right_logins_all_succeed_with_one_try_left,
    twenty_parallel_confirmations_by_the_right_password_all_succeed,
];

const WRONG: &str = "not-the-password";
/// After this long every count has ended.
const HOUR: u64 = 60 * 60;

/// Rounds of many requests each, as many requests as the other races make.
fn big_rounds() -> usize {
    rounds().div_ceil(10)
}

/// Another server over the same database, with pools of its own, as in another process.
async fn second_server(app: &App) -> App {
    app.beside(|_| {}).await
}

/// The same login at two servers by turns.
fn logins(app: &App, other: &App, times: usize, (email, password): (&str, &str)) -> Vec<Request> {
    let from = |n: usize| if n.is_multiple_of(2) { app.anonymous() } else { app.anonymous().via(other) };
    (0..times).map(|n| from(n).login_with(email, password)).collect()
}

/// So many were judged and found wrong; all others were refused.
#[track_caller]
fn expect_judged(answers: &[Response], judged: usize) {
    let count = |status: u16| answers.iter().filter(|answer| answer.status == status).count();
    let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    assert_eq!((count(401), count(429)), (judged, answers.len() - judged), "{statuses:?}");
}

async fn of_fifty_parallel_guesses_five_are_judged(app: &App) {
    let other = second_server(app).await;
    for _ in 0..big_rounds() {
        app.advance(HOUR);
        let answers = together_until_decided(logins(app, &other, 50, (app.member().email(), WRONG))).await;
        expect_judged(&answers, 5);
        app.member().login().await.expect_error(429, "rate_limited");
        app.advance(60);
        app.member().login().await.expect(200);
    }
}

async fn of_fifty_parallel_guesses_at_nobody_five_are_judged(app: &App) {
    let other = second_server(app).await;
    for round in 0..big_rounds() {
        app.advance(HOUR);
        let answers = together_until_decided(logins(app, &other, 50, (&format!("nobody{round}@acme.example"), WRONG))).await;
        expect_judged(&answers, 5);
    }
}

async fn after_a_wait_one_parallel_guess_is_judged(app: &App) {
    let other = second_server(app).await;
    for _ in 0..big_rounds() {
        app.advance(HOUR);
        expect_judged(&together_until_decided(logins(app, &other, 20, (app.member().email(), WRONG))).await, 5);
        app.advance(60);
        expect_judged(&together_until_decided(logins(app, &other, 20, (app.member().email(), WRONG))).await, 1);
    }
}

async fn guesses_and_confirmations_share_the_five(app: &App) {
    let other = second_server(app).await;
    for _ in 0..big_rounds() {
        let member = app.member().logged_in().await;
        let guesses = logins(app, &other, 10, (member.email(), WRONG));
        let confirmations = (0..10).map(|_| member.change_password(WRONG, "velvet-anchor-93-comet"));
        expect_judged(&together_until_decided(guesses.into_iter().chain(confirmations).collect()).await, 5);
        app.advance(HOUR);
    }
}

/// Twenty people with the right password at once.
async fn all_come_in(app: &App, other: &App) {
    let devices: Vec<Caller> = (0..20).map(|n| if n % 2 == 0 { app.member() } else { app.member().via(other) }).collect();
    for answer in together_until_decided(devices.iter().map(Caller::login).collect()).await {
        answer.expect(200);
    }
    for device in &devices {
        device.get("/org").await.expect(200);
    }
    app.advance(HOUR);
}

async fn twenty_parallel_right_logins_all_succeed(app: &App) {
    let other = second_server(app).await;
    for _ in 0..big_rounds() {
        all_come_in(app, &other).await;
    }
}

async fn twenty_parallel_right_logins_all_succeed_with_one_try_left(app: &App) {
    let other = second_server(app).await;
    for _ in 0..big_rounds() {
        for guess in logins(app, &other, 4, (app.member().email(), WRONG)) {
            guess.await.expect(401);
        }
        all_come_in(app, &other).await;
    }
}

async fn twenty_parallel_confirmations_by_the_right_password_all_succeed(app: &App) {
    let other = second_server(app).await;
    let member = app.member().logged_in().await;
    for _ in 0..big_rounds() {
        let ask = |n: usize| {
            let device = if n.is_multiple_of(2) { member.clone() } else { member.via(&other) };
            device.post("/auth/2fa/setup", serde_json::json!({ "password": device.person().password }))
        };
        for answer in together_until_decided((0..20).map(ask).collect()).await {
            answer.expect(200);
        }
    }
}
