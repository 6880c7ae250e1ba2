//! What goes wrong around deliveries, and stays where it went wrong: a webhook that cannot be read, a sender that panics or does not
//! end, a database that is away between an attempt and its record.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use serde_json::json;
use tenant_auth_conformance::{App, Caller, logs, scenarios};
use tenant_auth_core::ports::{SendError, Sender, WebhookRequest, WebhookResponse};
use tokio::sync::oneshot;

use crate::suite::support::hooks::{ANOTHER, Hook, RECEIVER, run_sql, texts_in, until_sent};

scenarios![on each database:
    a_webhook_that_cannot_be_read_hinders_no_other,
    what_waits_for_a_webhook_that_cannot_be_read_is_not_written,
    a_webhook_without_a_secret_is_sent_nothing,
    a_disabled_webhook_without_a_secret_is_not_looked_at_again,
    an_event_that_cannot_be_read_hinders_no_other,
    a_sender_that_panics_costs_one_attempt,
    a_sender_that_does_not_end_is_not_waited_for,
    an_attempt_made_before_an_outage_is_recorded_after_it,
];

/// Longer than any claim lasts.
const LEASE: Duration = Duration::from_secs(60);

/// Another name each time, for the same one is no change.
async fn rename(admin: &Caller) {
    static TIMES: AtomicUsize = AtomicUsize::new(0);
    let name = format!("Renamed {}", TIMES.fetch_add(1, Ordering::SeqCst));
    admin.patch("/org", json!({ "name": name })).await.expect(200);
}

async fn id_of_acme(app: &App) -> String {
    texts_in(app, "SELECT id FROM tenant_auth_organizations WHERE slug = 'acme'").await.remove(0)
}

/// Whom to ask, or to tell, is the organization.
#[track_caller]
fn expect_told(defect: &str, org: &str) {
    let lines = logs::lines_with(defect);
    assert!(lines.iter().any(|line| line.contains(&format!("organization_id={org}"))), "{lines:?}");
}

/// An older version does not know what a newer one allows.
async fn a_webhook_that_cannot_be_read_hinders_no_other(app: &App) {
    let admin = app.admin().logged_in().await;
    let mut hooks = Vec::new();
    for n in 0..3 {
        hooks.push(Hook::new(&admin, &format!("https://hooks.example.com/{n}"), &["org.updated"]).await);
    }
    hooks.sort_by(|one, other| one.id.cmp(&other.id));
    let unreadable = &hooks[0];
    run_sql(app, &format!("UPDATE tenant_auth_webhooks SET url = 'rubbish' WHERE id = '{}'", unreadable.id)).await;
    rename(&admin).await;
    app.tick().await;
    assert_eq!(hooks.iter().map(|hook| hook.sent(app).len()).collect::<Vec<_>>(), [0, 1, 1]);
    expect_told("a webhook cannot be read", &id_of_acme(app).await);
    let repair = format!("UPDATE tenant_auth_webhooks SET url = '{}' WHERE id = '{}'", unreadable.url, unreadable.id);
    run_sql(app, &repair).await;
    app.clock.advance(LEASE);
    app.tick().await;
    assert_eq!(unreadable.sent(app).len(), 1, "its deliveries have waited");
}

/// A backlog of hundreds of thousands would be, every half minute.
async fn what_waits_for_a_webhook_that_cannot_be_read_is_not_written(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    hook.answers(app, &[500, 200]);
    rename(&admin).await;
    app.tick().await;
    run_sql(app, "UPDATE tenant_auth_webhooks SET url = 'rubbish'").await;
    app.clock.advance(LEASE);
    let due = "SELECT CAST(next_attempt_at AS TEXT) FROM tenant_auth_deliveries";
    let before = texts_in(app, due).await;
    app.tick().await;
    assert_eq!(texts_in(app, due).await, before);
    run_sql(app, &format!("UPDATE tenant_auth_webhooks SET url = '{RECEIVER}'")).await;
    app.tick().await;
    assert_eq!(hook.sent(app).len(), 2);
}

