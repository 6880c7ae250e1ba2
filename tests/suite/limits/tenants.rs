//! No tenant steers what is counted elsewhere (behaviour.md, B87): whatever addresses a backend states, they are its own
//! organization's. Nor does a tenant's work hold up others' (B303). Globex is the tenant that means no good.

use std::{future::IntoFuture, time::Duration};

use serde_json::json;
use tenant_auth_conformance::{App, Caller, PASSWORD, hold_sql, scenarios};
use tenant_auth_core::model::Scope;

use crate::suite::{
    limits::addresses::{at, behind_proxy},
    storage::locks::so_many_wait,
    support::{
        account::in_both,
        authenticator::guarded_member,
        hooks::{ANOTHER, Hook, run_sql},
    },
};

scenarios![
    nobody_is_locked_out_elsewhere,
    an_account_is_not_locked_out_elsewhere_by_many_addresses,
    no_address_is_blocked_elsewhere,
    no_count_is_cleared_elsewhere,
    no_count_is_cleared_elsewhere_by_a_second_step,
    where_a_person_logs_in_from_cannot_be_probed,
    stated_addresses_do_not_spray,
    strangers_do_not_close_the_way_for_members,
    writes_that_wait_for_each_other_hold_no_connections_of_others,
    a_change_that_is_refused_waits_for_no_other,
];

const WRONG: &str = "not-the-password";
const HOME: &str = "203.0.113.7";

/// Tries with globex's key and whatever address it states.
async fn globex_states(app: &App, ip: &str) -> Caller {
    let key = app.other_org().operators_key(&[Scope::Proxy]).await;
    stating(app, &key, ip)
}

fn stating(app: &App, key: &str, ip: &str) -> Caller {
    app.other_org().anonymous().with("X-API-Key", key).with("X-Client-IP", ip)
}

async fn nobody_is_locked_out_elsewhere(app: &App) {
    let app = behind_proxy(app).await;
    let evil = globex_states(&app, HOME).await;
    for _ in 0..5 {
        evil.login_with(app.member().email(), WRONG).await.expect_error(401, "invalid_credentials");
    }
    evil.login_with(app.member().email(), WRONG).await.expect_error(429, "rate_limited");
    at(app.member(), HOME).login().await.expect(200);
}

async fn an_account_is_not_locked_out_elsewhere_by_many_addresses(app: &App) {
    let app = app.beside(|setup| setup.config.login.max_failures_per_account = 10).await;
    let app = behind_proxy(&app).await;
    let key = app.other_org().operators_key(&[Scope::Proxy]).await;
    for n in 0..10 {
        let evil = stating(&app, &key, &format!("198.51.100.{n}"));
        evil.login_with(app.member().email(), WRONG).await.expect_error(401, "invalid_credentials");
    }
    let evil = stating(&app, &key, "198.51.100.99");
    evil.login_with(app.member().email(), WRONG).await.expect_error(429, "rate_limited");
    at(app.member(), HOME).login().await.expect(200);
}

async fn no_address_is_blocked_elsewhere(app: &App) {
    let app = app.beside(|setup| setup.config.login.max_failures_per_ip = 10).await;
    let app = behind_proxy(&app).await;
    let evil = globex_states(&app, HOME).await;
    for n in 0..10 {
        evil.login_with(&format!("nobody-{n}@acme.example"), WRONG).await.expect_error(401, "invalid_credentials");
    }
    evil.login_with("nobody@acme.example", WRONG).await.expect_error(429, "rate_limited");
    at(app.member(), HOME).login().await.expect(200);
}

/// Max belongs to globex too: a login there, stated to come from where acme is being attacked, must not reset acme's count.
async fn no_count_is_cleared_elsewhere(app: &App) {
    let app = behind_proxy(app).await;
    in_both(&app).await;
    for _ in 0..4 {
        at(app.anonymous(), HOME).login_with(app.member().email(), WRONG).await.expect(401);
    }
    globex_states(&app, HOME).await.login_with(app.member().email(), PASSWORD).await.expect(200);
    at(app.anonymous(), HOME).login_with(app.member().email(), WRONG).await.expect(401);
    at(app.member(), HOME).login().await.expect_error(429, "rate_limited");
}

async fn no_count_is_cleared_elsewhere_by_a_second_step(app: &App) {
    let app = behind_proxy(app).await;
    in_both(&app).await;
    let (_, authenticator) = guarded_member(&app).await;
    for _ in 0..4 {
        at(app.anonymous(), HOME).login_with(app.member().email(), WRONG).await.expect(401);
    }
    let evil = globex_states(&app, HOME).await;
    evil.login_with(app.member().email(), PASSWORD).await.expect(200);
    let code = serde_json::json!({ "code": authenticator.code(&app) });
    evil.post("/auth/verify-2fa", code).await.expect(200);
    at(app.anonymous(), HOME).login_with(app.member().email(), WRONG).await.expect(401);
    at(app.member(), HOME).login().await.expect_error(429, "rate_limited");
}

