//! Where mailed links lead. Mail scanners open every link, some in a real browser: each link here is opened by such a one before
//! its owner comes, and must still be good.

use serde_json::json;
use tenant_auth_conformance::{PASSWORD, browser::Stage, exchange, visits};

use crate::browser::{phone::Phone, returning::asking_for};

visits! {
    an_invite_makes_an_account,
    an_invite_gives_an_account_another_organization,
    an_invite_asks_for_the_second_factor,
    an_invite_that_is_good_no_longer_says_so,
    a_forgotten_password_is_replaced,
    hosted_pages_speak_the_language_of_the_browser,
    an_address_is_verified,
    an_address_is_verified_by_the_password_where_nobody_is_signed_in,
    a_new_address_is_confirmed,
    a_link_that_was_cut_off_says_so,
    a_newcomer_makes_an_organization,
    an_account_with_a_second_factor_makes_an_organization,
}

const NEW: &str = "nora@acme.example";

/// A scanner: asks for the address as plain HTTP, and opens it in a browser that runs scripts; it presses nothing.
async fn is_scanned(stage: &Stage, link: &str, title: &str) {
    let path = link.strip_prefix(stage.origin()).and_then(|rest| rest.split('#').next()).expect("a link to a page");
    for method in ["GET", "HEAD"] {
        let head =
            format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: MailScanner/1.0\r\nConnection: close\r\n\r\n");
        let answer = exchange(stage.address(), head.as_bytes(), b"", method == "HEAD").await.expect("an answer");
        assert_eq!(answer.status, 200, "{method} {path}");
    }
    let scanner = stage.page.another_tab().await;
    scanner.open(link).await;
    scanner.arrives_at(title).await;
    scanner.close().await;
}

fn token_in(link: &str) -> &str {
    link.split_once("token=").expect("a token").1
}

async fn an_invite_makes_an_account(stage: &Stage) {
    let (page, admin) = (&stage.page, stage.admin().logged_in().await);
    admin.invite_as(NEW, "org_admin").await.expect(201);
    let link = stage.link(NEW, "/invite").await;
    is_scanned(stage, &link, "Join Acme Rockets").await;
    page.open(&link).await;
    page.arrives_at("Join Acme Rockets").await;
    page.reads(NEW).await;
    page.reads("admin").await;
    page.is_accessible().await;
    page.fill("Your name", "Nora New").await;
    page.fill("Choose a password", "password1").await;
    page.press("Create account and join").await;
    page.was_eventually_refused(400, &format!("/org/invites/{}/accept", token_in(&link))).await;
    page.reads("The new password").await;
    assert_eq!(page.value("Your name").await, "Nora New");
    page.fill("Choose a password", PASSWORD).await;
    page.press("Create account and join").await;
    page.arrives_at("Welcome to Acme Rockets").await;
    page.offers("Open Acme Rockets").await;
    page.is_accessible().await;
    page.press("Go to your account").await;
    page.arrives_at("Members").await;
    page.row(NEW).reads("Admin").await;
    page.open(&link).await;
    page.arrives_at("This invitation is no longer valid").await;
    page.was_refused(400, "/org/invites/preview").await;
}

async fn an_invite_gives_an_account_another_organization(stage: &Stage) {
    let (page, admin) = (&stage.page, stage.admin().logged_in().await);
    admin.invite("gus@globex.example").await.expect(201);
    let link = stage.link("gus@globex.example", "/invite").await;
    page.open(&link).await;
    page.arrives_at("Join Acme Rockets").await;
    page.reads("You have an account already").await;
    page.is_accessible().await;
    page.press("Join Acme Rockets").await;
    page.arrives_at("Welcome to Acme Rockets").await;
    page.press("Go to your account").await;
    page.arrives_at("Members").await;
    page.row("gus@globex.example").reads("Member").await;
}

