//! The second factor: set up, asked for, used once, removed; and the recovery codes.

use std::time::Duration;

use tenant_auth_core::{
    Client, Error, Login, Member, Page,
    account::{PartialToken, RecoveryCodes, SecondFactorSetup},
    model::AuditFilter,
    testing::{PASSWORD, TestAuth},
};

use crate::credentials;

/// How long a one-time password lasts.
const STEP: Duration = Duration::from_secs(30);

/// The member with a second factor in force, whose next code is a fresh one.
async fn guarded(test: &TestAuth) -> (Member, SecondFactorSetup, RecoveryCodes) {
    let member = test.signed_in(&test.member).await;
    let setup = member.set_up_second_factor(&PASSWORD.into()).await.expect("none is in force");
    let codes = member.enable_second_factor(&test.one_time_password(&setup)).await.expect("the right code");
    test.clock.advance(STEP);
    (member, setup, codes)
}

async fn waiting(test: &TestAuth) -> PartialToken {
    match test.org.login(credentials(&test.member, PASSWORD)).await {
        Ok(Login::SecondFactor(token)) => token,
        other => panic!("a password alone opens nothing: {other:?}"),
    }
}

async fn finish(test: &TestAuth, token: &PartialToken, code: &str) -> Result<(), Error> {
    test.org.waiting_login(token.token.expose()).await?.verify(code).await.map(drop)
}

#[tokio::test]
async fn a_guarded_login_takes_both_steps() {
    let test = TestAuth::new().await;
    let (_, setup, _) = guarded(&test).await;
    let token = waiting(&test).await;
    assert!(test.org.authenticate(token.token.expose()).await.is_err(), "a waiting login is no session");
    assert!(matches!(finish(&test, &token, "000000").await, Err(Error::SecondFactorFailed)));
    finish(&test, &token, &test.one_time_password(&setup)).await.expect("the right code");
    assert!(finish(&test, &token, &test.one_time_password(&setup)).await.is_err(), "a waiting login is used once");
}

#[cfg(feature = "http")]
#[tokio::test]
async fn a_host_that_answers_a_login_itself_carries_the_partial_token_and_clears_all() {
    use tenant_auth_core::http::{cleared_cookies, partial_cookies};
    let test = TestAuth::new().await;
    guarded(&test).await;
    let token = waiting(&test).await;
    let text = |cookies: Vec<http::HeaderValue>| -> Vec<String> {
        cookies.iter().map(|cookie| cookie.to_str().expect("a text").to_owned()).collect()
    };
    let carried = text(partial_cookies(&test.auth, &token));
    assert!(carried.iter().all(|cookie| cookie.starts_with(&format!("partial_token={};", token.token.expose()))), "{carried:?}");
    assert!(carried[0].contains("HttpOnly") && carried[0].contains("Secure"), "{carried:?}");
    let cleared = text(cleared_cookies(&test.auth));
    for name in ["access_token", "refresh_token", "partial_token"] {
        assert!(
            cleared.iter().any(|cookie| cookie.starts_with(&format!("{name}=;")) && cookie.contains("Max-Age=0")),
            "{cleared:?}"
        );
    }
}

#[tokio::test]
async fn a_code_works_once() {
    let test = TestAuth::new().await;
    let (_, setup, _) = guarded(&test).await;
    let code = test.one_time_password(&setup);
    finish(&test, &waiting(&test).await, &code).await.expect("the right code");
    assert!(matches!(finish(&test, &waiting(&test).await, &code).await, Err(Error::SecondFactorFailed)));
    test.clock.advance(STEP);
    finish(&test, &waiting(&test).await, &test.one_time_password(&setup)).await.expect("the next code");
}

#[tokio::test]
async fn a_recovery_code_works_once_and_is_counted() {
    let test = TestAuth::new().await;
    let (member, _, codes) = guarded(&test).await;
    let code = codes.0[0].expose();
    finish(&test, &waiting(&test).await, code).await.expect("an unused code");
    assert!(finish(&test, &waiting(&test).await, code).await.is_err());
    let status = member.second_factor().await.expect("a status");
    assert_eq!(usize::try_from(status.recovery_codes_remaining).expect("a count"), codes.0.len() - 1);
}

#[tokio::test]
async fn removing_it_takes_password_and_code() {
    let test = TestAuth::new().await;
    let (member, setup, _) = guarded(&test).await;
    let code = test.one_time_password(&setup);
    assert!(matches!(member.disable_second_factor(&"wrong".into(), &code).await, Err(Error::WrongPassword)));
    assert!(matches!(member.disable_second_factor(&PASSWORD.into(), "000000").await, Err(Error::WrongCode)));
    member.disable_second_factor(&PASSWORD.into(), &code).await.expect("both are right");
    test.login(&test.member).await;
}

/// From where the member's newest session was opened, as the audit log tells it.
async fn told_address(test: &TestAuth) -> Option<String> {
    let kinds = Some(vec!["session.created".to_owned()]);
    let filter = AuditFilter { kinds, user: Some(test.member.id.to_string()), ..AuditFilter::default() };
    let log = test.org_admin().await.audit(&filter, &Page::default()).await.expect("the log");
    log.items.into_iter().next().expect("an entry").context.expect("what was known").ip
}

#[tokio::test]
async fn the_log_tells_the_client_of_the_second_step_where_the_host_does() {
    let test = TestAuth::new().await;
    let (_, setup, _) = guarded(&test).await;
    finish(&test, &waiting(&test).await, &test.one_time_password(&setup)).await.expect("the right code");
    assert_eq!(told_address(&test).await.as_deref(), Some("203.0.113.7"), "that of the first step, else");
    test.clock.advance(STEP);
    let token = waiting(&test).await;
    let seen = test.org.clone().seen_from(Client { ip: Some([203, 0, 113, 8].into()), ..Client::default() });
    let login = seen.waiting_login(token.token.expose()).await.expect("it waits");
    login.verify(&test.one_time_password(&setup)).await.expect("the right code");
    assert_eq!(told_address(&test).await.as_deref(), Some("203.0.113.8"));
}
