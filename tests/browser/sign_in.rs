//! Signing in and out at the browser.

use tenant_auth_conformance::{
    PASSWORD,
    browser::{Stage, keys},
    visits,
};

use crate::browser::phone::Phone;

visits! {
    the_keyboard_is_enough,
    a_refusal_is_said_and_nothing_typed_is_lost,
    too_many_attempts_are_counted_down,
    organizations_signed_in_to_before_are_offered,
    a_second_factor_is_asked_for,
    a_suspended_member_is_told,
    going_back_after_signing_out_shows_nothing,
}

async fn the_keyboard_is_enough(stage: &Stage) {
    let page = &stage.page;
    page.open("/").await;
    page.arrives_at("Sign in").await;
    for (field, text) in [("Organization", "acme"), ("Email address", "ada@acme.example"), ("Password", PASSWORD)] {
        assert_eq!(page.focused().await, field);
        page.type_keys(text).await;
        page.type_keys(keys::TAB).await;
    }
    assert_eq!(page.focused().await, "Show password");
    page.type_keys(keys::SPACE).await;
    assert_eq!(page.value("Password").await, PASSWORD);
    page.type_keys(keys::TAB).await;
    assert_eq!(page.focused().await, "Sign in");
    page.type_keys(keys::ENTER).await;
    page.arrives_at("Members").await;
    page.is_accessible().await;
}

async fn a_refusal_is_said_and_nothing_typed_is_lost(stage: &Stage) {
    let page = &stage.page;
    page.open("/").await;
    page.arrives_at("Sign in").await;
    page.press("Sign in").await;
    page.reads("This is required.").await;
    page.fill("Organization", "nowhere").await;
    page.fill("Email address", "ada@acme.example").await;
    page.fill("Password", "not-hers-at-all").await;
    page.press("Sign in").await;
    page.reads("No organization has this short name.").await;
    page.was_refused(404, "/auth/login").await;
    page.is_accessible().await;
    page.fill("Organization", "acme").await;
    page.fill("Password", "not-hers-at-all").await;
    page.press("Sign in").await;
    page.reads("Invalid email or password.").await;
    page.was_refused(401, "/auth/login").await;
    assert_eq!(page.value("Email address").await, "ada@acme.example");
    page.fill("Password", PASSWORD).await;
    page.press("Sign in").await;
    page.arrives_at("Members").await;
}

async fn too_many_attempts_are_counted_down(stage: &Stage) {
    for _ in 0..stage.config.login.max_failures {
        stage.member().login_with("max@acme.example", "not-his-at-all").await.expect(401);
    }
    stage.signs_in("max@acme.example", PASSWORD).await;
    stage.page.reads("Too many attempts.").await;
    stage.page.reads(" s.").await;
    stage.page.comes_true("one number, that of the moment", "return document.querySelectorAll('[role=alert] [aria-hidden=true]').length === 1 && !/seconds?\\. .*seconds?/.test(document.querySelector('[role=alert]').innerText)").await;
    stage.page.was_refused(429, "/auth/login").await;
}

async fn organizations_signed_in_to_before_are_offered(stage: &Stage) {
    let page = &stage.page;
    stage.signs_in("max@acme.example", PASSWORD).await;
    page.arrives_at("Members").await;
    stage.signs_out().await;
    page.is_accessible().await;
    page.fill("Organization", "globex").await;
    page.fill("Email address", "gus@globex.example").await;
    page.fill("Password", PASSWORD).await;
    page.press("Sign in").await;
    page.arrives_at("Members").await;
    page.reads("Globex Corporation").await;
    page.press("Switch organization").await;
    page.arrives_at("Sign in").await;
    page.row("acme").press("Acme Rockets").await;
    assert_eq!(page.value("Organization").await, "acme");
    page.press("Forget Globex Corporation on this browser").await;
    page.offers_no("Globex Corporation").await;
    page.reload().await;
    page.arrives_at("Sign in").await;
    page.offers("Acme Rockets").await;
    page.offers_no("Globex Corporation").await;
}

async fn a_second_factor_is_asked_for(stage: &Stage) {
    let page = &stage.page;
    let phone = Phone::guarding(&stage.member().logged_in().await, stage).await;
    stage.signs_in("max@acme.example", PASSWORD).await;
    page.reads("protected by a second factor").await;
    page.is_accessible().await;
    page.fill("Code", "recovery").await;
    page.press("Continue").await;
    page.reads("The second factor was not accepted.").await;
    page.was_refused(401, "/auth/verify-2fa").await;
    page.press("Start again").await;
    page.fill("Password", PASSWORD).await;
    page.press("Sign in").await;
    page.reads("protected by a second factor").await;
    // A telephone may put the tab away while its owner looks into the app.
    page.reload().await;
    page.reads("protected by a second factor").await;
    page.fill("Code", &phone.next_code(stage)).await;
    page.press("Continue").await;
    page.arrives_at("Members").await;
    stage.signs_out().await;
    stage.signs_in("max@acme.example", PASSWORD).await;
    page.fill("Code", &phone.recovery_codes[0]).await;
    page.press("Continue").await;
    page.arrives_at("Members").await;
}

async fn a_suspended_member_is_told(stage: &Stage) {
    let page = &stage.page;
    stage.signs_in("max@acme.example", PASSWORD).await;
    page.arrives_at("Members").await;
    let admin = stage.admin().logged_in().await;
    admin.set_status(stage.member().id(), "suspended").await.expect(200);
    page.press("Profile").await;
    page.reads("Access is suspended").await;
    page.was_refused(403, "/auth/profile").await;
    page.reload().await;
    page.arrives_at("Access is suspended").await;
    page.reads("or, if all of it is suspended, whoever provides this service").await;
    page.is_accessible().await;
    stage.signs_out().await;
    page.was_refused(403, "/auth/profile").await;
    page.was_refused(403, "/org").await;
    stage.signs_in("max@acme.example", PASSWORD).await;
    page.reads("Access is suspended").await;
    page.was_refused(403, "/auth/login").await;
}

async fn going_back_after_signing_out_shows_nothing(stage: &Stage) {
    let page = &stage.page;
    stage.signs_in("max@acme.example", PASSWORD).await;
    page.arrives_at("Members").await;
    stage.signs_out().await;
    page.goes_back().await;
    page.arrives_at("Sign in").await;
    page.was_refused_anywhere(401).await;
    page.reads_no("ada@acme.example").await;
}
