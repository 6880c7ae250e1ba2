//! The wide limits (behaviour.md, B83 and B84): of one address over all accounts, and of one account over all addresses.
//! Neither concerns an address from which the account came in lately, so that no stranger can lock a person out.

use serde_json::json;
use tenant_auth_conformance::{App, Caller, PASSWORD, Response, scenarios};
use tenant_auth_core::{model::Role, operator::NewUser, secret::Password};

use crate::suite::{
    auth::{
        recovery::reset::{forgot, reset},
        sign_up::{complete, nobody, sign_up_token},
    },
    limits::addresses::{at, behind_proxy},
    support::{
        account::{NEW, mailed_token},
        authenticator::{SecondFactor, guarded_member},
    },
};

scenarios![
    fifty_failures_close_an_address_for_every_account,
    an_address_is_closed_until_its_window_ends,
    an_ipv6_network_is_one_address,
    a_hundred_failures_close_an_account_everywhere,
    a_hundred_failures_close_an_unknown_account_alike,
    a_completed_login_clears_neither_wide_count,
    a_reset_password_forgives_widely_too,
    who_came_in_from_an_address_lately_is_not_shut_out_there,
    an_address_is_known_for_thirty_days,
    an_account_is_known_at_its_last_fifty_addresses,
    a_known_address_has_its_five_tries_all_the_same,
    a_known_address_is_known_for_its_account_only,
    known_addresses_follow_an_account_to_its_new_email_address,
    nobody_is_known_by_the_email_address_of_a_deleted_account,
    a_takeover_forgets_where_the_account_was_known,
    accepting_an_invite_makes_no_address_known,
    the_first_step_alone_makes_no_address_known,
    wrong_confirmations_count_widely_too,
    the_limits_follow_the_settings,
];

const WRONG: &str = "not-the-password";
const HOUR: u64 = 60 * 60;
const DAY: u64 = 24 * HOUR;

#[track_caller]
fn expect_blocked(answer: Response) -> u64 {
    let refused = answer.expect_error(429, "rate_limited");
    refused.header("Retry-After").expect("a Retry-After").parse().expect("whole seconds")
}

/// So many wrong passwords from an address, each for another account.
async fn spray(app: &App, ip: &str, accounts: std::ops::Range<usize>) {
    for n in accounts {
        let guess = at(app.anonymous(), ip).login_with(&format!("nobody{n}@acme.example"), WRONG).await;
        guess.expect_error(401, "invalid_credentials");
    }
}

/// So many wrong passwords for an account, four from each address of a network.
async fn besiege(app: &App, email: &str, network: &str, times: usize) {
    for n in 0..times {
        let guess = at(app.anonymous(), &format!("{network}.{}", n / 4)).login_with(email, WRONG).await;
        guess.expect_error(401, "invalid_credentials");
    }
}

async fn login_from(caller: Caller, ip: &str) -> Response {
    at(caller, ip).login().await
}

async fn fifty_failures_close_an_address_for_every_account(app: &App) {
    let app = behind_proxy(app).await;
    spray(&app, "203.0.113.1", 0..50).await;
    expect_blocked(login_from(app.member(), "203.0.113.1").await);
    expect_blocked(at(app.anonymous(), "203.0.113.1").login_with("another@acme.example", WRONG).await);
    expect_blocked(login_from(app.other_org().member(), "203.0.113.1").await);
    login_from(app.member(), "203.0.113.2").await.expect(200);
    app.member().login().await.expect(200);
}

async fn an_address_is_closed_until_its_window_ends(app: &App) {
    let app = behind_proxy(app).await;
    spray(&app, "203.0.113.1", 0..50).await;
    assert_eq!(expect_blocked(login_from(app.member(), "203.0.113.1").await), 900);
    app.advance(899);
    assert_eq!(expect_blocked(login_from(app.member(), "203.0.113.1").await), 1);
    app.advance(1);
    login_from(app.member(), "203.0.113.1").await.expect(200);
    spray(&app, "203.0.113.1", 100..150).await;
    expect_blocked(login_from(app.admin(), "203.0.113.1").await);
}

