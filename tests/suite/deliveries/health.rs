//! Endpoints that do not answer any more: when a webhook is given up, who is told, and what brings it back.

use std::time::Duration;

use serde_json::{Value, json};
use sqlx::Connection;
use tenant_auth_conformance::{App, logs, scenarios};
use tenant_auth_core::ports::Message;
use tokio::sync::oneshot;

use crate::suite::{
    storage::locks::holding,
    support::{
        account::expect_no_link,
        hooks::{ANOTHER, Hook, RECEIVER, answer, event_in, texts_in, ticking, until_sent},
    },
};

scenarios![
    an_endpoint_that_is_gone_is_disabled_and_told_of,
    five_days_of_failure_disable_and_are_told_of,
    a_success_in_between_begins_the_count_anew,
    disabling_cancels_what_is_pending,
    enabling_resumes_for_new_events_only,
    enabling_forgets_the_failures_before,
    a_new_place_is_not_blamed_for_the_old_one,
    an_attempt_that_ends_after_the_disabling_changes_nothing,
    nobody_is_told_twice,
];
scenarios![on each database: an_organization_that_is_held_delays_no_other];

const HOUR: u64 = 3_600;

async fn notices(app: &App, address: &str) -> Vec<Message> {
    app.mail_to(address).await.into_iter().filter(|mail| mail.subject.contains("was disabled")).collect()
}

/// The status of a webhook, for an admin who has just come.
async fn status(app: &App, hook: &Hook) -> Value {
    hook.shown(&app.admin().logged_in().await).await["status"].clone()
}

/// A test delivery some hours later.
async fn tested_after(app: &App, hook: &Hook, hours: u64) {
    app.advance(hours * HOUR);
    hook.test(&app.admin().logged_in().await).await;
    app.tick().await;
}

/// What the witness was told of the victim, and the admins were mailed.
async fn expect_told(app: &App, victim: &Hook, witness: &Hook, reason: &str) {
    let admin = app.admin().logged_in().await;
    let shown = victim.shown(&admin).await;
    assert_eq!(shown["status"], "disabled");
    let logged = logs::lines_with("a webhook was disabled").into_iter().filter(|line| line.contains(&victim.id));
    assert!(logged.filter(|line| line.contains("WARN")).count() == 1, "an operator sees it in the log");
    let told: Vec<Value> = witness.sent(app).iter().map(event_in).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["type"], "webhook.disabled");
    assert_eq!(told[0]["data"], json!({ "webhook": shown, "reason": reason }));
    assert_eq!(told[0]["actor"], json!({ "type": "system", "id": null }));
    for address in [admin.email(), "dora@acme.example"] {
        let mails = notices(app, address).await;
        assert_eq!(mails.len(), 1, "{mails:?}");
        assert!(mails[0].text.contains("hooks.example.com") && mails[0].text.contains("Acme Rockets"), "{}", mails[0].text);
        expect_no_link(&mails[0]);
    }
    assert!(notices(app, app.member().email()).await.is_empty());
    assert!(notices(app, app.other_org().admin().email()).await.is_empty());
}

async fn an_endpoint_that_is_gone_is_disabled_and_told_of(app: &App) {
    let admin = app.admin().logged_in().await;
    app.org().new_admin("Dora").await;
    let witness = Hook::new(&admin, ANOTHER, &["webhook.disabled"]).await;
    app.tick().await; // before there is anybody to tell of it
    let victim = Hook::new(&admin, RECEIVER, &["org.updated", "webhook.*"]).await;
    victim.answers(app, &[410]);
    for name in ["One", "Two", "Acme Rockets"] {
        admin.patch("/org", json!({ "name": name })).await.expect(200);
    }
    app.tick().await;
    expect_told(app, &victim, &witness, "gone").await;
    let log = victim.log(&admin).await;
    assert_eq!(log.len(), 3, "its own end is not told to it");
    assert!(log.iter().all(|delivery| delivery["status"] == "cancelled" && delivery["nextAttemptAt"].is_null()), "{log:#?}");
    assert!(log.iter().any(|delivery| delivery["lastStatusCode"] == 410 && delivery["lastError"] == "status"));
    let sent = victim.sent(app).len();
    admin.patch("/org", json!({ "name": "Later" })).await.expect(200);
    app.advance(200 * HOUR);
    app.tick().await;
    assert_eq!((victim.sent(app).len(), witness.sent(app).len()), (sent, 1));
}

