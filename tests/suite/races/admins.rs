//! Races between admins: one active admin is always left, and a write by an admin who is losing the right fails or came before.

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, Request, id_of, rounds, scenarios, together};

use super::{expect_one_success, second_server};
use crate::suite::support::stored::forget_rates;

scenarios![on each database:
    two_admins_removing_each_other_leave_exactly_one,
    two_admins_demoting_each_other_leave_exactly_one,
    two_admins_suspending_each_other_leave_exactly_one,
    the_last_two_admins_stepping_down_leave_exactly_one,
    the_last_two_admins_leaving_leave_exactly_one,
    a_removed_admins_write_happened_before_or_not_at_all,
    a_demoted_admins_key_was_made_before_or_not_at_all,
    one_key_is_rotated_once,
    the_limit_of_keys_holds,
];

/// The active org_admins, as a plain member sees them.
async fn active_admins(witness: &Caller) -> Vec<Value> {
    let members = witness.members().await;
    members.into_iter().filter(|entry| entry["role"] == "org_admin" && entry["status"] == "active").collect()
}

/// Two admins act at once; one succeeds, and exactly one active admin is left. The winner meets a new deputy in the next round.
async fn duel(app: &App, act: impl Fn(&Caller, &Caller) -> Request, left: impl Fn(usize) -> usize) {
    let other = second_server(app).await;
    let witness = app.member().logged_in().await;
    let mut champion = app.admin().logged_in().await;
    for round in 0..rounds() {
        let deputy = app.org().new_admin(&format!("Dora{round}")).await.via(&other).logged_in().await;
        let fighters = [champion.clone(), deputy];
        let answers = together(vec![act(&fighters[0], &fighters[1]), act(&fighters[1], &fighters[0])]).await;
        let survivor = left(expect_one_success(&answers));
        let admins = active_admins(&witness).await;
        assert_eq!(admins.len(), 1, "{admins:?}");
        assert_eq!(admins[0]["userId"], fighters[survivor].id());
        champion = fighters[survivor].clone();
        champion.get("/org/invites").await.expect(200);
    }
}

async fn two_admins_removing_each_other_leave_exactly_one(app: &App) {
    duel(app, |me, them| me.remove(them.id()), |winner| winner).await;
}

async fn two_admins_demoting_each_other_leave_exactly_one(app: &App) {
    duel(app, |me, them| me.set_role(them.id(), "member"), |winner| winner).await;
}

async fn two_admins_suspending_each_other_leave_exactly_one(app: &App) {
    duel(app, |me, them| me.set_status(them.id(), "suspended"), |winner| winner).await;
}

async fn the_last_two_admins_stepping_down_leave_exactly_one(app: &App) {
    duel(app, |me, _| me.set_role(me.id(), "member"), |winner| 1 - winner).await;
}

async fn the_last_two_admins_leaving_leave_exactly_one(app: &App) {
    duel(app, |me, _| me.post_nothing("/org/leave"), |winner| 1 - winner).await;
}

async fn a_removed_admins_write_happened_before_or_not_at_all(app: &App) {
    let other = second_server(app).await;
    let (admin, target) = (app.admin().logged_in().await, app.member());
    for round in 0..rounds() {
        let deputy = app.org().new_admin(&format!("Dora{round}")).await.via(&other).logged_in().await;
        let (before, after) = (json!({ "round": round }), json!({ "round": round, "by": "deputy" }));
        admin.set_metadata(target.id(), before.clone()).await.expect(200);
        let answers = together(vec![deputy.set_metadata(target.id(), after.clone()), admin.remove(deputy.id())]).await;
        answers[1].clone().expect(200);
        let written = admin.member_entry(target.id()).await.expect("a member")["metadata"].clone();
        match answers[0].status {
            200 => assert_eq!(written, after, "acknowledged, so it is there"),
            401 | 403 => assert_eq!(written, before, "refused, so it is not"),
            _ => panic!("{}", answers[0].shown()),
        }
    }
}

async fn a_demoted_admins_key_was_made_before_or_not_at_all(app: &App) {
    let other = second_server(app).await;
    let admin = app.admin().logged_in().await;
    let deputy = app.org().new_admin("Dora").await.via(&other).logged_in().await;
    for _ in 0..rounds() {
        let answers = together(vec![deputy.create_key("Dora's"), admin.set_role(deputy.id(), "member")]).await;
        answers[1].clone().expect(200);
        let keys = admin.get("/org/api-keys").await.expect_ok()["apiKeys"].as_array().expect("a list").clone();
        let theirs: Vec<&Value> = keys.iter().filter(|key| key["createdBy"] == deputy.id()).collect();
        match answers[0].status {
            201 => assert_eq!(theirs.len(), 1),
            403 => assert!(theirs.is_empty()),
            _ => panic!("{}", answers[0].shown()),
        }
        for key in theirs {
            admin.delete(&format!("/org/api-keys/{}", id_of(key))).await.expect(200);
        }
        admin.set_role(deputy.id(), "org_admin").await.expect(200);
        forget_rates(app).await;
    }
}

async fn one_key_is_rotated_once(app: &App) {
    let other = second_server(app).await;
    let admin = app.admin().logged_in().await;
    let mut id = app.org().api_key_id().to_owned();
    for _ in 0..rounds() {
        let rotate = |caller: &Caller| caller.post(&format!("/org/api-keys/{id}/rotate"), json!({ "overlapSeconds": 0 }));
        let answers = together(vec![rotate(&admin), rotate(&admin.via(&other))]).await;
        let winner = expect_one_success(&answers);
        id = id_of(&answers[winner].data()["apiKey"]).to_owned();
    }
}

async fn the_limit_of_keys_holds(app: &App) {
    let other = second_server(app).await;
    let admin = app.admin().logged_in().await;
    for n in 2..20 {
        admin.create_key(&format!("Key {n}")).await.expect(201);
    }
    for _ in 0..rounds() {
        let answers =
            together(vec![admin.create_key("Last"), admin.via(&other).create_key("Last"), admin.create_key("Last")]).await;
        let winner = expect_one_success(&answers);
        let id = id_of(&answers[winner].data()["apiKey"]).to_owned();
        admin.delete(&format!("/org/api-keys/{id}")).await.expect(200);
    }
}
