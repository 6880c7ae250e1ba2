//! Sessions in time and number: how long they last, how many there may be, and that an end is an end at once.

use serde_json::json;
use tenant_auth_conformance::{App, Caller, PASSWORD, scenarios};
use tenant_auth_core::operator::SessionsOf;
use tokio::{io::AsyncWriteExt, net::TcpStream};

use crate::suite::support::{account::guard, authenticator::SecondFactor};

scenarios![
    an_access_token_lasts_exactly_fifteen_minutes,
    the_twenty_first_session_ends_the_oldest,
    the_limit_counts_each_organization_for_itself,
    an_expired_session_makes_room,
    an_admin_ends_a_members_sessions_here_only,
    ending_the_sessions_of_a_stranger_is_404,
    the_operator_ends_sessions,
    revoked_sessions_end_logins_that_wait,
    a_lost_reply_is_no_loss,
];

async fn an_access_token_lasts_exactly_fifteen_minutes(app: &App) {
    let member = app.member().logged_in().await;
    app.clock.advance(std::time::Duration::from_millis(899_999));
    member.get("/org").await.expect(200);
    app.clock.advance(std::time::Duration::from_millis(1));
    member.get("/org").await.expect_no_session();
}

async fn the_twenty_first_session_ends_the_oldest(app: &App) {
    let mut devices = Vec::new();
    for _ in 0..20 {
        devices.push(app.member().logged_in().await);
        app.advance(1);
    }
    for device in &devices {
        device.get("/org").await.expect(200);
    }
    devices.push(app.member().logged_in().await);
    devices[0].get("/org").await.expect_no_session();
    devices[0].refresh().await.expect_no_session();
    for device in &devices[1..] {
        device.get("/org").await.expect(200);
    }
    app.admin().logged_in().await.get("/org").await.expect(200);
}

/// Max, who is a member of the neighbour too.
async fn in_both(app: &App) -> (Caller, Caller) {
    let greta = app.other_org().admin().logged_in().await;
    greta.invite(app.member().email()).await.expect(201);
    let token = app.link_token_of(app.member().email()).await;
    let there = app.other_org().device_of(app.member().person());
    there.accept_with_account(&token).await.expect(200);
    (app.member().logged_in().await, there)
}

async fn the_limit_counts_each_organization_for_itself(app: &App) {
    let (here, there) = in_both(app).await;
    for _ in 0..20 {
        app.advance(1);
        app.member().logged_in().await;
    }
    here.get("/org").await.expect_no_session();
    there.get("/org").await.expect(200);
}

async fn an_expired_session_makes_room(app: &App) {
    let old: Vec<Caller> = vec![app.member().logged_in().await, app.member().logged_in().await];
    app.advance(30 * 24 * 60 * 60);
    let mut devices = Vec::new();
    for _ in 0..20 {
        devices.push(app.member().logged_in().await);
    }
    for device in &devices {
        device.get("/org").await.expect(200);
    }
    old[0].refresh().await.expect_no_session();
}

async fn an_admin_ends_a_members_sessions_here_only(app: &App) {
    let (here, there) = in_both(app).await;
    let phone = app.member().logged_in().await;
    let admin = app.admin().logged_in().await;
    let data = admin.delete(&format!("/org/members/{}/sessions", here.id())).await.expect_ok();
    assert!(data["message"].is_string());
    for ended in [&here, &phone] {
        ended.get("/org").await.expect_no_session();
        ended.refresh().await.expect_no_session();
    }
    there.get("/org").await.expect(200);
    admin.get("/org").await.expect(200);
    app.anonymous().post("/auth/login", json!({ "email": here.email(), "password": PASSWORD })).await.expect(200);
}

async fn ending_the_sessions_of_a_stranger_is_404(app: &App) {
    let gus = app.other_org().member().logged_in().await;
    let admin = app.admin().logged_in().await;
    admin.delete(&format!("/org/members/{}/sessions", gus.id())).await.expect_error(404, "not_found");
    gus.get("/org").await.expect(200);
}

async fn the_operator_ends_sessions(app: &App) {
    let (here, there) = in_both(app).await;
    let admin = app.admin().logged_in().await;
    let end = async |whose: SessionsOf| app.auth.operator().revoke_sessions(whose).await.expect("they can be ended");
    end(SessionsOf::User(here.email().parse().expect("an address"))).await;
    here.get("/org").await.expect_no_session();
    there.get("/org").await.expect_no_session();
    admin.get("/org").await.expect(200);
    let (gus, member) = (app.other_org().member().logged_in().await, app.member().logged_in().await);
    end(SessionsOf::Organization("acme".parse().expect("a slug"))).await;
    for ended in [&admin, &member] {
        ended.get("/org").await.expect_no_session();
        ended.refresh().await.expect_no_session();
    }
    gus.get("/org").await.expect(200);
    end(SessionsOf::All).await;
    gus.refresh().await.expect_no_session();
    app.member().login().await.expect(200);
}

async fn revoked_sessions_end_logins_that_wait(app: &App) {
    let code = guard(app, &app.member().logged_in().await).await.fresh_code(app);
    let user = SessionsOf::User(app.member().email().parse().expect("an address"));
    for whose in [user, SessionsOf::Organization("acme".parse().expect("a slug")), SessionsOf::All] {
        let waiting = app.member().waiting().await;
        app.auth.operator().revoke_sessions(whose).await.expect("they can be ended");
        waiting.enter(&code).await.expect_error(401, "second_factor_failed");
    }
    app.member().waiting().await.enter(&code).await.expect(200);
}

/// A tab that is closed, or a connection that breaks, between question and answer.
async fn a_lost_reply_is_no_loss(app: &App) {
    let member = app.member().logged_in().await;
    for _ in 0..10 {
        let head = format!(
            "POST /api/v1/auth/refresh HTTP/1.1\r\nHost: x\r\nX-Org-Slug: acme\r\nContent-Length: 0\r\nCookie: refresh_token={}\r\n\r\n",
            member.refresh_token()
        );
        let mut stream = TcpStream::connect(app.address()).await.expect("it listens");
        stream.write_all(head.as_bytes()).await.expect("it reads");
        drop(stream);
        member.refresh().await.expect(200);
        member.get("/org").await.expect(200);
        app.advance(1);
    }
}
