//! Members: roles, suspension, removal, and the last org_admin.

use tenant_auth_core::{
    Error, Page, Verification,
    model::{Role, Status},
    testing::TestAuth,
};

#[tokio::test]
async fn a_role_counts_from_the_next_request() {
    let test = TestAuth::new().await;
    let member = test.signed_in(&test.member).await;
    assert!(matches!(member.into_admin(), Err(Error::AdminRequired)));
    test.org_admin().await.set_role(&test.member.id, Role::OrgAdmin).await.expect("an org_admin may");
    test.signed_in(&test.member).await.into_admin().expect("an org_admin now");
}

#[tokio::test]
async fn a_right_that_was_lost_writes_nothing() {
    let test = TestAuth::new().await;
    let grace = test.person("Grace Hopper", Role::OrgAdmin).await;
    let right = test.signed_in(&grace).await.into_admin().expect("an org_admin");
    test.org_admin().await.set_role(&grace.id, Role::Member).await.expect("an org_admin may");
    let refused = right.set_role(&test.member.id, Role::OrgAdmin).await;
    assert!(matches!(refused, Err(Error::AdminRequired)), "{refused:?}");
}

#[tokio::test]
async fn the_process_has_the_right_of_an_org_admin() {
    let test = TestAuth::new().await;
    let process = test.auth.operator().in_organization(&test.org.organization().slug).await.expect("it is there");
    assert!(process.as_member().is_none());
    process.set_role(&test.member.id, Role::OrgAdmin).await.expect("it is the right");
    test.signed_in(&test.member).await.into_admin().expect("an org_admin now");
    process.remove_member(&test.admin.id).await.expect("another one is left");
    assert!(matches!(process.remove_member(&test.member.id).await, Err(Error::LastAdmin)));
}

#[tokio::test]
async fn a_suspended_member_is_shut_out_until_reactivated() {
    let test = TestAuth::new().await;
    let tokens = test.login(&test.member).await;
    test.set_status(&test.member, Status::Suspended).await;
    assert!(matches!(test.org.authenticate(tokens.access.expose()).await, Err(Error::Suspended)));
    let Ok(Verification::Valid(identity)) = test.org.verify(tokens.access.expose()).await else { panic!("the session lives on") };
    assert_eq!(identity.membership.status, Status::Suspended);
    test.set_status(&test.member, Status::Active).await;
    test.org.authenticate(tokens.access.expose()).await.expect("the same session");
}

#[tokio::test]
async fn a_removed_member_has_no_session_and_no_place_in_the_list() {
    let test = TestAuth::new().await;
    let tokens = test.login(&test.member).await;
    let admin = test.org_admin().await;
    admin.remove_member(&test.member.id).await.expect("an org_admin may");
    assert!(test.org.authenticate(tokens.access.expose()).await.is_err());
    let left = admin.members(&Page::default()).await.expect("a list").items;
    assert!(left.iter().all(|entry| entry.membership.user_id != test.member.id));
    assert!(matches!(admin.remove_member(&test.member.id).await, Err(Error::NotFound(_))));
}

#[tokio::test]
async fn the_last_org_admin_stays() {
    let test = TestAuth::new().await;
    let member = test.signed_in(&test.admin).await;
    assert!(matches!(member.leave().await, Err(Error::LastAdmin)));
    test.person("Grace Hopper", Role::OrgAdmin).await;
    member.leave().await.expect("another one is left");
}
