//! The removal of an organization: it is unknown from one moment on, and nothing is left of it in the end (behaviour.md, B192 and B194).

use std::time::Duration;

use serde_json::json;
use tenant_auth_conformance::{App, Caller, PASSWORD, id_of, logs, scenarios};
use tenant_auth_core::{Error, model::DeploymentScope::Organizations, ports::Clock, value::Slug};

use crate::suite::{
    admin::operators::operator,
    public::deployment_keys::{made, new_key},
    support::{
        account::{change_address, in_both},
        authenticator::SecondFactor,
        chain::verified,
        hooks::{Hook, RECEIVER, run_sql, sent_to, texts_in},
    },
};

scenarios![on each database:
    an_organization_whose_time_has_come_is_unknown,
    nothing_is_left_of_a_removed_organization,
    an_account_goes_with_its_last_membership,
    an_account_that_goes_is_erased_by_its_former_address_too,
    what_others_told_of_an_address_that_nobody_proved_stays,
    an_account_stays_while_an_invite_waits_for_its_address,
    an_account_that_goes_withdraws_the_invites_it_sent_elsewhere,
    who_goes_while_the_organization_is_removed_leaves_it_to_the_removal,
    who_had_gone_before_keeps_the_account,
    accounts_that_belong_to_no_organization_are_found,
    a_removed_slug_is_not_given_out_again,
    without_days_it_is_removed_at_once,
    a_removal_that_fails_names_its_organization_and_goes_on,
    a_removal_that_a_clock_ahead_held_goes_on,
];

pub(super) const DAY: u64 = 24 * 3_600;

pub(crate) fn globex() -> Slug {
    "globex".parse().expect("a slug")
}

pub(super) async fn remove(app: &App) {
    app.auth.operator().delete_organization_now(&globex()).await.expect("it is there");
}

pub(crate) async fn number(app: &App, query: &str) -> i64 {
    texts_in(app, query).await[0].parse().expect("a number")
}

pub(crate) async fn id_of_globex(app: &App) -> String {
    texts_in(app, "SELECT id FROM tenant_auth_organizations WHERE slug = 'globex'").await.remove(0)
}

async fn has_account(app: &App, email: &str) -> bool {
    number(app, &format!("SELECT CAST(COUNT(*) AS TEXT) FROM tenant_auth_users WHERE email_key = '{}'", email.to_lowercase())).await
        > 0
}

/// Every table that holds something of an organization, but for the log of changes, which says for minutes that there was one.
async fn tables(app: &App) -> Vec<String> {
    let query = match app.database().url() {
        Some(_) => {
            "SELECT table_name FROM information_schema.columns
              WHERE table_schema = current_schema() AND table_name LIKE 'tenant_auth_%' AND column_name = 'org_id'"
        }
        None => {
            "SELECT t.name FROM sqlite_master t JOIN pragma_table_info(t.name) c
              WHERE t.type = 'table' AND t.name LIKE 'tenant_auth_%' AND c.name = 'org_id'"
        }
    };
    let mut tables = texts_in(app, query).await;
    tables.retain(|table| table != "tenant_auth_changes");
    assert!(tables.len() >= 15, "the walk sees nothing: {tables:?}");
    tables
}

/// How many rows of each table are about an organization.
async fn rows(app: &App, org: &str) -> Vec<(String, i64)> {
    let mut found = Vec::new();
    for table in tables(app).await {
        let rows = number(app, &format!("SELECT CAST(COUNT(*) AS TEXT) FROM {table} WHERE org_id = '{org}'")).await;
        found.push((table, rows));
    }
    found
}

pub(super) async fn expect_nothing_left(app: &App, org: &str) {
    let left: Vec<_> = rows(app, org).await.into_iter().filter(|(_, rows)| *rows > 0).collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(!is_there(app, org).await);
}

pub(super) async fn is_there(app: &App, org: &str) -> bool {
    number(app, &format!("SELECT CAST(COUNT(*) AS TEXT) FROM tenant_auth_organizations WHERE id = '{org}'")).await > 0
}

/// `acme` is told of an address that is nobody's there.
pub(super) async fn told_of(app: &App, email: &str) -> Caller {
    let admin = app.admin().logged_in().await;
    told_by(&admin, email).await;
    admin
}

/// The same by an admin who is logged in.
pub(crate) async fn told_by(admin: &Caller, email: &str) {
    admin.invite(email).await.expect(201);
    let invites = admin.pending_invites().await;
    admin.delete(&format!("/org/invites/{}", id_of(&invites[0]))).await.expect(200);
}

