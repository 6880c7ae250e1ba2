//! Tenant isolation: no token, id or key of one organization does anything in another. The whole route table is walked with a
//! stranger's credentials, and what it guards is the same afterwards. A route that is new to this suite fails it until the suite
//! says what a stranger gets there.

use serde_json::{Value, json};
use tenant_auth_conformance::{App, BASE, Caller, PASSWORD, Request, id_of, jwt, routes, scenarios};
use tenant_auth_core::http;

use crate::suite::support::{
    account::{guard, in_both},
    authenticator::SecondFactor,
    hooks::{Hook, RECEIVER},
};

scenarios![
    a_foreign_session_is_refused_on_every_route,
    a_foreign_bearer_is_refused_on_every_route,
    a_foreign_refresh_token_is_refused_and_lives_on,
    a_foreign_api_key_is_refused_on_every_public_route,
    no_route_reaches_what_belongs_to_another_organization,
    a_backend_learns_nothing_of_another_organization,
    a_login_waiting_in_one_organization_opens_no_other,
];

/// Routes that ask for no session: a foreign one is nothing to them, and an empty object is no request; nor is it looked at where a
/// waiting login is missing.
const WITHOUT_SESSION: [(&str, &str, u16); 9] = [
    ("GET", "/org/appearance", 200),
    ("POST", "/auth/login", 400),
    ("POST", "/auth/verify-2fa", 401),
    ("POST", "/auth/forgot-password", 400),
    ("POST", "/auth/reset-password", 400),
    ("POST", "/auth/links/preview", 400),
    ("POST", "/auth/verify-email", 400),
    ("POST", "/org/invites/preview", 400),
    ("POST", "/org/invites/{token}/accept", 400),
];

/// What a row answers to a foreign session beside an empty object, when it asks for no session.
fn without_session(row: &http::Row) -> Option<u16> {
    let known = WITHOUT_SESSION.iter().find(|(method, template, _)| (*method, *template) == (row.method.as_str(), row.path));
    known.map(|(_, _, status)| *status)
}

/// `acme`, with something of everything: what a stranger might be after.
struct Acme {
    admin: Caller,
    member: Caller,
    invite: String,
    session: String,
    webhook: String,
    delivery: String,
}

impl Acme {
    async fn furnished(app: &App) -> Self {
        let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
        admin.set_metadata(member.id(), json!({ "team": "rockets" })).await.expect(200);
        let invite = id_of(&admin.invite("waiting@acme.example").await.expect(201).data()["invite"]).to_owned();
        let session = jwt::claims(&member.access_token())["sid"].as_str().expect("a session").to_owned();
        let hook = Hook::new(&admin, RECEIVER, &["webhook.test"]).await;
        let delivery = hook.test(&admin).await;
        app.tick().await;
        Self { admin, member, invite, session, webhook: hook.id, delivery }
    }

    /// Everything that can be seen of it, and through living sessions only.
    async fn seen(&self) -> Vec<Value> {
        let mut seen = Vec::new();
        for path in [
            "/org",
            "/org/members",
            "/org/invites",
            "/org/api-keys",
            "/org/webhooks",
            "/auth/profile",
            "/auth/sessions",
            "/auth/2fa",
        ] {
            seen.push(self.admin.get(path).await.expect_ok());
        }
        seen.push(self.admin.get(&format!("/org/webhooks/{}/deliveries", self.webhook)).await.expect_ok());
        for path in ["/auth/profile", "/auth/sessions", "/auth/2fa"] {
            seen.push(self.member.get(path).await.expect_ok());
        }
        seen
    }

    /// A row's path, its parameters filled in with ids of this organization.
    fn path(&self, app: &App, template: &str) -> String {
        let id = match template {
            _ if template.starts_with("/auth/sessions/") => self.session.as_str(),
            _ if template.starts_with("/org/webhooks/") => self.webhook.as_str(),
            _ => app.org().api_key_id(),
        };
        let path = template
            .replace("{userId}", self.member.id())
            .replace("{invite}", &self.invite)
            .replace("{token}", "x")
            .replace("{slug}", "acme");
        let path = path.replace("{id}", id).replace("{deliveryId}", &self.delivery);
        assert!(!path.contains('{'), "what is the parameter of {template}?");
        path
    }
}

