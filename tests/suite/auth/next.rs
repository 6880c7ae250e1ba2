//! `next`: where a person returns after signing in (behaviour.md, B221). An address of somebody else's is left out of the answer,
//! whatever it looks like: our pages must not lead people astray.

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, PASSWORD, PUBLIC_URL, Response, scenarios, shape};

use crate::suite::{
    auth::recovery::reset::reset_token,
    support::authenticator::{SecondFactor, guarded_member},
};

scenarios![
    a_login_answers_an_address_of_the_organization_or_the_deployment,
    an_address_of_anybody_else_is_left_out_and_the_login_succeeds,
    an_address_has_2048_characters_at_most,
    what_is_no_text_is_400_and_opens_nothing,
    the_second_step_answers_it,
    an_accepted_invite_answers_it,
    a_reset_answers_it_and_opens_nothing,
    somebody_who_is_signed_in_may_ask_about_it,
    another_organizations_address_is_nobodys_here,
    a_refused_login_says_nothing_of_it,
];

const APP: &str = "https://app.acme.example/reports?page=2&to=https://evil.example#chart";

fn login(caller: &Caller, next: Value) -> tenant_auth_conformance::Request {
    let body = json!({ "email": caller.email(), "password": PASSWORD, "next": next });
    caller.post("/auth/login", body)
}

/// What a login answers as `next`.
async fn answered(caller: &Caller, next: &str) -> Option<String> {
    let data = login(caller, json!(next)).await.expect_ok();
    data.get("next").map(|next| next.as_str().expect("a text").to_owned())
}

async fn a_login_answers_an_address_of_the_organization_or_the_deployment(app: &App) {
    let app = app
        .beside(|setup| {
            setup.config.browser.allowed_origins = vec!["https://shell.example.com".parse().expect("an origin")];
        })
        .await;
    let origins = json!({ "allowedOrigins": ["https://tool.acme.example:8443", "http://localhost:3000"] });
    app.admin().logged_in().await.patch("/org", origins).await.expect(200);
    let member = app.member();
    let own = format!("{PUBLIC_URL}/docs");
    for good in [
        APP,
        "https://app.acme.example",
        "HTTPS://APP.acme.example:443/as-typed",
        "https://tool.acme.example:8443/x",
        "http://localhost:3000/?q",
        "https://shell.example.com/",
        &own,
    ] {
        assert_eq!(answered(&member, good).await.as_deref(), Some(good), "as it was asked for");
    }
    assert_eq!(shape(&member.login().await.expect_ok()), ["accessToken", "membership", "refreshToken", "user"]);
    assert_eq!(login(&member, Value::Null).await.expect_ok().get("next"), None);
}

async fn an_address_of_anybody_else_is_left_out_and_the_login_succeeds(app: &App) {
    for bad in [
        "",
        "/",
        "/reports",
        "//app.acme.example",
        "nonsense",
        "https://evil.example/",
        "https://app.acme.example.evil.example/",
        "https://evilapp.acme.example/",
        "https://acme.example/",
        "https://app.acme.example:8443/",
        "http://app.acme.example/",
        "http://localhost:3000/",
        "https://app.acme.example@evil.example/",
        "https://evil.example@app.acme.example/",
        "https://app.acme.example\\@evil.example/",
        "https://evil.example\\app.acme.example",
        "https:/app.acme.example",
        "https:\\\\app.acme.example",
        "https://app.acme.example/a b",
        "https://app.acme.example/\t",
        "https://app.acme.example/\n//evil.example",
        "javascript:alert(1)",
        "javascript://app.acme.example/%0aalert(1)",
        "data:text/html,<script>",
        "ftp://app.acme.example/",
    ] {
        assert_eq!(answered(&app.member(), bad).await, None, "{bad:?}");
    }
}

async fn an_address_has_2048_characters_at_most(app: &App) {
    let long = |extra: usize| format!("https://app.acme.example/{}", "ü".repeat(2048 - 25 + extra));
    assert_eq!(answered(&app.member(), &long(0)).await, Some(long(0)));
    login(&app.member(), json!(long(1))).await.expect_invalid("next");
    login(&app.member(), json!("x".repeat(2049))).await.expect_invalid("next");
    assert_eq!(answered(&app.member(), &"x".repeat(2048)).await, None);
}

