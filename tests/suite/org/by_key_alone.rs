//! One caller, never two: on the routes that take a session of an org_admin or a deployment key with the scope `admin`, a request that
//! carries a token of a session is judged by it alone, good or not, and a key counts only where a server sent it.

use std::time::Duration;

use tenant_auth_conformance::{App, Caller, PUBLIC_URL, Request, Response, promises, routes, scenarios};
use tenant_auth_core::{
    model::{DeploymentScope, Scope},
    operator::NewDeploymentKey,
    ports::Clock,
};

use super::by_key::product;
use crate::suite::public::deployment_keys::{made, new_key};

scenarios![
    each_kind_of_key_is_judged_on_every_row,
    a_bad_key_is_a_guess,
    a_session_is_judged_as_if_no_key_were_beside_it,
    it_is_never_shown_by_a_browser_or_for_somebody_else,
    slug_and_authorization_are_judged_first,
    the_document_names_the_scope_where_it_counts,
];

/// Nobody has this id.
const NOBODY: &str = "usr_00000000000000000000000000";

fn rows() -> impl Iterator<Item = &'static routes::Route> {
    routes::table().iter().filter(|row| row.is_for_admins_by_key())
}

/// A request that changes nothing, whoever is let in: what it names is not there, and its body is none.
fn idle(caller: &Caller, row: &routes::Route) -> Request {
    let request = caller.request(&row.method, &row.plausible_path(NOBODY));
    if row.method == "GET" { request } else { request.text("{") }
}

/// Whether the caller was let in: then something else was refused, or nothing.
fn is_let_in(answer: &Response) -> bool {
    matches!(answer.status, 200 | 400 | 404) && (answer.status == 200 || answer.code() != "unknown_organization")
}

/// The status, and the code of a refusal.
fn outcome(answer: &Response) -> (u16, String) {
    (answer.status, if answer.status < 400 { String::new() } else { answer.code().to_owned() })
}

async fn each_kind_of_key_is_judged_on_every_row(app: &App) {
    let operator = app.auth.operator();
    let admin = [DeploymentScope::Admin];
    let (_, good) = made(app, new_key(&admin)).await;
    let others = [
        DeploymentScope::Verify,
        DeploymentScope::UsersRead,
        DeploymentScope::MembersRead,
        DeploymentScope::EventsRead,
        DeploymentScope::Organizations,
    ];
    let (_, without) = made(app, new_key(&others)).await;
    let (revoked_id, revoked) = made(app, new_key(&admin)).await;
    operator.revoke_deployment_key(&revoked_id).await.expect("it lives");
    let (rotated_id, rotated) = made(app, new_key(&admin)).await;
    operator.rotate_deployment_key(&rotated_id, Duration::ZERO).await.expect("it lives");
    let expires_at = Some(app.clock.now().plus(Duration::from_secs(1)));
    let (_, expired) = made(app, NewDeploymentKey { expires_at, ..new_key(&admin) }).await;
    let networks = vec!["203.0.113.0/24".parse().expect("a network")];
    let (_, elsewhere) = made(app, NewDeploymentKey { networks, ..new_key(&admin) }).await;
    app.advance(1);
    let of_organization = app.org().operators_key(&[Scope::Verify, Scope::UsersRead, Scope::MembersRead, Scope::Proxy]).await;
    for row in rows() {
        let ask = |key: &str| idle(&app.anonymous().backend_with(key), row);
        let let_in = ask(&good).await;
        assert!(is_let_in(&let_in), "{} {}: {}", row.method, row.template, let_in.shown());
        ask(&without).await.expect_error(403, "missing_scope");
        for dead in [&revoked, &rotated, &expired, &elsewhere] {
            ask(dead).await.expect_error(401, "invalid_api_key");
        }
        ask(&good).header("X-API-Key", &good).await.expect_error(401, "invalid_api_key");
        ask(&good).header("X-API-Key", &of_organization).await.expect_error(401, "invalid_api_key");
        for no_caller in [of_organization.as_str(), "pk_live_rubbish", "rubbish", ""] {
            ask(no_caller).await.expect_no_session();
        }
        idle(&app.anonymous(), row).await.expect_no_session();
        ask(&good).header("Authorization", "Basic eDp5").await.expect(let_in.status);
    }
}

async fn a_bad_key_is_a_guess(app: &App) {
    let guess = app.anonymous().backend_with("dk_live_00000000000000000000000000guess");
    // Beside a session it is not looked at.
    let max = app.member().logged_in().await;
    for _ in 0..40 {
        max.get("/org").header("X-API-Key", "dk_live_00000000000000000000000000guess").await.expect(200);
    }
    let mut refused = 0;
    while guess.get("/org/members").await.status == 401 {
        refused += 1;
    }
    assert_eq!(refused, 30);
    guess.patch("/org", serde_json::json!({})).await.expect_error(429, "rate_limited");
    product(app).await.1.get("/org").await.expect(200);
}

