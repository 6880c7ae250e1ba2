//! What is kept about a person, as one document for that person (behaviour.md, B173).

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, PASSWORD, id_of, scenarios};
use tenant_auth_core::{Error, operator::NewOrganization};

use crate::suite::{
    admin::removal::{DAY, number},
    limits::addresses::{at, behind_proxy},
    support::{
        account::{change_address, guard, mailed_token},
        chain::verified,
        hooks::{Hook, RECEIVER, run_sql, texts_in},
    },
};

scenarios![on each database:
    a_person_is_given_all_that_is_kept,
    nothing_in_it_opens_anything,
    what_is_somebody_elses_is_left_out,
    the_network_of_whoever_guessed_is_left_out,
    an_address_without_an_account_may_have_left_traces,
    a_mail_that_does_not_open_is_counted,
    what_was_told_of_an_address_of_before_is_given_too,
    every_table_that_names_the_person_is_told,
    nothing_names_a_deleted_person_but_facts,
    what_a_deletion_leaves_is_deleted_when_it_is_given_again,
    what_is_kept_for_the_next_holder_of_the_address_stays,
    where_a_former_account_was_known_is_forgotten,
];

const WRONG: &str = "wrong-otter-plinth-42";

async fn export(app: &App, email: &str) -> Value {
    let export = app.auth.operator().export_person(&email.parse().expect("an address")).await.expect("the database answers");
    json!(export.as_json())
}

/// A member who did everything once; logged in, in two organizations.
async fn busy(app: &App) -> Caller {
    let admin = app.admin().logged_in().await;
    let other = app.other_org().admin().logged_in().await;
    let email = app.member().email().to_owned();
    let token = app.invited(&other, &email).await;
    app.member().at_org("globex").accept_with_account(&token).await.expect(200);
    let member = app.member().logged_in().await;
    member.put("/auth/profile", json!({ "name": "Max", "bio": "Sails.", "phone": "+49301234567" })).await.expect(200);
    admin.patch(&format!("/org/members/{}", member.id()), json!({ "metadata": { "team": "sails" } })).await.expect(200);
    admin.set_role(member.id(), "org_admin").await.expect(200);
    member.invite("nora@acme.example").await.expect(201);
    Hook::new(&member, RECEIVER, &["*"]).await;
    guard(app, &member).await;
    member.created_key(json!({ "name": "Backend" })).await;
    app.member().login_with(&email, PASSWORD).await.expect(200);
    app.member().login_with(&email, WRONG).await.expect_error(401, "invalid_credentials");
    app.anonymous().post("/auth/forgot-password", json!({ "email": email })).await.expect(200);
    app.anonymous().without_slug().post("/auth/sign-up", json!({ "email": email })).await.expect(200);
    member
}

fn list<'a>(document: &'a Value, name: &str) -> &'a Vec<Value> {
    document[name].as_array().unwrap_or_else(|| panic!("no {name}: {document:#}"))
}

async fn a_person_is_given_all_that_is_kept(app: &App) {
    let member = busy(app).await;
    let someone = app.member();
    let email = someone.email();
    // Before a worker turns the wish into a link and sends what waits, and after.
    let before = export(app, email).await;
    assert_eq!(list(&before, "resetRequests").len(), 1);
    assert!(list(&before, "resetRequests")[0].get("language").is_some(), "{before:#}");
    assert_eq!((list(&before, "signUps").len(), &list(&before, "signUps")[0]["expiresAt"]), (1, &json!(null)));
    assert!(list(&before, "mails").iter().any(|mail| mail["kind"] == "notice"), "{before:#}");
    app.tick().await;
    let document = export(app, email).await;
    assert!(list(&document, "signUps")[0]["expiresAt"].is_string(), "{document:#}");
    let account = &document["account"];
    assert_eq!((&account["id"], &account["email"], &account["bio"]), (&json!(member.id()), &json!(email), &json!("Sails.")));
    assert_eq!((&account["hasPassword"], &account["secondFactor"]["recoveryCodesRemaining"]), (&json!(true), &json!(10)));
    let orgs =
        |name: &str| list(&document, name).iter().map(|one| one["org"].as_str().expect("a slug").to_owned()).collect::<Vec<_>>();
    let mut memberships = orgs("memberships");
    memberships.sort();
    assert_eq!(memberships, ["acme", "globex"]);
    assert!(list(&document, "memberships").iter().any(|one| one["metadata"] == json!({ "team": "sails" })), "{document:#}");
    for name in ["sessions", "waitingLogins", "links", "invitesSent", "apiKeysMade", "webhooksMade", "counters", "networks"] {
        assert!(!list(&document, name).is_empty(), "{name}: {document:#}");
    }
    assert!(list(&document, "sessions").iter().all(|session| session["ip"].is_string() && session["methods"].is_array()));
    let kinds: Vec<&str> = list(&document, "entries").iter().filter_map(|entry| entry["type"].as_str()).collect();
    for kind in [
        "invite.created",
        "invite.accepted",
        "member.joined",
        "user.updated",
        "member.updated",
        "member.role_changed",
        "api_key.created",
    ] {
        assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
    }
    let entry = |kind: &str| {
        list(&document, "entries").iter().find(|entry| entry["type"] == kind && entry["org"] == "acme").expect("an entry").clone()
    };
    assert_eq!(entry("member.updated")["data"]["member"]["metadata"], json!({ "team": "sails" }));
    assert!(entry("user.updated")["context"]["ip"].is_string(), "of the person's own request");
}