async fn what_is_no_text_is_400_and_opens_nothing(app: &App) {
    let member = app.member();
    for wrong in [json!(1), json!(true), json!({}), json!([APP]), json!("https://app.acme.example/\0")] {
        let refused = login(&member, wrong.clone()).await.expect_invalid("next");
        assert!(refused.cookies().is_empty(), "{wrong}");
        member
            .post("/auth/reset-password", json!({ "token": "x", "newPassword": PASSWORD, "next": wrong }))
            .await
            .expect_invalid("next");
        member.post("/org/invites/x/accept", json!({ "next": wrong })).await.expect_invalid("next");
    }
}

async fn the_second_step_answers_it(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    let member = app.member();
    let demand = login(&member, json!(APP)).await.expect_ok();
    assert_eq!(demand, json!({ "requires2FA": true }), "nobody leaves before the second step");
    let enter = |next: Value| member.post("/auth/verify-2fa", json!({ "code": authenticator.code(app), "next": next }));
    enter(json!(["x"])).await.expect_invalid("next");
    assert_eq!(enter(json!(APP)).await.expect_ok()["next"], APP);
    let member = app.member().waiting().await;
    app.advance(60);
    let body = json!({ "code": authenticator.code(app), "next": "https://evil.example/" });
    let data = member.post("/auth/verify-2fa", body).await.expect_ok();
    assert_eq!(shape(&data), ["accessToken", "membership", "refreshToken", "user"]);
}

async fn an_accepted_invite_answers_it(app: &App) {
    let admin = app.admin().logged_in().await;
    let accept = async |email: &str, next: &str| {
        let token = app.invited(&admin, email).await;
        let body = json!({ "name": "Nora New", "password": PASSWORD, "next": next });
        app.anonymous().post(&format!("/org/invites/{token}/accept"), body).await.expect_ok()
    };
    assert_eq!(accept("nora@acme.example", APP).await["next"], APP);
    assert_eq!(accept("nils@acme.example", "https://evil.example/").await.get("next"), None);
}

async fn a_reset_answers_it_and_opens_nothing(app: &App) {
    let reset = async |next: &str| -> Response {
        let token = reset_token(app, app.member().email()).await;
        app.anonymous()
            .post("/auth/reset-password", json!({ "token": token, "newPassword": PASSWORD, "next": next }))
            .await
            .expect(200)
    };
    let answer = reset(APP).await;
    assert_eq!((shape(&answer.data()), &answer.data()["next"]), (vec!["message", "next"], &APP.into()));
    assert!(answer.cookies().is_empty());
    assert_eq!(shape(&reset("https://evil.example/").await.data()), ["message"]);
}

async fn somebody_who_is_signed_in_may_ask_about_it(app: &App) {
    let member = app.member().logged_in().await;
    let asked = |next: &str| {
        let query: String = url::form_urlencoded::Serializer::new(String::new()).append_pair("next", next).finish();
        member.get(&format!("/auth/profile?{query}"))
    };
    let seen = asked(APP).await.expect_ok();
    assert_eq!((&seen["next"], &seen["user"]["email"]), (&APP.into(), &member.email().into()));
    for bad in ["https://evil.example/", "", "/reports"] {
        assert_eq!(asked(bad).await.expect_ok().get("next"), None, "{bad:?}");
    }
    asked(&"x".repeat(2049)).await.expect_invalid("next");
    asked("a\0").await.expect_invalid("next");
    member.get("/auth/profile?next=a&next=b").await.expect_invalid("next");
    app.anonymous().get(&format!("/auth/profile?next={}", "x".repeat(2049))).await.expect_no_session();
}

async fn another_organizations_address_is_nobodys_here(app: &App) {
    assert_eq!(answered(&app.member(), "https://app.globex.example/").await, None);
    let gus = app.other_org().member();
    assert_eq!(answered(&gus, "https://app.globex.example/").await.as_deref(), Some("https://app.globex.example/"));
    assert_eq!(answered(&gus, APP).await, None);
}

async fn a_refused_login_says_nothing_of_it(app: &App) {
    let body = json!({ "email": app.member().email(), "password": "not-the-password", "next": APP });
    let refused = app.member().post("/auth/login", body).await.expect_error(401, "invalid_credentials");
    assert!(!refused.body.contains("app.acme"), "{}", refused.shown());
}
