//! POST /public/verify: a customer's backend asks about a token, and is never told yes a moment too long.

use serde_json::{Value, json};
use tenant_auth_conformance::{App, jwt, scenarios, shape};
use tokio::task::JoinSet;

scenarios![
    a_valid_token_is_described_in_full,
    an_invalid_token_is_200_and_false,
    many_at_once_are_each_told_of_their_own,
    a_forged_token_is_invalid,
    an_expired_token_is_invalid,
    a_refresh_token_is_invalid_here,
    a_token_of_another_organization_is_invalid,
    a_suspended_member_is_valid_and_shown_as_suspended,
    everything_in_a_suspended_organization_is_invalid,
    validity_ends_with_the_logout,
    validity_ends_with_the_removal,
    validity_ends_with_a_password_change,
    what_is_told_is_current,
    the_token_field_is_required,
    a_nul_in_the_token_is_just_an_invalid_token,
    the_cursor_beside_the_token_is_a_text,
    browsers_origins_do_not_matter_here,
];

async fn a_valid_token_is_described_in_full(app: &App) {
    let member = app.member().logged_in().await;
    let data = app.backend().verify(&member.access_token()).await.expect_ok();
    assert_eq!(shape(&data), ["membership", "org", "session", "tokenExpiresAt", "user", "valid"]);
    assert_eq!(data["valid"], true);
    let user = json!({ "id": member.id(), "name": "Max Member", "email": member.email(), "role": "user", "isEmailVerified": true });
    assert_eq!(data["user"], user);
    assert_eq!(shape(&data["membership"]), ["joinedAt", "metadata", "role", "status"]);
    assert_eq!(data["membership"]["joinedAt"], "2026-11-20T08:21:00.000Z");
    assert_eq!(data["membership"]["metadata"], json!({}), "the default is an empty object");
    assert_eq!(shape(&data["org"]), ["id", "name", "plan", "slug", "status"]);
    assert_eq!(
        (&data["org"]["slug"], &data["org"]["plan"], &data["org"]["status"]),
        (&"acme".into(), &"pro".into(), &"active".into())
    );
    let claims = jwt::claims(&member.access_token());
    assert_eq!(shape(&data["session"]), ["amr", "authTime", "expiresAt", "id"]);
    assert_eq!(data["session"]["id"], claims["sid"]);
    assert_eq!(data["session"]["amr"], json!(["pwd"]));
    assert_eq!(data["session"]["authTime"], "2026-11-20T08:21:00.000Z");
    assert_eq!(data["session"]["expiresAt"], "2026-12-20T08:21:00.000Z", "30 days after the login");
    assert_eq!(data["tokenExpiresAt"], "2026-11-20T08:36:00.000Z", "15 minutes after it");
}

async fn an_invalid_token_is_200_and_false(app: &App) {
    for token in ["", "rubbish", "a.b.c", "pk_live_x", "🦀", &"x".repeat(10_000), "..", "eyJhbGciOiJub25lIn0.e30."] {
        assert!(!app.backend().finds_valid(token).await, "{token}");
    }
}

// Questions that come together are asked of the database together.
async fn many_at_once_are_each_told_of_their_own(app: &App) {
    let (ours, theirs) = (app.org(), app.other_org());
    let mut asking = JoinSet::new();
    for number in 0..6 {
        let here = ours.new_member(&format!("Here{number}")).await.logged_in().await;
        let there = theirs.new_member(&format!("There{number}")).await.logged_in().await;
        let gone = ours.new_member(&format!("Gone{number}")).await.logged_in().await;
        let former = gone.access_token();
        gone.post("/auth/logout", json!({})).await.expect(200);
        // Who each backend finds behind each token.
        for (backend, token, found) in [
            (ours.backend(), here.access_token(), Some(here.id())),
            (theirs.backend(), there.access_token(), Some(there.id())),
            (ours.backend(), there.access_token(), None),
            (theirs.backend(), here.access_token(), None),
            (ours.backend(), former, None),
            (app.anonymous().backend_with("pk_live_x"), here.access_token(), None),
        ] {
            let found = found.map(str::to_owned);
            asking.spawn(async move { (backend.verify(&token).await, found) });
        }
    }
    let mut refused = 0;
    while let Some(asked) = asking.join_next().await {
        let (answer, found) = asked.expect("it is answered");
        if answer.status == 401 {
            refused += 1;
            continue;
        }
        assert_eq!(answer.expect_ok()["user"]["id"].as_str(), found.as_deref());
    }
    assert_eq!(refused, 6, "of a false key");
}

async fn a_forged_token_is_invalid(app: &App) {
    let token = app.member().logged_in().await.access_token();
    let admin = app.admin().id().to_owned();
    let jwks = app.anonymous().get("/.well-known/jwks.json").await.expect(200).json().clone();
    let forgeries = [
        jwt::with_claims(&token, |claims| claims["sub"] = admin.into()),
        jwt::with_claims(&token, |claims| claims["exp"] = i64::from(i32::MAX).into()),
        jwt::with_header(&token, |header| header["alg"] = "none".into()),
        jwt::with_header(&token, |header| header["alg"] = "HS256".into()),
        jwt::with_header(&token, |header| header["kid"] = "another".into()),
        jwt::with_header(&token, |header| header["typ"] = "rt+jwt".into()),
        jwt::with_signature(&token, &[0; 64]),
        jwt::with_signature(&token, &[]),
        jwt::signed_by_the_public_key(&token, &jwks["keys"][0]),
        format!("{token}="),
    ];
    for forged in forgeries.into_iter().chain(jwt::signed_by_a_stranger(&token)) {
        assert!(!app.backend().finds_valid(&forged).await, "{forged}");
        app.anonymous().with_bearer(&forged).get("/org").await.expect(401);
    }
    assert!(app.backend().finds_valid(&token).await);
}

