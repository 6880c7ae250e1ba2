//! Signing up with an address whose account was never verified: it counts as a new one, and whoever has the link gets the account alone
//! (behaviour.md, B197 and B142). Somebody else made an account with Nora's address, as `user create` lets an operator do.

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, GatedHasher, PASSWORD, scenarios};

use super::{complete, holder, newcomer, nobody, preview, sign_up_token};
use crate::suite::{
    auth::{
        email::verify::{user, verify_token, verify_with},
        recovery::reset::{forgot, reset},
    },
    support::{
        account::{NEW, guard, mailed_token},
        authenticator::SecondFactor,
        listener::{Listener, data_of, kinds},
        stored::{events_of, forget_proof},
    },
};

scenarios![
    it_counts_as_a_new_address,
    the_account_is_handed_over,
    its_organizations_are_told_and_keep_it,
    a_refused_sign_up_takes_nothing_over,
    the_limits_of_the_account_hold,
];

scenarios![on each database:
    an_account_proved_meanwhile_is_not_taken_over,
    an_account_that_its_maker_proved_meanwhile_is_not_taken_over,
    an_account_deleted_meanwhile_gives_way_to_a_new_one,
    an_account_made_meanwhile_is_handed_over,
];

const NORA: &str = "nora@globex.example";

/// The account that somebody else made at `globex`, where they are logged in.
async fn made_by_another(app: &App) -> Caller {
    app.other_org().new_member("Nora").await.logged_in().await
}

/// What Nora herself sends.
fn nora(token: &str) -> Value {
    json!({ "token": token, "organization": { "name": "Rockets", "slug": "rockets" }, "name": "Nora Noble", "password": NEW })
}

async fn it_counts_as_a_new_address(app: &App) {
    let another = made_by_another(app).await;
    let token = sign_up_token(app, NORA).await;
    assert_eq!(preview(&nobody(app), &token).await.expect_ok(), json!({ "email": NORA, "accountExists": false }));
    complete(&nobody(app), holder(&token, "rockets")).await.expect_invalid("name");
    let device = nobody(app);
    let data = complete(&device, nora(&token)).await.expect(201).data();
    assert_eq!((&data["user"]["id"], &data["user"]["name"]), (&json!(another.id()), &json!("Nora Noble")));
    assert_eq!(data["membership"]["role"], "org_admin");
    let seen = user(&device.at_org("rockets")).await;
    assert_eq!((&seen["isEmailVerified"], &seen["name"]), (&json!(true), &json!("Nora Noble")));
    let told = events_of(app, "rockets").await;
    assert_eq!(kinds(&told), ["org.created", "member.joined", "session.created", "user.email_verified"]);
    let token = sign_up_token(app, NORA).await;
    assert_eq!(preview(&nobody(app), &token).await.expect_ok()["accountExists"], true);
}

async fn the_account_is_handed_over(app: &App) {
    let another = made_by_another(app).await;
    forgot(&app.other_org().anonymous(), NORA).await.expect(200);
    let theirs = app.link_token_of(NORA).await;
    let guarded = guard(app, &another).await;
    let waiting = app.other_org().device_of(another.person()).waiting().await;
    let token = sign_up_token(app, NORA).await;
    complete(&nobody(app), nora(&token)).await.expect(201);
    another.get("/org").await.expect_no_session();
    another.refresh().await.expect_no_session();
    assert!(!app.other_org().backend().finds_valid(&another.access_token()).await);
    waiting.enter(&guarded.fresh_code(app)).await.expect_error(401, "second_factor_failed");
    reset(&app.other_org().anonymous(), &theirs, PASSWORD).await.expect_error(400, "invalid_link");
    for slug in ["globex", "rockets"] {
        let device = app.anonymous().at_org(slug);
        device.login_with(NORA, PASSWORD).await.expect_error(401, "invalid_credentials");
        assert!(device.login_with(NORA, NEW).await.expect_ok().get("requires2FA").is_none(), "the factor was not hers");
        device.get("/org").await.expect(200);
        assert_eq!(device.status().await, json!({ "enabled": false, "enabledAt": null, "recoveryCodesRemaining": 0 }));
    }
}

async fn its_organizations_are_told_and_keep_it(app: &App) {
    let another = made_by_another(app).await;
    guard(app, &another).await;
    let greta = app.other_org().admin().logged_in().await;
    let mut listener = Listener::at(app, &greta, "globex").await;
    let token = sign_up_token(app, NORA).await;
    complete(&nobody(app), nora(&token)).await.expect(201);
    let events = listener.heard().await;
    assert_eq!(
        kinds(&events),
        ["user.two_factor_disabled", "session.revoked", "user.updated", "user.password_changed", "user.email_verified"]
    );
    assert_eq!(data_of(&events, "session.revoked")["reason"], "password");
    let updated = data_of(&events, "user.updated");
    assert_eq!(updated["user"]["name"], "Nora Noble");
    assert_ne!(updated["previous"]["name"], "Nora Noble");
    assert!(events.iter().all(|event| event["actor"] == json!({ "type": "user", "id": another.id() })), "{events:#?}");
    assert!(greta.members().await.iter().any(|entry| entry["email"] == NORA && entry["name"] == "Nora Noble"));
}

