//! The rounds of the worker's loops, as metrics tell them: a loop that does not get on is seen, whatever the others do.

use std::time::Duration;

use tenant_auth_conformance::{App, hold_sql, scenarios};
use tokio::sync::oneshot;

use crate::suite::{
    operation::metrics::seen,
    support::{hooks::run_sql, stored::file_url},
};

scenarios![on each database:
    each_loop_tells_when_it_last_did_what_was_due,
    a_loop_that_fails_shows_by_its_age,
    a_loop_that_fails_from_the_start_shows_too,
    a_long_sweep_is_not_late_and_one_that_fails_each_time_is,
    a_sweep_ends_where_the_worker_is_told_to_stop,
];

const LOOPS: [&str; 6] = ["deliveries", "mails", "reset_requests", "sign_ups", "removals", "sweep"];
/// Without it no mail can be looked for.
const NO_MAILS: &str = "ALTER TABLE tenant_auth_mails RENAME TO tenant_auth_put_away";
/// Without it what a sweep deletes last cannot be.
const NO_TALLIES: &str = "ALTER TABLE tenant_auth_tallies RENAME TO tenant_auth_put_away";
const TALLIES: &str = "ALTER TABLE tenant_auth_put_away RENAME TO tenant_auth_tallies";
const MINUTE: u64 = 60;

/// How old the last round of each loop is, in seconds.
async fn ages(app: &App) -> Vec<(&'static str, f64)> {
    let seen = seen(app).await;
    let age = |of| Some((of, *seen.get(&format!("worker_last_round_age_seconds{{loop=\"{of}\"}}"))?));
    LOOPS.into_iter().filter_map(age).collect()
}

async fn age(app: &App, of: &str) -> f64 {
    ages(app).await.into_iter().find(|(name, _)| *name == of).expect("it works").1
}

fn all(age: f64) -> Vec<(&'static str, f64)> {
    LOOPS.into_iter().map(|of| (of, age)).collect()
}

async fn each_loop_tells_when_it_last_did_what_was_due(app: &App) {
    assert_eq!(ages(app).await, [], "it has not worked yet");
    app.tick().await;
    assert_eq!(ages(app).await, all(0.0));
    app.advance(31 * 24 * 60 * MINUTE);
    assert_eq!(ages(app).await, all(31.0 * 24.0 * 60.0 * 60.0));
    app.clock.set(tenant_auth_core::Timestamp::from_secs(0));
    assert_eq!(ages(app).await, all(31.0 * 24.0 * 60.0 * 60.0), "by a clock that nobody sets");
}

/// A worker that goes on until its sender is gone.
fn working(app: &App) -> oneshot::Sender<()> {
    let (stop, stopped) = oneshot::channel::<()>();
    let worker = app.auth.worker();
    tokio::spawn(async move { worker.run_until(async { drop(stopped.await) }).await });
    stop
}

async fn until_fresh(app: &App, of: &str) {
    while age(app, of).await > 0.0 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn a_loop_that_fails_shows_by_its_age(app: &App) {
    let _working = working(app);
    while ages(app).await.len() < LOOPS.len() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    app.tick().await;
    run_sql(app, NO_MAILS).await;
    // A round that was under way may end well meanwhile; none after it does.
    for _ in 0..2 {
        app.advance(6 * MINUTE);
        for of in ["deliveries", "reset_requests", "sign_ups", "removals"] {
            until_fresh(app, of).await;
        }
    }
    let mails = age(app, "mails").await;
    assert!([360.0, 720.0].contains(&mails), "it fails, and the others do not: {mails}");
}

async fn a_loop_that_fails_from_the_start_shows_too(app: &App) {
    run_sql(app, NO_MAILS).await;
    let _working = working(app);
    while ages(app).await.len() < LOOPS.len() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    app.advance(6 * MINUTE);
    until_fresh(app, "deliveries").await;
    assert_eq!(age(app, "mails").await, 360.0);
}

async fn a_long_sweep_is_not_late_and_one_that_fails_each_time_is(app: &App) {
    app.tick().await;
    run_sql(app, NO_TALLIES).await;
    app.advance(6 * MINUTE);
    app.auth.worker().tick().await.expect_err("the last kind cannot be deleted");
    assert_eq!(age(app, "sweep").await, 0.0, "the others were, and a round that gets on is not late");
    app.advance(6 * MINUTE);
    app.auth.worker().tick().await.expect_err("the last kind cannot be deleted");
    assert_eq!(age(app, "sweep").await, 360.0, "what fails each time gets on before that, too");
    run_sql(app, TALLIES).await;
    app.tick().await;
    assert_eq!(age(app, "sweep").await, 0.0);
}

async fn a_sweep_ends_where_the_worker_is_told_to_stop(app: &App) {
    app.tick().await; // so that only the sweep has something to do
    let (url, hold) = match app.database().url() {
        Some(url) => (url, "BEGIN; LOCK TABLE tenant_auth_sessions IN EXCLUSIVE MODE"),
        None => (file_url(app), "BEGIN IMMEDIATE"),
    };
    let held = hold_sql(&url, hold).expect("it is held");
    let (stop, stopped) = oneshot::channel::<()>();
    let worker = app.auth.worker();
    let running = tokio::spawn(async move { worker.run_until(async { drop(stopped.await) }).await });
    tokio::time::sleep(Duration::from_millis(500)).await; // it waits for what is held
    stop.send(()).expect("it works");
    tokio::time::timeout(Duration::from_secs(2), running).await.expect("nothing is waited for").expect("it stops");
    tokio::task::spawn_blocking(move || drop(held)).await.expect("it ends");
}