async fn an_invite_asks_for_the_second_factor(stage: &Stage) {
    let (page, admin) = (&stage.page, stage.admin().logged_in().await);
    let phone = Phone::guarding(&stage.other_org().member().logged_in().await, stage).await;
    admin.invite("gus@globex.example").await.expect(201);
    page.open(&stage.link("gus@globex.example", "/invite").await).await;
    page.press("Join Acme Rockets").await;
    page.reads("protected by a second factor").await;
    page.fill("Code", &phone.next_code(stage)).await;
    page.press("Continue").await;
    page.arrives_at("Welcome to Acme Rockets").await;
}

async fn an_invite_that_is_good_no_longer_says_so(stage: &Stage) {
    let (page, admin) = (&stage.page, stage.admin().logged_in().await);
    admin.invite(NEW).await.expect(201);
    let link = stage.link(NEW, "/invite").await;
    stage.advance(stage.config.organizations.invite_ttl.as_secs());
    page.open(&link).await;
    page.arrives_at("This invitation is no longer valid").await;
    page.was_refused(400, "/org/invites/preview").await;
    page.is_accessible().await;
    page.press("Sign in").await;
    page.arrives_at("Sign in").await;
}

async fn a_forgotten_password_is_replaced(stage: &Stage) {
    let page = &stage.page;
    page.open("/sign-in#org=acme").await;
    page.fill("Email address", "max@acme.example").await;
    page.press("Forgot your password?").await;
    page.arrives_at("Forgot your password?").await;
    assert_eq!((&*page.value("Organization").await, &*page.value("Email address").await), ("acme", "max@acme.example"));
    page.is_accessible().await;
    page.press("Send me a link").await;
    page.arrives_at("Look into your mail").await;
    page.reads("If the address belongs to a member").await;
    page.is_accessible().await;
    let link = stage.link("max@acme.example", "/reset").await;
    is_scanned(stage, &link, "Choose a new password").await;
    let next = format!("{}/#/profile", stage.origin());
    page.open(&format!("{link}&{}", asking_for(&next))).await;
    page.arrives_at("Choose a new password").await;
    page.reads("A new password for max@acme.example").await;
    page.is_accessible().await;
    page.fill("New password", "max@acme.example").await;
    page.press("Set the new password").await;
    page.was_eventually_refused(400, "/auth/reset-password").await;
    page.fill("New password", "teal-badger-awning-77").await;
    page.press("Set the new password").await;
    page.arrives_at("Your password was changed").await;
    page.is_accessible().await;
    page.press("Sign in").await;
    page.arrives_at("Sign in").await;
    page.offers("Forgot your password?").await;
    page.was_refused(401, "/auth/profile").await;
    page.was_refused(401, "/auth/refresh").await;
    page.fill("Email address", "max@acme.example").await;
    page.fill("Password", "teal-badger-awning-77").await;
    page.press("Sign in").await;
    page.arrives_at("Profile").await;
    page.open(&link).await;
    page.arrives_at("This link is no longer valid").await;
    page.was_refused(400, "/auth/links/preview").await;
    page.press("Ask for a new link").await;
    page.arrives_at("Forgot your password?").await;
}

