//! The main pages with something on them, as README shows them: `TENANT_AUTH_SCREENSHOTS=tests/screenshots cargo test -p
//! tenant-auth-conformance --test browser -- axum::pictures` takes them again.

use serde_json::json;
use tenant_auth_conformance::{
    PASSWORD,
    browser::{Receiver, Stage},
    visits,
};

use crate::browser::phone::Phone;

visits! { the_main_pages_are_shown }

const PEOPLE: [&str; 5] = ["Grace Okafor", "Henrik Lund", "Ines Carvalho", "Keiko Tanaka", "Priya Raman"];

async fn the_main_pages_are_shown(stage: &Stage) {
    let page = &stage.page;
    for name in PEOPLE {
        stage.advance(60);
        stage.org().new_member(name).await;
    }
    let admin = stage.admin().logged_in().await;
    let last = admin.members().await.pop().expect("the latest member");
    admin.set_role(last["userId"].as_str().expect("an id"), "org_admin").await.expect(200);
    page.open("/sign-in#org=acme&email=ada@acme.example").await;
    page.arrives_at("Sign in").await;
    stage.page.is_pictured_as("sign-in").await;

    stage.signs_in("ada@acme.example", PASSWORD).await;
    page.arrives_at("Members").await;
    page.reads("Priya Raman").await;
    stage.page.is_pictured_as("members").await;

    let receiver = Receiver::start().await;
    let created = admin.post(
        "/org/webhooks",
        json!({ "url": receiver.url(), "events": ["member.*", "invite.accepted"], "description": "Directory sync" }),
    );
    created.await.expect(201);
    for (count, team) in [(1, "avionics"), (2, "propulsion")] {
        admin.set_metadata(stage.member().id(), json!({ "team": team })).await.expect(200);
        receiver.has_received(count).await;
        stage.advance(1);
    }
    page.press("Webhooks").await;
    page.arrives_at("Webhooks").await;
    page.row(&receiver.url()).press("Open").await;
    page.arrives_at("Webhook").await;
    page.press("Send a test").await;
    page.part("Test").reads("Delivered").await;
    page.row("webhook.test").reads("Delivered").await;
    page.part("Deliveries").scrolls_there().await;
    stage.page.is_pictured_as("webhook").await;

    page.is_dark(true).await;
    page.press("Members").await;
    page.arrives_at("Members").await;
    page.reads("Priya Raman").await;
    stage.page.is_pictured_as("members-dark").await;
    page.is_dark(false).await;
    stage.signs_out().await;

    let phone = Phone::guarding(&stage.member().logged_in().await, stage).await;
    stage.signs_in("max@acme.example", PASSWORD).await;
    page.fill("Code", &phone.next_code(stage)).await;
    page.press("Continue").await;
    page.arrives_at("Members").await;
    page.press("Security").await;
    page.arrives_at("Security").await;
    page.reads("Recovery codes left").await;
    stage.page.is_pictured_as("security").await;
}
