//! A member's sessions, as an org_admin sees them: GET /org/members/:userId/sessions.

use serde_json::Value;
use tenant_auth_conformance::{App, Caller, scenarios};

use crate::suite::support::{account::in_both, stored};

scenarios![
    an_admin_sees_a_members_sessions_as_the_member_does,
    the_session_that_asks_is_marked,
    sessions_elsewhere_are_not_shown,
    the_sessions_of_nobody_here_are_404,
    only_an_admin_sees_the_sessions_of_others,
    an_admin_ends_one_session_of_a_member_and_no_other,
];

async fn sessions_of(caller: &Caller, user: &str, query: &str) -> Vec<Value> {
    let data = caller.get(&format!("/org/members/{user}/sessions{query}")).await.expect_ok();
    data["sessions"].as_array().expect("a list").clone()
}

async fn own(caller: &Caller) -> Vec<Value> {
    caller.get("/auth/sessions").await.expect_ok()["sessions"].as_array().expect("a list").clone()
}

async fn an_admin_sees_a_members_sessions_as_the_member_does(app: &App) {
    let desk = app.member().with("User-Agent", "Desk/1.0").logged_in().await;
    app.advance(60);
    app.member().with("User-Agent", "Phone/2.0").logged_in().await;
    let admin = app.admin().logged_in().await;
    let mut expected = own(&desk).await;
    expected[0]["current"] = false.into();
    assert_eq!(sessions_of(&admin, desk.id(), "").await, expected);
    assert_eq!(sessions_of(&admin, desk.id(), "?limit=1&order=desc").await, [expected[1].clone()]);
    desk.logout().await.expect(200);
    assert_eq!(sessions_of(&admin, desk.id(), "").await, [expected[1].clone()], "what has ended is gone");
}

async fn the_session_that_asks_is_marked(app: &App) {
    let admin = app.admin().logged_in().await;
    assert_eq!(sessions_of(&admin, admin.id(), "").await, own(&admin).await);
    assert_eq!(own(&admin).await[0]["current"], true);
}

async fn sessions_elsewhere_are_not_shown(app: &App) {
    let (here, there) = in_both(app).await;
    let admin = app.admin().logged_in().await;
    let mut shown = own(&here).await;
    shown[0]["current"] = false.into();
    assert_eq!(sessions_of(&admin, here.id(), "").await, shown);
    assert_ne!(own(&there).await[0]["id"], shown[0]["id"]);
}

async fn the_sessions_of_nobody_here_are_404(app: &App) {
    let gus = app.other_org().member().logged_in().await;
    let admin = app.admin().logged_in().await;
    admin.get(&format!("/org/members/{}/sessions", gus.id())).await.expect_error(404, "not_found");
    admin.get("/org/members/usr_nobody/sessions").await.expect_error(404, "not_found");
    let max = app.member().logged_in().await;
    admin.remove(max.id()).await.expect(200);
    admin.get(&format!("/org/members/{}/sessions", max.id())).await.expect_error(404, "not_found");
}

async fn only_an_admin_sees_the_sessions_of_others(app: &App) {
    let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
    member.get(&format!("/org/members/{}/sessions", admin.id())).await.expect_error(403, "admin_required");
    member.get(&format!("/org/members/{}/sessions", member.id())).await.expect_error(403, "admin_required");
}

async fn an_admin_ends_one_session_of_a_member_and_no_other(app: &App) {
    let lost = app.member().logged_in().await;
    let (id, admin) = (own(&lost).await[0]["id"].as_str().expect("an id").to_owned(), app.admin().logged_in().await);
    app.advance(60);
    let kept = app.member().logged_in().await;
    let gus = app.other_org().member().logged_in().await;
    let path = |user: &str, session: &str| format!("/org/members/{user}/sessions/{session}");
    let foreign = own(&gus).await[0]["id"].as_str().expect("an id").to_owned();
    kept.delete(&path(kept.id(), &id)).await.expect_error(403, "admin_required");
    admin.delete(&path(admin.id(), &id)).await.expect_error(404, "not_found");
    admin.delete(&path(gus.id(), &foreign)).await.expect_error(404, "not_found");
    admin.delete(&path(lost.id(), "ses_nobody")).await.expect_error(404, "not_found");
    admin.delete(&path(lost.id(), &id)).await.expect(200);
    admin.delete(&path(lost.id(), &id)).await.expect_error(404, "not_found");
    lost.get("/auth/profile").await.expect_no_session();
    kept.get("/auth/profile").await.expect(200);
    gus.get("/auth/profile").await.expect(200);
    let told = stored::events_of(app, app.org().slug()).await;
    let told = told.iter().rfind(|event| event["type"] == "session.revoked").expect("an event");
    assert_eq!((&told["data"]["reason"], &told["data"]["session"]["id"]), (&"admin".into(), &id.into()));
    assert_eq!(told["actor"]["id"], admin.id());
}
