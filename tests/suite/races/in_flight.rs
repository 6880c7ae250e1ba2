//! Requests held in the middle of their work, while hashing, when the world changes under them. Every write is judged at its commit:
//! what was allowed when the request came is not enough (behaviour.md, B20).

use std::{future::IntoFuture, sync::Arc};

use tenant_auth_conformance::{App, Caller, GatedHasher, PASSWORD, Request, Response, id_of, scenarios};

scenarios![
    a_login_held_during_a_password_change_comes_to_nothing,
    a_login_held_during_a_removal_is_refused,
    a_login_held_during_a_suspension_is_refused,
    a_login_held_while_the_organization_is_suspended_opens_nothing,
    a_password_change_held_during_a_logout_comes_to_nothing,
    a_password_change_held_during_a_removal_comes_to_nothing,
    a_password_change_held_during_a_suspension_comes_to_nothing,
    a_password_change_held_during_another_comes_to_nothing,
    an_accept_held_during_a_revocation_comes_to_nothing,
    an_accept_held_during_another_comes_to_nothing,
    an_accept_held_until_the_invite_expires_comes_to_nothing,
    an_accept_held_while_the_inviter_is_demoted_comes_to_nothing,
    an_accept_held_while_the_organization_is_suspended_comes_to_nothing,
    an_accept_held_while_the_account_appears_changes_nothing,
];

const NEW: &str = "velvet-anchor-93-comet";

/// A second server whose hashing can be held.
async fn gated(app: &App) -> (App, Arc<GatedHasher>) {
    let hasher = GatedHasher::new();
    (app.beside(|setup| setup.hasher = Some(Arc::clone(&hasher) as _)).await, hasher)
}

/// A request sent meanwhile, which must succeed.
async fn done(request: Request) {
    request.into_future().await.expect(200);
}

/// With any answer, the login opened no session.
async fn expect_dead(app: &App, thief: &Caller, answer: Response) {
    if answer.status == 200 {
        thief.get("/org").await.expect_no_session();
        thief.refresh().await.expect_no_session();
        assert!(!app.backend().finds_valid(&thief.access_token()).await, "dead on arrival");
    } else {
        assert!(matches!(answer.status, 401 | 403), "{}", answer.shown());
    }
}

async fn a_login_held_during_a_password_change_comes_to_nothing(app: &App) {
    let (gated, hasher) = gated(app).await;
    let (thief, owner) = (gated.member(), app.member().logged_in().await);
    let answer = hasher.meanwhile(thief.login(), done(owner.change_password(PASSWORD, NEW))).await;
    expect_dead(app, &thief, answer).await;
    owner.get("/org").await.expect(200);
}

async fn a_login_held_during_a_removal_is_refused(app: &App) {
    let (gated, hasher) = gated(app).await;
    let admin = app.admin().logged_in().await;
    let answer = hasher.meanwhile(gated.member().login(), done(admin.remove(gated.member().id()))).await;
    assert!(answer.expect(403).cookies().is_empty());
}

async fn a_login_held_during_a_suspension_is_refused(app: &App) {
    let (gated, hasher) = gated(app).await;
    let admin = app.admin().logged_in().await;
    let answer = hasher.meanwhile(gated.member().login(), done(admin.set_status(gated.member().id(), "suspended"))).await;
    answer.expect_error(403, "suspended");
}

async fn a_login_held_while_the_organization_is_suspended_opens_nothing(app: &App) {
    let (gated, hasher) = gated(app).await;
    let member = gated.member();
    let answer = hasher.meanwhile(member.login(), async { app.org().suspend().await }).await;
    if answer.status == 200 {
        member.get("/org").await.expect_error(403, "suspended");
        assert!(!app.backend().finds_valid(&member.access_token()).await);
    } else {
        answer.expect_error(403, "suspended");
    }
}

/// The old password is still the right one.
async fn expect_unchanged(app: &App, member: &Caller) {
    app.other_org().anonymous().login_with(member.email(), NEW).await.expect_error(401, "invalid_credentials");
    let known = app.other_org().anonymous().login_with(member.email(), PASSWORD).await;
    assert_ne!(known.code(), "invalid_credentials", "{}", known.shown());
}

async fn a_password_change_held_during_a_logout_comes_to_nothing(app: &App) {
    let (gated, hasher) = gated(app).await;
    let member = gated.member().logged_in().await;
    let answer = hasher.meanwhile(member.change_password(PASSWORD, NEW), done(member.copied().logout())).await;
    answer.expect_no_session();
    expect_unchanged(app, &member).await;
}

async fn a_password_change_held_during_a_removal_comes_to_nothing(app: &App) {
    let (gated, hasher) = gated(app).await;
    let (member, admin) = (gated.member().logged_in().await, app.admin().logged_in().await);
    let answer = hasher.meanwhile(member.change_password(PASSWORD, NEW), done(admin.remove(member.id()))).await;
    answer.expect_no_session();
    expect_unchanged(app, &member).await;
}

