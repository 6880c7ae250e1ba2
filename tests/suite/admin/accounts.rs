//! What the operator does to a person's account from the command line: taking away a second factor that was lost, and deleting the account
//! everywhere.

use serde_json::json;
use tenant_auth_conformance::{App, Caller, PASSWORD, scenarios};
use tenant_auth_core::{
    Error,
    model::Role,
    operator::{AccountState, Blocked, NewUser},
    secret::Password,
    value::Email,
};

use crate::suite::support::{
    account::{expect_no_link, guard, in_both, mailed_token},
    authenticator::SecondFactor,
    stored::forget_proof,
};

scenarios![
    a_reset_second_factor_is_asked_for_no_more,
    a_reset_second_factor_ends_every_session_everywhere,
    a_reset_second_factor_is_told_to_its_owner,
    there_is_nothing_to_reset_without_a_second_factor,
    a_deleted_person_is_gone_everywhere,
    a_deleted_persons_invites_are_revoked,
    a_deleted_persons_address_is_free_again,
    a_deleted_persons_links_are_dead,
    a_deleted_admins_keys_go_on_working,
    deleting_one_person_touches_nobody_else,
    a_stranger_cannot_be_deleted,
    an_account_is_looked_up_and_unlocked,
    a_stranger_is_neither_looked_up_nor_unlocked,
    an_organization_that_loses_its_last_admin_is_named,
];

fn address(person: &Caller) -> Email {
    person.email().parse().expect("an address")
}

async fn reset_second_factor(app: &App, person: &Caller) {
    app.auth.operator().reset_second_factor(&address(person)).await.expect("there was one");
}

async fn delete(app: &App, person: &Caller) {
    let deleted = app.auth.operator().delete_user(&address(person)).await.expect("there is an account");
    assert_eq!(deleted.user.expect("an account").id.as_str(), person.id());
}

async fn a_reset_second_factor_is_asked_for_no_more(app: &App) {
    let member = app.member().logged_in().await;
    let guarded = guard(app, &member).await;
    let waiting = app.member().waiting().await;
    reset_second_factor(app, &member).await;
    waiting.enter(&guarded.fresh_code(app)).await.expect_error(401, "second_factor_failed");
    let again = app.member().logged_in().await;
    assert_eq!(again.status().await, json!({ "enabled": false, "enabledAt": null, "recoveryCodesRemaining": 0 }));
    guard(app, &again).await;
}

async fn a_reset_second_factor_ends_every_session_everywhere(app: &App) {
    let (here, there) = in_both(app).await;
    guard(app, &here).await;
    let admin = app.admin().logged_in().await;
    reset_second_factor(app, &here).await;
    for ended in [&here, &there] {
        ended.get("/org").await.expect_no_session();
        ended.refresh().await.expect_no_session();
    }
    admin.get("/org").await.expect(200);
}

async fn a_reset_second_factor_is_told_to_its_owner(app: &App) {
    let member = app.member().logged_in().await;
    guard(app, &member).await;
    app.tick().await;
    reset_second_factor(app, &member).await;
    let mail = app.mail_to(member.email()).await.pop().expect("a mail");
    assert!(mail.subject.contains("is off"), "{}", mail.subject);
    expect_no_link(&mail);
}

async fn there_is_nothing_to_reset_without_a_second_factor(app: &App) {
    let member = app.member().logged_in().await;
    let reset = async |email: &str| app.auth.operator().reset_second_factor(&email.parse().expect("an address")).await;
    assert!(matches!(reset(member.email()).await, Err(Error::SecondFactorMissing)));
    assert!(matches!(reset("nobody@acme.example").await, Err(Error::NotFound(_))));
    member.get("/org").await.expect(200);
}

