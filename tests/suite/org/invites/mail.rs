//! The invitation mail on its way: through the outbox and a real SMTP conversation. A mail server that is slow, refuses or is away
//! delays no request and loses no mail.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use tenant_auth_conformance::{
    App, Caller, PUBLIC_URL, id_of, scenarios,
    smtp::{Mood, SmtpSink},
};
use tenant_auth_core::ports::SmtpMailer;

use crate::suite::support::hooks::texts_in;

scenarios![
    the_mail_carries_the_link_as_text_and_html,
    the_app_url_is_linked_when_there_is_one,
    names_in_a_mail_are_escaped,
    names_in_a_mail_are_no_links,
    a_mail_is_queued_then_sent,
    a_mail_server_that_is_down_loses_nothing,
    a_mail_server_that_takes_a_mail_and_no_leave_gets_it_once,
    a_mail_server_that_says_not_now_is_asked_again,
    a_mail_server_that_wants_another_password_loses_nothing,
    a_mail_server_that_refuses_the_session_for_good_loses_nothing,
    a_mail_server_that_refuses_the_sender_for_good_loses_nothing,
    a_mail_server_that_refuses_the_sender_late_loses_nothing,
    a_mail_server_that_refuses_for_good_fails_the_mail,
    a_mail_that_failed_is_told_for_as_long_as_its_invite_waits,
    a_silent_mail_server_delays_no_request,
    retries_follow_the_schedule,
    after_a_day_of_failure_the_mail_has_failed,
    a_mail_whose_link_has_expired_is_dropped,
    resending_sends_a_mail_again,
    the_link_follows_the_setting,
    recipients_that_hang_delay_nobody_else,
    a_tenant_whose_mails_hang_delays_no_other,
    what_a_dead_worker_held_is_sent_after_its_lease,
];

/// A service whose mails go to a sink.
async fn with_sink(app: &App) -> (App, SmtpSink) {
    let sink = SmtpSink::start().await;
    let mailer = SmtpMailer::from_url(&sink.url_with_login(), "Tenant Auth <no-reply@auth.example.com>").expect("usable settings");
    (app.beside(|setup| setup.mailer = Some(Arc::new(mailer))).await, sink)
}

/// What the list of invites says of the only mail.
async fn mail_status(admin: &Caller) -> String {
    admin.pending_invites().await[0]["mail"].as_str().expect("a status").to_owned()
}

async fn the_mail_carries_the_link_as_text_and_html(app: &App) {
    let (app, sink) = with_sink(app).await;
    let admin = app.admin().logged_in().await;
    admin.invite("Nora@acme.example").await.expect(201);
    app.tick().await;
    let taken = sink.taken();
    assert_eq!(taken.len(), 1);
    assert_eq!(taken[0].to.as_str(), "Nora@acme.example");
    let (text, html) = (taken[0].part("text/plain"), taken[0].part("text/html"));
    let beginning = format!("{PUBLIC_URL}/invite#org=acme&token=");
    let token: String = text.split(&beginning).nth(1).expect("a link").chars().take_while(|c| !c.is_whitespace()).collect();
    let linked = html.replace("&amp;", "&").replace("&#x2f;", "/").replace("&#x3d;", "=");
    assert!(linked.contains(&format!("{beginning}{token}")), "{html}");
    assert!(html.contains("<a "), "{html}");
    for part in [&text, &html] {
        assert!(part.contains("Acme Rockets"), "{part}");
    }
    assert!(taken[0].header("From").is_some_and(|from| from.contains("no-reply@auth.example.com")));
    assert!(taken[0].header("Subject").is_some_and(|subject| !subject.is_empty()));
    assert!(sink.hello().is_some_and(|name| name.contains('.')), "servers refuse a name without a domain: {:?}", sink.hello());
    app.anonymous().accept(&token, "Nora").await.expect(200);
}