async fn an_ipv6_network_is_one_address(app: &App) {
    let app = behind_proxy(app).await;
    for n in 0..50 {
        spray(&app, &format!("2001:db8:1:2:{n:x}::1"), n..n + 1).await;
    }
    expect_blocked(login_from(app.member(), "2001:db8:1:2:ffff::").await);
    login_from(app.member(), "2001:db8:1:3::").await.expect(200);
}

async fn a_hundred_failures_close_an_account_everywhere(app: &App) {
    let app = behind_proxy(app).await;
    besiege(&app, app.member().email(), "203.0.113", 100).await;
    assert_eq!(expect_blocked(login_from(app.member(), "198.51.100.1").await), HOUR);
    expect_blocked(app.member().login().await);
    login_from(app.admin(), "198.51.100.1").await.expect(200);
    app.advance(HOUR - 1);
    assert_eq!(expect_blocked(login_from(app.member(), "198.51.100.1").await), 1);
    app.advance(1);
    login_from(app.member(), "198.51.100.1").await.expect(200);
}

async fn a_hundred_failures_close_an_unknown_account_alike(app: &App) {
    let app = behind_proxy(app).await;
    let nobody = "nobody@acme.example";
    besiege(&app, nobody, "203.0.113", 100).await;
    assert_eq!(expect_blocked(at(app.anonymous(), "198.51.100.1").login_with(nobody, WRONG).await), HOUR);
}

async fn a_completed_login_clears_neither_wide_count(app: &App) {
    let app = behind_proxy(app).await;
    spray(&app, "203.0.113.1", 0..49).await;
    login_from(app.admin(), "203.0.113.1").await.expect(200);
    spray(&app, "203.0.113.1", 49..50).await;
    expect_blocked(login_from(app.member(), "203.0.113.1").await);

    besiege(&app, app.member().email(), "198.51.100", 99).await;
    login_from(app.member(), "192.0.2.1").await.expect(200);
    at(app.anonymous(), "192.0.2.2").login_with(app.member().email(), WRONG).await.expect(401);
    expect_blocked(login_from(app.member(), "192.0.2.3").await);
    at(app.anonymous(), "198.51.100.0").login_with(app.member().email(), WRONG).await.expect(429);
}

async fn a_reset_password_forgives_widely_too(app: &App) {
    let app = behind_proxy(app).await;
    besiege(&app, app.member().email(), "203.0.113", 100).await;
    expect_blocked(login_from(app.member(), "198.51.100.1").await);
    forgot(&app.anonymous(), app.member().email()).await.expect(200);
    let token = mailed_token(&app, app.member().email(), "reset").await;
    reset(&app.anonymous(), &token, NEW).await.expect(200);
    at(app.anonymous(), "198.51.100.1").login_with(app.member().email(), NEW).await.expect(200);
}

async fn who_came_in_from_an_address_lately_is_not_shut_out_there(app: &App) {
    let app = behind_proxy(app).await;
    login_from(app.member(), "192.0.2.1").await.expect(200);
    login_from(app.member(), "2001:db8:1:2::1").await.expect(200);
    besiege(&app, app.member().email(), "203.0.113", 100).await;
    spray(&app, "192.0.2.1", 0..50).await;
    for home in ["192.0.2.1", "2001:db8:1:2::1", "2001:db8:1:2:3::"] {
        login_from(app.member(), home).await.expect(200);
    }
    expect_blocked(login_from(app.member(), "192.0.2.2").await);
    expect_blocked(login_from(app.admin(), "192.0.2.1").await);
}

