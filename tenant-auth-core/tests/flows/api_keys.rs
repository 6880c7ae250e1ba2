//! API keys: what they may ask, and how they end.

use std::time::Duration;

use tenant_auth_core::{
    Error, Verification,
    backend::NewApiKey,
    model::Scope,
    scope::MembersRead,
    secret::ApiKeyText,
    testing::{SLUG, TestAuth},
};

use crate::value;

async fn works(test: &TestAuth, key: &ApiKeyText) -> bool {
    test.auth.backend(&value(SLUG), key).await.is_ok()
}

#[tokio::test]
async fn a_backend_verifies_with_its_key_alone() {
    let test = TestAuth::new().await;
    let key = test.api_key(&[Scope::Verify]).await;
    let tokens = test.login(&test.member).await;
    let answer = test.auth.verify_with_key(&value(SLUG), &key, tokens.access.expose()).await.expect("a live key");
    assert!(matches!(answer, Verification::Valid(_)));
    let backend = test.auth.backend(&value(SLUG), &key).await.expect("a live key");
    assert!(matches!(backend.having::<MembersRead>(), Err(Error::MissingScope(_))));
    assert!(matches!(test.auth.backend(&value(SLUG), &"pk_live_rubbish".into()).await, Err(Error::InvalidApiKey)));
}

#[tokio::test]
async fn a_rotated_key_works_beside_its_successor_until_the_overlap_ends() {
    let test = TestAuth::new().await;
    let admin = test.org_admin().await;
    let new = NewApiKey { name: value("backend"), scopes: NewApiKey::default_scopes(), expires_at: None };
    let old = admin.create_api_key(new).await.expect("below the limit");
    let overlap = Duration::from_secs(600);
    let successor = admin.rotate_api_key(&old.api_key.id, overlap).await.expect("it was not rotated yet");
    assert!(matches!(admin.rotate_api_key(&old.api_key.id, overlap).await, Err(Error::AlreadyRotated)));
    assert!(works(&test, &old.key).await && works(&test, &successor.key).await);
    test.clock.advance(overlap);
    assert!(!works(&test, &old.key).await && works(&test, &successor.key).await);
    admin.revoke_api_key(&successor.api_key.id).await.expect("it lives");
    assert!(!works(&test, &successor.key).await);
}