async fn the_app_url_is_linked_when_there_is_one(app: &App) {
    let (app, sink) = with_sink(app).await;
    let admin = app.admin().logged_in().await;
    admin.invite("nora@acme.example").await.expect(201);
    app.tick().await;
    admin.patch("/org", json!({ "appUrl": null })).await.expect(200);
    admin.invite("olga@acme.example").await.expect(201);
    app.tick().await;
    let taken = sink.taken();
    let unescaped = |part: String| part.replace("&#x2f;", "/");
    for part in ["text/plain", "text/html"] {
        assert!(unescaped(taken[0].part(part)).contains("https://app.acme.example"), "{part}");
        assert!(!unescaped(taken[1].part(part)).contains("https://app.acme.example"), "{part}");
    }
}

async fn names_in_a_mail_are_escaped(app: &App) {
    let (app, sink) = with_sink(app).await;
    let admin = app.admin().logged_in().await;
    admin.patch("/org", json!({ "name": "<script>alert(1)</script> & \"Søns\"" })).await.expect(200);
    admin.invite("nora@acme.example").await.expect(201);
    app.tick().await;
    let mail = sink.taken()[0].clone();
    assert!(!mail.part("text/html").contains("<script>"), "{}", mail.part("text/html"));
    assert!(mail.part("text/plain").contains("Søns"));
    let head = mail.raw.split("\r\n\r\n").next().unwrap_or_default().to_owned();
    assert!(head.is_ascii(), "{head}");
}

/// A mail program makes a link of what looks like one, and anybody may choose a name (behaviour.md, B200).
async fn names_in_a_mail_are_no_links(app: &App) {
    let admin = app.admin().logged_in().await;
    admin.patch("/org", json!({ "name": "Prize: https://win.example/now" })).await.expect(200);
    admin.created_key(json!({ "name": "www.win.example" })).await;
    admin.invite("nora@acme.example").await.expect(201);
    let (invitation, notice) = (app.mail_to("nora@acme.example").await, app.mail_to(admin.email()).await);
    let (invitation, notice) = (&invitation[0], notice.last().expect("a notice of the key"));
    let shown = |part: &str| part.replace("&#x2f;", "/");
    let parts = [&invitation.subject, &invitation.text, &invitation.html, &notice.text, &notice.html];
    for part in parts.map(|part| shown(part)) {
        assert!(part.contains("Prize:\u{2060} https:\u{2060}/\u{2060}/\u{2060}win.\u{2060}example/\u{2060}now"), "{part}");
        assert!(!part.contains("win.example"), "{part}");
    }
    for part in [&notice.text, &notice.html] {
        assert!(part.contains("www.\u{2060}win.\u{2060}example"), "{part}");
    }
}

async fn a_mail_is_queued_then_sent(app: &App) {
    let (app, sink) = with_sink(app).await;
    let admin = app.admin().logged_in().await;
    admin.invite("nora@acme.example").await.expect(201);
    assert_eq!(mail_status(&admin).await, "queued");
    assert_eq!(sink.attempts(), 0, "no request waits for a mail");
    app.tick().await;
    assert_eq!(mail_status(&admin).await, "sent");
    app.tick().await;
    app.advance(60);
    app.tick().await;
    assert_eq!(sink.taken().len(), 1, "once is enough");
}

async fn a_mail_server_that_is_down_loses_nothing(app: &App) {
    let (app, sink) = with_sink(app).await;
    sink.be(Mood::Down);
    let admin = app.admin().logged_in().await;
    admin.invite("nora@acme.example").await.expect(201);
    app.tick().await;
    assert_eq!(mail_status(&admin).await, "queued");
    sink.be(Mood::Taking);
    app.advance(5);
    app.tick().await;
    assert_eq!(mail_status(&admin).await, "sent");
    assert_eq!(sink.taken().len(), 1);
}

async fn a_mail_server_that_takes_a_mail_and_no_leave_gets_it_once(app: &App) {
    let (app, sink) = with_sink(app).await;
    sink.hang_at_quit();
    let admin = app.admin().logged_in().await;
    admin.invite("nora@acme.example").await.expect(201);
    app.tick().await;
    assert_eq!(mail_status(&admin).await, "sent");
    app.advance(60);
    app.tick().await;
    assert_eq!(sink.taken().len(), 1);
}

