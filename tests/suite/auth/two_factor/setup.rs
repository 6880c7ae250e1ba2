//! Setting a second factor up, putting it in force, removing it, and what is said of it meanwhile (behaviour.md, B57).

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, PASSWORD, Request, scenarios, shape};

use crate::suite::support::authenticator::{Authenticator, STEP, SecondFactor, guarded_member, recovery_codes_in};

scenarios![
    an_account_begins_without_one,
    a_setup_shows_secret_url_and_picture,
    a_setup_guards_nothing_until_it_is_enabled,
    another_setup_replaces_the_secret,
    enabling_shows_ten_recovery_codes_once,
    a_code_of_the_step_before_or_after_enables,
    a_code_two_steps_away_does_not,
    enabling_needs_a_setup,
    what_is_enabled_is_neither_set_up_nor_enabled_again,
    a_wrong_password_confirms_nothing,
    a_wrong_code_confirms_nothing,
    disabling_lets_the_password_alone_in,
    a_recovery_code_disables_too,
    what_is_not_enabled_cannot_be_disabled,
    what_was_disabled_can_be_set_up_anew_with_another_secret,
    the_code_that_enabled_confirms_nothing_else,
    each_field_is_required_and_a_text,
    without_a_session_nothing_is_said_or_done,
    a_session_of_another_organization_is_none_here,
    a_suspended_member_is_refused,
    the_owner_is_told_by_mail,
    one_members_factor_is_nobody_elses,
];

async fn an_account_begins_without_one(app: &App) {
    let status = app.member().logged_in().await.status().await;
    assert_eq!(status, json!({ "enabled": false, "enabledAt": null, "recoveryCodesRemaining": 0 }));
}

async fn a_setup_shows_secret_url_and_picture(app: &App) {
    let member = app.member().logged_in().await;
    let data = member.set_up(PASSWORD).await.expect_ok();
    assert_eq!(shape(&data), ["otpauthUrl", "qrCode", "secret"]);
    let text = |name: &str| data[name].as_str().expect("a text").to_owned();
    assert!(text("secret").len() >= 32, "160 bits, as RFC 4226 asks");

    let url: url::Url = text("otpauthUrl").parse().expect("a URL");
    assert_eq!((url.scheme(), url.host_str()), ("otpauth", Some("totp")));
    let parameter = |name: &str| url.query_pairs().find(|(have, _)| have == name).map(|(_, value)| value.into_owned());
    assert_eq!(parameter("secret").as_deref(), Some(text("secret").as_str()));
    assert_eq!(parameter("issuer").as_deref(), Some("Acme Rockets"));
    for (name, default) in [("algorithm", "SHA1"), ("digits", "6"), ("period", "30")] {
        assert!(parameter(name).is_none_or(|value| value == default), "{url}");
    }
    assert!(url.path().contains("max@acme.example") || url.path().contains("max%40acme.example"), "{url}");

    let picture = text("qrCode");
    let svg = STANDARD.decode(picture.strip_prefix("data:image/svg+xml;base64,").expect("a data URL of an SVG")).expect("base64");
    assert!(String::from_utf8(svg).expect("text").starts_with("<svg "));
}

async fn a_setup_guards_nothing_until_it_is_enabled(app: &App) {
    let member = app.member().logged_in().await;
    member.set_up(PASSWORD).await.expect(200);
    assert_eq!(member.status().await["enabled"], false);
    app.member().logged_in().await.get("/org").await.expect(200);
    member.get("/org").await.expect(200);
}

async fn another_setup_replaces_the_secret(app: &App) {
    let member = app.member().logged_in().await;
    let [first, second] = [member.set_up(PASSWORD).await.expect_ok(), member.set_up(PASSWORD).await.expect_ok()];
    assert_ne!(first["secret"], second["secret"]);
    let (first, second) = (Authenticator::new(&first["secret"]), Authenticator::new(&second["secret"]));
    member.enable(&first.code(app)).await.expect_error(400, "wrong_code");
    member.enable(&second.code(app)).await.expect(200);
}

async fn enabling_shows_ten_recovery_codes_once(app: &App) {
    let member = app.member().logged_in().await;
    let authenticator = Authenticator::new(&member.set_up(PASSWORD).await.expect_ok()["secret"]);
    let data = member.enable(&authenticator.code(app)).await.expect_ok();
    assert_eq!(shape(&data), ["recoveryCodes"]);
    let mut codes = recovery_codes_in(&data);
    codes.sort();
    codes.dedup();
    assert_eq!(codes.len(), 10, "ten different ones");
    assert!(codes.iter().all(|code| code.len() >= 26), "128 random bits need as many characters");
    let status = member.status().await;
    assert_eq!(status, json!({ "enabled": true, "enabledAt": "2026-11-20T08:21:00.000Z", "recoveryCodesRemaining": 10 }));
}

