//! Deliveries as the log shows them, and tests.

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, scenarios, shape};
use tenant_auth_core::ports::SendError;

use crate::suite::support::hooks::{ANOTHER, Hook, RECEIVER, answer, event_in, header, is_signed_with, texts_in};

scenarios![
    the_log_tells_how_a_delivery_went,
    one_delivery_tells_what_it_sends_and_each_attempt,
    a_delivery_is_read_by_its_own_webhook_and_organization_only,
    every_failure_has_its_word,
    any_2xx_is_success_and_nothing_else,
    a_test_goes_to_its_webhook_only_whatever_it_selected,
    a_disabled_webhook_is_not_tested,
    sixty_tests_an_hour_are_enough,
    a_test_that_is_sent_again_is_no_other_test,
    the_log_goes_back_thirty_days,
];

const MINUTE: u64 = 60;
const DAY: u64 = 24 * 60 * MINUTE;

async fn the_log_tells_how_a_delivery_went(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    hook.answers(app, &[503, 204]);
    assert!(hook.log(&admin).await.is_empty());
    let id = hook.test(&admin).await;
    let mut delivery = hook.delivery(&admin).await;
    let fields = ["attempts", "createdAt", "event", "eventId", "id", "lastError", "lastStatusCode", "nextAttemptAt", "status"];
    assert_eq!(shape(&delivery), fields);
    assert!(id.starts_with("dlv_") && delivery["eventId"].as_str().is_some_and(|id| id.starts_with("evt_")));
    let mut expected = json!({
        "id": id, "eventId": delivery["eventId"], "event": "webhook.test", "status": "pending", "attempts": 0, "lastStatusCode": null,
        "lastError": null, "nextAttemptAt": "2026-11-20T08:21:00.000Z", "createdAt": "2026-11-20T08:21:00.000Z",
    });
    assert_eq!(delivery, expected);
    app.tick().await;
    delivery = hook.delivery(&admin).await;
    for (field, value) in [("attempts", json!(1)), ("lastStatusCode", json!(503)), ("lastError", json!("status"))] {
        expected[field] = value;
    }
    expected["nextAttemptAt"] = delivery["nextAttemptAt"].clone();
    assert_eq!(delivery, expected);
    let next = delivery["nextAttemptAt"].as_str().expect("a time");
    assert!(("2026-11-20T08:21:04.250Z"..="2026-11-20T08:21:05.750Z").contains(&next), "{next}");
    app.advance(6);
    app.tick().await;
    expected["status"] = json!("succeeded");
    expected["attempts"] = json!(2);
    expected["lastStatusCode"] = json!(204);
    expected["lastError"] = Value::Null;
    expected["nextAttemptAt"] = Value::Null;
    assert_eq!(hook.delivery(&admin).await, expected);
    assert_eq!(header(&hook.sent(app)[0], "webhook-id"), expected["eventId"]);
}

async fn one_delivery_tells_what_it_sends_and_each_attempt(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    app.webhooks.answer(&hook.url, Err(SendError::Timeout));
    hook.answers(app, &[503, 204]);
    let id = hook.test(&admin).await;
    let path = format!("{}/deliveries/{id}", hook.path());
    let read = async |admin: &Caller| admin.get(&path).await.expect_ok()["delivery"].clone();
    let waiting = read(&admin).await;
    assert_eq!(waiting["attemptLog"], json!([]));
    assert_eq!(waiting["payload"]["type"], "webhook.test", "what will be sent");
    for _ in 0..3 {
        app.tick().await;
        app.advance(400);
    }
    let admin = app.admin().logged_in().await;
    let delivery = read(&admin).await;
    let listed = hook.delivery(&admin).await;
    for (field, value) in listed.as_object().expect("fields") {
        assert_eq!(&delivery[field], value, "{field} as in the list");
    }
    assert_eq!(delivery.as_object().map(|fields| fields.len()), listed.as_object().map(|fields| fields.len() + 2));
    assert_eq!(delivery["payload"], event_in(&hook.sent(app)[0]), "what was sent");
    let attempt = |at: &str, code: Value, error: Value| json!({ "at": at, "statusCode": code, "error": error, "durationMs": 0 });
    let expected = json!([
        attempt("2026-11-20T08:21:00.000Z", Value::Null, json!("timeout")),
        attempt("2026-11-20T08:27:40.000Z", json!(503), json!("status")),
        attempt("2026-11-20T08:34:20.000Z", json!(204), Value::Null),
    ]);
    assert_eq!(delivery["attemptLog"], expected);
    assert_eq!((&delivery["status"], &delivery["lastError"]), (&"succeeded".into(), &Value::Null));
}

