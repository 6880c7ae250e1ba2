//! Completing a sign-up without an account, and what comes of it (behaviour.md, B197 and B198).

use serde_json::{Value, json};
use tenant_auth_conformance::{App, PASSWORD, scenarios, shape};
use tenant_auth_core::audit::AuditRange;

use super::{complete, newcomer, nobody, preview, sign_up_mails, sign_up_token, token_in};
use crate::suite::support::{
    listener::{Listener, kinds},
    stored::events_of,
};

scenarios![
    a_newcomer_becomes_the_org_admin_of_an_organization,
    the_organizations_log_begins_with_its_making,
    the_deployments_log_tells_of_it,
    every_link_of_the_address_is_used_up,
    what_is_wrong_is_told_and_leaves_the_link_good,
    reserved_slugs_are_given_to_nobody,
    a_slug_of_a_deleted_organization_is_given_to_nobody,
    outside_a_browser_the_tokens_stand_in_the_body,
    the_library_does_the_same,
];

async fn a_newcomer_becomes_the_org_admin_of_an_organization(app: &App) {
    let token = sign_up_token(app, "rita@rockets.example").await;
    let rita = nobody(app);
    let data = complete(&rita, newcomer(&token, "rockets")).await.expect(201).data();
    assert_eq!(data["user"]["email"], "rita@rockets.example");
    assert_eq!(data["user"]["name"], "Rita");
    assert_eq!(data["membership"]["role"], "org_admin");
    let rita = rita.at_org("rockets");
    let org = rita.get("/org").await.expect_ok();
    assert_eq!((&org["org"]["name"], &org["org"]["plan"]), (&json!("Rockets"), &json!("free")));
    let profile = rita.get("/auth/profile").await.expect_ok();
    assert_eq!(profile["user"]["isEmailVerified"], true, "{profile}");
    rita.invite("max@rockets.example").await.expect(201);
    app.anonymous().at_org("rockets").login_with("rita@rockets.example", PASSWORD).await.expect(200);
    app.anonymous().login_with("rita@rockets.example", PASSWORD).await.expect_error(403, "not_a_member");
}

async fn the_organizations_log_begins_with_its_making(app: &App) {
    let token = sign_up_token(app, "rita@rockets.example").await;
    let data = complete(&nobody(app), newcomer(&token, "rockets")).await.expect(201).data();
    let events = events_of(app, "rockets").await;
    let told: Vec<&str> = kinds(&events);
    assert_eq!(told, ["org.created", "member.joined", "session.created", "user.email_verified"]);
    assert_eq!(events[0]["data"]["org"]["slug"], "rockets", "{}", events[0]);
    assert_eq!(shape(&events[0]["data"]), ["org"]);
    assert_eq!(events[0]["actor"], json!({ "type": "user", "id": data["user"]["id"] }));
}

async fn the_deployments_log_tells_of_it(app: &App) {
    let token = sign_up_token(app, "rita@rockets.example").await;
    let data = complete(&nobody(app), newcomer(&token, "rockets")).await.expect(201).data();
    let mut file = Vec::new();
    let export = app.auth.operator().export_deployment_audit(AuditRange::default()).await.expect("it begins");
    export.write(&mut file).await.expect("written");
    let file = String::from_utf8(file).expect("text");
    let mut told = file.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let made = told.rfind(|line| line["facts"]["type"] == "org.created").expect("an entry");
    assert_eq!(made["facts"]["actor"]["id"], data["user"]["id"], "{made}");
}

async fn every_link_of_the_address_is_used_up(app: &App) {
    sign_up_token(app, "rita@rockets.example").await;
    let last = sign_up_token(app, "Rita@rockets.example").await;
    let mails = sign_up_mails(app, "rita@rockets.example").await;
    let first = token_in(&mails[0]);
    assert_ne!(first, last);
    complete(&nobody(app), newcomer(&first, "rockets")).await.expect(201);
    for token in [first, last] {
        complete(&nobody(app), newcomer(&token, "others")).await.expect_error(400, "invalid_link");
        preview(&nobody(app), &token).await.expect_error(400, "invalid_link");
    }
}