/// `globex` with something of everything.
pub(super) async fn furnished(app: &App) -> String {
    let greta = app.other_org().admin().logged_in().await;
    greta.patch("/org", json!({ "appUrl": "https://globex.example/app" })).await.expect(200);
    greta.invite("waiting@globex.example").await.expect(201);
    let hook = Hook::new(&greta, RECEIVER, &["*"]).await;
    hook.test(&greta).await;
    let gus = app.other_org().member().logged_in().await;
    gus.guard(app).await;
    app.other_org().anonymous().post("/auth/forgot-password", json!({ "email": gus.email() })).await.expect(200);
    app.tick().await;
    app.other_org().anonymous().post("/auth/forgot-password", json!({ "email": greta.email() })).await.expect(200);
    app.other_org().member().login().await.expect(200);
    greta.patch("/org", json!({ "name": "Globex and more" })).await.expect(200); // which waits to be told
    let org = id_of_globex(app).await;
    let linked =
        format!("INSERT INTO tenant_auth_linked_people (org_id, former_id, user_id) VALUES ('{org}', 'usr_1', '{}')", gus.id());
    run_sql(app, &linked).await;
    run_sql(app, &format!("INSERT INTO tenant_auth_audit_exports (org_id, token, held_until) VALUES ('{org}', 't', 0)")).await;
    org
}

/// It is nowhere, to nobody.
async fn expect_unknown(app: &App, former: &Caller) {
    let org = app.other_org();
    org.anonymous().get("/org").await.expect_error(404, "unknown_organization");
    org.anonymous().login_with(former.email(), PASSWORD).await.expect_error(404, "unknown_organization");
    former.get("/org").await.expect_error(404, "unknown_organization");
    former.copied().at_org("acme").get("/org").await.expect_no_session();
    former.refresh().await.expect_error(404, "unknown_organization");
    org.backend().verify(&former.access_token()).await.expect_error(401, "invalid_api_key");
    org.backend().get("/public/members").await.expect_error(401, "invalid_api_key");
    let product = app.anonymous().without_slug().with("X-API-Key", &made(app, new_key(&[Organizations])).await.1);
    let path = "/admin/organizations/globex";
    product.get(path).await.expect_error(404, "not_found");
    product.delete(path).await.expect_error(404, "not_found");
    for change in [json!({ "deletesAt": null }), json!({ "status": "active" }), json!({})] {
        product.patch(path, change).await.expect_error(404, "not_found");
    }
    let listed = product.get("/admin/organizations").await.expect_ok();
    assert!(listed["organizations"].as_array().expect("a list").iter().all(|org| org["slug"] == "acme"), "{listed}");
    let operator = app.auth.operator();
    assert!(matches!(operator.cancel_deletion(&globex()).await, Err(Error::UnknownOrganization)));
    assert_eq!(operator.organizations().await.expect("a list").len(), 1);
}

async fn an_organization_whose_time_has_come_is_unknown(app: &App) {
    let gus = app.other_org().member().logged_in().await;
    app.auth.operator().delete_organization(&globex()).await.expect("it is there");
    app.advance(30 * DAY - 1);
    app.tick().await;
    gus.get("/auth/profile").await.expect(401);
    app.other_org().member().login().await.expect_error(403, "suspended");
    app.advance(1);
    app.tick().await;
    expect_unknown(app, &gus).await;
    app.member().logged_in().await.get("/org").await.expect(200);
}

async fn nothing_is_left_of_a_removed_organization(app: &App) {
    let org = furnished(app).await;
    let before = rows(app, &org).await;
    let empty: Vec<_> = before.iter().filter(|(_, rows)| *rows == 0).collect();
    assert!(empty.is_empty(), "a removal must be tried with rows in each table: {empty:?}");
    let neighbour = texts_in(app, "SELECT id FROM tenant_auth_organizations WHERE slug = 'acme'").await.remove(0);
    let greta = app.other_org().admin().logged_in().await;
    let beside = rows(app, &neighbour).await;
    remove(app).await;
    expect_unknown(app, &greta).await;
    let sent = sent_to(app, RECEIVER).len();
    app.tick().await;
    assert_eq!(sent_to(app, RECEIVER).len(), sent, "what waited is sent to nobody");
    expect_nothing_left(app, &org).await;
    let known = texts_in(app, &format!("SELECT digest FROM tenant_auth_former_slugs WHERE id = '{org}'")).await;
    assert!(known.len() == 1 && !known[0].contains("globex"), "{known:?}");
    assert_eq!(rows(app, &neighbour).await, beside, "the neighbour has what it had");
    expect_unknown(app, &greta).await;
}

