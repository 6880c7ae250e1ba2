//! POST /org/invites/:token/accept, sentence by sentence of behaviour.md, B75, B76, B77 and B78.

use serde_json::{Value, json};
use tenant_auth_conformance::{App, PASSWORD, jwt, scenarios, shape};

scenarios![
    a_new_address_becomes_an_account_with_a_session,
    a_new_address_needs_name_and_password,
    an_existing_account_joins_without_fields,
    an_existing_account_with_fields_is_409_and_nothing_changes,
    a_link_goes_to_the_mailbox_of_the_account_however_the_admin_wrote_it,
    a_link_that_another_mailbox_got_opens_no_account,
    an_existing_accounts_session_says_how_it_was_opened,
    somebody_who_became_a_member_meanwhile_is_409,
    an_invalid_token_is_400,
    a_token_works_once,
    the_slug_must_be_the_invites,
    role_and_email_come_from_the_invite_alone,
    whatever_cookies_the_caller_holds_are_ignored,
    accepting_verifies_the_address,
    the_role_of_the_invite_is_given,
    name_and_password_obey_their_rules,
    the_body_is_optional_but_must_be_json,
    an_organization_without_app_url_shows_null,
];

fn path(token: &str) -> String {
    format!("/org/invites/{token}/accept")
}

async fn a_new_address_becomes_an_account_with_a_session(app: &App) {
    let admin = app.admin().logged_in().await;
    let token = app.invited(&admin, "Nora@acme.example").await;
    let nora = app.anonymous();
    let data = nora.accept(&token, "Nora New").await.expect_ok();
    assert_eq!(shape(&data), ["accessToken", "membership", "org", "refreshToken", "user"]);
    assert_eq!(shape(&data["user"]), ["email", "id", "name"]);
    assert_eq!((&data["user"]["name"], &data["user"]["email"]), (&"Nora New".into(), &"Nora@acme.example".into()));
    assert_eq!(data["membership"], json!({ "role": "member", "status": "active", "metadata": {} }));
    assert_eq!(data["org"], json!({ "name": "Acme Rockets", "slug": "acme", "appUrl": "https://app.acme.example" }));
    assert_eq!((&data["accessToken"], &data["refreshToken"]), (&nora.access_token().into(), &nora.refresh_token().into()));
    nora.get("/org").await.expect(200);
    nora.refresh().await.expect(200);
    app.anonymous().login_with("nora@acme.example", PASSWORD).await.expect(200);
    let entry = admin.member_entry(data["user"]["id"].as_str().expect("an id")).await.expect("a member");
    assert_eq!(entry["joinedAt"], "2026-11-20T08:21:00.000Z");
}

async fn a_new_address_needs_name_and_password(app: &App) {
    let admin = app.admin().logged_in().await;
    let token = app.invited(&admin, "nora@acme.example").await;
    app.anonymous().accept_with_account(&token).await.expect(400);
    app.anonymous().post(&path(&token), json!({})).await.expect(400);
    app.anonymous().post(&path(&token), json!({ "name": "Nora" })).await.expect_invalid("password");
    app.anonymous().post(&path(&token), json!({ "password": PASSWORD })).await.expect_invalid("name");
    app.anonymous().accept(&token, "Nora").await.expect(200);
}

async fn an_existing_account_joins_without_fields(app: &App) {
    let admin = app.admin().logged_in().await;
    for (person, body) in [(app.other_org().member(), None), (app.other_org().admin(), Some(json!({})))] {
        let token = app.invited(&admin, person.email()).await;
        let here = app.org().device_of(person.person());
        let request = here.post_nothing(&path(&token));
        let data = match body {
            Some(body) => request.json(&body).await.expect_ok(),
            None => request.await.expect_ok(),
        };
        assert_eq!(data["user"]["id"], here.id(), "the same account");
        here.get("/org").await.expect(200);
        here.elsewhere().login().await.expect(200);
        person.login().await.expect(200);
    }
}

async fn an_existing_account_with_fields_is_409_and_nothing_changes(app: &App) {
    let admin = app.admin().logged_in().await;
    let gus = app.other_org().member();
    let token = app.invited(&admin, gus.email()).await;
    let bodies = [
        json!({ "name": "Mallory", "password": "velvet-anchor-93-comet" }),
        json!({ "name": "Mallory" }),
        json!({ "password": "velvet-anchor-93-comet" }),
        json!({ "name": "Mallory", "password": PASSWORD }),
    ];
    for body in bodies {
        let refused = app.anonymous().post(&path(&token), body).await.expect(409);
        assert!(refused.cookies().is_empty());
    }
    assert_eq!(admin.pending_invites().await.len(), 1, "still pending");
    assert_eq!(gus.login().await.expect_ok()["user"]["name"], "Gus Member");
    app.org().device_of(gus.person()).login().await.expect(403);
    app.org().device_of(gus.person()).accept_with_account(&token).await.expect(200);
}