async fn a_refused_sign_up_takes_nothing_over(app: &App) {
    let another = made_by_another(app).await;
    let token = sign_up_token(app, NORA).await;
    let refused = |field: &str, value: Value| {
        let mut body = nora(&token);
        body[field] = value;
        complete(&nobody(app), body)
    };
    refused("password", json!(null)).await.expect_invalid("password");
    refused("password", json!("nora noble")).await.expect_error(400, "weak_password");
    refused("organization", json!({ "name": "Acme", "slug": "acme" })).await.expect_error(409, "slug_taken");
    another.get("/org").await.expect(200);
    another.elsewhere().login().await.expect(200);
    assert_eq!(user(&another).await["isEmailVerified"], false);
}

async fn the_limits_of_the_account_hold(app: &App) {
    let max = app.member();
    for n in 0..3 {
        let token = sign_up_token(app, max.email()).await;
        complete(&nobody(app), holder(&token, &format!("rockets-{n}"))).await.expect(201);
        app.advance(3_600);
    }
    forget_proof(app, max.id()).await;
    let token = sign_up_token(app, max.email()).await;
    complete(&nobody(app), newcomer(&token, "one-more")).await.expect_error(429, "rate_limited");
    app.advance(21 * 3_600);
    complete(&nobody(app), newcomer(&token, "one-more")).await.expect(201);
}

async fn an_account_proved_meanwhile_is_not_taken_over(app: &App) {
    let hasher = GatedHasher::new();
    let gated = app.beside(|setup| setup.hasher = Some(hasher.clone())).await;
    let another = made_by_another(app).await;
    let admin = app.admin().logged_in().await;
    let (token, invite) = (sign_up_token(app, NORA).await, app.invited(&admin, NORA).await);
    let guest = app.org().device_of(another.person());
    let accepted = async { drop(guest.accept_with_account(&invite).await.expect(200)) };
    hasher.meanwhile(complete(&nobody(&gated), nora(&token)), accepted).await.expect_error(409, "account_exists");
    guest.get("/org").await.expect(200);
    assert!(app.auth.tenant(&"rockets".parse().expect("a slug")).await.is_err(), "nothing was made");
    // The link stays good: for the account that is hers now, once it has a password.
    assert_eq!(preview(&nobody(app), &token).await.expect_ok()["accountExists"], true);
    reset(&app.anonymous(), &mailed_token(app, NORA, "reset").await, PASSWORD).await.expect(200);
    complete(&nobody(app), holder(&token, "rockets")).await.expect(201);
}

async fn an_account_that_its_maker_proved_meanwhile_is_not_taken_over(app: &App) {
    let hasher = GatedHasher::new();
    let gated = app.beside(|setup| setup.hasher = Some(hasher.clone())).await;
    let pat = app.org().new_member("Pat").await.logged_in().await;
    let (token, link) = (sign_up_token(app, pat.email()).await, verify_token(app, &pat).await);
    let verified = async { drop(verify_with(&app.anonymous(), &link, PASSWORD).await.expect(200)) };
    hasher.meanwhile(complete(&nobody(&gated), nora(&token)), verified).await.expect_error(409, "account_exists");
    pat.get("/org").await.expect(200);
    complete(&nobody(app), holder(&token, "rockets")).await.expect(201);
}

async fn an_account_deleted_meanwhile_gives_way_to_a_new_one(app: &App) {
    let hasher = GatedHasher::new();
    let gated = app.beside(|setup| setup.hasher = Some(hasher.clone())).await;
    let another = made_by_another(app).await;
    let token = sign_up_token(app, NORA).await;
    let address = NORA.parse().expect("an address");
    let deleted = async { drop(app.auth.operator().delete_user(&address).await.expect("there is an account")) };
    let completing = complete(&nobody(&gated), nora(&token));
    hasher.meanwhile(completing, deleted).await.expect_error(400, "invalid_link"); // the address was erased with its links
    let token = sign_up_token(app, NORA).await;
    let data = complete(&nobody(app), nora(&token)).await.expect(201).data();
    assert_ne!(data["user"]["id"], another.id());
    app.other_org().anonymous().login_with(NORA, NEW).await.expect_error(403, "not_a_member");
}

async fn an_account_made_meanwhile_is_handed_over(app: &App) {
    let hasher = GatedHasher::new();
    let gated = app.beside(|setup| setup.hasher = Some(hasher.clone())).await;
    let token = sign_up_token(app, NORA).await;
    let made = async { drop(made_by_another(app).await) };
    hasher.meanwhile(complete(&nobody(&gated), nora(&token)), made).await.expect(201);
    let device = app.other_org().anonymous();
    device.login_with(NORA, PASSWORD).await.expect_error(401, "invalid_credentials");
    device.login_with(NORA, NEW).await.expect(200);
}