async fn nothing_in_it_opens_anything(app: &App) {
    let member = busy(app).await;
    app.tick().await;
    let link = mailed_token(app, app.member().email(), "reset").await;
    let text = export(app, app.member().email()).await.to_string();
    for secret in [PASSWORD.to_owned(), link, member.access_token(), member.refresh_token()] {
        assert!(!text.contains(&secret), "{secret}");
    }
    for mark in ["$argon2", "pk_live_", "whs_", "digest", "token"] {
        assert!(!text.contains(mark), "{mark}: {text}");
    }
}

async fn what_is_somebody_elses_is_left_out(app: &App) {
    let member = busy(app).await;
    member.set_status(app.admin().id(), "suspended").await.expect(200);
    let document = export(app, app.member().email()).await;
    let text = document.to_string();
    for theirs in ["nora@acme.example", app.admin().email(), RECEIVER] {
        assert!(!text.contains(theirs), "{theirs}: {document:#}");
    }
    for entry in list(&document, "entries") {
        let is_theirs = entry["actor"]["id"] == *member.id();
        assert_eq!(entry.get("context").is_some(), is_theirs, "the network of whoever acted: {entry}");
    }
    let suspended = list(&document, "entries").iter().find(|entry| entry["type"] == "member.suspended").expect("what they did");
    assert!(suspended.get("data").is_none() && suspended.get("context").is_some(), "{suspended}");
    // And of others nothing is told.
    let other = export(app, app.other_org().admin().email()).await;
    assert!(!other.to_string().contains(app.member().email()), "{other:#}");
}

async fn the_network_of_whoever_guessed_is_left_out(app: &App) {
    let app = behind_proxy(app).await;
    let email = app.member().email().to_owned();
    at(app.member(), "203.0.113.1").login().await.expect(200);
    for guess in ["203.0.113.1", "203.0.113.66"] {
        at(app.anonymous(), guess).login_with(&email, WRONG).await.expect_error(401, "invalid_credentials");
    }
    let document = export(&app, &email).await;
    assert!(!document.to_string().contains("203.0.113.66"), "{document:#}");
    let counters: Vec<&str> = list(&document, "counters").iter().filter_map(|one| one["counter"].as_str()).collect();
    let at_networks = counters.iter().filter(|counter| counter.starts_with("pair:")).count();
    let own = counters.iter().filter(|counter| counter.starts_with("pair:") && counter.ends_with(":203.0.113.1")).count();
    assert_eq!((at_networks, own), (2, 1), "both are counted, and only the person's own network is named: {counters:?}");
}

async fn an_address_without_an_account_may_have_left_traces(app: &App) {
    let admin = app.admin().logged_in().await;
    admin.invite("nora@acme.example").await.expect(201);
    app.anonymous().login_with("nora@acme.example", WRONG).await.expect_error(401, "invalid_credentials");
    let document = export(app, "Nora@Acme.Example").await;
    assert_eq!(document["account"], Value::Null);
    assert_eq!(list(&document, "invites")[0]["email"], "nora@acme.example");
    let [entry] = list(&document, "entries").as_slice() else { panic!("{document:#}") };
    assert_eq!((&entry["type"], &entry["data"]["invite"]["email"]), (&json!("invite.created"), &json!("nora@acme.example")));
    assert!(!list(&document, "counters").is_empty() && !list(&document, "mails").is_empty(), "{document:#}");
    let nobody = export(app, "nobody@acme.example").await;
    assert!(nobody.as_object().expect("an object").values().all(|value| value.as_array().is_none_or(Vec::is_empty)), "{nobody:#}");
}

async fn a_mail_that_does_not_open_is_counted(app: &App) {
    let admin = app.admin().logged_in().await;
    admin.invite("nora@acme.example").await.expect(201);
    let before = export(app, "nora@acme.example").await;
    assert_eq!((list(&before, "mails").len(), &before["unreadableMails"]), (1, &json!(0)));
    run_sql(app, "UPDATE tenant_auth_mails SET content = 'sealed under a lost key' WHERE content IS NOT NULL").await;
    let after = export(app, "nora@acme.example").await;
    assert!(list(&after, "mails").is_empty() && after["unreadableMails"].as_u64() >= Some(1), "{after:#}");
    assert_eq!(list(&after, "invites").len(), 1, "and all else is told");
}