async fn an_account_goes_with_its_last_membership(app: &App) {
    let (max, there) = in_both(app).await;
    let (greta, gus) = (app.other_org().admin(), app.other_org().member());
    let admin = told_of(app, gus.email()).await;
    gus.login().await.expect(200);
    let known = async || texts_in(app, "SELECT account_key FROM tenant_auth_known_addresses").await;
    let before = known().await;
    remove(app).await;
    app.tick().await;
    assert_eq!(known().await.len(), before.len() - 2, "where Greta and Gus logged in: {before:?}");
    for gone in [&greta, &gus] {
        assert!(!has_account(app, gone.email()).await, "{}", gone.email());
    }
    let told = texts_in(app, "SELECT COALESCE(data, '') FROM tenant_auth_events").await.concat();
    assert!(!told.contains(gus.email()), "the person is erased where an invite told of the address");
    assert!(admin.get("/org/audit?kind=user.deleted").await.expect_ok()["entries"].as_array().expect("a list").len() == 1);
    verified(app, "acme").await;
    there.get("/org").await.expect_error(404, "unknown_organization");
    max.get("/org").await.expect(200);
    app.member().logged_in().await;
}

/// Only the log of the organization that goes tells of the change.
async fn an_account_that_goes_is_erased_by_its_former_address_too(app: &App) {
    let gus = app.other_org().member().logged_in().await;
    told_of(app, gus.email()).await;
    app.advance(60);
    change_address(app, &gus, "gus.next@elsewhere.example").await;
    remove(app).await;
    app.tick().await;
    assert!(!has_account(app, "gus.next@elsewhere.example").await);
    let told = texts_in(app, "SELECT COALESCE(data, '') FROM tenant_auth_events").await.concat();
    assert!(!told.contains(gus.email()), "acme invited that address when it was his");
    verified(app, "acme").await;
}

/// Anybody may have made an account with it.
async fn what_others_told_of_an_address_that_nobody_proved_stays(app: &App) {
    let gus = app.other_org().member();
    told_of(app, gus.email()).await;
    run_sql(app, &format!("UPDATE tenant_auth_users SET is_email_verified = FALSE WHERE email = '{}'", gus.email())).await;
    remove(app).await;
    app.tick().await;
    assert!(!has_account(app, gus.email()).await);
    let told = texts_in(app, "SELECT COALESCE(data, '') FROM tenant_auth_events").await.concat();
    assert!(told.contains(gus.email()), "acme invited that address");
    verified(app, "acme").await;
}

async fn an_account_stays_while_an_invite_waits_for_its_address(app: &App) {
    let (greta, gus) = (app.other_org().admin(), app.other_org().member());
    let admin = app.admin().logged_in().await;
    admin.invite(gus.email()).await.expect(201);
    let token = app.link_token_of(gus.email()).await;
    remove(app).await;
    app.tick().await;
    assert!(!has_account(app, greta.email()).await);
    assert!(has_account(app, gus.email()).await);
    let here = app.org().device_of(gus.person());
    here.accept_with_account(&token).await.expect(200);
    here.get("/org").await.expect(200);
    app.org().device_of(gus.person()).login().await.expect(200);
}

/// Nobody needs an admin there, or is told of an invite.
async fn who_goes_while_the_organization_is_removed_leaves_it_to_the_removal(app: &App) {
    let (org, greta) = (id_of_globex(app).await, app.other_org().admin().logged_in().await);
    greta.invite("nora@new.example").await.expect(201);
    remove(app).await;
    let deleted = app.auth.operator().delete_user(&greta.email().parse().expect("an address")).await.expect("there is an account");
    assert!(deleted.without_admin.is_empty(), "{deleted:?}");
    let told = format!("SELECT id FROM tenant_auth_events WHERE org_id = '{org}' AND kind = 'invite.revoked'");
    assert!(texts_in(app, &told).await.is_empty());
    app.tick().await;
    expect_nothing_left(app, &org).await;
}

/// As an import lets somebody have sent one who is no member there.
async fn an_account_that_goes_withdraws_the_invites_it_sent_elsewhere(app: &App) {
    let (admin, gus) = (app.admin().logged_in().await, app.other_org().member());
    admin.invite("nora@acme.example").await.expect(201);
    let sent = format!("UPDATE tenant_auth_invites SET invited_by = '{}' WHERE email = 'nora@acme.example'", gus.id());
    run_sql(app, &sent).await;
    remove(app).await;
    app.tick().await;
    assert!(!has_account(app, gus.email()).await);
    assert!(admin.pending_invites().await.is_empty());
    let revoked = admin.get("/org/audit?kind=invite.revoked").await.expect_ok()["entries"].clone();
    assert_eq!((revoked.as_array().map(Vec::len), &revoked[0]["data"]["invite"]["email"]), (Some(1), &json!("nora@acme.example")));
    verified(app, "acme").await;
}

