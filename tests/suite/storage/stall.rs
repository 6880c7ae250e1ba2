//! When the database is there and does not answer, because its machine stands still or the network loses the answers: a request waits
//! for a few seconds, not for as long as the stall lasts. And when a host gives up a call of the library, the connection is as it was.
//! Only PostgreSQL can be so; elsewhere there is nothing to tell.

use std::{
    future::{IntoFuture, poll_fn},
    pin::pin,
    process::Command,
    task::Poll,
    time::Duration,
};

use serde_json::json;
use sqlx::{Connection, PgConnection};
use tenant_auth_conformance::{App, scenarios};
use tenant_auth_core::model::Status;

scenarios![a_request_whose_statement_is_never_answered_is_503_soon, a_call_that_is_given_up_leaves_no_transaction_open,];

/// How often a call is polled at most before it is given up: more often than this one waits.
const POLLS: u32 = 20;

/// A server process of PostgreSQL that stands still until this is dropped.
struct Stopped(String);

impl Stopped {
    fn new(process: i32) -> Self {
        signal("-STOP", &process.to_string());
        Self(process.to_string())
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        signal("-CONT", &self.0);
    }
}

fn signal(signal: &str, process: &str) {
    assert!(Command::new("kill").args([signal, process]).status().expect("kill runs").success());
}

async fn a_request_whose_statement_is_never_answered_is_503_soon(app: &App) {
    let Some(url) = app.database().url() else { return };
    let member = app.member().logged_in().await;
    let mut other = PgConnection::connect(&url).await.expect("it answers");
    let lock = "BEGIN; SELECT id FROM tenant_auth_organizations FOR UPDATE";
    sqlx::raw_sql(lock).execute(&mut other).await.expect("the rows are free");

    let change = |name: &str| member.put("/auth/profile", json!({ "name": name }));
    let changing = tokio::spawn(change("Max Stalled").may_fail().into_future());
    let stopped = Stopped::new(waiting_process(&mut other).await);
    let answer = tokio::time::timeout(Duration::from_secs(10), changing).await.expect("an answer, although the database has none");
    answer.expect("it was answered").expect_error(503, "unavailable");
    drop(stopped);
    other.close().await.expect("the lock is free");
    change("Max Again").await.expect(200);
}

/// The server process whose statement waits for a lock.
async fn waiting_process(database: &mut PgConnection) -> i32 {
    let waiting = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    loop {
        // A transaction sees the activity of the moment at which it first looked.
        sqlx::raw_sql("SELECT pg_stat_clear_snapshot()").execute(&mut *database).await.expect("it answers");
        if let Some(process) = sqlx::query_scalar(waiting).fetch_optional(&mut *database).await.expect("it answers") {
            return process;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn a_call_that_is_given_up_leaves_no_transaction_open(app: &App) {
    let Some(url) = app.database().url() else { return };
    let (operator, acme) = (app.auth.operator(), "acme".parse().expect("a slug"));
    for polls in (1..POLLS).cycle().take(200) {
        given_up_after(polls, pin!(operator.set_organization_status(&acme, Status::Active))).await;
    }
    let mut beside = PgConnection::connect(&url).await.expect("it answers");
    let open = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'";
    for _ in 0..300 {
        let left: i64 = sqlx::query_scalar(open).fetch_one(&mut beside).await.expect("it answers");
        if left == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("transactions are left open on connections that others get");
}

/// Polls a call so often, and drops it then wherever it is.
async fn given_up_after(polls: u32, mut call: impl Future + Unpin) {
    let mut left = polls;
    poll_fn(|context| {
        left -= 1;
        if pin!(&mut call).poll(context).is_ready() || left == 0 { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}
