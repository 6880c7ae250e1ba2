//! A worker in the background: an endpoint or a mail server that hangs does not delay the others, and a shutdown waits for what is
//! being sent.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use async_trait::async_trait;
use serde_json::json;
use tenant_auth_conformance::{
    App, Caller, scenarios,
    smtp::{Mood, SmtpSink},
};
use tenant_auth_core::ports::{SendError, Sender, SmtpMailer, WebhookRequest, WebhookResponse};
use tokio::{sync::oneshot, task::JoinHandle};

use crate::suite::{
    deliveries::workers::{counts, rename},
    support::hooks::{ANOTHER, Hook, RECEIVER, answer, event_in, until_sent},
};

const SECOND: Duration = Duration::from_secs(1);

scenarios![on each database:
    a_hanging_endpoint_delays_nobody_else,
    a_failing_endpoint_takes_one_place,
    what_stands_in_line_for_an_endpoint_that_hangs_goes_back,
    what_stands_in_line_for_an_endpoint_that_fails_goes_back,
    what_stands_in_line_goes_back_when_the_worker_is_told_to_stop,
    a_silent_mail_server_delays_no_delivery,
    what_tells_of_an_ending_waits_for_those_who_remember_and_delays_no_other_organization,
    a_worker_that_is_told_to_stop_finishes_what_it_sends,
];

async fn a_hanging_endpoint_delays_nobody_else(app: &App) {
    let admin = app.admin().logged_in().await;
    let (mut hanging, mut healthy) = (Vec::new(), Vec::new());
    for n in 0..4 {
        hanging.push(Hook::new(&admin, &format!("https://hooks.example.com/hanging/{n}"), &["org.updated"]).await);
        healthy.push(Hook::new(&admin, &format!("https://hooks.example.com/healthy/{n}"), &["org.updated"]).await);
    }
    hanging.iter().for_each(|hook| app.webhooks.hold(&hook.url));
    let worker = working(app);
    rename(&admin, 30).await;
    for hook in &healthy {
        until_sent(app, &hook.url, 30).await;
    }
    for hook in &hanging {
        assert!((1..=8).contains(&hook.sent(app).len()), "a few places each: {}", hook.sent(app).len());
    }
    hanging.iter().for_each(|hook| app.webhooks.release(&hook.url));
    for hook in &hanging {
        until_sent(app, &hook.url, 30).await;
    }
    stopped(worker).await;
    let counts = counts(app);
    assert!(counts.len() == 240 && counts.values().all(|count| *count == 1), "{counts:?}");
}

async fn a_failing_endpoint_takes_one_place(app: &App) {
    let admin = app.admin().logged_in().await;
    let failing = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    failing.answers(app, &[500]);
    rename(&admin, 1).await;
    app.tick().await;
    app.webhooks.hold(RECEIVER);
    let healthy = Hook::new(&admin, "https://hooks.example.com/healthy", &["org.updated"]).await;
    let worker = working(app);
    rename(&admin, 20).await;
    until_sent(app, &healthy.url, 20).await;
    until_sent(app, RECEIVER, 2).await;
    assert_eq!(failing.sent(app).len(), 2, "one at a time");
    failing.answers(app, &[200, 200]);
    app.webhooks.release(RECEIVER);
    until_sent(app, RECEIVER, 21).await;
    stopped(worker).await;
}

/// So many quick answers earn an endpoint that more is given to it than it gets at once.
const EARNED: usize = 16;

/// A quick endpoint, and a worker; the endpoint is held, 30 deliveries are on their way to it, and some of them were given to it.
async fn held_with_a_line(app: &App, admin: &Caller) -> (Hook, (oneshot::Sender<()>, JoinHandle<()>)) {
    let hook = Hook::new(admin, RECEIVER, &["org.updated"]).await;
    let worker = working(app);
    rename(admin, EARNED).await;
    until_succeeded(&hook, admin, EARNED).await;
    app.webhooks.hold(RECEIVER);
    rename(admin, 30).await;
    until_sent(app, RECEIVER, EARNED + 8).await;
    (hook, worker)
}

/// How many of its deliveries have an attempt that counts.
async fn attempted(hook: &Hook, admin: &Caller) -> usize {
    hook.log(admin).await.iter().filter(|delivery| delivery["attempts"] == 1).count()
}

async fn what_stands_in_line_for_an_endpoint_that_hangs_goes_back(app: &App) {
    let admin = app.admin().logged_in().await;
    let (hook, worker) = held_with_a_line(app, &admin).await;
    while attempted(&hook, &admin).await != EARNED + 8 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(hook.sent(app).len(), EARNED + 8, "eight at a time");
    app.webhooks.release(RECEIVER);
    until_sent(app, RECEIVER, EARNED + 30).await;
    stopped(worker).await;
    let log = hook.log(&admin).await;
    assert!(log.iter().all(|delivery| delivery["status"] == "succeeded" && delivery["attempts"] == 1), "{log:#?}");
}

async fn what_stands_in_line_goes_back_when_the_worker_is_told_to_stop(app: &App) {
    let admin = app.admin().logged_in().await;
    let (hook, (stop, running)) = held_with_a_line(app, &admin).await;
    stop.send(()).expect("it works");
    tokio::time::sleep(Duration::from_millis(100)).await;
    app.webhooks.release(RECEIVER);
    running.await.expect("it stops");
    assert_eq!(hook.sent(app).len(), EARNED + 8, "what is under way is finished, and nothing else begins");
    let log = hook.log(&admin).await;
    let (made, left): (Vec<_>, Vec<_>) = log.iter().partition(|delivery| delivery["attempts"] == 1);
    assert!(made.len() == EARNED + 8 && made.iter().all(|delivery| delivery["status"] == "succeeded"), "{log:#?}");
    assert!(left.iter().all(|delivery| delivery["status"] == "pending" && delivery["attempts"] == 0), "{log:#?}");
    app.tick().await;
    assert!(hook.log(&admin).await.iter().all(|delivery| delivery["status"] == "succeeded"), "it is due at once");
}

