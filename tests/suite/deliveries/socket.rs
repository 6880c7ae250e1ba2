//! Deliveries over a real socket: the sender that is shipped, a receiver that is no part of the product, and the wire between them.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tenant_auth_conformance::{
    App, free_port,
    receiver::{Received, Receiver},
    scenarios,
};
use tenant_auth_core::ports::{Clock, HttpSender, MockClock, SystemClock};
use tokio::sync::oneshot;

use crate::suite::support::hooks::{Hook, verifier};

scenarios![
    a_delivery_arrives_as_it_was_signed,
    a_commit_wakes_the_worker,
    a_receiver_that_fails_is_asked_again,
    a_redirect_is_not_followed,
    the_header_retry_after_is_read,
    a_receiver_that_hangs_times_out,
    a_receiver_that_is_away_or_speaks_no_tls_has_a_word_of_its_own,
];

/// A service that really sends, in a private network and at the present time.
async fn sending(app: &App) -> App {
    app.beside(|setup| {
        setup.sender = Some(Arc::new(HttpSender::new().expect("root certificates")));
        setup.clock = Arc::new(MockClock::at(SystemClock.now()));
        setup.config.webhooks.allow_private_networks = true;
        setup.config.webhooks.timeout = Duration::from_secs(1);
    })
    .await
}

/// Believes a delivery as a receiver would.
#[track_caller]
fn verified(received: &Received, secret: &str) -> Value {
    let mut headers = http::HeaderMap::new();
    for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
        headers.insert(name, received.header(name).parse().expect("a header"));
    }
    verifier(secret).verify(&received.body, &headers).expect("signed, and just now");
    serde_json::from_slice(&received.body).expect("JSON")
}

async fn a_delivery_arrives_as_it_was_signed(app: &App) {
    let (app, receiver) = (&sending(app).await, Receiver::start().await);
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, &receiver.url(), &["org.updated"]).await;
    let newer = hook.rotated(&admin, 60).await;
    admin.patch("/org", json!({ "name": "Søren & Sons 🚀 \"quoted\"" })).await.expect(200);
    app.tick().await;
    let received = receiver.received();
    assert_eq!(received.len(), 1);
    assert_eq!(received[0].request_line, "POST /in HTTP/1.1");
    assert_eq!(received[0].header("content-type"), "application/json");
    assert_eq!(format!("http://{}/in", received[0].header("host")), hook.url);
    assert!(received[0].header("user-agent").starts_with("tenant-auth/"));
    for secret in [&hook.secret, &newer] {
        let event = verified(&received[0], secret);
        assert_eq!((&event["type"], &event["data"]["org"]["name"]), (&"org.updated".into(), &"Søren & Sons 🚀 \"quoted\"".into()));
        assert_eq!(event["id"], received[0].header("webhook-id"));
    }
    let all = format!("{:?}", received[0].headers);
    assert!(!all.contains("cookie") && !all.contains("whs_") && !all.contains("authorization"), "{all}");
    assert_eq!(hook.delivery(&admin).await["lastStatusCode"], 200);
}

async fn a_commit_wakes_the_worker(app: &App) {
    let (app, receiver) = (&sending(app).await, Receiver::start().await);
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, &receiver.url(), &["org.updated"]).await;
    let (stop, stopped) = oneshot::channel::<()>();
    let worker = app.auth.worker();
    let running = tokio::spawn(async move { worker.run_until(async { drop(stopped.await) }).await });
    for (count, event) in [(1, "webhook.test"), (2, "org.updated"), (3, "webhook.test")] {
        if event == "webhook.test" {
            hook.test(&admin).await;
        } else {
            admin.patch("/org", json!({ "name": "Acme" })).await.expect(200);
        }
        let arrived = tokio::time::timeout(Duration::from_secs(2), receiver.until(count)).await;
        let arrived = arrived.expect("within two seconds");
        assert_eq!(verified(&arrived[count - 1], &hook.secret)["type"], event);
    }
    stop.send(()).expect("it works");
    running.await.expect("it stops");
}

