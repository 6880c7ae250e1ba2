//! GET and PATCH /org: the organization as its members see it.

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, scenarios, shape};

scenarios![
    every_member_sees_the_organization,
    only_an_admin_sees_the_allowed_origins,
    an_admin_changes_what_is_given_and_nothing_else,
    null_removes_the_app_url,
    a_plain_member_cannot_change_it,
    a_name_obeys_the_rules_of_names,
    an_app_url_is_https_except_on_loopback,
    an_origin_is_an_origin,
    fifty_origins_are_the_most,
    plan_slug_and_status_are_not_the_organizations_to_change,
];

async fn org(caller: &Caller) -> Value {
    caller.get("/org").await.expect_ok()["org"].clone()
}

async fn every_member_sees_the_organization(app: &App) {
    let member = app.member().logged_in().await;
    let seen = org(&member).await;
    assert_eq!(shape(&seen), ["appUrl", "createdAt", "id", "name", "plan", "slug", "status"]);
    assert_eq!((&seen["name"], &seen["slug"], &seen["plan"]), (&"Acme Rockets".into(), &"acme".into(), &"pro".into()));
    assert_eq!((&seen["status"], &seen["appUrl"]), (&"active".into(), &"https://app.acme.example".into()));
    let bearer = member.elsewhere().with_bearer(&member.access_token());
    assert_eq!(org(&bearer).await, seen, "a bearer token is as good as a cookie");
}

async fn only_an_admin_sees_the_allowed_origins(app: &App) {
    let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
    let origins = json!(["https://one.acme.example", "https://two.acme.example"]);
    let changed = admin.patch("/org", json!({ "allowedOrigins": origins })).await.expect_ok()["org"].clone();
    assert_eq!(changed["allowedOrigins"], origins);
    assert_eq!(org(&admin).await["allowedOrigins"], origins);
    assert!(org(&member).await.get("allowedOrigins").is_none());
}

async fn an_admin_changes_what_is_given_and_nothing_else(app: &App) {
    let admin = app.admin().logged_in().await;
    let before = org(&admin).await;
    let after = admin.patch("/org", json!({ "name": "Acme Liners" })).await.expect_ok()["org"].clone();
    assert_eq!(after["name"], "Acme Liners");
    for field in ["id", "slug", "plan", "status", "appUrl", "createdAt", "allowedOrigins"] {
        assert_eq!(after[field], before[field], "{field}");
    }
    admin.patch("/org", json!({ "appUrl": "https://new.acme.example/start?x=1" })).await.expect(200);
    let after = org(&admin).await;
    assert_eq!((&after["name"], &after["appUrl"]), (&"Acme Liners".into(), &"https://new.acme.example/start?x=1".into()));
}

async fn null_removes_the_app_url(app: &App) {
    let admin = app.admin().logged_in().await;
    let after = admin.patch("/org", json!({ "appUrl": null })).await.expect_ok()["org"].clone();
    assert_eq!(after["appUrl"], Value::Null);
    let seen = org(&admin).await;
    assert_eq!(seen.get("appUrl"), Some(&Value::Null), "present as null");
    admin.patch("/org", json!({ "name": "Acme" })).await.expect(200);
    assert_eq!(org(&admin).await["appUrl"], Value::Null);
}

async fn a_plain_member_cannot_change_it(app: &App) {
    let member = app.member().logged_in().await;
    member.patch("/org", json!({ "name": "Mine" })).await.expect_error(403, "admin_required");
    app.anonymous().patch("/org", json!({ "name": "Mine" })).await.expect_no_session();
    assert_eq!(org(&member).await["name"], "Acme Rockets");
}

async fn a_name_obeys_the_rules_of_names(app: &App) {
    let admin = app.admin().logged_in().await;
    for name in
        [json!(""), json!("x".repeat(101)), json!("a\u{202E}b"), json!("a\u{200B}b"), json!("a\nb"), json!("a\0b"), json!(3)]
    {
        admin.patch("/org", json!({ "name": name })).await.expect_invalid("name");
    }
    admin.patch("/org", json!({ "name": "é".repeat(100) })).await.expect(200);
}

async fn an_app_url_is_https_except_on_loopback(app: &App) {
    let admin = app.admin().logged_in().await;
    for good in ["https://app.acme.example", "http://localhost:3000/x", "http://127.0.0.1:8080", "http://[::1]:3000"] {
        let after = admin.patch("/org", json!({ "appUrl": good })).await.expect_ok()["org"].clone();
        assert_eq!(after["appUrl"], good, "kept as typed");
    }
    let odd = [
        "http://app.acme.example",
        "javascript:alert(1)",
        "ftp://app.acme.example",
        "app.acme.example",
        "",
        "https://",
        "https://u:p@acme.example",
        "https://a\0b.example",
    ];
    for bad in odd {
        admin.patch("/org", json!({ "appUrl": bad })).await.expect_invalid("appUrl");
    }
    admin.patch("/org", json!({ "appUrl": 5 })).await.expect_invalid("appUrl");
}

async fn an_origin_is_an_origin(app: &App) {
    let admin = app.admin().logged_in().await;
    admin.patch("/org", json!({ "allowedOrigins": ["http://localhost:5173", "https://x.example"] })).await.expect(200);
    let bad = [
        json!(["https://x.example/path"]),
        json!(["http://x.example"]),
        json!(["null"]),
        json!(["*"]),
        json!("https://x.example"),
        json!([5]),
    ];
    for origins in bad {
        admin.patch("/org", json!({ "allowedOrigins": origins })).await.expect_invalid("allowedOrigins");
    }
    assert_eq!(org(&admin).await["allowedOrigins"].as_array().map(Vec::len), Some(2));
    admin.patch("/org", json!({ "allowedOrigins": [] })).await.expect(200);
    assert_eq!(org(&admin).await["allowedOrigins"], json!([]));
}

async fn plan_slug_and_status_are_not_the_organizations_to_change(app: &App) {
    let admin = app.admin().logged_in().await;
    let before = org(&admin).await;
    let greedy = json!({ "plan": "enterprise", "slug": "better", "status": "suspended", "id": "org_00000000000000000000000000", "createdAt": "2000-01-01T00:00:00.000Z" });
    admin.patch("/org", greedy).await.expect(200);
    assert_eq!(org(&admin).await, before);
}

async fn fifty_origins_are_the_most(app: &App) {
    let admin = app.admin().logged_in().await;
    let allow = |count: u32| {
        let origins: Vec<String> = (0..count).map(|n| format!("https://app-{n}.acme.example")).collect();
        admin.patch("/org", json!({ "allowedOrigins": origins }))
    };
    allow(51).await.expect_error(400, "invalid_request");
    assert_eq!(org(&admin).await["allowedOrigins"], json!([]), "nothing was changed");
    allow(50).await.expect(200);
    assert_eq!(org(&admin).await["allowedOrigins"].as_array().map(Vec::len), Some(50));
}