async fn a_session_is_judged_as_if_no_key_were_beside_it(app: &App) {
    let (ada, max) = (app.admin().logged_in().await, app.member().logged_in().await);
    let gus = app.other_org().admin().logged_in().await.at_org("acme");
    let with_cookie = |cookie: &str| app.anonymous().with("Cookie", cookie);
    let devices = [
        ada.copied(),
        max.copied(),
        gus,
        ada.elsewhere().with_bearer(&ada.access_token()),
        ada.elsewhere().with_bearer("rubbish"),
        ada.elsewhere().with_bearer(""),
        with_cookie("access_token=rubbish"),
        with_cookie(&format!("refresh_token={}", ada.refresh_token())),
        with_cookie("partial_token=rubbish"),
        with_cookie(&format!("access_token={}; access_token=rubbish", ada.access_token())),
    ];
    let (_, good) = made(app, new_key(&[DeploymentScope::Admin])).await;
    let (revoked_id, revoked) = made(app, new_key(&[DeploymentScope::Admin])).await;
    app.auth.operator().revoke_deployment_key(&revoked_id).await.expect("it lives");
    for row in rows() {
        for device in &devices {
            let bare = outcome(&idle(device, row).await);
            for key in [&good, &revoked] {
                let beside = idle(device, row).header("X-API-Key", key).await;
                assert_eq!(outcome(&beside), bare, "{} {}", row.method, row.template);
            }
        }
    }
    // Neither does what a browser or a proxy sends make the key a caller.
    let proxy = app.org().operators_key(&[Scope::Proxy]).await;
    for (name, value) in OF_OTHERS {
        for device in [&devices[0], &devices[6]] {
            for row in rows() {
                let bare = outcome(&idle(device, row).header(name, value).await);
                for key in [&good, &proxy] {
                    let beside = idle(device, row).header(name, value).header("X-API-Key", key).await;
                    assert_eq!(outcome(&beside), bare, "{} {} {name}: {value}", row.method, row.template);
                }
            }
        }
    }
}

/// What no server sends of its own.
const OF_OTHERS: [(&str, &str); 6] = [
    ("Origin", PUBLIC_URL),
    ("Origin", "https://app.acme.example"),
    ("Origin", "https://evil.example"),
    ("Sec-Fetch-Site", "same-origin"),
    ("Sec-Fetch-Site", "none"),
    ("X-Client-IP", "203.0.113.9"),
];

async fn it_is_never_shown_by_a_browser_or_for_somebody_else(app: &App) {
    let (_, product) = product(app).await;
    let false_one = app.anonymous().backend_with("dk_live_rubbish");
    for row in rows() {
        for (name, value) in OF_OTHERS {
            idle(&product, row).header(name, value).await.expect_error(403, "forbidden_origin");
            // It is refused before it is judged.
            idle(&false_one, row).header(name, value).await.expect_error(403, "forbidden_origin");
        }
        let preflight = app.anonymous().without_slug().request("OPTIONS", &row.plausible_path(NOBODY));
        let preflight = preflight.from_origin(PUBLIC_URL).header("Access-Control-Request-Method", &row.method);
        let headers = preflight.await.expect(204).headers_named("Access-Control-Allow-Headers").join(",").to_lowercase();
        assert!(!headers.contains("x-api-key"), "{headers}");
    }
}

async fn slug_and_authorization_are_judged_first(app: &App) {
    let (_, product) = product(app).await;
    let bad = app.anonymous().backend_with(&app.org().api_key().replace("pk_live_", "dk_live_"));
    for row in rows() {
        idle(&product.clone().without_slug(), row).from_origin(PUBLIC_URL).await.expect_error(400, "invalid_slug");
        idle(&product, row).header("X-Org-Slug", "acme").await.expect_error(400, "invalid_slug");
        let twice = idle(&product, row).header("Authorization", "Basic eDp5").header("Authorization", "Basic eDp5");
        twice.await.expect_error(400, "invalid_request");
        for caller in [&product, &bad, &app.anonymous().backend_with("dk_live_rubbish")] {
            let nowhere = idle(&caller.clone().at_org("nowhere"), row);
            nowhere.clone().await.expect_error(404, "unknown_organization");
            nowhere.clone().from_origin(PUBLIC_URL).await.expect_error(404, "unknown_organization");
            nowhere
                .header("Authorization", "Basic eDp5")
                .header("Authorization", "x")
                .await
                .expect_error(404, "unknown_organization");
        }
    }
    // None of that was a guess at a key.
    bad.get("/org").await.expect_error(401, "invalid_api_key");
}

async fn the_document_names_the_scope_where_it_counts(_: &App) {
    for row in routes::table() {
        let security = &promises::document()["paths"][&row.template][row.method.to_lowercase()]["security"];
        let names = |scope: &str| security.as_array().into_iter().flatten().any(|one| one["deploymentKey"][0] == scope);
        assert_eq!(names("admin"), row.is_for_admins_by_key(), "{} {}", row.method, row.template);
        assert_eq!(names("organizations"), row.template.starts_with("/admin/"), "{} {}", row.method, row.template);
    }
}
