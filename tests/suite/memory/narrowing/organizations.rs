//! Organizations that are closed, and pages that may no longer ask.

use serde_json::json;
use tenant_auth_conformance::{App, Caller, Response};
use tenant_auth_core::{
    backend::NewApiKey,
    model::{Scope, Status},
    operator::{NewOrganization, SessionsOf},
};

use super::rows;
use crate::suite::{
    memory::deployment::{Deployment, Question, Site, at_each, at_each_and_by_command, is_valid, status, status_of},
    support::authenticator::SecondFactor,
};

rows! {
    a_suspended_organization_is_closed_everywhere: OrganizationSuspended;
    an_organization_suspended_by_an_operator_is_closed_everywhere: OrganizationSuspended;
    a_removed_organization_is_unknown_everywhere: OrganizationSuspended OrganizationRemoved;
    an_origin_taken_away_is_foreign_everywhere: OriginRemoved;
    an_application_taken_away_is_foreign_everywhere: OriginRemoved;
    an_application_taken_away_by_an_operator_is_foreign_everywhere: OriginRemoved;
    an_operator_is_dismissed_everywhere: OperatorChanged;
    an_operator_is_appointed_everywhere: OperatorChanged;
}

const PAGE: &str = "https://pages.acme.example";

fn is_allowed(answer: &Response) -> bool {
    answer.header("access-control-allow-origin").is_some()
}

fn is_let_in(answer: &Response) -> bool {
    answer.status == 200
}

fn is_refused(answer: &Response) -> bool {
    answer.status == 403
}

async fn a_suspended_organization_is_closed_everywhere(app: &App) {
    at_each_and_by_command(app, async |site| {
        let slug = app.org().slug().parse().expect("a slug");
        let operator = site.server.auth.operator();
        site.ends(async || status(operator.set_organization_status(&slug, Status::Suspended).await)).await;
        app.org().reactivate().await;
        seen_everywhere().await;
    })
    .await;
}

async fn a_removed_organization_is_unknown_everywhere(app: &App) {
    at_each_and_by_command(app, async |site| {
        let (backend, token) = short_lived(app).await;
        let ask = site.deployment.both().map(|server| backend.via(server).verify(&token)).to_vec();
        let slug = "brief".parse().expect("a slug");
        let operator = site.server.auth.operator();
        let removing = async || status(operator.delete_organization_now(&slug).await);
        site.holds(Question { ask, is_old: is_valid }, 200, removing).await;
        app.anonymous().at_org("brief").get("/org").await.expect_error(404, "unknown_organization");
        operator.release_slug(&slug).await.expect("it can be written");
        app.tick().await;
    })
    .await;
}

/// An organization's backend, and the token of a member.
async fn short_lived(app: &App) -> (Caller, String) {
    let operator = app.auth.operator();
    let (name, slug) = ("Brief".parse().expect("a name"), "brief".parse().expect("a slug"));
    let email = "brief@new.example".parse().expect("an address");
    let new = NewOrganization::new(name, slug, email);
    let invited = operator.create_organization(new).await.expect("the slug is free");
    let slug = invited.org.slug;
    let member = app.anonymous().at_org("brief");
    member.accept(invited.token.expose(), "Brief Member").await.expect(200);
    let new = NewApiKey { name: "Key".parse().expect("a name"), scopes: vec![Scope::Verify], expires_at: None };
    let key = operator.create_api_key(&slug, new).await.expect("a key");
    (app.anonymous().at_org("brief").with("X-API-Key", key.key.expose()), member.access_token())
}

/// A deployment with an operator, who is logged in with both factors.
async fn with_operator(app: &App) -> (Deployment, Caller) {
    let deployment = Deployment::with(app, |setup| setup.config.organizations.operator_org = Some("acme".parse().expect("a slug")));
    let deployment = deployment.await;
    let first = &deployment.first;
    let authenticator = first.admin().logged_in().await.guard(first).await;
    appoint(first, &first.admin()).await;
    let ada = first.admin().through(first, &authenticator).await;
    (deployment, ada)
}

async fn appoint(server: &App, person: &Caller) -> u16 {
    status(server.auth.operator().appoint(&person.email().parse().expect("an address")).await)
}