fn is_exempt(row: &http::Row) -> bool {
    routes::row_for(row.method.as_str(), row.path).is_some_and(routes::Route::is_exempt)
}

fn is_public(row: &http::Row) -> bool {
    row.path.starts_with("/public/")
}

/// Walks the table with a stranger who presents their living session under `acme`'s slug.
async fn walk(app: &App, acme: &Acme, stranger: &Caller) {
    for row in http::routes().filter(|row| !is_exempt(row) && !is_public(row)) {
        let path = acme.path(app, row.path);
        let ask = || stranger.request(row.method.as_str(), &path);
        let answers = match without_session(row) {
            Some(status) => vec![ask().json(&json!({})).await.expect(status)],
            None => {
                let answers = [ask().await, ask().json(&json!({})).await, ask().json(&body_for(row, app)).await];
                answers.into_iter().map(|answer| answer.expect_error(401, "wrong_organization")).collect()
            }
        };
        for answer in answers {
            assert!(answer.cookies().is_empty(), "{}", answer.shown());
        }
    }
}

async fn a_foreign_session_is_refused_on_every_route(app: &App) {
    let acme = Acme::furnished(app).await;
    let before = acme.seen().await;
    for stranger in [app.other_org().admin().logged_in().await, app.other_org().member().logged_in().await] {
        walk(app, &acme, &stranger.clone().at_org("acme")).await;
        stranger.get("/org").await.expect(200);
        stranger.refresh().await.expect(200);
    }
    assert_eq!(acme.seen().await, before);
}

async fn a_foreign_bearer_is_refused_on_every_route(app: &App) {
    let acme = Acme::furnished(app).await;
    let before = acme.seen().await;
    let greta = app.other_org().admin().logged_in().await;
    let stranger = app.anonymous().with_bearer(&greta.access_token());
    for row in http::routes().filter(|row| !is_exempt(row) && !is_public(row)) {
        let is_open = without_session(row).is_some() || row.path == "/auth/refresh";
        if !is_open {
            let refused = stranger.request(row.method.as_str(), &acme.path(app, row.path)).await;
            assert!(refused.expect_error(401, "wrong_organization").cookies().is_empty());
        }
    }
    greta.get("/org").await.expect(200);
    assert_eq!(acme.seen().await, before);
}

async fn a_foreign_refresh_token_is_refused_and_lives_on(app: &App) {
    let greta = app.other_org().admin().logged_in().await;
    let old = greta.refresh_token();
    greta.refresh().await.expect(200);
    for token in [greta.refresh_token(), old] {
        let only = format!("refresh_token={token}");
        for path in ["/auth/refresh", "/auth/logout"] {
            let refused = app.anonymous().post_nothing(path).cookies(&only).await;
            assert!(refused.expect_error(401, "wrong_organization").cookies().is_empty());
        }
        app.anonymous().get("/org").cookies(&only).await.expect_no_session();
    }
    greta.get("/org").await.expect(200);
    greta.refresh().await.expect(200);
}

async fn a_foreign_api_key_is_refused_on_every_public_route(app: &App) {
    let acme = Acme::furnished(app).await;
    let foreign = app.anonymous().backend_with(app.other_org().api_key());
    let unknown = app.anonymous().backend_with("pk_live_0");
    let expected = unknown.verify("x").await.expect_error(401, "invalid_api_key").body;
    for row in http::routes().filter(|row| is_public(row)) {
        let path = acme.path(app, row.path);
        for caller in [&foreign, &foreign.clone().at_org("nowhere")] {
            let answer = caller.request(row.method.as_str(), &path).json(&json!({ "token": "x" })).await;
            assert_eq!(answer.expect_error(401, "invalid_api_key").body, expected, "one answer, same bytes");
        }
    }
}