async fn what_was_told_of_an_address_of_before_is_given_too(app: &App) {
    let (max, other) = (app.member().logged_in().await, app.other_org().admin().logged_in().await);
    other.invite(app.member().email()).await.expect(201);
    app.advance(60);
    change_address(app, &max, "max.next@elsewhere.example").await;
    app.advance(DAY);
    let invites = other.logged_in().await.pending_invites().await;
    app.other_org().admin().logged_in().await.delete(&format!("/org/invites/{}", id_of(&invites[0]))).await.expect(200);
    let document = export(app, "max.next@elsewhere.example").await;
    let kinds: Vec<_> = list(&document, "entries").iter().filter(|entry| entry["org"] == "globex").map(|e| &e["type"]).collect();
    assert_eq!(kinds, ["invite.created"], "what came after the change is about somebody else");
}

/// Which part of the document tells what a table holds.
const TOLD: [(&str, &str); 17] = [
    ("users", "account"),
    ("second_factors", "account"),
    ("recovery_codes", "account"),
    ("linked_people", "formerIds"),
    ("memberships", "memberships"),
    ("sessions", "sessions"),
    ("pending_logins", "waitingLogins"),
    ("links", "links"),
    ("invites", "invitesSent"),
    ("api_keys", "apiKeysMade"),
    ("webhooks", "webhooksMade"),
    ("reset_requests", "resetRequests"),
    ("sign_up_requests", "signUps"),
    ("sign_up_links", "signUps"),
    ("throttles", "counters"),
    ("events", "entries"),
    ("deployment_entries", "deploymentEntries"),
];

/// The tables that name somebody by id or address, in the order of their names, whatever the column is called, but for the log of changes,
/// which does for minutes.
pub(crate) async fn naming(app: &App, id: &str, email: &str) -> Vec<String> {
    let columns = match app.database().url() {
        Some(_) => {
            "SELECT table_name || ' ' || column_name FROM information_schema.columns
              WHERE table_schema = current_schema() AND table_name LIKE 'tenant_auth_%' AND data_type = 'text'"
        }
        None => {
            "SELECT t.name || ' ' || c.name FROM sqlite_master t JOIN pragma_table_info(t.name) c
              WHERE t.type = 'table' AND t.name LIKE 'tenant_auth_%' AND c.type = 'TEXT'"
        }
    };
    let mut found = Vec::new();
    for name in texts_in(app, columns).await {
        let (table, column) = name.split_once(' ').expect("a table and a column");
        let names = format!("LOWER({column}) LIKE '%{id}%' OR LOWER({column}) LIKE '%{email}%'");
        let rows = number(app, &format!("SELECT CAST(COUNT(*) AS TEXT) FROM {table} WHERE {names}")).await;
        let table = table.trim_start_matches("tenant_auth_").to_owned();
        if rows > 0 && table != "changes" && !found.contains(&table) {
            found.push(table);
        }
    }
    found.sort();
    found
}

async fn every_table_that_names_the_person_is_told(app: &App) {
    let member = busy(app).await;
    let linked = "INSERT INTO tenant_auth_linked_people (org_id, former_id, user_id) SELECT id, 'usr_1'";
    run_sql(app, &format!("{linked}, '{}' FROM tenant_auth_organizations WHERE slug = 'acme'", member.id())).await;
    let mut seen = Vec::new();
    for _ in 0..2 {
        let document = export(app, app.member().email()).await;
        for table in naming(app, member.id(), &app.member().email().to_lowercase()).await {
            let told = TOLD.iter().find(|(name, _)| *name == table).map(|(_, part)| &document[*part]);
            let told = told.unwrap_or_else(|| panic!("{table} names the person, and the document does not tell of it"));
            assert!(told.is_object() || told.as_array().is_some_and(|list| !list.is_empty()), "{table}: {document:#}");
            seen.push(table);
        }
        app.tick().await; // wishes become links
    }
    let unseen: Vec<_> =
        TOLD.iter().filter(|(table, _)| *table != "deployment_entries" && !seen.iter().any(|name| name == table)).collect();
    assert!(unseen.is_empty(), "the walk does not see {unseen:?}");
}

