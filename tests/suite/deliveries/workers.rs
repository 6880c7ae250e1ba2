//! Several workers over one database: each attempt is made once, the deliveries that a dead worker held are made again after their
//! lease, and no endpoint is forgotten.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::json;
use tenant_auth_conformance::{App, Caller, scenarios};
use tenant_auth_core::{model::EventSelection, ports::RecordingSender, webhooks::NewWebhook};

use crate::suite::support::hooks::{Hook, RECEIVER, answer, event_in, header, is_signed_with, run_sql, ticking, until_sent};

scenarios![on each database:
    two_workers_make_each_attempt_once,
    what_a_dead_worker_held_is_sent_again_after_its_lease,
    a_late_outcome_changes_nothing,
    one_event_reaches_a_thousand_webhooks_once,
    a_webhook_whose_secret_does_not_open_hinders_no_other,
    a_worker_works_through_more_endpoints_than_it_looks_at_in_a_round,
];

/// The lease of a claimed delivery beyond an attempt's own timeout.
const LEASE_MARGIN: Duration = Duration::from_secs(15);

/// How often what was sent: by URL and `webhook-id`.
pub(crate) fn counts(app: &App) -> BTreeMap<(String, String), usize> {
    let mut counts = BTreeMap::new();
    for sent in app.webhooks.sent() {
        *counts.entry((sent.url.to_string(), header(&sent, "webhook-id").to_owned())).or_default() += 1;
    }
    counts
}

/// Causes so many `org.updated`: no name is the one before.
pub(crate) async fn rename(admin: &Caller, times: usize) {
    for n in 0..times {
        admin.patch("/org", json!({ "name": format!("Acme {n} of {times}") })).await.expect(200);
    }
}

async fn two_workers_make_each_attempt_once(app: &App) {
    let (admin, other) = (app.admin().logged_in().await, app.beside(|_| {}).await);
    let mut hooks = Vec::new();
    for n in 0..3 {
        hooks.push(Hook::new(&admin, &format!("https://hooks.example.com/{n}"), &["org.updated"]).await);
    }
    // One of them fails every first attempt.
    for round in 1..=8 {
        app.webhooks.answer(&hooks[2].url, answer(500));
        rename(&admin, 10).await;
        let workers = [ticking(app), ticking(&other), ticking(app), ticking(&other)];
        for worker in workers {
            worker.await.expect("the worker goes on").expect("the database answers");
        }
        let counts = counts(app);
        assert_eq!(counts.len(), round * 30, "round {round}: each event to each webhook");
        assert!(counts.values().all(|count| *count == 1), "round {round}: {counts:?}");
    }
    app.webhooks.answer(&hooks[2].url, answer(200));
    app.advance(6);
    for worker in [ticking(app), ticking(&other)] {
        worker.await.expect("the worker goes on").expect("the database answers");
    }
    for ((url, _), count) in counts(app) {
        assert!(count == 1 || (count == 2 && url == hooks[2].url), "{url}: {count}");
    }
    assert_eq!(hooks[2].sent(app).len(), 160, "and each failed one once more");
}

async fn what_a_dead_worker_held_is_sent_again_after_its_lease(app: &App) {
    let admin = app.admin().logged_in().await;
    let (hook, other) = (Hook::new(&admin, RECEIVER, &["org.updated"]).await, app.beside(|_| {}).await);
    app.webhooks.hold(RECEIVER);
    rename(&admin, 1).await;
    let worker = ticking(app);
    until_sent(app, RECEIVER, 1).await;
    worker.abort();
    assert!(worker.await.expect_err("it is dead").is_cancelled());
    app.webhooks.release(RECEIVER);
    let lease = app.config.webhooks.timeout + LEASE_MARGIN;
    other.tick().await;
    app.clock.advance(lease - Duration::from_millis(1));
    other.tick().await;
    assert_eq!(hook.sent(app).len(), 1, "it may still be on its way");
    assert_eq!(hook.delivery(&admin).await["status"], "pending");
    app.clock.advance(Duration::from_millis(1));
    other.tick().await;
    let sent = hook.sent(app);
    assert_eq!(sent.len(), 2);
    assert_eq!((header(&sent[0], "webhook-id"), &sent[0].body), (header(&sent[1], "webhook-id"), &sent[1].body));
    assert!(is_signed_with(&sent[1], &hook.secret));
    let delivery = hook.delivery(&admin).await;
    assert_eq!((&delivery["status"], &delivery["attempts"]), (&"succeeded".into(), &2.into()));
}

