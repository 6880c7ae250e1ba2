//! Deployment keys with the scope `admin`: the product does in any organization what its org_admins do, and is told of as the product.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, id_of, routes, scenarios};
use tenant_auth_core::{
    Error, OrgAdmin,
    audit::AuditRange,
    backend::NewApiKey,
    id::DeploymentKeyId,
    model::{DeploymentScope, EventSelection, Role, Scope, Status},
    operator::NewDeploymentKey,
    org::OrganizationUpdate,
    ports::Clock,
    secret::ApiKeyText,
    value::Metadata,
    webhooks::{NewWebhook, WebhookUpdate},
};

use crate::suite::{
    public::deployment_keys::{made, new_key},
    support::{hooks::RECEIVER, stored},
};

scenarios![
    it_does_what_an_org_admin_does_in_every_organization,
    what_it_does_is_told_with_the_keys_id,
    it_acts_in_a_suspended_organization,
    the_operators_organization_is_unknown_to_it,
    the_last_admin_stays_whoever_asks,
    the_scope_opens_nothing_else,
    the_product_and_the_process_give_the_scope_proxy,
    its_invites_end_with_it,
    an_end_that_was_cut_off_is_told_by_the_worker,
];
scenarios![on each database: a_key_that_ended_meanwhile_changes_nothing,];

/// A key with the scope `admin`, and a backend that shows it.
pub(super) async fn product(app: &App) -> (DeploymentKeyId, Caller) {
    let (id, key) = made(app, new_key(&[DeploymentScope::Admin])).await;
    (id, app.anonymous().backend_with(&key))
}

/// The product at work, and the rows that it has called.
struct AtWork {
    product: Caller,
    done: BTreeSet<String>,
}

impl AtWork {
    async fn does(&mut self, method: &str, path: &str, body: Value, status: u16) -> Value {
        let row = routes::row_for(method, path).unwrap_or_else(|| panic!("no row answers {method} {path}"));
        self.done.insert(format!("{} {}", row.method, row.template));
        let request = self.product.request(method, path);
        let answer = if body.is_null() { request.await } else { request.json(&body).await };
        let answer = answer.expect(status);
        if row.template == "/org/audit/export" { Value::Null } else { answer.data() }
    }

    async fn members(&mut self, id: &str) {
        let member = format!("/org/members/{id}");
        self.does("GET", "/org/members", Value::Null, 200).await;
        self.does("PATCH", &member, json!({ "metadata": { "team": "rockets" } }), 200).await;
        self.does("PUT", &format!("{member}/role"), json!({ "role": "org_admin" }), 200).await;
        self.does("PUT", &format!("{member}/status"), json!({ "status": "suspended" }), 200).await;
        self.does("PUT", &format!("{member}/status"), json!({ "status": "active" }), 200).await;
        self.does("GET", &member, Value::Null, 200).await;
        let shown = self.does("GET", &format!("{member}/sessions"), Value::Null, 200).await;
        let session = id_of(&shown["sessions"][0]);
        self.does("DELETE", &format!("{member}/sessions/{session}"), Value::Null, 200).await;
        self.does("DELETE", &format!("{member}/sessions"), Value::Null, 200).await;
        self.does("DELETE", &member, Value::Null, 200).await;
    }

    async fn invites(&mut self) {
        let invite = json!({ "email": "nora@new.example", "role": "org_admin" });
        let invited = self.does("POST", "/org/members/invite", invite, 201).await;
        let path = format!("/org/invites/{}", id_of(&invited["invite"]));
        let listed = self.does("GET", "/org/invites", Value::Null, 200).await;
        assert_eq!(
            (listed["invites"][0]["email"].as_str(), &listed["invites"][0]["invitedBy"]),
            (Some("nora@new.example"), &Value::Null)
        );
        let several = json!({ "invites": [{ "email": "olga@new.example" }] });
        self.does("POST", "/org/members/invite/bulk", several, 200).await;
        self.does("POST", &format!("{path}/resend"), Value::Null, 200).await;
        self.does("DELETE", &path, Value::Null, 200).await;
    }

    async fn keys(&mut self) {
        let made = self.does("POST", "/org/api-keys", json!({ "name": "Back end" }), 201).await;
        assert_eq!(made["apiKey"]["createdBy"], Value::Null);
        let path = format!("/org/api-keys/{}", id_of(&made["apiKey"]));
        self.does("GET", "/org/api-keys", Value::Null, 200).await;
        self.does("POST", &format!("{path}/rotate"), Value::Null, 201).await;
        self.does("DELETE", &path, Value::Null, 200).await;
    }

