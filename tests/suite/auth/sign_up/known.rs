//! Completing a sign-up with an account: by its password and second factor alone (behaviour.md, B197).

use serde_json::json;
use tenant_auth_conformance::{App, GatedHasher, PASSWORD, jwt, scenarios};

use super::{complete, holder, newcomer, nobody, sign_up_token};
use crate::suite::support::{
    account::{NEW, guard},
    listener::kinds,
    stored::{events_of, give_address},
};

scenarios![
    an_account_makes_a_further_organization_by_its_password,
    a_wrong_password_is_counted_like_a_failed_login,
    a_name_is_refused,
    with_a_second_factor_a_code_is_asked_for_after_the_password,
    wrong_codes_are_counted,
    a_suspended_member_may_make_an_organization_of_their_own,
    a_link_is_good_only_while_its_address_is_the_accounts,
    a_password_changed_meanwhile_makes_nothing,
    an_account_deleted_meanwhile_makes_nothing,
];

async fn an_account_makes_a_further_organization_by_its_password(app: &App) {
    let max = app.member();
    let token = sign_up_token(app, max.email()).await;
    let device = nobody(app);
    let data = complete(&device, holder(&token, "rockets")).await.expect(201).data();
    assert_eq!(data["user"]["id"], max.id());
    assert_eq!(data["membership"]["role"], "org_admin");
    let claims = jwt::claims(data["accessToken"].as_str().expect("a token"));
    assert_eq!(claims["amr"], json!(["pwd"]));
    device.at_org("rockets").get("/org").await.expect(200);
    assert_eq!(kinds(&events_of(app, "rockets").await), ["org.created", "member.joined", "session.created"]);
    app.member().logged_in().await.get("/org").await.expect(200);
    app.mail_to(max.email()).await;
}

async fn a_wrong_password_is_counted_like_a_failed_login(app: &App) {
    let token = sign_up_token(app, app.member().email()).await;
    let mut wrong = holder(&token, "rockets");
    wrong["password"] = json!("not-the-password");
    for _ in 0..5 {
        complete(&nobody(app), wrong.clone()).await.expect_error(401, "wrong_password");
    }
    complete(&nobody(app), holder(&token, "rockets")).await.expect_error(429, "rate_limited");
    app.member().login().await.expect_error(429, "rate_limited");
    app.advance(3_600);
    complete(&nobody(app), holder(&token, "rockets")).await.expect(201);
}

async fn a_name_is_refused(app: &App) {
    let token = sign_up_token(app, app.member().email()).await;
    complete(&nobody(app), newcomer(&token, "rockets")).await.expect_error(409, "account_exists");
    let mut bare = holder(&token, "rockets");
    bare["password"].take();
    complete(&nobody(app), bare).await.expect_invalid("password");
    complete(&nobody(app), holder(&token, "rockets")).await.expect(201);
}

async fn with_a_second_factor_a_code_is_asked_for_after_the_password(app: &App) {
    let max = app.member().logged_in().await;
    let guarded = guard(app, &max).await;
    let token = sign_up_token(app, max.email()).await;
    let mut body = holder(&token, "rockets");
    body["password"] = json!("not-the-password");
    body["code"] = json!(guarded.fresh_code(app));
    complete(&nobody(app), body.clone()).await.expect_error(401, "wrong_password");
    body["password"] = json!(PASSWORD);
    body["code"] = json!(null);
    complete(&nobody(app), body.clone()).await.expect_invalid("code");
    body["code"] = json!(guarded.authenticator.wrong_code(app));
    let wrong = complete(&nobody(app), body.clone()).await.expect_error(400, "wrong_code");
    assert_eq!(wrong.field(), Some("code"));
    body["code"] = json!(guarded.fresh_code(app));
    let data = complete(&nobody(app), body.clone()).await.expect(201).data();
    let claims = jwt::claims(data["accessToken"].as_str().expect("a token"));
    assert_eq!(claims["amr"], json!(["pwd", "otp"]));
}

async fn wrong_codes_are_counted(app: &App) {
    let max = app.member().logged_in().await;
    let guarded = guard(app, &max).await;
    let token = sign_up_token(app, max.email()).await;
    let mut body = holder(&token, "rockets");
    body["code"] = json!(guarded.authenticator.wrong_code(app));
    for _ in 0..10 {
        complete(&nobody(app), body.clone()).await.expect_error(400, "wrong_code");
    }
    body["code"] = json!(guarded.fresh_code(app));
    complete(&nobody(app), body.clone()).await.expect_error(429, "rate_limited");
    let told = app.mail_to(max.email()).await;
    assert!(told.iter().any(|mail| mail.subject.contains("Wrong codes")), "{told:?}");
    app.advance(1_000);
    body["code"] = json!(guarded.fresh_code(app));
    complete(&nobody(app), body).await.expect(201);
}

async fn a_suspended_member_may_make_an_organization_of_their_own(app: &App) {
    let admin = app.admin().logged_in().await;
    admin.set_status(app.member().id(), "suspended").await.expect(200);
    let token = sign_up_token(app, app.member().email()).await;
    complete(&nobody(app), holder(&token, "rockets")).await.expect(201);
    app.member().login().await.expect_error(403, "suspended");
}

async fn a_link_is_good_only_while_its_address_is_the_accounts(app: &App) {
    let token = sign_up_token(app, app.member().email()).await;
    give_address(app, app.member().id(), "max@elsewhere.example").await;
    complete(&nobody(app), holder(&token, "rockets")).await.expect_invalid("name");
    complete(&nobody(app), newcomer(&token, "rockets")).await.expect(201);
}

async fn a_password_changed_meanwhile_makes_nothing(app: &App) {
    let hasher = GatedHasher::new();
    let gated = app.beside(|setup| setup.hasher = Some(hasher.clone())).await;
    let max = app.member().logged_in().await;
    let token = sign_up_token(app, max.email()).await;
    let completing = complete(&nobody(&gated), holder(&token, "rockets"));
    let change = json!({ "currentPassword": PASSWORD, "newPassword": NEW });
    let changed = async { drop(max.post("/auth/change-password", change).await.expect(200)) };
    hasher.meanwhile(completing, changed).await.expect_error(401, "wrong_password");
    let mut body = holder(&token, "rockets");
    body["password"] = json!(NEW);
    complete(&nobody(app), body).await.expect(201);
}

async fn an_account_deleted_meanwhile_makes_nothing(app: &App) {
    let hasher = GatedHasher::new();
    let gated = app.beside(|setup| setup.hasher = Some(hasher.clone())).await;
    let max = app.member();
    let token = sign_up_token(app, max.email()).await;
    let email = max.email().parse().expect("an address");
    let completing = complete(&nobody(&gated), holder(&token, "rockets"));
    let deleted = async { drop(app.auth.operator().delete_user(&email).await.expect("deleted")) };
    hasher.meanwhile(completing, deleted).await.expect_error(401, "wrong_password");
    complete(&nobody(app), newcomer(&token, "rockets")).await.expect_error(400, "invalid_link");
    let token = sign_up_token(app, max.email()).await;
    complete(&nobody(app), newcomer(&token, "rockets")).await.expect(201);
}
