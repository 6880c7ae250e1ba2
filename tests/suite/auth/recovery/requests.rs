//! Requests for links to reset a password: how many are taken (behaviour.md, B145), and what becomes of those that wait. Everything
//! is the same for addresses with and without an account.

use tenant_auth_conformance::{App, Caller, rounds, scenarios, together};
use tenant_auth_core::{model::Scope, testing::internals};

use crate::suite::{
    auth::recovery::reset::{forgot, reset_mails},
    limits::addresses::{at, behind_proxy},
    support::{hooks::run_sql, stored},
};

scenarios![
    a_network_may_ask_thirty_times_in_a_quarter_of_an_hour,
    a_stated_network_is_counted_in_its_organization_alone,
    one_request_waits_however_often_it_is_made,
    a_request_is_dropped_when_its_link_would_have_expired,
    a_request_that_cannot_be_fulfilled_stops_no_other,
    requests_that_nobody_fulfils_are_swept,
];

/// Asks as often as a network may, for ever new addresses, one of which has an account.
async fn ask_thirty_times(app: &App, caller: impl Fn(usize) -> Caller) {
    forgot(&caller(0), app.member().email()).await.expect(200);
    for n in 1..30 {
        forgot(&caller(n), &format!("nobody{n}@acme.example")).await.expect(200);
    }
}

async fn a_network_may_ask_thirty_times_in_a_quarter_of_an_hour(app: &App) {
    let app = &behind_proxy(app).await;
    let near = |n: usize| at(app.anonymous(), &format!("203.0.113.{n}"));
    ask_thirty_times(app, near).await;
    let refused = forgot(&near(31), "nobody@acme.example").await.expect_error(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("900"));
    let known = forgot(&near(31), app.member().email()).await.expect_error(429, "rate_limited");
    assert_eq!(known.body, refused.body);
    forgot(&at(app.anonymous(), "203.0.114.1"), app.admin().email()).await.expect(200);
    let six = |n: usize| at(app.anonymous(), &format!("2001:db8:1:{n}::1"));
    ask_thirty_times(app, six).await;
    forgot(&six(0), "nobody@acme.example").await.expect_error(429, "rate_limited");
    forgot(&at(app.anonymous(), "2001:db8:2::1"), "nobody@acme.example").await.expect(200);
    assert_eq!(reset_mails(app, app.member().email()).await, 1, "one request of each address waits");
    app.advance(900);
    forgot(&near(31), app.member().email()).await.expect(200);
    assert_eq!(reset_mails(app, app.member().email()).await, 2);
}

async fn a_stated_network_is_counted_in_its_organization_alone(app: &App) {
    let app = &behind_proxy(app).await;
    let key = app.other_org().operators_key(&[Scope::Proxy]).await;
    let stating = |n: usize| app.other_org().anonymous().with("X-API-Key", &key).with("X-Client-IP", &format!("203.0.113.{n}"));
    ask_thirty_times(app, stating).await;
    forgot(&stating(1), "nobody@globex.example").await.expect_error(429, "rate_limited");
    forgot(&at(app.anonymous(), "203.0.113.1"), app.member().email()).await.expect(200);
}

async fn one_request_waits_however_often_it_is_made(app: &App) {
    let (known, unknown) = (app.member(), "nobody@acme.example");
    for round in 1..=rounds().min(10) {
        app.advance(3_600);
        let mut asking: Vec<_> = (0..4).map(|_| forgot(&app.anonymous(), known.email())).collect();
        asking.push(forgot(&app.anonymous(), "MAX@acme.example"));
        asking.extend((0..4).map(|_| forgot(&app.anonymous(), unknown)));
        together(asking).await.into_iter().for_each(|answer| drop(answer.expect(200)));
        assert_eq!(reset_mails(app, known.email()).await, round);
    }
    forgot(&app.anonymous(), known.email()).await.expect(200);
    forgot(&app.other_org().anonymous(), known.email()).await.expect(200);
    let before = reset_mails(app, known.email()).await;
    app.tick().await;
    assert_eq!(reset_mails(app, known.email()).await, before, "each was fulfilled once");
}

/// The worker was away for half an hour. Whoever asked again meanwhile still waits for a mail.
async fn a_request_is_dropped_when_its_link_would_have_expired(app: &App) {
    let (member, admin) = (app.member(), app.admin());
    for person in [&member, &admin] {
        forgot(&app.anonymous(), person.email()).await.expect(200);
    }
    app.advance(29 * 60);
    forgot(&app.anonymous(), admin.email()).await.expect(200);
    app.advance(60);
    assert_eq!(reset_mails(app, member.email()).await, 0, "nobody waits for it any more");
    assert_eq!(reset_mails(app, admin.email()).await, 1);
    forgot(&app.anonymous(), member.email()).await.expect(200);
    assert_eq!(reset_mails(app, member.email()).await, 1, "it does not hinder the next");
}

/// The neighbour's row was damaged by hand: its requests cannot be fulfilled.
async fn a_request_that_cannot_be_fulfilled_stops_no_other(app: &App) {
    let admin = app.admin().logged_in().await;
    forgot(&app.other_org().anonymous(), app.other_org().member().email()).await.expect(200);
    forgot(&app.anonymous(), app.member().email()).await.expect(200);
    admin.invite("nora@acme.example").await.expect(201);
    run_sql(app, "UPDATE tenant_auth_organizations SET status = 'rubbish' WHERE slug = 'globex'").await;
    assert_eq!(reset_mails(app, app.member().email()).await, 1);
    assert_eq!(app.mail_to("nora@acme.example").await.len(), 1, "nor any other mail");
    run_sql(app, "UPDATE tenant_auth_organizations SET status = 'active' WHERE slug = 'globex'").await;
    forgot(&app.other_org().anonymous(), app.other_org().member().email()).await.expect(200);
    assert_eq!(reset_mails(app, app.other_org().member().email()).await, 1, "it may be asked for again");
}

/// No worker of the deployment fulfils requests, but one sweeps: a request goes 70 minutes after it was made, or made again.
async fn requests_that_nobody_fulfils_are_swept(app: &App) {
    let left_by_the_sweep = async || {
        internals::sweep(&app.auth).await.expect("the database is there");
        stored::number(app, "SELECT COUNT(*) FROM tenant_auth_reset_requests").await
    };
    for person in [app.member(), app.admin()] {
        forgot(&app.anonymous(), person.email()).await.expect(200);
    }
    app.advance(30 * 60);
    forgot(&app.anonymous(), app.admin().email()).await.expect(200);
    app.advance(40 * 60 - 1);
    assert_eq!(left_by_the_sweep().await, 2);
    app.advance(1);
    assert_eq!(left_by_the_sweep().await, 1);
    app.advance(30 * 60);
    assert_eq!(left_by_the_sweep().await, 0);
}