/// To a mail server they may be two people's.
fn in_capitals(address: &str) -> String {
    let (local, domain) = address.split_once('@').expect("an address");
    format!("{}@{domain}", local.to_uppercase())
}

async fn a_link_goes_to_the_mailbox_of_the_account_however_the_admin_wrote_it(app: &App) {
    let admin = app.admin().logged_in().await;
    let gus = app.other_org().member();
    let typed = in_capitals(gus.email());
    let invite = admin.invite(&typed).await.expect(201).data()["invite"].clone();
    assert_eq!(invite["email"], typed.as_str(), "an admin is not told that there is an account");
    let token = app.link_token_of(gus.email()).await;
    let mails = app.mail_to(gus.email()).await;
    assert_eq!(mails.last().expect("a mail").to.as_str(), gus.email());
    let here = app.org().device_of(gus.person());
    assert_eq!(here.preview(&token).await.expect_ok()["invite"]["accountExists"], true);
    assert_eq!(here.accept_with_account(&token).await.expect_ok()["user"]["id"], here.id());
}

async fn a_link_that_another_mailbox_got_opens_no_account(app: &App) {
    let admin = app.admin().logged_in().await;
    let typed = "NORA@globex.example";
    let token = app.invited(&admin, typed).await;
    let nora = app.other_org().new_member("Nora").await;
    assert_eq!(in_capitals(nora.email()), typed);
    let here = app.org().device_of(nora.person());
    for refused in [here.preview(&token), here.accept_with_account(&token), here.accept(&token, "Mallory")] {
        refused.await.expect_error(400, "invalid_invite");
    }
    let pending = admin.pending_invites().await;
    admin.post_nothing(&format!("/org/invites/{}/resend", pending[0]["id"].as_str().expect("an id"))).await.expect(200);
    let token = app.link_token_of(nora.email()).await;
    assert_eq!(app.mail_to(nora.email()).await.last().expect("a mail").to.as_str(), nora.email());
    assert_eq!(here.accept_with_account(&token).await.expect_ok()["user"]["id"], here.id());
}

async fn an_existing_accounts_session_says_how_it_was_opened(app: &App) {
    let admin = app.admin().logged_in().await;
    let gus = app.other_org().member();
    let token = app.invited(&admin, gus.email()).await;
    let here = app.org().device_of(gus.person());
    here.accept_with_account(&token).await.expect(200);
    assert_eq!(jwt::claims(&here.access_token())["amr"], json!(["invite"]));
    let data = app.backend().verify(&here.access_token()).await.expect_ok();
    assert_eq!(data["session"]["amr"], json!(["invite"]));
}

async fn somebody_who_became_a_member_meanwhile_is_409(app: &App) {
    let admin = app.admin().logged_in().await;
    let token = app.invited(&admin, "nora@acme.example").await;
    app.org().new_member("Nora").await;
    let refused = app.anonymous().accept_with_account(&token).await.expect(409);
    assert!(refused.cookies().is_empty());
    app.anonymous().accept(&token, "Mallory").await.expect(409);
}

async fn an_invalid_token_is_400(app: &App) {
    let refused = app.anonymous().accept("rubbish", "Nora").await.expect(400);
    assert!(refused.cookies().is_empty());
    for odd in ["x", "%00", "%FF", "%2F..%2F", &"y".repeat(43), &"z".repeat(5_000), "usr_00000000000000000000000000"] {
        app.anonymous().accept(odd, "Nora").await.expect(400);
        app.anonymous().accept_with_account(odd).await.expect(400);
    }
}

async fn a_token_works_once(app: &App) {
    let admin = app.admin().logged_in().await;
    let token = app.invited(&admin, "nora@acme.example").await;
    app.anonymous().accept(&token, "Nora").await.expect(200);
    app.anonymous().accept(&token, "Nora").await.expect(400);
    app.anonymous().accept_with_account(&token).await.expect(400);
}

async fn the_slug_must_be_the_invites(app: &App) {
    let admin = app.admin().logged_in().await;
    let token = app.invited(&admin, "nora@acme.example").await;
    app.other_org().anonymous().accept(&token, "Nora").await.expect(400);
    app.anonymous().at_org("nowhere").accept(&token, "Nora").await.expect_error(404, "unknown_organization");
    app.anonymous().accept(&token, "Nora").await.expect(200);
    assert_eq!(app.other_org().admin().logged_in().await.members().await.len(), 2);
}

