//! What can be done with an invite that was sent: looking at it, sending it again, withdrawing it, and how it ends with its sender.

use serde_json::json;
use tenant_auth_conformance::{App, id_of, scenarios, shape};

scenarios![
    a_preview_tells_what_the_invite_is,
    a_preview_knows_whether_an_account_exists,
    a_preview_of_a_bad_token_is_400,
    resending_makes_a_new_link_and_kills_the_old_one,
    revoking_kills_the_link,
    resending_and_revoking_need_an_admin,
    another_organizations_invite_is_404,
    an_expired_invite_is_404_for_resending_and_revoking,
    losing_an_admin_revokes_the_invites_they_sent,
    a_get_never_consumes_a_token,
];

const WEEK: u64 = 7 * 24 * 60 * 60;

async fn a_preview_tells_what_the_invite_is(app: &App) {
    let admin = app.admin().logged_in().await;
    let token = app.invited(&admin, "nora@acme.example").await;
    let data = app.anonymous().preview(&token).await.expect_ok();
    assert_eq!(shape(&data), ["invite", "org"]);
    let invite =
        json!({ "email": "nora@acme.example", "role": "member", "expiresAt": "2026-11-27T08:21:00.000Z", "accountExists": false });
    assert_eq!(data["invite"], invite);
    assert_eq!(data["org"], json!({ "name": "Acme Rockets", "slug": "acme" }));
    app.anonymous().preview(&token).await.expect(200);
    app.anonymous().accept(&token, "Nora").await.expect(200);
    app.anonymous().preview(&token).await.expect(400);
}

async fn a_preview_knows_whether_an_account_exists(app: &App) {
    let admin = app.admin().logged_in().await;
    let token = app.invited(&admin, app.other_org().member().email()).await;
    let data = app.anonymous().preview(&token).await.expect_ok();
    assert_eq!(data["invite"]["accountExists"], true);
}

async fn a_preview_of_a_bad_token_is_400(app: &App) {
    let admin = app.admin().logged_in().await;
    let token = app.invited(&admin, "nora@acme.example").await;
    for bad in ["", "rubbish", "a\0b", &"x".repeat(43), &format!("{token}x"), &token[..42]] {
        app.anonymous().preview(bad).await.expect(400);
    }
    app.anonymous().at_org("globex").preview(&token).await.expect(400);
    app.anonymous().post("/org/invites/preview", json!({})).await.expect_invalid("token");
    app.anonymous().post("/org/invites/preview", json!({ "token": 1 })).await.expect_invalid("token");
    app.anonymous().preview(&token).await.expect(200);
}

async fn resending_makes_a_new_link_and_kills_the_old_one(app: &App) {
    let admin = app.admin().logged_in().await;
    let old = app.invited(&admin, "nora@acme.example").await;
    let pending = admin.pending_invites().await[0].clone();
    app.advance(3 * 24 * 60 * 60);
    let admin = app.admin().logged_in().await;
    let path = format!("/org/invites/{}/resend", id_of(&pending));
    let data = admin.post_nothing(&path).await.expect_ok();
    assert_eq!(data["invite"]["id"], pending["id"]);
    assert_eq!(data["invite"]["expiresAt"], "2026-11-30T08:21:00.000Z", "seven days from now");
    let new = app.link_token_of("nora@acme.example").await;
    assert_ne!(old, new);
    assert_eq!(app.mail_to("nora@acme.example").await.len(), 2);
    app.anonymous().accept(&old, "Nora").await.expect(400);
    app.anonymous().accept(&new, "Nora").await.expect(200);
    admin.post_nothing(&path).await.expect_error(404, "not_found");
}

