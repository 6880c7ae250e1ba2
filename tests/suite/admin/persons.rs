//! What is kept about a person, as one document for that person (behaviour.md, B173).

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, PASSWORD, scenarios};

use crate::suite::support::{
    account::{guard, mailed_token},
    hooks::{Hook, RECEIVER},
};

scenarios![on each database:
    a_person_is_given_all_that_is_kept,
    nothing_in_it_opens_anything,
    what_is_somebody_elses_is_left_out,
    an_address_without_an_account_may_have_left_traces,
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