async fn role_and_email_come_from_the_invite_alone(app: &App) {
    let admin = app.admin().logged_in().await;
    let token = app.invited(&admin, "nora@acme.example").await;
    let greedy = json!({ "name": "Nora", "password": PASSWORD, "role": "org_admin", "email": "root@acme.example", "status": "active", "metadata": { "a": 1 } });
    let data = app.anonymous().post(&path(&token), greedy).await.expect_ok();
    assert_eq!(data["membership"], json!({ "role": "member", "status": "active", "metadata": {} }));
    assert_eq!(data["user"]["email"], "nora@acme.example");
}

async fn whatever_cookies_the_caller_holds_are_ignored(app: &App) {
    let admin = app.admin().logged_in().await;
    let token = app.invited(&admin, "nora@acme.example").await;
    let data = admin.copied().accept(&token, "Nora").await.expect_ok();
    assert_eq!((&data["user"]["email"], &data["membership"]["role"]), (&"nora@acme.example".into(), &"member".into()));
    admin.get("/org/invites").await.expect(200);
    let token = app.invited(&admin, "olga@acme.example").await;
    let stranger = app.other_org().member().logged_in().await.at_org("acme");
    let data = stranger.accept(&token, "Olga").await.expect_ok();
    assert_eq!(data["user"]["email"], "olga@acme.example");
    assert_eq!(stranger.get("/auth/profile").await.expect_ok()["user"]["email"], "olga@acme.example");
}

async fn accepting_verifies_the_address(app: &App) {
    let admin = app.admin().logged_in().await;
    let token = app.invited(&admin, "nora@acme.example").await;
    let nora = app.anonymous();
    nora.accept(&token, "Nora").await.expect(200);
    assert_eq!(nora.get("/auth/profile").await.expect_ok()["user"]["isEmailVerified"], true);
    let pat = app.other_org().new_member("Pat").await.logged_in().await;
    assert_eq!(pat.get("/auth/profile").await.expect_ok()["user"]["isEmailVerified"], false);
    let token = app.invited(&admin, pat.email()).await;
    let pat = app.org().device_of(pat.person());
    pat.accept_with_account(&token).await.expect(200);
    assert_eq!(pat.get("/auth/profile").await.expect_ok()["user"]["isEmailVerified"], true);
}

async fn the_role_of_the_invite_is_given(app: &App) {
    let admin = app.admin().logged_in().await;
    admin.invite_as("nora@acme.example", "org_admin").await.expect(201);
    let token = app.link_token_of("nora@acme.example").await;
    let nora = app.anonymous();
    let data: Value = nora.accept(&token, "Nora").await.expect_ok();
    assert_eq!(data["membership"]["role"], "org_admin");
    nora.get("/org/invites").await.expect(200);
}

async fn name_and_password_obey_their_rules(app: &App) {
    let admin = app.admin().logged_in().await;
    let token = app.invited(&admin, "nora@acme.example").await;
    for name in [json!(""), json!("x".repeat(101)), json!("a\u{202E}b"), json!(1)] {
        app.anonymous().post(&path(&token), json!({ "name": name, "password": PASSWORD })).await.expect_invalid("name");
    }
    for password in [json!("x7$kQ2!"), json!("password")] {
        app.anonymous().post(&path(&token), json!({ "name": "Nora", "password": password })).await.expect(400);
    }
    app.anonymous().post(&path(&token), json!({ "name": "Nora", "password": 12_345_678 })).await.expect_invalid("password");
    app.anonymous().accept(&token, "Nora").await.expect(200);
}

async fn the_body_is_optional_but_must_be_json(app: &App) {
    let admin = app.admin().logged_in().await;
    let token = app.invited(&admin, app.other_org().member().email()).await;
    let accept = || app.anonymous().post_nothing(&path(&token));
    accept().body("text/plain", "please").await.expect_error(415, "unsupported_media_type");
    accept().text("please").await.expect_error(400, "invalid_request");
    accept().text("[]").await.expect_error(400, "invalid_request");
    accept().header("Content-Type", "application/json").await.expect(200);
}

async fn an_organization_without_app_url_shows_null(app: &App) {
    let admin = app.admin().logged_in().await;
    admin.patch("/org", json!({ "appUrl": null })).await.expect(200);
    let token = app.invited(&admin, "nora@acme.example").await;
    let data = app.anonymous().accept(&token, "Nora").await.expect_ok();
    assert_eq!(data["org"], json!({ "name": "Acme Rockets", "slug": "acme", "appUrl": null }));
}
