//! How long an API key works: until it expires, is revoked, or was replaced and its overlap is over; its maker may be gone long before.

use std::time::Duration;

use serde_json::{Value, json};
use tenant_auth_conformance::{App, hold_sql, id_of, logs, scenarios};
use tenant_auth_core::Timestamp;

use crate::suite::support::stored::file_url;

scenarios![
    a_key_may_expire,
    a_revoked_key_is_dead_at_once,
    rotating_keeps_the_old_key_for_a_day,
    rotating_with_a_chosen_overlap,
    rotating_without_an_overlap_kills_the_old_key_now,
    a_rotated_key_cannot_be_rotated_again,
    a_rotation_prolongs_nothing,
    the_overlap_is_a_sensible_number,
    the_last_use_is_known_within_a_minute,
    a_key_outlives_its_maker,
];
scenarios![on each database:
    a_clock_set_back_leaves_no_use_in_the_future,
    a_use_that_could_not_be_written_is_made_up_for_by_the_next,
];

async fn a_key_may_expire(app: &App) {
    let admin = app.admin().logged_in().await;
    let (api_key, key) = admin.created_key(json!({ "name": "Short", "expiresAt": "2026-11-20T08:22:00.000Z" })).await;
    assert_eq!(api_key["expiresAt"], "2026-11-20T08:22:00.000Z");
    app.clock.advance(std::time::Duration::from_millis(59_999));
    assert!(app.key_works(&key).await);
    app.clock.advance(std::time::Duration::from_millis(1));
    assert!(!app.key_works(&key).await);
}

async fn a_revoked_key_is_dead_at_once(app: &App) {
    let admin = app.admin().logged_in().await;
    let (api_key, key) = admin.created_key(json!({ "name": "Back end" })).await;
    assert!(app.key_works(&key).await);
    let path = format!("/org/api-keys/{}", id_of(&api_key));
    let data = admin.delete(&path).await.expect_ok();
    assert!(data["message"].is_string());
    assert!(!app.key_works(&key).await);
    assert_eq!(admin.api_keys().await.len(), 1);
    admin.delete(&path).await.expect_error(404, "not_found");
}

async fn rotating_keeps_the_old_key_for_a_day(app: &App) {
    let admin = app.admin().logged_in().await;
    let (old, old_key) = admin.created_key(json!({ "name": "Back end", "scopes": ["verify"] })).await;
    let data = admin.post_nothing(&format!("/org/api-keys/{}/rotate", id_of(&old))).await.expect(201).data();
    let (new, new_key) = (&data["apiKey"], data["key"].as_str().expect("a key"));
    assert_ne!((id_of(new), new_key), (id_of(&old), old_key.as_str()));
    assert_eq!((&new["name"], &new["scopes"], &new["createdBy"]), (&old["name"], &old["scopes"], &admin.id().into()));
    assert!(app.key_works(&old_key).await && app.key_works(new_key).await);
    app.clock.advance(std::time::Duration::from_millis(86_399_999));
    assert!(app.key_works(&old_key).await);
    app.clock.advance(std::time::Duration::from_millis(1));
    assert!(!app.key_works(&old_key).await);
    assert!(app.key_works(new_key).await);
}

async fn rotating_with_a_chosen_overlap(app: &App) {
    let admin = app.admin().logged_in().await;
    let (old, old_key) = admin.created_key(json!({ "name": "Back end" })).await;
    admin.post(&format!("/org/api-keys/{}/rotate", id_of(&old)), json!({ "overlapSeconds": 60 })).await.expect(201);
    app.advance(59);
    assert!(app.key_works(&old_key).await);
    app.advance(1);
    assert!(!app.key_works(&old_key).await);
}

async fn rotating_without_an_overlap_kills_the_old_key_now(app: &App) {
    let admin = app.admin().logged_in().await;
    let (old, old_key) = admin.created_key(json!({ "name": "Back end" })).await;
    let data =
        admin.post(&format!("/org/api-keys/{}/rotate", id_of(&old)), json!({ "overlapSeconds": 0 })).await.expect(201).data();
    assert!(!app.key_works(&old_key).await);
    assert!(app.key_works(data["key"].as_str().expect("a key")).await);
}

async fn a_rotated_key_cannot_be_rotated_again(app: &App) {
    let admin = app.admin().logged_in().await;
    let (old, _) = admin.created_key(json!({ "name": "Back end" })).await;
    let path = format!("/org/api-keys/{}/rotate", id_of(&old));
    admin.post_nothing(&path).await.expect(201);
    admin.post_nothing(&path).await.expect(409);
}

async fn a_rotation_prolongs_nothing(app: &App) {
    let (admin, end) = (app.admin().logged_in().await, "2026-11-20T08:22:00.000Z");
    let (old, old_key) = admin.created_key(json!({ "name": "Short", "expiresAt": end })).await;
    let path = format!("/org/api-keys/{}/rotate", id_of(&old));
    let data = admin.post(&path, json!({ "overlapSeconds": 3_600 })).await.expect(201).data();
    assert_eq!(data["apiKey"]["expiresAt"], end);
    let new_key = data["key"].as_str().expect("a key");
    app.advance(59);
    assert!(app.key_works(&old_key).await && app.key_works(new_key).await);
    app.advance(1);
    assert!(!app.key_works(&old_key).await);
    assert!(!app.key_works(new_key).await);
}

