//! Retries: when a failed delivery is made again, and what stays the same from one attempt to the next.

use std::time::Duration;

use serde_json::{Value, json};
use tenant_auth_conformance::{App, scenarios};
use tenant_auth_core::{
    Timestamp,
    ports::{Clock, RetryAfter},
};

use crate::suite::support::hooks::{Hook, RECEIVER, header, is_signed_with, later};

scenarios![
    attempts_follow_the_schedule_give_or_take_15_percent,
    what_failed_together_does_not_come_back_together,
    after_the_last_attempt_a_delivery_has_failed,
    every_attempt_is_the_same_message_signed_anew,
    a_wish_for_patience_is_granted,
    a_wish_for_haste_is_not,
    nobody_waits_longer_than_a_day,
    the_last_attempt_is_the_last_whatever_is_wished,
    the_schedule_is_a_setting,
    a_webhooks_deliveries_do_not_wait_for_each_other,
];

/// Seconds between the attempts.
const SCHEDULE: [u64; 9] = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

/// A webhook that was sent one test, which failed like this.
async fn failed_once(app: &App, failures: &[u16]) -> Hook {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    hook.answers(app, failures);
    hook.test(&admin).await;
    app.tick().await;
    hook
}

async fn attempts_follow_the_schedule_give_or_take_15_percent(app: &App) {
    let hook = failed_once(app, &[500]).await;
    for (made, wait) in SCHEDULE.into_iter().enumerate() {
        app.clock.advance(Duration::from_millis(wait * 850 - 1));
        app.tick().await;
        assert_eq!(hook.sent(app).len(), made + 1, "not yet, 85 % of {wait} s after attempt {}", made + 1);
        app.clock.advance(Duration::from_millis(wait * 300 + 1));
        app.tick().await;
        assert_eq!(hook.sent(app).len(), made + 2, "again, 115 % of {wait} s after attempt {}", made + 1);
    }
    app.advance(400_000);
    app.tick().await;
    assert_eq!(hook.sent(app).len(), 10);
}

async fn what_failed_together_does_not_come_back_together(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    hook.answers(app, &[500]);
    for _ in 0..50 {
        hook.test(&admin).await;
    }
    app.tick().await;
    let mut times: Vec<i64> = Vec::new();
    for delivery in hook.log(&admin).await {
        let next = Timestamp::parse(delivery["nextAttemptAt"].as_str().expect("a time")).expect("an ISO time");
        times.push(next.millis() - app.clock.now().millis());
    }
    assert_eq!(times.len(), 50);
    assert!(times.iter().all(|wait| (4_250..=5_750).contains(wait)), "{times:?}");
    assert!(times.iter().any(|wait| *wait < 5_000) && times.iter().any(|wait| *wait > 5_000), "both ways: {times:?}");
    times.sort_unstable();
    times.dedup();
    assert!(times.len() > 5, "{times:?}");
}

async fn after_the_last_attempt_a_delivery_has_failed(app: &App) {
    let hook = failed_once(app, &[500, 500, 500, 500, 500, 500, 500, 500, 500, 502]).await;
    for wait in SCHEDULE {
        app.clock.advance(Duration::from_millis(wait * 1_150));
        app.tick().await;
    }
    let delivery = hook.delivery(&app.admin().logged_in().await).await;
    assert_eq!((&delivery["status"], &delivery["attempts"]), (&"failed".into(), &10.into()));
    assert_eq!((&delivery["lastError"], &delivery["lastStatusCode"]), (&"status".into(), &502.into()));
    assert_eq!(delivery["nextAttemptAt"], Value::Null);
    let shown = hook.shown(&app.admin().logged_in().await).await;
    assert_eq!(shown["status"], "active", "a delivery has failed, its webhook has not");
}

