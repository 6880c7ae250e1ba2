//! Shared helpers of the suites about a person's account: a person who belongs to both organizations, links as they stand in mails,
//! and an account whose every secret is known.

use serde_json::json;
use tenant_auth_conformance::{App, Caller, PASSWORD, PUBLIC_URL};
use tenant_auth_core::ports::Message;

use crate::suite::support::authenticator::{Authenticator, SecondFactor, recovery_codes_in};

/// A good password that no account has yet.
pub(crate) const NEW: &str = "velvet-anchor-93-comet";

/// Max, who is a member of the neighbour too, logged in at both.
pub(crate) async fn in_both(app: &App) -> (Caller, Caller) {
    let greta = app.other_org().admin().logged_in().await;
    greta.invite(app.member().email()).await.expect(201);
    let token = app.link_token_of(app.member().email()).await;
    let there = app.other_org().device_of(app.member().person());
    there.accept_with_account(&token).await.expect(200);
    (app.member().logged_in().await, there)
}

/// The link in a mail: its token, for the page it leads to. Text and HTML carry the same one, and the token in the fragment only.
#[track_caller]
pub(crate) fn linked_token(mail: &Message, page: &str, slug: &str) -> String {
    let beginning = format!("{PUBLIC_URL}/{page}#org={slug}&token=");
    let (_, rest) = mail.text.split_once(&beginning).unwrap_or_else(|| panic!("no {beginning} in: {}", mail.text));
    let token: String = rest.chars().take_while(|c| !c.is_whitespace()).collect();
    let html = mail.html.replace("&amp;", "&").replace("&#x2f;", "/").replace("&#x3d;", "=");
    assert!(html.contains(&format!("href=\"{beginning}{token}\"")), "{html}");
    assert!(token.len() >= 43, "256 random bits: {token}");
    token
}

/// The token of the newest link to a page that was mailed to an address. Mails that are due together are sent in any order, so that
/// it need not stand in the newest mail.
pub(crate) async fn mailed_token(app: &App, address: &str, page: &str) -> String {
    let mails = app.mail_to(address).await;
    let mail = mails.iter().rfind(|mail| mail.text.contains(&format!("/{page}#")));
    linked_token(mail.unwrap_or_else(|| panic!("no link to /{page} for {address} in {mails:?}")), page, "acme")
}

/// A notice: nothing in it opens anything.
#[track_caller]
pub(crate) fn expect_no_link(mail: &Message) {
    for part in [&mail.subject, &mail.text, &mail.html] {
        for link in ["token", "http:", "https:", "href", "#org"] {
            assert!(!part.contains(link), "{link} in: {part}");
        }
    }
}

/// An account guarded by a second factor, and everything that was shown of it.
#[derive(Debug)]
pub(crate) struct Guarded {
    pub(crate) authenticator: Authenticator,
    /// In base 32.
    pub(crate) secret: String,
    pub(crate) recovery_codes: Vec<String>,
}

impl Guarded {
    /// A code that has not been used: the next step's, which drift allows, for time stands still.
    pub(crate) fn fresh_code(&self, app: &App) -> String {
        self.authenticator.code_in(app, 1)
    }
}

/// Turns the second factor on, without moving time; the notice of it is sent.
pub(crate) async fn guard(app: &App, member: &Caller) -> Guarded {
    let setup = member.set_up(PASSWORD).await.expect_ok();
    let authenticator = Authenticator::new(&setup["secret"]);
    let enabled = member.enable(&authenticator.code(app)).await.expect_ok();
    app.tick().await;
    let secret = setup["secret"].as_str().expect("a secret").to_owned();
    Guarded { authenticator, secret, recovery_codes: recovery_codes_in(&enabled) }
}

/// Logs in with password and code, in two steps.
pub(crate) async fn login_with_code(device: &Caller, password: &str, code: &str) {
    let data = device.login_with(device.email(), password).await.expect_ok();
    assert_eq!(data["requires2FA"], true);
    device.enter(code).await.expect(200);
}

/// Gives the account another address, and proves it.
pub(crate) async fn change_address(app: &App, member: &Caller, email: &str) {
    member.post("/auth/change-email", json!({ "newEmail": email, "password": PASSWORD })).await.expect(200);
    let token = app.link_token_of(email).await;
    member.post("/auth/change-email/confirm", json!({ "token": token })).await.expect(200);
}
