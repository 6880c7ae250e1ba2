//! Sending something again: a new delivery of the same event, which therefore is kept as long as its deliveries are.

use std::time::Duration;

use serde_json::{Value, json};
use tenant_auth_conformance::{App, id_of, scenarios, shape};
use tenant_auth_core::ports::Clock;

use crate::suite::support::hooks::{ANOTHER, Hook, RECEIVER, header, is_signed_with};

scenarios![
    something_is_sent_again_on_demand,
    what_failed_is_sent_again_on_demand,
    only_a_webhooks_own_deliveries_are_sent_again,
    a_disabled_webhook_is_sent_nothing_again,
    what_is_sent_again_keeps_its_event,
];

async fn something_is_sent_again_on_demand(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    admin.patch("/org", json!({ "name": "Acme" })).await.expect(200);
    app.tick().await;
    app.advance(60);
    let first = hook.delivery(&admin).await;
    let data = hook.redelivering(&admin, id_of(&first)).await.expect(202).data();
    assert_eq!((shape(&data), shape(&data["delivery"])), (vec!["delivery"], vec!["id"]));
    assert_ne!(id_of(&data["delivery"]), id_of(&first));
    app.tick().await;
    let log = hook.log(&admin).await;
    assert_eq!((log.len(), &log[0]), (2, &first), "the first is as it was");
    assert_eq!((&log[1]["id"], &log[1]["eventId"]), (&data["delivery"]["id"], &first["eventId"]));
    assert_eq!((&log[1]["status"], &log[1]["attempts"], &log[1]["event"]), (&"succeeded".into(), &1.into(), &"org.updated".into()));
    assert_eq!(log[1]["createdAt"], "2026-11-20T08:22:00.000Z");
    let sent = hook.sent(app);
    assert_eq!(sent.len(), 2);
    assert_eq!((header(&sent[0], "webhook-id"), &sent[0].body), (header(&sent[1], "webhook-id"), &sent[1].body));
    assert_ne!(header(&sent[0], "webhook-timestamp"), header(&sent[1], "webhook-timestamp"));
    assert!(is_signed_with(&sent[1], &hook.secret));
}

async fn what_failed_is_sent_again_on_demand(app: &App) {
    let schedule = vec![Duration::from_secs(5)];
    let app = &app.beside(|setup| setup.config.webhooks.retry_schedule = schedule).await;
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    hook.answers(app, &[500, 500, 200]);
    hook.test(&admin).await;
    app.tick().await;
    app.advance(6);
    app.tick().await;
    let failed = hook.delivery(&admin).await;
    assert_eq!((&failed["status"], &failed["attempts"], &failed["nextAttemptAt"]), (&"failed".into(), &2.into(), &Value::Null));
    hook.redelivering(&admin, id_of(&failed)).await.expect(202);
    app.tick().await;
    assert_eq!(hook.log(&admin).await[1]["status"], "succeeded");
    assert_eq!(hook.log(&admin).await[0], failed);
}

async fn only_a_webhooks_own_deliveries_are_sent_again(app: &App) {
    let (admin, greta) = (app.admin().logged_in().await, app.other_org().admin().logged_in().await);
    let (hook, other) = (Hook::new(&admin, RECEIVER, &["*"]).await, Hook::new(&admin, ANOTHER, &["*"]).await);
    let foreign = Hook::new(&greta, "https://hooks.example.com/globex", &["*"]).await;
    let (theirs, foreigns) = (other.test(&admin).await, foreign.test(&greta).await);
    for id in [theirs.as_str(), &foreigns, "dlv_00000000000000000000000000", "rubbish", &hook.id] {
        hook.redelivering(&admin, id).await.expect_error(404, "not_found");
    }
    foreign.redelivering(&admin, &foreigns).await.expect_error(404, "not_found");
    assert!(hook.log(&admin).await.is_empty());
    assert_eq!((other.log(&admin).await.len(), foreign.log(&greta).await.len()), (1, 1));
}

async fn a_disabled_webhook_is_sent_nothing_again(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["*"]).await;
    let delivery = hook.test(&admin).await;
    app.tick().await;
    hook.switching(&admin, "disabled").await.expect(200);
    hook.redelivering(&admin, &delivery).await.expect_error(409, "webhook_disabled");
    assert_eq!(hook.log(&admin).await.len(), 1);
}

async fn what_is_sent_again_keeps_its_event(app: &App) {
    let hook = Hook::new(&app.admin().logged_in().await, RECEIVER, &["org.updated"]).await;
    let delivery = hook.test(&app.admin().logged_in().await).await;
    app.tick().await;
    app.advance(29 * 86_400);
    hook.answers(app, &[500, 200]);
    hook.redelivering(&app.admin().logged_in().await, &delivery).await.expect(202);
    app.tick().await;
    app.advance(2 * 86_400);
    app.tick().await;
    let last = hook.delivery(&app.admin().logged_in().await).await;
    assert_eq!((&last["status"], &last["attempts"]), (&"succeeded".into(), &2.into()));
    let sent = hook.sent(app);
    assert_eq!((sent.len(), &sent[0].body), (3, &sent[2].body));
    assert_eq!(header(&sent[2], "webhook-timestamp"), (app.clock.now().millis() / 1_000).to_string());
}
