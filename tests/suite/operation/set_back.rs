//! A clock that was set back, by an hour: what waits does not wait for an hour more, what is under way is not begun twice, and nobody is
//! refused for longer than the refusal said.

use std::{sync::Arc, time::Duration};

use tenant_auth_conformance::{
    App, scenarios,
    smtp::{Mood, SmtpSink},
};
use tenant_auth_core::{
    Timestamp,
    ports::{Clock, MockClock, RetryAfter, SmtpMailer},
};

use crate::suite::{
    auth::recovery::reset::forgot,
    support::hooks::{Hook, RECEIVER, later, ticking, until_sent},
};

scenarios![
    mails_are_sent_when_their_schedule_says,
    deliveries_are_made_when_their_schedule_says,
    a_wish_for_patience_is_granted_from_now_on,
    what_is_under_way_is_not_begun_twice,
    a_rate_is_counted_anew,
    failed_logins_are_counted_anew,
    tests_of_a_webhook_are_counted_anew,
];

const HOUR: Duration = Duration::from_secs(3_600);

/// The same deployment after its clock was set back.
async fn set_back(app: &App) -> App {
    let clock = Arc::new(MockClock::at(app.clock.now().minus(HOUR)));
    app.beside(move |setup| setup.clock = clock).await
}

async fn mails_are_sent_when_their_schedule_says(app: &App) {
    let sink = SmtpSink::start().await;
    let mailer = SmtpMailer::from_url(&sink.url(), "Tenant Auth <no-reply@auth.example.com>").expect("usable settings");
    let app = &app.beside(|setup| setup.mailer = Some(Arc::new(mailer))).await;
    app.tick().await; // what the template left
    let before = sink.taken().len();
    let taken = || sink.taken()[before..].iter().map(|mail| mail.to.clone()).collect::<Vec<_>>();
    let admin = app.admin().logged_in().await;
    admin.invite("nora@acme.example").await.expect(201);
    sink.be(Mood::RefusingForNow);
    app.tick().await;
    sink.be(Mood::Taking);
    admin.invite("olga@acme.example").await.expect(201);
    let app = set_back(app).await;
    app.tick().await; // it notices
    app.tick().await;
    assert_eq!(taken(), ["olga@acme.example"], "it waited for nothing");
    app.clock.advance(Duration::from_millis(4_999));
    app.tick().await;
    assert_eq!(taken().len(), 1, "the other one is tried again after 5 s");
    app.clock.advance(Duration::from_millis(1));
    app.tick().await;
    assert_eq!(taken(), ["olga@acme.example", "nora@acme.example"]);
}

async fn deliveries_are_made_when_their_schedule_says(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    hook.answers(app, &[500, 200]);
    hook.test(&admin).await;
    app.tick().await;
    hook.test(&admin).await;
    let app = &set_back(app).await;
    app.tick().await;
    app.tick().await;
    assert_eq!(hook.sent(app).len(), 2, "the new one waited for nothing");
    app.advance(4);
    app.tick().await;
    assert_eq!(hook.sent(app).len(), 2);
    app.advance(2);
    app.tick().await;
    assert_eq!(hook.sent(app).len(), 3, "5 s, give or take 15 %, after it was noticed");
}

async fn a_wish_for_patience_is_granted_from_now_on(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    app.webhooks.answer(RECEIVER, later(503, RetryAfter::In(2 * HOUR)));
    hook.test(&admin).await;
    app.tick().await;
    let app = &set_back(app).await;
    app.tick().await;
    let next = hook.delivery(&admin).await["nextAttemptAt"].as_str().map(Timestamp::parse);
    assert_eq!(next.expect("a time").expect("an ISO time"), app.clock.now().plus(2 * HOUR));
}

/// The worker that made the attempt dies: another one makes it again when the lease is over, and no sooner.
async fn what_is_under_way_is_not_begun_twice(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    app.webhooks.hold(RECEIVER);
    hook.test(&admin).await;
    let worker = ticking(app);
    until_sent(app, RECEIVER, 1).await;
    let later = set_back(app).await;
    later.tick().await;
    later.advance(29);
    later.tick().await;
    assert_eq!(hook.sent(app).len(), 1, "it may still be on its way");
    worker.abort();
    app.webhooks.release(RECEIVER);
    later.advance(1);
    later.tick().await;
    assert_eq!(hook.sent(app).len(), 2);
    assert_eq!(hook.delivery(&admin).await["status"], "succeeded");
}

async fn a_rate_is_counted_anew(app: &App) {
    let ask = async |app: &App| forgot(&app.anonymous(), "nobody@acme.example").await;
    for _ in 0..30 {
        ask(app).await.expect(200);
    }
    ask(app).await.expect_error(429, "rate_limited");
    let app = &set_back(app).await;
    for _ in 0..30 {
        ask(app).await.expect(200);
    }
    let refused = ask(app).await.expect_error(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("900"));
    app.advance(900);
    ask(app).await.expect(200);
}

/// The limit of a client network: the 50th failure in a window blocks it until the window ends.
async fn failed_logins_are_counted_anew(app: &App) {
    let wrong = async |app: &App, number: usize| {
        let guess = app.anonymous().login_with(&format!("nobody{number}@acme.example"), "not-the-password").await;
        guess.expect_error(401, "invalid_credentials");
    };
    for number in 0..49 {
        wrong(app, number).await;
    }
    let app = &set_back(app).await;
    wrong(app, 49).await;
    app.advance(900);
    wrong(app, 50).await;
    wrong(app, 51).await;
}

async fn tests_of_a_webhook_are_counted_anew(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    for _ in 0..60 {
        hook.test(&admin).await;
    }
    hook.testing(&admin).await.expect_error(429, "rate_limited");
    let app = &set_back(app).await;
    let admin = app.admin().logged_in().await;
    for _ in 0..60 {
        hook.test(&admin).await;
    }
    let refused = hook.testing(&admin).await.expect_error(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("3600"));
}