async fn an_expired_token_is_invalid(app: &App) {
    let token = app.member().logged_in().await.access_token();
    app.clock.advance(std::time::Duration::from_millis(899_999));
    assert!(app.backend().finds_valid(&token).await);
    app.clock.advance(std::time::Duration::from_millis(1));
    assert!(!app.backend().finds_valid(&token).await, "invalid once now >= exp");
}

async fn a_refresh_token_is_invalid_here(app: &App) {
    let token = app.member().logged_in().await.refresh_token();
    assert!(!app.backend().finds_valid(&token).await);
}

async fn a_token_of_another_organization_is_invalid(app: &App) {
    let token = app.other_org().member().logged_in().await.access_token();
    assert!(!app.backend().finds_valid(&token).await);
    assert!(app.other_org().backend().finds_valid(&token).await);
}

async fn a_suspended_member_is_valid_and_shown_as_suspended(app: &App) {
    let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
    admin.set_status(member.id(), "suspended").await.expect(200);
    let data = app.backend().verify(&member.access_token()).await.expect_ok();
    assert_eq!((&data["valid"], &data["membership"]["status"]), (&true.into(), &"suspended".into()));
    admin.set_status(member.id(), "active").await.expect(200);
    let data = app.backend().verify(&member.access_token()).await.expect_ok();
    assert_eq!(data["membership"]["status"], "active");
}

async fn everything_in_a_suspended_organization_is_invalid(app: &App) {
    let token = app.member().logged_in().await.access_token();
    app.org().suspend().await;
    assert!(!app.backend().finds_valid(&token).await);
    app.org().reactivate().await;
    assert!(app.backend().finds_valid(&token).await, "the session survived");
}

async fn validity_ends_with_the_logout(app: &App) {
    let member = app.member().logged_in().await;
    let token = member.access_token();
    assert!(app.backend().finds_valid(&token).await);
    member.logout().await.expect(200);
    assert!(!app.backend().finds_valid(&token).await);
}

async fn validity_ends_with_the_removal(app: &App) {
    let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
    admin.remove(member.id()).await.expect(200);
    assert!(!app.backend().finds_valid(&member.access_token()).await);
}

async fn validity_ends_with_a_password_change(app: &App) {
    let (desk, phone) = (app.member().logged_in().await, app.member().logged_in().await);
    desk.change_password("mauve-otter-plinth-42", "velvet-anchor-93-comet").await.expect(200);
    assert!(!app.backend().finds_valid(&phone.access_token()).await);
    assert!(app.backend().finds_valid(&desk.access_token()).await, "the session that changed it goes on");
}

async fn what_is_told_is_current(app: &App) {
    let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
    let token = member.access_token();
    app.backend().verify(&token).await.expect(200);
    admin.set_metadata(member.id(), json!({ "department": "steering" })).await.expect(200);
    admin.set_role(member.id(), "org_admin").await.expect(200);
    member.put("/auth/profile", json!({ "name": "Max the Second" })).await.expect(200);
    admin.patch("/org", json!({ "name": "Acme Liners" })).await.expect(200);
    let data = app.backend().verify(&token).await.expect_ok();
    assert_eq!(data["membership"]["metadata"], json!({ "department": "steering" }));
    assert_eq!(
        (&data["membership"]["role"], &data["user"]["name"], &data["org"]["name"]),
        (&"org_admin".into(), &"Max the Second".into(), &"Acme Liners".into())
    );
}

async fn the_token_field_is_required(app: &App) {
    app.backend().post("/public/verify", json!({})).await.expect_invalid("token");
    app.backend().post("/public/verify", json!({ "token": 5 })).await.expect_invalid("token");
    app.backend().post("/public/verify", json!({ "token": null })).await.expect_invalid("token");
}

async fn a_nul_in_the_token_is_just_an_invalid_token(app: &App) {
    assert!(!app.backend().finds_valid("a\0b").await);
    let token = app.member().logged_in().await.access_token();
    assert!(!app.backend().finds_valid(&format!("{token}\0")).await);
}

async fn the_cursor_beside_the_token_is_a_text(app: &App) {
    let token = app.member().logged_in().await.access_token();
    let verify = |after: Value| app.backend().post("/public/verify", json!({ "token": token, "after": after }));
    for after in [Value::Null, "".into(), "no cursor of ours".into(), "x".repeat(10_000).into()] {
        assert_eq!(verify(after).await.expect_ok()["valid"], true);
    }
    for after in [json!(5), json!(["x"]), json!("a\0b")] {
        verify(after).await.expect_invalid("after");
    }
}

async fn browsers_origins_do_not_matter_here(app: &App) {
    let token = app.member().logged_in().await.access_token();
    let answer = app.backend().verify(&token).from_origin("https://evil.example").await.expect(200);
    assert_eq!(answer.data()["valid"], true);
    assert_eq!(answer.header("Access-Control-Allow-Origin"), None, "a page cannot read it");
}
