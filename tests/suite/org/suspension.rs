//! Suspension: a member or an organization is shut out at once and let in again unharmed (behaviour.md, B37).

use serde_json::json;
use tenant_auth_conformance::{App, scenarios};

scenarios![
    a_suspended_member_is_refused_on_every_user_route,
    a_suspended_members_refresh_is_401_and_the_session_survives,
    members_of_a_suspended_organization_are_refused,
    a_suspended_organizations_refresh_is_401_and_the_session_survives,
    an_invite_to_a_suspended_organization_is_403_and_stays_pending,
    a_suspended_admin_has_no_rights,
    a_suspension_stays_within_its_organization,
];

async fn a_suspended_member_is_refused_on_every_user_route(app: &App) {
    let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
    admin.set_status(member.id(), "suspended").await.expect(200);
    for path in ["/org", "/org/members", "/auth/profile"] {
        let refused = member.get(path).await.expect_error(403, "suspended");
        assert!(refused.cookies().is_empty(), "the cookies stay for later");
    }
    member.put("/auth/profile", json!({ "name": "Max" })).await.expect_error(403, "suspended");
    member.change_password("mauve-otter-plinth-42", "velvet-anchor-93-comet").await.expect_error(403, "suspended");
    member.post_nothing("/org/leave").await.expect_error(403, "suspended");
    admin.set_status(member.id(), "active").await.expect(200);
    member.get("/org").await.expect(200);
}

async fn a_suspended_members_refresh_is_401_and_the_session_survives(app: &App) {
    let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
    admin.set_status(member.id(), "suspended").await.expect(200);
    let refused = member.refresh().await.expect(401);
    assert!(refused.cookies().is_empty(), "the session survives, so its cookies must: {}", refused.shown());
    admin.set_status(member.id(), "active").await.expect(200);
    member.get("/org").await.expect(200);
    member.refresh().await.expect(200);
}

async fn members_of_a_suspended_organization_are_refused(app: &App) {
    let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
    app.org().suspend().await;
    member.get("/org").await.expect_error(403, "suspended");
    admin.get("/org/invites").await.expect_error(403, "suspended");
    admin.invite("nora@acme.example").await.expect_error(403, "suspended");
    app.org().reactivate().await;
    member.get("/org").await.expect(200);
    assert!(admin.pending_invites().await.is_empty(), "the refused one came to nothing");
}

async fn a_suspended_organizations_refresh_is_401_and_the_session_survives(app: &App) {
    let member = app.member().logged_in().await;
    app.org().suspend().await;
    let refused = member.refresh().await.expect(401);
    assert!(refused.cookies().is_empty(), "{}", refused.shown());
    app.org().reactivate().await;
    member.refresh().await.expect(200);
}

async fn an_invite_to_a_suspended_organization_is_403_and_stays_pending(app: &App) {
    let admin = app.admin().logged_in().await;
    let token = app.invited(&admin, "nora@acme.example").await;
    app.org().suspend().await;
    app.anonymous().accept(&token, "Nora New").await.expect_error(403, "suspended");
    app.org().reactivate().await;
    app.anonymous().accept(&token, "Nora New").await.expect(200);
}

async fn a_suspended_admin_has_no_rights(app: &App) {
    let (admin, deputy) = (app.admin().logged_in().await, app.org().new_admin("Dora Deputy").await.logged_in().await);
    admin.set_status(deputy.id(), "suspended").await.expect(200);
    deputy.set_role(admin.id(), "member").await.expect_error(403, "suspended");
    deputy.remove(admin.id()).await.expect_error(403, "suspended");
    deputy.set_status(deputy.id(), "active").await.expect_error(403, "suspended");
    assert_eq!(admin.member_entry(deputy.id()).await.expect("still listed")["status"], "suspended");
}

async fn a_suspension_stays_within_its_organization(app: &App) {
    let admin = app.admin().logged_in().await;
    let token = app.invited(&admin, app.other_org().member().email()).await;
    let here = app.org().device_of(app.other_org().member().person());
    here.accept_with_account(&token).await.expect(200);
    let there = app.other_org().member().logged_in().await;
    admin.set_status(here.id(), "suspended").await.expect(200);
    here.get("/org").await.expect_error(403, "suspended");
    there.get("/org").await.expect(200);
    there.refresh().await.expect(200);
}
