//! What a refusal costs and how long it lasts: it takes no turn at the database's writer, an undecided attempt holds its place for
//! seconds only, and a clock that is set back makes no wait longer than the longest there is.

use std::{
    future::IntoFuture,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::json;
use sqlx::{Connection, PgConnection, SqliteConnection};
use tenant_auth_conformance::{App, Caller, GatedHasher, PASSWORD, Response, logs, scenarios};
use tenant_auth_core::{
    Timestamp,
    ports::{Clock, MockClock},
};

use crate::suite::{
    auth::recovery::reset::forgot,
    limits::addresses::{at, behind_proxy},
    support::stored,
};

scenarios![
    a_refused_stranger_takes_no_turn_at_the_writer,
    an_undecided_attempt_holds_its_place_for_seconds,
    a_clock_set_back_makes_no_block_longer,
    the_log_tells_failed_logins_by_client_and_names_nobody,
];

const WRONG: &str = "not-the-password";
/// What PostgreSQL calls a writer that lets others read.
const NO_WRITES: &str =
    "BEGIN; LOCK TABLE tenant_auth_throttles, tenant_auth_users, tenant_auth_links, tenant_auth_invites IN EXCLUSIVE MODE";

/// A writer of the database that keeps every other writer out until it is dropped.
enum Writer {
    Sqlite { _held: SqliteConnection },
    Postgres { _held: PgConnection },
}

impl Writer {
    async fn of(app: &App) -> Self {
        if let Some(url) = app.database().url() {
            let mut held = PgConnection::connect(&url).await.expect("it answers");
            sqlx::raw_sql(NO_WRITES).execute(&mut held).await.expect("nobody writes");
            return Self::Postgres { _held: held };
        }
        let mut held = SqliteConnection::connect(&stored::file_url(app)).await.expect("it opens");
        sqlx::query("BEGIN IMMEDIATE").execute(&mut held).await.expect("nobody writes");
        Self::Sqlite { _held: held }
    }
}

async fn five_wrong(caller: &Caller) {
    for _ in 0..5 {
        caller.login_with(caller.email(), WRONG).await.expect_error(401, "invalid_credentials");
    }
}

async fn a_refused_stranger_takes_no_turn_at_the_writer(app: &App) {
    let member = app.member().logged_in().await;
    let gone = app.member().logged_in().await;
    let former = gone.refresh_token();
    gone.logout().await.expect(200);
    five_wrong(&app.member()).await;
    let anonymous = app.anonymous();
    for n in 0..30 {
        forgot(&anonymous, &format!("nobody{n}@acme.example")).await.expect(200);
    }
    let writer = Writer::of(app).await;
    let token = "0".repeat(43);
    let refused: [(_, u16); 9] = [
        (anonymous.refresh_with(&former), 401),
        (forgot(&anonymous, app.member().email()), 429),
        (app.member().login(), 429),
        (member.change_password(PASSWORD, "velvet-anchor-93-comet"), 429),
        (anonymous.preview(&token), 400),
        (anonymous.accept(&token, "Nora"), 400),
        (anonymous.post("/auth/reset-password", json!({ "token": token, "newPassword": "velvet-anchor-93-comet" })), 400),
        (anonymous.post("/auth/verify-email", json!({ "token": token, "password": PASSWORD })), 400),
        (member.post("/auth/change-email/confirm", json!({ "token": token })), 400),
    ];
    for (request, status) in refused {
        let answer = tokio::time::timeout(Duration::from_secs(3), request.may_fail().into_future()).await;
        answer.expect("it waits for no writer").expect(status);
    }
    drop(writer);
}

/// The writer of another process died, or its machine is slow: its attempts are given up, and the owner is let in.
async fn an_undecided_attempt_holds_its_place_for_seconds(app: &App) {
    let hasher = GatedHasher::new();
    let stuck = app.beside(|setup| setup.hasher = Some(Arc::clone(&hasher) as _)).await;
    for _ in 0..4 {
        app.member().login_with(app.member().email(), WRONG).await.expect(401);
    }
    let (began, mut lease) = (Instant::now(), None);
    let login = stuck.member().login().may_fail();
    // The gate opens only after the owner was let in at the other server.
    let first = hasher.meanwhile(login, async {
        lease = Some(stored::number(app, "SELECT MAX(pending_until) FROM tenant_auth_throttles").await);
        app.member().login().await.expect(200);
        assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    });
    first.await.expect_error(503, "unavailable");
    let most = app.clock.now().plus(Duration::from_secs(5));
    assert!(lease.expect("it was read") <= most.millis(), "if the process dies, its places are free by then");
}

#[track_caller]
fn waits(answer: Response, at_most: u64) -> u64 {
    let answer = answer.expect_error(429, "rate_limited");
    let seconds = answer.header("Retry-After").expect("a number").parse().expect("a number");
    assert!(seconds <= at_most, "{seconds}");
    seconds
}

async fn a_clock_set_back_makes_no_block_longer(app: &App) {
    five_wrong(&app.member()).await;
    let clock = Arc::new(MockClock::at(app.clock.now().minus(Duration::from_secs(3_600))));
    let set = Arc::clone(&clock);
    let earlier = app.beside(move |setup| setup.clock = set).await;
    let seconds = waits(earlier.member().login().await, 900);
    clock.advance(Duration::from_secs(seconds));
    earlier.member().login().await.expect(200);
    assert!(clock.now() < Timestamp::parse("2026-11-20T08:21:00.000Z").expect("a time"));
}

/// The line that the log has of a refused login.
fn logged(answer: &Response) -> String {
    let id = answer.header("X-Request-Id").expect("an id");
    let line = logs::lines_with(id).into_iter().find(|line| line.contains("login failed"));
    line.unwrap_or_else(|| panic!("the log has no line of {id}"))
}

/// What follows a field's name in a line.
fn field<'a>(line: &'a str, name: &str) -> &'a str {
    let (_, after) = line.split_once(&format!(" {name}=")).expect("the field");
    after.split_whitespace().next().expect("a value").trim_matches('"')
}

async fn the_log_tells_failed_logins_by_client_and_names_nobody(app: &App) {
    let app = behind_proxy(app).await;
    let wrong = |ip: &str| at(app.member(), ip).login_with(app.member().email(), "wrong-and-never-logged");
    let (first, second) = (wrong("203.0.113.71").await.expect(401), wrong("203.0.113.71").await.expect(401));
    let elsewhere = wrong("203.0.113.72").await.expect(401);
    for _ in 0..3 {
        wrong("203.0.113.71").await.expect(401);
    }
    let throttled = wrong("203.0.113.71").await.expect(429);
    let lines = [&first, &second, &elsewhere, &throttled].map(logged);
    for line in &lines {
        assert!(line.contains("INFO") && line.contains("organization_id=org_"), "{line}");
        assert!(!line.contains(app.member().email()) && !line.contains("203.0.113") && !line.contains("never-logged"), "{line}");
    }
    assert_eq!(
        lines.each_ref().map(|line| field(line, "reason")),
        [["invalid_credentials"; 3].as_slice(), &["rate_limited"]].concat()[..]
    );
    let [first, second, elsewhere, throttled] = lines.each_ref().map(|line| field(line, "client"));
    assert!(first == second && first == throttled && first != elsewhere, "{lines:?}");
}
