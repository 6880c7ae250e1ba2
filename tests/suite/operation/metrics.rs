//! Metrics: what is counted. Known traffic, and by how much each series has grown afterwards.

use std::{collections::BTreeMap, sync::Arc};

use tenant_auth_conformance::{
    App, PASSWORD, PanickingHasher, scenarios,
    smtp::{Mood, SmtpSink},
};
use tenant_auth_core::ports::SmtpMailer;

use crate::suite::{
    auth::{
        recovery::reset::forgot,
        sign_up::{ask, nobody},
    },
    support::authenticator::SecondFactor,
};

scenarios![
    requests_are_counted_by_method_route_and_status,
    a_request_that_matches_nothing_stands_under_none,
    a_request_that_panics_is_counted,
    logins_are_counted_by_what_came_of_them,
    answers_about_tokens_are_counted,
    passwords_are_counted_as_they_are_hashed,
    sessions_and_events_are_counted_when_they_are_committed,
    mails_are_counted_and_the_queue_is_told,
    links_to_sign_up_with_that_were_tried_are_told_among_the_mails_that_wait,
    requests_for_reset_mails_are_told_while_they_wait,
    a_mail_that_grew_too_old_is_not_one_that_was_refused,
    swept_rows_are_told,
];

/// Every series with its value, without the prefix.
pub(super) async fn seen(app: &App) -> BTreeMap<String, f64> {
    let text = app.auth.metrics_text().await.expect("it can be written");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (series, value) = line.rsplit_once(' ').expect("a series and its value");
            let series = series.strip_prefix("tenant_auth_").unwrap_or_else(|| panic!("a prefix before {series}"));
            (series.to_owned(), value.parse().unwrap_or_else(|_| panic!("a number in {line}")))
        })
        .collect()
}

/// How much each of these series has grown since `before`.
#[track_caller]
fn expect_growth(before: &BTreeMap<String, f64>, after: &BTreeMap<String, f64>, expected: &[(&str, f64)]) {
    for (series, growth) in expected {
        let of = |seen: &BTreeMap<String, f64>| seen.get(*series).copied().unwrap_or(0.0);
        assert_eq!(of(after) - of(before), *growth, "{series} in {after:#?}");
    }
}

async fn requests_are_counted_by_method_route_and_status(app: &App) {
    let member = app.member().logged_in().await;
    for _ in 0..3 {
        member.get("/org").await.expect(200);
    }
    member.request("HEAD", "/org").await.expect(200);
    member.get("/org/invites").await.expect_error(403, "admin_required");
    member.delete(&format!("/auth/sessions/{}", app.org().api_key_id())).await.expect(404);
    let seen = seen(app).await;
    for (series, count) in [
        ("http_requests_total{method=\"POST\",route=\"/auth/login\",status=\"200\"}", 1.0),
        ("http_requests_total{method=\"GET\",route=\"/org\",status=\"200\"}", 3.0),
        ("http_requests_total{method=\"HEAD\",route=\"/org\",status=\"200\"}", 1.0),
        ("http_requests_total{method=\"GET\",route=\"/org/invites\",status=\"403\"}", 1.0),
        ("http_requests_total{method=\"DELETE\",route=\"/auth/sessions/{id}\",status=\"404\"}", 1.0),
        ("http_request_duration_seconds_count{route=\"/org\"}", 4.0),
        ("http_request_duration_seconds_bucket{le=\"+Inf\",route=\"/org\"}", 4.0),
    ] {
        assert_eq!(seen.get(series), Some(&count), "{series} in {seen:#?}");
    }
    assert!(seen["http_request_duration_seconds_sum{route=\"/org\"}"] > 0.0);
}

async fn a_request_that_matches_nothing_stands_under_none(app: &App) {
    for n in 0..5 {
        app.anonymous().get(&format!("/nowhere/{n}")).await.expect(404);
        app.anonymous().request(&format!("METHOD{n}"), "/org").await.expect(405);
    }
    app.anonymous().delete("/org").await.expect(405);
    let seen = seen(app).await;
    for (series, count) in [
        ("http_requests_total{method=\"GET\",route=\"none\",status=\"404\"}", 5.0),
        ("http_requests_total{method=\"other\",route=\"none\",status=\"405\"}", 5.0),
        ("http_requests_total{method=\"DELETE\",route=\"none\",status=\"405\"}", 1.0),
        ("http_request_duration_seconds_count{route=\"none\"}", 11.0),
    ] {
        assert_eq!(seen.get(series), Some(&count), "{series} in {seen:#?}");
    }
}