async fn a_delivery_is_read_by_its_own_webhook_and_organization_only(app: &App) {
    let admin = app.admin().logged_in().await;
    let (hook, other) = (Hook::new(&admin, RECEIVER, &["org.updated"]).await, Hook::new(&admin, ANOTHER, &["org.updated"]).await);
    let id = hook.test(&admin).await;
    app.tick().await;
    let path = format!("{}/deliveries/{id}", hook.path());
    admin.get(&path).await.expect(200);
    admin.get(&format!("{}/deliveries/{id}", other.path())).await.expect_error(404, "not_found");
    admin.get(&format!("{}/deliveries/dlv_none", hook.path())).await.expect_error(404, "not_found");
    app.other_org().admin().logged_in().await.get(&path).await.expect_error(404, "not_found");
    app.member().logged_in().await.get(&path).await.expect_error(403, "admin_required");
    admin.delete(&hook.path()).await.expect(200);
    admin.get(&path).await.expect_error(404, "not_found");
}

async fn every_failure_has_its_word(app: &App) {
    let admin = app.admin().logged_in().await;
    for (place, (failure, word, code)) in [
        (Err(SendError::Blocked), "blocked", Value::Null),
        (Err(SendError::Unreachable), "unreachable", Value::Null),
        (Err(SendError::Timeout), "timeout", Value::Null),
        (Err(SendError::Tls), "tls", Value::Null),
        (answer(404), "status", json!(404)),
    ]
    .into_iter()
    .enumerate()
    {
        let hook = Hook::new(&admin, &format!("https://hooks.example.com/{place}"), &["org.updated"]).await;
        app.webhooks.answer(&hook.url, failure);
        app.webhooks.answer(&hook.url, answer(200));
        hook.test(&admin).await;
        app.tick().await;
        let delivery = hook.delivery(&admin).await;
        assert_eq!((&delivery["lastError"], &delivery["lastStatusCode"]), (&word.into(), &code));
        assert_eq!((&delivery["status"], &delivery["attempts"]), (&"pending".into(), &1.into()));
        app.advance(6);
        app.tick().await;
        let delivery = hook.delivery(&admin).await;
        assert_eq!(
            (&delivery["status"], &delivery["lastError"], &delivery["lastStatusCode"]),
            (&"succeeded".into(), &Value::Null, &200.into())
        );
    }
}

async fn any_2xx_is_success_and_nothing_else(app: &App) {
    let admin = app.admin().logged_in().await;
    let mut hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    for (status, succeeds) in [
        (200, true),
        (201, true),
        (202, true),
        (204, true),
        (299, true),
        (300, false),
        (301, false),
        (304, false),
        (400, false),
        (429, false),
        (500, false),
    ] {
        admin.delete(&hook.path()).await.expect(200);
        hook = Hook::new(&admin, &format!("https://hooks.example.com/{status}"), &["org.updated"]).await;
        hook.answers(app, &[status]);
        hook.test(&admin).await;
        app.tick().await;
        let delivery = hook.delivery(&admin).await;
        assert_eq!(delivery["status"] == "succeeded", succeeds, "{delivery}");
        assert_eq!(delivery["lastStatusCode"], status);
    }
}