/// Each, and whether an invite waits for it.
async fn without_organization(app: &App) -> Vec<(String, bool)> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let found = app.auth.operator().accounts_without_organization(after.as_ref()).await.expect("a list");
        all.extend(found.accounts.into_iter().map(|account| (account.user.email.to_string(), account.is_invited)));
        after = found.next;
        if after.is_none() {
            return all;
        }
    }
}

async fn accounts_that_belong_to_no_organization_are_found(app: &App) {
    let (kept, gone) = (app.other_org().member(), app.other_org().new_member("Gina").await);
    assert!(without_organization(app).await.is_empty());
    app.other_org().admin().logged_in().await.delete(&format!("/org/members/{}", gone.id())).await.expect(200);
    app.admin().logged_in().await.invite(kept.email()).await.expect(201);
    remove(app).await;
    app.tick().await;
    let mut found = without_organization(app).await;
    found.sort_by_key(|(_, is_invited)| *is_invited);
    assert_eq!(found, [(gone.email().to_owned(), false), (kept.email().to_owned(), true)]);
    app.advance(8 * DAY);
    assert!(without_organization(app).await.iter().all(|(_, is_invited)| !is_invited), "the invite has expired");
    for person in [&gone, &kept] {
        app.auth.operator().delete_user(&person.email().parse().expect("an address")).await.expect("there is an account");
    }
    assert!(without_organization(app).await.is_empty());
}

/// An account without any membership is nobody's business: its person left before.
async fn who_had_gone_before_keeps_the_account(app: &App) {
    let gus = app.other_org().member();
    app.other_org().admin().logged_in().await.delete(&format!("/org/members/{}", gus.id())).await.expect(200);
    remove(app).await;
    app.tick().await;
    assert!(has_account(app, gus.email()).await);
}

async fn a_removed_slug_is_not_given_out_again(app: &App) {
    let (app, ada, _) = operator(app).await;
    let new = json!({ "name": "New", "slug": "globex", "adminEmail": "nora@new.example" });
    let make = || ada.post("/admin/organizations", new.clone());
    let released = async || app.auth.operator().release_slug(&globex()).await.expect("it can be written");
    assert!(!released().await, "it is in use");
    make().await.expect_error(409, "slug_taken");
    remove(&app).await;
    make().await.expect_error(409, "slug_taken");
    app.tick().await;
    make().await.expect_error(409, "slug_taken");
    assert!(app.mail_to("nora@new.example").await.is_empty());
    assert!(released().await);
    assert!(!released().await);
    make().await.expect(201);
    make().await.expect_error(409, "slug_taken");
}

async fn without_days_it_is_removed_at_once(app: &App) {
    let app = &app.beside(|setup| setup.config.organizations.purge_after_days = 0).await;
    let gus = app.other_org().member().logged_in().await;
    let product = app.anonymous().without_slug().with("X-API-Key", &made(app, new_key(&[Organizations])).await.1);
    let org = product.delete("/admin/organizations/globex").await.expect(202).data()["org"].clone();
    assert_eq!((&org["slug"], &org["status"]), (&"globex".into(), &"suspended".into()));
    expect_unknown(app, &gus).await;
    let mails = app.mail_to(app.other_org().admin().email()).await;
    let told: Vec<_> = mails.iter().filter(|mail| mail.kind == "deletion_scheduled").collect();
    let [told] = told[..] else { panic!("{mails:?}") };
    // Of what is past it does not say that it may still be stopped.
    assert_eq!(told.subject, "Your organization was deleted");
    assert!(told.text.contains("was deleted on") && !told.text.contains("before that time"), "{}", told.text);
}

async fn a_removal_that_fails_names_its_organization_and_goes_on(app: &App) {
    let org = id_of_globex(app).await;
    remove(app).await;
    run_sql(app, "ALTER TABLE tenant_auth_linked_people RENAME TO tenant_auth_put_away").await;
    app.tick().await;
    let complaints = logs::lines_with("removing an organization failed");
    assert!(complaints.iter().any(|line| line.contains(&org)), "{complaints:?}");
    run_sql(app, "ALTER TABLE tenant_auth_put_away RENAME TO tenant_auth_linked_people").await;
    for _ in 0..2 {
        app.advance(60); // its lease
        app.tick().await;
    }
    expect_nothing_left(app, &org).await;
}

/// By a worker that died.
async fn a_removal_that_a_clock_ahead_held_goes_on(app: &App) {
    let org = id_of_globex(app).await;
    remove(app).await;
    let until = app.clock.now().plus(Duration::from_secs(DAY)).millis();
    run_sql(app, &format!("UPDATE tenant_auth_organizations SET removal_held_until = {until} WHERE id = '{org}'")).await;
    app.tick().await;
    app.tick().await;
    expect_nothing_left(app, &org).await;
}