async fn a_request_that_panics_is_counted(app: &App) {
    let broken = app.beside(|setup| setup.hasher = Some(Arc::new(PanickingHasher))).await;
    broken.member().login().may_fail().await.expect(500);
    let seen = seen(&broken).await;
    assert_eq!(seen.get("http_requests_total{method=\"POST\",route=\"/auth/login\",status=\"500\"}"), Some(&1.0), "{seen:#?}");
}

async fn logins_are_counted_by_what_came_of_them(app: &App) {
    let before = seen(app).await;
    assert_eq!(before.get("logins_total{outcome=\"wrong\"}"), Some(&0.0), "there from the start");
    let member = app.member().logged_in().await;
    for _ in 0..5 {
        app.admin().login_with(app.admin().email(), "wrong-otter-plinth").await.expect(401);
    }
    app.admin().login().await.expect(429);
    app.anonymous().login_with("nobody@acme.example", PASSWORD).await.expect(401);
    app.anonymous().login_with(app.other_org().member().email(), PASSWORD).await.expect_error(403, "not_a_member");
    let guarded = member.guard(app).await;
    let waiting = app.member().waiting().await;
    waiting.enter(&guarded.wrong_code(app)).await.expect(401);
    waiting.enter(&guarded.code(app)).await.expect(200);
    let after = seen(app).await;
    let expected = [
        ("logins_total{outcome=\"ok\"}", 2.0),
        ("logins_total{outcome=\"second_factor\"}", 1.0),
        ("logins_total{outcome=\"wrong\"}", 7.0),
        ("logins_total{outcome=\"throttled\"}", 1.0),
        ("logins_total{outcome=\"refused\"}", 1.0),
        ("logins_total{outcome=\"unavailable\"}", 0.0),
    ];
    expect_growth(&before, &after, &expected);
}

async fn answers_about_tokens_are_counted(app: &App) {
    let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
    let token = member.access_token();
    let before = seen(app).await;
    assert!(app.backend().finds_valid(&token).await);
    admin.set_status(member.id(), "suspended").await.expect(200);
    assert!(app.backend().finds_valid(&token).await);
    for nobodys in ["x", &app.other_org().member().logged_in().await.access_token()] {
        assert!(!app.backend().finds_valid(nobodys).await);
    }
    app.anonymous().backend_with("pk_live_0").verify(&token).await.expect(401);
    let expected = [
        ("verifications_total{outcome=\"valid\"}", 1.0),
        ("verifications_total{outcome=\"suspended\"}", 1.0),
        ("verifications_total{outcome=\"invalid\"}", 2.0),
    ];
    expect_growth(&before, &seen(app).await, &expected);
}

async fn passwords_are_counted_as_they_are_hashed(app: &App) {
    let before = seen(app).await;
    for _ in 0..3 {
        app.member().login().await.expect(200);
    }
    let after = seen(app).await;
    let expected = [
        ("password_hash_seconds_count", 3.0),
        ("password_hash_wait_seconds_count", 3.0),
        ("password_hash_refused_total", 0.0),
        ("password_hash_waiting", 0.0),
        ("password_hash_running", 0.0),
    ];
    expect_growth(&before, &after, &expected);
    assert!(after["password_hash_seconds_sum"] > 0.0);
}

async fn sessions_and_events_are_counted_when_they_are_committed(app: &App) {
    let before = seen(app).await;
    let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
    app.member().logged_in().await.logout().await.expect(200);
    admin.delete(&format!("/org/members/{}/sessions", member.id())).await.expect(200);
    admin.remove(admin.id()).await.expect(400);
    member.get("/org").await.expect_no_session();
    let expected = [
        ("sessions_opened_total", 3.0),
        ("sessions_revoked_total", 2.0),
        ("events_written_total{kind=\"session.created\"}", 3.0),
        ("events_written_total{kind=\"session.revoked\"}", 2.0),
        ("events_written_total{kind=\"member.removed\"}", 0.0),
    ];
    expect_growth(&before, &seen(app).await, &expected);
}

