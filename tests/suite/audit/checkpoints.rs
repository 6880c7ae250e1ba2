//! The daily signature at the head of each log that grew.

use std::time::Duration;

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, hold_sql, logs, scenarios};
use tenant_auth_core::{
    audit::{AuditKeySet, AuditRange, AuditVerifier, VerifiedAuditFile},
    ports::Clock,
    testing::internals,
};

use crate::suite::support::{
    chain::{column, verified},
    hooks::{Hook, RECEIVER, event_in, run_sql, texts_in},
};

scenarios![on each database:
    a_log_that_grew_is_signed_once_a_day,
    a_log_that_did_not_grow_is_not_signed,
    two_workers_make_one_checkpoint,
    a_checkpoint_proves_that_a_log_was_rewritten,
    a_new_organization_is_due_after_a_day,
    a_log_that_cannot_be_signed_hinders_no_other,
    a_log_whose_organization_is_held_hinders_no_other,
    a_clock_that_leapt_signs_nothing,
    a_log_that_a_clock_ahead_signed_is_signed_again,
];

const DAY: u64 = 24 * 3_600;
const TWO_DAYS: Duration = Duration::from_secs(2 * DAY);

async fn checkpoints(app: &App, slug: &str) -> Vec<Value> {
    let (kinds, data) = (column(app, slug, "kind").await, column(app, slug, "data").await);
    let told = kinds.iter().zip(data).filter(|(kind, _)| *kind == "audit.checkpoint");
    told.map(|(_, data)| serde_json::from_str(&data).expect("JSON")).collect()
}

/// As if the organizations had been made now.
async fn made_now(app: &App) {
    let now = app.clock.now().millis();
    run_sql(app, &format!("UPDATE tenant_auth_event_sequences SET checkpoint_at = {now}, checkpointed = 0")).await;
}

async fn a_day(app: &App) {
    app.advance(DAY);
    app.tick().await;
}

async fn a_log_that_grew_is_signed_once_a_day(app: &App) {
    made_now(app).await;
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["audit.*"]).await;
    app.tick().await;
    assert!(checkpoints(app, "acme").await.is_empty(), "a day after the organization was made");
    let (sequence, hash) = (column(app, "acme", "sequence").await, column(app, "acme", "hash").await);
    a_day(app).await;
    app.tick().await;
    let told = checkpoints(app, "acme").await;
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["sequence"].to_string(), *sequence.last().expect("one"));
    assert_eq!(told[0]["hash"], *hash.last().expect("one"));
    let sent: Vec<Value> = hook.sent(app).iter().map(event_in).collect();
    assert_eq!((sent.len(), &sent[0]["data"]), (1, &told[0]), "whoever listens has it");
    verified(app, "acme").await;
}

async fn a_log_that_did_not_grow_is_not_signed(app: &App) {
    made_now(app).await;
    app.admin().logged_in().await;
    for _ in 0..3 {
        a_day(app).await;
    }
    assert_eq!(checkpoints(app, "acme").await.len(), 1, "its own entry is no growth");
    app.admin().logged_in().await;
    app.tick().await;
    assert_eq!(checkpoints(app, "acme").await.len(), 2, "more than a day since the last");
    app.admin().logged_in().await;
    app.tick().await;
    assert_eq!(checkpoints(app, "acme").await.len(), 2, "not yet");
}

async fn two_workers_make_one_checkpoint(app: &App) {
    made_now(app).await;
    app.admin().logged_in().await;
    let other = app.beside(|_| {}).await;
    app.advance(DAY);
    let (here, there) = (app.auth.worker(), other.auth.worker());
    let (here, there) = tokio::join!(here.tick(), there.tick());
    here.expect("a round");
    there.expect("a round");
    assert_eq!(checkpoints(app, "acme").await.len(), 1);
}

async fn judged(app: &App, checkpoint: &Value) -> VerifiedAuditFile {
    let answer = app.anonymous().without_slug().get("/.well-known/audit-keys.json").await.expect(200);
    let keys = AuditKeySet::parse(&answer.body).expect("keys");
    let mut file = Vec::new();
    let slug = "acme".parse().expect("a slug");
    let export = app.auth.operator().export_audit(&slug, AuditRange::default()).await.expect("it begins");
    export.write(&mut file).await.expect("written");
    let jws = checkpoint["jws"].as_str().expect("a text");
    AuditVerifier::new(&keys).checkpoint(jws).verify(&*file).expect("an audit file")
}

/// Somebody with the database removes the last entries, and the log goes on from there as if nothing had been.
async fn a_checkpoint_proves_that_a_log_was_rewritten(app: &App) {
    made_now(app).await;
    let admin: Caller = app.admin().logged_in().await;
    admin.invite("one@example.com").await.expect(201);
    let head = column(app, "acme", "hash").await;
    admin.invite("two@example.com").await.expect(201);
    a_day(app).await;
    let checkpoint = checkpoints(app, "acme").await.remove(0);
    assert!(judged(app, &checkpoint).await.is_good());
    let kept = head.len();
    run_sql(app, &format!("DELETE FROM tenant_auth_events WHERE sequence > {kept} AND org_id = (SELECT id FROM tenant_auth_organizations WHERE slug = 'acme')")).await;
    let shortened = format!(
        "UPDATE tenant_auth_event_sequences SET sequence = {kept}, chained = {kept}, hash = '{}' \
          WHERE org_id = (SELECT id FROM tenant_auth_organizations WHERE slug = 'acme')",
        head[kept - 1]
    );
    run_sql(app, &shortened).await;
    let found = judged(app, &checkpoint).await;
    assert!(!found.is_good() && found.findings[0].what.contains("ends before it"), "{found:#?}");
    for _ in 0..3 {
        app.admin().logged_in().await.patch("/org", json!({ "name": "Acme" })).await.expect(200);
    }
    let found = judged(app, &checkpoint).await;
    assert!(!found.is_good() && found.findings[0].what.contains("another entry"), "{found:#?}");
}