async fn five_days_of_failure_disable_and_are_told_of(app: &App) {
    let admin = app.admin().logged_in().await;
    app.org().new_admin("Dora").await;
    let (victim, witness) =
        (Hook::new(&admin, RECEIVER, &["org.updated"]).await, Hook::new(&admin, ANOTHER, &["webhook.disabled"]).await);
    victim.answers(app, &[500]);
    tested_after(app, &victim, 0).await;
    for _ in 0..4 {
        tested_after(app, &victim, 24).await;
    }
    app.clock.advance(Duration::from_millis(24 * HOUR * 1_000 - 1));
    victim.test(&app.admin().logged_in().await).await;
    app.tick().await;
    assert_eq!(status(app, &victim).await, "active", "119:59:59.999 of failure");
    app.clock.advance(Duration::from_millis(1));
    tested_after(app, &victim, 0).await;
    expect_told(app, &victim, &witness, "failing").await;
    let sent = victim.sent(app).len();
    app.advance(48 * HOUR);
    app.tick().await;
    assert_eq!(victim.sent(app).len(), sent);
}

async fn a_success_in_between_begins_the_count_anew(app: &App) {
    let hook = Hook::new(&app.admin().logged_in().await, RECEIVER, &["org.updated"]).await;
    app.webhooks.answer(RECEIVER, answer(500));
    app.webhooks.answer(RECEIVER, answer(500));
    tested_after(app, &hook, 0).await;
    app.webhooks.answer(RECEIVER, answer(200));
    app.advance(100 * HOUR);
    app.tick().await;
    app.advance(HOUR);
    app.tick().await;
    let log = hook.log(&app.admin().logged_in().await).await;
    assert!(log.iter().all(|delivery| delivery["status"] == "succeeded"), "{log:#?}");
    for _ in 0..2 {
        app.webhooks.answer(RECEIVER, answer(500));
    }
    // The answer that is repeated is 200, and given once more.
    tested_after(app, &hook, 1).await;
    tested_after(app, &hook, 1).await;
    for (hours, expected) in [(60, "active"), (59, "active"), (1, "disabled")] {
        tested_after(app, &hook, hours).await;
        assert_eq!(status(app, &hook).await, expected, "{hours} hours later");
    }
}

async fn disabling_cancels_what_is_pending(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    hook.answers(app, &[500, 200]);
    hook.test(&admin).await;
    app.tick().await;
    hook.test(&admin).await;
    hook.switching(&admin, "disabled").await.expect(200);
    for delivery in hook.log(&admin).await {
        assert_eq!((&delivery["status"], &delivery["nextAttemptAt"]), (&"cancelled".into(), &Value::Null));
    }
    app.advance(HOUR / 6);
    app.tick().await;
    assert_eq!(hook.sent(app).len(), 1);
    hook.switching(&admin, "active").await.expect(200);
    app.tick().await;
    assert_eq!(hook.sent(app).len(), 1, "what was cancelled stays so");
    assert!(notices(app, admin.email()).await.is_empty(), "the admins know what they do");
}

async fn enabling_resumes_for_new_events_only(app: &App) {
    let admin = app.admin().logged_in().await;
    let (hook, witness) = (Hook::new(&admin, RECEIVER, &["org.updated"]).await, Hook::new(&admin, ANOTHER, &["org.updated"]).await);
    let rename = async |name: &str| drop(admin.patch("/org", json!({ "name": name })).await.expect(200));
    rename("Before").await;
    app.tick().await;
    hook.switching(&admin, "disabled").await.expect(200);
    rename("Meanwhile").await;
    app.tick().await;
    hook.switching(&admin, "active").await.expect(200);
    app.tick().await;
    rename("After").await;
    app.tick().await;
    let names = |hook: &Hook| hook.sent(app).iter().map(|sent| event_in(sent)["data"]["org"]["name"].clone()).collect::<Vec<_>>();
    assert_eq!(names(&hook), ["Before", "After"]);
    assert_eq!(names(&witness), ["Before", "Meanwhile", "After"]);
}

async fn enabling_forgets_the_failures_before(app: &App) {
    let hook = Hook::new(&app.admin().logged_in().await, RECEIVER, &["org.updated"]).await;
    hook.answers(app, &[500]);
    tested_after(app, &hook, 0).await;
    app.advance(119 * HOUR);
    for switched in ["disabled", "active"] {
        hook.switching(&app.admin().logged_in().await, switched).await.expect(200);
    }
    for (hours, expected) in [(0, "active"), (60, "active"), (59, "active"), (1, "disabled")] {
        tested_after(app, &hook, hours).await;
        assert_eq!(status(app, &hook).await, expected, "{hours} hours later");
    }
}