/// A body that would do something, were it not a stranger's.
fn body_for(row: &http::Row, app: &App) -> Value {
    match row.path {
        "/auth/change-password" => json!({ "currentPassword": PASSWORD, "newPassword": "velvet-anchor-93-comet" }),
        "/auth/profile" => json!({ "name": "Mallory" }),
        "/auth/change-email" => json!({ "newEmail": "mallory@globex.example", "password": PASSWORD }),
        "/org" => json!({ "name": "Mallory's" }),
        "/admin/organizations" => json!({ "name": "Mallory's", "slug": "mallory", "adminEmail": "mallory@globex.example" }),
        "/admin/organizations/{slug}" => json!({ "name": "Mallory's", "status": "suspended" }),
        "/org/members/invite" | "/admin/organizations/{slug}/invites" => {
            json!({ "email": "mallory@globex.example", "role": "org_admin" })
        }
        "/org/api-keys" => json!({ "name": "Mallory's" }),
        "/org/members/{userId}/role" => json!({ "role": "org_admin" }),
        "/org/members/{userId}/status" => json!({ "status": "suspended" }),
        "/org/members/{userId}" => json!({ "metadata": { "team": "mallory" } }),
        "/org/api-keys/{id}/rotate" | "/org/webhooks/{id}/rotate-secret" => json!({ "overlapSeconds": 0 }),
        "/org/webhooks" | "/org/webhooks/{id}" => json!({ "url": "https://hooks.example.com/mallory", "events": ["*"] }),
        _ => json!({ "password": PASSWORD, "code": "000000", "token": "x", "email": app.member().email() }),
    }
}

/// Greta has every right at home, and knows the ids of what is not hers.
async fn no_route_reaches_what_belongs_to_another_organization(app: &App) {
    let acme = Acme::furnished(app).await;
    let before = acme.seen().await;
    let greta = app.other_org().admin().logged_in().await;
    for row in http::routes().filter(|row| row.path.contains('{')) {
        let request = |caller: &Caller| -> Request {
            let path = format!("{BASE}{}", acme.path(app, row.path));
            let request = caller.request_at(row.method.as_str(), &path);
            if matches!(row.method.as_str(), "GET" | "DELETE") { request } else { request.json(&body_for(row, app)) }
        };
        match (row.path, is_public(row)) {
            (_, true) => request(&app.other_org().backend()).await.expect_error(404, "not_found"),
            ("/org/invites/{token}/accept", _) => request(&greta).await.expect_error(400, "invalid_invite"),
            (path, _) if path.starts_with("/admin/") => request(&greta).await.expect_error(403, "operator_required"),
            _ => request(&greta).await.expect_error(404, "not_found"),
        };
    }
    assert_eq!(acme.seen().await, before);
}

async fn a_backend_learns_nothing_of_another_organization(app: &App) {
    let acme = Acme::furnished(app).await;
    let foreign = app.other_org().backend();
    for token in [acme.admin.access_token(), acme.member.access_token()] {
        assert!(!foreign.finds_valid(&token).await);
        assert!(app.backend().finds_valid(&token).await);
    }
    let listed = foreign.get("/public/members").await.expect_ok();
    assert!(!listed.to_string().contains("acme.example"));
}

async fn a_login_waiting_in_one_organization_opens_no_other(app: &App) {
    let (here, there) = in_both(app).await;
    let guarded = guard(app, &here).await;
    there.get("/org").await.expect_no_session();
    let waiting = app.member().waiting().await;
    let refused = waiting.clone().at_org("globex").enter(&guarded.fresh_code(app)).await.expect(401);
    assert!(refused.cookies().is_empty(), "{}", refused.shown());
    waiting.enter(&guarded.fresh_code(app)).await.expect(200);
    waiting.get("/org").await.expect(200);
    waiting.clone().at_org("globex").get("/org").await.expect_error(401, "wrong_organization");
}