async fn a_receiver_that_fails_is_asked_again(app: &App) {
    let (app, receiver) = (&sending(app).await, Receiver::start().await);
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, &receiver.url(), &["org.updated"]).await;
    receiver.answer("500 Internal Server Error\r\n");
    hook.test(&admin).await;
    app.tick().await;
    assert_eq!((&hook.delivery(&admin).await["lastStatusCode"], receiver.received().len()), (&500.into(), 1));
    receiver.answer("204 No Content\r\n");
    app.advance(6);
    app.tick().await;
    let received = receiver.received();
    assert_eq!((received.len(), &received[0].body), (2, &received[1].body));
    assert_eq!(received[0].header("webhook-id"), received[1].header("webhook-id"));
    received.iter().for_each(|received| drop(verified(received, &hook.secret)));
    assert_eq!(hook.delivery(&admin).await["status"], "succeeded");
}

async fn a_redirect_is_not_followed(app: &App) {
    let (app, receiver, elsewhere) = (&sending(app).await, Receiver::start().await, Receiver::start().await);
    let admin = app.admin().logged_in().await;
    for status in ["301 Moved Permanently", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        receiver.answer(&format!("{status}\r\nLocation: {}\r\n", elsewhere.url()));
        let hook = Hook::new(&admin, &receiver.url(), &["org.updated"]).await;
        hook.test(&admin).await;
        app.tick().await;
        let delivery = hook.delivery(&admin).await;
        assert_eq!((&delivery["status"], &delivery["lastError"]), (&"pending".into(), &"status".into()));
        assert_eq!(delivery["lastStatusCode"].to_string(), status[..3]);
        admin.delete(&hook.path()).await.expect(200);
    }
    assert_eq!((receiver.received().len(), elsewhere.received().len()), (4, 0));
}

async fn the_header_retry_after_is_read(app: &App) {
    let (app, receiver) = (&sending(app).await, Receiver::start().await);
    let admin = app.admin().logged_in().await;
    for (wish, least, most) in
        [("3600", 3_600_000, 3_600_000), ("Fri, 31 Dec 2100 23:59:59 GMT", 86_400_000, 86_400_000), ("soon", 4_250, 5_750)]
    {
        receiver.answer(&format!("503 Service Unavailable\r\nRetry-After: {wish}\r\n"));
        let hook = Hook::new(&admin, &receiver.url(), &["org.updated"]).await;
        hook.test(&admin).await;
        app.tick().await;
        let next = hook.delivery(&admin).await["nextAttemptAt"].as_str().expect("a time").to_owned();
        let wait = tenant_auth_core::Timestamp::parse(&next).expect("an ISO time").millis() - app.clock.now().millis();
        assert!((least..=most).contains(&wait), "{wish}: {wait}");
        admin.delete(&hook.path()).await.expect(200);
    }
}

async fn a_receiver_that_hangs_times_out(app: &App) {
    let (app, receiver) = (&sending(app).await, Receiver::start().await);
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, &receiver.url(), &["org.updated"]).await;
    receiver.hang();
    hook.test(&admin).await;
    app.tick().await;
    let delivery = hook.delivery(&admin).await;
    assert_eq!((&delivery["lastError"], &delivery["lastStatusCode"]), (&"timeout".into(), &Value::Null));
    assert_eq!(receiver.received().len(), 1);
}

async fn a_receiver_that_is_away_or_speaks_no_tls_has_a_word_of_its_own(app: &App) {
    let (app, receiver) = (&sending(app).await, Receiver::start().await);
    let admin = app.admin().logged_in().await;
    let away = format!("http://127.0.0.1:{}/in", free_port());
    for (url, word) in [(away, "unreachable"), (receiver.url().replace("http:", "https:"), "tls")] {
        let hook = Hook::new(&admin, &url, &["org.updated"]).await;
        hook.test(&admin).await;
        app.tick().await;
        let delivery = hook.delivery(&admin).await;
        assert_eq!((&delivery["lastError"], &delivery["lastStatusCode"]), (&word.into(), &Value::Null));
    }
    assert!(receiver.received().is_empty());
}
