//! Webhooks, from the form to an endpoint that really receives.

use aws_lc_rs::hmac;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use tenant_auth_conformance::{
    PASSWORD,
    browser::{Page, Received, Receiver, Stage},
    visits,
};

visits! {
    a_test_arrives_at_a_real_receiver,
    kinds_are_picked_and_what_happens_is_delivered,
    a_webhook_is_edited_disabled_and_deleted,
}

async fn opens(stage: &Stage) -> &Page {
    stage.signs_in("ada@acme.example", PASSWORD).await;
    stage.page.arrives_at("Members").await;
    stage.page.press("Webhooks").await;
    stage.page.arrives_at("Webhooks").await;
    &stage.page
}

/// Creates a webhook for everything; its page is open afterwards, and the secret is returned.
async fn creates(page: &Page, url: &str) -> String {
    page.press("Create webhook").await;
    page.asks("Create a webhook").await;
    page.fill("Endpoint URL", url).await;
    page.tick("Everything but what is done to webhooks, also kinds that come later").await;
    page.press("Create webhook").await;
    stores_secret(page).await
}

async fn stores_secret(page: &Page) -> String {
    let secret = page.value("Signing secret").await;
    page.is_accessible().await;
    page.press("Copy").await;
    page.reads("Copied to the clipboard.").await;
    assert_eq!(page.clipboard().await, secret);
    page.press("I have stored it").await;
    page.asks_nothing().await;
    page.arrives_at("Webhook").await;
    page.reads_no(&secret).await;
    secret
}

/// Standard Webhooks, by hand.
fn signature(secret: &str, received: &Received) -> String {
    let key = STANDARD.decode(secret.strip_prefix("whs_").expect("the prefix")).expect("base64");
    let header = |name: &str| received.headers[name].to_str().expect("ASCII").to_owned();
    let signed = [header("webhook-id").as_bytes(), b".", header("webhook-timestamp").as_bytes(), b".", &received.body].concat();
    format!("v1,{}", STANDARD.encode(hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), &signed)))
}

fn signatures(received: &Received) -> Vec<&str> {
    received.headers["webhook-signature"].to_str().expect("ASCII").split(' ').collect()
}

async fn a_test_arrives_at_a_real_receiver(stage: &Stage) {
    let (page, receiver) = (opens(stage).await, Receiver::start().await);
    page.reads("No webhooks").await;
    page.is_accessible().await;
    let secret = creates(page, &receiver.url()).await;
    page.press("Send a test").await;
    page.part("Test").reads("Delivered").await;
    page.part("Test").reads("204").await;
    let tests = of_type(&receiver, "webhook.test");
    assert_eq!(tests.len(), 1);
    assert_eq!(signatures(&tests[0]), [signature(&secret, &tests[0])]);
    page.row("webhook.test").reads("Delivered").await;
    page.is_accessible().await;

    receiver.answer(500);
    page.press("Send a test").await;
    page.part("Test").reads("500").await;
    page.part("Test").reads("refused").await;
    receiver.answer(204);
    page.press("Rotate secret").await;
    page.asks("Rotate the signing secret").await;
    page.is_accessible().await;
    page.press("Rotate secret").await;
    let next = stores_secret(page).await;
    page.press("Send a test").await;
    page.part("Test").reads("Delivered").await;
    let last = of_type(&receiver, "webhook.test").pop().expect("a test");
    let (with_next, with_old) = (signature(&next, &last), signature(&secret, &last));
    assert!(signatures(&last).contains(&&*with_next) && signatures(&last).contains(&&*with_old), "both sign for a day");
}

fn of_type(receiver: &Receiver, kind: &str) -> Vec<Received> {
    let is_kind = |one: &Received| serde_json::from_slice::<Value>(&one.body).expect("JSON")["type"] == kind;
    receiver.received().into_iter().filter(is_kind).collect()
}

async fn kinds_are_picked_and_what_happens_is_delivered(stage: &Stage) {
    let (page, receiver) = (opens(stage).await, Receiver::start().await);
    page.press("Create webhook").await;
    page.asks("Create a webhook").await;
    page.is_accessible().await;
    page.fill("Endpoint URL", "ftp://nowhere.example/").await;
    page.press("Create webhook").await;
    page.reads("Choose at least one.").await;
    page.press("member").await;
    page.tick("Every member event").await;
    page.press("organization").await;
    page.tick("org.updated").await;
    page.is_accessible().await;
    page.press("Create webhook").await;
    page.was_eventually_refused(400, "/org/webhooks").await;
    page.fill("Endpoint URL", &receiver.url()).await;
    page.fill("Description", "Keeps the directory in step").await;
    page.press("Create webhook").await;
    stores_secret(page).await;
    page.reads("Every member event").await;
    page.reads("Keeps the directory in step").await;
    let admin = stage.admin().logged_in().await;
    admin.set_metadata(stage.member().id(), json!({ "team": "lift-off" })).await.expect(200);
    receiver.has_received(1).await;
    page.press("Refresh").await;
    page.row("member.updated").reads("Delivered").await;
    page.row("member.updated").press("Redeliver").await;
    page.reads("It is sent again.").await;
    receiver.has_received(2).await;
    let received = receiver.received();
    assert_eq!(received.len(), 2, "the update and its repetition; no session.created, which nobody asked for");
    assert_eq!(received[0].headers["webhook-id"], received[1].headers["webhook-id"]);
}

async fn a_webhook_is_edited_disabled_and_deleted(stage: &Stage) {
    let (page, receiver) = (opens(stage).await, Receiver::start().await);
    creates(page, &receiver.url()).await;
    page.press("Edit").await;
    page.asks("Edit webhook").await;
    page.is_accessible().await;
    page.press("webhook").await;
    page.tick("webhook.deleted").await;
    page.fill("Description", "Nobody reads this").await;
    page.press("Save webhook").await;
    page.reads("The webhook was saved.").await;
    let listed = stage.admin().logged_in().await.get("/org/webhooks").await.expect_ok();
    assert_eq!(
        listed["webhooks"][0]["events"],
        json!(["*", "webhook.deleted"]),
        "what is selected by name alone stands beside all"
    );
    page.reads("Nobody reads this").await;
    page.press("Disable").await;
    page.asks("Disable this webhook?").await;
    page.press("Disable").await;
    page.asks_nothing().await;
    page.reads("Disabled").await;
    page.offers_no("Send a test").await;
    page.is_accessible().await;
    page.press("Enable").await;
    page.press("Enable").await;
    page.asks_nothing().await;
    page.offers("Send a test").await;
    page.press("Delete").await;
    page.asks("Delete this webhook?").await;
    page.press("Delete").await;
    page.arrives_at("Webhooks").await;
    page.reads("No webhooks").await;
}