async fn dismiss(server: &App, person: &Caller) -> u16 {
    status(server.auth.operator().dismiss(&person.email().parse().expect("an address")).await)
}

async fn an_organization_suspended_by_an_operator_is_closed_everywhere(app: &App) {
    let (deployment, ada) = Box::pin(with_operator(app)).await;
    for server in deployment.both() {
        let site = Site { deployment: &deployment, server, person: deployment.first.other_org().member().logged_in().await };
        let token = site.person.access_token();
        let ask = deployment.both().map(|server| server.other_org().backend().verify(&token)).to_vec();
        let set = async |status: &str| {
            let path = format!("/admin/organizations/{}", app.other_org().slug());
            status_of(ada.via(server).patch(&path, json!({ "status": status }))).await
        };
        site.holds(Question { ask, is_old: is_valid }, 200, async || set("suspended").await).await;
        assert_eq!(set("active").await, 200);
        seen_everywhere().await;
    }
}

/// A page of the organization's asks both servers.
fn asked_from(site: &Site<'_>, page: &str) -> Question {
    let ask = site.deployment.both().map(|server| site.person.via(server).get("/org").from_origin(page)).to_vec();
    Question { ask, is_old: is_allowed }
}

/// Waits until every server has seen what was given, which may take as long as a look counts.
async fn seen_everywhere() {
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
}

async fn an_origin_taken_away_is_foreign_everywhere(app: &App) {
    at_each(app, async |site| {
        let admin = app.admin().logged_in().await;
        admin.patch("/org", json!({ "allowedOrigins": [PAGE] })).await.expect(200);
        seen_everywhere().await;
        let removing = async || status_of(admin.via(site.server).patch("/org", json!({ "allowedOrigins": [] }))).await;
        site.holds(asked_from(&site, PAGE), 200, removing).await;
    })
    .await;
}

async fn an_application_taken_away_is_foreign_everywhere(app: &App) {
    at_each(app, async |site| {
        let admin = app.admin().logged_in().await;
        admin.patch("/org", json!({ "appUrl": format!("{PAGE}/home") })).await.expect(200);
        seen_everywhere().await;
        let removing = async || status_of(admin.via(site.server).patch("/org", json!({ "appUrl": null }))).await;
        site.holds(asked_from(&site, PAGE), 200, removing).await;
    })
    .await;
}

async fn an_application_taken_away_by_an_operator_is_foreign_everywhere(app: &App) {
    let (deployment, ada) = Box::pin(with_operator(app)).await;
    let path = format!("/admin/organizations/{}", app.org().slug());
    for server in deployment.both() {
        ada.patch(&path, json!({ "appUrl": format!("{PAGE}/home") })).await.expect(200);
        seen_everywhere().await;
        let site = Site { deployment: &deployment, server, person: deployment.new_person().await };
        let removing = async || status_of(ada.via(server).patch(&path, json!({ "appUrl": null }))).await;
        site.holds(asked_from(&site, PAGE), 200, removing).await;
    }
}

async fn an_operator_is_dismissed_everywhere(app: &App) {
    let (deployment, ada) = Box::pin(with_operator(app)).await;
    for server in deployment.both() {
        let site = Site { deployment: &deployment, server, person: ada.clone() };
        let ask = deployment.both().map(|server| ada.via(server).get("/admin/organizations")).to_vec();
        site.holds(Question { ask, is_old: is_let_in }, 200, async || dismiss(server, &ada).await).await;
        assert_eq!(appoint(server, &ada).await, 200);
    }
}

async fn an_operator_is_appointed_everywhere(app: &App) {
    let (deployment, ada) = Box::pin(with_operator(app)).await;
    for server in deployment.both() {
        assert_eq!(dismiss(server, &ada).await, 200);
        let site = Site { deployment: &deployment, server, person: ada.clone() };
        let ask = deployment.both().map(|server| ada.via(server).get("/admin/organizations")).to_vec();
        site.holds(Question { ask, is_old: is_refused }, 200, async || appoint(server, &ada).await).await;
    }
    let everybody = deployment.first.auth.operator().revoke_sessions(SessionsOf::All).await;
    everybody.expect("they are ended");
}