async fn a_new_place_is_not_blamed_for_the_old_one(app: &App) {
    let hook = Hook::new(&app.admin().logged_in().await, RECEIVER, &["org.updated"]).await;
    app.webhooks.answer(RECEIVER, answer(500));
    app.webhooks.answer(ANOTHER, answer(500));
    tested_after(app, &hook, 0).await;
    tested_after(app, &hook, 119).await;
    hook_moved(app, &hook).await;
    tested_after(app, &hook, 2).await;
    assert_eq!(status(app, &hook).await, "active");
    tested_after(app, &hook, 120).await;
    assert_eq!(status(app, &hook).await, "disabled");
}

async fn hook_moved(app: &App, hook: &Hook) {
    app.admin().logged_in().await.patch(&hook.path(), json!({ "url": ANOTHER })).await.expect(200);
}

async fn an_attempt_that_ends_after_the_disabling_changes_nothing(app: &App) {
    let admin = app.admin().logged_in().await;
    for last in [200, 500, 410] {
        let url = format!("https://hooks.example.com/{last}");
        let hook = Hook::new(&admin, &url, &["org.updated"]).await;
        hook.answers(app, &[last]);
        app.webhooks.hold(&url);
        hook.test(&admin).await;
        let worker = ticking(app);
        until_sent(app, &url, 1).await;
        hook.switching(&admin, "disabled").await.expect(200);
        app.webhooks.release(&url);
        worker.await.expect("the worker goes on").expect("the database answers");
        let delivery = hook.delivery(&admin).await;
        assert_eq!((&delivery["status"], &delivery["nextAttemptAt"]), (&"cancelled".into(), &Value::Null), "{last}");
        app.advance(10);
        app.tick().await;
        assert_eq!(hook.sent(app).len(), 1);
    }
    assert!(notices(app, admin.email()).await.is_empty());
}

async fn nobody_is_told_twice(app: &App) {
    let (admin, other) = (app.admin().logged_in().await, app.beside(|_| {}).await);
    let (victim, witness) =
        (Hook::new(&admin, RECEIVER, &["org.updated"]).await, Hook::new(&admin, ANOTHER, &["webhook.disabled"]).await);
    victim.answers(app, &[410]);
    app.webhooks.hold(RECEIVER);
    for _ in 0..12 {
        victim.test(&admin).await;
    }
    let workers = [ticking(app), ticking(&other)];
    // Two each, while it is not known to be quick.
    until_sent(app, RECEIVER, 4).await;
    app.webhooks.release(RECEIVER);
    for worker in workers {
        worker.await.expect("the worker goes on").expect("the database answers");
    }
    app.tick().await;
    assert_eq!(witness.sent(app).len(), 1);
    assert_eq!(notices(app, admin.email()).await.len(), 1);
}

/// Its webhook, whose receiver is gone, waits for it to be disabled. Where the machine was so slow that it waits no longer, again.
async fn an_organization_that_is_held_delays_no_other(app: &App) {
    const HOLD: &str = "SELECT id FROM tenant_auth_organizations WHERE slug = $1 FOR UPDATE";
    const WAITING: &str = "SELECT CAST(pid AS TEXT) FROM pg_stat_activity
                            WHERE datname = current_database() AND wait_event_type = 'Lock'
                              AND query LIKE '%tenant_auth_organizations%'";
    let Some(url) = app.database().url() else { return }; // on SQLite nobody else writes meanwhile
    let (admin, greta) = (app.admin().logged_in().await, app.other_org().admin().logged_in().await);
    let gone = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    let other = Hook::new(&greta, ANOTHER, &["org.updated"]).await;
    gone.answers(app, &[410]);
    let (stop, stopped) = oneshot::channel::<()>();
    let worker = app.auth.worker();
    let running = tokio::spawn(async move { worker.run_until(async { drop(stopped.await) }).await });
    let mut is_delayed = true;
    for number in 1..=5 {
        app.webhooks.hold(RECEIVER);
        gone.test(&admin).await;
        until_sent(app, RECEIVER, number).await;
        let held = holding(&url, HOLD, "acme").await;
        app.webhooks.release(RECEIVER);
        while texts_in(app, WAITING).await.is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        other.test(&greta).await;
        until_sent(app, ANOTHER, number).await;
        is_delayed = texts_in(app, WAITING).await.is_empty();
        held.close().await.expect("the organization is free");
        if !is_delayed {
            break;
        }
    }
    assert!(!is_delayed, "it was served once nobody waited for the other");
    stop.send(()).expect("it works");
    running.await.expect("it stops");
}