async fn an_address_is_known_for_thirty_days(app: &App) {
    let app = behind_proxy(app).await;
    for (home, since) in [("192.0.2.1", 1), ("192.0.2.2", 0)] {
        login_from(app.member(), home).await.expect(200);
        app.advance(since);
    }
    app.advance(30 * DAY - 1);
    app.tick().await;
    besiege(&app, app.member().email(), "203.0.113", 100).await;
    expect_blocked(login_from(app.member(), "192.0.2.1").await);
    login_from(app.member(), "192.0.2.2").await.expect(200);
}

async fn an_account_is_known_at_its_last_fifty_addresses(app: &App) {
    let app = behind_proxy(app).await;
    for home in ["192.0.2.1", "192.0.2.2"] {
        login_from(app.member(), home).await.expect(200);
        app.advance(1);
    }
    for n in 1..50 {
        login_from(app.member(), &format!("198.51.100.{n}")).await.expect(200);
    }
    besiege(&app, app.member().email(), "203.0.113", 100).await;
    expect_blocked(login_from(app.member(), "192.0.2.1").await);
    login_from(app.member(), "192.0.2.2").await.expect(200);
}

async fn a_known_address_has_its_five_tries_all_the_same(app: &App) {
    let app = behind_proxy(app).await;
    login_from(app.member(), "192.0.2.1").await.expect(200);
    for _ in 0..5 {
        at(app.anonymous(), "192.0.2.1").login_with(app.member().email(), WRONG).await.expect(401);
    }
    assert_eq!(expect_blocked(login_from(app.member(), "192.0.2.1").await), 60);
}

async fn a_known_address_is_known_for_its_account_only(app: &App) {
    let app = behind_proxy(app).await;
    login_from(app.admin(), "192.0.2.1").await.expect(200);
    besiege(&app, app.member().email(), "203.0.113", 100).await;
    expect_blocked(login_from(app.member(), "192.0.2.1").await);
}

/// A member of the organization who was never here.
async fn newcomer(app: &App, email: &str) {
    let (email, name) = (email.parse().expect("an address"), "Nia".parse().expect("a name"));
    let new = NewUser { email, name, role: Role::Member, password: Password::new(PASSWORD) };
    app.auth.operator().create_user(&"acme".parse().expect("a slug"), new).await.expect("a new address");
}

async fn known_addresses_follow_an_account_to_its_new_email_address(app: &App) {
    let app = behind_proxy(app).await;
    let (old, new) = (app.member().email().to_owned(), "max.next@elsewhere.example");
    login_from(app.member(), "192.0.2.1").await.expect(200);
    let member = app.member().logged_in().await;
    member.post("/auth/change-email", json!({ "newEmail": new, "password": PASSWORD })).await.expect(200);
    let token = mailed_token(&app, new, "change-email").await;
    member.post("/auth/change-email/confirm", json!({ "token": token })).await.expect(200);
    besiege(&app, new, "203.0.113", 100).await;
    at(app.anonymous(), "192.0.2.1").login_with(new, PASSWORD).await.expect(200);
    expect_blocked(at(app.anonymous(), "192.0.2.2").login_with(new, PASSWORD).await);
    newcomer(&app, &old).await;
    besiege(&app, &old, "198.51.100", 100).await;
    expect_blocked(at(app.anonymous(), "192.0.2.1").login_with(&old, PASSWORD).await);
}

async fn nobody_is_known_by_the_email_address_of_a_deleted_account(app: &App) {
    let app = behind_proxy(app).await;
    let email = app.member().email().to_owned();
    login_from(app.member(), "192.0.2.1").await.expect(200);
    app.auth.operator().delete_user(&email.parse().expect("an address")).await.expect("an account");
    newcomer(&app, &email).await;
    besiege(&app, &email, "203.0.113", 100).await;
    expect_blocked(at(app.anonymous(), "192.0.2.1").login_with(&email, PASSWORD).await);
}