async fn a_mail_server_that_wants_another_password_loses_nothing(app: &App) {
    let (app, sink) = with_sink(app).await;
    sink.be(Mood::RefusingThePassword);
    let admin = app.admin().logged_in().await;
    admin.invite("nora@acme.example").await.expect(201);
    app.tick().await;
    assert_eq!((mail_status(&admin).await, sink.attempts()), ("queued".to_owned(), 1));
    sink.be(Mood::Taking);
    app.advance(5);
    app.tick().await;
    assert_eq!((mail_status(&admin).await, sink.taken().len()), ("sent".to_owned(), 1));
}

async fn a_mail_server_that_refuses_the_session_for_good_loses_nothing(app: &App) {
    let (app, sink) = with_sink(app).await;
    let admin = app.admin().logged_in().await;
    admin.invite("nora@acme.example").await.expect(201);
    for (attempts, mood) in [(1, Mood::RefusingTheSession), (2, Mood::RefusingTheLogin)] {
        sink.be(mood);
        app.tick().await;
        assert_eq!((mail_status(&admin).await, sink.attempts()), ("queued".to_owned(), attempts), "{mood:?}");
        app.advance(30);
    }
    sink.be(Mood::Taking);
    app.tick().await;
    assert_eq!((mail_status(&admin).await, sink.taken().len()), ("sent".to_owned(), 1));
}

async fn a_mail_server_that_refuses_the_sender_for_good_loses_nothing(app: &App) {
    let (app, sink) = with_sink(app).await;
    sink.be(Mood::RefusingTheSender);
    let admin = app.admin().logged_in().await;
    admin.invite("nora@acme.example").await.expect(201);
    app.tick().await;
    assert_eq!((mail_status(&admin).await, sink.attempts()), ("queued".to_owned(), 1));
    sink.be(Mood::Taking);
    app.advance(5);
    app.tick().await;
    assert_eq!((mail_status(&admin).await, sink.taken().len()), ("sent".to_owned(), 1));
}

/// Together with the recipient, as servers do that judge all at once, or after the content.
async fn a_mail_server_that_refuses_the_sender_late_loses_nothing(app: &App) {
    let (app, sink) = with_sink(app).await;
    let admin = app.admin().logged_in().await;
    admin.invite("nora@acme.example").await.expect(201);
    for (attempts, mood) in [(1, Mood::RefusingToRelay), (2, Mood::RefusingTheContent)] {
        sink.be(mood);
        app.tick().await;
        assert_eq!((mail_status(&admin).await, sink.attempts()), ("queued".to_owned(), attempts), "{mood:?}");
        app.advance(30);
    }
    sink.be(Mood::Taking);
    app.tick().await;
    assert_eq!((mail_status(&admin).await, sink.taken().len()), ("sent".to_owned(), 1));
}

async fn a_mail_server_that_says_not_now_is_asked_again(app: &App) {
    let (app, sink) = with_sink(app).await;
    sink.be(Mood::RefusingForNow);
    let admin = app.admin().logged_in().await;
    admin.invite("nora@acme.example").await.expect(201);
    app.tick().await;
    assert_eq!((mail_status(&admin).await, sink.attempts()), ("queued".to_owned(), 1));
    sink.be(Mood::Taking);
    app.tick().await;
    assert_eq!(sink.attempts(), 1, "not before it is due");
    app.advance(5);
    app.tick().await;
    assert_eq!((mail_status(&admin).await, sink.taken().len()), ("sent".to_owned(), 1));
}

async fn a_mail_server_that_refuses_for_good_fails_the_mail(app: &App) {
    let (app, sink) = with_sink(app).await;
    sink.be(Mood::RefusingForGood);
    let admin = app.admin().logged_in().await;
    admin.invite("nora@acme.example").await.expect(201);
    app.tick().await;
    assert_eq!(mail_status(&admin).await, "failed");
    sink.be(Mood::Taking);
    app.advance(3_600);
    app.tick().await;
    assert!(sink.taken().is_empty(), "refused for good is for good");
    let id = id_of(&admin_again(&app).await.pending_invites().await[0]).to_owned();
    admin_again(&app).await.post_nothing(&format!("/org/invites/{id}/resend")).await.expect(200);
    app.tick().await;
    assert_eq!(mail_status(&admin_again(&app).await).await, "sent");
}

