//! One's own sessions: GET /auth/sessions and the two DELETEs. Of this organization only, and an end is an end at once.

use serde_json::Value;
use tenant_auth_conformance::{App, Caller, id_of, jwt, scenarios, shape};

use crate::suite::support::account::in_both;

scenarios![
    the_list_shows_exactly_these_fields,
    the_list_is_ones_own_in_this_organization,
    the_list_forgets_what_has_ended,
    sessions_are_walked_page_by_page,
    ending_one_session_ends_it_at_once,
    ending_the_current_session_is_possible,
    ending_what_is_not_ones_own_is_404,
    ending_all_others_keeps_this_one,
    ending_all_others_reaches_no_other_organization,
    a_session_is_ended_once,
];

async fn sessions(caller: &Caller) -> Vec<Value> {
    caller.get("/auth/sessions").await.expect_ok()["sessions"].as_array().expect("a list").clone()
}

/// `ses_…`, as its token says.
fn session_id(caller: &Caller) -> String {
    jwt::claims(&caller.access_token())["sid"].as_str().expect("a session").to_owned()
}

async fn expect_ended(app: &App, device: &Caller) {
    assert!(!app.backend().finds_valid(&device.access_token()).await);
    device.get("/org").await.expect_no_session();
    device.refresh().await.expect_no_session();
}

async fn expect_alive(app: &App, device: &Caller) {
    assert!(app.backend().finds_valid(&device.access_token()).await);
    device.get("/org").await.expect(200);
}

async fn the_list_shows_exactly_these_fields(app: &App) {
    let desk = app.member().with("User-Agent", "Desk/1.0").logged_in().await;
    app.advance(60);
    let phone = app.member().with("User-Agent", "Phone/2.0").logged_in().await;
    let data = desk.get("/auth/sessions").await.expect_ok();
    assert_eq!(shape(&data), ["sessions"]);
    let list = sessions(&desk).await;
    assert_eq!(list.len(), 2);
    for entry in &list {
        assert_eq!(shape(entry), ["createdAt", "current", "id", "ip", "lastUsedAt", "userAgent"]);
        assert_eq!(entry["ip"], "127.0.0.1");
    }
    assert_eq!((id_of(&list[0]), id_of(&list[1])), (session_id(&desk).as_str(), session_id(&phone).as_str()), "oldest first");
    assert_eq!((&list[0]["current"], &list[1]["current"]), (&Value::Bool(true), &Value::Bool(false)));
    assert_eq!((&list[0]["userAgent"], &list[1]["userAgent"]), (&"Desk/1.0".into(), &"Phone/2.0".into()));
    assert_eq!(list[0]["createdAt"], "2026-11-20T08:21:00.000Z");
    assert_eq!(list[1]["createdAt"], "2026-11-20T08:22:00.000Z");
    let seen_by_phone = sessions(&phone).await;
    assert_eq!((&seen_by_phone[0]["current"], &seen_by_phone[1]["current"]), (&Value::Bool(false), &Value::Bool(true)));
    let silent = app.admin().logged_in().await;
    assert_eq!(sessions(&silent).await[0]["userAgent"], Value::Null, "unknown is null, not absent");
}

async fn the_list_is_ones_own_in_this_organization(app: &App) {
    let (here, there) = in_both(app).await;
    app.admin().logged_in().await;
    let ids = async |caller: &Caller| sessions(caller).await.iter().map(|entry| id_of(entry).to_owned()).collect::<Vec<_>>();
    assert_eq!(ids(&here).await, [session_id(&here)]);
    assert_eq!(ids(&there).await, [session_id(&there)]);
}

async fn the_list_forgets_what_has_ended(app: &App) {
    let (left, _forgotten) = (app.member().logged_in().await, app.member().logged_in().await);
    left.logout().await.expect(200);
    assert_eq!(sessions(&app.member().logged_in().await).await.len(), 2);
    app.advance(7 * 24 * 60 * 60);
    assert_eq!(
        sessions(&app.member().logged_in().await).await.len(),
        1,
        "a refresh token lasts seven days, and a session no longer"
    );
}

