//! Races about the second factor, on each database, between two servers of one deployment: what works once works once, however many
//! try at the same moment.

use tenant_auth_conformance::{App, Caller, PASSWORD, Response, decided, rounds, scenarios, together, together_until_decided};

use crate::suite::support::authenticator::{Authenticator, STEP, SecondFactor, guarded_member, recovery_codes_in};

scenarios![on each database:
    one_code_opens_one_of_twenty_waiting_logins,
    one_waiting_login_opens_one_session,
    one_recovery_code_opens_one_of_twenty_waiting_logins,
    one_recovery_code_confirms_one_thing,
    parallel_wrong_codes_never_exceed_the_limit,
    a_setup_is_enabled_once,
    a_login_in_flight_while_it_is_enabled_opens_nothing,
    an_invite_accepted_while_it_is_enabled_opens_nothing,
    a_second_step_in_flight_while_it_is_disabled_opens_nothing,
    a_second_step_in_flight_during_a_password_change_opens_nothing,
];

const DAY: u64 = 24 * 60 * 60;

/// Longer than an attempt holds its place.
const LEASE: u64 = 5;

/// Rounds of twenty requests each, as many requests as the other races make.
fn big_rounds() -> usize {
    rounds().div_ceil(10)
}

/// Another server over the same database, with pools of its own, as in another process.
async fn second_server(app: &App) -> App {
    app.beside(|_| {}).await
}

/// Logins that wait, on two servers by turns.
async fn crowd(app: &App, other: &App) -> Vec<Caller> {
    let mut crowd = Vec::new();
    for n in 0..20 {
        crowd.push(if n % 2 == 0 { app.member() } else { app.member().via(other) }.waiting().await);
    }
    crowd
}

/// One came in; the others failed, or were too many.
#[track_caller]
fn expect_one_in(answers: &[Response]) -> usize {
    let shown: Vec<String> = answers.iter().map(Response::shown).collect();
    let places = |status: u16| (0..answers.len()).filter(|place| answers[*place].status == status).collect::<Vec<_>>();
    assert_eq!(places(200).len(), 1, "{shown:#?}");
    assert_eq!(places(401).len() + places(429).len(), answers.len() - 1, "{shown:#?}");
    places(200)[0]
}

/// A day after each round the wrong tries are forgotten.
async fn one_code_opens_one_of_twenty_waiting_logins(app: &App) {
    let other = second_server(app).await;
    let (_, authenticator) = guarded_member(app).await;
    for _ in 0..big_rounds() {
        app.advance(DAY);
        let devices = crowd(app, &other).await;
        let code = authenticator.code(app);
        let answers = together_until_decided(devices.iter().map(|device| device.enter(&code)).collect()).await;
        let winner = expect_one_in(&answers);
        devices[winner].get("/org").await.expect(200);
        for (_, loser) in devices.iter().enumerate().filter(|(place, _)| *place != winner) {
            loser.get("/org").await.expect_no_session();
        }
    }
}

async fn one_recovery_code_opens_one_of_twenty_waiting_logins(app: &App) {
    let codes = big_rounds().min(10);
    let other = second_server(app).await;
    let (_, authenticator) = guarded_member(app).await;
    for code in &authenticator.recovery_codes[..codes] {
        app.advance(DAY);
        let devices = crowd(app, &other).await;
        let answers = together_until_decided(devices.iter().map(|device| device.enter(code)).collect()).await;
        let winner = &devices[expect_one_in(&answers)];
        winner.get("/org").await.expect(200);
    }
    app.advance(DAY);
    let last = app.member().through(app, &authenticator).await;
    assert_eq!(last.status().await["recoveryCodesRemaining"], 10 - codes);
}

