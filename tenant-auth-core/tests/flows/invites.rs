//! Invites: made, looked at, accepted once, resent, withdrawn.

use tenant_auth_core::{
    Client, Error, Login,
    model::Role,
    org::Registration,
    testing::{PASSWORD, TestAuth},
    value::Email,
};

use crate::value;

fn registration() -> Registration {
    Registration { name: Some(value("Nora New")), password: Some(PASSWORD.into()) }
}

#[tokio::test]
async fn an_invite_makes_an_account_and_a_member_once() {
    let test = TestAuth::new().await;
    let nora: Email = value("nora@acme.example");
    test.org_admin().await.invite(&nora, Role::Member).await.expect("nobody has this address");
    let token = test.mailed_token(&nora).await;
    assert!(!test.org.preview_invite(&token).await.expect("a live invite").account_exists);
    let login = test.org.accept_invite(&token, registration(), Client::default()).await.expect("a live invite");
    let Login::Session(opened) = login else { panic!("{login:?}") };
    assert_eq!((&opened.user().email, opened.membership().role), (&nora, Role::Member));
    let again = test.org.accept_invite(&token, registration(), Client::default()).await;
    assert!(matches!(again, Err(Error::InvalidInvite)), "{again:?}");
}

#[tokio::test]
async fn a_resent_invite_has_a_new_link() {
    let test = TestAuth::new().await;
    let nora: Email = value("nora@acme.example");
    let admin = test.org_admin().await;
    let invite = admin.invite(&nora, Role::Member).await.expect("nobody has this address");
    let first = test.mailed_token(&nora).await;
    admin.resend_invite(&invite.id).await.expect("it waits");
    let second = test.mailed_token(&nora).await;
    assert!(matches!(test.org.preview_invite(&first).await, Err(Error::InvalidInvite)));
    test.org.preview_invite(&second).await.expect("the new link");
}

#[tokio::test]
async fn a_withdrawn_invite_lets_nobody_in() {
    let test = TestAuth::new().await;
    let nora: Email = value("nora@acme.example");
    let admin = test.org_admin().await;
    let invite = admin.invite(&nora, Role::OrgAdmin).await.expect("nobody has this address");
    assert!(matches!(admin.invite(&nora, Role::Member).await, Err(Error::AlreadyInvited)));
    let token = test.mailed_token(&nora).await;
    admin.revoke_invite(&invite.id).await.expect("it waits");
    let accepted = test.org.accept_invite(&token, registration(), Client::default()).await;
    assert!(matches!(accepted, Err(Error::InvalidInvite)), "{accepted:?}");
}
