//! The `field` of an error: the part of the request that is at fault, for forms that tell it beside the input. That `field` and
//! `message` agree is a rule of every answer (`tests/src/universal.rs`).

use serde_json::json;
use tenant_auth_conformance::{App, Request, Response, scenarios};

use crate::suite::auth::recovery::reset::{forgot, reset};

scenarios![
    the_field_at_fault_is_named_by_its_path,
    parameters_and_headers_are_named,
    what_a_rule_refuses_names_its_field,
    a_body_that_is_wrong_as_a_whole_names_no_field,
    a_weak_password_names_where_it_stands,
    what_is_no_fields_fault_names_none,
];

async fn expect_field(request: Request, field: &str) {
    let answer = request.await.expect(400);
    assert_eq!(answer.field(), Some(field), "{}", answer.message());
}

async fn the_field_at_fault_is_named_by_its_path(app: &App) {
    let admin = app.admin().logged_in().await;
    let key = |fields| admin.post("/org/api-keys", fields);
    expect_field(key(json!({ "name": "CI", "scopes": ["verify", "nonsense"] })), "scopes[1]").await;
    expect_field(key(json!({ "name": "CI", "scopes": [] })), "scopes").await;
    expect_field(key(json!({ "name": "CI", "expiresAt": "2020-01-01T00:00:00Z" })), "expiresAt").await;
    expect_field(key(json!({ "name": "" })), "name").await;
    expect_field(key(json!({})), "name").await;
    expect_field(admin.post_nothing("/org/api-keys").text(r#"{"name":"a","name":"b"}"#), "name").await;
    expect_field(admin.patch("/org", json!({ "name": "a\0" })), "name").await;
    expect_field(admin.patch("/org", json!({ "allowedOrigins": ["https://a.example", "nonsense"] })), "allowedOrigins[1]").await;
    expect_field(admin.post("/org/webhooks", json!({ "url": "https://10.0.0.1", "events": ["*"] })), "url").await;
    let unknown = json!({ "url": "https://hooks.example.com", "events": ["*", "nope"] });
    expect_field(admin.post("/org/webhooks", unknown), "events[1]").await;
    let wildcard = json!({ "allowedOrigins": ["https://app.example.com", "https://*.example.com"] });
    expect_field(admin.patch("/org", wildcard), "allowedOrigins[1]").await;
    expect_field(admin.post("/org/members/invite", json!({ "email": "nobody" })), "email").await;
}

async fn parameters_and_headers_are_named(app: &App) {
    let admin = app.admin().logged_in().await;
    for (query, field) in [("limit=0", "limit"), ("order=up", "order"), ("role=owner", "role"), ("cursor=x", "cursor")] {
        expect_field(admin.get(&format!("/org/members?{query}")), field).await;
    }
    expect_field(admin.get("/org/members?limit=1&limit=1"), "limit").await;
    expect_field(admin.get("/org").header("Authorization", "Bearer a").header("Authorization", "Bearer b"), "Authorization").await;
}

async fn what_a_rule_refuses_names_its_field(app: &App) {
    let admin = app.admin().logged_in().await;
    let told = |refused: Response, field: &str| assert_eq!(refused.field(), Some(field), "{}", refused.message());
    told(
        admin.change_password("not-the-password", "velvet-anchor-93-comet").await.expect_error(401, "wrong_password"),
        "currentPassword",
    );
    let setup = admin.post("/auth/2fa/setup", json!({ "password": "not-the-password" })).await;
    told(setup.expect_error(401, "wrong_password"), "password");
    let link = reset(&app.anonymous(), "x", "velvet-anchor-93-comet").await;
    told(link.expect_error(400, "invalid_link"), "token");
    told(app.anonymous().accept("nonsense", "Nora").await.expect_error(400, "invalid_invite"), "token");
    let inviting = |email: &str| admin.post("/org/members/invite", json!({ "email": email, "role": "member" }));
    told(inviting(app.member().email()).await.expect_error(409, "already_member"), "email");
    inviting("nora@acme.example").await.expect(201);
    told(inviting("nora@acme.example").await.expect_error(409, "already_invited"), "email");
    told(app.anonymous().without_slug().get("/org").await.expect_error(400, "invalid_slug"), "X-Org-Slug");
}

async fn a_body_that_is_wrong_as_a_whole_names_no_field(app: &App) {
    for body in ["[]", "{", r#"{"email":"a@acme.example","password":"x"} {}"#, "\"\""] {
        let answer = app.anonymous().post_nothing("/auth/login").text(body).await.expect_error(400, "invalid_request");
        assert_eq!(answer.field(), None, "{body}: {}", answer.message());
    }
}

async fn a_weak_password_names_where_it_stands(app: &App) {
    let member = app.member().logged_in().await;
    expect_field(member.change_password(&member.person().password, "short"), "newPassword").await;
    forgot(&app.anonymous(), member.email()).await.expect(200);
    let token = app.link_token_of(member.email()).await;
    expect_field(reset(&app.anonymous(), &token, "short"), "newPassword").await;
    let token = app.invited(&app.admin().logged_in().await, "nora@acme.example").await;
    let accepting = app.anonymous().post(&format!("/org/invites/{token}/accept"), json!({ "name": "Nora", "password": "short" }));
    expect_field(accepting, "password").await;
    expect_field(app.anonymous().post(&format!("/org/invites/{token}/accept"), json!({ "name": "Nora" })), "password").await;
}

async fn what_is_no_fields_fault_names_none(app: &App) {
    let member = app.member().logged_in().await;
    for refused in [
        app.member().login_with(app.member().email(), "not-the-password").await.expect(401),
        member.get("/org/invites").await.expect(403),
        member.get("/nowhere").await.expect(404),
    ] {
        assert_eq!(refused.field(), None, "{}", refused.message());
    }
}
