//! The deployment's own log: what concerns no organization, or whether there is one, as a chain that is exported and verified like those of
//! organizations.

use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use serde_json::{Value, json};
use tenant_auth_conformance::{App, scenarios};
use tenant_auth_core::{
    audit::{AuditRange, AuditVerifier},
    model::DeploymentScope::Organizations,
    operator::{NewOrganization, Operator, SessionsOf},
    ports::Clock,
    value::{Email, Slug},
};

use crate::suite::{
    admin::operators::operator,
    public::deployment_keys::{made, new_key},
    support::{account::guard, chain::column, hooks::run_sql},
};

scenarios![on each database:
    what_is_done_to_the_deployment_is_told,
    the_log_is_one_chain_from_the_word_on,
    people_and_organizations_are_named_by_ids_alone,
    an_organization_that_is_removed_is_told,
    who_suspends_an_organization_or_orders_its_removal_is_told,
    what_the_command_line_does_to_people_is_told,
    what_is_rolled_back_is_not_told,
    a_range_is_a_part_of_the_log,
    one_who_changes_the_log_is_found,
    deeds_at_once_have_each_their_number,
];

async fn export(operator: &Operator, range: AuditRange) -> String {
    let mut file = Vec::new();
    let export = operator.export_deployment_audit(range).await.expect("it begins");
    export.write(&mut file).await.expect("written");
    String::from_utf8(file).expect("text")
}

pub(crate) async fn exported(app: &App) -> String {
    export(&app.auth.operator(), AuditRange::default()).await
}

