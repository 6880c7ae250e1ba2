//! API keys: made by admins, shown once, limited in scope and number, and all bad ones refused alike.

use serde_json::{Value, json};
use tenant_auth_conformance::{App, id_of, scenarios, shape};
use tenant_auth_core::model::Scope;

scenarios![
    a_key_is_shown_once,
    a_key_works_at_once,
    scopes_are_chosen_among_three,
    the_scope_proxy_is_the_operators_to_give,
    an_expiry_lies_in_the_future,
    the_name_is_required,
    only_an_admin_manages_keys,
    twenty_is_the_limit,
    another_organizations_key_is_404,
    every_bad_key_gets_the_same_bytes,
    a_key_without_the_scope_is_403,
];

async fn a_key_is_shown_once(app: &App) {
    let admin = app.admin().logged_in().await;
    app.advance(1);
    let (api_key, key) = admin.created_key(json!({ "name": "Back end" })).await;
    let fields = ["createdAt", "createdBy", "expiresAt", "id", "lastFour", "lastUsedAt", "name", "prefix", "scopes"];
    assert_eq!(shape(&api_key), fields);
    assert!(key.starts_with("pk_live_"));
    assert!(key.starts_with(api_key["prefix"].as_str().expect("a prefix")));
    assert!(
        key.ends_with(api_key["lastFour"].as_str().expect("four characters"))
            && api_key["lastFour"].as_str().map(str::len) == Some(4)
    );
    assert!(key.len() - api_key["prefix"].as_str().map_or(0, str::len) > 40, "most of it is secret");
    assert_eq!((&api_key["name"], &api_key["createdBy"]), (&"Back end".into(), &admin.id().into()));
    assert_eq!(api_key["scopes"], json!(["verify", "users:read", "members:read"]));
    assert_eq!((&api_key["expiresAt"], &api_key["lastUsedAt"]), (&Value::Null, &Value::Null));
    let listed = admin.get("/org/api-keys").await.expect(200);
    assert!(!listed.body.contains(&key), "never again");
    let all = admin.api_keys().await;
    assert_eq!(all.len(), 2);
    assert_eq!(all[1], api_key);
    assert_eq!((&all[0]["id"], &all[0]["createdBy"]), (&app.org().api_key_id().into(), &Value::Null), "made by the command line");
}

async fn a_key_works_at_once(app: &App) {
    let admin = app.admin().logged_in().await;
    let (_, key) = admin.created_key(json!({ "name": "Back end" })).await;
    let backend = app.anonymous().backend_with(&key);
    assert!(backend.finds_valid(&admin.access_token()).await);
    backend.get("/public/members").await.expect(200);
    backend.get(&format!("/public/users/{}", admin.id())).await.expect(200);
}

