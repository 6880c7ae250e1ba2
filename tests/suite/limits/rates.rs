//! How often a member may do what is told to others (behaviour.md, B147 and B148): generous for people, tight for scripts. What is
//! refused has changed nothing and mails nobody; another organization, member and hour have counts of their own.

use serde_json::json;
use tenant_auth_conformance::{App, Caller, PASSWORD, Request, scenarios};
use tenant_auth_core::{
    audit::AuditRange,
    backend::NewApiKey,
    model::{DeploymentScope, Scope},
    org::OrganizationUpdate,
};

use crate::suite::{
    public::deployment_keys::{made, new_key},
    support::{
        hooks::{ANOTHER, Hook, RECEIVER, hooking, run_sql, texts_in},
        listener::Listener,
    },
};

scenarios![
    a_profile_is_changed_sixty_times_an_hour,
    a_member_asks_for_five_addresses_an_hour,
    an_admins_changes_are_counted,
    metadata_that_the_log_keeps_is_counted_by_the_byte,
    what_the_log_keeps_of_an_organization_is_counted_by_the_byte,
    co_admins_are_mailed_so_often_an_hour,
    who_has_no_co_admins_mails_nobody_else,
    a_webhook_that_is_disabled_again_and_again_mails_no_more,
    deliveries_are_sent_again_six_hundred_times_an_hour,
    webhooks_of_an_organization_are_tested_six_hundred_times_an_hour,
    the_product_is_counted_by_key_and_organization,
    the_process_is_not_counted,
];

const HOUR: u64 = 3_600;

/// As if the one deed that was counted had been done so many times.
async fn as_if_done(app: &App, rate: &str, times: u32) {
    run_sql(app, &format!("UPDATE tenant_auth_throttles SET failures = {times} WHERE key LIKE '{rate}:%'")).await;
}

/// Refused, until so many seconds have passed.
async fn expect_refused(request: Request, seconds: &str) {
    let answer = request.await.expect_error(429, "rate_limited");
    assert_eq!(answer.header("retry-after"), Some(seconds));
}

async fn a_profile_is_changed_sixty_times_an_hour(app: &App) {
    let (admin, max) = (app.admin().logged_in().await, app.member().logged_in().await);
    let change = |who: &Caller, n: usize| who.put("/auth/profile", json!({ "name": format!("Max {n}") }));
    for n in 1..=60 {
        change(&max, n).await.expect(200);
    }
    let mut listener = Listener::new(app, &admin).await;
    expect_refused(change(&max, 61), "3600").await;
    listener.nothing().await;
    assert_eq!(max.get("/auth/profile").await.expect_ok()["user"]["name"], "Max 60");
    change(&admin, 1).await.expect(200);
    app.advance(HOUR);
    change(&app.member().logged_in().await, 61).await.expect(200);
}

async fn a_member_asks_for_five_addresses_an_hour(app: &App) {
    let max = app.member().logged_in().await;
    let change = |who: &Caller, n: usize| {
        who.post("/auth/change-email", json!({ "newEmail": format!("max{n}@elsewhere.example"), "password": PASSWORD }))
    };
    for n in 1..=5 {
        change(&max, n).await.expect(200);
    }
    expect_refused(change(&max, 6), "3600").await;
    assert!(app.mail_to("max6@elsewhere.example").await.is_empty());
    app.advance(HOUR);
    change(&app.member().logged_in().await, 6).await.expect(200);
    assert_eq!(app.mail_to("max6@elsewhere.example").await.len(), 1);
}

/// Changes of the organization, its members, keys and webhooks share a count; what takes a right away is never refused for it.
async fn an_admins_changes_are_counted(app: &App) {
    let (admin, max) = (app.admin().logged_in().await, app.member().logged_in().await);
    let hook = Hook::new(&admin, RECEIVER, &["*"]).await;
    let key = admin.create_key("Back end").await.expect(201).data()["apiKey"]["id"].as_str().expect("an id").to_owned();
    as_if_done(app, "admin-changes", 1_999).await;
    admin.patch("/org", json!({ "name": "The last" })).await.expect(200);
    let member = format!("/org/members/{}", max.id());
    for request in [
        admin.patch("/org", json!({ "name": "One more" })),
        admin.patch(&member, json!({ "metadata": { "a": 1 } })),
        admin.set_role(max.id(), "org_admin"),
        admin.set_status(max.id(), "suspended"),
        admin.create_key("Another"),
        admin.post_nothing(&format!("/org/api-keys/{key}/rotate")),
        hooking(&admin, RECEIVER, &["*"]),
        hook.switching(&admin, "disabled"),
        hook.rotating(&admin, 0),
    ] {
        expect_refused(request, "900").await;
    }
    assert_eq!(admin.get("/org").await.expect_ok()["org"]["name"], "The last");
    app.other_org().admin().logged_in().await.patch("/org", json!({ "name": "Globex" })).await.expect(200);
    admin.delete(&format!("/org/api-keys/{key}")).await.expect(200);
    admin.delete(&hook.path()).await.expect(200);
    admin.remove(max.id()).await.expect(200);
    app.advance(900);
    app.admin().logged_in().await.patch("/org", json!({ "name": "One more" })).await.expect(200);
}

