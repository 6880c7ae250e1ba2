//! The partial token is good for one thing, in one organization, and nothing else is good for that (behaviour.md, B51).

use serde_json::json;
use tenant_auth_conformance::{App, Response, jwt, scenarios};

use crate::suite::support::authenticator::{SecondFactor, guarded_member};

scenarios![
    it_is_a_token_of_a_kind_of_its_own,
    it_is_no_access_token,
    it_is_no_refresh_token,
    it_is_nothing_to_a_backend,
    it_is_worth_nothing_in_another_organization,
    no_other_token_takes_its_place,
    a_forged_one_is_worth_nothing,
    a_logout_clears_it,
    it_lasts_as_long_as_the_setting_says,
    with_a_domain_its_host_only_variant_expires,
];

async fn it_is_a_token_of_a_kind_of_its_own(app: &App) {
    guarded_member(app).await;
    let token = app.member().waiting().await.partial_token();
    let header = jwt::header(&token);
    assert_eq!((&header["typ"], &header["alg"]), (&"pt+jwt".into(), &"EdDSA".into()));
    let claims = jwt::claims(&token);
    assert_eq!(claims["aud"], claims["iss"]);
    assert_eq!(claims["exp"].as_i64().expect("a time") - claims["iat"].as_i64().expect("a time"), 300);
    let text = claims.to_string();
    assert!(!text.contains("acme.example") && !text.contains("Max"), "no email, no name: {text}");
    let jwks = app.anonymous().get("/.well-known/jwks.json").await.expect(200).json().clone();
    assert!(!jwt::is_signed_by(&token, &jwks), "its key is not in the JWKS");
}

async fn it_is_no_access_token(app: &App) {
    guarded_member(app).await;
    let waiting = app.member().waiting().await;
    let token = waiting.partial_token();
    app.anonymous().get("/org").cookies(format!("access_token={token}")).await.expect_no_session();
    app.anonymous().with_bearer(&token).get("/org").await.expect_no_session();
    waiting.get("/org").await.expect_no_session();
    waiting.get("/auth/2fa").await.expect_no_session();
    waiting.change_password("a", "b").await.expect_no_session();
}

async fn it_is_no_refresh_token(app: &App) {
    guarded_member(app).await;
    let token = app.member().waiting().await.partial_token();
    app.anonymous().refresh_with(&token).await.expect_no_session();
    app.anonymous().logout().cookies(format!("refresh_token={token}")).await.expect_no_session();
}

async fn it_is_nothing_to_a_backend(app: &App) {
    guarded_member(app).await;
    let token = app.member().waiting().await.partial_token();
    assert!(!app.backend().finds_valid(&token).await);
}

async fn it_is_worth_nothing_in_another_organization(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    let greta = app.other_org().admin().logged_in().await;
    greta.invite(app.member().email()).await.expect(201);
    let invite = app.link_token_of(app.member().email()).await;
    app.other_org().anonymous().accept_with_account(&invite).await.expect(200);

    let waiting = app.member().waiting().await;
    let code = authenticator.code(app);
    let refused = waiting.clone().at_org("globex").enter(&code).await.expect(401);
    assert!(refused.cookies().is_empty(), "it is still good where it belongs");
    waiting.clone().at_org("globex").get("/org").await.expect(401);
    waiting.enter(&code).await.expect(200);
    waiting.get("/org").await.expect(200);
    waiting.clone().at_org("globex").get("/org").await.expect_error(401, "wrong_organization");
}

async fn no_other_token_takes_its_place(app: &App) {
    let (member, authenticator) = guarded_member(app).await;
    let waiting = app.member().waiting().await;
    let code = authenticator.code(app);
    let admin = app.admin().logged_in().await;
    let invite = app.invited(&admin, "nora@acme.example").await;
    for token in [member.access_token(), member.refresh_token(), admin.access_token(), admin.refresh_token(), invite] {
        app.member().enter(&code).cookies(format!("partial_token={token}")).await.expect_error(401, "second_factor_failed");
    }
    let elsewhere = app.member().with_bearer(&waiting.partial_token());
    elsewhere.enter(&code).await.expect(401);
    waiting.enter(&code).await.expect(200);
}

async fn a_forged_one_is_worth_nothing(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    let waiting = app.member().waiting().await;
    let code = authenticator.code(app);
    let token = waiting.partial_token();
    let mut forged = jwt::signed_by_a_stranger(&token).to_vec();
    forged.push(jwt::with_claims(&token, |claims| claims["exp"] = json!(4_000_000_000_i64)));
    forged.push(jwt::with_header(&token, |header| header["alg"] = json!("none")));
    forged.push(jwt::with_signature(&token, b""));
    for forgery in forged {
        app.member().enter(&code).cookies(format!("partial_token={forgery}")).await.expect_error(401, "second_factor_failed");
    }
    waiting.enter(&code).await.expect(200);
}

async fn a_logout_clears_it(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    let member = app.member().through(app, &authenticator).await;
    assert!(member.logout().await.expect(200).cookie("partial_token").is_cleared());
    let waiting = app.member().waiting().await;
    assert!(waiting.logout().await.expect_no_session().cookie("partial_token").is_cleared());
}

async fn it_lasts_as_long_as_the_setting_says(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    let short = app.beside(|setup| setup.config.login.partial_token_ttl = std::time::Duration::from_secs(10)).await;
    let member = short.member();
    assert_eq!(member.login().await.expect(200).cookie("partial_token").max_age(), 10);
    app.advance(10);
    member.enter(&authenticator.code(app)).await.expect_error(401, "second_factor_failed");
}

async fn with_a_domain_its_host_only_variant_expires(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    let app = app.beside(|setup| setup.config.browser.cookie_domain = Some("example.com".to_owned())).await;
    let partials = |answer: &Response| -> Vec<(Option<String>, bool)> {
        let cookies = answer.cookies().into_iter().filter(|cookie| cookie.name == "partial_token");
        cookies.map(|cookie| (cookie.domain().map(str::to_owned), cookie.is_cleared())).collect()
    };
    let member = app.member();
    let domain = || Some("example.com".to_owned());
    assert_eq!(partials(&member.login().await.expect(200)), [(None, true), (domain(), false)]);
    let entered = member.enter(&authenticator.code(&app)).await.expect(200);
    assert_eq!(partials(&entered), [(None, true), (domain(), true)]);
    member.get("/org").await.expect(200);
}