async fn revoking_kills_the_link(app: &App) {
    let admin = app.admin().logged_in().await;
    let token = app.invited(&admin, "nora@acme.example").await;
    let path = format!("/org/invites/{}", id_of(&admin.pending_invites().await[0]));
    let data = admin.delete(&path).await.expect_ok();
    assert!(data["message"].is_string());
    app.anonymous().accept(&token, "Nora").await.expect(400);
    app.anonymous().preview(&token).await.expect(400);
    assert!(admin.pending_invites().await.is_empty());
    admin.delete(&path).await.expect_error(404, "not_found");
    admin.invite("nora@acme.example").await.expect(201);
}

async fn resending_and_revoking_need_an_admin(app: &App) {
    let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
    admin.invite("nora@acme.example").await.expect(201);
    let path = format!("/org/invites/{}", id_of(&admin.pending_invites().await[0]));
    member.delete(&path).await.expect_error(403, "admin_required");
    member.post_nothing(&format!("{path}/resend")).await.expect_error(403, "admin_required");
    app.anonymous().delete(&path).await.expect_no_session();
    app.anonymous().post_nothing(&format!("{path}/resend")).await.expect_no_session();
    assert_eq!(admin.pending_invites().await.len(), 1);
}

async fn another_organizations_invite_is_404(app: &App) {
    let (admin, greta) = (app.admin().logged_in().await, app.other_org().admin().logged_in().await);
    let token = app.invited(&greta, "nora@globex.example").await;
    let id = id_of(&greta.pending_invites().await[0]).to_owned();
    for id in [id.as_str(), "inv_00000000000000000000000000", "rubbish"] {
        admin.delete(&format!("/org/invites/{id}")).await.expect_error(404, "not_found");
        admin.post_nothing(&format!("/org/invites/{id}/resend")).await.expect_error(404, "not_found");
    }
    app.other_org().anonymous().accept(&token, "Nora").await.expect(200);
}

async fn an_expired_invite_is_404_for_resending_and_revoking(app: &App) {
    app.admin().logged_in().await.invite("nora@acme.example").await.expect(201);
    let id = id_of(&app.admin().logged_in().await.pending_invites().await[0]).to_owned();
    app.advance(WEEK);
    let admin = app.admin().logged_in().await;
    admin.post_nothing(&format!("/org/invites/{id}/resend")).await.expect_error(404, "not_found");
    admin.delete(&format!("/org/invites/{id}")).await.expect_error(404, "not_found");
}

async fn losing_an_admin_revokes_the_invites_they_sent(app: &App) {
    let admin = app.admin().logged_in().await;
    app.invited(&admin, "kept@acme.example").await;
    for fate in ["removed", "demoted", "suspended", "left"] {
        let deputy = app.org().new_admin(&format!("Dora{fate}")).await.logged_in().await;
        let token = app.invited(&deputy, &format!("{fate}@acme.example")).await;
        let done = match fate {
            "removed" => admin.remove(deputy.id()),
            "demoted" => admin.set_role(deputy.id(), "member"),
            "suspended" => admin.set_status(deputy.id(), "suspended"),
            _ => deputy.post_nothing("/org/leave"),
        };
        done.await.expect(200);
        app.anonymous().accept(&token, "Nora").await.expect(400);
        let pending = admin.pending_invites().await;
        assert_eq!(pending.len(), 1, "after being {fate}: {pending:?}");
        assert_eq!(pending[0]["email"], "kept@acme.example");
        admin.invite(&format!("{fate}@acme.example")).await.expect(201);
        let again = admin.pending_invites().await.into_iter().find(|invite| invite["email"] == format!("{fate}@acme.example"));
        admin.delete(&format!("/org/invites/{}", again.expect("pending")["id"].as_str().expect("an id"))).await.expect(200);
    }
}

async fn a_get_never_consumes_a_token(app: &App) {
    let admin = app.admin().logged_in().await;
    let token = app.invited(&admin, "nora@acme.example").await;
    for path in [format!("/org/invites/{token}/accept"), "/org/invites/preview".to_owned()] {
        app.anonymous().get(&path).await.expect(405);
        app.anonymous().request("HEAD", &path).await.expect(405);
    }
    app.anonymous().accept(&token, "Nora").await.expect(200);
}
