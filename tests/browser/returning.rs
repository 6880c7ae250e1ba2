//! Where a sign-in leads: back to where the person was sent from, if the service lets anybody be sent there, and never without an act of
//! their own.

use serde_json::json;
use tenant_auth_conformance::{PASSWORD, browser::Stage, visits};

use crate::browser::phone::Phone;

visits! {
    a_person_returns_to_where_they_came_from,
    an_address_of_somebody_else_is_never_gone_to,
    without_an_address_a_sign_in_leads_to_the_application,
    the_address_survives_the_second_factor_and_a_reload,
    who_is_signed_in_is_asked_first,
    an_invite_leads_on;
    below "/auth": a_person_returns_to_where_they_came_from_below_a_path
}

/// What an address of our pages says of where to go then.
pub(crate) fn asking_for(next: &str) -> String {
    url::form_urlencoded::Serializer::new(String::new()).append_pair("next", next).finish()
}

/// A page that no sign-in leads to by itself.
fn product(stage: &Stage) -> String {
    format!("{}/?from=max&to=%26#/profile", stage.origin())
}

async fn types_the_password(stage: &Stage) {
    stage.page.arrives_at("Sign in").await;
    stage.page.fill("Email address", "max@acme.example").await;
    stage.page.fill("Password", PASSWORD).await;
    stage.page.press("Sign in").await;
}

/// The page asked whether somebody is signed in, and nobody is.
async fn found_nobody(stage: &Stage) {
    stage.page.offers("Forgot your password?").await;
    stage.page.was_refused(401, "/auth/profile").await;
    stage.page.was_refused(401, "/auth/refresh").await;
}

async fn a_person_returns_to_where_they_came_from(stage: &Stage) {
    let next = product(stage);
    // A product writes the query of a URL.
    stage.page.open(&format!("/sign-in?org=acme&{}", asking_for(&next))).await;
    found_nobody(stage).await;
    types_the_password(stage).await;
    stage.page.is_at(&next).await;
}

async fn a_person_returns_to_where_they_came_from_below_a_path(stage: &Stage) {
    a_person_returns_to_where_they_came_from(stage).await;
}

async fn an_address_of_somebody_else_is_never_gone_to(stage: &Stage) {
    stage.admin().logged_in().await.patch("/org", json!({ "appUrl": null })).await.expect(200);
    stage.page.open(&format!("/sign-in#org=acme&{}", asking_for("https://evil.example/"))).await;
    found_nobody(stage).await;
    types_the_password(stage).await;
    stage.page.arrives_at("Members").await;
    stage.page.is_at(&format!("{}/", stage.origin())).await;
    stage.page.open(&format!("/sign-in#org=acme&{}", asking_for("javascript:alert(1)"))).await;
    stage.page.reads("You are signed in to").await;
    stage.page.press("Go to your account").await;
    stage.page.arrives_at("Members").await;
}

async fn without_an_address_a_sign_in_leads_to_the_application(stage: &Stage) {
    let app = product(stage);
    stage.admin().logged_in().await.patch("/org", json!({ "appUrl": app })).await.expect(200);
    stage.page.open("/sign-in#org=acme").await;
    types_the_password(stage).await;
    stage.page.is_at(&app).await;
}

async fn the_address_survives_the_second_factor_and_a_reload(stage: &Stage) {
    let (page, next) = (&stage.page, product(stage));
    let phone = Phone::guarding(&stage.member().logged_in().await, stage).await;
    page.open(&format!("/sign-in#org=acme&{}", asking_for(&next))).await;
    found_nobody(stage).await;
    page.arrives_at("Sign in").await;
    page.reload().await;
    found_nobody(stage).await;
    types_the_password(stage).await;
    page.fill("Code", &phone.next_code(stage)).await;
    page.press("Continue").await;
    stage.page.is_at(&next).await;
}

async fn who_is_signed_in_is_asked_first(stage: &Stage) {
    let (page, next) = (&stage.page, product(stage));
    stage.signs_in("max@acme.example", PASSWORD).await;
    page.arrives_at("Members").await;
    page.open(&format!("/sign-in#{}", asking_for(&next))).await;
    page.reads("You are signed in to Acme Rockets as Max Member, max@acme.example").await;
    page.is_accessible().await;
    let host = stage.origin().split("://").nth(1).expect("a host");
    page.press("Use another account").await;
    assert_eq!(page.value("Organization").await, "acme");
    page.reload().await;
    page.press(&format!("Continue to {host}")).await;
    stage.page.is_at(&next).await;
}

async fn an_invite_leads_on(stage: &Stage) {
    let (page, next) = (&stage.page, product(stage));
    stage.admin().logged_in().await.invite("nora@acme.example").await.expect(201);
    let link = stage.link("nora@acme.example", "/invite").await;
    page.open(&format!("{link}&{}", asking_for(&next))).await;
    page.arrives_at("Join Acme Rockets").await;
    page.fill("Your name", "Nora New").await;
    page.fill("Choose a password", PASSWORD).await;
    page.press("Create account and join").await;
    page.arrives_at("Welcome to Acme Rockets").await;
    page.is_accessible().await;
    let host = stage.origin().split("://").nth(1).expect("a host");
    page.press(&format!("Continue to {host}")).await;
    stage.page.is_at(&next).await;
}