#[track_caller]
pub(crate) fn lines(file: &str) -> Vec<Value> {
    file.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The last entries, so many of them.
fn last(file: &str, count: usize) -> Vec<Value> {
    let lines = lines(file);
    lines[lines.len() - 1 - count..lines.len() - 1].to_vec()
}

fn kinds(entries: &[Value]) -> Vec<&str> {
    entries.iter().map(|entry| entry["facts"]["type"].as_str().expect("a kind")).collect()
}

pub(crate) fn sha256(text: &str) -> String {
    digest(&SHA256, text.as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn new_organization(slug: &str) -> NewOrganization {
    let address = "nora@new.example".parse().expect("an address");
    NewOrganization::new("Newcomers".parse().expect("a name"), slug.parse().expect("a slug"), address)
}

async fn what_is_done_to_the_deployment_is_told(app: &App) {
    let (app, ada, _) = operator(app).await;
    let (id, key) = made(&app, new_key(&[Organizations])).await;
    let product = app.anonymous().without_slug().with("X-API-Key", &key);
    let new = json!({ "name": "Newcomers", "slug": "newcomers", "adminEmail": "nora@new.example" });
    let org = product.post("/admin/organizations", new).await.expect(201).data()["org"]["id"].clone();
    let operators = app.auth.operator();
    let successor = operators.rotate_deployment_key(&id, Duration::ZERO).await.expect("it is there").deployment_key.id;
    operators.revoke_deployment_key(&successor).await.expect("it is there");
    let (leaked, text) = made(&app, new_key(&[Organizations])).await;
    app.anonymous().without_slug().post("/keys/leaked", json!({ "key": text })).await.expect(200);
    operators.rotate_keys(false).await.expect("rotated");
    operators.dismiss(&ada.email().parse().expect("an address")).await.expect("dismissed");
    exported(&app).await;
    let told = last(&exported(&app).await, 10);
    assert_eq!(
        kinds(&told),
        [
            "operator.granted",
            "deployment_key.created",
            "org.created",
            "deployment_key.rotated",
            "deployment_key.revoked",
            "deployment_key.created",
            "deployment_key.revoked",
            "keys.rotated",
            "operator.revoked",
            "audit.exported"
        ]
    );
    let data = |n: usize| &told[n]["data"]["part"];
    let by = |n: usize| &told[n]["facts"]["actor"];
    assert_eq!((by(2), by(3)), (&json!({ "type": "deployment_key", "id": id.as_str() }), &json!({ "type": "system", "id": null })));
    assert_eq!(data(2), &json!({ "org": { "id": org, "slugDigest": sha256("newcomers") } }));
    assert_eq!((&data(1)["deploymentKey"]["id"], &data(3)["replaces"]), (&json!(id.as_str()), &json!(id.as_str())));
    assert_eq!(data(3)["deploymentKey"]["id"], successor.as_str());
    assert_eq!((&data(4)["deploymentKey"]["id"], &data(4)["reason"]), (&json!(successor.as_str()), &json!("revoked")));
    assert_eq!((&data(6)["deploymentKey"]["id"], &data(6)["reason"]), (&json!(leaked.as_str()), &json!("leaked")));
    assert_eq!(data(7), &json!({ "compromised": false }));
    assert_eq!((&told[8]["facts"]["user"], data(8)), (&json!(ada.id()), &json!({ "user": { "id": ada.id() } })));
    assert_eq!(told[9]["data"]["part"]["to"], Value::Null);
    let told_there = column(&app, "newcomers", "kind").await;
    assert_eq!(told_there, ["invite.created"], "an organization's log tells of the organization");
}

async fn the_log_is_one_chain_from_the_word_on(app: &App) {
    made(app, new_key(&[Organizations])).await;
    let file = exported(app).await;
    let keys = app.auth.audit_keys();
    let found = AuditVerifier::new(&keys).verify(file.as_bytes()).expect("an audit file");
    assert!(found.is_good() && found.notes.is_empty() && found.org == "deployment", "{found:#?}");
    let header = &lines(&file)[0];
    assert_eq!((&header["org"], &header["previous"]), (&json!("deployment"), &json!(sha256("deployment"))));
    assert_eq!(header["imported"], json!([]));
    made(app, new_key(&[Organizations])).await;
    let later = exported(app).await;
    let since = AuditVerifier::new(&keys).since(&found).verify(later.as_bytes()).expect("an audit file");
    assert!(since.is_good() && since.entries == found.entries + 2, "{since:#?}");
}

async fn people_and_organizations_are_named_by_ids_alone(app: &App) {
    let (app, ada, _) = operator(app).await;
    let operators = app.auth.operator();
    made(&app, new_key(&[Organizations])).await;
    operators.create_organization(new_organization("newcomers")).await.expect("made");
    let profile = ada.get("/auth/profile").await.expect_ok()["user"]["name"].as_str().expect("a name").to_owned();
    operators.delete_user(&ada.email().parse().expect("an address")).await.expect("deleted");
    let file = exported(&app).await;
    for word in ["newcomers", "Newcomers", "nora@", ada.email(), &profile] {
        assert!(!file.contains(word), "{word}");
    }
    let told = last(&file, 3);
    assert_eq!(kinds(&told), ["org.created", "operator.revoked", "user.deleted"]);
    assert!(told[1..].iter().all(|entry| entry["facts"]["user"] == ada.id()), "{told:?}");
    assert!(AuditVerifier::new(&app.auth.audit_keys()).verify(file.as_bytes()).expect("an audit file").is_good());
}

async fn an_organization_that_is_removed_is_told(app: &App) {
    let operators = app.auth.operator();
    let org = operators.create_organization(new_organization("newcomers")).await.expect("made").org;
    operators.delete_organization_now(&org.slug).await.expect("it is there");
    let told = last(&exported(app).await, 2);
    assert_eq!(kinds(&told), ["org.created", "org.removed"]);
    let named = json!({ "id": org.id.as_str(), "slugDigest": sha256("newcomers") });
    assert!(told.iter().all(|entry| entry["data"]["part"]["org"] == named), "{told:?}");
}

async fn who_suspends_an_organization_or_orders_its_removal_is_told(app: &App) {
    let (app, ada, _) = operator(app).await;
    let (id, key) = made(&app, new_key(&[Organizations])).await;
    let product = app.anonymous().without_slug().with("X-API-Key", &key);
    let path = "/admin/organizations/globex";
    for request in [
        ada.patch(path, json!({ "status": "suspended" })),
        ada.patch(path, json!({ "status": "active" })),
        ada.patch(path, json!({ "status": "active" })),
        ada.post(&format!("{path}/invites"), json!({ "email": "chief@globex.example" })),
        product.delete(path),
        product.delete(path),
        ada.patch(path, json!({ "deletesAt": null })),
    ] {
        let answer = request.await;
        assert!(answer.status < 300, "{}", answer.shown());
    }
    app.auth.operator().delete_organization_now(&"globex".parse().expect("a slug")).await.expect("it is there");
    let file = exported(&app).await;
    let told = last(&file, 6);
    assert_eq!(
        kinds(&told),
        [
            "org.suspended",
            "org.reactivated",
            "org.admin_invited",
            "org.deletion_scheduled",
            "org.deletion_cancelled",
            "org.removed"
        ],
        "each once: what changes nothing is not told"
    );
    let (by_ada, by_key) = (json!({ "type": "user", "id": ada.id() }), json!({ "type": "deployment_key", "id": id.as_str() }));
    let by_nobody = json!({ "type": "system", "id": null });
    let actors: Vec<&Value> = told.iter().map(|entry| &entry["facts"]["actor"]).collect();
    assert_eq!(actors, [&by_ada, &by_ada, &by_ada, &by_key, &by_ada, &by_nobody]);
    assert!(told.iter().all(|entry| entry["data"]["part"]["org"]["slugDigest"] == sha256("globex")), "{told:?}");
    assert!(told[2]["data"]["part"]["invite"]["id"].is_string() && told[3]["data"]["part"]["deletesAt"].is_string(), "{told:?}");
    assert!(!file.contains("chief@") && !file.contains("\"globex\""), "by ids alone");
    assert!(AuditVerifier::new(&app.auth.audit_keys()).verify(file.as_bytes()).expect("an audit file").is_good());
}

async fn what_the_command_line_does_to_people_is_told(app: &App) {
    let max = app.member().logged_in().await;
    guard(app, &max).await;
    let operators = app.auth.operator();
    let [email, next, nobody] =
        [max.email(), "max@elsewhere.example", "nobody@acme.example"].map(|address| address.parse::<Email>().expect("an address"));
    let globex: Slug = "globex".parse().expect("a slug");
    operators.export_person(&email).await.expect("read");
    operators.export_person(&nobody).await.expect("read");
    operators.reset_second_factor(&email).await.expect("there was one");
    operators.set_email(&email, &next).await.expect("it is free");
    operators.revoke_sessions(SessionsOf::User(next.clone())).await.expect("ended");
    operators.revoke_sessions(SessionsOf::Organization(globex.clone())).await.expect("ended");
    operators.revoke_sessions(SessionsOf::All).await.expect("ended");
    operators.unlock(&next).await.expect("there is an account");
    operators.delete_user(&next).await.expect("there is an account");
    operators.delete_user(&next).await.expect_err("there is none");
    operators.delete_organization_now(&globex).await.expect("it is there");
    app.tick().await;
    assert!(operators.release_slug(&globex).await.expect("it can be written"));
    assert!(!operators.release_slug(&globex).await.expect("it can be written"), "it is free");
    let told = last(&exported(app).await, 11);
    assert_eq!(
        kinds(&told),
        [
            "user.exported",
            "user.exported",
            "user.two_factor_reset",
            "user.email_set",
            "sessions.revoked",
            "sessions.revoked",
            "sessions.revoked",
            "user.unlocked",
            "user.deleted",
            "org.removed",
            "slug.released"
        ]
    );
    let part = |n: usize| &told[n]["data"]["part"];
    let person = json!({ "id": max.id() });
    for n in [0, 2, 3, 4, 7, 8] {
        assert_eq!((&told[n]["facts"]["user"], &part(n)["user"]), (&json!(max.id()), &person), "{}", told[n]);
    }
    assert_eq!(part(1), &json!({ "user": null }), "an address without an account is not kept");
    assert_eq!((&part(5)["org"]["slugDigest"], &part(5)["user"]), (&json!(sha256("globex")), &Value::Null));
    assert_eq!(part(6), &json!({ "org": null, "user": null }), "of all");
    assert_eq!(part(10), &json!({ "slugDigest": sha256("globex") }));
    assert!(!json!(told).to_string().contains('@'), "no address is in it");
}

async fn what_is_rolled_back_is_not_told(app: &App) {
    let before = lines(&exported(app).await).len();
    let taken = app.auth.operator().create_organization(new_organization("acme")).await;
    taken.expect_err("it is there");
    let now = exported(app).await;
    assert_eq!((lines(&now).len(), kinds(&last(&now, 1))), (before + 1, vec!["audit.exported"]), "of the file before");
}

async fn a_range_is_a_part_of_the_log(app: &App) {
    made(app, new_key(&[Organizations])).await;
    app.advance(60);
    let from = app.clock.now();
    made(app, new_key(&[Organizations])).await;
    app.auth.operator().rotate_keys(false).await.expect("rotated");
    app.advance(60);
    let to = app.clock.now();
    made(app, new_key(&[Organizations])).await;
    let operators = app.auth.operator();
    let file = export(&operators, AuditRange { from: Some(from), to: Some(to) }).await;
    let found = AuditVerifier::new(&app.auth.audit_keys()).verify(file.as_bytes()).expect("an audit file");
    assert!(found.is_good() && found.entries == 2, "{found:#?}");
    assert_eq!(kinds(&last(&file, 2)), ["deployment_key.created", "keys.rotated"]);
    assert!(operators.export_deployment_audit(AuditRange { from: Some(to), to: Some(from) }).await.is_err());
}

async fn one_who_changes_the_log_is_found(app: &App) {
    for _ in 0..3 {
        made(app, new_key(&[Organizations])).await;
    }
    let file = exported(app).await;
    let keys = app.auth.audit_keys();
    let earlier = AuditVerifier::new(&keys).verify(file.as_bytes()).expect("an audit file");
    let last: u64 = lines(&file).last().expect("one")["count"].as_u64().expect("a number");
    let change = format!("UPDATE tenant_auth_deployment_entries SET kind = 'org.created' WHERE sequence = {}", last - 1);
    run_sql(app, &change).await;
    let found = AuditVerifier::new(&keys).since(&earlier).verify(exported(app).await.as_bytes()).expect("an audit file");
    let sequences: Vec<_> = found.findings.iter().map(|found| found.sequence).collect();
    assert_eq!(sequences, [Some(i64::try_from(last).expect("a number") - 1)], "{found:#?}");
}

async fn deeds_at_once_have_each_their_number(app: &App) {
    let before = lines(&exported(app).await).len();
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..12 {
        let operator = app.auth.operator();
        tasks.spawn(async move {
            match n % 2 {
                0 => drop(operator.create_deployment_key(new_key(&[Organizations])).await.expect("a key")),
                _ => drop(operator.create_organization(new_organization(&format!("at-once-{n}"))).await.expect("made")),
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.expect("it ends");
    }
    let file = exported(app).await;
    assert!(AuditVerifier::new(&app.auth.audit_keys()).verify(file.as_bytes()).expect("an audit file").is_good());
    assert_eq!(lines(&file).len(), before + 13);
}
