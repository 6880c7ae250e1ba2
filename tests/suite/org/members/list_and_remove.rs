//! The members of an organization: who they are, and how they go.

use serde_json::json;
use tenant_auth_conformance::{App, scenarios, shape};

scenarios![
    every_member_sees_the_list,
    a_member_is_removed,
    a_suspended_member_is_removed_too,
    the_last_admin_cannot_be_removed,
    removing_oneself_is_400,
    removing_a_stranger_is_404,
    only_an_admin_removes,
    a_removed_member_can_be_invited_again,
    a_member_leaves,
    the_last_active_admin_cannot_leave,
];

async fn every_member_sees_the_list(app: &App) {
    let member = app.member().logged_in().await;
    let members = member.members().await;
    assert_eq!(members.len(), 2);
    for entry in &members {
        assert_eq!(shape(entry), ["email", "joinedAt", "metadata", "name", "role", "status", "userId"]);
    }
    let own = members.iter().find(|entry| entry["userId"] == member.id()).expect("listed");
    let expected = json!({
        "userId": member.id(), "name": "Max Member", "email": member.email(), "role": "member", "status": "active",
        "joinedAt": "2026-11-20T08:21:00.000Z", "metadata": {},
    });
    assert_eq!(*own, expected);
    let path = |id: &str| format!("/org/members/{id}");
    assert_eq!(member.get(&path(member.id())).await.expect_ok()["member"], expected);
    let gus = app.other_org().member();
    member.get(&path(gus.id())).await.expect_error(404, "not_found");
    member.get(&path("usr_nobody")).await.expect_error(404, "not_found");
}

async fn a_member_is_removed(app: &App) {
    let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
    let data = admin.remove(member.id()).await.expect_ok();
    assert!(data["message"].is_string());
    member.get("/org").await.expect_no_session();
    member.refresh().await.expect_no_session();
    assert!(admin.member_entry(member.id()).await.is_none());
    let refused = app.member().login().await.expect(403);
    assert_ne!(refused.code(), "suspended", "the account lives on, without a membership here");
}

async fn a_suspended_member_is_removed_too(app: &App) {
    let admin = app.admin().logged_in().await;
    admin.set_status(app.member().id(), "suspended").await.expect(200);
    admin.remove(app.member().id()).await.expect(200);
    assert!(admin.member_entry(app.member().id()).await.is_none());
}

async fn the_last_admin_cannot_be_removed(app: &App) {
    let admin = app.admin().logged_in().await;
    admin.remove(admin.id()).await.expect(400);
    assert!(admin.member_entry(admin.id()).await.is_some());
    admin.get("/org").await.expect(200);
}

async fn removing_oneself_is_400(app: &App) {
    let (admin, deputy) = (app.admin().logged_in().await, app.org().new_admin("Dora").await.logged_in().await);
    deputy.remove(deputy.id()).await.expect(400);
    deputy.get("/org").await.expect(200);
    admin.remove(deputy.id()).await.expect(200);
}

async fn removing_a_stranger_is_404(app: &App) {
    let (admin, gus) = (app.admin().logged_in().await, app.other_org().member().logged_in().await);
    for id in
        [gus.id(), "usr_00000000000000000000000000", "usr_x", "x", "mem_00000000000000000000000000", "%00", "%FF", "usr_%2E%2E"]
    {
        admin.remove(id).await.expect_error(404, "not_found");
    }
    gus.get("/org").await.expect(200);
    admin.remove(app.member().id()).await.expect(200);
    admin.remove(app.member().id()).await.expect_error(404, "not_found");
}

async fn only_an_admin_removes(app: &App) {
    let member = app.member().logged_in().await;
    member.remove(app.admin().id()).await.expect_error(403, "admin_required");
    member.remove(member.id()).await.expect_error(403, "admin_required");
    app.anonymous().remove(member.id()).await.expect_no_session();
}

async fn a_removed_member_can_be_invited_again(app: &App) {
    let admin = app.admin().logged_in().await;
    admin.set_metadata(app.member().id(), json!({ "old": true })).await.expect(200);
    admin.remove(app.member().id()).await.expect(200);
    let token = app.invited(&admin, app.member().email()).await;
    app.member().accept_with_account(&token).await.expect(200);
    let entry = admin.member_entry(app.member().id()).await.expect("the same account");
    assert_eq!(entry["metadata"], json!({}), "a new membership begins empty");
    app.member().login().await.expect(200);
}

async fn a_member_leaves(app: &App) {
    let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
    let token = member.access_token();
    let data = member.post_nothing("/org/leave").await.expect_ok();
    assert!(data["message"].is_string());
    member.elsewhere().with_bearer(&token).get("/org").await.expect_no_session();
    assert!(!app.backend().finds_valid(&token).await);
    assert!(admin.member_entry(member.id()).await.is_none());
    app.member().login().await.expect(403);
}

async fn the_last_active_admin_cannot_leave(app: &App) {
    let admin = app.admin().logged_in().await;
    admin.post_nothing("/org/leave").await.expect(400);
    admin.get("/org").await.expect(200);
    app.org().new_admin("Dora").await;
    admin.post_nothing("/org/leave").await.expect(200);
    admin.get("/org").await.expect_no_session();
}