async fn scopes_are_chosen_among_three(app: &App) {
    let admin = app.admin().logged_in().await;
    let (api_key, _) = admin.created_key(json!({ "name": "Reader", "scopes": ["users:read", "verify"] })).await;
    let mut scopes: Vec<&str> = api_key["scopes"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    scopes.sort_unstable();
    assert_eq!(scopes, ["users:read", "verify"]);
    for bad in [json!(["admin"]), json!(["VERIFY"]), json!("verify"), json!([])] {
        admin.post("/org/api-keys", json!({ "name": "Odd", "scopes": bad })).await.expect_invalid("scopes");
    }
}

/// Whose failures are counted against whom is the operator's to say: a key that states addresses is made on the command line.
async fn the_scope_proxy_is_the_operators_to_give(app: &App) {
    let admin = app.admin().logged_in().await;
    let before = admin.api_keys().await.len();
    for scopes in [json!(["proxy"]), json!(["verify", "proxy"])] {
        admin.post("/org/api-keys", json!({ "name": "Front end", "scopes": scopes })).await.expect_error(403, "admin_required");
    }
    assert_eq!(admin.api_keys().await.len(), before);
    app.org().operators_key(&[Scope::Proxy]).await;
    let made = admin.api_keys().await.into_iter().find(|key| key["scopes"] == json!(["proxy"])).expect("it is listed");
    let path = format!("/org/api-keys/{}/rotate", made["id"].as_str().expect("an id"));
    let rotated = admin.post_nothing(&path).await.expect(201).data();
    assert_eq!(rotated["apiKey"]["scopes"], json!(["proxy"]), "an org_admin may replace it all the same");
    let key = rotated["key"].as_str().expect("a key").to_owned();
    let person = app.member().with("X-API-Key", &key).with("X-Client-IP", "203.0.113.7").logged_in().await;
    let sessions = person.get("/auth/sessions").await.expect_ok();
    assert_eq!(sessions["sessions"][0]["ip"], "203.0.113.7");
}

async fn an_expiry_lies_in_the_future(app: &App) {
    let admin = app.admin().logged_in().await;
    for bad in
        [json!("2026-11-20T08:21:00.000Z"), json!("2020-01-01T00:00:00.000Z"), json!("tomorrow"), json!(1_900_000_000), json!("")]
    {
        admin.post("/org/api-keys", json!({ "name": "Odd", "expiresAt": bad })).await.expect_invalid("expiresAt");
    }
    admin.created_key(json!({ "name": "Never", "expiresAt": null })).await;
}

async fn the_name_is_required(app: &App) {
    let admin = app.admin().logged_in().await;
    for bad in [
        json!({}),
        json!({ "name": "" }),
        json!({ "name": "x".repeat(101) }),
        json!({ "name": 1 }),
        json!({ "name": "a\nb" }),
        json!({ "name": null }),
    ] {
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
    assert!(app.key_works(app.org().api_key()).await);
}

async fn twenty_is_the_limit(app: &App) {
    let admin = app.admin().logged_in().await;
    for n in 2..=20 {
        admin.created_key(json!({ "name": format!("Key {n}") })).await;
    }
    admin.create_key("One too many").await.expect_error(409, "limit_reached");
    assert_eq!(admin.api_keys().await.len(), 20);
    admin.delete(&format!("/org/api-keys/{}", app.org().api_key_id())).await.expect(200);
    admin.created_key(json!({ "name": "In its place" })).await;
    app.other_org().admin().logged_in().await.create_key("Elsewhere").await.expect(201);
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
    let (revoked, revoked_key) = admin.created_key(json!({ "name": "Revoked" })).await;
    admin.delete(&format!("/org/api-keys/{}", id_of(&revoked))).await.expect(200);
    let (_, expired_key) = admin.created_key(json!({ "name": "Expired", "expiresAt": "2026-11-20T08:21:01.000Z" })).await;
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
        for request in [
            stranger.verify("x"),
            stranger.get("/public/members"),
            stranger.get("/public/users/rubbish"),
            stranger.post_nothing("/public/verify"),
        ] {
            assert_eq!(request.await.expect(401).body, reference);
        }
    }
}

async fn a_key_without_the_scope_is_403(app: &App) {
    let member = app.member();
    let routes = [
        ("verify", "POST", "/public/verify".to_owned()),
        ("users:read", "GET", format!("/public/users/{}", member.id())),
        ("members:read", "GET", "/public/members".to_owned()),
        ("members:read", "GET", format!("/public/members/{}", member.id())),
    ];
    for scope in [Scope::Verify, Scope::UsersRead, Scope::MembersRead, Scope::Proxy] {
        let key = app.org().operators_key(&[scope]).await;
        let held = scope.as_str();
        let backend = app.anonymous().backend_with(&key);
        for (needed, method, path) in &routes {
            let answer = backend.request(method, path).json(&json!({ "token": "x" })).await;
            if *needed == held {
                answer.expect(200)
            } else {
                answer.expect_error(403, "missing_scope")
            };
        }
    }
}
