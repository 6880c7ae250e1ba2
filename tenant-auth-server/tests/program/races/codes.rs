//! Second factors: one code, entered for two waiting logins at once.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tenant_auth_conformance::{
    Caller, PASSWORD, Request,
    totp::{STEP, code, from_base32},
};
use tenant_auth_core::model::Role;

use super::{Deployment, Tally, both, one_success, rounds};

/// People who take turns, so that what is forgotten between their rounds is forgotten seldom.
const PEOPLE: usize = 25;
/// Lets a step's code be used again: another round in the same half minute.
const FORGET_STEPS: &str = "UPDATE tenant_auth_second_factors SET last_step = 0";

/// An authenticator app.
struct Authenticator(Vec<u8>);

impl Authenticator {
    /// Puts a second factor in force for a person who is logged in; their recovery codes, too.
    async fn guard(person: &Caller) -> (Self, Vec<String>) {
        let setup = person.post("/auth/2fa/setup", json!({ "password": PASSWORD })).await.expect_ok();
        let authenticator = Self(from_base32(setup["secret"].as_str().expect("a secret")));
        let enabled = person.post("/auth/2fa/enable", json!({ "code": authenticator.code() })).await.expect_ok();
        (authenticator, recovery_codes(&enabled))
    }

    #[expect(clippy::disallowed_methods, reason = "a test outside the process has no port to ask")]
    fn code(&self) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
        code(&self.0, now.as_secs() / STEP)
    }
}

fn recovery_codes(data: &Value) -> Vec<String> {
    let codes = data["recoveryCodes"].as_array().expect("a list of codes");
    codes.iter().map(|code| code.as_str().expect("a text").to_owned()).collect()
}

/// Two devices on which the password was right, one at each server.
async fn waiting(deployment: &Deployment, person: &Caller) -> [Caller; 2] {
    let devices = [0, 1].map(|side| person.elsewhere().at_address(deployment.address(side)));
    for device in &devices {
        assert_eq!(device.login().await.expect_ok()["requires2FA"], true);
    }
    devices
}

fn enter(device: &Caller, code: &str) -> Request {
    device.post("/auth/verify-2fa", json!({ "code": code }))
}

/// Enters one code on both; the device that got in, and its place.
async fn one_gets_in(deployment: &Deployment, devices: [Caller; 2], code: &str) -> (Caller, usize) {
    let answers = both(enter(&devices[0], code), enter(&devices[1], code)).await;
    let (winner, loser) = one_success(&answers);
    loser.clone().expect(401);
    devices[1 - winner].get("/org").await.expect_no_session();
    devices[winner].at_address(deployment.address(1 - winner)).get("/org").await.expect(200);
    (devices[winner].clone(), winner)
}

/// The code of the half minute.
pub(super) async fn a_one_time_password_opens_one_login(deployment: &Deployment, tally: &mut Tally) {
    let mut people = Vec::new();
    for _ in 0..rounds().min(PEOPLE) {
        let person = deployment.person(Role::Member).await;
        let (authenticator, _) = Authenticator::guard(&person).await;
        people.push((person, authenticator));
    }
    for round in 0..rounds() {
        deployment.forget_counts(round, PEOPLE);
        if round.is_multiple_of(PEOPLE) {
            deployment.sql(FORGET_STEPS);
        }
        let (person, authenticator) = &people[round % PEOPLE];
        let devices = waiting(deployment, person).await;
        let (_, winner) = one_gets_in(deployment, devices, &authenticator.code()).await;
        tally.count_winner(winner);
    }
}

/// A code of the sheet of paper; a new sheet when it is used up.
pub(super) async fn a_recovery_code_opens_one_login(deployment: &Deployment, tally: &mut Tally) {
    let mut person = deployment.person(Role::Member).await;
    let (authenticator, mut sheet) = Authenticator::guard(&person).await;
    for round in 0..rounds() {
        deployment.forget_counts(round, 5);
        let code = match sheet.pop() {
            Some(code) => code,
            None => {
                deployment.sql(FORGET_STEPS);
                let confirmed = json!({ "password": PASSWORD, "code": authenticator.code() });
                sheet = recovery_codes(&person.post("/auth/2fa/recovery-codes", confirmed).await.expect_ok());
                sheet.pop().expect("a new sheet has codes")
            }
        };
        let devices = waiting(deployment, &person).await;
        let (inside, winner) = one_gets_in(deployment, devices, &code).await;
        tally.count_winner(winner);
        person = inside; // of many sessions the oldest ends
    }
}
