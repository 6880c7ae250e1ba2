//! How long the audit log is kept: events, and what was known of their requests.

use serde_json::Value;
use tenant_auth_conformance::{App, scenarios};
use tenant_auth_core::{operator::NewOrganization, ports::Clock};

use crate::suite::support::{
    chain::{column, head, verified},
    hooks::{Hook, RECEIVER, run_sql, texts_in},
};

scenarios![
    events_are_kept_four_hundred_days,
    what_is_kept_is_still_one_chain,
    zero_keeps_events_for_ever,
    an_event_that_waits_for_its_delivery_stays_with_all_that_came_after_it,
    deliveries_that_are_over_go_with_their_event,
    what_one_organization_keeps_holds_up_no_other,
    many_organizations_are_shortened_in_one_go,
    a_long_log_is_shortened_in_one_go,
    contexts_are_wiped_after_ninety_days,
    contexts_are_never_written_where_they_are_not_kept,
];

const MINUTE: u64 = 60;
const DAY: u64 = 24 * 60 * MINUTE;
/// The sweep comes some minutes late: the clocks of several servers differ.
const LATE: u64 = 11 * MINUTE;

async fn events_are_kept_four_hundred_days(app: &App) {
    app.member().logged_in().await;
    let events = column(app, "acme", "id").await;
    app.advance(400 * DAY);
    app.tick().await;
    assert_eq!(column(app, "acme", "id").await.last(), events.last(), "those of that day");
    app.advance(LATE);
    app.tick().await;
    assert!(column(app, "acme", "id").await.is_empty());
    app.member().logged_in().await;
    assert_eq!(verified(app, "acme").await, ["session.created"], "the chain goes on where it was");
    assert_eq!(column(app, "acme", "sequence").await, [(events.len() + 1).to_string()]);
}

async fn what_is_kept_is_still_one_chain(app: &App) {
    let app = &app.beside(|setup| setup.config.audit.retention_days = 2).await;
    for _ in 0..4 {
        app.member().logged_in().await;
        app.advance(DAY);
    }
    let all = column(app, "acme", "sequence").await;
    app.tick().await;
    let kept = column(app, "acme", "sequence").await;
    assert!((1..all.len()).contains(&kept.len()), "{kept:?} of {all:?}");
    assert_eq!(kept, all[all.len() - kept.len()..], "the newest");
    assert_eq!(head(app, "acme", "first_sequence").await, kept[0]);
    verified(app, "acme").await;
}

async fn zero_keeps_events_for_ever(app: &App) {
    let app = &app.beside(|setup| setup.config.audit.retention_days = 0).await;
    app.member().logged_in().await;
    let events = column(app, "acme", "id").await;
    app.advance(40_000 * DAY);
    app.tick().await;
    assert_eq!(column(app, "acme", "id").await, events);
}

async fn an_event_that_waits_for_its_delivery_stays_with_all_that_came_after_it(app: &App) {
    let app = &app.beside(|setup| setup.config.audit.retention_days = 1).await;
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["session.created"]).await;
    hook.answers(app, &[503]);
    app.member().logged_in().await;
    app.tick().await;
    app.anonymous().post("/auth/login", serde_json::json!({ "email": "x@example.com", "password": "wrong" })).await.expect(401);
    app.member().logged_in().await.logout().await.expect(200);
    let told = column(app, "acme", "kind").await;
    app.advance(2 * DAY);
    app.tick().await;
    let kept = column(app, "acme", "kind").await;
    assert!(kept.len() < told.len(), "what came before is gone");
    assert_eq!(kept, ["session.created", "session.created", "session.revoked"]);
    verified(app, "acme").await;
    app.advance(31 * DAY);
    app.tick().await;
    app.tick().await;
    let kept = column(app, "acme", "kind").await;
    assert!(!kept.contains(&"session.revoked".to_owned()), "nothing waits any more: {kept:?}");
    verified(app, "acme").await;
}

async fn deliveries_that_are_over_go_with_their_event(app: &App) {
    let app = &app.beside(|setup| setup.config.audit.retention_days = 2).await;
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    hook.answers(app, &[200]);
    let deliveries = "SELECT status FROM tenant_auth_deliveries";
    for name in ["Acme once more", "Acme again"] {
        let admin = app.admin().logged_in().await;
        admin.patch("/org", serde_json::json!({ "name": name })).await.expect(200);
        app.tick().await;
        app.advance(DAY);
    }
    assert_eq!(texts_in(app, deliveries).await, ["succeeded", "succeeded"]);
    app.advance(LATE);
    app.tick().await;
    assert_eq!(texts_in(app, deliveries).await, ["succeeded"], "the younger");
    assert_eq!(column(app, "acme", "kind").await.iter().filter(|kind| *kind == "org.updated").count(), 1);
    verified(app, "acme").await;
}