/// With an invite that waits elsewhere, and what a worker has not done yet.
async fn nothing_names_a_deleted_person_but_facts(app: &App) {
    let member = busy(app).await;
    let email = app.member().email().to_lowercase();
    let address = || email.parse().expect("an address");
    let (name, slug) = ("Umbra".parse().expect("a name"), "umbra".parse().expect("a slug"));
    let operator = app.auth.operator();
    operator.create_organization(NewOrganization::new(name, slug, address())).await.expect("the slug is free");
    let before = export(app, &email).await;
    for name in ["invites", "resetRequests", "signUps", "mails", "counters", "networks"] {
        assert!(!list(&before, name).is_empty(), "{name}: {before:#}");
    }
    operator.delete_user(&address()).await.expect("there is an account");
    assert_eq!(naming(app, &email, &email).await, Vec::<String>::new());
    assert_eq!(naming(app, member.id(), member.id()).await, ["deployment_entries", "events"], "what happened, without who");
    for slug in ["acme", "globex", "umbra"] {
        verified(app, slug).await;
    }
    let after = export(app, &email).await;
    assert!(after.as_object().expect("an object").values().all(|value| value.as_array().is_none_or(Vec::is_empty)), "{after:#}");
}

/// The database deletes no wish for a link to sign up with, and so nothing of what is deleted after the account.
async fn what_a_deletion_leaves_is_deleted_when_it_is_given_again(app: &App) {
    let member = busy(app).await;
    let email = app.member().email().to_lowercase();
    let counter =
        "INSERT INTO tenant_auth_throttles (key, failures, pending, pending_until, window_ends_at, blocked_until, forget_at)";
    run_sql(app, &format!("{counter} VALUES ('deeds:{}', 1, 0, 0, 4102444800000, 0, 4102444800000)", member.id())).await;
    run_sql(app, "CREATE TABLE refusing (email_key TEXT REFERENCES tenant_auth_sign_up_requests (email_key))").await;
    run_sql(app, "INSERT INTO refusing SELECT email_key FROM tenant_auth_sign_up_requests").await;
    let operator = app.auth.operator();
    let delete = async |email: &str| operator.delete_user(&email.parse().expect("an address")).await.expect("something is kept");
    delete(app.admin().email()).await;
    let deleted = delete(&email).await;
    assert!(deleted.user.is_some() && !deleted.is_complete, "{deleted:?}");
    assert_eq!(deleted.without_admin.iter().map(|slug| slug.as_str()).collect::<Vec<_>>(), ["acme"]);
    assert_eq!(naming(app, member.id(), member.id()).await, ["deployment_entries", "events"], "nothing leads to the id again");
    run_sql(app, "DROP TABLE refusing").await;
    let again = delete(&email).await;
    assert!(again.user.is_none() && again.is_complete, "{again:?}");
    assert_eq!(naming(app, &email, &email).await, Vec::<String>::new());
}

/// Who gets an account with it as soon as the first one is gone.
async fn what_is_kept_for_the_next_holder_of_the_address_stays(app: &App) {
    app.anonymous().without_slug().post("/auth/sign-up", json!({ "email": app.member().email() })).await.expect(200);
    let next = "INSERT INTO tenant_auth_users (id, name, email, email_key, role, is_email_verified, password_hash, epoch, created_at)
                VALUES ('usr_next', 'Next', OLD.email, OLD.email_key, OLD.role, TRUE, OLD.password_hash, OLD.epoch, OLD.created_at);";
    let succession = match app.database().url() {
        Some(_) => format!(
            "CREATE FUNCTION succeed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {next} RETURN NULL; END $$;
             CREATE TRIGGER succession AFTER DELETE ON tenant_auth_users FOR EACH ROW EXECUTE FUNCTION succeed()"
        ),
        None => format!("CREATE TRIGGER succession AFTER DELETE ON tenant_auth_users BEGIN {next} END"),
    };
    run_sql(app, &succession).await;
    let address = app.member().email().parse().expect("an address");
    let deleted = app.auth.operator().delete_user(&address).await.expect("there is an account");
    assert!(deleted.user.is_some() && deleted.is_complete, "{deleted:?}");
    assert_eq!(number(app, "SELECT CAST(COUNT(*) AS TEXT) FROM tenant_auth_sign_up_requests").await, 1);
}

/// The account went by another way.
async fn where_a_former_account_was_known_is_forgotten(app: &App) {
    let member = app.member().logged_in().await;
    let known = async || number(app, "SELECT CAST(COUNT(*) AS TEXT) FROM tenant_auth_known_addresses").await;
    let before = known().await;
    run_sql(app, &format!("DELETE FROM tenant_auth_users WHERE id = '{}'", member.id())).await;
    let unknown = app.auth.operator().delete_user(&member.email().parse().expect("an address")).await;
    assert!(matches!(unknown, Err(Error::NotFound(_))), "that is nothing of which anybody was told: {unknown:?}");
    assert_eq!(known().await, before - 1);
}
