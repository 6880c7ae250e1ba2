//! What counts as a failed login and what does not, at the edges: odd passwords, bad bodies, lost replies, the sweeper
//! (behaviour.md, B81).

use std::{future::IntoFuture, sync::Arc};

use serde_json::json;
use tenant_auth_conformance::{App, GatedHasher, PASSWORD, Request, scenarios};
use tokio::{io::AsyncWriteExt, net::TcpStream};

use crate::suite::support::authenticator::{SecondFactor, guarded_member};

scenarios![
    odd_passwords_count_too,
    a_request_that_is_none_does_not_count,
    sweeping_forgets_nothing_too_early,
    sweeping_ends_no_wait,
    a_lost_reply_holds_no_place,
    nothing_is_hashed_during_a_wait,
    an_undecided_login_makes_others_wait,
    a_failing_login_lets_the_waiting_ones_know,
];

const WRONG: &str = "not-the-password";

fn wrong(app: &App) -> Request {
    app.anonymous().login_with(app.member().email(), WRONG)
}

async fn odd_passwords_count_too(app: &App) {
    for odd in [String::new(), "x".repeat(300), "\u{e9}".repeat(20_000), " ".to_owned(), format!("{PASSWORD} ")] {
        app.anonymous().login_with(app.member().email(), &odd).await.expect_error(401, "invalid_credentials");
    }
    app.member().login().await.expect_error(429, "rate_limited");
}

async fn a_request_that_is_none_does_not_count(app: &App) {
    let email = app.member().email().to_owned();
    for _ in 0..6 {
        app.anonymous().post("/auth/login", json!({ "email": email })).await.expect_invalid("password");
        app.anonymous().post("/auth/login", json!({ "email": email, "password": 7 })).await.expect_invalid("password");
        app.anonymous().request("POST", "/auth/login").text("{").await.expect(400);
        wrong(app).without("X-Org-Slug").await.expect_error(400, "invalid_slug");
        wrong(app).replacing("X-Org-Slug", "nowhere").await.expect_error(404, "unknown_organization");
        wrong(app).from_origin("https://evil.example").await.expect_error(403, "forbidden_origin");
    }
    app.member().login().await.expect(200);
}

async fn sweeping_forgets_nothing_too_early(app: &App) {
    wrong(app).await.expect(401);
    for _ in 0..14 {
        app.advance(60);
        app.tick().await;
    }
    for _ in 0..4 {
        wrong(app).await.expect(401);
        app.tick().await;
    }
    for left in [60, 59] {
        let refused = app.member().login().await.expect_error(429, "rate_limited");
        assert_eq!(refused.header("Retry-After"), Some(left.to_string().as_str()));
        app.advance(1);
        app.tick().await;
    }
}

async fn sweeping_ends_no_wait(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    let device = app.member().waiting().await;
    for _ in 0..5 {
        app.tick().await;
        app.advance(59);
    }
    app.tick().await;
    device.enter(&authenticator.code(app)).await.expect(200);
}

/// The clock stands still: a place that was not given back would never be.
async fn a_lost_reply_holds_no_place(app: &App) {
    let body = json!({ "email": app.member().email(), "password": PASSWORD }).to_string();
    let head = format!(
        "POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nX-Org-Slug: acme\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    for n in 0..20 {
        let mut stream = TcpStream::connect(app.address()).await.expect("it listens");
        stream.write_all(head.as_bytes()).await.expect("it reads");
        stream.write_all(body.as_bytes()).await.expect("it reads");
        tokio::time::sleep(std::time::Duration::from_millis(n % 5)).await;
        drop(stream);
    }
    for _ in 0..4 {
        wrong(app).await.expect(401);
    }
    app.member().login().await.expect(200);
}

/// Guesses cost nothing then, and neither can they be used to exhaust the machine.
async fn nothing_is_hashed_during_a_wait(app: &App) {
    let hasher = GatedHasher::new();
    let counted = app.beside(|setup| setup.hasher = Some(Arc::clone(&hasher) as _)).await;
    for _ in 0..5 {
        wrong(&counted).await.expect(401);
    }
    assert_eq!(hasher.verified(), 5);
    for _ in 0..5 {
        wrong(&counted).await.expect(429);
    }
    assert_eq!(hasher.verified(), 5);
}

/// With one try left, the second login waits for the verdict on the first rather than fail.
async fn an_undecided_login_makes_others_wait(app: &App) {
    let hasher = GatedHasher::new();
    let gated = app.beside(|setup| setup.hasher = Some(Arc::clone(&hasher) as _)).await;
    for _ in 0..4 {
        wrong(app).await.expect(401);
    }
    let mut second = None;
    let first = hasher.meanwhile(gated.member().login(), async { second = Some(waiting_behind(app.member().login()).await) });
    first.await.expect(200);
    second.expect("it was sent").await.expect("it was answered").expect(200);
}

async fn a_failing_login_lets_the_waiting_ones_know(app: &App) {
    let hasher = GatedHasher::new();
    let gated = app.beside(|setup| setup.hasher = Some(Arc::clone(&hasher) as _)).await;
    for _ in 0..4 {
        wrong(app).await.expect(401);
    }
    let mut second = None;
    let first = hasher.meanwhile(wrong(&gated), async { second = Some(waiting_behind(app.member().login()).await) });
    first.await.expect(401);
    second.expect("it was sent").await.expect("it was answered").expect_error(429, "rate_limited");
}

/// Sends a request that must not be answered yet.
async fn waiting_behind(request: Request) -> tokio::task::JoinHandle<tenant_auth_conformance::Response> {
    let sent = tokio::spawn(request.into_future());
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    assert!(!sent.is_finished(), "it waits for the verdict");
    sent
}