async fn a_code_of_the_step_before_or_after_enables(app: &App) {
    for (place, caller) in [app.member(), app.admin()].into_iter().enumerate() {
        let caller = caller.logged_in().await;
        let authenticator = Authenticator::new(&caller.set_up(PASSWORD).await.expect_ok()["secret"]);
        caller.enable(&authenticator.code_in(app, [-1, 1][place])).await.expect(200);
    }
}

async fn a_code_two_steps_away_does_not(app: &App) {
    let member = app.member().logged_in().await;
    let authenticator = Authenticator::new(&member.set_up(PASSWORD).await.expect_ok()["secret"]);
    for steps in [-2, 2] {
        member.enable(&authenticator.code_in(app, steps)).await.expect_error(400, "wrong_code");
    }
    assert_eq!(member.status().await["enabled"], false);
}

async fn enabling_needs_a_setup(app: &App) {
    let member = app.member().logged_in().await;
    member.enable("123456").await.expect_error(409, "two_factor_not_set_up");
    assert_eq!(member.status().await["enabled"], false);
}

async fn what_is_enabled_is_neither_set_up_nor_enabled_again(app: &App) {
    let (member, authenticator) = guarded_member(app).await;
    member.set_up(PASSWORD).await.expect_error(409, "two_factor_enabled");
    member.enable(&authenticator.code(app)).await.expect_error(409, "two_factor_enabled");
    assert_eq!(member.status().await["recoveryCodesRemaining"], 10, "the codes are those that were shown");
    app.member().through(app, &authenticator).await.get("/org").await.expect(200);
}

async fn a_wrong_password_confirms_nothing(app: &App) {
    let member = app.member().logged_in().await;
    member.set_up("not-the-password").await.expect_error(401, "wrong_password");
    member.enable("123456").await.expect_error(409, "two_factor_not_set_up");
    let authenticator = member.guard(app).await;
    member.disable("not-the-password", &authenticator.code(app)).await.expect_error(401, "wrong_password");
    member.renew_codes("not-the-password", &authenticator.recovery_codes[0]).await.expect_error(401, "wrong_password");
    let status = member.status().await;
    assert_eq!((&status["enabled"], &status["recoveryCodesRemaining"]), (&true.into(), &10.into()));
    member.disable(PASSWORD, &authenticator.code(app)).await.expect(200);
}

async fn a_wrong_code_confirms_nothing(app: &App) {
    let (member, authenticator) = guarded_member(app).await;
    let codes = [authenticator.wrong_code(app), "12345".into(), "1234567".into(), "abcdef".into(), String::new()];
    for code in &codes {
        member.disable(PASSWORD, code).await.expect_error(400, "wrong_code");
    }
    member.renew_codes(PASSWORD, &codes[0]).await.expect_error(400, "wrong_code");
    member.disable(PASSWORD, &authenticator.code_in(app, -2)).await.expect_error(400, "wrong_code");
    member.disable(PASSWORD, &authenticator.code_in(app, 2)).await.expect_error(400, "wrong_code");
    assert_eq!(member.status().await["enabled"], true);
}

async fn disabling_lets_the_password_alone_in(app: &App) {
    let (member, authenticator) = guarded_member(app).await;
    let data = member.disable(PASSWORD, &authenticator.code(app)).await.expect_ok();
    assert_eq!(shape(&data), ["message"]);
    let status = member.status().await;
    assert_eq!(status, json!({ "enabled": false, "enabledAt": null, "recoveryCodesRemaining": 0 }));
    app.member().logged_in().await.get("/org").await.expect(200);
}

async fn a_recovery_code_disables_too(app: &App) {
    let (member, authenticator) = guarded_member(app).await;
    member.disable(PASSWORD, &authenticator.recovery_codes[3]).await.expect(200);
    assert_eq!(member.status().await["enabled"], false);
}

async fn what_is_not_enabled_cannot_be_disabled(app: &App) {
    let member = app.member().logged_in().await;
    member.disable(PASSWORD, "123456").await.expect_error(409, "two_factor_not_set_up");
    member.renew_codes(PASSWORD, "123456").await.expect_error(409, "two_factor_not_set_up");
    let waiting = Authenticator::new(&member.set_up(PASSWORD).await.expect_ok()["secret"]);
    member.renew_codes(PASSWORD, &waiting.code(app)).await.expect_error(409, "two_factor_not_set_up");
    assert_eq!(member.status().await["recoveryCodesRemaining"], 0);
    member.enable(&waiting.code(app)).await.expect(200);
}