    async fn webhooks(&mut self, app: &App) {
        let made = self.does("POST", "/org/webhooks", json!({ "url": RECEIVER, "events": ["webhook.test"] }), 201).await;
        assert_eq!(made["webhook"]["createdBy"], Value::Null);
        let path = format!("/org/webhooks/{}", id_of(&made["webhook"]));
        self.does("GET", "/org/webhooks", Value::Null, 200).await;
        self.does("GET", &path, Value::Null, 200).await;
        self.does("PATCH", &path, json!({ "description": "Mine" }), 200).await;
        self.does("POST", &format!("{path}/rotate-secret"), Value::Null, 200).await;
        let tested = self.does("POST", &format!("{path}/test"), Value::Null, 202).await;
        app.tick().await;
        self.does("GET", &format!("{path}/deliveries"), Value::Null, 200).await;
        let delivery = format!("{path}/deliveries/{}", id_of(&tested["delivery"]));
        self.does("GET", &delivery, Value::Null, 200).await;
        let again = format!("{delivery}/redeliver");
        self.does("POST", &again, Value::Null, 202).await;
        self.does("DELETE", &path, Value::Null, 200).await;
    }
}

async fn it_does_what_an_org_admin_does_in_every_organization(app: &App) {
    let (id, product) = product(app).await;
    for org in [app.org(), app.other_org()] {
        let max = org.member().logged_in().await;
        let mut at_work = AtWork { product: product.clone().at_org(org.slug()), done: BTreeSet::new() };
        let before = stored::events_of(app, org.slug()).await.len();
        let shown = at_work.does("GET", "/org", Value::Null, 200).await;
        assert_eq!(shown["org"]["allowedOrigins"], json!([]), "shown as to an org_admin");
        let renamed = json!({ "name": "Renamed", "allowedOrigins": ["https://extra.example"] });
        at_work.does("PATCH", "/org", renamed, 200).await;
        at_work.invites().await;
        at_work.keys().await;
        at_work.webhooks(app).await;
        at_work.members(max.id()).await;
        at_work.does("GET", "/org/audit", Value::Null, 200).await;
        at_work.does("POST", "/org/audit/export", Value::Null, 200).await;
        max.get("/org").await.expect_no_session();
        let rows = routes::table().iter().filter(|row| row.is_for_admins_by_key());
        let rows: BTreeSet<String> = rows.map(|row| format!("{} {}", row.method, row.template)).collect();
        assert_eq!(at_work.done, rows, "each row is called here, and its actor looked at");
        let told = stored::events_of(app, org.slug()).await.split_off(before);
        let actor = json!({ "type": "deployment_key", "id": id.as_str() });
        assert!(told.len() >= 15, "{told:#?}");
        assert!(told.iter().all(|event| event["actor"] == actor), "{told:#?}");
    }
}

async fn what_it_does_is_told_with_the_keys_id(app: &App) {
    let (id, product) = product(app).await;
    let (admin, before) = (app.admin().logged_in().await, app.mail_to(app.admin().email()).await.len());
    product.set_metadata(app.member().id(), json!({ "plan": "pro" })).await.expect(200);
    let entry = admin.get(&format!("/org/audit?actor={id}")).await.expect_ok()["entries"][0].clone();
    assert_eq!(entry["actor"], json!({ "type": "deployment_key", "id": id.as_str(), "name": "The product" }));
    assert!(entry["context"].is_null(), "where the product runs is not the organization's business: {entry}");
    product.create_key("Back end").await.expect(201);
    product.set_role(app.member().id(), "org_admin").await.expect(200);
    assert_eq!(app.mail_to(admin.email()).await.len() - before, 2, "an admin is told of each, who is not its author");
    product.invite("nora@new.example").await.expect(201);
    let mail = app.mail_to("nora@new.example").await.pop().expect("a mail");
    assert!(mail.text.contains("You are invited to join"), "{}", mail.text);
    app.anonymous().accept(&app.link_token_of("nora@new.example").await, "Nora").await.expect(200);
}

async fn it_acts_in_a_suspended_organization(app: &App) {
    let (_, product) = product(app).await;
    app.org().suspend().await;
    assert_eq!(product.get("/org").await.expect_ok()["org"]["status"], "suspended");
    product.patch("/org", json!({ "name": "Closed" })).await.expect(200);
    product.set_role(app.member().id(), "org_admin").await.expect(200);
    app.org().reactivate().await;
    assert_eq!(app.member().logged_in().await.get("/org").await.expect_ok()["org"]["name"], "Closed");
}

