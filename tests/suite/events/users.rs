//! Events of people: told to every organization they belong to, and to no other.

use serde_json::json;
use tenant_auth_conformance::{App, Caller, PASSWORD, scenarios};

use crate::suite::support::{
    account::{NEW, guard, in_both, mailed_token},
    authenticator::SecondFactor,
    listener::{Listener, data_of, kinds, user},
    stored::forget_proof,
};

scenarios![
    a_profile_tells_what_was,
    a_verified_address_is_told_once,
    what_happens_to_a_person_is_told_wherever_they_belong,
    a_former_member_is_nobodys_news,
    recovery_codes_are_told_of_when_one_opens_a_session_and_when_they_are_replaced,
];

async fn a_profile_tells_what_was(app: &App) {
    let (admin, max) = (app.admin().logged_in().await, app.member().logged_in().await);
    let mut listener = Listener::new(app, &admin).await;
    let shown = async || app.backend().get(&format!("/public/users/{}", max.id())).await.expect_ok()["user"].clone();
    let mut previous = shown().await;
    for profile in [json!({ "name": "Max", "bio": "On the moon", "phone": "+1 555 0100" }), json!({ "name": "Maximilian" })] {
        max.put("/auth/profile", profile).await.expect(200);
        let now = shown().await;
        let (actor, data) = listener.only("user.updated").await;
        assert_eq!((actor, data), (user(&max), json!({ "user": now, "previous": previous })));
        previous = now;
    }
}

async fn a_verified_address_is_told_once(app: &App) {
    let (admin, max) = (app.admin().logged_in().await, app.member().logged_in().await);
    forget_proof(app, max.id()).await;
    let mut listener = Listener::new(app, &admin).await;
    max.post_nothing("/auth/verify-email/send").await.expect(200);
    let token = mailed_token(app, max.email(), "verify").await;
    listener.nothing().await;
    max.post("/auth/verify-email", json!({ "token": token })).await.expect(200);
    let (actor, data) = listener.only("user.email_verified").await;
    assert_eq!((actor, &data["user"]["isEmailVerified"]), (user(&max), &true.into()));
    max.post("/auth/verify-email", json!({ "token": token })).await.expect(400);
    max.post_nothing("/auth/verify-email/send").await.expect(200);
    listener.nothing().await;
}

/// Everything that can happen to a person's account.
async fn busy(app: &App, max: &Caller) {
    max.put("/auth/profile", json!({ "name": "Max" })).await.expect(200);
    max.post_nothing("/auth/verify-email/send").await.expect(200);
    max.change_password(PASSWORD, NEW).await.expect(200);
    max.post("/auth/change-email", json!({ "newEmail": "max@elsewhere.example", "password": NEW })).await.expect(200);
    let token = mailed_token(app, "max@elsewhere.example", "change-email").await;
    max.post("/auth/change-email/confirm", json!({ "token": token })).await.expect(200);
    let setup = max.set_up(NEW).await.expect_ok();
    let authenticator = crate::suite::support::authenticator::Authenticator::new(&setup["secret"]);
    max.enable(&authenticator.code(app)).await.expect(200);
    max.disable(NEW, &authenticator.code_in(app, 1)).await.expect(200);
}

async fn what_happens_to_a_person_is_told_wherever_they_belong(app: &App) {
    let (here, there) = in_both(app).await;
    there.logout().await.expect(200);
    let (admin, greta) = (app.admin().logged_in().await, app.other_org().admin().logged_in().await);
    let (mut acme, mut globex) = (Listener::new(app, &admin).await, Listener::at(app, &greta, "globex").await);
    busy(app, &here).await;
    let (one, two) = (acme.heard().await, globex.heard().await);
    let expected = ["user.updated", "user.password_changed", "user.updated", "user.two_factor_enabled", "user.two_factor_disabled"];
    assert_eq!((kinds(&one), kinds(&two)), (expected.to_vec(), expected.to_vec()));
    for (here, there) in one.iter().zip(&two) {
        assert_eq!((&here["data"], &here["actor"], &here["timestamp"]), (&there["data"], &there["actor"], &there["timestamp"]));
        assert_ne!(here["id"], there["id"], "an event belongs to one organization");
    }
}

async fn a_former_member_is_nobodys_news(app: &App) {
    let (here, there) = in_both(app).await;
    let (admin, greta) = (app.admin().logged_in().await, app.other_org().admin().logged_in().await);
    let (mut acme, mut globex) = (Listener::new(app, &admin).await, Listener::at(app, &greta, "globex").await);
    there.post_nothing("/org/leave").await.expect(200);
    assert!(kinds(&globex.heard().await).contains(&"member.removed"));
    guard(app, &here).await;
    assert_eq!(kinds(&acme.heard().await), ["user.two_factor_enabled"]);
    globex.nothing().await;
}

async fn recovery_codes_are_told_of_when_one_opens_a_session_and_when_they_are_replaced(app: &App) {
    let (here, _) = in_both(app).await;
    let guarded = guard(app, &here).await;
    let (admin, greta) = (app.admin().logged_in().await, app.other_org().admin().logged_in().await);
    let (mut acme, mut globex) = (Listener::new(app, &admin).await, Listener::at(app, &greta, "globex").await);
    let device = app.member().waiting().await;
    device.enter("no-such-code").await.expect_error(401, "second_factor_failed");
    device.enter(&guarded.recovery_codes[0]).await.expect(200);
    let used = "user.recovery_code_used";
    let (one, two) = (acme.heard().await, globex.heard().await);
    assert_eq!((kinds(&one), kinds(&two)), (vec!["session.created", used], vec![used]));
    for event in [&one[1], &two[0]] {
        assert_eq!((&event["actor"], &event["data"]["user"]["id"]), (&user(&here), &json!(here.id())));
    }
    app.member().waiting().await.enter(&guarded.fresh_code(app)).await.expect(200);
    assert_eq!(kinds(&acme.heard().await), ["session.created"], "a code of the authenticator is no news");
    here.renew_codes(PASSWORD, &guarded.recovery_codes[1]).await.expect(200);
    for listener in [&mut acme, &mut globex] {
        let events = listener.heard().await;
        assert_eq!(data_of(&events, "user.recovery_codes_replaced")["user"]["id"], here.id(), "the deed, not the code");
        assert_eq!(events.len(), 1);
    }
}