async fn hosted_pages_speak_the_language_of_the_browser(stage: &Stage) {
    let page = &stage.page;
    page.prefers("de-AT,de;q=0.9").await;
    page.open("/sign-in").await;
    page.arrives_at("Anmelden").await;
    assert_eq!(page.run("return document.documentElement.lang", vec![]).await, "de");
    page.fill("Organisation", "Acme Inc").await;
    page.fill("E-Mail-Adresse", "max@acme.example").await;
    page.press("Anmelden").await;
    page.reads("Schreiben Sie Kleinbuchstaben, Ziffern und Bindestriche.").await;
    page.reads("Füllen Sie dieses Feld aus.").await;
    page.fill("Organisation", "acme").await;
    page.fill("Passwort", "not-my-password-1").await;
    page.press("Anmelden").await;
    page.reads("E-Mail-Adresse oder Passwort ist falsch.").await;
    page.was_refused(401, "/auth/login").await;
    page.is_accessible().await;
    page.press("Passwort vergessen?").await;
    page.arrives_at("Passwort vergessen?").await;
    page.press("Link zusenden").await;
    page.arrives_at("Sehen Sie in Ihre E-Mails").await;
    let link = stage.link("max@acme.example", "/reset").await;
    page.open(&link).await;
    page.arrives_at("Neues Passwort wählen").await;
    page.reads("Ein neues Passwort für max@acme.example.").await;
    page.fill("Neues Passwort", "max@acme.example").await;
    page.press("Neues Passwort setzen").await;
    page.reads("zu leicht zu erraten").await;
    page.was_eventually_refused(400, "/auth/reset-password").await;
    page.is_accessible().await;
    page.fill("Neues Passwort", "teal-badger-awning-77").await;
    page.press("Neues Passwort setzen").await;
    page.arrives_at("Ihr Passwort wurde geändert").await;

    stage.admin().logged_in().await.invite(NEW).await.expect(201);
    page.prefers("fr").await;
    page.open(&stage.link(NEW, "/invite").await).await;
    page.arrives_at("Rejoindre Acme Rockets").await;
    page.reads("Vous êtes invité en tant que membre avec l’adresse nora@acme.example").await;
    page.fill("Votre nom", "Nora New").await;
    page.fill("Choisissez un mot de passe", "teal-badger-awning-78").await;
    page.press("Créer un compte et rejoindre l’organisation").await;
    page.arrives_at("Bienvenue chez Acme Rockets").await;
    page.press("Aller à votre compte").await;
    page.arrives_at("Membres").await;
    assert_eq!(page.run("return document.documentElement.lang", vec![]).await, "fr", "the panel, too");
}

async fn an_address_is_verified(stage: &Stage) {
    let page = &stage.page;
    stage.org().new_member("Una Unproved").await;
    stage.signs_in("una@acme.example", PASSWORD).await;
    page.arrives_at("Members").await;
    page.press("Profile").await;
    page.arrives_at("Profile").await;
    page.part("Email address").reads("Not verified").await;
    page.press("Send verification mail").await;
    page.reads("a mail with a link is on its way").await;
    let link = stage.link("una@acme.example", "/verify").await;
    is_scanned(stage, &link, "Verify your email address").await;
    page.open(&link).await;
    page.arrives_at("Verify your email address").await;
    page.reads("the mail to una@acme.example").await;
    page.is_accessible().await;
    page.press("Verify this address").await;
    page.arrives_at("Thank you").await;
    page.press("Go to your account").await;
    page.arrives_at("Profile").await;
    page.part("Email address").reads_no("Not verified").await;
    page.part("Email address").offers_no("Send verification mail").await;
}

async fn an_address_is_verified_by_the_password_where_nobody_is_signed_in(stage: &Stage) {
    let page = &stage.page;
    let una = stage.org().new_member("Una Unproved").await.logged_in().await;
    una.post_nothing("/auth/verify-email/send").await.expect(200);
    page.open(&stage.link("una@acme.example", "/verify").await).await;
    page.arrives_at("Verify your email address").await;
    page.press("Verify this address").await;
    page.reads("Type the password of your account as well").await;
    page.is_accessible().await;
    page.was_refused(401, "/auth/profile").await;
    page.was_refused(401, "/auth/refresh").await;
    page.fill("Your password", "not-hers-at-all").await;
    page.press("Verify this address").await;
    page.reads("The current password is wrong.").await;
    page.was_refused(401, "/auth/verify-email").await;
    page.fill("Your password", PASSWORD).await;
    page.press("Verify this address").await;
    page.arrives_at("Thank you").await;
    assert_eq!(una.get("/auth/profile").await.expect_ok()["user"]["isEmailVerified"], true);
}