async fn a_mail_that_failed_is_told_for_as_long_as_its_invite_waits(app: &App) {
    const DAY: u64 = 24 * 3_600;
    let lasting = app.beside(|setup| setup.config.organizations.invite_ttl = Duration::from_secs(90 * DAY)).await;
    let (app, sink) = with_sink(&lasting).await;
    sink.be(Mood::RefusingForGood);
    app.admin().logged_in().await.invite("nora@acme.example").await.expect(201);
    app.tick().await;
    sink.be(Mood::Taking);
    app.advance(31 * DAY);
    app.tick().await;
    assert_eq!(mail_status(&admin_again(&app).await).await, "failed");
    app.advance(60 * DAY);
    app.tick().await;
    assert!(texts_in(&app, "SELECT id FROM tenant_auth_mails WHERE status = 'failed'").await.is_empty());
}

/// The admin, when time has passed and the first session's tokens with it.
async fn admin_again(app: &App) -> Caller {
    app.admin().logged_in().await
}

async fn a_silent_mail_server_delays_no_request(app: &App) {
    let (app, sink) = with_sink(app).await;
    let admin = app.admin().logged_in().await;
    sink.be(Mood::Silent);
    admin.invite("nora@acme.example").await.expect(201);
    let auth = app.auth.clone();
    let sending = tokio::spawn(async move { auth.worker().tick().await });
    while sink.attempts() == 0 {
        tokio::task::yield_now().await;
    }
    admin.invite("olga@acme.example").await.expect(201);
    assert_eq!(mail_status(&admin).await, "queued");
    app.member().login().await.expect(200);
    assert!(!sending.is_finished(), "all this while the worker waited for the mail server");
    sink.be(Mood::Taking);
    sending.await.expect("the worker goes on").expect("the database answers");
    app.tick().await;
    app.advance(5);
    app.tick().await;
    assert_eq!(sink.taken().len(), 2);
}

async fn retries_follow_the_schedule(app: &App) {
    let (app, sink) = with_sink(app).await;
    app.admin().logged_in().await.invite("nora@acme.example").await.expect(201);
    sink.be(Mood::RefusingForNow);
    app.tick().await;
    for (place, wait) in [5, 30, 5 * 60, 30 * 60, 60 * 60, 60 * 60].into_iter().enumerate() {
        app.clock.advance(Duration::from_millis(wait * 1_000 - 1));
        app.tick().await;
        assert_eq!(sink.attempts(), place + 1, "not yet, {wait} s after attempt {}", place + 1);
        app.clock.advance(Duration::from_millis(1));
        app.tick().await;
        assert_eq!(sink.attempts(), place + 2, "again, {wait} s after attempt {}", place + 1);
    }
}

async fn after_a_day_of_failure_the_mail_has_failed(app: &App) {
    let (app, sink) = with_sink(app).await;
    app.admin().logged_in().await.invite("nora@acme.example").await.expect(201);
    sink.be(Mood::RefusingForNow);
    for _ in 0..40 {
        app.tick().await;
        app.advance(3_600);
    }
    assert_eq!(mail_status(&admin_again(&app).await).await, "failed");
    let attempts = sink.attempts();
    assert!((20..=32).contains(&attempts), "hourly for a day: {attempts}");
    app.advance(3_600);
    app.tick().await;
    assert_eq!(sink.attempts(), attempts);
}

async fn a_mail_whose_link_has_expired_is_dropped(app: &App) {
    let (app, sink) = with_sink(app).await;
    app.admin().logged_in().await.invite("nora@acme.example").await.expect(201);
    app.advance(7 * 24 * 60 * 60);
    app.tick().await;
    assert_eq!((sink.attempts(), sink.taken().len()), (0, 0));
}

async fn resending_sends_a_mail_again(app: &App) {
    let (app, sink) = with_sink(app).await;
    let admin = app.admin().logged_in().await;
    admin.invite("nora@acme.example").await.expect(201);
    app.tick().await;
    let id = id_of(&admin.pending_invites().await[0]).to_owned();
    admin.post_nothing(&format!("/org/invites/{id}/resend")).await.expect(200);
    assert_eq!(mail_status(&admin).await, "queued");
    app.tick().await;
    assert_eq!((mail_status(&admin).await, sink.taken().len()), ("sent".to_owned(), 2));
}

