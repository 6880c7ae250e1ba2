//! API keys: made by admins, shown once, limited in scope, number and time, and dead the moment they are revoked.

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, scenarios, shape};

scenarios![
    a_key_is_shown_once,
    a_key_works_at_once,
    scopes_are_chosen_among_four,
    a_key_may_expire,
    an_expiry_lies_in_the_future,
    the_name_is_required,
    only_an_admin_manages_keys,
    twenty_is_the_limit,
    a_revoked_key_is_dead_at_once,
    rotating_keeps_the_old_key_for_a_day,
    rotating_with_a_chosen_overlap,
    rotating_without_an_overlap_kills_the_old_key_now,
    a_rotated_key_cannot_be_rotated_again,
    the_overlap_is_a_sensible_number,
    the_last_use_is_known_within_a_minute,
    another_organizations_key_is_404,
    every_bad_key_gets_the_same_bytes,
    a_key_without_the_scope_is_403,
    a_key_outlives_its_maker,
];

async fn created(admin: &Caller, body: Value) -> (Value, String) {
    let data = admin.post("/org/api-keys", body).await.expect(201).data();
    assert_eq!(shape(&data), ["apiKey", "key"]);
    (data["apiKey"].clone(), data["key"].as_str().expect("a key").to_owned())
}

async fn keys(admin: &Caller) -> Vec<Value> {
    admin.get("/org/api-keys").await.expect_ok()["apiKeys"].as_array().expect("a list").clone()
}

/// Whether a key opens /public/verify.
async fn works(app: &App, key: &str) -> bool {
    let answer = app.anonymous().backend_with(key).verify("x").await;
    match answer.status {
        200 => true,
        _ => {
            answer.expect_error(401, "invalid_api_key");
            false
        }
    }
}

fn id(key: &Value) -> &str {
    key["id"].as_str().expect("an id")
}

async fn a_key_is_shown_once(app: &App) {
    let admin = app.admin().logged_in().await;
    app.advance(1);
    let (api_key, key) = created(&admin, json!({ "name": "Back end" })).await;
    let fields = ["createdAt", "createdBy", "expiresAt", "id", "lastFour", "lastUsedAt", "name", "prefix", "scopes"];
    assert_eq!(shape(&api_key), fields);
    assert!(key.starts_with("pk_live_"));
    assert!(key.starts_with(api_key["prefix"].as_str().expect("a prefix")));
    assert!(key.ends_with(api_key["lastFour"].as_str().expect("four characters")) && api_key["lastFour"].as_str().map(str::len) == Some(4));
    assert!(key.len() - api_key["prefix"].as_str().map_or(0, str::len) > 40, "most of it is secret");
    assert_eq!((&api_key["name"], &api_key["createdBy"]), (&"Back end".into(), &admin.id().into()));
    assert_eq!(api_key["scopes"], json!(["verify", "users:read", "members:read"]));
    assert_eq!((&api_key["expiresAt"], &api_key["lastUsedAt"]), (&Value::Null, &Value::Null));
    let listed = admin.get("/org/api-keys").await.expect(200);
    assert!(!listed.body.contains(&key), "never again");
    let all = keys(&admin).await;
    assert_eq!(all.len(), 2);
    assert_eq!(all[1], api_key);
    assert_eq!((&all[0]["id"], &all[0]["createdBy"]), (&app.org().api_key_id().into(), &Value::Null), "made by the command line");
}

async fn a_key_works_at_once(app: &App) {
    let admin = app.admin().logged_in().await;
    let (_, key) = created(&admin, json!({ "name": "Back end" })).await;
    let backend = app.anonymous().backend_with(&key);
    assert!(backend.finds_valid(&admin.access_token()).await);
    backend.get("/public/members").await.expect(200);
    backend.get(&format!("/public/users/{}", admin.id())).await.expect(200);
}

