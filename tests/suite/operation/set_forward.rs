//! A clock that was set forward while the service runs: what would be over by it is not deleted, so that it is there when the clock is put
//! right.

use std::time::Duration;

use tenant_auth_conformance::{App, logs, scenarios};
use tenant_auth_core::ports::Clock;

use crate::suite::{operation::metrics::seen, support::stored::number};

scenarios![
    nothing_is_deleted_by_a_clock_that_leapt,
    no_organization_is_removed_by_a_clock_that_leapt,
    a_restart_believes_the_clock,
];

const DAY: Duration = Duration::from_secs(24 * 3_600);
const SESSIONS: &str = "SELECT COUNT(*) FROM tenant_auth_sessions";
const GLOBEX: &str = "SELECT COUNT(*) FROM tenant_auth_organizations WHERE slug = 'globex'";

async fn told(app: &App) -> Duration {
    Duration::from_secs_f64(seen(app).await["clock_leap_seconds"])
}

/// Lets the worker do what it takes for due while the clock is ahead, and puts the clock right.
async fn tick_with_clock_ahead(app: &App, by: Duration) {
    app.clock.set(app.clock.now().plus(by));
    app.tick().await;
    assert_eq!(told(app).await, by);
    app.clock.set(app.clock.now().minus(by));
    app.tick().await;
    assert_eq!(told(app).await, Duration::ZERO);
}

async fn nothing_is_deleted_by_a_clock_that_leapt(app: &App) {
    let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
    let token = app.invited(&admin, "nora@acme.example").await;
    tick_with_clock_ahead(app, DAY * 500).await;
    assert!(logs::mention("the clock was set forward by more than an hour"));
    member.get("/org").await.expect(200);
    app.anonymous().accept(&token, "Nora").await.expect(200);
    app.clock.advance(DAY * 500);
    app.tick().await;
    assert_eq!(number(app, SESSIONS).await, 0, "by time that has passed it is");
}

async fn no_organization_is_removed_by_a_clock_that_leapt(app: &App) {
    let slug = "globex".parse().expect("a slug");
    app.auth.operator().delete_organization(&slug).await.expect("it is there");
    tick_with_clock_ahead(app, DAY * 31).await;
    app.auth.operator().cancel_deletion(&slug).await.expect("it is there still");
    app.auth.operator().delete_organization(&slug).await.expect("it is there");
    app.clock.advance(DAY * 31);
    app.tick().await;
    assert_eq!(number(app, GLOBEX).await, 0);
}

async fn a_restart_believes_the_clock(app: &App) {
    app.member().logged_in().await;
    app.clock.set(app.clock.now().plus(DAY * 500));
    app.tick().await;
    assert_eq!(number(app, SESSIONS).await, 1);
    let app = app.beside(|_| {}).await;
    assert_eq!(told(&app).await, Duration::ZERO);
    app.tick().await;
    assert_eq!(number(&app, SESSIONS).await, 0);
}