async fn co_admins_are_mailed_so_often_an_hour(app: &App) {
    let admin = app.admin().logged_in().await;
    let dora = app.org().new_admin("Dora").await;
    let hook = Hook::new(&admin, RECEIVER, &["*"]).await;
    let moved = |n: usize| admin.patch(&hook.path(), json!({ "url": if n.is_multiple_of(2) { RECEIVER } else { ANOTHER } }));
    let before = app.mail_to(dora.email()).await.len();
    let mut made = 0;
    while moved(made + 1).await.status == 200 {
        made += 1;
    }
    assert_eq!(app.mail_to(dora.email()).await.len() - before, made);
    assert!((117..=120).contains(&made), "with what was told before: {made}");
    expect_refused(moved(made + 1), "3600").await;
    expect_refused(admin.create_key("Another"), "3600").await;
    admin.patch(&hook.path(), json!({ "description": "tells nobody" })).await.expect(200);
    let key = app.org().operators_key(&[Scope::Verify]).await;
    assert!(!key.is_empty(), "the command line's are not counted");
    app.advance(HOUR);
    app.admin().logged_in().await.create_key("Another").await.expect(201);
}

async fn metadata_that_the_log_keeps_is_counted_by_the_byte(app: &App) {
    let (admin, dora) = (app.admin().logged_in().await, app.org().new_admin("Dora").await.logged_in().await);
    let max = format!("/org/members/{}", app.member().id());
    let much = |n: usize| json!({ "metadata": { "note": "x".repeat(3_000), "n": n } });
    admin.patch(&max, json!({ "metadata": { "note": "x".repeat(900) } })).await.expect(200);
    admin.patch(&max, much(1)).await.expect(200);
    let counted = texts_in(app, "SELECT CAST(failures AS TEXT) FROM tenant_auth_throttles WHERE key LIKE 'metadata-bytes:%'").await;
    let counted: usize = counted.concat().parse().expect("one number");
    assert!((3_900..4_000).contains(&counted), "what it was and what it is: {counted}");
    as_if_done(app, "metadata-bytes", 64 << 20).await;
    for who in [&admin, &dora] {
        expect_refused(who.patch(&max, much(2)), "86400").await;
    }
    assert_eq!(admin.get(&max).await.expect_ok()["member"]["metadata"]["n"], 1, "nothing was changed");
    admin.set_role(app.member().id(), "org_admin").may_fail().await.expect_error(429, "rate_limited");
    admin.set_status(app.member().id(), "suspended").await.expect(200); // a right that is taken away
    let elsewhere = app.other_org();
    let (greta, gus) = (elsewhere.admin().logged_in().await, format!("/org/members/{}", elsewhere.member().id()));
    greta.patch(&gus, much(1)).await.expect(200);
    app.advance(24 * HOUR);
    app.admin().logged_in().await.patch(&max, json!({ "metadata": { "n": 3 } })).await.expect(200);
}

async fn what_the_log_keeps_of_an_organization_is_counted_by_the_byte(app: &App) {
    let admin = app.admin().logged_in().await;
    let at = |page: char| json!({ "appUrl": format!("https://app.acme.example/{}", page.to_string().repeat(1_500)) });
    admin.patch("/org", at('a')).await.expect(200);
    admin.patch("/org", json!({ "name": "Acme", "allowedOrigins": ["https://admin.acme.example"] })).await.expect(200);
    admin.patch("/org", at('b')).await.expect(200);
    let counted = texts_in(app, "SELECT CAST(failures AS TEXT) FROM tenant_auth_throttles WHERE key LIKE 'metadata-bytes:%'").await;
    let counted: usize = counted.concat().parse().expect("one number");
    assert!((7_500..8_000).contains(&counted), "what it was and what it is, three times: {counted}");
    as_if_done(app, "metadata-bytes", 64 << 20).await;
    expect_refused(admin.patch("/org", at('c')), "86400").await;
    admin.patch("/org", json!({ "allowedOrigins": [] })).await.expect(200); // a right that is taken away
    admin.patch("/org", json!({ "appUrl": null })).await.expect(200);
    app.other_org().admin().logged_in().await.patch("/org", at('a')).await.expect(200);
    app.advance(24 * HOUR);
    app.admin().logged_in().await.patch("/org", at('c')).await.expect(200);
}

async fn who_has_no_co_admins_mails_nobody_else(app: &App) {
    let admin = app.admin().logged_in().await;
    let before = app.mail_to(admin.email()).await.len();
    let hook = Hook::new(&admin, RECEIVER, &["*"]).await;
    for n in 0..130_usize {
        let url = if n.is_multiple_of(2) { ANOTHER } else { RECEIVER };
        admin.patch(&hook.path(), json!({ "url": url })).await.expect(200);
    }
    let told = app.mail_to(admin.email()).await.len() - before;
    assert!((117..=120).contains(&told), "with what was told before: {told}");
    let dora = app.org().new_admin("Dora").await;
    let before = app.mail_to(dora.email()).await.len();
    admin.create_key("Back end").await.expect(201);
    assert_eq!(app.mail_to(dora.email()).await.len() - before, 1, "nobody else's notices are left out");
}

