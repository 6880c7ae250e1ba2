//! Races in recovery: two resets, two workers, and logins or resets that are held in the middle of their hashing while the account
//! changes. A change that ends every session also ends one whose login is in flight (behaviour.md, B38), and every write is judged
//! at its commit (behaviour.md, B20).

use std::{future::IntoFuture, sync::Arc};

use serde_json::json;
use tenant_auth_conformance::{App, Caller, GatedHasher, PASSWORD, Request, Response, rounds, scenarios, together};

use crate::suite::{
    auth::recovery::reset::{forgot, reset, reset_mails, reset_token},
    support::account::{NEW, guard, mailed_token},
};

scenarios![on each database:
    of_two_parallel_resets_one_succeeds,
    two_workers_send_no_more_than_three,
    a_login_held_during_a_reset_comes_to_nothing,
    a_login_held_during_an_email_change_comes_to_nothing,
    a_login_held_while_the_second_factor_is_enabled_comes_to_nothing,
    a_login_held_while_the_account_is_deleted_comes_to_nothing,
    a_reset_held_during_another_comes_to_nothing,
    a_reset_held_during_an_email_change_comes_to_nothing,
    a_link_mailed_during_an_email_change_resets_nothing,
    a_reset_held_until_its_link_expires_comes_to_nothing,
    a_reset_held_while_the_account_is_deleted_comes_to_nothing,
    a_change_of_address_held_during_a_logout_comes_to_nothing,
    a_change_of_address_held_during_a_removal_comes_to_nothing,
];

/// A second server whose hashing can be held.
async fn gated(app: &App) -> (App, Arc<GatedHasher>) {
    let hasher = GatedHasher::new();
    (app.beside(|setup| setup.hasher = Some(Arc::clone(&hasher) as _)).await, hasher)
}

/// A request sent meanwhile, which must succeed.
async fn done(request: Request) {
    request.into_future().await.expect(200);
}

async fn deleted(app: &App, person: &Caller) {
    app.auth.operator().delete_user(&person.email().parse().expect("an address")).await.expect("there is an account");
}

/// With any answer, the login opened no session.
async fn expect_dead(app: &App, thief: &Caller, answer: Response) {
    if answer.status == 200 && answer.data()["requires2FA"] != true {
        thief.get("/org").await.expect_no_session();
        thief.refresh().await.expect_no_session();
        assert!(!app.backend().finds_valid(&thief.access_token()).await, "dead on arrival");
    } else {
        assert!(matches!(answer.status, 200 | 401 | 403), "{}", answer.shown());
        thief.get("/org").await.expect_no_session();
    }
}

/// A change of address that waits for its confirmation.
async fn change_token(app: &App, member: &Caller) -> String {
    let change = json!({ "newEmail": "next@elsewhere.example", "password": PASSWORD });
    member.post("/auth/change-email", change).await.expect(200);
    mailed_token(app, "next@elsewhere.example", "change-email").await
}

fn confirm(member: &Caller, token: &str) -> Request {
    member.post("/auth/change-email/confirm", json!({ "token": token }))
}

async fn of_two_parallel_resets_one_succeeds(app: &App) {
    let other = app.beside(|_| {}).await;
    let member = app.member();
    for round in 0..10 {
        app.advance(3_600);
        let token = reset_token(app, member.email()).await;
        let passwords = [format!("velvet-anchor-{round}-comet"), format!("granite-lantern-{round}-reef")];
        let requests =
            vec![reset(&app.anonymous(), &token, &passwords[0]), reset(&app.anonymous().via(&other), &token, &passwords[1])];
        let answers = together(requests).await;
        let won: Vec<usize> = (0..2).filter(|n| answers[*n].status == 200).collect();
        assert_eq!(won.len(), 1, "{} {}", answers[0].shown(), answers[1].shown());
        answers[1 - won[0]].clone().expect_error(400, "invalid_link");
        app.anonymous().login_with(member.email(), &passwords[won[0]]).await.expect(200);
        app.anonymous().login_with(member.email(), &passwords[1 - won[0]]).await.expect(401);
    }
}

async fn two_workers_send_no_more_than_three(app: &App) {
    let other = app.beside(|_| {}).await;
    for round in 0..10 {
        app.advance(3_600);
        let before = reset_mails(app, app.member().email()).await;
        for _ in 0..3 {
            together((0..2).map(|_| forgot(&app.anonymous(), app.member().email())).collect()).await;
            let late = forgot(&app.anonymous(), app.member().email());
            tokio::join!(app.tick(), other.tick(), done(late));
            tokio::join!(app.tick(), other.tick());
        }
        assert_eq!(reset_mails(app, app.member().email()).await - before, 3, "round {round}");
    }
}

async fn a_login_held_during_a_reset_comes_to_nothing(app: &App) {
    let (gated, hasher) = gated(app).await;
    let token = reset_token(app, app.member().email()).await;
    let thief = gated.member();
    let answer = hasher.meanwhile(thief.login(), done(reset(&app.anonymous(), &token, NEW))).await;
    expect_dead(app, &thief, answer).await;
}

async fn a_login_held_during_an_email_change_comes_to_nothing(app: &App) {
    let (gated, hasher) = gated(app).await;
    let owner = app.member().logged_in().await;
    let token = change_token(app, &owner).await;
    let thief = gated.member();
    let answer = hasher.meanwhile(thief.login(), done(confirm(&owner, &token))).await;
    expect_dead(app, &thief, answer).await;
    owner.get("/org").await.expect(200);
}