async fn one_waiting_login_opens_one_session(app: &App) {
    let other = second_server(app).await;
    let (_, authenticator) = guarded_member(app).await;
    for _ in 0..big_rounds() {
        app.advance(DAY);
        let waiting = app.member().waiting().await;
        let tabs: Vec<Caller> = (0..20).map(|n| if n % 2 == 0 { waiting.copied() } else { waiting.copied().via(&other) }).collect();
        let code = authenticator.code(app);
        let winner = expect_one_in(&together_until_decided(tabs.iter().map(|tab| tab.enter(&code)).collect()).await);
        tabs[winner].get("/org").await.expect(200);
    }
    for _ in 0..big_rounds() {
        app.advance(DAY);
        let waiting = app.member().waiting().await;
        let tabs = [waiting.copied(), waiting.copied().via(&other), waiting.copied()];
        let codes = [-1, 0, 1].map(|steps| authenticator.code_in(app, steps));
        let requests = tabs.iter().zip(&codes).map(|(tab, code)| tab.enter(code)).collect();
        let winner = expect_one_in(&together(requests).await);
        tabs[winner].get("/org").await.expect(200);
    }
}

async fn one_recovery_code_confirms_one_thing(app: &App) {
    let other = second_server(app).await;
    let (_, mut authenticator) = guarded_member(app).await;
    for _ in 0..rounds() {
        app.advance(DAY);
        let member = app.member().through(app, &authenticator).await;
        app.advance(STEP);
        let code = &authenticator.recovery_codes[0];
        let device = app.member().waiting().await;
        let requests = vec![member.renew_codes(PASSWORD, code), member.via(&other).renew_codes(PASSWORD, code), device.enter(code)];
        let answers = together(requests).await;
        let won: Vec<&Response> = answers.iter().filter(|answer| answer.status == 200).collect();
        let shown: Vec<String> = answers.iter().map(Response::shown).collect();
        assert_eq!(won.len(), 1, "{shown:#?}");
        let renewed = if won[0].data()["recoveryCodes"].is_array() {
            won[0].data()
        } else {
            member.renew_codes(PASSWORD, &authenticator.code(app)).await.expect_ok()
        };
        authenticator.recovery_codes = recovery_codes_in(&renewed);
    }
}

async fn parallel_wrong_codes_never_exceed_the_limit(app: &App) {
    let other = second_server(app).await;
    let (member, authenticator) = guarded_member(app).await;
    for _ in 0..big_rounds() {
        app.advance(DAY);
        let mails = app.mail_to(member.email()).await.len();
        let devices = crowd(app, &other).await;
        let wrong = authenticator.wrong_code(app);
        let answers = together(devices.iter().map(|device| device.enter(&wrong).may_fail()).collect()).await;
        let shown: Vec<String> = answers.iter().map(Response::shown).collect();
        let count = |status: u16| answers.iter().filter(|answer| answer.status == status).count();
        assert_eq!(count(401) + count(429) + count(503), answers.len(), "{shown:#?}");
        assert!(count(401) <= 10, "no more than the limit: {shown:#?}");
        if count(503) == 0 {
            assert_eq!(count(401), 10, "all places are used: {shown:#?}");
        }
        // On a machine too slow for twenty at once: the place of an attempt that was told 503 is free when its lease ends.
        app.advance(LEASE);
        let mut judged = count(401);
        for device in &devices {
            let answer = decided(device.enter(&wrong)).await;
            if answer.status == 429 {
                break;
            }
            answer.expect(401);
            judged += 1;
        }
        assert!(judged <= 10, "{judged} were judged, at first {shown:#?}");
        decided(devices[0].enter(&authenticator.code(app))).await.expect_error(429, "rate_limited");
        assert_eq!(app.mail_to(member.email()).await.len(), mails + 1, "the owner is told once: {shown:#?}");
    }
}

async fn a_setup_is_enabled_once(app: &App) {
    let other = second_server(app).await;
    let mut member = app.member().logged_in().await;
    for _ in 0..rounds() {
        app.advance(DAY);
        member = member.elsewhere().logged_in().await;
        let authenticator = Authenticator::new(&member.set_up(PASSWORD).await.expect_ok()["secret"]);
        let code = authenticator.code(app);
        let answers = together(vec![member.enable(&code), member.via(&other).enable(&code), member.enable(&code)]).await;
        let shown: Vec<String> = answers.iter().map(Response::shown).collect();
        let won: Vec<&Response> = answers.iter().filter(|answer| answer.status == 200).collect();
        assert_eq!(won.len(), 1, "{shown:#?}");
        let codes = recovery_codes_in(&won[0].data());
        member.disable(PASSWORD, &codes[0]).await.expect(200);
    }
}

