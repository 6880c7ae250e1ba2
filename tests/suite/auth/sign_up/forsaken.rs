//! Organizations that sign-up made and to which nobody comes back (behaviour.md, B202).

use tenant_auth_conformance::{App, Caller, PASSWORD, scenarios};
use tenant_auth_core::{
    Principal,
    http::Gate,
    model::{Organization, Status},
    value::Slug,
};

use super::founded;
use crate::suite::support::stored::events_of;

scenarios![
    one_that_nobody_came_back_to_is_deleted,
    the_hour_in_which_it_is_made_is_no_coming_back,
    whoever_signs_in_again_keeps_it,
    whoever_refreshes_a_session_keeps_it,
    whoever_is_refreshed_at_a_gate_keeps_it,
    whoever_invites_somebody_keeps_it,
    what_an_operator_suspended_is_left_to_the_operator,
    what_others_made_is_left_alone,
    an_order_of_this_kind_is_cancelled_as_any_other,
];

const HOUR: u64 = 3_600;
const DAY: u64 = 24 * HOUR;

fn slug() -> Slug {
    "rockets".parse().expect("a slug")
}

async fn rockets(app: &App) -> Organization {
    let all = app.auth.operator().organizations().await.expect("a list");
    all.into_iter().find(|org| org.slug == slug()).expect("it is there")
}

async fn rita(app: &App) -> Caller {
    founded(app, "rita@rockets.example", "rockets").await
}

/// Whether the organization stays when its fourteen days are over, for good.
async fn stays(app: &App) -> bool {
    app.advance(14 * DAY);
    app.tick().await;
    app.advance(60 * DAY);
    app.tick().await;
    let org = rockets(app).await;
    (org.status, org.deletes_at) == (Status::Active, None)
}

async fn one_that_nobody_came_back_to_is_deleted(app: &App) {
    rita(app).await;
    app.advance(14 * DAY - 1);
    app.tick().await;
    assert_eq!(rockets(app).await.status, Status::Active);
    app.advance(1);
    app.tick().await;
    let ordered = rockets(app).await;
    assert_eq!((ordered.status, ordered.deletes_at.is_some()), (Status::Suspended, true));
    let again = app.anonymous().at_org("rockets");
    again.login_with("rita@rockets.example", PASSWORD).await.expect_error(403, "suspended");
    let told = app.mail_to("rita@rockets.example").await;
    assert!(told.iter().any(|mail| mail.subject == "Your organization is going to be deleted"), "{told:?}");
    let events = events_of(app, "rockets").await;
    let ordered = events.iter().find(|event| event["type"] == "org.deletion_scheduled").expect("it is told");
    assert_eq!(ordered["actor"]["type"], "system");
    app.advance(30 * DAY);
    app.tick().await;
    app.advance(60);
    app.tick().await;
    assert!(app.auth.tenant(&slug()).await.is_err(), "it is unknown");
    let account = app.auth.operator().delete_user(&"rita@rockets.example".parse().expect("an address")).await;
    assert!(account.is_err(), "the account went with its last membership");
}

async fn the_hour_in_which_it_is_made_is_no_coming_back(app: &App) {
    let rita = rita(app).await;
    app.advance(HOUR - 1);
    rita.refresh().await.expect(200);
    app.anonymous().at_org("rockets").login_with("rita@rockets.example", PASSWORD).await.expect(200);
    assert!(!stays_active(app).await);
}

async fn stays_active(app: &App) -> bool {
    app.advance(14 * DAY);
    app.tick().await;
    rockets(app).await.status == Status::Active
}

async fn whoever_signs_in_again_keeps_it(app: &App) {
    rita(app).await;
    app.advance(HOUR);
    let again = app.anonymous().at_org("rockets");
    again.login_with("rita@rockets.example", "not-the-password").await.expect(401);
    again.login_with("rita@rockets.example", PASSWORD).await.expect(200);
    assert!(stays(app).await);
}

async fn whoever_refreshes_a_session_keeps_it(app: &App) {
    let rita = rita(app).await;
    app.advance(DAY);
    rita.refresh().await.expect(200);
    // The session is over long before the fourteen days are.
    rita.post_nothing("/auth/logout").await.expect(200);
    assert!(stays(app).await);
}

async fn whoever_is_refreshed_at_a_gate_keeps_it(app: &App) {
    let rita = rita(app).await;
    app.advance(DAY);
    let request = http::Request::get("/reports").header("X-Org-Slug", "rockets").header("Cookie", rita.jar().header());
    let visitor = Gate::new(app.auth.clone()).visitor(request.body(()).expect("a request"), None);
    visitor.admit::<Principal>().await.map(drop).expect("her session is live");
    visitor.depart().await;
    assert!(visitor.leaves_something(), "it was refreshed");
    assert!(stays(app).await);
}

async fn whoever_invites_somebody_keeps_it(app: &App) {
    rita(app).await.invite("max@rockets.example").await.expect(201);
    assert!(stays(app).await);
}

async fn what_an_operator_suspended_is_left_to_the_operator(app: &App) {
    rita(app).await;
    app.auth.operator().set_organization_status(&slug(), Status::Suspended).await.expect("suspended");
    app.advance(14 * DAY);
    app.tick().await;
    assert_eq!(rockets(app).await.deletes_at, None);
    app.auth.operator().set_organization_status(&slug(), Status::Active).await.expect("active");
    app.tick().await;
    assert_eq!(rockets(app).await.status, Status::Active);
}

async fn what_others_made_is_left_alone(app: &App) {
    app.advance(60 * DAY);
    app.tick().await;
    let all = app.auth.operator().organizations().await.expect("a list");
    assert!(all.iter().all(|org| org.status == Status::Active));
}

async fn an_order_of_this_kind_is_cancelled_as_any_other(app: &App) {
    rita(app).await;
    assert!(!stays_active(app).await);
    app.auth.operator().cancel_deletion(&slug()).await.expect("cancelled");
    app.auth.operator().set_organization_status(&slug(), Status::Active).await.expect("active");
    assert!(stays(app).await);
}