async fn what_was_disabled_can_be_set_up_anew_with_another_secret(app: &App) {
    let (member, old) = guarded_member(app).await;
    member.disable(PASSWORD, &old.code(app)).await.expect(200);
    let new = member.guard(app).await;
    let device = app.member().waiting().await;
    for code in [old.code(app), old.recovery_codes[0].clone()] {
        device.enter(&code).await.expect_error(401, "second_factor_failed");
    }
    device.enter(&new.code(app)).await.expect(200);
}

async fn the_code_that_enabled_confirms_nothing_else(app: &App) {
    let member = app.member().logged_in().await;
    let authenticator = Authenticator::new(&member.set_up(PASSWORD).await.expect_ok()["secret"]);
    let code = authenticator.code(app);
    member.enable(&code).await.expect(200);
    member.disable(PASSWORD, &code).await.expect_error(400, "wrong_code");
    app.member().waiting().await.enter(&code).await.expect_error(401, "second_factor_failed");
    app.advance(STEP);
    member.disable(PASSWORD, &authenticator.code(app)).await.expect(200);
}

async fn each_field_is_required_and_a_text(app: &App) {
    let (member, _) = guarded_member(app).await;
    let waiting = app.member().waiting().await;
    let send = |path: &str, body: &Value| {
        if path.contains("verify") { waiting.post(path, body.clone()) } else { member.post(path, body.clone()) }
    };
    let operations: [(&str, &[&str]); 5] = [
        ("/auth/2fa/setup", &["password"]),
        ("/auth/2fa/enable", &["code"]),
        ("/auth/2fa/disable", &["password", "code"]),
        ("/auth/2fa/recovery-codes", &["password", "code"]),
        ("/auth/verify-2fa", &["code"]),
    ];
    for (path, fields) in operations {
        for field in fields {
            for odd in [None, Some(Value::Null), Some(json!(123_456)), Some(json!(["123456"])), Some(json!({})), Some(json!("1\0"))]
            {
                let mut body = json!({ "password": PASSWORD, "code": "123456" });
                match odd {
                    Some(odd) => body[field] = odd,
                    None => drop(body.as_object_mut().expect("an object").remove(*field)),
                }
                send(path, &body).await.expect_invalid(field);
            }
        }
        for text in ["", "{", "null", "[]", "\"123456\""] {
            let request = if path.contains("verify") { waiting.request("POST", path) } else { member.request("POST", path) };
            request.text(text).await.expect_error(400, "invalid_request");
        }
    }
}

/// Every request about a person's second factor, but the second step of a login.
fn every_request(caller: &Caller) -> Vec<Request> {
    vec![
        caller.get("/auth/2fa"),
        caller.set_up(PASSWORD),
        caller.enable("123456"),
        caller.disable(PASSWORD, "123456"),
        caller.renew_codes(PASSWORD, "123456"),
        caller.post("/auth/2fa/disable", json!({})),
    ]
}

async fn without_a_session_nothing_is_said_or_done(app: &App) {
    for request in every_request(&app.member()) {
        request.await.expect_no_session();
    }
}

async fn a_session_of_another_organization_is_none_here(app: &App) {
    let gus = app.other_org().member().logged_in().await;
    let authenticator = gus.guard(app).await;
    for request in every_request(&gus.clone().at_org("acme")) {
        request.await.expect_error(401, "wrong_organization");
    }
    gus.clone().at_org("acme").disable(PASSWORD, &authenticator.code(app)).await.expect_error(401, "wrong_organization");
    assert_eq!(gus.status().await["enabled"], true);
}

async fn a_suspended_member_is_refused(app: &App) {
    let (member, admin) = (app.member().logged_in().await, app.admin().logged_in().await);
    admin.set_status(member.id(), "suspended").await.expect(200);
    for request in every_request(&member) {
        request.await.expect_error(403, "suspended");
    }
}

async fn the_owner_is_told_by_mail(app: &App) {
    let (member, authenticator) = guarded_member(app).await;
    let count = async || app.mail_to(member.email()).await.len();
    assert_eq!(count().await, 1, "of the second factor");
    member.renew_codes(PASSWORD, &authenticator.recovery_codes[0]).await.expect(200);
    assert_eq!(count().await, 2, "of the new codes");
    member.disable(PASSWORD, &authenticator.code(app)).await.expect(200);
    assert_eq!(count().await, 3, "of its end");
}

async fn one_members_factor_is_nobody_elses(app: &App) {
    let (_, maxs) = guarded_member(app).await;
    let admin = app.admin().logged_in().await;
    assert_eq!(admin.status().await["enabled"], false);
    let adas = admin.guard(app).await;
    let device = app.admin().waiting().await;
    for code in [maxs.code(app), maxs.recovery_codes[0].clone()] {
        device.enter(&code).await.expect_error(401, "second_factor_failed");
    }
    device.enter(&adas.code(app)).await.expect(200);
}
