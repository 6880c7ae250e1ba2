//! Keys that end: API keys, and the keys that sign tokens.

use std::time::Duration;

use serde_json::json;
use tenant_auth_conformance::{App, Caller, id_of};
use tenant_auth_core::{id::DeploymentKeyId, model::DeploymentScope, operator::NewDeploymentKey};

use super::rows;
use crate::suite::memory::deployment::{Question, Site, at_each, at_each_and_by_command, is_valid, status, status_of};

rows! {
    a_revoked_key_is_dead_everywhere: ApiKeyDeleted;
    a_key_rotated_without_overlap_is_dead_everywhere: ApiKeyReplaced;
    a_key_ended_by_a_later_rotation_is_dead_everywhere: ApiKeyDeleted ApiKeyReplaced;
    a_revoked_deployment_key_is_dead_everywhere: DeploymentKeyDeleted;
    a_deployment_key_rotated_without_overlap_is_dead_everywhere: DeploymentKeyReplaced;
    compromised_signing_keys_are_dead_everywhere: SigningKeysCompromised SessionEnded;
}

/// A backend with this key verifies at both servers.
fn verifying_with(site: &Site<'_>, key: &str) -> Question {
    let token = site.person.access_token();
    let ask = site.deployment.both().map(|server| server.anonymous().backend_with(key).verify(&token)).to_vec();
    Question { ask, is_old: is_valid }
}

/// A new key's id and text.
async fn new_key(admin: &Caller) -> (String, String) {
    let (key, text) = admin.created_key(json!({ "name": "doomed", "scopes": ["verify"] })).await;
    (id_of(&key).to_owned(), text)
}

async fn a_revoked_key_is_dead_everywhere(app: &App) {
    at_each(app, async |site| {
        let admin = app.admin().logged_in().await;
        let (id, text) = new_key(&admin).await;
        let revoking = async || status_of(admin.via(site.server).delete(&format!("/org/api-keys/{id}"))).await;
        site.holds(verifying_with(&site, &text), 200, revoking).await;
    })
    .await;
}

async fn a_key_rotated_without_overlap_is_dead_everywhere(app: &App) {
    at_each(app, async |site| {
        let admin = app.admin().logged_in().await;
        let (id, text) = new_key(&admin).await;
        let path = format!("/org/api-keys/{id}/rotate");
        let rotating = async || status_of(admin.via(site.server).post(&path, json!({ "overlapSeconds": 0 }))).await;
        site.holds(verifying_with(&site, &text), 201, rotating).await;
    })
    .await;
}

async fn a_key_ended_by_a_later_rotation_is_dead_everywhere(app: &App) {
    at_each(app, async |site| {
        let admin = app.admin().logged_in().await;
        let (id, text) = new_key(&admin).await;
        let rotate = |id: &str| format!("/org/api-keys/{id}/rotate");
        let next = admin.post(&rotate(&id), json!({ "overlapSeconds": 3600 })).await.expect(201).data();
        let path = rotate(id_of(&next["apiKey"]));
        let rotating = async || status_of(admin.via(site.server).post(&path, json!({ "overlapSeconds": 3600 }))).await;
        site.holds(verifying_with(&site, &text), 201, rotating).await;
    })
    .await;
}

/// A new deployment key's id and text.
async fn new_deployment_key(site: &Site<'_>) -> (DeploymentKeyId, String) {
    let (name, scopes) = ("doomed".parse().expect("a name"), vec![DeploymentScope::Verify]);
    let new = NewDeploymentKey { name, scopes, networks: Vec::new(), expires_at: None };
    let created = site.server.auth.operator().create_deployment_key(new).await.expect("a key");
    (created.deployment_key.id, created.key.expose().to_owned())
}

async fn a_revoked_deployment_key_is_dead_everywhere(app: &App) {
    at_each_and_by_command(app, async |site| {
        let (id, text) = new_deployment_key(&site).await;
        let operator = site.server.auth.operator();
        let revoking = async || status(operator.revoke_deployment_key(&id).await);
        site.holds(verifying_with(&site, &text), 200, revoking).await;
    })
    .await;
}

async fn a_deployment_key_rotated_without_overlap_is_dead_everywhere(app: &App) {
    at_each_and_by_command(app, async |site| {
        let (id, text) = new_deployment_key(&site).await;
        let operator = site.server.auth.operator();
        let rotating = async || status(operator.rotate_deployment_key(&id, Duration::ZERO).await);
        site.holds(verifying_with(&site, &text), 200, rotating).await;
    })
    .await;
}

async fn compromised_signing_keys_are_dead_everywhere(app: &App) {
    at_each_and_by_command(app, async |site| {
        let operator = site.server.auth.operator();
        site.ends(async || status(Box::pin(operator.rotate_keys(true)).await)).await;
    })
    .await;
}
