//! The authenticator app: a person's other device, which scanned a QR code or was told the secret.

use serde_json::json;
use tenant_auth_conformance::{App, Caller, PASSWORD, browser::Page, totp};
use tenant_auth_core::{Timestamp, ports::Clock};
use url::Url;

/// An authenticator with one account.
#[derive(Debug)]
pub(crate) struct Phone {
    secret: Vec<u8>,
    /// As the app lists the account.
    pub(crate) label: String,
    /// The sheet of paper beside it.
    pub(crate) recovery_codes: Vec<String>,
}

impl Phone {
    /// Points the camera at the picture.
    pub(crate) async fn scanning(page: &Page) -> Self {
        Self::reading(&page.scan("QR code").await)
    }

    fn reading(url: &str) -> Self {
        let url = Url::parse(url).expect("a URL");
        assert_eq!((url.scheme(), url.host_str()), ("otpauth", Some("totp")), "{url}");
        let said = |name: &str| url.query_pairs().find(|(have, _)| have == name).map(|(_, value)| value.into_owned());
        for (name, usual) in [("digits", "6"), ("period", "30"), ("algorithm", "SHA1")] {
            assert_eq!(said(name).as_deref().unwrap_or(usual), usual, "authenticators know nothing else: {url}");
        }
        let secret = totp::from_base32(&said("secret").expect("a secret"));
        Self { secret, label: url.path().replace("%40", "@").replace("%20", " "), recovery_codes: Vec::new() }
    }

    /// What it shows now.
    pub(crate) fn code(&self, app: &App) -> String {
        let epoch = Timestamp::parse("1970-01-01T00:00:00.000Z").expect("an ISO time");
        totp::code(&self.secret, app.clock.now().since(epoch).as_secs() / totp::STEP)
    }

    /// What it shows once the code that was used is over.
    pub(crate) fn next_code(&self, app: &App) -> String {
        app.advance(totp::STEP);
        self.code(app)
    }

    /// Sets up the second factor of a logged-in person, not at the browser.
    pub(crate) async fn guarding(caller: &Caller, app: &App) -> Self {
        let setup = caller.post("/auth/2fa/setup", json!({ "password": PASSWORD })).await.expect_ok();
        let mut phone = Self::reading(setup["otpauthUrl"].as_str().expect("a URL"));
        let enabled = caller.post("/auth/2fa/enable", json!({ "code": phone.code(app) })).await.expect_ok();
        let codes = enabled["recoveryCodes"].as_array().expect("a list");
        phone.recovery_codes = codes.iter().map(|code| code.as_str().expect("a text").to_owned()).collect();
        phone
    }
}