async fn a_new_address_is_confirmed(stage: &Stage) {
    let page = &stage.page;
    stage.signs_in("max@acme.example", PASSWORD).await;
    page.arrives_at("Members").await;
    page.press("Profile").await;
    page.arrives_at("Profile").await;
    page.press("Change address").await;
    page.asks("Change your email address").await;
    page.is_accessible().await;
    page.fill("New email address", "maximilian@acme.example").await;
    page.fill("Your password", "not-his-at-all").await;
    page.press("Send link").await;
    page.reads("The current password is wrong.").await;
    page.was_refused(401, "/auth/change-email").await;
    page.fill("Your password", PASSWORD).await;
    page.press("Send link").await;
    page.asks_nothing().await;
    let link = stage.link("maximilian@acme.example", "/change-email").await;
    is_scanned(stage, &link, "Confirm your new email address").await;
    stage.signs_out().await;
    page.open(&link).await;
    page.arrives_at("Confirm your new email address").await;
    page.is_accessible().await;
    page.press("Use this address").await;
    page.reads("Sign in to “acme” first").await;
    page.is_accessible().await;
    page.was_refused(401, "/auth/change-email/confirm").await;
    page.was_refused(401, "/auth/refresh").await;
    page.fill("Email address", "max@acme.example").await;
    page.fill("Password", PASSWORD).await;
    page.press("Sign in").await;
    page.press("Use this address").await;
    page.arrives_at("Your address was changed").await;
    page.press("Go to your account").await;
    page.arrives_at("Profile").await;
    page.part("Email address").reads("maximilian@acme.example").await;
    stage.anonymous().login_with("maximilian@acme.example", PASSWORD).await.expect(200);
}

async fn a_link_that_was_cut_off_says_so(stage: &Stage) {
    for path in ["/invite", "/reset#org=acme", "/verify#token=x", "/change-email"] {
        stage.page.open(path).await;
        stage.page.arrives_at("This link is not complete").await;
    }
    stage.page.is_accessible().await;
    let answer = stage.anonymous().post("/auth/reset-password", json!({ "token": "x", "newPassword": PASSWORD })).await;
    answer.expect_error(400, "invalid_link");
}

async fn a_newcomer_makes_an_organization(stage: &Stage) {
    let page = &stage.page;
    page.open("/sign-in").await;
    page.arrives_at("Sign in").await;
    page.is_accessible().await;
    page.press("Create an organization").await;
    page.arrives_at("Create an organization").await;
    page.is_accessible().await;
    page.fill("Email address", NEW).await;
    page.press("Send me a link").await;
    page.arrives_at("Look into your mail").await;
    let link = stage.link(NEW, "/sign-up").await;
    is_scanned(stage, &link, "Create an organization").await;
    page.open(&link).await;
    page.reads(NEW).await;
    page.is_accessible().await;
    page.fill("Name of the organization", "Nora's Rockets").await;
    page.fill("Short name", "www").await;
    page.fill("Your name", "Nora New").await;
    page.fill("Choose a password", PASSWORD).await;
    page.press("Create the organization").await;
    page.was_eventually_refused(400, "/auth/sign-up/complete").await;
    page.reads("reserved").await;
    page.fill("Short name", "nora").await;
    page.press("Create the organization").await;
    page.arrives_at("Nora's Rockets is yours").await;
    page.is_accessible().await;
    page.press("Go to your organization").await;
    page.arrives_at("Members").await;
    page.row(NEW).reads("Admin").await;
    page.open(&link).await;
    page.arrives_at("This link is no longer valid").await;
    page.was_refused(400, "/auth/sign-up/preview").await;
}

async fn an_account_with_a_second_factor_makes_an_organization(stage: &Stage) {
    let page = &stage.page;
    let phone = Phone::guarding(&stage.other_org().member().logged_in().await, stage).await;
    page.open("/sign-up").await;
    page.fill("Email address", "gus@globex.example").await;
    page.press("Send me a link").await;
    page.arrives_at("Look into your mail").await;
    page.open(&stage.link("gus@globex.example", "/sign-up").await).await;
    page.reads("You have an account already").await;
    page.fill("Name of the organization", "Gus Rockets").await;
    page.fill("Short name", "gus").await;
    page.fill("Your password", PASSWORD).await;
    page.press("Create the organization").await;
    page.reads("From your authenticator").await;
    page.was_refused(400, "/auth/sign-up/complete").await;
    page.fill("Code", &phone.next_code(stage)).await;
    page.press("Create the organization").await;
    page.arrives_at("Gus Rockets is yours").await;
}