async fn what_is_wrong_is_told_and_leaves_the_link_good(app: &App) {
    let token = sign_up_token(app, "rita@rockets.example").await;
    let with = |change: fn(&mut Value)| {
        let mut body = newcomer(&token, "rockets");
        change(&mut body);
        complete(&nobody(app), body)
    };
    with(|body| drop(body["name"].take())).await.expect_invalid("name");
    with(|body| drop(body["password"].take())).await.expect_invalid("password");
    with(|body| drop(body["organization"]["slug"].take())).await.expect_invalid("organization.slug");
    with(|body| body["organization"]["slug"] = json!("No Slug")).await.expect_invalid("organization.slug");
    with(|body| body["organization"]["name"] = json!("")).await.expect_invalid("organization.name");
    with(|body| drop(body["organization"].take())).await.expect_invalid("organization");
    let weak = with(|body| body["password"] = json!("password")).await.expect_error(400, "weak_password");
    assert_eq!(weak.field(), Some("password"));
    with(|body| body["password"] = json!("rita@rockets.example")).await.expect_error(400, "weak_password");
    let taken = with(|body| body["organization"]["slug"] = json!("acme")).await.expect_error(409, "slug_taken");
    assert_eq!(taken.field(), Some("organization.slug"));
    let reserved = with(|body| body["organization"]["slug"] = json!("www")).await.expect_error(400, "slug_reserved");
    assert_eq!(reserved.field(), Some("organization.slug"));
    assert!(app.auth.tenant(&"rockets".parse().expect("a slug")).await.is_err(), "nothing was made");
    with(|_| ()).await.expect(201);
}

async fn reserved_slugs_are_given_to_nobody(app: &App) {
    let app = app
        .beside(|setup| {
            setup.config.sign_up.reserved_slugs = vec!["launch-pad".parse().expect("a slug")];
            setup.config.organizations.operator_org = Some("globex-ops".parse().expect("a slug"));
        })
        .await;
    let token = sign_up_token(&app, "rita@rockets.example").await;
    let all = "www api app admin auth account sign-in sign-up invite reset verify docs mail postmaster abuse support help status";
    for slug in all.split(' ').chain(["launch-pad", "globex-ops"]).filter(|slug| slug.len() > 1) {
        complete(&nobody(&app), newcomer(&token, slug)).await.expect_error(400, "slug_reserved");
    }
    complete(&nobody(&app), newcomer(&token, "launch-pads")).await.expect(201);
}

async fn a_slug_of_a_deleted_organization_is_given_to_nobody(app: &App) {
    let app = &app.beside(|setup| setup.config.organizations.purge_after_days = 0).await;
    app.auth.operator().delete_organization(&"globex".parse().expect("a slug")).await.expect("ordered");
    app.tick().await;
    app.tick().await;
    let token = sign_up_token(app, "rita@rockets.example").await;
    complete(&nobody(app), newcomer(&token, "globex")).await.expect_error(409, "slug_taken");
    complete(&nobody(app), newcomer(&token, "rockets")).await.expect(201);
}

async fn outside_a_browser_the_tokens_stand_in_the_body(app: &App) {
    let token = sign_up_token(app, "rita@rockets.example").await;
    let data = complete(&nobody(app), newcomer(&token, "rockets")).await.expect(201).data();
    let access = data["accessToken"].as_str().expect("a token");
    app.anonymous().at_org("rockets").with_bearer(access).get("/org").await.expect(200);
    app.anonymous().with_bearer(access).get("/org").await.expect_error(401, "wrong_organization");
}

async fn the_library_does_the_same(app: &App) {
    use tenant_auth_core::{Client, http::session_cookies, org::SignUpCompletion, secret::LinkToken};
    let listener = Listener::new(app, &app.admin().logged_in().await).await;
    let email = "rita@rockets.example".parse().expect("an address");
    app.auth.request_sign_up(&email, &Client::default()).await.expect("taken");
    let token = LinkToken::new(token_in(&sign_up_mails(app, "rita@rockets.example").await[0]));
    assert!(!app.auth.preview_sign_up(&token).await.expect("good").account_exists);
    let sign_up = SignUpCompletion {
        token,
        organization: "Rockets".parse().expect("a name"),
        slug: "rockets".parse().expect("a slug"),
        name: Some("Rita".parse().expect("a name")),
        password: Some(PASSWORD.into()),
        code: None,
    };
    let opened = app.auth.complete_sign_up(sign_up, Client::default()).await.expect("made");
    assert_eq!(opened.organization().slug.as_str(), "rockets");
    let cookies = session_cookies(&app.auth, &opened.tokens);
    let told: Vec<&str> = cookies.iter().filter_map(|cookie| cookie.to_str().ok()).collect();
    assert!(told.iter().any(|cookie| cookie.starts_with("access_token=")), "{told:?}");
    let mut listener = listener;
    assert!(listener.heard().await.is_empty(), "no other organization hears of it");
}