async fn every_attempt_is_the_same_message_signed_anew(app: &App) {
    let hook = failed_once(app, &[500]).await;
    let mut moments = vec![app.clock.now()];
    for wait in &SCHEDULE[..4] {
        app.clock.advance(Duration::from_millis(wait * 1_150));
        app.tick().await;
        moments.push(app.clock.now());
    }
    let sent = hook.sent(app);
    assert_eq!(sent.len(), moments.len());
    for (attempt, moment) in sent.iter().zip(moments) {
        assert_eq!((header(attempt, "webhook-id"), &attempt.body), (header(&sent[0], "webhook-id"), &sent[0].body));
        assert_eq!(header(attempt, "webhook-timestamp"), (moment.millis() / 1_000).to_string());
        assert!(is_signed_with(attempt, &hook.secret));
    }
}

/// How long the only delivery waits after an answer with a wish.
async fn wait_after(app: &App, wish: RetryAfter) -> i64 {
    let admin = app.admin().logged_in().await;
    let url = format!("https://hooks.example.com/{}", app.webhooks.sent().len());
    let hook = Hook::new(&admin, &url, &["org.updated"]).await;
    app.webhooks.answer(&url, later(503, wish));
    hook.test(&admin).await;
    app.tick().await;
    let next = hook.delivery(&admin).await["nextAttemptAt"].as_str().expect("a time").to_owned();
    admin.delete(&hook.path()).await.expect(200);
    Timestamp::parse(&next).expect("an ISO time").millis() - app.clock.now().millis()
}

async fn a_wish_for_patience_is_granted(app: &App) {
    for seconds in [6, 120, 3_600, 86_400] {
        let wish = Duration::from_secs(seconds);
        let expected = i64::try_from(wish.as_millis()).expect("short");
        assert_eq!(wait_after(app, RetryAfter::In(wish)).await, expected);
        assert_eq!(wait_after(app, RetryAfter::At(app.clock.now().plus(wish))).await, expected);
    }
}

async fn a_wish_for_haste_is_not(app: &App) {
    let past = app.clock.now().minus(Duration::from_secs(3_600));
    for wish in [RetryAfter::In(Duration::ZERO), RetryAfter::In(Duration::from_secs(4)), RetryAfter::At(past)] {
        let wait = wait_after(app, wish).await;
        assert!((4_250..=5_750).contains(&wait), "{wish:?}: {wait}");
    }
}

async fn nobody_waits_longer_than_a_day(app: &App) {
    let far = app.clock.now().plus(Duration::from_secs(365 * 86_400));
    for wish in [RetryAfter::In(Duration::from_secs(86_401)), RetryAfter::In(Duration::from_secs(u64::MAX)), RetryAfter::At(far)] {
        assert_eq!(wait_after(app, wish).await, 86_400_000, "{wish:?}");
    }
}

async fn the_last_attempt_is_the_last_whatever_is_wished(app: &App) {
    let app = &app.beside(|setup| setup.config.webhooks.retry_schedule = Vec::new()).await;
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    app.webhooks.answer(RECEIVER, later(503, RetryAfter::In(Duration::from_secs(10))));
    hook.test(&admin).await;
    app.tick().await;
    assert_eq!(hook.delivery(&admin).await["status"], "failed");
    app.advance(100);
    app.tick().await;
    assert_eq!(hook.sent(app).len(), 1);
}

async fn the_schedule_is_a_setting(app: &App) {
    let schedule = vec![Duration::from_secs(100), Duration::from_secs(10)];
    let app = &app.beside(|setup| setup.config.webhooks.retry_schedule = schedule).await;
    let hook = failed_once(app, &[500]).await;
    for (seconds, attempts) in [(84, 1), (31, 2), (8, 2), (4, 3), (100_000, 3)] {
        app.advance(seconds);
        app.tick().await;
        assert_eq!(hook.sent(app).len(), attempts, "{seconds}");
    }
}

async fn a_webhooks_deliveries_do_not_wait_for_each_other(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    hook.answers(app, &[500, 200]);
    admin.patch("/org", json!({ "name": "First" })).await.expect(200);
    app.tick().await;
    app.advance(1);
    admin.patch("/org", json!({ "name": "Second" })).await.expect(200);
    app.tick().await;
    let states = async || hook.log(&admin).await.iter().map(|delivery| delivery["status"].clone()).collect::<Vec<_>>();
    assert_eq!(states().await, ["pending", "succeeded"]);
    app.advance(6);
    app.tick().await;
    assert_eq!(states().await, ["succeeded", "succeeded"]);
}
