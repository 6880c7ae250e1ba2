//! The process as an org_admin: whatever an endpoint does for the admins of an organization, the library does for whoever runs it.

use std::time::Duration;

use serde_json::Value;
use tenant_auth_conformance::{App, id_of, scenarios};
use tenant_auth_core::{
    Error, Page,
    audit::AuditRange,
    backend::NewApiKey,
    id::UserId,
    model::{AuditFilter, EventSelection, MemberFilter, Role, Scope, Status},
    operator::OrganizationChange,
    org::{OrganizationUpdate, Patch},
    value::Metadata,
    webhooks::{NewWebhook, WebhookUpdate},
};

use crate::suite::support::{hooks::RECEIVER, listener::system, stored};

scenarios![on each database:
    the_process_does_what_an_org_admin_does,
    what_it_makes_was_made_by_nobody,
    an_operator_changes_an_organization,
    an_unknown_organization_is_told,
];

async fn the_process_does_what_an_org_admin_does(app: &App) {
    app.org().suspend().await;
    let before = stored::events_of(app, "acme").await.len();
    let admin = app.auth.operator().in_organization(&"acme".parse().expect("a slug")).await.expect("it is there");
    assert_eq!((admin.organization().slug.as_str(), admin.as_member().is_none()), ("acme", true));
    let name = Some("Renamed".parse().expect("a name"));
    let update = OrganizationUpdate { name, app_url: Patch::Clear, ..OrganizationUpdate::default() };
    assert_eq!(admin.update_organization(update).await.expect("it may").name.as_str(), "Renamed");
    let (page, max) = (Page::default(), app.member().id().parse::<UserId>().expect("an id"));

    assert_eq!(admin.members(&page).await.expect("a list").items.len(), 2);
    let admins = MemberFilter { role: Some(Role::OrgAdmin), ..MemberFilter::default() };
    assert_eq!(admin.members_like(&admins, &page).await.expect("a list").items.len(), 1);
    admin.set_metadata(&max, Metadata::parse(r#"{"plan":"pro"}"#).expect("metadata")).await.expect("it may");
    admin.set_role(&max, Role::OrgAdmin).await.expect("it may");
    admin.set_status(&max, Status::Suspended).await.expect("it may");
    admin.set_status(&max, Status::Active).await.expect("it may");
    admin.end_member_sessions(&max).await.expect("it may");
    admin.remove_member(&max).await.expect("it may");

    let invite = admin.invite(&"nora@new.example".parse().expect("an address"), Role::Member).await.expect("it may");
    assert_eq!(admin.invites(&page).await.expect("a list").items.len(), 1);
    admin.resend_invite(&invite.id).await.expect("it may");
    admin.revoke_invite(&invite.id).await.expect("it may");

    let new = NewApiKey { name: "Mine".parse().expect("a name"), scopes: vec![Scope::Verify], expires_at: None };
    let key = admin.create_api_key(new).await.expect("it may").api_key.id;
    admin.rotate_api_key(&key, Duration::ZERO).await.expect("it may");
    let left = admin.api_keys(&page).await.expect("a list").items.pop().expect("a successor");
    admin.revoke_api_key(&left.id).await.expect("it may");

    let events = EventSelection::parse(&["webhook.test"]).expect("a kind");
    let new = NewWebhook { url: RECEIVER.to_owned(), events, description: "Mine".parse().expect("a text") };
    let hook = admin.create_webhook(new).await.expect("it may").webhook.id;
    admin.update_webhook(&hook, WebhookUpdate::default()).await.expect("it may");
    admin.rotate_webhook_secret(&hook, Duration::ZERO).await.expect("it may");
    let delivery = admin.test_webhook(&hook).await.expect("it may");
    app.tick().await;
    admin.redeliver(&hook, &delivery).await.expect("it may");
    assert_eq!(admin.deliveries(&hook, None, &page).await.expect("a list").items.len(), 2);
    assert_eq!(admin.webhook(&hook).await.expect("it is there").id, admin.webhooks(&page).await.expect("a list").items[0].id);
    admin.delete_webhook(&hook).await.expect("it may");

    assert!(!admin.audit(&AuditFilter::default(), &page).await.expect("a list").items.is_empty());
    let export = admin.export_audit(AuditRange::default()).await.expect("it may");
    let entries = export.entries();
    assert_eq!(export.write(tokio::io::sink()).await.expect("it is written"), entries);

    let told = stored::events_of(app, "acme").await.split_off(before);
    assert!(told.len() >= 14 && told.iter().all(|event| event["actor"] == system()), "{told:#?}");
}

async fn what_it_makes_was_made_by_nobody(app: &App) {
    let admin = app.auth.operator().in_organization(&"acme".parse().expect("a slug")).await.expect("it is there");
    admin.invite(&"nora@new.example".parse().expect("an address"), Role::Member).await.expect("it may");
    let new = NewApiKey { name: "Mine".parse().expect("a name"), scopes: vec![Scope::Verify], expires_at: None };
    admin.create_api_key(new).await.expect("it may");
    let mail = app.mail_to("nora@new.example").await.pop().expect("a mail");
    assert!(mail.text.contains("You are invited to join"), "{}", mail.text);
    let told = app.mail_to(app.admin().email()).await;
    assert!(told.iter().any(|mail| mail.text.contains("'Mine'")), "its admins are told of a key all the same");
    let ada = app.admin().logged_in().await;
    assert_eq!(ada.pending_invites().await[0]["invitedBy"], Value::Null);
    assert_eq!(ada.api_keys().await.pop().expect("a key")["createdBy"], Value::Null);
    let log = ada.get("/org/audit?kind=api_key.*").await.expect_ok();
    let entry = &log["entries"][0];
    assert_eq!(
        (&entry["actor"]["type"], &entry["actor"]["name"], &entry["context"]),
        (&"system".into(), &Value::Null, &Value::Null)
    );
}

async fn an_operator_changes_an_organization(app: &App) {
    let (operator, slug) = (app.auth.operator(), "acme".parse().expect("a slug"));
    let plan = Some("enterprise".parse().expect("a plan"));
    let changed = operator.change_organization(&slug, OrganizationChange { plan, ..OrganizationChange::default() }).await;
    assert_eq!(changed.expect("it may").plan.as_str(), "enterprise");
    let told = stored::events_of(app, "acme").await.pop().expect("an event");
    assert_eq!(
        (&told["type"], &told["actor"], &told["data"]["org"]["plan"]),
        (&"org.updated".into(), &system(), &"enterprise".into())
    );
    let shown = app.member().logged_in().await.get("/org").await.expect_ok();
    assert_eq!((&shown["org"]["plan"], id_of(&shown["org"])), (&"enterprise".into(), id_of(&told["data"]["org"])));
}

async fn an_unknown_organization_is_told(app: &App) {
    let (operator, nowhere) = (app.auth.operator(), "nowhere".parse().expect("a slug"));
    assert!(matches!(operator.in_organization(&nowhere).await, Err(Error::UnknownOrganization)));
    let changed = operator.change_organization(&nowhere, OrganizationChange::default()).await;
    assert!(matches!(changed, Err(Error::UnknownOrganization)), "{changed:?}");
}
