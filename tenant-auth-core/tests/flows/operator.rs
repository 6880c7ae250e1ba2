//! The operator: organizations, appointments, and help for accounts.

use tenant_auth_core::{
    Error, Login,
    model::Status,
    operator::NewOrganization,
    testing::{PASSWORD, SLUG, TestAuth},
};

use crate::{credentials, value};

#[tokio::test]
async fn a_suspended_organization_lets_nobody_in() {
    let test = TestAuth::new().await;
    let tokens = test.login(&test.member).await;
    let operator = test.auth.operator();
    operator.set_organization_status(&value(SLUG), Status::Suspended).await.expect("it exists");
    let org = test.auth.tenant(&value(SLUG)).await.expect("it exists");
    assert!(matches!(org.authenticate(tokens.access.expose()).await, Err(Error::Suspended)));
    operator.set_organization_status(&value(SLUG), Status::Active).await.expect("it exists");
    let org = test.auth.tenant(&value(SLUG)).await.expect("it exists");
    org.authenticate(tokens.access.expose()).await.expect("the same session");
}

#[tokio::test]
async fn a_slug_is_given_once() {
    let test = TestAuth::new().await;
    let new = || NewOrganization::new(value("Acme"), value(SLUG), value("x@acme.example"));
    assert!(matches!(test.auth.operator().create_organization(new()).await, Err(Error::SlugTaken)));
    assert!(matches!(test.auth.tenant(&value("nowhere")).await, Err(Error::UnknownOrganization)));
}

#[tokio::test]
async fn an_operator_by_session_is_appointed_and_guarded() {
    let test = TestAuth::with(|config| config.organizations.operator_org = Some(value(SLUG))).await;
    let member = test.signed_in(&test.admin).await;
    assert!(matches!(member.clone().into_deployment_admin().await, Err(Error::OperatorRequired)));
    test.auth.operator().appoint(&test.admin.email).await.expect("a member of the operators' organization");
    let setup = member.set_up_second_factor(&PASSWORD.into()).await.expect("none is in force");
    member.enable_second_factor(&test.one_time_password(&setup)).await.expect("the right code");
    assert!(matches!(member.into_deployment_admin().await, Err(Error::OperatorRequired)), "that login had one factor");
    test.clock.advance(std::time::Duration::from_secs(30));
    let Ok(Login::SecondFactor(token)) = test.org.login(credentials(&test.admin, PASSWORD)).await else {
        panic!("it is asked for")
    };
    let waiting = test.org.waiting_login(token.token.expose()).await.expect("it waits");
    let opened = waiting.verify(&test.one_time_password(&setup)).await.expect("the right code");
    let member = test.org.authenticate(opened.tokens.access.expose()).await.expect("a live session");
    let operator = member.into_deployment_admin().await.expect("all that is asked for");
    let new = |slug: &str| NewOrganization::new(value("Umbra"), value(slug), value("first@umbra.example"));
    operator.create_organization(new("umbra")).await.expect("the slug is free");
    test.auth.operator().dismiss(&test.admin.email).await.expect("they have an account");
    let refused = operator.create_organization(new("umbra-2")).await;
    assert!(matches!(refused, Err(Error::OperatorRequired)), "a right that was lost writes nothing: {refused:?}");
}

#[tokio::test]
async fn a_lost_second_factor_is_reset_and_an_account_deleted() {
    let test = TestAuth::new().await;
    let member = test.signed_in(&test.member).await;
    let setup = member.set_up_second_factor(&PASSWORD.into()).await.expect("none is in force");
    member.enable_second_factor(&test.one_time_password(&setup)).await.expect("the right code");
    let operator = test.auth.operator();
    operator.reset_second_factor(&test.member.email).await.expect("one is in force");
    test.login(&test.member).await;
    operator.delete_user(&test.member.email).await.expect("they have an account");
    let refused = test.org.login(credentials(&test.member, PASSWORD)).await;
    assert!(matches!(refused, Err(Error::InvalidCredentials)), "{refused:?}");
}
