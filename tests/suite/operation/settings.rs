//! What an operator may change: lifetimes and limits follow their settings, and servers with one database agree.

use std::{sync::Arc, time::Duration};

use tenant_auth_conformance::{App, jwt, scenarios};
use tenant_auth_core::ports::{Clock, MockClock};

scenarios![
    lifetimes_follow_the_settings,
    limits_follow_the_settings,
    a_public_url_with_a_path_moves_every_route,
    servers_with_one_database_accept_each_others_tokens,
    a_token_counts_under_the_public_url_it_was_made_under,
    a_server_whose_clock_is_behind_accepts_a_fresh_token,
];

async fn lifetimes_follow_the_settings(app: &App) {
    let brief = app
        .beside(|setup| {
            setup.config.sessions.access_token_ttl = Duration::from_secs(10);
            setup.config.sessions.refresh_token_ttl = Duration::from_secs(20);
            setup.config.sessions.ttl = Duration::from_secs(40);
            setup.config.organizations.invite_ttl = Duration::from_secs(60);
        })
        .await;
    let (admin, member) = (brief.admin().logged_in().await, brief.member());
    let answer = member.login().await.expect(200);
    assert_eq!((answer.cookie("access_token").max_age(), answer.cookie("refresh_token").max_age()), (10, 20));
    let token = brief.invited(&admin, "nora@acme.example").await;
    brief.advance(10);
    member.get("/org").await.expect_no_session();
    brief.advance(9);
    member.refresh().await.expect(200);
    brief.advance(19);
    let answer = member.refresh().await.expect(200);
    assert!(answer.cookie("refresh_token").max_age() <= 2, "the session ends 40 s after the login");
    brief.advance(2);
    member.get("/org").await.expect_no_session();
    member.refresh().await.expect_no_session();
    brief.advance(20);
    brief.anonymous().accept(&token, "Nora").await.expect(400);
}

async fn limits_follow_the_settings(app: &App) {
    let small = app
        .beside(|setup| {
            setup.config.sessions.max_per_user = 1;
            setup.config.organizations.max_api_keys = 2;
        })
        .await;
    let first = small.admin().logged_in().await;
    small.advance(1);
    let admin = small.admin().logged_in().await;
    first.get("/org").await.expect_no_session();
    admin.create_key("Second").await.expect(201);
    admin.create_key("Third").await.expect_error(409, "limit_reached");
}

async fn a_public_url_with_a_path_moves_every_route(app: &App) {
    let moved = app.beside(|setup| setup.config.public_url = "https://example.com/accounts".parse().expect("a URL")).await;
    let member = moved.member();
    let body = serde_json::json!({ "email": member.email(), "password": member.person().password });
    let answer = member.request_at("POST", "/accounts/api/v1/auth/login").json(&body).await.expect(200);
    assert_eq!(jwt::claims(answer.data()["accessToken"].as_str().expect("a token"))["iss"], "https://example.com/accounts");
    member.request_at("GET", "/accounts/api/v1/org").await.expect(200);
    member.request_at("GET", "/accounts/api/v1/nowhere").await.expect_error(404, "not_found");
}

async fn servers_with_one_database_accept_each_others_tokens(app: &App) {
    let other = app.beside(|_| {}).await;
    let (here, there) = (app.member().logged_in().await, other.member().logged_in().await);
    here.via(&other).get("/org").await.expect(200);
    there.via(app).get("/org").await.expect(200);
    here.via(&other).refresh().await.expect(200);
    here.get("/org").await.expect(200);
    let token = there.access_token();
    assert!(app.backend().finds_valid(&token).await);
    there.logout().await.expect(200);
    assert!(!app.backend().finds_valid(&token).await);
    let jwks = async |app: &App| app.anonymous().get("/.well-known/jwks.json").await.expect(200).body;
    assert_eq!(jwks(app).await, jwks(&other).await);
}

async fn a_token_counts_under_the_public_url_it_was_made_under(app: &App) {
    let moved = app.beside(|setup| setup.config.public_url = "https://elsewhere.example".parse().expect("a URL")).await;
    for (here, there) in [(app, &moved), (&moved, app)] {
        let member = here.member().logged_in().await;
        let elsewhere = member.copied().via(there);
        elsewhere.get("/org").await.expect_no_session();
        elsewhere.refresh().await.expect_no_session();
        assert!(!there.backend().finds_valid(&member.access_token()).await);
        member.get("/org").await.expect(200);
        assert!(here.backend().finds_valid(&member.access_token()).await);
    }
}

/// `nbf` is emitted and never judged: the clocks of replicas differ.
async fn a_server_whose_clock_is_behind_accepts_a_fresh_token(app: &App) {
    let earlier = app.clock.now().minus(Duration::from_secs(5));
    let behind = app.beside(|setup| setup.clock = Arc::new(MockClock::at(earlier))).await;
    let member = app.member().logged_in().await;
    member.via(&behind).get("/org").await.expect(200);
    assert!(behind.backend().finds_valid(&member.access_token()).await);
}