async fn the_link_follows_the_setting(app: &App) {
    let own = app
        .beside(|setup| setup.config.mail_links.invite = Some("https://app.acme.example/join?o={slug}&t={token}".to_owned()))
        .await;
    own.admin().logged_in().await.invite("nora@acme.example").await.expect(201);
    let mail = own.mail_to("nora@acme.example").await.pop().expect("a mail");
    let token: String = mail
        .text
        .split("https://app.acme.example/join?o=acme&t=")
        .nth(1)
        .expect("the link")
        .chars()
        .take_while(|c| !c.is_whitespace())
        .collect();
    app.anonymous().accept(&token, "Nora").await.expect(200);
}

/// Waits until the sink has taken mails to all of these recipients; the limit is far below the time that a hanging mail is given.
async fn until_taken(sink: &SmtpSink, recipients: &[String]) {
    let all = async {
        while !recipients.iter().all(|recipient| sink.taken().iter().any(|mail| mail.to == *recipient)) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(15), all).await.expect("nothing that hangs delays them");
}

/// Runs a worker until the work is done, and stops it.
async fn while_running(app: &App, work: impl Future<Output = ()>) {
    let worker = app.auth.worker();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(async move { worker.run_until(async { drop(stopped.await) }).await });
    work.await;
    drop(stop);
    tokio::time::timeout(Duration::from_secs(10), running).await.expect("a stop lets go of what hangs").expect("no panic");
}

async fn recipients_that_hang_delay_nobody_else(app: &App) {
    let (app, sink) = with_sink(app).await;
    let admin = app.admin().logged_in().await;
    for n in 0..3 {
        let recipient = format!("hangs{n}@acme.example");
        sink.hang_for(&recipient);
        admin.invite(&recipient).await.expect(201);
    }
    let others: Vec<String> = (0..12).map(|n| format!("waits{n}@acme.example")).collect();
    for recipient in &others {
        admin.invite(recipient).await.expect(201);
    }
    while_running(&app, async {
        until_taken(&sink, &others).await;
        let member = app.member();
        app.anonymous().post("/auth/forgot-password", json!({ "email": member.email() })).await.expect(200);
        until_taken(&sink, &[member.email().to_owned()]).await;
    })
    .await;
    assert_eq!(sink.taken().len(), 13, "what hangs was not taken");
}

async fn a_tenant_whose_mails_hang_delays_no_other(app: &App) {
    let (app, sink) = with_sink(app).await;
    let (admin, greta) = (app.admin().logged_in().await, app.other_org().admin().logged_in().await);
    for n in 0..20 {
        let recipient = format!("hangs{n}@hangs.example");
        sink.hang_for(&recipient);
        admin.invite(&recipient).await.expect(201);
    }
    let other = "waits@globex.example".to_owned();
    greta.invite(&other).await.expect(201);
    while_running(&app, until_taken(&sink, &[other])).await;
}

async fn what_a_dead_worker_held_is_sent_after_its_lease(app: &App) {
    let (app, sink) = with_sink(app).await;
    let admin = app.admin().logged_in().await;
    sink.be(Mood::Silent);
    admin.invite("nora@acme.example").await.expect(201);
    let auth = app.auth.clone();
    let worker = tokio::spawn(async move { auth.worker().tick().await });
    let claimed = "SELECT id FROM tenant_auth_mails WHERE attempts = 1 AND status = 'queued'";
    while sink.attempts() == 0 || texts_in(&app, claimed).await.is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    worker.abort();
    assert!(worker.await.expect_err("it is dead").is_cancelled());
    sink.be(Mood::Taking);
    app.clock.advance(Duration::from_millis(45_000 - 1));
    app.tick().await;
    assert!(sink.taken().is_empty(), "it may still be on its way");
    app.clock.advance(Duration::from_millis(1));
    app.tick().await;
    assert_eq!(sink.taken().len(), 1);
}
