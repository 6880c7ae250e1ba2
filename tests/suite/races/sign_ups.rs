//! Races of sign-up: a link makes one organization, and a slug is given once.

use std::future::IntoFuture;

use tenant_auth_conformance::{App, PASSWORD, Response, rounds, scenarios, together};
use tenant_auth_core::model::Status;

use super::{expect_one_success, second_server};
use crate::suite::{
    auth::sign_up::{complete, founded, holder, newcomer, nobody, sign_up_token},
    support::{hooks::ticking, stored::forget_rates},
};

scenarios![on each database:
    of_two_completions_of_one_link_one_succeeds,
    of_two_completions_by_one_account_one_succeeds,
    of_two_completions_for_an_account_never_proved_one_succeeds,
    a_sign_up_beside_an_invite_takes_the_account_over_or_nothing,
    of_two_people_who_want_a_slug_one_gets_it,
    of_many_people_as_many_sign_up_as_the_day_allows,
    of_many_invites_of_a_newcomer_ten_are_sent,
    a_login_beside_the_judgement_keeps_it_or_finds_it_closed,
];

const DAY: u64 = 24 * 3_600;

async fn of_two_completions_of_one_link_one_succeeds(app: &App) {
    let other = second_server(app).await;
    for round in 0..rounds() {
        forget_rates(app).await;
        let token = sign_up_token(app, &format!("rita{round}@rockets.example")).await;
        let requests = [(app, "left"), (&other, "right")];
        let requests = requests.map(|(app, side)| complete(&nobody(app), newcomer(&token, &format!("{side}-{round}"))));
        let answers = together(requests.into()).await;
        let winner = expect_one_success(&answers);
        answers[1 - winner].clone().expect_error(400, "invalid_link");
        let lost = ["left", "right"][1 - winner];
        assert!(app.auth.tenant(&format!("{lost}-{round}").parse().expect("a slug")).await.is_err(), "half of one was made");
    }
}

async fn of_two_completions_by_one_account_one_succeeds(app: &App) {
    let other = second_server(app).await;
    for round in 0..rounds() {
        forget_rates(app).await;
        let token = sign_up_token(app, app.member().email()).await;
        let requests = [(app, "left"), (&other, "right")];
        let requests = requests.map(|(app, side)| complete(&nobody(app), holder(&token, &format!("{side}-{round}"))));
        let answers = together(requests.into()).await;
        let winner = expect_one_success(&answers);
        answers[1 - winner].clone().expect_error(400, "invalid_link");
    }
}

async fn of_two_completions_for_an_account_never_proved_one_succeeds(app: &App) {
    let other = second_server(app).await;
    for round in 0..rounds().min(25) {
        forget_rates(app).await;
        let nora = app.other_org().new_member(&format!("N{round} Nora")).await;
        let token = sign_up_token(app, nora.email()).await;
        let requests = [(app, "left"), (&other, "right")];
        let requests = requests.map(|(app, side)| complete(&nobody(app), newcomer(&token, &format!("{side}-{round}"))));
        let answers = together(requests.into()).await;
        let winner = expect_one_success(&answers);
        assert_eq!(answers[winner].data()["user"]["id"], nora.id());
        answers[1 - winner].clone().expect_error(400, "invalid_link");
    }
}

/// Both links reached the owner of the address. Whichever is used first takes the account over; the other ends nothing of it.
async fn a_sign_up_beside_an_invite_takes_the_account_over_or_nothing(app: &App) {
    let other = second_server(app).await;
    let admin = app.admin().logged_in().await;
    for round in 0..rounds().min(25) {
        forget_rates(app).await;
        let nora = app.other_org().new_member(&format!("N{round} Nora")).await.logged_in().await;
        let (token, invite) = (sign_up_token(app, nora.email()).await, app.invited(&admin, nora.email()).await);
        let (founder, guest) = (nobody(&other), app.org().device_of(nora.person()));
        let slug = format!("rockets-{round}");
        let answers = together(vec![complete(&founder, newcomer(&token, &slug)), guest.accept_with_account(&invite)]).await;
        answers[1].clone().expect(200);
        guest.get("/org").await.expect(200);
        nora.get("/org").await.expect_no_session();
        match answers[0].status {
            201 => drop(founder.at_org(&slug).get("/org").await.expect(200)),
            _ => drop(answers[0].clone().expect_error(409, "account_exists")),
        }
    }
}

