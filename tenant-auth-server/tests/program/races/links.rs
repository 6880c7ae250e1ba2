//! Links in mails: an invite and a reset, each opened by two at once. Links are asked for some at a time, because a look into the
//! outbox costs more than a round.

use serde_json::json;
use tenant_auth_core::model::Role;

use super::{Deployment, Tally, both, one_success, rounds};

/// Links that are asked for together.
const AT_ONCE: usize = 25;

/// Two accept an invite to a new address.
pub(super) async fn an_invite_is_accepted_once(deployment: &Deployment, tally: &mut Tally) {
    let admin = deployment.person(Role::OrgAdmin).await;
    for round in 0..rounds() {
        deployment.forget_counts(round, AT_ONCE);
        let email = |round: usize| format!("nora{round}@acme.example");
        if round.is_multiple_of(AT_ONCE) {
            for guest in round..rounds().min(round + AT_ONCE) {
                admin.invite(&email(guest)).await.expect(201);
            }
        }
        let email = email(round);
        let token = deployment.mailed_token(&email).await;
        let guests = [0, 1].map(|side| deployment.caller(side));
        let answers = both(guests[0].accept(&token, "Nora"), guests[1].accept(&token, "Mallory")).await;
        let (winner, loser) = one_success(&answers);
        assert!(matches!(loser.status, 400 | 409) && loser.cookies().is_empty(), "{}", loser.shown());
        tally.count_winner(winner);
        guests[winner].at_address(deployment.address(1 - winner)).get("/org").await.expect(200);
        let name = ["Nora", "Mallory"][winner];
        let found = admin.get(&format!("/org/members?q={email}")).await.expect_ok()["members"].clone();
        assert_eq!((found.as_array().map(Vec::len), &found[0]["name"]), (Some(1), &name.into()), "{found}");
    }
}

/// Two set a password by one link.
pub(super) async fn a_reset_link_resets_once(deployment: &Deployment, tally: &mut Tally) {
    let mut people = Vec::new();
    for _ in 0..rounds().min(AT_ONCE) {
        people.push(deployment.person(Role::Member).await);
    }
    for round in 0..rounds() {
        deployment.forget_counts(round, AT_ONCE);
        if round.is_multiple_of(AT_ONCE) {
            for person in people.iter().take(rounds() - round) {
                deployment.caller(1).post("/auth/forgot-password", json!({ "email": person.email() })).await.expect(200);
            }
        }
        let person = &people[round % AT_ONCE];
        let token = deployment.mailed_token(person.email()).await;
        let passwords = [format!("velvet-anchor-{round}-comet"), format!("granite-lantern-{round}-reef")];
        let reset = |side: usize| {
            let body = json!({ "token": token, "newPassword": passwords[side] });
            deployment.caller(side).post("/auth/reset-password", body)
        };
        let answers = both(reset(0), reset(1)).await;
        let (winner, loser) = one_success(&answers);
        loser.clone().expect_error(400, "invalid_link");
        tally.count_winner(winner);
        let login = |side: usize, password: &str| deployment.caller(side).login_with(person.email(), password);
        login(1 - winner, &passwords[winner]).await.expect(200);
        login(winner, &passwords[1 - winner]).await.expect_error(401, "invalid_credentials");
    }
}
