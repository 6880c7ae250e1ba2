//! Sessions: login, refresh, logout, and the answer a backend gets.

use std::time::Duration;

use tenant_auth_core::{
    Client, Credentials, Error, Verification,
    testing::{PASSWORD, TestAuth},
};

use crate::credentials;

async fn is_live(test: &TestAuth, access_token: &str) -> bool {
    matches!(test.org.verify(access_token).await.expect("an answer"), Verification::Valid(_))
}

#[tokio::test]
async fn a_login_opens_a_session_that_a_backend_can_verify() {
    let test = TestAuth::new().await;
    let tokens = test.login(&test.member).await;
    let Verification::Valid(principal) = test.org.verify(tokens.access.expose()).await.expect("an answer") else {
        panic!("a live token");
    };
    assert_eq!((&principal.user.id, &principal.org.id), (&test.member.id, &test.org.organization().id));
    assert!(!is_live(&test, "rubbish").await);
    assert!(!is_live(&test, tokens.refresh.expose()).await, "a refresh token opens nothing");
}

#[tokio::test]
async fn a_wrong_password_is_refused_and_the_sixth_try_waits() {
    let test = TestAuth::new().await;
    for _ in 0..5 {
        let refused = test.org.login(credentials(&test.member, "not the password")).await;
        assert!(matches!(refused, Err(Error::InvalidCredentials)), "{refused:?}");
    }
    let refused = test.org.login(credentials(&test.member, PASSWORD)).await;
    let Err(Error::RateLimited { retry_after }) = refused else { panic!("{refused:?}") };
    test.clock.advance(retry_after);
    test.login(&test.member).await;
}

/// Without an address one stranger's failures would be everybody's.
#[tokio::test]
async fn where_addresses_are_not_known_five_wrong_passwords_lock_nobody_out() {
    let test = TestAuth::new().await;
    let credentials = |password| Credentials { client: Client::default(), ..credentials(&test.member, password) };
    for _ in 0..5 {
        let refused = test.org.login(credentials("not the password")).await;
        assert!(matches!(refused, Err(Error::InvalidCredentials)), "{refused:?}");
    }
    test.org.login(credentials(PASSWORD)).await.expect("the right password");
}

#[tokio::test]
async fn a_refresh_replaces_both_tokens() {
    let test = TestAuth::new().await;
    let first = test.login(&test.member).await;
    let second = test.org.refresh(first.refresh.expose()).await.expect("a live session");
    assert!(!is_live(&test, first.access.expose()).await);
    assert!(is_live(&test, second.access.expose()).await);
}

#[tokio::test]
async fn within_the_grace_a_superseded_token_gets_the_current_generation() {
    let test = TestAuth::new().await;
    let first = test.login(&test.member).await;
    let second = test.org.refresh(first.refresh.expose()).await.expect("a live session");
    test.org.refresh(first.refresh.expose()).await.expect("another tab");
    assert!(is_live(&test, second.access.expose()).await, "nothing was rotated");
}

#[tokio::test]
async fn a_refresh_token_used_again_after_the_grace_ends_the_session() {
    let test = TestAuth::new().await;
    let first = test.login(&test.member).await;
    let second = test.org.refresh(first.refresh.expose()).await.expect("a live session");
    test.clock.advance(test.auth.config().sessions.refresh_grace + Duration::from_secs(1));
    let reused = test.org.refresh(first.refresh.expose()).await;
    assert!(matches!(reused, Err(Error::SessionRequired)), "{reused:?}");
    assert!(!is_live(&test, second.access.expose()).await, "the thief's and the owner's session are one");
    assert!(test.org.refresh(second.refresh.expose()).await.is_err());
}

#[tokio::test]
async fn a_logout_ends_both_tokens() {
    let test = TestAuth::new().await;
    let tokens = test.login(&test.member).await;
    let member = test.org.authenticate(tokens.access.expose()).await.expect("a live session");
    member.logout().await.expect("it ends");
    assert!(!is_live(&test, tokens.access.expose()).await);
    assert!(test.org.refresh(tokens.refresh.expose()).await.is_err());
    assert!(test.org.session_to_end_by_refresh(tokens.refresh.expose()).await.expect("an answer").is_none());
}

#[tokio::test]
async fn ending_the_other_sessions_leaves_this_one() {
    let test = TestAuth::new().await;
    let other = test.login(&test.member).await;
    let member = test.signed_in(&test.member).await;
    member.end_other_sessions().await.expect("they end");
    assert!(!is_live(&test, other.access.expose()).await);
    let left = member.sessions(&tenant_auth_core::Page::default()).await.expect("this one lives");
    assert_eq!(left.items.len(), 1);
}

#[tokio::test]
async fn another_organization_knows_no_token_of_this_one() {
    let test = TestAuth::new().await;
    let tokens = test.login(&test.member).await;
    let other = tenant_auth_core::operator::NewOrganization::new(
        crate::value("Umbra"),
        crate::value("umbra"),
        crate::value("first@umbra.example"),
    );
    test.auth.operator().create_organization(other).await.expect("the slug is free");
    let umbra = test.auth.tenant(&crate::value("umbra")).await.expect("it exists");
    assert!(matches!(umbra.authenticate(tokens.access.expose()).await, Err(Error::WrongOrganization)));
    assert!(matches!(umbra.verify(tokens.access.expose()).await, Ok(Verification::Invalid)));
    assert!(umbra.refresh(tokens.refresh.expose()).await.is_err());
    assert!(is_live(&test, tokens.access.expose()).await, "and nothing was revoked");
}