async fn a_deleted_person_is_gone_everywhere(app: &App) {
    let (here, there) = in_both(app).await;
    guard(app, &here).await;
    app.other_org().device_of(here.person()).waiting().await;
    let (admin, greta) = (app.admin().logged_in().await, app.other_org().admin().logged_in().await);
    let tokens = [here.access_token(), there.access_token()];
    delete(app, &here).await;
    assert!(!app.backend().finds_valid(&tokens[0]).await);
    assert!(!app.other_org().backend().finds_valid(&tokens[1]).await);
    for gone in [&here, &there] {
        gone.get("/org").await.expect_no_session();
        gone.refresh().await.expect_no_session();
        gone.elsewhere().login().await.expect_error(401, "invalid_credentials");
    }
    for admin in [&admin, &greta] {
        assert!(admin.member_entry(here.id()).await.is_none());
        admin.remove(here.id()).await.expect_error(404, "not_found");
    }
    app.backend().get(&format!("/public/users/{}", here.id())).await.expect_error(404, "not_found");
}

async fn a_deleted_persons_invites_are_revoked(app: &App) {
    let (dora, admin) = (app.org().new_admin("Dora").await.logged_in().await, app.admin().logged_in().await);
    let hers = app.invited(&dora, "nora@acme.example").await;
    let theirs = app.invited(&admin, "olga@acme.example").await;
    dora.invite("waiting@acme.example").await.expect(201);
    delete(app, &dora).await;
    let pending = admin.pending_invites().await;
    assert_eq!((pending.len(), &pending[0]["email"]), (1, &"olga@acme.example".into()), "{pending:?}");
    app.anonymous().accept(&hers, "Nora").await.expect(400);
    app.anonymous().preview(&hers).await.expect(400);
    assert!(app.mail_to("waiting@acme.example").await.is_empty(), "a mail that was not sent yet is none any more");
    app.anonymous().accept(&theirs, "Olga").await.expect(200);
    admin.invite("nora@acme.example").await.expect(201);
}

async fn a_deleted_persons_address_is_free_again(app: &App) {
    let member = app.member();
    let admin = app.admin().logged_in().await;
    delete(app, &member).await;
    let token = app.invited(&admin, member.email()).await;
    assert_eq!(app.anonymous().preview(&token).await.expect_ok()["invite"]["accountExists"], false);
    let again = app.anonymous();
    let data = again.accept(&token, "Max the Second").await.expect_ok();
    assert_ne!(data["user"]["id"], member.id());
    app.member().login().await.expect(200);
    let new = NewUser {
        email: "mia@acme.example".parse().expect("an address"),
        name: "Mia".parse().expect("a name"),
        role: Role::Member,
        password: Password::new(PASSWORD),
    };
    let operator = app.auth.operator();
    operator.create_user(&"acme".parse().expect("a slug"), new).await.expect("she is new");
    operator.delete_user(&"MIA@acme.example".parse().expect("an address")).await.expect("she is there");
}

async fn a_deleted_persons_links_are_dead(app: &App) {
    let member = app.member().logged_in().await;
    forget_proof(app, member.id()).await;
    app.anonymous().post("/auth/forgot-password", json!({ "email": member.email() })).await.expect(200);
    let reset = mailed_token(app, member.email(), "reset").await;
    member.post_nothing("/auth/verify-email/send").await.expect(200);
    let verify = mailed_token(app, member.email(), "verify").await;
    app.anonymous().post("/auth/forgot-password", json!({ "email": member.email() })).await.expect(200);
    delete(app, &member).await;
    let again = json!({ "token": reset, "newPassword": "velvet-anchor-93-comet" });
    app.anonymous().post("/auth/reset-password", again).await.expect_error(400, "invalid_link");
    let proof = json!({ "token": verify, "password": PASSWORD });
    app.anonymous().post("/auth/verify-email", proof).await.expect_error(400, "invalid_link");
    let before = app.mail_to(member.email()).await.len();
    assert_eq!(before, 2, "a wish that nobody fulfilled yet is forgotten");
}