async fn of_two_people_who_want_a_slug_one_gets_it(app: &App) {
    let other = second_server(app).await;
    for round in 0..rounds() {
        forget_rates(app).await;
        let (rita, rolf) = (format!("rita{round}@rockets.example"), format!("rolf{round}@rockets.example"));
        let tokens = [sign_up_token(app, &rita).await, sign_up_token(app, &rolf).await];
        let slug = format!("rockets-{round}");
        let requests =
            vec![complete(&nobody(app), newcomer(&tokens[0], &slug)), complete(&nobody(&other), newcomer(&tokens[1], &slug))];
        let answers = together(requests).await;
        let loser = 1 - expect_one_success(&answers);
        answers[loser].clone().expect_error(409, "slug_taken");
        complete(&nobody(app), newcomer(&tokens[loser], &format!("{slug}-b"))).await.expect(201);
    }
}

async fn of_many_people_as_many_sign_up_as_the_day_allows(app: &App) {
    let app = app.beside(|setup| setup.config.sign_up.per_day = 2).await;
    let other = app.beside(|setup| setup.config.sign_up.per_day = 2).await;
    for round in 0..rounds().min(25) {
        forget_rates(&app).await;
        let mut requests = Vec::new();
        for (n, server) in [&app, &other, &app, &other].into_iter().enumerate() {
            let token = sign_up_token(&app, &format!("rita{round}-{n}@rockets.example")).await;
            requests.push(complete(&nobody(server), newcomer(&token, &format!("rockets-{round}-{n}"))));
        }
        let answers = together(requests).await;
        expect_of_limit(&answers, 2);
    }
}

async fn of_many_invites_of_a_newcomer_ten_are_sent(app: &App) {
    let other = second_server(app).await;
    let rita = founded(app, "rita@rockets.example", "rockets").await;
    let beside = other.anonymous().at_org("rockets");
    beside.login_with("rita@rockets.example", PASSWORD).await.expect(200);
    for n in 0..8 {
        rita.invite(&format!("pat{n}@rockets.example")).await.expect(201);
    }
    let requests = (0..6).map(|n| if n % 2 == 0 { &rita } else { &beside }.invite(&format!("max{n}@rockets.example")));
    expect_of_limit(&together(requests.collect()).await, 2);
}

/// So many succeeded, and the others met the limit.
#[track_caller]
fn expect_of_limit(answers: &[Response], most: usize) {
    let (made, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 201);
    let shown: Vec<String> = answers.iter().map(Response::shown).collect();
    assert_eq!(made.len(), most, "{shown:#?}");
    assert!(refused.iter().all(|answer| answer.status == 429), "{shown:#?}");
}

async fn a_login_beside_the_judgement_keeps_it_or_finds_it_closed(app: &App) {
    let other = second_server(app).await;
    for round in 0..rounds().min(25) {
        forget_rates(app).await;
        let (email, slug) = (format!("rita{round}@rockets.example"), format!("rockets-{round}"));
        founded(app, &email, &slug).await;
        app.advance(14 * DAY);
        let rita = app.anonymous().at_org(&slug);
        let login = rita.login_with(&email, PASSWORD).into_future();
        let (login, judged) = tokio::join!(login, ticking(&other));
        judged.expect("it ran").expect("it works");
        app.tick().await;
        let all = app.auth.operator().organizations().await.expect("a list");
        let org = all.into_iter().find(|org| org.slug.as_str() == slug).expect("it is there");
        match login.status {
            200 => assert_eq!((org.status, org.deletes_at), (Status::Active, None), "round {round}"),
            _ => {
                login.expect_error(403, "suspended");
                assert!(org.deletes_at.is_some(), "round {round}");
            }
        }
    }
}