async fn a_takeover_forgets_where_the_account_was_known(app: &App) {
    let app = behind_proxy(app).await;
    for way in ["invite", "reset", "sign-up"] {
        let email = &format!("{way}@elsewhere.example");
        newcomer(&app, email).await;
        at(app.anonymous(), "192.0.2.1").login_with(email, PASSWORD).await.expect(200);
        let org = if way == "invite" { app.other_org() } else { app.org() };
        match way {
            "invite" => {
                org.admin().logged_in().await.invite(email).await.expect(201);
                let invite = app.link_token_of(email).await;
                org.anonymous().accept_with_account(&invite).await.expect(200);
            }
            "reset" => drop(forgot(&org.anonymous(), email).await.expect(200)),
            _ => {
                let (token, made) = (sign_up_token(&app, email).await, json!({ "name": "Rockets", "slug": "rockets" }));
                let hers = json!({ "token": token, "organization": made, "name": "Nia", "password": NEW });
                complete(&nobody(&app), hers).await.expect(201);
            }
        }
        if way != "sign-up" {
            let reset_link = app.link_token_of(email).await;
            reset(&org.anonymous(), &reset_link, NEW).await.expect(200);
        }
        besiege(&app, email, "203.0.113", 100).await;
        expect_blocked(at(app.anonymous(), "192.0.2.1").login_with(email, NEW).await);
        app.advance(HOUR);
    }
}

async fn accepting_an_invite_makes_no_address_known(app: &App) {
    let app = behind_proxy(app).await;
    let greta = app.other_org().admin().logged_in().await;
    greta.invite(app.member().email()).await.expect(201);
    let token = app.link_token_of(app.member().email()).await;
    at(app.other_org().anonymous(), "192.0.2.1").accept_with_account(&token).await.expect(200);
    besiege(&app, app.member().email(), "203.0.113", 100).await;
    expect_blocked(login_from(app.member(), "192.0.2.1").await);
}

async fn the_first_step_alone_makes_no_address_known(app: &App) {
    let app = behind_proxy(app).await;
    let (_, authenticator) = guarded_member(&app).await;
    at(app.member(), "192.0.2.1").waiting().await;
    at(app.member(), "192.0.2.2").waiting().await.enter(&authenticator.code(&app)).await.expect(200);
    besiege(&app, app.member().email(), "203.0.113", 100).await;
    expect_blocked(login_from(app.member(), "192.0.2.1").await);
    login_from(app.member(), "192.0.2.2").await.expect(200);
}

async fn wrong_confirmations_count_widely_too(app: &App) {
    let app = behind_proxy(app).await;
    let member = app.member().logged_in().await;
    besiege(&app, app.member().email(), "203.0.113", 98).await;
    let thief = |ip| at(app.anonymous(), ip).with_bearer(&member.access_token());
    thief("198.51.100.1").set_up(WRONG).await.expect_error(401, "wrong_password");
    thief("198.51.100.2").change_password(WRONG, "velvet-anchor-93-comet").await.expect_error(401, "wrong_password");
    expect_blocked(thief("198.51.100.3").set_up(PASSWORD).await);
    expect_blocked(login_from(app.member(), "198.51.100.4").await);
    member.set_up(PASSWORD).await.expect(200);
}

async fn the_limits_follow_the_settings(app: &App) {
    let app = app
        .beside(|setup| {
            setup.config.network.trusted_proxies = vec!["127.0.0.0/8".parse().expect("a network")];
            setup.config.login.max_failures_per_ip = 3;
            setup.config.login.max_failures_per_account = 4;
        })
        .await;
    spray(&app, "203.0.113.1", 0..3).await;
    expect_blocked(login_from(app.admin(), "203.0.113.1").await);
    for n in 0..4 {
        at(app.anonymous(), &format!("198.51.100.{n}")).login_with(app.member().email(), WRONG).await.expect(401);
    }
    expect_blocked(login_from(app.member(), "192.0.2.1").await);
}
