//! The whole catalogue of events at once: every kind occurs, every route that writes tells what it did or is known to tell nothing,
//! nothing secret is told, and nothing reaches another organization.

use std::collections::BTreeSet;

use serde_json::Value;
use tenant_auth_conformance::{App, logs, promises, routes, scenarios};
use tenant_auth_core::model::{EventKind, Scope};

use crate::suite::support::{
    busy_day::BusyDay,
    hooks::{Hook, event_in, is_signed_with},
    listener::Listener,
};

scenarios![on each database:
    every_kind_there_is_occurs,
    every_event_has_the_form_that_the_document_gives_its_kind,
    every_route_that_writes_tells_what_it_did_or_is_known_to_tell_nothing,
    nothing_secret_is_told_mailed_or_logged,
    nothing_reaches_another_organization,
];

/// Nobody can hear of it: webhooks arrive disabled.
const UNHEARD: [&str; 2] = ["org.created", "org.imported"];

/// Routes that write and tell nothing, and why.
const SILENT: [(&str, &str); 13] = [
    ("POST /auth/refresh", "the session goes on; only a replay is told"),
    ("POST /auth/2fa/setup", "nothing is in force yet"),
    ("POST /auth/forgot-password", "anybody may ask; nothing has changed"),
    ("POST /auth/links/preview", "it only looks"),
    ("POST /auth/sign-up", "anybody may ask; nothing has changed"),
    ("POST /auth/sign-up/preview", "it only looks"),
    ("POST /auth/sign-up/complete", "the new organization has nobody to tell yet"),
    ("POST /auth/verify-email/send", "a mail, no change"),
    ("POST /auth/change-email", "a wish; the change is told when it is confirmed"),
    ("POST /org/invites/preview", "it only looks"),
    ("POST /public/verify", "it only looks"),
    ("POST /admin/organizations", "the new organization has nobody to tell yet"),
    ("POST /org/webhooks/{id}/deliveries/{deliveryId}/redeliver", "the same event again"),
];

fn audible() -> BTreeSet<&'static str> {
    EventKind::ALL.iter().map(|kind| kind.as_str()).filter(|kind| !UNHEARD.contains(kind)).collect()
}

async fn every_kind_there_is_occurs(app: &App) {
    let day = BusyDay::lived(app).await;
    let told: BTreeSet<&str> = day.told.iter().filter_map(|event| event["type"].as_str()).collect();
    assert_eq!(told, audible());
    for sent in day.listener.hook.sent(app) {
        assert!(is_signed_with(&sent, &day.listener.hook.secret));
    }
}

async fn every_event_has_the_form_that_the_document_gives_its_kind(app: &App) {
    let day = BusyDay::lived(app).await;
    let broken: Vec<String> = day.told.iter().flat_map(promises::broken_by_event).collect();
    assert!(broken.is_empty(), "{broken:#?}");
    let key = app.org().operators_key(&[Scope::EventsRead]).await;
    let events = app.anonymous().with("X-API-Key", &key).get("/public/events?limit=1000").await.expect_ok()["events"]
        .as_array()
        .cloned()
        .expect("a list");
    let broken: Vec<String> = events.iter().flat_map(promises::broken_by_event).collect();
    assert!(broken.is_empty() && events.iter().any(|event| event["erased"] == true), "{broken:#?}");
}

/// The day hears of each row exactly what it says it hears.
async fn every_route_that_writes_tells_what_it_did_or_is_known_to_tell_nothing(app: &App) {
    let day = BusyDay::lived(app).await;
    let writing = |row: &&routes::Route| row.method != "GET";
    let rows: BTreeSet<String> =
        routes::table().iter().filter(writing).map(|row| format!("{} {}", row.method, row.template)).collect();
    let forgotten: Vec<&String> = rows.difference(&day.used).collect();
    assert!(forgotten.is_empty(), "what do they tell? {forgotten:?}");
    assert!(
        day.told_nothing.iter().all(|row| SILENT.iter().any(|(silent, _)| silent == row)),
        "silent without a reason: {:?}",
        day.told_nothing
    );
    let talkative: Vec<_> = SILENT.iter().filter(|(row, _)| !day.told_nothing.contains(*row)).collect();
    assert!(talkative.is_empty(), "not silent: {talkative:?}");
}

async fn nothing_secret_is_told_mailed_or_logged(app: &App) {
    let day = BusyDay::lived(app).await;
    let mut said: Vec<String> = day.listener.hook.sent(app).into_iter().map(|sent| sent.body).collect();
    for name in ["ada", "max", "nora", "olga", "pat", "gustav", "pia", "chief"] {
        for mail in app.mail_to(&format!("{name}@acme.example")).await {
            said.extend([mail.subject, without_link(&mail.text), without_link(&mail.html)]);
        }
    }
    for mail in app.mail_to("max@elsewhere.example").await {
        said.extend([mail.subject, without_link(&mail.text), without_link(&mail.html)]);
    }
    assert!(said.len() > 60 && day.secrets.len() > 50, "{} {}", said.len(), day.secrets.len());
    for secret in &day.secrets {
        let signature = secret.rsplit('.').next().unwrap_or_default();
        for text in &said {
            assert!(!text.contains(secret.as_str()) && !text.contains(signature), "{secret} in {text}");
        }
        assert!(!logs::mention(secret) && !logs::mention(signature), "logged: {secret}");
    }
    for text in said {
        for mark in ["whs_", "$argon2", "otpauth:", "passwordHash", "\"password\":"] {
            assert!(!text.contains(mark), "{mark} in {text}");
        }
    }
}

/// A mail's own link is what it is for.
fn without_link(text: &str) -> String {
    let mut parts = text.replace("&#x3d;", "=").replace("&amp;", "&");
    while let Some(at) = parts.find("token=") {
        let end = parts[at + 6..]
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'))
            .map_or(parts.len(), |end| at + 6 + end);
        parts.replace_range(at..end, "");
    }
    parts
}

async fn nothing_reaches_another_organization(app: &App) {
    let greta = app.other_org().admin().logged_in().await;
    let mut globex = Listener::at(app, &greta, "globex").await;
    let day = BusyDay::lived(app).await;
    globex.nothing().await;
    let kinds: BTreeSet<&str> = day.told.iter().filter_map(|event| event["type"].as_str()).collect();
    assert_eq!(kinds, audible(), "every kind, or this proves nothing");
    assert!(!format!("{:?}", day.told).contains("globex"));
    let own = Hook::new(&greta, "https://hooks.example.com/own", &["org.updated"]).await;
    greta.patch("/org", serde_json::json!({ "name": "Globex" })).await.expect(200);
    app.tick().await;
    let told: Vec<Value> = own.sent(app).iter().map(event_in).collect();
    assert!(told.len() == 1 && told[0]["sequence"].as_i64().is_some_and(|number| number > 0), "{told:?}");
    assert_eq!(told[0]["org"]["slug"], "globex");
    assert_eq!(day.listener.hook.sent(app).len(), day.told.len(), "and none of theirs reached acme");
}