async fn the_operators_organization_is_unknown_to_it(app: &App) {
    let app = app.beside(|setup| setup.config.organizations.operator_org = Some("acme".parse().expect("a slug"))).await;
    let (_, product) = product(&app).await;
    for row in routes::table().iter().filter(|row| row.is_for_admins_by_key()) {
        let path = row.plausible_path(app.member().id());
        for slug in ["acme", "nowhere"] {
            product.clone().at_org(slug).request(&row.method, &path).text("{").await.expect_error(404, "unknown_organization");
        }
    }
    product.at_org("globex").get("/org").await.expect(200);
}

async fn the_last_admin_stays_whoever_asks(app: &App) {
    let ((_, product), ada) = (product(app).await, app.admin());
    product.set_role(ada.id(), "member").await.expect_error(400, "last_admin");
    product.set_status(ada.id(), "suspended").await.expect_error(400, "last_admin");
    product.remove(ada.id()).await.expect_error(400, "last_admin");
    let dora = app.org().new_admin("Dora").await;
    product.remove(ada.id()).await.expect(200);
    let process = app.auth.operator().in_organization(&"acme".parse().expect("a slug")).await.expect("it is there");
    let refused = process.remove_member(&dora.id().parse().expect("an id")).await;
    assert!(matches!(refused, Err(Error::LastAdmin)), "{refused:?}");
}

async fn the_scope_opens_nothing_else(app: &App) {
    let ((_, product), max) = (product(app).await, app.member().logged_in().await);
    for row in routes::table().iter().filter(|row| !row.is_for_admins_by_key() && !row.is_exempt()) {
        let request = product.request(&row.method, &row.plausible_path(max.id()));
        let answer = match row.template.as_str() {
            "/public/verify" => product.verify(&max.access_token()).await,
            _ if row.method == "GET" => request.await,
            _ => request.text("{").await,
        };
        if row.is_public() || row.template.starts_with("/admin/") {
            answer.expect_error(403, "missing_scope");
        } else if row.template == "/org/appearance" {
            answer.expect(200); // anybody may see it, without a key
        } else {
            assert!((400..=401).contains(&answer.status), "{} {}: {}", row.method, row.template, answer.shown());
        }
    }
}

async fn the_product_and_the_process_give_the_scope_proxy(app: &App) {
    let (_, key) = made(app, new_key(&[DeploymentScope::Admin])).await;
    let asked = json!({ "name": "Proxy", "scopes": ["proxy"] });
    let ada = app.admin().logged_in().await.with("X-API-Key", &key);
    ada.post("/org/api-keys", asked.clone()).await.expect_error(403, "admin_required");
    let made = app.anonymous().backend_with(&key).post("/org/api-keys", asked).await.expect(201).data();
    assert_eq!((&made["apiKey"]["scopes"], &made["apiKey"]["createdBy"]), (&json!(["proxy"]), &Value::Null));
    let front_end = app.member().with("X-API-Key", made["key"].as_str().expect("a key"));
    let person = front_end.with("X-Client-IP", "203.0.113.7").logged_in().await;
    assert_eq!(person.get("/auth/sessions").await.expect_ok()["sessions"][0]["ip"], "203.0.113.7", "its word counts");
    let process = app.auth.operator().in_organization(&"acme".parse().expect("a slug")).await.expect("it is there");
    let new = NewApiKey { name: "Proxy".parse().expect("a name"), scopes: vec![Scope::Proxy], expires_at: None };
    process.create_api_key(new).await.expect("the process may");
}

async fn its_invites_end_with_it(app: &App) {
    let (id, product) = product(app).await;
    let mut tokens = Vec::new();
    for org in [app.org(), app.other_org()] {
        product.clone().at_org(org.slug()).invite_as("mallory@evil.example", "org_admin").await.expect(201);
        let token = app.link_token_of("mallory@evil.example").await;
        org.anonymous().preview(&token).await.expect(200);
        tokens.push(token);
    }
    let ada = app.admin().logged_in().await;
    ada.invite("nora@new.example").await.expect(201);
    app.auth.operator().revoke_deployment_key(&id).await.expect("it lives");
    for (org, token) in [app.org(), app.other_org()].into_iter().zip(&tokens) {
        org.anonymous().preview(token).await.expect_error(400, "invalid_invite");
        let told = stored::events_of(app, org.slug()).await.pop().expect("an event");
        assert_eq!((&told["type"], &told["data"]["invite"]["email"]), (&"invite.revoked".into(), &"mallory@evil.example".into()));
    }
    let left = ada.pending_invites().await;
    assert_eq!(left.iter().map(|invite| &invite["email"]).collect::<Vec<_>>(), ["nora@new.example"]);
}

