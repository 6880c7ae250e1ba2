//! A second factor as its owner has it: an authenticator, and what people do with one.

use serde_json::{Value, json};
pub(crate) use tenant_auth_conformance::totp::STEP;
use tenant_auth_conformance::{
    App, Caller, PASSWORD, Request, shape,
    totp::{code, from_base32},
};
use tenant_auth_core::{Timestamp, ports::Clock};

/// An authenticator app, and the sheet of paper with the recovery codes.
#[derive(Debug, Clone)]
pub(crate) struct Authenticator {
    secret: Vec<u8>,
    /// As shown when the factor was enabled.
    pub(crate) recovery_codes: Vec<String>,
}

impl Authenticator {
    /// Reads the `secret` that a setup shows.
    pub(crate) fn new(secret: &Value) -> Self {
        let secret = secret.as_str().expect("a secret");
        Self { secret: from_base32(secret), recovery_codes: Vec::new() }
    }

    /// What it shows now.
    pub(crate) fn code(&self, app: &App) -> String {
        self.code_in(app, 0)
    }

    /// What it shows some steps from now.
    pub(crate) fn code_in(&self, app: &App, steps: i64) -> String {
        let epoch = Timestamp::parse("1970-01-01T00:00:00.000Z").expect("an ISO time");
        let now = app.clock.now().since(epoch).as_secs() / STEP;
        code(&self.secret, now.checked_add_signed(steps).expect("after 1970"))
    }

    /// Six digits that it shows neither now nor around now.
    pub(crate) fn wrong_code(&self, app: &App) -> String {
        let near: Vec<String> = (-4..=4).map(|steps| self.code_in(app, steps)).collect();
        (0..).map(|n| format!("{n:06}")).find(|code| !near.contains(code)).expect("most codes are wrong")
    }
}

/// Verbs of the second factor.
pub(crate) trait SecondFactor: Sized {
    /// Asks for a secret.
    fn set_up(&self, password: &str) -> Request;
    /// Puts the secret in force.
    fn enable(&self, code: &str) -> Request;
    /// Removes the second factor.
    fn disable(&self, password: &str, code: &str) -> Request;
    /// Asks for other recovery codes.
    fn renew_codes(&self, password: &str, code: &str) -> Request;
    /// The second step of a login.
    fn enter(&self, code: &str) -> Request;
    /// How the account is guarded.
    async fn status(&self) -> Value;
    /// Logs in as far as the password goes.
    async fn waiting(self) -> Self;
    /// The token of a login that waits.
    fn partial_token(&self) -> String;
    /// Guards the account of a logged-in caller. The step whose code did it is over afterwards, and the mail about it sent.
    async fn guard(&self, app: &App) -> Authenticator;
    /// A person logged in with both factors, in a time step of their own.
    async fn through(self, app: &App, authenticator: &Authenticator) -> Self;
}

impl SecondFactor for Caller {
    fn set_up(&self, password: &str) -> Request {
        self.post("/auth/2fa/setup", json!({ "password": password }))
    }

    fn enable(&self, code: &str) -> Request {
        self.post("/auth/2fa/enable", json!({ "code": code }))
    }

    fn disable(&self, password: &str, code: &str) -> Request {
        self.post("/auth/2fa/disable", json!({ "password": password, "code": code }))
    }

    fn renew_codes(&self, password: &str, code: &str) -> Request {
        self.post("/auth/2fa/recovery-codes", json!({ "password": password, "code": code }))
    }

    fn enter(&self, code: &str) -> Request {
        self.post("/auth/verify-2fa", json!({ "code": code }))
    }

    async fn status(&self) -> Value {
        let data = self.get("/auth/2fa").await.expect_ok();
        assert_eq!(shape(&data), ["enabled", "enabledAt", "recoveryCodesRemaining"]);
        data
    }

    async fn waiting(self) -> Self {
        assert_eq!(self.login().await.expect_ok(), json!({ "requires2FA": true }));
        self
    }

    fn partial_token(&self) -> String {
        self.jar().value("partial_token").expect("a partial_token cookie")
    }

    async fn guard(&self, app: &App) -> Authenticator {
        let setup = self.set_up(PASSWORD).await.expect_ok();
        let mut authenticator = Authenticator::new(&setup["secret"]);
        let enabled = self.enable(&authenticator.code(app)).await.expect_ok();
        authenticator.recovery_codes = recovery_codes_in(&enabled);
        app.advance(STEP);
        app.tick().await;
        authenticator
    }

    async fn through(self, app: &App, authenticator: &Authenticator) -> Self {
        app.advance(STEP);
        let caller = self.waiting().await;
        caller.enter(&authenticator.code(app)).await.expect(200);
        caller
    }
}

/// A member on a guarded account, still logged in where it was guarded, and their authenticator.
pub(crate) async fn guarded_member(app: &App) -> (Caller, Authenticator) {
    let member = app.member().logged_in().await;
    let authenticator = member.guard(app).await;
    (member, authenticator)
}

/// The recovery codes an answer shows.
#[track_caller]
pub(crate) fn recovery_codes_in(data: &Value) -> Vec<String> {
    let codes = data["recoveryCodes"].as_array().expect("a list of codes");
    codes.iter().map(|code| code.as_str().expect("a text").to_owned()).collect()
}