async fn a_webhook_that_is_disabled_again_and_again_mails_no_more(app: &App) {
    let admin = app.admin().logged_in().await;
    let dora = app.org().new_admin("Dora").await;
    let hook = Hook::new(&admin, RECEIVER, &["*"]).await;
    hook.answers(app, &[410]);
    as_if_done(app, "notices", 91).await;
    let before = app.mail_to(dora.email()).await.len();
    for round in 0..35 {
        hook.test(&admin).await;
        app.tick().await;
        assert_eq!(hook.shown(&admin).await["status"], "disabled", "round {round}");
        hook.switching(&admin, "active").await.expect(200);
    }
    let told = app.mail_to(dora.email()).await.len() - before;
    assert!((27..=29).contains(&told), "with what was told before: {told}");
}

async fn deliveries_are_sent_again_six_hundred_times_an_hour(app: &App) {
    let (admin, greta) = (app.admin().logged_in().await, app.other_org().admin().logged_in().await);
    let hook = Hook::new(&admin, RECEIVER, &["*"]).await;
    let theirs = Hook::new(&greta, ANOTHER, &["*"]).await;
    let (delivery, elsewhere) = (hook.test(&admin).await, theirs.test(&greta).await);
    app.tick().await;
    hook.redelivering(&admin, &delivery).await.expect(202);
    as_if_done(app, "redeliveries", 599).await;
    hook.redelivering(&admin, &delivery).await.expect(202);
    let made = hook.log(&admin).await.len();
    expect_refused(hook.redelivering(&admin, &delivery), "3600").await;
    assert_eq!(hook.log(&admin).await.len(), made);
    theirs.redelivering(&greta, &elsewhere).await.expect(202);
    app.advance(HOUR);
    hook.redelivering(&app.admin().logged_in().await, &delivery).await.expect(202);
}

/// A webhook that is deleted and made again begins its own count anew, and not its organization's.
async fn webhooks_of_an_organization_are_tested_six_hundred_times_an_hour(app: &App) {
    let (admin, greta) = (app.admin().logged_in().await, app.other_org().admin().logged_in().await);
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    let theirs = Hook::new(&greta, ANOTHER, &["org.updated"]).await;
    hook.test(&admin).await;
    as_if_done(app, "test-deliveries", 599).await;
    hook.test(&admin).await;
    expect_refused(hook.testing(&admin), "3600").await;
    admin.delete(&hook.path()).await.expect(200);
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    expect_refused(hook.testing(&admin), "3600").await;
    theirs.test(&greta).await;
    app.advance(HOUR);
    hook.test(&app.admin().logged_in().await).await;
}

async fn the_product_is_counted_by_key_and_organization(app: &App) {
    let key = async || app.anonymous().backend_with(&made(app, new_key(&[DeploymentScope::Admin])).await.1);
    let (product, another) = (key().await, key().await);
    product.patch("/org", json!({ "name": "The last" })).await.expect(200);
    as_if_done(app, "admin-changes", 2_000).await;
    expect_refused(product.patch("/org", json!({ "name": "One more" })), "900").await;
    expect_refused(product.set_metadata(app.member().id(), json!({ "a": 1 })), "900").await;
    product.clone().at_org("globex").patch("/org", json!({ "name": "Globex" })).await.expect(200);
    app.admin().logged_in().await.patch("/org", json!({ "name": "Ada's" })).await.expect(200);
    another.patch("/org", json!({ "name": "Another's" })).await.expect(200);
    // The only admin is mailed, who did nothing; the organization's deeds are counted together.
    another.create_key("Back end").await.expect(201);
    as_if_done(app, "notices", 120).await;
    expect_refused(another.create_key("Another"), "3600").await;
}

async fn the_process_is_not_counted(app: &App) {
    let (admin, operator) = (app.admin().logged_in().await, app.auth.operator());
    app.org().new_admin("Dora").await;
    admin.create_key("Back end").await.expect(201);
    for (rate, times) in [("admin-changes", 2_000), ("notices", 120)] {
        as_if_done(app, rate, times).await;
    }
    expect_refused(admin.patch("/org", json!({ "name": "One more" })), "900").await;
    let process = operator.in_organization(&"acme".parse().expect("a slug")).await.expect("it is there");
    process.update_organization(OrganizationUpdate::default()).await.expect("it is not counted");
    let new = NewApiKey { name: "Mine".parse().expect("a name"), scopes: vec![Scope::Verify], expires_at: None };
    process.create_api_key(new).await.expect("it is not counted, and mails all the same");
    let exports = [process.export_audit(AuditRange::default()).await, process.export_audit(AuditRange::default()).await];
    assert!(exports.iter().all(Result::is_ok), "one beside the other");
    admin.post_nothing("/org/audit/export").await.expect(200);
    expect_refused(admin.create_key("Another"), "900").await;
}