async fn a_deleted_admins_keys_go_on_working(app: &App) {
    let dora = app.org().new_admin("Dora").await.logged_in().await;
    let (_, key) = dora.created_key(json!({ "name": "Hers" })).await;
    delete(app, &dora).await;
    assert!(app.key_works(&key).await, "a key is the organization's");
    let admin = app.admin().logged_in().await;
    assert_eq!(admin.api_keys().await.len(), 2);
}

async fn deleting_one_person_touches_nobody_else(app: &App) {
    let (admin, gus) = (app.admin().logged_in().await, app.other_org().member().logged_in().await);
    delete(app, &app.member()).await;
    for untouched in [&admin, &gus] {
        untouched.get("/org").await.expect(200);
        untouched.refresh().await.expect(200);
    }
    assert_eq!(admin.members().await.len(), 1);
}

async fn an_organization_that_loses_its_last_admin_is_named(app: &App) {
    let dora = app.org().new_admin("Dora").await;
    let without = async |person: &Caller| {
        let deleted = app.auth.operator().delete_user(&address(person)).await.expect("there is an account");
        deleted.without_admin.into_iter().map(|slug| slug.to_string()).collect::<Vec<_>>()
    };
    assert!(without(&dora).await.is_empty(), "there is another");
    assert!(without(&app.member()).await.is_empty());
    assert_eq!(without(&app.admin()).await, ["acme"]);
    let gus = app.other_org().member();
    assert!(without(&gus).await.is_empty());
}

async fn a_stranger_cannot_be_deleted(app: &App) {
    let nobody = "nobody@acme.example".parse().expect("an address");
    assert!(matches!(app.auth.operator().delete_user(&nobody).await, Err(Error::NotFound(_))));
}

async fn state_of(app: &App, person: &Caller) -> AccountState {
    app.auth.operator().account(&address(person)).await.expect("there is an account")
}

/// What blocks an account is seen and ended by whoever helps its owner; its password and its second factor go on as they were.
async fn an_account_is_looked_up_and_unlocked(app: &App) {
    let (here, _there) = in_both(app).await;
    let guarded = guard(app, &here).await;
    let state = state_of(app, &here).await;
    assert_eq!((state.user.id.as_str(), state.has_second_factor, state.recovery_codes_remaining), (here.id(), true, 10));
    assert_eq!((state.memberships.len(), state.sessions, state.blocks.len()), (2, 1, 0), "{state:?}");
    assert!(state.memberships.iter().any(|membership| membership.slug.as_str() == "acme" && membership.role == Role::Member));

    // Two waiting logins of five tries each.
    for _ in 0..2 {
        let waiting = app.member().waiting().await;
        for _ in 0..5 {
            waiting.enter("000000").await.expect_error(401, "second_factor_failed");
        }
    }
    app.member().waiting().await.enter(&guarded.fresh_code(app)).await.expect_error(429, "rate_limited");
    for _ in 0..5 {
        app.anonymous().login_with(here.email(), "not-the-password").await.expect_error(401, "invalid_credentials");
    }
    app.member().login().await.expect_error(429, "rate_limited");
    let mut blocked: Vec<Blocked> = state_of(app, &here).await.blocks.iter().map(|block| block.of).collect();
    blocked.sort_by_key(|blocked| blocked.as_str());
    assert_eq!(blocked, [Blocked::Codes, Blocked::PasswordsOfNetwork]);

    app.auth.operator().unlock(&address(&here)).await.expect("there is an account");
    assert_eq!(state_of(app, &here).await.blocks, []);
    app.member().waiting().await.enter(&guarded.fresh_code(app)).await.expect(200);
}

async fn a_stranger_is_neither_looked_up_nor_unlocked(app: &App) {
    let nobody: Email = "nobody@acme.example".parse().expect("an address");
    assert!(matches!(app.auth.operator().account(&nobody).await, Err(Error::NotFound(_))));
    assert!(matches!(app.auth.operator().unlock(&nobody).await, Err(Error::NotFound(_))));
}
