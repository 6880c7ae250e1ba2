//! PUT /org/members/:userId/role and /status: what a member may do, and whether they are let in. One active admin is always left.

use serde_json::json;
use tenant_auth_conformance::{App, scenarios};

scenarios![
    a_role_is_changed,
    the_last_active_admin_keeps_the_role,
    an_admin_may_step_down_when_another_is_left,
    a_suspended_admin_does_not_count,
    roles_are_member_and_org_admin,
    a_status_is_changed,
    suspending_oneself_is_400,
    a_status_is_active_or_suspended,
    only_an_admin_changes_role_and_status,
    strangers_have_no_role_or_status,
];

async fn a_role_is_changed(app: &App) {
    let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
    member.get("/org/invites").await.expect_error(403, "admin_required");
    let data = admin.set_role(member.id(), "org_admin").await.expect_ok();
    assert_eq!((&data["membership"]["userId"], &data["membership"]["role"]), (&member.id().into(), &"org_admin".into()));
    member.get("/org/invites").await.expect(200);
    admin.set_role(member.id(), "org_admin").await.expect(200);
    admin.set_role(member.id(), "member").await.expect(200);
    member.get("/org/invites").await.expect_error(403, "admin_required");
    member.get("/org").await.expect(200);
}

async fn the_last_active_admin_keeps_the_role(app: &App) {
    let admin = app.admin().logged_in().await;
    admin.set_role(admin.id(), "member").await.expect(400);
    admin.get("/org/invites").await.expect(200);
}

async fn an_admin_may_step_down_when_another_is_left(app: &App) {
    let admin = app.admin().logged_in().await;
    let deputy = app.org().new_admin("Dora").await.logged_in().await;
    admin.set_role(admin.id(), "member").await.expect(200);
    admin.get("/org/invites").await.expect_error(403, "admin_required");
    deputy.set_role(deputy.id(), "member").await.expect(400);
}

async fn a_suspended_admin_does_not_count(app: &App) {
    let (admin, deputy) = (app.admin().logged_in().await, app.org().new_admin("Dora").await);
    admin.set_status(deputy.id(), "suspended").await.expect(200);
    admin.set_role(admin.id(), "member").await.expect(400);
    admin.post_nothing("/org/leave").await.expect(400);
    admin.set_status(deputy.id(), "active").await.expect(200);
    admin.set_role(admin.id(), "member").await.expect(200);
}

async fn roles_are_member_and_org_admin(app: &App) {
    let admin = app.admin().logged_in().await;
    for role in [json!("admin"), json!("ORG_ADMIN"), json!(""), json!("member ")] {
        let path = format!("/org/members/{}/role", app.member().id());
        admin.put(&path, json!({ "role": role })).await.expect_invalid("role");
    }
    admin.put(&format!("/org/members/{}/role", app.member().id()), json!({})).await.expect_invalid("role");
}

async fn a_status_is_changed(app: &App) {
    let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
    let data = admin.set_status(member.id(), "suspended").await.expect_ok();
    assert_eq!((&data["membership"]["userId"], &data["membership"]["status"]), (&member.id().into(), &"suspended".into()));
    assert_eq!(admin.member_entry(member.id()).await.expect("still a member")["status"], "suspended");
    admin.set_status(member.id(), "suspended").await.expect(200);
    admin.set_status(member.id(), "active").await.expect(200);
    member.get("/org").await.expect(200);
}

async fn suspending_oneself_is_400(app: &App) {
    let admin = app.admin().logged_in().await;
    admin.set_status(admin.id(), "suspended").await.expect(400);
    app.org().new_admin("Dora").await;
    admin.set_status(admin.id(), "suspended").await.expect(400);
    admin.get("/org/invites").await.expect(200);
}

async fn a_status_is_active_or_suspended(app: &App) {
    let admin = app.admin().logged_in().await;
    let path = format!("/org/members/{}/status", app.member().id());
    for status in [json!("closed"), json!("Active"), json!("")] {
        admin.put(&path, json!({ "status": status })).await.expect_invalid("status");
    }
    admin.put(&path, json!({})).await.expect_invalid("status");
}

async fn only_an_admin_changes_role_and_status(app: &App) {
    let member = app.member().logged_in().await;
    member.set_role(member.id(), "org_admin").await.expect_error(403, "admin_required");
    member.set_status(app.admin().id(), "suspended").await.expect_error(403, "admin_required");
    member.delete(&format!("/org/members/{}/sessions", app.admin().id())).await.expect_error(403, "admin_required");
    app.anonymous().set_role(member.id(), "org_admin").await.expect_no_session();
}

async fn strangers_have_no_role_or_status(app: &App) {
    let admin = app.admin().logged_in().await;
    for id in [app.other_org().member().id(), "usr_00000000000000000000000000", "nobody"] {
        admin.set_role(id, "org_admin").await.expect_error(404, "not_found");
        admin.set_status(id, "suspended").await.expect_error(404, "not_found");
    }
    app.other_org().member().login().await.expect(200);
}
