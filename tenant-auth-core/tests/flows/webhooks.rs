//! Webhooks: a subscription, its signed delivery, and the retry of one that failed.

use std::{net::Ipv4Addr, time::Duration};

use tenant_auth_core::{
    Error, OrgAdmin, Page,
    model::{DeliveryStatus, EventSelection, Role},
    ports::{Clock, SendError, WebhookRequest},
    testing::TestAuth,
    value::Description,
    webhooks::{CreatedWebhook, NewWebhook, SignedHeaders, verify_webhook},
};

use crate::value;

const URL: &str = "https://hooks.acme.example/inbox";

/// A webhook that is told of new invites; its host has a public address.
async fn subscribed(test: &TestAuth, admin: &OrgAdmin) -> CreatedWebhook {
    test.resolver.answer("hooks.acme.example", [Ipv4Addr::new(93, 184, 216, 34).into()]);
    let events = EventSelection::parse(&["invite.*"]).expect("kinds there are");
    let new = NewWebhook { url: URL.to_owned(), events, description: Description::default() };
    admin.create_webhook(new).await.expect("a public target")
}

fn header<'a>(request: &'a WebhookRequest, name: &str) -> &'a str {
    let found = request.headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value.as_str()).unwrap_or_default()
}

#[tokio::test]
async fn an_event_is_delivered_signed() {
    let test = TestAuth::new().await;
    let admin = test.org_admin().await;
    let created = subscribed(&test, &admin).await;
    admin.invite(&value("nora@acme.example"), Role::Member).await.expect("nobody has this address");
    test.tick().await;
    let sent = test.sender.sent();
    assert_eq!(sent.len(), 1, "one event, one webhook");
    assert!(sent[0].body.contains("nora@acme.example"));
    let headers = SignedHeaders {
        id: header(&sent[0], "webhook-id"),
        timestamp: header(&sent[0], "webhook-timestamp"),
        signature: header(&sent[0], "webhook-signature"),
    };
    let tolerance = Duration::from_secs(300);
    verify_webhook(&created.secret, headers, sent[0].body.as_bytes(), test.clock.now(), tolerance).expect("our signature");
    let log = admin.deliveries(&created.webhook.id, None, &Page::default()).await.expect("a log").items;
    assert_eq!(log.iter().map(|delivery| delivery.status).collect::<Vec<_>>(), [DeliveryStatus::Succeeded]);
}

#[tokio::test]
async fn a_failed_delivery_is_made_again() {
    let test = TestAuth::new().await;
    let admin = test.org_admin().await;
    subscribed(&test, &admin).await;
    test.sender.answer(URL, Err(SendError::Timeout));
    test.sender.answer(URL, Ok(tenant_auth_core::ports::WebhookResponse { status: 204, retry_after: None }));
    admin.invite(&value("nora@acme.example"), Role::Member).await.expect("nobody has this address");
    test.tick().await;
    test.tick().await;
    assert_eq!(test.sender.sent().len(), 1, "a retry waits");
    test.clock.advance(Duration::from_secs(60 * 60));
    test.tick().await;
    let sent = test.sender.sent();
    assert_eq!(sent.len(), 2);
    assert_eq!(header(&sent[0], "webhook-id"), header(&sent[1], "webhook-id"), "a receiver recognises the repetition");
}

#[tokio::test]
async fn a_private_target_is_refused() {
    let test = TestAuth::new().await;
    let admin = test.org_admin().await;
    test.resolver.answer("inside.acme.example", [Ipv4Addr::new(10, 0, 0, 1).into()]);
    for url in ["https://inside.acme.example/", "https://127.0.0.1/", "ftp://hooks.acme.example/"] {
        let events = EventSelection::parse(&["invite.*"]).expect("kinds there are");
        let refused = admin.create_webhook(NewWebhook { url: url.to_owned(), events, description: Description::default() }).await;
        assert!(matches!(refused, Err(Error::Invalid(_))), "{url}: {refused:?}");
    }
}