async fn sessions_are_walked_page_by_page(app: &App) {
    let desk = app.member().logged_in().await;
    for n in 0..6 {
        app.advance(u64::from(n % 2 == 0));
        app.member().logged_in().await;
    }
    let whole = sessions(&desk).await;
    assert_eq!(whole.len(), 7);
    for limit in [1, 2, 3, 7, 8] {
        let (mut walked, mut query) = (Vec::new(), format!("?limit={limit}"));
        loop {
            let data = desk.get(&format!("/auth/sessions{query}")).await.expect_ok();
            walked.extend(data["sessions"].as_array().expect("a list").clone());
            let Some(cursor) = data["nextCursor"].as_str() else { break };
            query = format!("?limit={limit}&cursor={cursor}");
        }
        assert_eq!(walked, whole, "limit {limit}");
    }
    desk.get("/auth/sessions?limit=0").await.expect_invalid("limit");
    desk.get("/auth/sessions?limit=1001").await.expect_invalid("limit");
    desk.get("/auth/sessions?cursor=x").await.expect_invalid("cursor");
}

async fn ending_one_session_ends_it_at_once(app: &App) {
    let (desk, phone) = (app.member().logged_in().await, app.member().logged_in().await);
    let tablet = app.member().logged_in().await;
    let answer = desk.delete(&format!("/auth/sessions/{}", session_id(&phone))).await.expect(200);
    assert_eq!(shape(&answer.data()), ["message"]);
    assert!(answer.cookies().is_empty());
    expect_ended(app, &phone).await;
    expect_alive(app, &desk).await;
    expect_alive(app, &tablet).await;
    assert_eq!(sessions(&desk).await.len(), 2);
}

async fn ending_the_current_session_is_possible(app: &App) {
    let (desk, phone) = (app.member().logged_in().await, app.member().logged_in().await);
    let token = desk.access_token();
    desk.copied().delete(&format!("/auth/sessions/{}", session_id(&desk))).await.expect(200);
    assert!(!app.backend().finds_valid(&token).await);
    desk.get("/org").await.expect_no_session();
    expect_alive(app, &phone).await;
}

async fn ending_what_is_not_ones_own_is_404(app: &App) {
    let (here, there) = in_both(app).await;
    let (admin, gus) = (app.admin().logged_in().await, app.other_org().member().logged_in().await);
    let unknown = "ses_00000000000000000000000000".to_owned();
    for foreign in [session_id(&admin), session_id(&gus), session_id(&there), unknown] {
        here.delete(&format!("/auth/sessions/{foreign}")).await.expect_error(404, "not_found");
    }
    admin.delete(&format!("/auth/sessions/{}", session_id(&here))).await.expect_error(404, "not_found");
    for alive in [&admin, &gus, &here, &there] {
        alive.get("/org").await.expect(200);
    }
}

async fn ending_all_others_keeps_this_one(app: &App) {
    let devices = [app.member().logged_in().await, app.member().logged_in().await, app.member().logged_in().await];
    let admin = app.admin().logged_in().await;
    let answer = devices[1].delete("/auth/sessions").await.expect(200);
    assert_eq!(shape(&answer.data()), ["message"]);
    assert!(answer.cookies().is_empty());
    expect_ended(app, &devices[0]).await;
    expect_ended(app, &devices[2]).await;
    expect_alive(app, &devices[1]).await;
    expect_alive(app, &admin).await;
    devices[1].refresh().await.expect(200);
    assert_eq!(sessions(&devices[1]).await.len(), 1);
    devices[1].delete("/auth/sessions").await.expect(200);
    expect_alive(app, &devices[1]).await;
}

async fn ending_all_others_reaches_no_other_organization(app: &App) {
    let (here, there) = in_both(app).await;
    here.delete("/auth/sessions").await.expect(200);
    there.get("/org").await.expect(200);
    there.refresh().await.expect(200);
}

async fn a_session_is_ended_once(app: &App) {
    let (desk, phone) = (app.member().logged_in().await, app.member().logged_in().await);
    let path = format!("/auth/sessions/{}", session_id(&phone));
    desk.delete(&path).await.expect(200);
    desk.delete(&path).await.expect_error(404, "not_found");
}