async fn mails_are_counted_and_the_queue_is_told(app: &App) {
    let sink = SmtpSink::start().await;
    let mailer = SmtpMailer::from_url(&sink.url(), "Tenant Auth <no-reply@auth.example.com>").expect("usable settings");
    let app = &app.beside(|setup| setup.mailer = Some(Arc::new(mailer))).await;
    app.tick().await; // what the template left
    let before = seen(app).await;
    assert_eq!((before["mails_waiting"], before["mails_oldest_waiting_seconds"]), (0.0, 0.0));
    let admin = app.admin().logged_in().await;
    admin.invite("nora@acme.example").await.expect(201);
    app.advance(2);
    admin.invite("olga@acme.example").await.expect(201);
    app.advance(1);
    let waiting = seen(app).await;
    assert_eq!((waiting["mails_waiting"], waiting["mails_oldest_waiting_seconds"]), (2.0, 3.0));

    sink.be(Mood::RefusingForNow);
    app.tick().await;
    let retried = seen(app).await;
    expect_growth(&before, &retried, &[("mails_total{outcome=\"retried\"}", 2.0), ("mails_waiting", 2.0)]);
    sink.be(Mood::Taking);
    app.advance(5);
    app.tick().await;
    sink.be(Mood::RefusingForGood);
    admin.invite("pia@acme.example").await.expect(201);
    app.tick().await;
    let after = seen(app).await;
    let expected = [
        ("mails_total{outcome=\"sent\"}", 2.0),
        ("mails_total{outcome=\"retried\"}", 2.0),
        ("mails_total{outcome=\"failed\"}", 1.0),
        ("mails_waiting", 0.0),
        ("mails_oldest_waiting_seconds", 0.0),
    ];
    expect_growth(&before, &after, &expected);
}

/// Where nothing else is to be mailed, nothing else shows that the mail server is away.
async fn links_to_sign_up_with_that_were_tried_are_told_among_the_mails_that_wait(app: &App) {
    let sink = SmtpSink::start().await;
    let mailer = SmtpMailer::from_url(&sink.url(), "Tenant Auth <no-reply@auth.example.com>").expect("usable settings");
    let app = &app.beside(|setup| setup.mailer = Some(Arc::new(mailer))).await;
    app.tick().await; // what the template left
    let waiting = async || {
        let seen = seen(app).await;
        (seen["mails_waiting"], seen["mails_oldest_waiting_seconds"])
    };
    sink.be(Mood::Down);
    ask(&nobody(app), "rita@rockets.example").await.expect(200);
    app.advance(2);
    ask(&nobody(app), "sam@rockets.example").await.expect(200);
    app.advance(1);
    assert_eq!(waiting().await, (0.0, 0.0), "they may wait for the hour's bound");
    app.tick().await;
    app.admin().logged_in().await.invite("nora@acme.example").await.expect(201);
    assert_eq!(waiting().await, (3.0, 3.0));
    sink.be(Mood::Taking);
    app.advance(5);
    app.tick().await;
    assert_eq!(waiting().await, (0.0, 0.0));
}

async fn requests_for_reset_mails_are_told_while_they_wait(app: &App) {
    let waiting = async || {
        let seen = seen(app).await;
        (seen["reset_requests_waiting"], seen["reset_requests_oldest_waiting_seconds"])
    };
    assert_eq!(waiting().await, (0.0, 0.0));
    forgot(&app.anonymous(), app.member().email()).await.expect(200);
    app.advance(2);
    forgot(&app.anonymous(), "nobody@acme.example").await.expect(200);
    app.advance(1);
    assert_eq!(waiting().await, (2.0, 3.0), "the queue does not tell who has an account");
    app.tick().await;
    assert_eq!(waiting().await, (0.0, 0.0));
}

async fn a_mail_that_grew_too_old_is_not_one_that_was_refused(app: &App) {
    let sink = SmtpSink::start().await;
    let mailer = SmtpMailer::from_url(&sink.url(), "Tenant Auth <no-reply@auth.example.com>").expect("usable settings");
    let app = &app.beside(|setup| setup.mailer = Some(Arc::new(mailer))).await;
    app.tick().await; // what the template left
    let before = seen(app).await;
    sink.be(Mood::Down);
    forgot(&app.anonymous(), app.member().email()).await.expect(200);
    app.admin().logged_in().await.invite("nora@acme.example").await.expect(201);
    ask(&nobody(app), "rita@rockets.example").await.expect(200);
    app.tick().await;
    app.advance(30 * 60);
    app.tick().await;
    let expired = |count| [("mails_total{outcome=\"expired\"}", count), ("mails_total{outcome=\"failed\"}", 0.0)];
    expect_growth(&before, &seen(app).await, &expired(1.0)); // the link of the reset mail
    app.advance(24 * 60 * 60);
    app.tick().await;
    expect_growth(&before, &seen(app).await, &expired(2.0)); // the link to sign up with
    for _ in 0..27 {
        app.advance(60 * 60);
        app.tick().await;
    }
    expect_growth(&before, &seen(app).await, &expired(3.0)); // the invite was tried for a day
}

async fn swept_rows_are_told(app: &App) {
    app.tick().await;
    let before = seen(app).await;
    app.member().logged_in().await;
    app.advance(31 * 24 * 60 * 60);
    app.tick().await;
    expect_growth(&before, &seen(app).await, &[("swept_rows_total{kind=\"sessions\"}", 1.0)]);
}
