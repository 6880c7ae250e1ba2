//! Races, on each database, between two servers of one deployment: requests leave at the same moment, over and over, and what must
//! hold afterwards holds every time. Rounds are set by `TENANT_AUTH_RACE_ROUNDS`.

mod admins;
mod deletion;
mod in_flight;
mod invites;
mod logins;
mod operators;
mod sessions;
mod sign_ups;

use tenant_auth_conformance::{App, Response};

/// Another server over the same database, with pools of its own, as in another process.
async fn second_server(app: &App) -> App {
    app.beside(|_| {}).await
}

/// The place of the only answer that is a success.
#[track_caller]
fn expect_one_success(answers: &[Response]) -> usize {
    let won: Vec<usize> = (0..answers.len()).filter(|n| answers[*n].status < 300).collect();
    let shown: Vec<String> = answers.iter().map(Response::shown).collect();
    assert_eq!(won.len(), 1, "{shown:#?}");
    won[0]
}