/// A worker was taken for dead and was only slow.
async fn a_late_outcome_changes_nothing(app: &App) {
    let admin = app.admin().logged_in().await;
    let quick = Arc::new(RecordingSender::default());
    let other = app.beside(|setup| setup.sender = Some(Arc::clone(&quick) as _)).await;
    for (late, soon, expected) in [(500, 200, "succeeded"), (200, 500, "pending")] {
        let url = format!("https://hooks.example.com/{late}");
        let hook = Hook::new(&admin, &url, &["org.updated"]).await;
        app.webhooks.answer(&url, answer(late));
        quick.answer(&url, answer(soon));
        app.webhooks.hold(&url);
        hook.test(&admin).await;
        let slow = ticking(app);
        until_sent(app, &url, 1).await;
        app.clock.advance(app.config.webhooks.timeout + LEASE_MARGIN);
        other.tick().await;
        let before = hook.delivery(&admin).await;
        assert_eq!((&before["status"], &before["attempts"]), (&expected.into(), &2.into()));
        app.webhooks.release(&url);
        slow.await.expect("the worker goes on").expect("the database answers");
        assert_eq!(hook.delivery(&admin).await, before);
        admin.delete(&hook.path()).await.expect(200);
    }
}

async fn one_event_reaches_a_thousand_webhooks_once(app: &App) {
    let app = &app.beside(|setup| setup.config.organizations.max_webhooks = 1_000).await;
    let admin = app.admin().logged_in().await;
    make(app, &admin, 1_000).await;
    rename(&admin, 1).await;
    app.tick().await;
    let counts = counts(app);
    assert_eq!(counts.len(), 1_000, "every one of them");
    assert!(counts.values().all(|count| *count == 1));
    let ids: Vec<_> = counts.keys().map(|(_, id)| id).collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "one event");
    app.tick().await;
    assert_eq!(app.webhooks.sent().len(), 1_000);
}

/// Makes many webhooks without a request for each.
async fn make(app: &App, admin: &Caller, count: usize) {
    let tenant = app.auth.tenant(&"acme".parse().expect("a slug")).await.expect("there it is");
    let right = tenant.authenticate(&admin.access_token()).await.expect("logged in").into_admin().expect("an admin");
    for n in 0..count {
        let url = format!("https://hooks.example.com/{n}");
        let events = EventSelection::parse(&["org.updated"]).expect("a kind");
        right.create_webhook(NewWebhook { url, events, description: Default::default() }).await.expect("room for it");
    }
}

async fn a_worker_works_through_more_endpoints_than_it_looks_at_in_a_round(app: &App) {
    let app = &app.beside(|setup| setup.config.organizations.max_webhooks = 1_000).await;
    let admin = app.admin().logged_in().await;
    make(app, &admin, 450).await;
    rename(&admin, 2).await;
    app.tick().await;
    let counts = counts(app);
    assert_eq!(counts.len(), 900);
    assert!(counts.values().all(|count| *count == 1));
    let names: Vec<_> = app.webhooks.sent().iter().map(|sent| event_in(sent)["data"]["org"]["name"].clone()).collect();
    assert_eq!(names.iter().filter(|name| **name == "Acme 1 of 2").count(), 450);
}

/// Its master key may be lost: nothing unsigned leaves, and the others do not wait.
async fn a_webhook_whose_secret_does_not_open_hinders_no_other(app: &App) {
    let admin = app.admin().logged_in().await;
    let mut hooks = Vec::new();
    for n in 0..3 {
        hooks.push(Hook::new(&admin, &format!("https://hooks.example.com/{n}"), &["org.updated"]).await);
    }
    hooks.sort_by(|one, other| one.id.cmp(&other.id));
    // The first in the order in which they are served.
    run_sql(app, &format!("UPDATE tenant_auth_webhook_secrets SET secret = 'rubbish' WHERE webhook_id = '{}'", hooks[0].id)).await;
    rename(&admin, 2).await;
    app.tick().await;
    let counts: Vec<usize> = hooks.iter().map(|hook| hook.sent(app).len()).collect();
    assert_eq!(counts, [0, 2, 2]);
    assert!(hooks[0].log(&admin).await.iter().all(|delivery| delivery["status"] == "pending"));
    hooks[0].rotated(&admin, 0).await;
    app.clock.advance(app.config.webhooks.timeout + LEASE_MARGIN);
    app.tick().await;
    assert_eq!(hooks[0].sent(app).len(), 2, "a new secret is the remedy");
}