async fn the_overlap_is_a_sensible_number(app: &App) {
    let admin = app.admin().logged_in().await;
    let path = format!("/org/api-keys/{}/rotate", app.org().api_key_id());
    for bad in [json!(-1), json!("60"), json!(1.5), json!(1e300), json!([]), json!(2_592_001), json!(u64::MAX)] {
        admin.post(&path, json!({ "overlapSeconds": bad })).await.expect_invalid("overlapSeconds");
    }
    admin.post_nothing(&path).text("rubbish").await.expect_error(400, "invalid_request");
    admin.post_nothing(&path).body("text/plain", "60").await.expect_error(415, "unsupported_media_type");
    // An integer to JSON Schema, and so to the document.
    admin.post(&path, json!({ "overlapSeconds": 60.0 })).await.expect(201);
    let (other, _) = admin.created_key(json!({ "name": "Other" })).await;
    admin.post(&format!("/org/api-keys/{}/rotate", id_of(&other)), json!({})).await.expect(201);
    let (longest, _) = admin.created_key(json!({ "name": "Longest" })).await;
    admin.post(&format!("/org/api-keys/{}/rotate", id_of(&longest)), json!({ "overlapSeconds": 2_592_000 })).await.expect(201);
}

async fn the_last_use_is_known_within_a_minute(app: &App) {
    let admin = app.admin().logged_in().await;
    let (api_key, key) = admin.created_key(json!({ "name": "Back end" })).await;
    app.advance(120);
    assert!(app.key_works(&key).await);
    // It is written beside the request, not in it.
    let entry = tokio::time::timeout(std::time::Duration::from_secs(20), async {
        loop {
            let entry = admin.api_keys().await.into_iter().find(|entry| entry["id"] == api_key["id"]).expect("listed");
            if !entry["lastUsedAt"].is_null() {
                return entry;
            }
        }
    });
    let entry = entry.await.expect("the use is written soon");
    let last = entry["lastUsedAt"].as_str().expect("a time").to_owned();
    assert!(("2026-11-20T08:22:00.000Z".."2026-11-20T08:23:00.001Z").contains(&last.as_str()), "used at 08:23:00, known as {last}");
    assert_eq!(entry["createdAt"], "2026-11-20T08:21:00.000Z");
}

async fn a_clock_set_back_leaves_no_use_in_the_future(app: &App) {
    let (api_key, key) = app.admin().logged_in().await.created_key(json!({ "name": "Back end" })).await;
    app.advance(2 * 60 * 60);
    assert!(app.key_works(&key).await);
    until_used(app, &api_key, |last| last > "2026-11-20T10").await;
    app.clock.set(Timestamp::parse("2026-11-20T08:40:00Z").expect("a time"));
    assert!(app.key_works(&key).await);
    until_used(app, &api_key, |last| last < "2026-11-20T09").await;
}

async fn a_use_that_could_not_be_written_is_made_up_for_by_the_next(app: &App) {
    let (api_key, key) = app.admin().logged_in().await.created_key(json!({ "name": "Back end" })).await;
    let (url, hold) = match app.database().url() {
        Some(url) => (url, "BEGIN; SELECT id FROM tenant_auth_api_keys FOR UPDATE"),
        None => (file_url(app), "BEGIN IMMEDIATE"),
    };
    let held = hold_sql(&url, hold).expect("it is held");
    assert!(app.key_works(&key).await);
    let has_failed = || logs::lines_with("the use of a key was not written").iter().any(|line| line.contains(id_of(&api_key)));
    while !has_failed() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    tokio::task::spawn_blocking(move || drop(held)).await.expect("it ends");
    app.advance(5);
    assert!(app.key_works(&key).await);
    until_used(app, &api_key, |_| true).await;
}

/// Until the last use of a key is told so: it is written beside the request, not in it.
async fn until_used(app: &App, key: &Value, is_so: impl Fn(&str) -> bool) {
    let admin = app.admin().logged_in().await;
    let told = async {
        loop {
            let entry = admin.api_keys().await.into_iter().find(|entry| entry["id"] == key["id"]).expect("listed");
            if entry["lastUsedAt"].as_str().is_some_and(&is_so) {
                return;
            }
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), told).await.expect("the use is written soon");
}

async fn a_key_outlives_its_maker(app: &App) {
    let (admin, deputy) = (app.admin().logged_in().await, app.org().new_admin("Dora").await.logged_in().await);
    let (api_key, key) = deputy.created_key(json!({ "name": "Dora's" })).await;
    admin.remove(deputy.id()).await.expect(200);
    assert!(app.key_works(&key).await);
    let kept = admin.api_keys().await.into_iter().find(|entry| entry["id"] == api_key["id"]).expect("still listed");
    assert_eq!(kept["createdBy"], deputy.id());
}