async fn a_new_organization_is_due_after_a_day(app: &App) {
    use tenant_auth_core::operator::NewOrganization;

    let (name, slug) = ("Newcomers".parse().expect("a name"), "newcomers".parse().expect("a slug"));
    let new = NewOrganization::new(name, slug, "nora@new.example".parse().expect("an address"));
    app.auth.operator().create_organization(new).await.expect("made");
    app.tick().await;
    assert!(checkpoints(app, "newcomers").await.is_empty());
    a_day(app).await;
    assert_eq!(checkpoints(app, "newcomers").await.len(), 1);
}

/// It is the first in the order in which logs are signed, and names itself in the log.
async fn a_log_that_cannot_be_signed_hinders_no_other(app: &App) {
    made_now(app).await;
    let of_acme = "WHERE org_id = (SELECT id FROM tenant_auth_organizations WHERE slug = 'acme')";
    app.admin().logged_in().await;
    app.other_org().admin().logged_in().await;
    let hash = column(app, "acme", "hash").await.pop().expect("an entry");
    run_sql(app, &format!("UPDATE tenant_auth_event_sequences SET hash = NULL, checkpoint_at = checkpoint_at - 1 {of_acme}")).await;
    let acme = texts_in(app, "SELECT id FROM tenant_auth_organizations WHERE slug = 'acme'").await.remove(0);
    let complaints = || logs::lines_with("an audit log cannot be signed").iter().filter(|line| line.contains(&acme)).count();
    a_day(app).await;
    assert_eq!((checkpoints(app, "acme").await.len(), checkpoints(app, "globex").await.len()), (0, 1));
    assert_eq!(complaints(), 1);
    app.tick().await;
    assert_eq!(complaints(), 1, "it is left alone for an hour");
    run_sql(app, &format!("UPDATE tenant_auth_event_sequences SET hash = '{hash}' {of_acme}")).await;
    app.advance(3_600);
    app.tick().await;
    assert_eq!(checkpoints(app, "acme").await.len(), 1);
    verified(app, "acme").await;
}

/// As an export that closes an organization holds it until its file is written.
async fn a_log_whose_organization_is_held_hinders_no_other(app: &App) {
    let Some(url) = app.database().url() else { return }; // on SQLite nobody else writes meanwhile
    made_now(app).await;
    app.admin().logged_in().await;
    app.other_org().admin().logged_in().await;
    run_sql(
        app,
        "UPDATE tenant_auth_event_sequences SET checkpoint_at = checkpoint_at - 1
          WHERE org_id = (SELECT id FROM tenant_auth_organizations WHERE slug = 'acme')",
    )
    .await;
    app.advance(DAY);
    let hold = "BEGIN; SELECT id FROM tenant_auth_organizations WHERE slug = 'acme' FOR UPDATE";
    let held = hold_sql(&url, hold).expect("it is held");
    assert!(internals::sweep(&app.auth).await.is_err(), "one is left");
    assert_eq!((checkpoints(app, "acme").await.len(), checkpoints(app, "globex").await.len()), (0, 1));
    tokio::task::spawn_blocking(move || drop(held)).await.expect("it ends");
    app.tick().await;
    assert_eq!(checkpoints(app, "acme").await.len(), 1);
}

async fn a_clock_that_leapt_signs_nothing(app: &App) {
    made_now(app).await;
    app.admin().logged_in().await;
    app.clock.set(app.clock.now().plus(TWO_DAYS));
    app.tick().await;
    assert!(checkpoints(app, "acme").await.is_empty(), "it would tell a time that has not come");
    app.clock.set(app.clock.now().minus(TWO_DAYS));
    a_day(app).await;
    assert_eq!(checkpoints(app, "acme").await.len(), 1);
}

/// As a server did that was started with a clock that was a year ahead.
async fn a_log_that_a_clock_ahead_signed_is_signed_again(app: &App) {
    made_now(app).await;
    app.admin().logged_in().await;
    run_sql(app, "UPDATE tenant_auth_event_sequences SET checkpoint_at = checkpoint_at + 1800000").await;
    app.tick().await;
    assert!(checkpoints(app, "acme").await.is_empty(), "clocks differ");
    run_sql(app, "UPDATE tenant_auth_event_sequences SET checkpoint_at = checkpoint_at + 31536000000").await;
    app.tick().await;
    assert_eq!(checkpoints(app, "acme").await.len(), 1);
    app.admin().logged_in().await;
    app.tick().await;
    assert_eq!(checkpoints(app, "acme").await.len(), 1, "not yet");
    a_day(app).await;
    assert_eq!(checkpoints(app, "acme").await.len(), 2);
}
