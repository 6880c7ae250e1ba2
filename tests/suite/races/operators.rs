//! Races of operators: a slug is given once, and what an operator writes while losing the right comes before the loss or to nothing.

use std::future::IntoFuture;

use serde_json::{Value, json};
use tenant_auth_conformance::{App, PASSWORD, rounds, scenarios, together};

use super::{expect_one_success, second_server};
use crate::suite::{
    admin::operators::{appoint, dismiss, operator},
    support::{authenticator::SecondFactor, stored},
};

scenarios![on each database:
    of_two_organizations_with_one_slug_one_is_made,
    a_dismissed_operators_write_came_before_or_not_at_all,
    a_write_while_the_second_factor_is_removed_came_before_or_not_at_all,
    a_write_while_logging_out_came_before_or_not_at_all,
];

async fn of_two_organizations_with_one_slug_one_is_made(app: &App) {
    let (app, ada, _) = operator(app).await;
    let other = second_server(&app).await;
    for round in 0..rounds() {
        let slug = format!("new-{round}");
        let make = |name: &str| json!({ "name": name, "slug": slug, "adminEmail": format!("{name}@new.example") });
        let requests = ["one", "two", "three"].map(|name| ada.post("/admin/organizations", make(name)));
        let [one, two, three] = requests;
        let answers = together(vec![one, ada.via(&other).post("/admin/organizations", make("two")), two, three]).await;
        let winner = expect_one_success(&answers);
        for (place, answer) in answers.into_iter().enumerate() {
            if place != winner {
                answer.expect_error(409, "slug_taken");
            }
        }
        assert_eq!(stored::events_of(&app, &slug).await.len(), 1, "the others' invites came to nothing");
    }
}

/// Where the newest event of this kind stands in the order of all that happened in `acme`.
async fn newest(app: &App, kind: &str) -> Option<i64> {
    let told = stored::events_of(app, "acme").await;
    told.iter().rev().find(|event| event["type"] == kind).and_then(|event| event["sequence"].as_i64())
}

async fn named(app: &App) -> Value {
    app.member().logged_in().await.get("/org").await.expect_ok()["org"]["name"].clone()
}

/// The write is about the operators' own organization, whose events then tell what came first.
async fn a_dismissed_operators_write_came_before_or_not_at_all(app: &App) {
    let (app, ada, _) = operator(app).await;
    let other = second_server(&app).await;
    for round in 0..rounds() {
        let name = format!("Round {round}");
        let write = ada.via(&other).patch("/admin/organizations/acme", json!({ "name": name })).into_future();
        let (answer, ()) = tokio::join!(tokio::spawn(write), dismiss(&app, &ada));
        let answer = answer.expect("it was answered");
        match answer.status {
            200 => {
                assert_eq!(named(&app).await, name, "acknowledged, so it is there");
                assert!(newest(&app, "org.updated").await < newest(&app, "user.updated").await, "it came before the dismissal");
            }
            403 => assert_ne!(named(&app).await, name, "refused, so it is not"),
            _ => panic!("{}", answer.shown()),
        }
        appoint(&app, &ada).await;
    }
}

async fn a_write_while_logging_out_came_before_or_not_at_all(app: &App) {
    let (app, mut ada, authenticator) = operator(app).await;
    let other = second_server(&app).await;
    for round in 0..rounds().min(20) {
        let name = format!("Round {round}");
        let write = ada.copied().via(&other).patch("/admin/organizations/acme", json!({ "name": name }));
        let answers = together(vec![write, ada.logout()]).await;
        answers[1].clone().expect(200);
        let logged_out = newest(&app, "session.revoked").await;
        match answers[0].status {
            200 => {
                assert_eq!(named(&app).await, name);
                assert!(newest(&app, "org.updated").await < logged_out);
            }
            401 => assert_ne!(named(&app).await, name),
            _ => panic!("{}", answers[0].shown()),
        }
        ada = app.admin().through(&app, &authenticator).await;
    }
}

async fn a_write_while_the_second_factor_is_removed_came_before_or_not_at_all(app: &App) {
    let (app, mut ada, mut authenticator) = operator(app).await;
    for round in 0..rounds().min(20) {
        app.advance(30);
        let name = format!("Round {round}");
        let write = ada.patch("/admin/organizations/acme", json!({ "name": name }));
        let answers = together(vec![write, ada.disable(PASSWORD, &authenticator.code(&app))]).await;
        answers[1].clone().expect(200);
        match answers[0].status {
            200 => {
                assert_eq!(named(&app).await, name);
                assert!(newest(&app, "org.updated").await < newest(&app, "user.two_factor_disabled").await);
            }
            403 => assert_ne!(named(&app).await, name),
            _ => panic!("{}", answers[0].shown()),
        }
        authenticator = ada.guard(&app).await;
        ada = app.admin().through(&app, &authenticator).await;
    }
}