async fn a_login_in_flight_while_it_is_enabled_opens_nothing(app: &App) {
    let other = second_server(app).await;
    let mut member = app.member().logged_in().await;
    for _ in 0..rounds() {
        app.advance(DAY);
        member = member.elsewhere().logged_in().await;
        let authenticator = Authenticator::new(&member.set_up(PASSWORD).await.expect_ok()["secret"]);
        let thieves = [app.member(), app.member().via(&other), app.member()];
        let logins = thieves.iter().map(Caller::login);
        let requests = [member.enable(&authenticator.code(app))].into_iter().chain(logins).collect();
        let answers = together(requests).await;
        let codes = recovery_codes_in(&answers[0].clone().expect_ok());
        for thief in &thieves {
            thief.get("/org").await.expect_no_session();
            thief.refresh().await.expect_no_session();
        }
        member.disable(PASSWORD, &codes[0]).await.expect(200);
    }
}

async fn an_invite_accepted_while_it_is_enabled_opens_nothing(app: &App) {
    let other = second_server(app).await;
    for _ in 0..rounds() {
        app.advance(DAY);
        app.tick().await;
        let (member, greta) = (app.member().logged_in().await, app.other_org().admin().logged_in().await);
        greta.invite(member.email()).await.expect(201);
        let token = app.link_token_of(member.email()).await;
        let there = app.other_org().device_of(member.person()).via(&other);
        let authenticator = Authenticator::new(&member.set_up(PASSWORD).await.expect_ok()["secret"]);
        let requests = vec![member.enable(&authenticator.code(app)), there.accept_with_account(&token)];
        let answers = together(requests).await;
        let codes = recovery_codes_in(&answers[0].clone().expect_ok());
        answers[1].clone().expect(200);
        there.get("/org").await.expect_no_session();
        there.refresh().await.expect_no_session();
        assert!(greta.member_entry(member.id()).await.is_some(), "a member all the same");
        member.disable(PASSWORD, &codes[0]).await.expect(200);
        greta.remove(member.id()).await.expect(200);
    }
}

/// Both are right, so the second step may win; then its session is ended with the others.
async fn a_second_step_in_flight_while_it_is_disabled_opens_nothing(app: &App) {
    let other = second_server(app).await;
    for _ in 0..rounds() {
        app.advance(DAY);
        let (member, authenticator) = guarded_member(app).await;
        let thieves = [app.member().waiting().await, app.member().via(&other).waiting().await];
        let end = member.disable(PASSWORD, &authenticator.recovery_codes[0]);
        let entries = [thieves[0].enter(&authenticator.code(app)), thieves[1].enter(&authenticator.recovery_codes[1])];
        let answers = together([end].into_iter().chain(entries).collect()).await;
        answers[0].clone().expect(200);
        for (thief, answer) in thieves.iter().zip(&answers[1..]) {
            assert!(matches!(answer.status, 200 | 401), "{}", answer.shown());
            thief.get("/org").await.expect_no_session();
            thief.refresh().await.expect_no_session();
        }
        member.get("/org").await.expect(200);
    }
}

async fn a_second_step_in_flight_during_a_password_change_opens_nothing(app: &App) {
    let other = second_server(app).await;
    let (_, authenticator) = guarded_member(app).await;
    let passwords = [PASSWORD, "velvet-anchor-93-comet"];
    let mut owner = app.member();
    for round in 0..rounds() {
        app.advance(DAY);
        let (old, new) = (passwords[round % 2], passwords[(round + 1) % 2]);
        owner.set_password(old);
        let member = owner.elsewhere().through(app, &authenticator).await;
        let thief = owner.elsewhere().via(&other).waiting().await;
        app.advance(STEP);
        let answers = together(vec![member.change_password(old, new), thief.enter(&authenticator.code(app))]).await;
        answers[0].clone().expect(200);
        assert!(matches!(answers[1].status, 200 | 401), "{}", answers[1].shown());
        thief.get("/org").await.expect_no_session();
        thief.refresh().await.expect_no_session();
        member.get("/org").await.expect(200);
    }
}