async fn a_password_change_held_during_a_suspension_comes_to_nothing(app: &App) {
    let (gated, hasher) = gated(app).await;
    let (member, admin) = (gated.member().logged_in().await, app.admin().logged_in().await);
    let answer = hasher.meanwhile(member.change_password(PASSWORD, NEW), done(admin.set_status(member.id(), "suspended"))).await;
    answer.expect_error(403, "suspended");
    expect_unchanged(app, &member).await;
}

async fn a_password_change_held_during_another_comes_to_nothing(app: &App) {
    let (gated, hasher) = gated(app).await;
    let (slow, quick) = (gated.member().logged_in().await, app.member().logged_in().await);
    let other = "mauve-gantry-17-plinth";
    let answer = hasher.meanwhile(slow.change_password(PASSWORD, NEW), done(quick.change_password(PASSWORD, other))).await;
    answer.expect(401);
    app.anonymous().login_with(quick.email(), other).await.expect(200);
    app.anonymous().login_with(quick.email(), NEW).await.expect(401);
    slow.get("/org").await.expect_no_session();
}

/// No person with this address came in, and none can log in.
async fn expect_nobody(app: &App, answer: Response, status: u16) {
    assert!(answer.expect(status).cookies().is_empty());
    app.anonymous().login_with("nora@acme.example", PASSWORD).await.expect_error(401, "invalid_credentials");
}

async fn an_accept_held_during_a_revocation_comes_to_nothing(app: &App) {
    let (gated, hasher) = gated(app).await;
    let admin = app.admin().logged_in().await;
    let token = app.invited(&admin, "nora@acme.example").await;
    let path = format!("/org/invites/{}", id_of(&admin.pending_invites().await[0]));
    let answer = hasher.meanwhile(gated.anonymous().accept(&token, "Nora"), done(admin.delete(&path))).await;
    expect_nobody(app, answer, 400).await;
}

async fn an_accept_held_during_another_comes_to_nothing(app: &App) {
    let (gated, hasher) = gated(app).await;
    let admin = app.admin().logged_in().await;
    let token = app.invited(&admin, "nora@acme.example").await;
    let answer = hasher.meanwhile(gated.anonymous().accept(&token, "Mallory"), done(app.anonymous().accept(&token, "Nora"))).await;
    answer.expect(400);
    assert_eq!(app.anonymous().login_with("nora@acme.example", PASSWORD).await.expect_ok()["user"]["name"], "Nora");
}

async fn an_accept_held_until_the_invite_expires_comes_to_nothing(app: &App) {
    let (gated, hasher) = gated(app).await;
    let admin = app.admin().logged_in().await;
    let token = app.invited(&admin, "nora@acme.example").await;
    let answer = hasher.meanwhile(gated.anonymous().accept(&token, "Nora"), async { app.advance(7 * 24 * 60 * 60) }).await;
    expect_nobody(app, answer, 400).await;
}

async fn an_accept_held_while_the_inviter_is_demoted_comes_to_nothing(app: &App) {
    let (gated, hasher) = gated(app).await;
    let (admin, deputy) = (app.admin().logged_in().await, app.org().new_admin("Dora").await.logged_in().await);
    let token = app.invited(&deputy, "nora@acme.example").await;
    let answer = hasher.meanwhile(gated.anonymous().accept(&token, "Nora"), done(admin.set_role(deputy.id(), "member"))).await;
    expect_nobody(app, answer, 400).await;
}

async fn an_accept_held_while_the_organization_is_suspended_comes_to_nothing(app: &App) {
    let (gated, hasher) = gated(app).await;
    let admin = app.admin().logged_in().await;
    let token = app.invited(&admin, "nora@acme.example").await;
    let answer = hasher.meanwhile(gated.anonymous().accept(&token, "Nora"), async { app.org().suspend().await }).await;
    expect_nobody(app, answer, 403).await;
    app.org().reactivate().await;
    app.anonymous().accept(&token, "Nora").await.expect(200);
}

/// Two organizations invite one new address; the second acceptance finds an account that the first had not.
async fn an_accept_held_while_the_account_appears_changes_nothing(app: &App) {
    let (gated, hasher) = gated(app).await;
    let (admin, greta) = (app.admin().logged_in().await, app.other_org().admin().logged_in().await);
    let here = app.invited(&admin, "nora@acme.example").await;
    let there = app.invited(&greta, "nora@acme.example").await;
    let meanwhile = done(app.other_org().anonymous().accept(&there, "Nora"));
    let answer = hasher
        .meanwhile(
            gated
                .anonymous()
                .post(&format!("/org/invites/{here}/accept"), serde_json::json!({ "name": "Mallory", "password": NEW })),
            meanwhile,
        )
        .await;
    assert!(answer.expect(409).cookies().is_empty());
    assert_eq!(admin.pending_invites().await.len(), 1, "still pending");
    let gone = app.other_org().anonymous().login_with("nora@acme.example", NEW).await;
    gone.expect(401);
    app.anonymous().accept_with_account(&here).await.expect(200);
}