/// More old entries behind a delivery that waits than one sweep removes.
async fn what_one_organization_keeps_holds_up_no_other(app: &App) {
    let app = &app.beside(|setup| setup.config.audit.retention_days = 1).await;
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    hook.answers(app, &[503]);
    admin.patch("/org", serde_json::json!({ "name": "Acme once more" })).await.expect(200);
    app.tick().await;
    // What came before the delivery goes, and the delivery holds the rest.
    app.advance(2 * DAY);
    app.tick().await;
    let org = texts_in(app, "SELECT id FROM tenant_auth_organizations WHERE slug = 'acme'").await.remove(0);
    let (first, at) = (head(app, "acme", "chained").await, app.clock.now().millis() - 4 * 24 * 3_600 * 1_000);
    let behind = format!(
        "INSERT INTO tenant_auth_events (id, org_id, sequence, kind, created_at, hash)
         WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1200)
         SELECT 'evt_old_' || n, '{org}', {first} + n, 'org.updated', {at}, 'x' FROM numbers"
    );
    run_sql(app, &behind).await;
    app.other_org().admin().logged_in().await;
    let told = column(app, "globex", "id").await;
    app.advance(2 * DAY);
    app.tick().await;
    let left = column(app, "globex", "id").await;
    assert!(left.len() < told.len(), "{} of {}", left.len(), told.len());
    assert!(column(app, "acme", "id").await.len() > 1_200, "one of it waits for its delivery");
}

/// More than one transaction takes.
async fn many_organizations_are_shortened_in_one_go(app: &App) {
    for number in 0..45 {
        let (slug, email) = (format!("many-{number}"), format!("admin{number}@many.example"));
        let new = NewOrganization::new(
            "One of Many".parse().expect("a name"),
            slug.parse().expect("a slug"),
            email.parse().expect("an address"),
        );
        app.auth.operator().create_organization(new).await.expect("it is new");
    }
    let old = "SELECT e.kind FROM tenant_auth_events e JOIN tenant_auth_organizations o ON o.id = e.org_id
                WHERE o.slug LIKE 'many-%' AND e.kind <> 'audit.checkpoint'";
    assert!(texts_in(app, old).await.len() >= 45);
    // What no webhook waits for any more.
    app.tick().await;
    app.advance(400 * DAY + LATE);
    app.tick().await;
    assert_eq!(texts_in(app, old).await, Vec::<String>::new());
}

/// Again more than one transaction takes.
async fn a_long_log_is_shortened_in_one_go(app: &App) {
    app.tick().await;
    let (last, at) = (head(app, "acme", "chained").await, app.clock.now().millis());
    let long = format!(
        "INSERT INTO tenant_auth_events (id, org_id, sequence, kind, created_at, hash)
         WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2500)
         SELECT 'evt_old_' || n, o.id, {last} + n, 'org.updated', {at}, 'x'
           FROM numbers, tenant_auth_organizations o
          WHERE o.slug = 'acme'"
    );
    run_sql(app, &long).await;
    run_sql(
        app,
        "UPDATE tenant_auth_event_sequences SET sequence = sequence + 2500, chained = chained + 2500
          WHERE org_id = (SELECT id FROM tenant_auth_organizations WHERE slug = 'acme')",
    )
    .await;
    app.advance(400 * DAY + LATE);
    app.tick().await;
    let old = "SELECT id FROM tenant_auth_events WHERE id LIKE 'evt_old_%'";
    assert_eq!(texts_in(app, old).await, Vec::<String>::new());
}

async fn contexts_are_wiped_after_ninety_days(app: &App) {
    app.member().logged_in().await;
    let before = column(app, "acme", "context").await;
    let told: Value = serde_json::from_str(before.last().expect("one")).expect("JSON");
    assert_eq!(told["ip"], "127.0.0.1");
    app.advance(90 * DAY);
    app.tick().await;
    assert_eq!(column(app, "acme", "context").await, before);
    app.advance(LATE);
    app.tick().await;
    assert_eq!(column(app, "acme", "context").await.last().map(String::as_str), Some(""));
    assert_eq!(column(app, "acme", "context_salt").await.last().map(String::as_str), Some(""));
    assert_ne!(column(app, "acme", "data").await.last().map(String::as_str), Some(""), "the data stay");
    verified(app, "acme").await;
}

async fn contexts_are_never_written_where_they_are_not_kept(app: &App) {
    let app = &app.beside(|setup| setup.config.audit.context_days = 0).await;
    app.member().logged_in().await;
    for _ in 0..6 {
        app.anonymous().login_with(app.member().email(), "not-the-password").may_fail().await;
    }
    let mut kinds = Vec::new();
    while !kinds.iter().any(|kind| kind == "login.blocked") {
        app.tick().await;
        kinds = column(app, "acme", "kind").await;
    }
    assert!(column(app, "acme", "context").await.iter().all(|context| context == "null"));
    verified(app, "acme").await;
}