async fn an_end_that_was_cut_off_is_told_by_the_worker(app: &App) {
    let (_, product) = product(app).await;
    product.invite_as("mallory@evil.example", "org_admin").await.expect(201);
    stored::end_invite(app, "mallory@evil.example").await;
    assert!(app.admin().logged_in().await.pending_invites().await.is_empty());
    app.tick().await;
    let events = stored::events_of(app, "acme").await;
    let told = events.iter().filter(|event| event["type"] == "invite.revoked");
    assert_eq!(told.map(|event| &event["data"]["invite"]["email"]).collect::<Vec<_>>(), ["mallory@evil.example"]);
    assert_eq!(stored::number(app, "SELECT COUNT(*) FROM tenant_auth_invites WHERE expires_at = 0").await, 0);
}

/// A right by a key, which ends before it is used.
async fn ended(app: &App, end: usize) -> OrgAdmin {
    let expires_at = (end == 2).then(|| app.clock.now().plus(std::time::Duration::from_secs(60)));
    let (id, key) = made(app, NewDeploymentKey { expires_at, ..new_key(&[DeploymentScope::Admin]) }).await;
    let (slug, operator) = ("acme".parse().expect("a slug"), app.auth.operator());
    let admin = app.auth.org_admin_of_deployment(&slug, &ApiKeyText::new(key), None).await.expect("a live key");
    match end {
        0 => drop(operator.revoke_deployment_key(&id).await.expect("it lives")),
        1 => drop(operator.rotate_deployment_key(&id, std::time::Duration::ZERO).await.expect("it lives")),
        _ => app.advance(60),
    }
    admin
}

async fn a_key_that_ended_meanwhile_changes_nothing(app: &App) {
    let ada = app.admin().logged_in().await;
    let invite = id_of(&ada.invite("nora@new.example").await.expect(201).data()["invite"]).parse().expect("an id");
    let (key, _) = ada.created_key(json!({ "name": "Back end" })).await;
    let hook = ada.post("/org/webhooks", json!({ "url": RECEIVER, "events": ["webhook.test"] })).await.expect(201).data();
    let tested = ada.post_nothing(&format!("/org/webhooks/{}/test", id_of(&hook["webhook"]))).await.expect(202).data();
    app.tick().await;
    let (key, hook) = (id_of(&key).parse().expect("an id"), id_of(&hook["webhook"]).parse().expect("an id"));
    let (delivery, max) = (id_of(&tested["delivery"]).parse().expect("an id"), app.member().id().parse().expect("an id"));
    let before = stored::events_of(app, "acme").await;
    for end in 0..3 {
        let admin = ended(app, end).await;
        let new_key = NewApiKey { name: "Late".parse().expect("a name"), scopes: vec![Scope::Verify], expires_at: None };
        let events = EventSelection::parse(&["*"]).expect("kinds");
        let new_hook = NewWebhook { url: RECEIVER.to_owned(), events, description: "Late".parse().expect("a text") };
        let overlap = std::time::Duration::ZERO;
        let outcomes = [
            admin.update_organization(OrganizationUpdate::default()).await.err(),
            admin.invite(&"late@new.example".parse().expect("an address"), Role::OrgAdmin).await.err(),
            admin.resend_invite(&invite).await.err(),
            admin.revoke_invite(&invite).await.err(),
            admin.set_metadata(&max, Metadata::default()).await.err(),
            admin.set_role(&max, Role::OrgAdmin).await.err(),
            admin.set_status(&max, Status::Suspended).await.err(),
            admin.end_member_sessions(&max).await.err(),
            admin.remove_member(&max).await.err(),
            admin.create_api_key(new_key).await.err(),
            admin.rotate_api_key(&key, overlap).await.err(),
            admin.revoke_api_key(&key).await.err(),
            admin.create_webhook(new_hook).await.err(),
            admin.update_webhook(&hook, WebhookUpdate::default()).await.err(),
            admin.rotate_webhook_secret(&hook, overlap).await.err(),
            admin.test_webhook(&hook).await.err(),
            admin.redeliver(&hook, &delivery).await.err(),
            admin.delete_webhook(&hook).await.err(),
            admin.export_audit(AuditRange::default()).await.err(),
        ];
        assert!(outcomes.iter().all(|outcome| matches!(outcome, Some(Error::InvalidApiKey))), "{end}: {outcomes:#?}");
    }
    assert_eq!(stored::events_of(app, "acme").await, before);
}