/// A receiver that checks no signature would believe it, and one that does would count it as an attack.
async fn a_webhook_without_a_secret_is_sent_nothing(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, "https://hooks.example.com/1", &["org.updated"]).await;
    rename(&admin).await;
    run_sql(app, "DELETE FROM tenant_auth_webhook_secrets").await;
    app.tick().await;
    assert_eq!(hook.sent(app).len(), 0);
}

/// After the loss of a master key: what was due for it is cancelled and not postponed for ever.
async fn a_disabled_webhook_without_a_secret_is_not_looked_at_again(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, "https://hooks.example.com/1", &["org.updated"]).await;
    hook.answers(app, &[500]);
    rename(&admin).await;
    app.tick().await;
    run_sql(app, "DELETE FROM tenant_auth_webhook_secrets").await;
    run_sql(app, "UPDATE tenant_auth_webhooks SET status = 'disabled'").await;
    app.clock.advance(LEASE);
    app.tick().await;
    assert_eq!(hook.delivery(&admin).await["status"], "cancelled");
}

async fn an_event_that_cannot_be_read_hinders_no_other(app: &App) {
    let (admin, other) = (app.admin().logged_in().await, app.other_org().admin().logged_in().await);
    let (hook, healthy) = (Hook::new(&admin, RECEIVER, &["org.updated"]).await, Hook::new(&other, ANOTHER, &["org.updated"]).await);
    rename(&admin).await;
    run_sql(app, "UPDATE tenant_auth_events SET data = 'rubbish' WHERE id IN (SELECT event_id FROM tenant_auth_outbox)").await;
    rename(&other).await;
    rename(&admin).await;
    app.tick().await;
    assert_eq!((hook.sent(app).len(), healthy.sent(app).len()), (1, 1), "each but the one");
    expect_told("an event cannot be read", &id_of_acme(app).await);
}

/// Panics the first time, then answers 200.
#[derive(Debug, Default)]
struct PanickingSender(AtomicUsize);

#[async_trait]
impl Sender for PanickingSender {
    async fn send(&self, _: WebhookRequest) -> Result<WebhookResponse, SendError> {
        assert!(self.0.fetch_add(1, Ordering::SeqCst) > 0, "a defect, made to order");
        Ok(WebhookResponse { status: 200, retry_after: None })
    }
}

async fn a_sender_that_panics_costs_one_attempt(app: &App) {
    let app = &app.beside(|setup| setup.sender = Some(Arc::new(PanickingSender::default()))).await;
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    rename(&admin).await;
    app.tick().await;
    assert_eq!(hook.delivery(&admin).await["status"], "pending");
    app.clock.advance(LEASE);
    app.tick().await;
    let delivery = hook.delivery(&admin).await;
    assert_eq!((&delivery["status"], &delivery["attempts"]), (&"succeeded".into(), &2.into()));
}

/// The recording sender knows no timeout.
async fn a_sender_that_does_not_end_is_not_waited_for(app: &App) {
    let app = &app.beside(|setup| setup.config.webhooks.timeout = Duration::from_secs(1)).await;
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    app.webhooks.hold(RECEIVER);
    rename(&admin).await;
    app.tick().await;
    assert_eq!(hook.delivery(&admin).await["lastError"], "timeout");
}

/// Time stands still, so that no lease runs out: only the record can end the delivery.
async fn an_attempt_made_before_an_outage_is_recorded_after_it(app: &App) {
    if app.database().url().is_none() {
        return; // only PostgreSQL can be away
    }
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    let (stop, stopped) = oneshot::channel::<()>();
    let worker = app.auth.worker();
    let working = tokio::spawn(async move { worker.run_until(async { drop(stopped.await) }).await });
    app.webhooks.hold(RECEIVER);
    rename(&admin).await;
    until_sent(app, RECEIVER, 1).await;
    app.database().set_reachable(false);
    app.webhooks.release(RECEIVER);
    tokio::time::sleep(Duration::from_millis(300)).await; // it is answered, and cannot be recorded
    app.database().set_reachable(true);
    while texts_in(app, "SELECT status FROM tenant_auth_deliveries").await != ["succeeded"] {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(hook.sent(app).len(), 1);
    stop.send(()).expect("it works");
    working.await.expect("it stops");
}