/// Answers the first requests well and refuses every other, each after a moment, and counts those that came while another was there.
#[derive(Debug, Default)]
struct Failing {
    taken: AtomicUsize,
    there: AtomicUsize,
    crowded: AtomicUsize,
}

#[async_trait]
impl Sender for Failing {
    async fn send(&self, _: WebhookRequest) -> Result<WebhookResponse, SendError> {
        let number = self.taken.fetch_add(1, SeqCst);
        self.crowded.fetch_add(usize::from(self.there.fetch_add(1, SeqCst) > 0 && number >= EARNED), SeqCst);
        tokio::time::sleep(Duration::from_millis(20)).await;
        self.there.fetch_sub(1, SeqCst);
        answer(if number < EARNED { 200 } else { 500 })
    }
}

async fn what_stands_in_line_for_an_endpoint_that_fails_goes_back(app: &App) {
    let failing = Arc::new(Failing::default());
    let app = &app.beside(|setup| setup.sender = Some(Arc::clone(&failing) as _)).await;
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    rename(&admin, EARNED).await;
    let worker = working(app);
    until_succeeded(&hook, &admin, EARNED).await;
    rename(&admin, 30).await;
    while failing.taken.load(SeqCst) < EARNED + 30 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    stopped(worker).await;
    assert!(failing.crowded.load(SeqCst) <= 8, "they came one at a time, once the first had failed: {failing:?}");
    let log = hook.log(&admin).await;
    assert!(log.iter().all(|delivery| delivery["attempts"] == 1), "{log:#?}");
}

async fn until_succeeded(hook: &Hook, admin: &Caller, count: usize) {
    while hook.log(admin).await.iter().filter(|delivery| delivery["status"] == "succeeded").count() < count {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

async fn a_worker_that_is_told_to_stop_finishes_what_it_sends(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    app.webhooks.hold(RECEIVER);
    let (stop, running) = working(app);
    rename(&admin, 1).await;
    until_sent(app, RECEIVER, 1).await;
    stop.send(()).expect("it works");
    assert!(!running.is_finished());
    app.webhooks.release(RECEIVER);
    running.await.expect("it stops");
    assert_eq!(hook.delivery(&admin).await["status"], "succeeded");
}

/// A worker in the background, until it is told to stop.
fn working(app: &App) -> (oneshot::Sender<()>, JoinHandle<()>) {
    let (stop, stopped) = oneshot::channel();
    let worker = app.auth.worker();
    let running = tokio::spawn(async move {
        worker.run_until(async { drop(stopped.await) }).await;
    });
    (stop, running)
}

async fn stopped((stop, running): (oneshot::Sender<()>, JoinHandle<()>)) {
    stop.send(()).expect("it works");
    running.await.expect("it stops");
}

async fn a_silent_mail_server_delays_no_delivery(app: &App) {
    let sink = SmtpSink::start().await;
    let mailer = SmtpMailer::from_url(&sink.url(), "Tenant Auth <no-reply@auth.example.com>").expect("usable settings");
    let app = &app.beside(|setup| setup.mailer = Some(Arc::new(mailer))).await;
    let admin = app.admin().logged_in().await;
    sink.be(Mood::Silent);
    let worker = working(app);
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await; // which is told to the admin by mail
    while sink.attempts() == 0 {
        tokio::task::yield_now().await;
    }
    rename(&admin, 5).await;
    until_sent(app, RECEIVER, 5).await;
    hook.test(&admin).await;
    until_sent(app, RECEIVER, 6).await;
    assert!(sink.taken().is_empty(), "all this while the mail waits");
    sink.be(Mood::Taking);
    stopped(worker).await;
}

async fn what_tells_of_an_ending_waits_for_those_who_remember_and_delays_no_other_organization(app: &App) {
    // It remembers for a second, which on SQLite one process may: to be asked before the others.
    let remembering = app.beside(|setup| (setup.config.memory.mebibytes, setup.config.memory.freshness) = (8, SECOND)).await;
    let slug = app.org().slug().parse().expect("a slug");
    while !remembering.auth.metrics_text().await.expect("is written").contains("tenant_auth_memory_hits_total 1") {
        remembering.auth.tenant(&slug).await.expect("it is there");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let (admin, other) = (app.admin().logged_in().await, app.other_org().admin().logged_in().await);
    Hook::new(&admin, RECEIVER, &["*"]).await;
    Hook::new(&other, ANOTHER, &["*"]).await;
    app.tick().await;
    let before = app.webhooks.sent().len();
    rename(&admin, 1).await;
    app.advance(1);
    admin.set_metadata(admin.id(), json!({ "told": "after it" })).await.expect(200);
    other.set_metadata(other.id(), json!({ "told": "before it" })).await.expect(200);
    app.tick().await;
    let sent = app.webhooks.sent().split_off(before);
    let told: Vec<_> = sent.iter().map(|sent| (sent.url.as_str(), event_in(sent)["type"].clone())).collect();
    let expected = [(ANOTHER, json!("member.updated")), (RECEIVER, json!("org.updated")), (RECEIVER, json!("member.updated"))];
    assert_eq!(told[0], expected[0], "{told:?}");
    assert!(told.len() == 3 && expected.iter().all(|expected| told.contains(expected)), "{told:?}");
}
