//! Races about invites: a token works once, an address is invited once, and no invite outlives its sender's right to send it.

use serde_json::json;
use tenant_auth_conformance::{App, PASSWORD, id_of, rounds, scenarios, together};

use super::{expect_one_success, second_server};
use crate::suite::support::stored::forget_rates;

scenarios![on each database:
    of_two_accepts_by_a_new_address_one_succeeds,
    of_two_accepts_by_an_account_one_succeeds,
    of_an_accept_and_a_revocation_one_succeeds,
    an_accept_while_the_account_changes_its_address_leaves_no_session,
    an_address_is_invited_once,
    a_removed_admins_invites_are_revoked_even_if_sent_meanwhile,
];

async fn of_two_accepts_by_a_new_address_one_succeeds(app: &App) {
    let other = second_server(app).await;
    let admin = app.admin().logged_in().await;
    for round in 0..rounds() {
        let email = format!("nora{round}@acme.example");
        let token = app.invited(&admin, &email).await;
        let guests = [app.anonymous(), app.anonymous().via(&other)];
        let winner = expect_one_success(&together(guests.iter().map(|guest| guest.accept(&token, "Nora")).collect()).await);
        guests[winner].get("/org").await.expect(200);
        let same = admin.members().await.into_iter().filter(|entry| entry["email"] == email.as_str()).count();
        assert_eq!(same, 1);
    }
}

async fn of_two_accepts_by_an_account_one_succeeds(app: &App) {
    let other = second_server(app).await;
    let (admin, gus) = (app.admin().logged_in().await, app.other_org().member());
    for _ in 0..rounds() {
        forget_rates(app).await;
        let token = app.invited(&admin, gus.email()).await;
        let devices = [app.org().device_of(gus.person()), app.org().device_of(gus.person()).via(&other)];
        let answers = together(devices.iter().map(|device| device.accept_with_account(&token)).collect()).await;
        let winner = expect_one_success(&answers);
        assert!(matches!(answers[1 - winner].status, 400 | 409), "{}", answers[1 - winner].shown());
        devices[winner].get("/org").await.expect(200);
        admin.remove(gus.id()).await.expect(200);
    }
}

async fn of_an_accept_and_a_revocation_one_succeeds(app: &App) {
    let other = second_server(app).await;
    let admin = app.admin().logged_in().await;
    for round in 0..rounds() {
        let email = format!("nora{round}@acme.example");
        let token = app.invited(&admin, &email).await;
        let id = id_of(&admin.pending_invites().await[0]).to_owned();
        let accept = app.anonymous().via(&other).accept(&token, "Nora");
        let winner = expect_one_success(&together(vec![accept, admin.delete(&format!("/org/invites/{id}"))]).await);
        let is_member = admin.members().await.iter().any(|entry| entry["email"] == email.as_str());
        assert_eq!(is_member, winner == 0);
        assert!(admin.pending_invites().await.is_empty());
    }
}

/// Either the invite was accepted first, and the change of address ended the session; or the address was not the account's any more.
async fn an_accept_while_the_account_changes_its_address_leaves_no_session(app: &App) {
    let other = second_server(app).await;
    let admin = app.admin().logged_in().await;
    let mut address = app.other_org().member().email().to_owned();
    for round in 0..rounds() {
        let (gus, next) = (app.other_org().member(), format!("gus{round}@elsewhere.example"));
        gus.login_with(&address, PASSWORD).await.expect(200);
        forget_rates(app).await;
        gus.post("/auth/change-email", json!({ "newEmail": next, "password": PASSWORD })).await.expect(200);
        let change = app.link_token_of(&next).await;
        let invite = app.invited(&admin, &address).await;
        let mailbox = app.anonymous().via(&other);
        let confirm = gus.post("/auth/change-email/confirm", json!({ "token": change }));
        let answers = together(vec![mailbox.accept_with_account(&invite), confirm]).await;
        answers[1].clone().expect(200);
        if answers[0].status == 200 {
            mailbox.get("/org").await.expect_no_session();
            admin.remove(gus.id()).await.expect(200);
        } else {
            answers[0].clone().expect(400);
        }
        address = next;
    }
}

async fn an_address_is_invited_once(app: &App) {
    let other = second_server(app).await;
    let (admin, deputy) = (app.admin().logged_in().await, app.org().new_admin("Dora").await.via(&other).logged_in().await);
    for round in 0..rounds() {
        let email = format!("nora{round}@acme.example");
        let answers = together(vec![admin.invite(&email), deputy.invite(&email), admin.invite(&email.to_uppercase())]).await;
        let winner = expect_one_success(&answers);
        for (place, answer) in answers.into_iter().enumerate().filter(|(place, _)| *place != winner) {
            assert_eq!(answer.status, 409, "{place}: {}", answer.shown());
        }
    }
}

async fn a_removed_admins_invites_are_revoked_even_if_sent_meanwhile(app: &App) {
    let other = second_server(app).await;
    let admin = app.admin().logged_in().await;
    for round in 0..rounds() {
        let deputy = app.org().new_admin(&format!("Dora{round}")).await.via(&other).logged_in().await;
        let end = match round % 3 {
            0 => admin.remove(deputy.id()),
            1 => admin.set_role(deputy.id(), "member"),
            _ => admin.set_status(deputy.id(), "suspended"),
        };
        let answers = together(vec![deputy.invite(&format!("nora{round}@acme.example")), end]).await;
        answers[1].clone().expect(200);
        let pending = admin.pending_invites().await;
        assert!(pending.is_empty(), "{pending:?} after {}", answers[0].shown());
    }
}