/// Once the account is blocked, only addresses that it logged in from are let through: elsewhere that must tell nothing.
async fn where_a_person_logs_in_from_cannot_be_probed(app: &App) {
    let app = app.beside(|setup| setup.config.login.max_failures_per_account = 10).await;
    let app = behind_proxy(&app).await;
    at(app.member(), HOME).login().await.expect(200);
    let key = app.other_org().operators_key(&[Scope::Proxy]).await;
    for n in 0..10 {
        stating(&app, &key, &format!("198.51.100.{n}")).login_with(app.member().email(), WRONG).await.expect(401);
    }
    for ip in [HOME, "203.0.113.8"] {
        stating(&app, &key, ip).login_with(app.member().email(), WRONG).await.expect_error(429, "rate_limited");
    }
}

/// One password for everybody, each from an address of its own: after so many, strangers' passwords are wrong whatever they are.
async fn stated_addresses_do_not_spray(app: &App) {
    let app = app.beside(|setup| setup.config.login.max_failures_per_ip = 5).await;
    let key = app.other_org().operators_key(&[Scope::Proxy]).await;
    for n in 0..5 {
        let evil = stating(&app, &key, &format!("198.51.100.{n}"));
        evil.login_with(app.admin().email(), WRONG).await.expect_error(401, "invalid_credentials");
    }
    let evil = stating(&app, &key, "198.51.100.77");
    evil.login_with(app.member().email(), PASSWORD).await.expect_error(401, "invalid_credentials");
    app.member().login().await.expect(200);
    app.advance(15 * 60);
    evil.login_with(app.member().email(), PASSWORD).await.expect_error(403, "not_a_member");
}

async fn strangers_do_not_close_the_way_for_members(app: &App) {
    let app = app.beside(|setup| setup.config.login.max_failures_per_ip = 5).await;
    let key = app.other_org().operators_key(&[Scope::Proxy]).await;
    for n in 0..20 {
        let stranger = stating(&app, &key, &format!("198.51.100.{n}"));
        stranger.login_with(&format!("nobody-{n}@globex.example"), WRONG).await.expect_error(401, "invalid_credentials");
    }
    let member = app.other_org().member();
    member.clone().with("X-API-Key", &key).with("X-Client-IP", HOME).login().await.expect(200);
}

const HOLD_GLOBEX: &str = "BEGIN; SELECT id FROM tenant_auth_organizations WHERE slug = 'globex' FOR UPDATE";

/// More writes than there are connections, and somebody holds what they wait for.
async fn writes_that_wait_for_each_other_hold_no_connections_of_others(app: &App) {
    // SQLite has one writer, which nobody holds while waiting.
    let Some(url) = app.database().url() else { return };
    let evil = app.other_org().member().logged_in().await;
    let held = hold_sql(&url, HOLD_GLOBEX).expect("it is free");
    let writes: Vec<_> = (0..20)
        .map(|n| tokio::spawn(evil.put("/auth/profile", json!({ "name": format!("Name {n}") })).may_fail().into_future()))
        .collect();
    so_many_wait(&url, 2).await;
    tokio::time::sleep(Duration::from_millis(500)).await; // the others have come
    app.member().login().await.expect(200);
    app.admin().logged_in().await.patch("/org", json!({ "name": "Acme" })).await.expect(200);
    tokio::task::spawn_blocking(move || drop(held)).await.expect("it ends");
    for write in writes {
        let status = write.await.expect("it was answered").status;
        assert!([200, 503].contains(&status), "{status}");
    }
    evil.put("/auth/profile", json!({ "name": "The last" })).await.expect(200);
}

async fn a_change_that_is_refused_waits_for_no_other(app: &App) {
    let Some(url) = app.database().url() else { return };
    let (evil, admin) = (app.other_org().member().logged_in().await, app.other_org().admin().logged_in().await);
    let profile = || evil.put("/auth/profile", json!({ "name": "Gus" }));
    let details = || admin.patch("/org", json!({ "name": "Globex" }));
    let address = || evil.post("/auth/change-email", json!({ "newEmail": "gus@elsewhere.example", "password": PASSWORD }));
    profile().await.expect(200);
    details().await.expect(200);
    address().await.expect(200);
    let hook = Hook::new(&admin, ANOTHER, &["org.updated"]).await;
    let delivery = hook.test(&admin).await;
    app.tick().await;
    hook.redelivering(&admin, &delivery).await.expect(202);
    let spent = "UPDATE tenant_auth_throttles SET failures = 2000 WHERE key LIKE '%-changes:%' OR key LIKE '%deliveries:%'";
    run_sql(app, spent).await;
    let held = hold_sql(&url, HOLD_GLOBEX).expect("it is free");
    profile().await.expect_error(429, "rate_limited");
    details().await.expect_error(429, "rate_limited");
    address().await.expect_error(429, "rate_limited");
    hook.testing(&admin).await.expect_error(429, "rate_limited");
    hook.redelivering(&admin, &delivery).await.expect_error(429, "rate_limited");
    tokio::task::spawn_blocking(move || drop(held)).await.expect("it ends");
}