async fn scopes_are_chosen_among_four(app: &App) {
    let admin = app.admin().logged_in().await;
    let (api_key, _) = created(&admin, json!({ "name": "Proxy", "scopes": ["proxy", "verify"] })).await;
    let mut scopes: Vec<&str> = api_key["scopes"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    scopes.sort_unstable();
    assert_eq!(scopes, ["proxy", "verify"]);
    for bad in [json!(["admin"]), json!(["VERIFY"]), json!("verify"), json!([1]), json!([null])] {
        admin.post("/org/api-keys", json!({ "name": "Odd", "scopes": bad })).await.expect_invalid("scopes");
    }
}

async fn a_key_may_expire(app: &App) {
    let admin = app.admin().logged_in().await;
    let (api_key, key) = created(&admin, json!({ "name": "Short", "expiresAt": "2026-11-20T08:22:00.000Z" })).await;
    assert_eq!(api_key["expiresAt"], "2026-11-20T08:22:00.000Z");
    app.clock.advance(std::time::Duration::from_millis(59_999));
    assert!(works(app, &key).await);
    app.clock.advance(std::time::Duration::from_millis(1));
    assert!(!works(app, &key).await);
}

async fn an_expiry_lies_in_the_future(app: &App) {
    let admin = app.admin().logged_in().await;
    for bad in [json!("2026-11-20T08:21:00.000Z"), json!("2020-01-01T00:00:00.000Z"), json!("tomorrow"), json!(1_900_000_000), json!("")] {
        admin.post("/org/api-keys", json!({ "name": "Odd", "expiresAt": bad })).await.expect_invalid("expiresAt");
    }
    created(&admin, json!({ "name": "Never", "expiresAt": null })).await;
}

async fn the_name_is_required(app: &App) {
    let admin = app.admin().logged_in().await;
    for bad in [json!({}), json!({ "name": "" }), json!({ "name": "x".repeat(101) }), json!({ "name": 1 }), json!({ "name": "a\nb" }), json!({ "name": null })] {
        admin.post("/org/api-keys", bad).await.expect_invalid("name");
    }
}

async fn only_an_admin_manages_keys(app: &App) {
    for (caller, status) in [(app.member().logged_in().await, 403), (app.anonymous(), 401), (app.backend(), 401)] {
        let id = app.org().api_key_id();
        caller.get("/org/api-keys").await.expect(status);
        caller.create_key("Mine").await.expect(status);
        caller.post_nothing(&format!("/org/api-keys/{id}/rotate")).await.expect(status);
        caller.delete(&format!("/org/api-keys/{id}")).await.expect(status);
    }
    assert!(works(app, app.org().api_key()).await);
}

async fn twenty_is_the_limit(app: &App) {
    let admin = app.admin().logged_in().await;
    for n in 2..=20 {
        created(&admin, json!({ "name": format!("Key {n}") })).await;
    }
    admin.create_key("One too many").await.expect_error(409, "limit_reached");
    assert_eq!(keys(&admin).await.len(), 20);
    admin.delete(&format!("/org/api-keys/{}", app.org().api_key_id())).await.expect(200);
    created(&admin, json!({ "name": "In its place" })).await;
    app.other_org().admin().logged_in().await.create_key("Elsewhere").await.expect(201);
}

async fn a_revoked_key_is_dead_at_once(app: &App) {
    let admin = app.admin().logged_in().await;
    let (api_key, key) = created(&admin, json!({ "name": "Back end" })).await;
    assert!(works(app, &key).await);
    let path = format!("/org/api-keys/{}", id(&api_key));
    let data = admin.delete(&path).await.expect_ok();
    assert!(data["message"].is_string());
    assert!(!works(app, &key).await);
    assert_eq!(keys(&admin).await.len(), 1);
    admin.delete(&path).await.expect_error(404, "not_found");
}

async fn rotating_keeps_the_old_key_for_a_day(app: &App) {
    let admin = app.admin().logged_in().await;
    let (old, old_key) = created(&admin, json!({ "name": "Back end", "scopes": ["verify"] })).await;
    let data = admin.post_nothing(&format!("/org/api-keys/{}/rotate", id(&old))).await.expect(201).data();
    let (new, new_key) = (&data["apiKey"], data["key"].as_str().expect("a key"));
    assert_ne!((id(new), new_key), (id(&old), old_key.as_str()));
    assert_eq!((&new["name"], &new["scopes"], &new["createdBy"]), (&old["name"], &old["scopes"], &admin.id().into()));
    assert!(works(app, &old_key).await && works(app, new_key).await);
    app.clock.advance(std::time::Duration::from_millis(86_399_999));
    assert!(works(app, &old_key).await);
    app.clock.advance(std::time::Duration::from_millis(1));
    assert!(!works(app, &old_key).await);
    assert!(works(app, new_key).await);
}

async fn rotating_with_a_chosen_overlap(app: &App) {
    let admin = app.admin().logged_in().await;
    let (old, old_key) = created(&admin, json!({ "name": "Back end" })).await;
    admin.post(&format!("/org/api-keys/{}/rotate", id(&old)), json!({ "overlapSeconds": 60 })).await.expect(201);
    app.advance(59);
    assert!(works(app, &old_key).await);
    app.advance(1);
    assert!(!works(app, &old_key).await);
}

async fn rotating_without_an_overlap_kills_the_old_key_now(app: &App) {
    let admin = app.admin().logged_in().await;
    let (old, old_key) = created(&admin, json!({ "name": "Back end" })).await;
    let data = admin.post(&format!("/org/api-keys/{}/rotate", id(&old)), json!({ "overlapSeconds": 0 })).await.expect(201).data();
    assert!(!works(app, &old_key).await);
    assert!(works(app, data["key"].as_str().expect("a key")).await);
}

async fn a_rotated_key_cannot_be_rotated_again(app: &App) {
    let admin = app.admin().logged_in().await;
    let (old, _) = created(&admin, json!({ "name": "Back end" })).await;
    let path = format!("/org/api-keys/{}/rotate", id(&old));
    admin.post_nothing(&path).await.expect(201);
    admin.post_nothing(&path).await.expect(409);
}

async fn the_overlap_is_a_sensible_number(app: &App) {
    let admin = app.admin().logged_in().await;
    let path = format!("/org/api-keys/{}/rotate", app.org().api_key_id());
    for bad in [json!(-1), json!("60"), json!(1.5), json!(1e300), json!([])] {
        admin.post(&path, json!({ "overlapSeconds": bad })).await.expect_invalid("overlapSeconds");
    }
    admin.post_nothing(&path).text("rubbish").await.expect_error(400, "invalid_request");
    admin.post_nothing(&path).body("text/plain", "60").await.expect_error(415, "unsupported_media_type");
    admin.post(&path, json!({})).await.expect(201);
}

async fn the_last_use_is_known_within_a_minute(app: &App) {
    let admin = app.admin().logged_in().await;
    let (api_key, key) = created(&admin, json!({ "name": "Back end" })).await;
    app.advance(120);
    assert!(works(app, &key).await);
    app.advance(60);
    app.tick().await;
    let entry = keys(&admin).await.into_iter().find(|entry| entry["id"] == api_key["id"]).expect("listed");
    let last = entry["lastUsedAt"].as_str().expect("a time").to_owned();
    assert!(("2026-11-20T08:22:00.000Z".."2026-11-20T08:23:00.001Z").contains(&last.as_str()), "used at 08:23:00, known as {last}");
    assert_eq!(entry["createdAt"], "2026-11-20T08:21:00.000Z");
}

async fn another_organizations_key_is_404(app: &App) {
    let admin = app.admin().logged_in().await;
    for id in [app.other_org().api_key_id(), "key_00000000000000000000000000", "rubbish"] {
        admin.delete(&format!("/org/api-keys/{id}")).await.expect_error(404, "not_found");
        admin.post_nothing(&format!("/org/api-keys/{id}/rotate")).await.expect_error(404, "not_found");
    }
    app.other_org().backend().verify("x").await.expect(200);
}

async fn every_bad_key_gets_the_same_bytes(app: &App) {
    let admin = app.admin().logged_in().await;
    let (revoked, revoked_key) = created(&admin, json!({ "name": "Revoked" })).await;
    admin.delete(&format!("/org/api-keys/{}", id(&revoked))).await.expect(200);
    let (_, expired_key) = created(&admin, json!({ "name": "Expired", "expiresAt": "2026-11-20T08:21:01.000Z" })).await;
    app.advance(1);
    let good = app.org().api_key();
    let with = |key: &str| app.anonymous().backend_with(key);
    let unknown = format!("{}{}", &good[..good.len() - 4], "AAAA");
    let strangers = [
        app.anonymous(),
        with(""),
        with("rubbish"),
        with("pk_live_"),
        with(&unknown),
        with(&good.to_uppercase()),
        with(&revoked_key),
        with(&expired_key),
        with(app.other_org().api_key()),
        with(good).at_org("no-such-organization"),
        with(good).at_org("globex"),
        app.anonymous().at_org("no-such-organization"),
        with(good).with("X-API-Key", "pk_live_second"),
    ];
    let reference = app.anonymous().verify("x").await.expect_error(401, "invalid_api_key").body;
    for stranger in strangers {
        for request in [stranger.verify("x"), stranger.get("/public/members"), stranger.get("/public/users/rubbish"), stranger.post_nothing("/public/verify")] {
            assert_eq!(request.await.expect(401).body, reference);
        }
    }
}

async fn a_key_without_the_scope_is_403(app: &App) {
    let admin = app.admin().logged_in().await;
    let member = app.member();
    let routes = [
        ("verify", "POST", "/public/verify".to_owned()),
        ("users:read", "GET", format!("/public/users/{}", member.id())),
        ("members:read", "GET", "/public/members".to_owned()),
        ("members:read", "GET", format!("/public/members/{}", member.id())),
    ];
    for held in ["verify", "users:read", "members:read", "proxy"] {
        let (_, key) = created(&admin, json!({ "name": held, "scopes": [held] })).await;
        let backend = app.anonymous().backend_with(&key);
        for (needed, method, path) in &routes {
            let answer = backend.request(method, path).json(&json!({ "token": "x" })).await;
            if *needed == held { answer.expect(200) } else { answer.expect_error(403, "missing_scope") };
        }
    }
}

async fn a_key_outlives_its_maker(app: &App) {
    let (admin, deputy) = (app.admin().logged_in().await, app.org().new_admin("Dora").await.logged_in().await);
    let (api_key, key) = created(&deputy, json!({ "name": "Dora's" })).await;
    admin.remove(deputy.id()).await.expect(200);
    assert!(works(app, &key).await);
    let kept = keys(&admin).await.into_iter().find(|entry| entry["id"] == api_key["id"]).expect("still listed");
    assert_eq!(kept["createdBy"], deputy.id());
}
