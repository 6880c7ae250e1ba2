//! The operator's way back for an account that was taken over: `user set-email` gives it another address, and whoever proves that has it.

use std::sync::Arc;

use serde_json::json;
use tenant_auth_conformance::{App, Caller, GatedHasher, PASSWORD, scenarios};
use tenant_auth_core::{Error, operator::GivenAddress, value::Email};

use super::operators::{appoint, with_operators};
use crate::suite::support::{
    account::{NEW, guard, in_both, mailed_token},
    authenticator::SecondFactor,
    hooks::texts_in,
    stored::{events_of, operators},
};

scenarios![
    a_given_address_shuts_everybody_out,
    a_login_held_while_an_address_is_given_comes_to_nothing,
    whoever_proves_a_given_address_has_the_account,
    a_given_address_ends_the_right_of_an_operator_with_its_proof,
    where_an_account_was_known_is_forgotten_with_its_address,
    the_same_address_can_be_given_again,
    a_given_address_is_told_of,
    without_an_active_organization_no_link_is_mailed,
    an_address_is_given_to_one_account_alone,
    of_two_addresses_given_at_once_one_holds,
];

/// An address that the operator knows to be the owner's.
const OWNERS: &str = "owner@acme.example";

fn parsed(address: &str) -> Email {
    address.parse().expect("an address")
}

async fn give_address(app: &App, person: &Caller) -> GivenAddress {
    app.auth.operator().set_email(&parsed(person.email()), &parsed(OWNERS)).await.expect("it is nobody's")
}

/// Chooses a password by the link that was mailed to an address.
async fn choose_password(app: &App, address: &str) {
    let token = mailed_token(app, address, "reset").await;
    app.anonymous().post("/auth/reset-password", json!({ "token": token, "newPassword": NEW })).await.expect(200);
}

async fn a_given_address_shuts_everybody_out(app: &App) {
    let (here, there) = in_both(app).await;
    let guarded = guard(app, &here).await;
    let waiting = app.member().waiting().await;
    app.anonymous().post("/auth/forgot-password", json!({ "email": here.email() })).await.expect(200);
    let reset = mailed_token(app, here.email(), "reset").await;
    let user = give_address(app, &here).await.user;
    assert_eq!((user.id.as_str(), user.email.as_str(), user.is_email_verified), (here.id(), OWNERS, false));
    for ended in [&here, &there] {
        ended.get("/org").await.expect_no_session();
        ended.refresh().await.expect_no_session();
    }
    waiting.enter(&guarded.fresh_code(app)).await.expect_error(401, "second_factor_failed");
    for known in [here.email(), OWNERS] {
        app.anonymous().login_with(known, PASSWORD).await.expect_error(401, "invalid_credentials");
    }
    let again = json!({ "token": reset, "newPassword": NEW });
    app.anonymous().post("/auth/reset-password", again).await.expect_error(400, "invalid_link");
    app.admin().logged_in().await.get("/org").await.expect(200);
}

async fn a_login_held_while_an_address_is_given_comes_to_nothing(app: &App) {
    let hasher = GatedHasher::new();
    let gated = app.beside(|setup| setup.hasher = Some(Arc::clone(&hasher) as _)).await;
    let intruder = gated.member();
    let answer = hasher
        .meanwhile(intruder.login(), async {
            give_address(app, &app.member()).await;
        })
        .await;
    answer.expect_error(401, "invalid_credentials");
    intruder.get("/org").await.expect_no_session();
}

async fn whoever_proves_a_given_address_has_the_account(app: &App) {
    let member = app.member().logged_in().await;
    guard(app, &member).await;
    assert!(give_address(app, &member).await.is_link_mailed);
    choose_password(app, OWNERS).await;
    let session = app.anonymous().login_with(OWNERS, NEW).await.expect_ok();
    assert_eq!((&session["user"]["id"], &session["user"]["isEmailVerified"]), (&member.id().into(), &true.into()), "{session}");
}

async fn a_given_address_ends_the_right_of_an_operator_with_its_proof(app: &App) {
    let app = with_operators(app).await;
    appoint(&app, &app.member()).await;
    give_address(&app, &app.member()).await;
    assert_eq!(operators(&app).await, [OWNERS]);
    choose_password(&app, OWNERS).await;
    assert!(operators(&app).await.is_empty());
}

