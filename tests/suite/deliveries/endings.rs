//! Webhooks that are disabled or deleted with a long backlog: whoever does it need not wait for all of it, nothing of it is sent, and
//! nothing of it comes back.

use tenant_auth_conformance::{App, Caller, scenarios};

use crate::suite::support::hooks::{Hook, RECEIVER, run_sql, texts_in};

scenarios![on each database:
    a_long_backlog_is_cancelled_and_nothing_of_it_sent,
    what_nobody_noted_as_left_is_cancelled_when_it_is_due,
    an_endpoint_that_is_gone_does_not_keep_its_backlog,
    enabling_at_once_brings_nothing_back,
    a_webhook_with_a_long_log_is_gone_at_once,
];

/// More than two transactions take.
const MANY: usize = 2_500;
const TEN_MINUTES: u64 = 600;

/// A webhook whose receiver answers with this, and many deliveries to it, all of them due within seconds.
async fn with_a_backlog(app: &App, admin: &Caller, answer: u16) -> Hook {
    let hook = Hook::new(admin, RECEIVER, &["org.updated"]).await;
    hook.answers(app, &[answer]);
    hook.test(admin).await;
    let more = format!(
        "INSERT INTO tenant_auth_deliveries
                (id, org_id, webhook_id, event_id, event_kind, status, attempts, next_attempt_at, scheduled_at, created_at)
         WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {MANY})
         SELECT 'dlv_more_' || n, e.org_id, '{}', e.id, e.kind, 'pending', 0, e.created_at + n, e.created_at, e.created_at
           FROM numbers, tenant_auth_events e
          WHERE e.kind = 'webhook.test'",
        hook.id
    );
    run_sql(app, &more).await;
    hook
}

/// How many deliveries there are of a status.
async fn count(app: &App, status: &str) -> usize {
    texts_in(app, &format!("SELECT id FROM tenant_auth_deliveries WHERE status = '{status}'")).await.len()
}

async fn stored_status(app: &App) -> Vec<String> {
    texts_in(app, "SELECT status FROM tenant_auth_webhooks").await
}

async fn later(app: &App) {
    app.advance(TEN_MINUTES);
    app.tick().await;
}

async fn a_long_backlog_is_cancelled_and_nothing_of_it_sent(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = with_a_backlog(app, &admin, 200).await;
    hook.switching(&admin, "disabled").await.expect(200);
    assert_eq!(hook.shown(&admin).await["status"], "disabled");
    let left = count(app, "pending").await;
    assert!((1..MANY).contains(&left), "a request cancels some and not all of it: {left} are left");
    app.tick().await;
    assert_eq!((count(app, "pending").await, stored_status(app).await), (0, vec!["disabled".to_owned()]));
    later(app).await;
    assert!(hook.sent(app).is_empty());
    hook.switching(&admin, "active").await.expect(200);
    later(app).await;
    assert!(hook.sent(app).is_empty(), "what was cancelled stays so");
}

/// As another version's process could leave it.
async fn what_nobody_noted_as_left_is_cancelled_when_it_is_due(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = with_a_backlog(app, &admin, 200).await;
    run_sql(app, "UPDATE tenant_auth_webhooks SET status = 'disabled'").await;
    later(app).await;
    assert_eq!((count(app, "pending").await, stored_status(app).await), (0, vec!["disabled".to_owned()]));
    assert!(hook.sent(app).is_empty());
}

async fn an_endpoint_that_is_gone_does_not_keep_its_backlog(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = with_a_backlog(app, &admin, 410).await;
    app.tick().await;
    assert_eq!((count(app, "pending").await, stored_status(app).await), (0, vec!["disabled".to_owned()]));
    let sent = hook.sent(app).len();
    later(app).await;
    assert_eq!(hook.sent(app).len(), sent);
}

async fn enabling_at_once_brings_nothing_back(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = with_a_backlog(app, &admin, 200).await;
    for status in ["disabled", "active"] {
        hook.switching(&admin, status).await.expect(200);
    }
    assert_eq!((count(app, "pending").await, stored_status(app).await), (0, vec!["active".to_owned()]));
    later(app).await;
    assert!(hook.sent(app).is_empty());
}

async fn a_webhook_with_a_long_log_is_gone_at_once(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = with_a_backlog(app, &admin, 200).await;
    admin.delete(&hook.path()).await.expect(200);
    admin.get(&hook.path()).await.expect_error(404, "not_found");
    admin.get(&format!("{}/deliveries", hook.path())).await.expect_error(404, "not_found");
    admin.delete(&hook.path()).await.expect_error(404, "not_found");
    hook.switching(&admin, "active").await.expect_error(404, "not_found");
    assert_eq!(admin.get("/org/webhooks").await.expect_ok()["webhooks"], serde_json::json!([]));
    assert!(!texts_in(app, "SELECT id FROM tenant_auth_deliveries").await.is_empty(), "nobody waits for the end of it");
    later(app).await;
    for table in ["webhooks", "webhook_secrets", "deliveries"] {
        assert_eq!(texts_in(app, &format!("SELECT id FROM tenant_auth_{table}")).await, Vec::<String>::new(), "{table}");
    }
    assert!(hook.sent(app).is_empty());
}
