//! GET /public/users/:userId, /public/members and /public/members/:userId: what a customer's backend may read of its members.

use serde_json::json;
use tenant_auth_conformance::{App, scenarios, shape};
use tokio::task::JoinSet;

scenarios![
    a_user_is_described_as_in_verify,
    a_user_who_is_no_member_here_is_404,
    the_members_are_those_of_the_list,
    one_member_is_the_lists_entry,
    somebody_who_is_no_member_here_is_404,
    a_removed_member_is_gone_at_once,
    the_first_page_and_its_sequence_are_of_one_moment,
    a_suspended_member_is_shown_as_suspended,
    a_suspended_organizations_keys_read_nobody,
    a_session_is_no_key,
];

async fn a_user_is_described_as_in_verify(app: &App) {
    let member = app.member().logged_in().await;
    app.admin().logged_in().await.set_metadata(member.id(), json!({ "team": 7 })).await.expect(200);
    let data = app.backend().get(&format!("/public/users/{}", member.id())).await.expect_ok();
    let verified = app.backend().verify(&member.access_token()).await.expect_ok();
    assert_eq!(shape(&data), ["membership", "user"]);
    assert_eq!((&data["user"], &data["membership"]), (&verified["user"], &verified["membership"]));
}

async fn a_user_who_is_no_member_here_is_404(app: &App) {
    for id in [app.other_org().member().id(), "usr_00000000000000000000000000", "rubbish", "%00", "mem_00000000000000000000000000"]
    {
        app.backend().get(&format!("/public/users/{id}")).await.expect_error(404, "not_found");
    }
}

async fn the_members_are_those_of_the_list(app: &App) {
    let member = app.member().logged_in().await;
    let data = app.backend().get("/public/members").await.expect_ok();
    assert_eq!(data["members"].as_array(), Some(&member.members().await));
}

async fn one_member_is_the_lists_entry(app: &App) {
    let member = app.member().logged_in().await;
    let data = app.backend().get(&format!("/public/members/{}", member.id())).await.expect_ok();
    assert_eq!(shape(&data), ["member"]);
    assert_eq!(Some(&data["member"]), member.member_entry(member.id()).await.as_ref());
}

async fn somebody_who_is_no_member_here_is_404(app: &App) {
    for id in [app.other_org().member().id(), "usr_00000000000000000000000000", "rubbish"] {
        app.backend().get(&format!("/public/members/{id}")).await.expect_error(404, "not_found");
    }
}

async fn a_removed_member_is_gone_at_once(app: &App) {
    let (admin, id) = (app.admin().logged_in().await, app.member().id().to_owned());
    app.backend().get(&format!("/public/members/{id}")).await.expect(200);
    admin.remove(&id).await.expect(200);
    app.backend().get(&format!("/public/members/{id}")).await.expect_error(404, "not_found");
    app.backend().get(&format!("/public/users/{id}")).await.expect_error(404, "not_found");
    assert_eq!(app.backend().get("/public/members").await.expect_ok()["members"].as_array().map(Vec::len), Some(1));
}

/// Each event of the member's is one change of the number in the metadata, so that the page tells which event it shows.
async fn the_first_page_and_its_sequence_are_of_one_moment(app: &App) {
    let (admin, backend, id) = (app.admin().logged_in().await, app.backend(), app.member().id().to_owned());
    let first = async || {
        let data = backend.get("/public/members").await.expect_ok();
        let members = data["members"].as_array().expect("a list");
        let member = members.iter().find(|member| member["userId"] == id).expect("is there");
        (data["sequence"].as_i64().expect("a number"), member["metadata"]["n"].as_i64())
    };
    admin.set_metadata(&id, json!({ "n": 0 })).await.expect(200);
    let (before, _) = first().await;
    let mut writing = JoinSet::new();
    let member = id.clone();
    writing.spawn(async move {
        for n in 1..=150 {
            admin.set_metadata(&member, json!({ "n": n })).await.expect(200);
        }
    });
    while !writing.is_empty() {
        let (sequence, shown) = first().await;
        assert_eq!(shown, Some(sequence - before), "events later than {sequence} have had no effect");
        while let Some(done) = writing.try_join_next() {
            done.expect("each change succeeds");
        }
    }
}

async fn a_suspended_member_is_shown_as_suspended(app: &App) {
    let (admin, id) = (app.admin().logged_in().await, app.member().id().to_owned());
    admin.set_status(&id, "suspended").await.expect(200);
    let data = app.backend().get(&format!("/public/members/{id}")).await.expect_ok();
    assert_eq!(data["member"]["status"], "suspended");
    let data = app.backend().get(&format!("/public/users/{id}")).await.expect_ok();
    assert_eq!(data["membership"]["status"], "suspended");
}

async fn a_suspended_organizations_keys_read_nobody(app: &App) {
    let (token, id) = (app.member().logged_in().await.access_token(), app.member().id().to_owned());
    let paths = ["/public/members", "/public/members?limit=0", &format!("/public/members/{id}"), &format!("/public/users/{id}")];
    app.org().suspend().await;
    for path in paths {
        app.backend().get(path).await.expect_error(403, "suspended");
    }
    assert!(!app.backend().finds_valid(&token).await, "verify answers");
    app.org().reactivate().await;
    app.backend().get("/public/members").await.expect(200);
}

async fn a_session_is_no_key(app: &App) {
    let admin = app.admin().logged_in().await;
    admin.get("/public/members").await.expect_error(401, "invalid_api_key");
    admin.verify(&admin.access_token()).await.expect_error(401, "invalid_api_key");
    app.backend().get("/org").await.expect_no_session();
    app.backend().get("/org/members").await.expect_no_session();
}
