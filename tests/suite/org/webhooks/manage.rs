//! Webhooks as their admins manage them: made, shown, changed, deleted.

use serde_json::json;
use tenant_auth_conformance::{App, id_of, scenarios, shape};

use crate::suite::support::hooks::{ANOTHER, Hook, RECEIVER, expect_unknown, hooking, webhooks};

scenarios![
    a_webhook_is_made_and_shown,
    its_secret_is_shown_once,
    a_change_changes_what_it_names,
    a_bad_change_changes_nothing,
    a_deleted_webhook_is_gone,
];

async fn a_webhook_is_made_and_shown(app: &App) {
    let admin = app.admin().logged_in().await;
    assert!(webhooks(&admin).await.is_empty());
    app.advance(1);
    let body = json!({ "url": RECEIVER, "events": ["member.joined", "org.*"], "description": " Billing " });
    let data = admin.post("/org/webhooks", body).await.expect(201).data();
    let webhook = &data["webhook"];
    assert_eq!(shape(webhook), ["createdAt", "createdBy", "description", "events", "id", "status", "url"]);
    assert!(id_of(webhook).starts_with("whk_"));
    assert_eq!((&webhook["url"], &webhook["events"]), (&RECEIVER.into(), &json!(["member.joined", "org.*"])));
    assert_eq!((&webhook["description"], &webhook["status"]), (&"Billing".into(), &"active".into()));
    assert_eq!((&webhook["createdBy"], &webhook["createdAt"]), (&admin.id().into(), &"2026-11-20T08:21:01.000Z".into()));
    app.advance(1);
    let plain = hooking(&admin, "https://hooks.example.com", &["*"]).await.expect(201).data()["webhook"].clone();
    assert_eq!((&plain["description"], &plain["url"]), (&"".into(), &"https://hooks.example.com/".into()));
    assert_eq!(webhooks(&admin).await, [webhook.clone(), plain.clone()]);
    let shown = admin.get(&format!("/org/webhooks/{}", id_of(webhook))).await.expect_ok();
    assert_eq!(shown, json!({ "webhook": webhook }));
}

async fn its_secret_is_shown_once(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["*"]).await;
    let other = Hook::new(&admin, RECEIVER, &["*"]).await;
    assert!(hook.secret.starts_with("whs_") && hook.secret.len() == 48, "32 bytes in base64: {}", hook.secret.len());
    assert_ne!(hook.secret, other.secret);
    hook.test(&admin).await;
    app.tick().await;
    for answer in [
        admin.get("/org/webhooks").await,
        admin.get(&hook.path()).await,
        admin.get(&format!("{}/deliveries", hook.path())).await,
        admin.patch(&hook.path(), json!({ "description": "x" })).await,
        admin.delete(&hook.path()).await,
    ] {
        assert!(!answer.expect(200).body.contains("whs_"), "never again");
    }
}

async fn a_change_changes_what_it_names(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    let mut expected = hook.shown(&admin).await;
    app.advance(5);
    for change in [
        json!({}),
        json!({ "url": ANOTHER }),
        json!({ "events": ["member.*"] }),
        json!({ "description": "Back office" }),
        json!({ "status": "disabled" }),
        json!({ "status": "disabled" }),
        json!({ "status": "active", "description": "Both", "id": "whk_00000000000000000000000000", "createdBy": null }),
    ] {
        for (field, value) in change.as_object().expect("an object") {
            if !matches!(field.as_str(), "id" | "createdBy") {
                expected[field] = value.clone();
            }
        }
        let data = admin.patch(&hook.path(), change).await.expect_ok();
        assert_eq!(data, json!({ "webhook": expected }));
        assert_eq!(hook.shown(&admin).await, expected);
    }
}

async fn a_bad_change_changes_nothing(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    let before = hook.shown(&admin).await;
    for (field, bad) in [
        ("status", json!("paused")),
        ("status", json!(1)),
        ("status", json!("Active")),
        ("url", json!(5)),
        ("url", json!("http://hooks.example.com/")),
        ("events", json!([])),
        ("events", json!("*")),
    ] {
        let mut change = json!({ "description": "changed" });
        change[field] = bad;
        admin.patch(&hook.path(), change).await.expect_invalid(field);
    }
    admin.patch(&hook.path(), json!([])).await.expect_error(400, "invalid_request");
    admin.request("PATCH", &hook.path()).await.expect_error(415, "unsupported_media_type");
    assert_eq!(hook.shown(&admin).await, before);
}

async fn a_deleted_webhook_is_gone(app: &App) {
    let admin = app.admin().logged_in().await;
    let (hook, kept) = (Hook::new(&admin, RECEIVER, &["*"]).await, Hook::new(&admin, ANOTHER, &["*"]).await);
    let delivery = hook.test(&admin).await;
    let data = admin.delete(&hook.path()).await.expect_ok();
    assert_eq!(shape(&data), ["message"]);
    expect_unknown(&admin, &hook, &delivery).await;
    assert_eq!(webhooks(&admin).await, [kept.shown(&admin).await]);
}