/// A network that is known may guess beyond the limits that hold for strangers.
async fn where_an_account_was_known_is_forgotten_with_its_address(app: &App) {
    let known = async || texts_in(app, "SELECT account_key FROM tenant_auth_known_addresses").await;
    let before = known().await;
    let member = app.org().new_member("Nora").await.logged_in().await;
    assert!(known().await.len() > before.len(), "a login makes its network known");
    give_address(app, &member).await;
    assert_eq!(known().await.len(), before.len());
}

async fn the_same_address_can_be_given_again(app: &App) {
    let member = app.member().logged_in().await;
    guard(app, &member).await;
    let own = parsed(member.email());
    let given = app.auth.operator().set_email(&own, &own).await.expect("it is the account's");
    assert_eq!((given.user.email.as_str(), given.user.is_email_verified), (member.email(), false));
    member.get("/org").await.expect_no_session();
    app.anonymous().login_with(member.email(), PASSWORD).await.expect_error(401, "invalid_credentials");
    choose_password(app, member.email()).await;
    let session = app.anonymous().login_with(member.email(), NEW).await.expect_ok();
    assert_eq!(session["user"]["id"], member.id(), "no second factor is asked for: {session}");
}

async fn a_given_address_is_told_of(app: &App) {
    let member = app.member().logged_in().await;
    give_address(app, &member).await;
    let mails = app.mail_to(member.email()).await;
    assert!(mails.iter().all(|mail| mail.subject != "Your email address was changed"), "the intruder reads these: {mails:?}");
    let events = events_of(app, "acme").await;
    let told = events.iter().rfind(|event| event["type"] == "user.updated").expect("it is told");
    assert_eq!((&told["actor"]["type"], &told["data"]["user"]["id"]), (&"system".into(), &member.id().into()), "{told}");
    assert_eq!(
        (&told["data"]["user"]["email"], &told["data"]["user"]["isEmailVerified"]),
        (&OWNERS.into(), &false.into()),
        "{told}"
    );
    let ended = events.iter().rfind(|event| event["type"] == "session.revoked").expect("it is told");
    assert_eq!(ended["data"]["reason"], "email", "{ended}");
}

async fn without_an_active_organization_no_link_is_mailed(app: &App) {
    app.org().suspend().await;
    assert!(!give_address(app, &app.member()).await.is_link_mailed);
    assert!(app.mail_to(OWNERS).await.is_empty());
    app.org().reactivate().await;
    app.anonymous().post("/auth/forgot-password", json!({ "email": OWNERS })).await.expect(200);
    choose_password(app, OWNERS).await;
    app.anonymous().login_with(OWNERS, NEW).await.expect(200);
}

async fn an_address_is_given_to_one_account_alone(app: &App) {
    let (member, admin) = (app.member().logged_in().await, app.admin().logged_in().await);
    let operator = app.auth.operator();
    let [members, admins] = [&member, &admin].map(|person| parsed(person.email()));
    assert!(matches!(operator.set_email(&members, &admins).await, Err(Error::EmailTaken)));
    assert!(matches!(operator.set_email(&parsed("nobody@acme.example"), &parsed(OWNERS)).await, Err(Error::NotFound(_))));
    for untouched in [&member, &admin] {
        untouched.get("/org").await.expect(200);
        untouched.elsewhere().login().await.expect(200);
    }
}

async fn of_two_addresses_given_at_once_one_holds(app: &App) {
    let (operator, from) = (app.auth.operator(), parsed(app.member().email()));
    let (one, other) = (parsed(OWNERS), parsed("another@acme.example"));
    let (first, second) = tokio::join!(operator.set_email(&from, &one), operator.set_email(&from, &other));
    let given = match (first, second) {
        (Ok(given), Err(Error::NotFound(_))) | (Err(Error::NotFound(_)), Ok(given)) => given,
        both => panic!("{both:?}"),
    };
    choose_password(app, given.user.email.as_str()).await;
    app.anonymous().login_with(given.user.email.as_str(), NEW).await.expect(200);
}
