//! A person's account: profile, password, recovery, and the address.

use std::time::Duration;

use tenant_auth_core::{
    Client, Error, Page,
    account::{AddressProof, NewEmail, NewPassword, ProfileUpdate},
    model::{AuditFilter, Profile},
    secret::Password,
    testing::{PASSWORD, TestAuth},
    value::Email,
};

use crate::{credentials, value};

const NEW: &str = "cobalt-heron-lattice-77";

#[tokio::test]
async fn a_profile_is_changed_by_its_owner() {
    let test = TestAuth::new().await;
    let member = test.signed_in(&test.member).await;
    let update = ProfileUpdate { name: value("Maximilian"), profile: Profile::default() };
    assert_eq!(member.update_profile(update).await.expect("a right name").name.as_str(), "Maximilian");
}

#[tokio::test]
async fn a_changed_password_ends_every_other_session() {
    let test = TestAuth::new().await;
    let other = test.login(&test.member).await;
    let member = test.signed_in(&test.member).await;
    let weak = NewPassword { current: PASSWORD.into(), new: "password".into() };
    assert!(matches!(member.change_password(weak).await, Err(Error::WeakPassword(_))));
    let wrong = NewPassword { current: "wrong".into(), new: NEW.into() };
    assert!(matches!(member.change_password(wrong).await, Err(Error::WrongPassword)));
    member.change_password(NewPassword { current: PASSWORD.into(), new: NEW.into() }).await.expect("the right one");
    assert!(test.org.authenticate(other.access.expose()).await.is_err());
    member.second_factor().await.expect("this session lives");
    assert!(test.org.login(credentials(&test.member, PASSWORD)).await.is_err());
    test.org.login(credentials(&test.member, NEW)).await.expect("the new password");
}

#[tokio::test]
async fn a_member_has_the_client_of_the_tenant_that_authenticates() {
    let test = TestAuth::new().await;
    let tokens = test.login(&test.member).await;
    let seen = test.org.clone().seen_from(Client { ip: Some([203, 0, 113, 8].into()), ..Client::default() });
    let member = seen.authenticate(tokens.access.expose()).await.expect("a live token");
    let update = ProfileUpdate { name: value("Maximilian"), profile: Profile::default() };
    member.update_profile(update).await.expect("a right name");
    let filter = AuditFilter { kinds: Some(vec!["user.updated".to_owned()]), ..AuditFilter::default() };
    let log = test.org_admin().await.audit(&filter, &Page::default()).await.expect("the log");
    let context = log.items.into_iter().next().expect("an entry").context.expect("what was known");
    assert_eq!(context.ip.as_deref(), Some("203.0.113.8"));

    let confirm = || member.change_password(NewPassword { current: "wrong".into(), new: NEW.into() });
    for _ in 0..5 {
        assert!(matches!(confirm().await, Err(Error::WrongPassword)));
    }
    assert!(matches!(confirm().await, Err(Error::RateLimited { .. })), "they are counted by the address");
}

#[tokio::test]
async fn a_reset_link_works_once_and_ends_every_session() {
    let test = TestAuth::new().await;
    let tokens = test.login(&test.member).await;
    test.org.request_password_reset(&test.member.email, &Client::default()).await.expect("asked");
    let token = test.mailed_token(&test.member.email).await;
    assert!(matches!(test.org.reset_password(&token, &"password".into()).await, Err(Error::WeakPassword(_))));
    test.org.reset_password(&token, &NEW.into()).await.expect("a live link");
    assert!(test.org.authenticate(tokens.access.expose()).await.is_err());
    assert!(matches!(test.org.reset_password(&token, &PASSWORD.into()).await, Err(Error::InvalidLink)));
    test.org.login(credentials(&test.member, NEW)).await.expect("the new password");
}

#[tokio::test]
async fn a_reset_link_expires_and_a_stranger_gets_none() {
    let test = TestAuth::new().await;
    test.org.request_password_reset(&value("nobody@acme.example"), &Client::default()).await.expect("it says the same");
    test.tick().await;
    assert!(test.mails.sent().iter().all(|mail| mail.to.as_str() != "nobody@acme.example"));
    test.org.request_password_reset(&test.member.email, &Client::default()).await.expect("asked");
    let token = test.mailed_token(&test.member.email).await;
    test.clock.advance(Duration::from_secs(30 * 60));
    assert!(matches!(test.org.reset_password(&token, &NEW.into()).await, Err(Error::InvalidLink)));
}

#[tokio::test]
async fn an_address_is_proved_by_its_link() {
    let test = TestAuth::new().await;
    let member = test.signed_in(&test.member).await;
    assert!(!member.user().is_email_verified);
    member.send_email_verification().await.expect("asked");
    let token = test.mailed_token(&test.member.email).await;
    let proof = |session, password: Option<&str>| AddressProof {
        token: token.expose().into(),
        session,
        password: password.map(Password::new),
        client: Client::default(),
    };
    let stranger = test.signed_in(&test.admin).await;
    assert!(matches!(test.org.verify_email(proof(None, None)).await, Err(Error::WrongPassword)));
    assert!(matches!(test.org.verify_email(proof(Some(stranger), Some("wrong"))).await, Err(Error::WrongPassword)));
    test.org.verify_email(proof(Some(member), None)).await.expect("a live link in the owner's session");
    assert!(test.signed_in(&test.member).await.user().is_email_verified);
    assert!(matches!(test.org.verify_email(proof(None, Some(PASSWORD))).await, Err(Error::InvalidLink)));
}

#[tokio::test]
async fn an_address_changes_when_the_new_one_confirms() {
    let test = TestAuth::new().await;
    let member = test.signed_in(&test.member).await;
    let new: Email = value("max.new@acme.example");
    let change = |password: &str| NewEmail { email: new.clone(), password: Password::new(password), code: None };
    assert!(matches!(member.request_email_change(change("wrong")).await, Err(Error::WrongPassword)));
    member.request_email_change(change(PASSWORD)).await.expect("asked");
    let token = test.mailed_token(&new).await;
    assert_eq!(test.signed_in(&test.member).await.user().email, test.member.email, "nothing happens before the link is used");
    assert_eq!(member.confirm_email_change(&token).await.expect("a live link").email, new);
    assert!(test.org.login(credentials(&test.member, PASSWORD)).await.is_err(), "the old address is nobody's");
    assert!(matches!(member.confirm_email_change(&token).await, Err(Error::InvalidLink)));
}