async fn a_login_held_while_the_second_factor_is_enabled_comes_to_nothing(app: &App) {
    let (gated, hasher) = gated(app).await;
    let owner = app.member().logged_in().await;
    let thief = gated.member();
    let answer = hasher.meanwhile(thief.login(), async { drop(guard(app, &owner).await) }).await;
    expect_dead(app, &thief, answer).await;
    owner.get("/org").await.expect(200);
}

async fn a_login_held_while_the_account_is_deleted_comes_to_nothing(app: &App) {
    let (gated, hasher) = gated(app).await;
    let thief = gated.member();
    let answer = hasher.meanwhile(thief.login(), deleted(app, &app.member())).await;
    expect_dead(app, &thief, answer).await;
}

async fn a_reset_held_during_another_comes_to_nothing(app: &App) {
    let (gated, hasher) = gated(app).await;
    let (first, second) = (reset_token(app, app.member().email()).await, reset_token(app, app.member().email()).await);
    let held = reset(&gated.anonymous(), &first, "granite-lantern-6-reef");
    let answer = hasher.meanwhile(held, done(reset(&app.anonymous(), &second, NEW))).await;
    answer.expect_error(400, "invalid_link");
    app.anonymous().login_with(app.member().email(), NEW).await.expect(200);
}

async fn a_reset_held_during_an_email_change_comes_to_nothing(app: &App) {
    let (gated, hasher) = gated(app).await;
    let owner = app.member().logged_in().await;
    let (change, link) = (change_token(app, &owner).await, reset_token(app, owner.email()).await);
    let answer = hasher.meanwhile(reset(&gated.anonymous(), &link, NEW), done(confirm(&owner, &change))).await;
    answer.expect_error(400, "invalid_link");
    owner.get("/org").await.expect(200);
    app.anonymous().login_with("next@elsewhere.example", PASSWORD).await.expect(200);
}

/// The worker may have read the account before its address changed, and write the link after.
async fn a_link_mailed_during_an_email_change_resets_nothing(app: &App) {
    let other = app.beside(|_| {}).await;
    let (mut address, mut mailed) = (app.member().email().to_owned(), 0);
    for round in 0..rounds() {
        app.advance(3_600); // so that nothing is refused for having been asked too often
        let (owner, next) = (app.member(), format!("max{round}@elsewhere.example"));
        owner.login_with(&address, PASSWORD).await.expect(200);
        let change = json!({ "newEmail": next, "password": PASSWORD });
        owner.post("/auth/change-email", change).await.expect(200);
        let token = mailed_token(app, &next, "change-email").await;
        forgot(&app.anonymous(), &address).await.expect(200);
        if round == 0 {
            other.tick().await; // so that one of the links is mailed before its address is changed
        }
        tokio::join!(other.tick(), done(confirm(&owner, &token)));
        if reset_mails(app, &address).await > 0 {
            mailed += 1;
            let link = mailed_token(app, &address, "reset").await;
            reset(&app.anonymous(), &link, NEW).await.expect_error(400, "invalid_link");
        }
        address = next;
    }
    assert!(mailed > 0, "no link was mailed");
}

async fn a_reset_held_until_its_link_expires_comes_to_nothing(app: &App) {
    let (gated, hasher) = gated(app).await;
    let token = reset_token(app, app.member().email()).await;
    let answer = hasher.meanwhile(reset(&gated.anonymous(), &token, NEW), async { app.advance(30 * 60) }).await;
    answer.expect_error(400, "invalid_link");
    app.member().login().await.expect(200);
}

async fn a_reset_held_while_the_account_is_deleted_comes_to_nothing(app: &App) {
    let (gated, hasher) = gated(app).await;
    let token = reset_token(app, app.member().email()).await;
    let answer = hasher.meanwhile(reset(&gated.anonymous(), &token, NEW), deleted(app, &app.member())).await;
    answer.expect_error(400, "invalid_link");
    app.anonymous().login_with(app.member().email(), NEW).await.expect(401);
}

async fn a_change_of_address_held_during_a_logout_comes_to_nothing(app: &App) {
    let (gated, hasher) = gated(app).await;
    let member = app.member().logged_in().await;
    let change = json!({ "newEmail": "next@elsewhere.example", "password": PASSWORD });
    let held = member.via(&gated).copied().post("/auth/change-email", change);
    hasher.meanwhile(held, done(member.logout())).await.expect_no_session();
    assert!(app.mail_to("next@elsewhere.example").await.is_empty());
    assert!(app.mail_to(member.email()).await.is_empty());
}

async fn a_change_of_address_held_during_a_removal_comes_to_nothing(app: &App) {
    let (gated, hasher) = gated(app).await;
    let (member, admin) = (app.member().logged_in().await, app.admin().logged_in().await);
    let change = json!({ "newEmail": "next@elsewhere.example", "password": PASSWORD });
    let held = member.via(&gated).post("/auth/change-email", change);
    hasher.meanwhile(held, done(admin.remove(member.id()))).await.expect_no_session();
    assert!(app.mail_to("next@elsewhere.example").await.is_empty());
}