async fn a_test_goes_to_its_webhook_only_whatever_it_selected(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["invite.resent"]).await;
    app.tick().await; // before there is anybody to tell of it
    let all = Hook::new(&admin, ANOTHER, &["*", "webhook.test"]).await;
    let data = hook.testing(&admin).await.expect(202).data();
    assert_eq!((shape(&data), shape(&data["delivery"])), (vec!["delivery"], vec!["id"]));
    app.tick().await;
    let (sent, shown) = (hook.sent(app), hook.shown(&admin).await);
    assert_eq!((sent.len(), all.sent(app).len()), (1, 0));
    let event = event_in(&sent[0]);
    assert_eq!((&event["type"], &event["data"]), (&"webhook.test".into(), &json!({ "webhook": shown })));
    assert_eq!(event["actor"], json!({ "type": "user", "id": admin.id() }));
    assert_eq!(hook.delivery(&admin).await["id"], data["delivery"]["id"]);
    assert!(is_signed_with(&sent[0], &hook.secret) && all.log(&admin).await.is_empty());
}

async fn a_disabled_webhook_is_not_tested(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["*"]).await;
    hook.switching(&admin, "disabled").await.expect(200);
    hook.testing(&admin).await.expect_error(409, "webhook_disabled");
    app.tick().await;
    assert!(hook.log(&admin).await.is_empty() && hook.sent(app).is_empty());
    hook.switching(&admin, "active").await.expect(200);
    hook.test(&admin).await;
}

async fn sixty_tests_an_hour_are_enough(app: &App) {
    let admin = app.admin().logged_in().await;
    let (hook, other) = (Hook::new(&admin, RECEIVER, &["org.updated"]).await, Hook::new(&admin, ANOTHER, &["org.updated"]).await);
    for n in 0..60 {
        app.advance(if n == 30 { 100 } else { 0 });
        hook.test(&admin).await;
    }
    let wait = async || {
        let refused = hook.testing(&app.admin().logged_in().await).await.expect_error(429, "rate_limited");
        refused.header("Retry-After").expect("a hint").parse::<u64>().expect("seconds")
    };
    assert_eq!(wait().await, 3_500);
    other.test(&admin).await;
    app.tick().await;
    assert_eq!(hook.log(&admin).await.len(), 60, "a refused test is none");
    app.advance(3_499);
    assert_eq!(wait().await, 1);
    app.advance(1);
    let admin = app.admin().logged_in().await;
    for _ in 0..30 {
        hook.test(&admin).await;
    }
    assert_eq!(wait().await, 100);
}

/// Swept some minutes late: the clocks of several servers differ.
async fn the_log_goes_back_thirty_days(app: &App) {
    let hook = Hook::new(&app.admin().logged_in().await, RECEIVER, &["org.updated"]).await;
    hook.test(&app.admin().logged_in().await).await;
    app.tick().await;
    app.advance(30 * DAY);
    app.tick().await;
    assert_eq!(hook.log(&app.admin().logged_in().await).await.len(), 1);
    assert!(texts_in(app, "SELECT kind FROM tenant_auth_events").await.contains(&"webhook.test".to_owned()));
    app.advance(11 * MINUTE);
    app.tick().await;
    assert!(hook.log(&app.admin().logged_in().await).await.is_empty());
    let kept = texts_in(app, "SELECT kind FROM tenant_auth_events").await;
    assert!(kept.contains(&"webhook.test".to_owned()), "the audit log keeps events longer: {kept:?}");
}

async fn a_test_that_is_sent_again_is_no_other_test(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    let tested = hook.test(&admin).await;
    for _ in 0..60 {
        hook.redelivering(&admin, &tested).await.expect(202);
    }
    for _ in 1..60 {
        hook.test(&admin).await;
    }
    hook.testing(&admin).await.expect_error(429, "rate_limited");
}
