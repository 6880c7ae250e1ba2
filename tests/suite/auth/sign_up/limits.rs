//! How many organizations sign-up makes (behaviour.md, B199), and how many links it mails (B302).

use tenant_auth_conformance::{App, scenarios};

use super::{ask, complete, holder, newcomer, nobody, refusals::last_told, sign_up_mails, sign_up_token};
use crate::suite::{
    limits::addresses::{at, behind_proxy},
    support::{hooks::texts_in, stored},
};

scenarios![
    an_account_makes_three_a_day_and_ten_in_all,
    what_an_account_made_is_forgotten_with_it,
    a_network_makes_ten_a_day,
    a_deployment_mails_twice_as_many_links_an_hour,
    what_waits_for_the_hour_is_dropped_where_sign_up_is_closed,
    a_deployment_makes_as_many_a_day_as_its_settings_say,
];

const DAY: u64 = 24 * 3_600;

async fn an_account_makes_three_a_day_and_ten_in_all(app: &App) {
    for made in 0..10 {
        if made > 0 && made % 3 == 0 {
            let token = sign_up_token(app, app.member().email()).await;
            complete(&nobody(app), holder(&token, "one-more")).await.expect_error(429, "rate_limited");
            assert_eq!(last_told(app).await["limit"], "account_day");
            app.advance(DAY);
        }
        app.advance(3_600);
        let token = sign_up_token(app, app.member().email()).await;
        complete(&nobody(app), holder(&token, &format!("rockets-{made}"))).await.expect(201);
        app.advance(if made % 3 == 2 { 0 } else { 1 });
    }
    app.advance(30 * DAY);
    let token = sign_up_token(app, app.member().email()).await;
    let refused = complete(&nobody(app), holder(&token, "one-more")).await.expect_error(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("86400"));
    assert_eq!(last_told(app).await["limit"], "account_in_all");
    let token = sign_up_token(app, app.admin().email()).await;
    complete(&nobody(app), holder(&token, "one-more")).await.expect(201);
}

async fn what_an_account_made_is_forgotten_with_it(app: &App) {
    let member = app.member();
    let token = sign_up_token(app, member.email()).await;
    complete(&nobody(app), holder(&token, "rockets")).await.expect(201);
    let counts = format!("SELECT key FROM tenant_auth_throttles WHERE key LIKE 'sign-ups-in-all:%{}'", member.id());
    assert_eq!(texts_in(app, &counts).await.len(), 1);
    app.auth.operator().delete_user(&member.email().parse().expect("an address")).await.expect("there is an account");
    assert!(texts_in(app, &counts).await.is_empty());
}

async fn a_network_makes_ten_a_day(app: &App) {
    let app = &behind_proxy(app).await;
    for n in 0..10 {
        let token = sign_up_token(app, &format!("rita{n}@rockets.example")).await;
        complete(&at(nobody(app), &format!("203.0.113.{n}")), newcomer(&token, &format!("rockets-{n}"))).await.expect(201);
    }
    let token = sign_up_token(app, "rita@rockets.example").await;
    complete(&at(nobody(app), "203.0.113.77"), newcomer(&token, "rockets")).await.expect_error(429, "rate_limited");
    assert_eq!(last_told(app).await["limit"], "network");
    complete(&at(nobody(app), "203.0.114.1"), newcomer(&token, "rockets")).await.expect(201);
}

/// What waits is mailed when the hour is over, and what was asked for first goes first (behaviour.md, B302).
async fn a_deployment_mails_twice_as_many_links_an_hour(app: &App) {
    let app = &app.beside(|setup| setup.config.sign_up.per_day = 1).await;
    let address = |n: usize| format!("rita{n}@rockets.example");
    for n in 0..25 {
        ask(&nobody(app), &address(n)).await.expect(200);
        app.advance(1);
    }
    let mailed = async || {
        let mut mailed = Vec::new();
        for n in 0..25 {
            mailed.push(sign_up_mails(app, &address(n)).await.len());
        }
        mailed
    };
    // Ten at least, however few organizations may be made.
    let first = |count: usize| (0..25).map(|n| usize::from(n < count)).collect::<Vec<_>>();
    assert_eq!(mailed().await, first(10));
    app.advance(3_599);
    assert_eq!(mailed().await, first(10));
    app.advance(1);
    assert_eq!(mailed().await, first(20));
    app.advance(3_600);
    assert_eq!(mailed().await, first(25));
}

async fn what_waits_for_the_hour_is_dropped_where_sign_up_is_closed(app: &App) {
    let app = &app.beside(|setup| setup.config.sign_up.per_day = 1).await;
    for n in 0..15 {
        ask(&nobody(app), &format!("rita{n}@rockets.example")).await.expect(200);
    }
    app.tick().await;
    let waiting = async || stored::number(app, "SELECT COUNT(*) FROM tenant_auth_sign_up_requests").await;
    assert_eq!(waiting().await, 5);
    app.beside(|setup| setup.config.sign_up.is_open = false).await.tick().await;
    assert_eq!(waiting().await, 0);
}

async fn a_deployment_makes_as_many_a_day_as_its_settings_say(app: &App) {
    let app = &app.beside(|setup| setup.config.sign_up.per_day = 2).await;
    for n in 0..2 {
        let token = sign_up_token(app, &format!("rita{n}@rockets.example")).await;
        complete(&nobody(app), newcomer(&token, &format!("rockets-{n}"))).await.expect(201);
    }
    let token = sign_up_token(app, "rita@rockets.example").await;
    complete(&nobody(app), newcomer(&token, "rockets")).await.expect_error(429, "rate_limited");
    assert_eq!(last_told(app).await["limit"], "deployment");
    app.advance(DAY - 1);
    complete(&nobody(app), newcomer(&token, "rockets")).await.expect_error(429, "rate_limited");
    app.advance(1);
    let token = sign_up_token(app, "rita@rockets.example").await;
    complete(&nobody(app), newcomer(&token, "rockets")).await.expect(201);
}
