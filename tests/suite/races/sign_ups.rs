//! Races of sign-up: a link makes one organization, and a slug is given once.

use tenant_auth_conformance::{App, rounds, scenarios, together};

use super::{expect_one_success, second_server};
use crate::suite::{
    auth::sign_up::{complete, holder, newcomer, nobody, sign_up_token},
    support::stored::forget_rates,
};

scenarios![on each database:
    of_two_completions_of_one_link_one_succeeds,
    of_two_completions_by_one_account_one_succeeds,
    of_two_people_who_want_a_slug_one_gets_it,
];

async fn of_two_completions_of_one_link_one_succeeds(app: &App) {
    let other = second_server(app).await;
    for round in 0..rounds() {
        forget_rates(app).await;
        let token = sign_up_token(app, &format!("rita{round}@rockets.example")).await;
        let requests = [(app, "left"), (&other, "right")];
        let requests = requests.map(|(app, side)| complete(&nobody(app), newcomer(&token, &format!("{side}-{round}"))));
        let answers = together(requests.into()).await;
        let winner = expect_one_success(&answers);
        assert!(matches!(answers[1 - winner].status, 400 | 409), "{}", answers[1 - winner].shown());
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
