//! What pages say is said in their own words, at the place that it is about.

use serde_json::json;
use tenant_auth_conformance::{
    PASSWORD,
    browser::{Page, Receiver, Stage},
    visits,
};

visits! {
    a_field_says_what_it_wants,
    a_webhook_that_is_gone_leads_back,
    the_key_that_a_rotation_replaces_is_marked,
    a_webhook_for_everything_says_so,
    deliveries_are_filtered_by_their_result,
}

async fn ada_opens<'a>(stage: &'a Stage, view: &str) -> &'a Page {
    stage.signs_in("ada@acme.example", PASSWORD).await;
    stage.page.arrives_at("Members").await;
    stage.page.press(view).await;
    stage.page.arrives_at(view).await;
    &stage.page
}

async fn a_field_says_what_it_wants(stage: &Stage) {
    let page = &stage.page;
    page.open("/sign-in").await;
    page.fill("Organization", "Acme Inc").await;
    page.fill("Email address", "ada@acme.example, bea@acme.example").await;
    page.fill("Password", PASSWORD).await;
    page.press("Sign in").await;
    page.reads("Write lower-case letters, digits and hyphens.").await;
    page.reads("Write one address, such as name@example.com.").await;
    let page = ada_opens(stage, "API keys").await;
    page.press("Create key").await;
    page.fill("Name", "billing").await;
    for scope in ["Verify access tokens", "Read users", "Read members"] {
        if page.run("return find('box', arguments[0]).checked", vec![scope.into()]).await == true {
            page.tick(scope).await;
        }
    }
    page.press("Create key").await;
    page.reads("Choose at least one.").await;
    page.is_accessible().await;
}

async fn a_webhook_that_is_gone_leads_back(stage: &Stage) {
    let page = ada_opens(stage, "Webhooks").await;
    page.open("/#/webhooks/whk_01kaz3vrm0f3k8m2p5q7r9s1t4").await;
    page.arrives_at("Webhook").await;
    page.reads("It is not there any more.").await;
    page.offers_no("Try again").await;
    page.is_accessible().await;
    page.was_refused_anywhere(404).await;
    page.part("Webhook").press("All webhooks").await;
    page.arrives_at("Webhooks").await;
}

async fn the_key_that_a_rotation_replaces_is_marked(stage: &Stage) {
    let admin = stage.admin().logged_in().await;
    let (key, old) = admin.created_key(json!({ "name": "billing", "scopes": ["verify"] })).await;
    stage.advance(60);
    let id = key["id"].as_str().expect("an id");
    let rotated = admin.post(&format!("/org/api-keys/{id}/rotate"), json!({ "overlapSeconds": 3600 })).await.expect(201);
    let new = rotated.data()["key"].as_str().expect("a key").to_owned();
    let page = ada_opens(stage, "API keys").await;
    let (old, new) = (page.row(&old[old.len() - 4..]), page.row(&new[new.len() - 4..]));
    old.reads("Older").await;
    old.reads("in 1 hour").await;
    old.reads("Ada Admin").await;
    new.reads("Ada Admin").await;
    new.reads("Never").await;
    let heads =
        page.run("return [...document.querySelectorAll('thead th')].map((one) => one.textContent).join(', ')", vec![]).await;
    assert_eq!(heads, "Key, Scopes, Created, By, Last used, Expires, Actions");
    assert_eq!(
        page.run(
            "return [...document.querySelectorAll('tbody tr')].filter((one) => one.innerText.includes('Older')).length",
            vec![]
        )
        .await,
        1
    );
    page.is_accessible().await;
    // Whoever made it is one click away.
    new.press("Ada Admin").await;
    page.asks("Ada Admin").await;
}

async fn creates_webhook(stage: &Stage, url: &str) -> String {
    let made =
        stage.admin().logged_in().await.post("/org/webhooks", json!({ "url": url, "events": ["*", "org.*"] })).await.expect(201);
    made.data()["webhook"]["id"].as_str().expect("an id").to_owned()
}

async fn a_webhook_for_everything_says_so(stage: &Stage) {
    let receiver = Receiver::start().await;
    let id = creates_webhook(stage, &receiver.url()).await;
    let page = ada_opens(stage, "Webhooks").await;
    page.open(&format!("/#/webhooks/{id}")).await;
    page.arrives_at("Webhook").await;
    page.reads("Everything").await;
    page.reads("Every organization event").await;
    page.press("Rotate secret").await;
    page.press("Rotate secret").await;
    page.asks("The secret of this webhook").await;
    page.reads("whsec_ in place of whs_").await;
}

async fn deliveries_are_filtered_by_their_result(stage: &Stage) {
    let receiver = Receiver::start().await;
    let id = creates_webhook(stage, &receiver.url()).await;
    let page = ada_opens(stage, "Webhooks").await;
    page.open(&format!("/#/webhooks/{id}")).await;
    page.arrives_at("Webhook").await;
    page.press("Send a test").await;
    page.part("Test").reads("Delivered").await;
    page.row("webhook.test").press("Details webhook.test").await;
    page.asks("webhook.test").await;
    page.reads("204").await;
    page.reads("ms").await;
    page.reads("\"type\": \"webhook.test\"").await;
    page.is_accessible().await;
    page.press("Close").await;
    page.asks_nothing().await;
    page.choose("Result", "Failed").await;
    page.reads("Nothing found").await;
    page.reload().await;
    page.arrives_at("Webhook").await;
    page.reads("Nothing found").await;
    page.choose("Result", "Delivered").await;
    page.row("webhook.test").reads("Delivered").await;
    page.is_accessible().await;
}
