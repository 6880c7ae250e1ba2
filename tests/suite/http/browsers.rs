//! Browsers: which pages may call, and which may read the answers (behaviour.md, B45 and B47).

use serde_json::json;
use tenant_auth_conformance::{App, Caller, PUBLIC_URL, Request, Response, routes, scenarios};

scenarios![
    a_foreign_page_cannot_write,
    every_route_that_writes_refuses_a_foreign_page,
    the_allowed_origins_may_write,
    an_origin_is_compared_exactly,
    without_an_origin_the_fetch_metadata_decides,
    an_origin_decides_before_the_fetch_metadata,
    whoever_sends_neither_is_no_browser,
    a_foreign_page_may_ask_but_not_read,
    allowed_pages_read_with_credentials,
    refusals_can_be_read_by_allowed_pages_too,
    origins_can_be_given_and_taken_away,
    the_operators_origins_are_everybodys,
    another_organizations_origin_is_foreign,
    a_preflight_names_what_is_allowed,
    a_refused_preflight_is_204_without_allow_headers,
    a_preflight_needs_no_slug_and_knows_every_active_organization,
    an_api_key_is_never_allowed_in_a_preflight,
    no_page_reads_what_is_for_backends,
    an_organizations_page_cannot_sign_up,
    the_origin_is_judged_between_slug_and_caller,
];

const OWN: &str = "https://app.acme.example";
const EVIL: &str = "https://evil.example";

fn preflight(caller: &Caller, origin: &str, method: &str, path: &str) -> Request {
    caller.clone().without_slug().request("OPTIONS", path).from_origin(origin).header("Access-Control-Request-Method", method)
}

#[track_caller]
fn expect_readable(response: &Response, origin: &str) {
    assert_eq!(response.header("Access-Control-Allow-Origin"), Some(origin), "{}", response.shown());
    assert_eq!(response.header("Access-Control-Allow-Credentials"), Some("true"), "{}", response.shown());
    expect_varies(response);
}

#[track_caller]
fn expect_unreadable(response: &Response) {
    let allowing: Vec<_> = response.headers.iter().filter(|(name, _)| name.to_lowercase().starts_with("access-control-")).collect();
    assert!(allowing.is_empty(), "{}", response.shown());
}

#[track_caller]
fn expect_varies(response: &Response) {
    let varies = response.headers_named("Vary").iter().any(|value| value.to_lowercase().contains("origin"));
    assert!(varies, "Vary: Origin: {}", response.shown());
}

async fn a_foreign_page_cannot_write(app: &App) {
    let admin = app.admin().logged_in().await;
    for origin in
        [EVIL, "null", "https://app.acme.example.evil.example", "http://app.acme.example", "https://app.acme.example:8443", "", "*"]
    {
        let refused =
            admin.patch("/org", json!({ "name": "Pwned" })).from_origin(origin).await.expect_error(403, "forbidden_origin");
        expect_unreadable(&refused);
    }
    app.member().login().from_origin(EVIL).await.expect_error(403, "forbidden_origin");
    assert_eq!(admin.get("/org").await.expect_ok()["org"]["name"], "Acme Rockets");
}

async fn every_route_that_writes_refuses_a_foreign_page(app: &App) {
    let writing = routes::table().iter().filter(|row| row.method != "GET" && !row.is_public());
    for row in writing {
        app.anonymous().request(&row.method, &row.path_with("x")).from_origin(EVIL).await.expect_error(403, "forbidden_origin");
    }
}

async fn the_allowed_origins_may_write(app: &App) {
    let admin = app.admin().logged_in().await;
    admin.patch("/org", json!({ "allowedOrigins": ["https://extra.example:8443"] })).await.expect(200);
    for origin in [OWN, "https://auth.example.com", "https://extra.example:8443"] {
        let answer = admin.patch("/org", json!({ "name": "Acme" })).from_origin(origin).await.expect(200);
        expect_readable(&answer, origin);
    }
}

async fn an_origin_is_compared_exactly(app: &App) {
    let admin = app.admin().logged_in().await;
    admin.patch("/org", json!({ "appUrl": "https://APP.acme.example:443/deep/link?x#y" })).await.expect(200);
    admin.refresh().from_origin(OWN).await.expect(200);
    admin.refresh().from_origin("https://app.acme.example/deep").await.expect_error(403, "forbidden_origin");
    admin.refresh().from_origin(OWN).from_origin(EVIL).await.expect_error(403, "forbidden_origin");
}

async fn without_an_origin_the_fetch_metadata_decides(app: &App) {
    let member = app.member().logged_in().await;
    for site in ["cross-site", "same-site"] {
        member.refresh().header("Sec-Fetch-Site", site).await.expect_error(403, "forbidden_origin");
    }
    for site in ["same-origin", "none"] {
        member.refresh().header("Sec-Fetch-Site", site).await.expect(200);
    }
    member.get("/org").header("Sec-Fetch-Site", "cross-site").await.expect(200);
}

async fn an_origin_decides_before_the_fetch_metadata(app: &App) {
    let member = app.member().logged_in().await;
    member.refresh().from_origin(OWN).header("Sec-Fetch-Site", "cross-site").await.expect(200);
    member.refresh().from_origin(EVIL).header("Sec-Fetch-Site", "same-origin").await.expect_error(403, "forbidden_origin");
}

async fn whoever_sends_neither_is_no_browser(app: &App) {
    app.member().logged_in().await.refresh().await.expect(200);
}

async fn a_foreign_page_may_ask_but_not_read(app: &App) {
    let member = app.member().logged_in().await;
    for method in ["GET", "HEAD"] {
        let answer = member.request(method, "/org").from_origin(EVIL).await.expect(200);
        expect_unreadable(&answer);
        expect_varies(&answer);
    }
}

async fn allowed_pages_read_with_credentials(app: &App) {
    let member = app.member().logged_in().await;
    let answer = member.get("/org").from_origin(OWN).await.expect(200);
    expect_readable(&answer, OWN);
    expect_varies(&member.get("/org").await.expect(200));
}

async fn refusals_can_be_read_by_allowed_pages_too(app: &App) {
    expect_readable(&app.anonymous().get("/org").from_origin(OWN).await.expect(401), OWN);
    expect_readable(&app.anonymous().refresh().from_origin(OWN).await.expect(401), OWN);
    expect_readable(&app.anonymous().login_with("x@acme.example", "not-the-password").from_origin(OWN).await.expect(401), OWN);
    expect_readable(&app.anonymous().post_nothing("/auth/login").text("{").from_origin(OWN).await.expect(400), OWN);
}

async fn origins_can_be_given_and_taken_away(app: &App) {
    let admin = app.admin().logged_in().await;
    admin.patch("/org", json!({ "allowedOrigins": ["https://extra.example"] })).await.expect(200);
    admin.refresh().from_origin("https://extra.example").await.expect(200);
    admin.patch("/org", json!({ "allowedOrigins": [], "appUrl": null })).await.expect(200);
    admin.refresh().from_origin("https://extra.example").await.expect_error(403, "forbidden_origin");
    admin.refresh().from_origin(OWN).await.expect_error(403, "forbidden_origin");
}

async fn the_operators_origins_are_everybodys(app: &App) {
    let origin = "https://console.example";
    let open = app.beside(|setup| setup.config.browser.allowed_origins = vec![origin.parse().expect("an origin")]).await;
    for org in [open.org(), open.other_org()] {
        org.member().login().from_origin(origin).await.expect(200);
        preflight(&org.anonymous(), origin, "POST", "/auth/login").await.expect(204);
    }
    app.member().login().from_origin(origin).await.expect_error(403, "forbidden_origin");
}

async fn another_organizations_origin_is_foreign(app: &App) {
    app.member().login().from_origin("https://app.globex.example").await.expect_error(403, "forbidden_origin");
    expect_unreadable(&app.member().logged_in().await.get("/org").from_origin("https://app.globex.example").await.expect(200));
}

async fn a_preflight_names_what_is_allowed(app: &App) {
    for (method, path) in
        [("POST", "/auth/login"), ("PATCH", "/org"), ("DELETE", "/org/members/x"), ("PUT", "/auth/profile"), ("GET", "/org")]
    {
        let answer = preflight(&app.anonymous(), OWN, method, path)
            .header("Access-Control-Request-Headers", "content-type, x-org-slug")
            .await
            .expect(204);
        expect_readable(&answer, OWN);
        let methods = answer.header("Access-Control-Allow-Methods").expect("methods").to_owned();
        assert!(methods.split(',').any(|allowed| allowed.trim() == method), "{methods}");
        let headers = answer.header("Access-Control-Allow-Headers").expect("headers").to_lowercase();
        for needed in ["content-type", "x-org-slug"] {
            assert!(headers.split(',').any(|allowed| allowed.trim() == needed), "{headers}");
        }
    }
    preflight(&app.anonymous(), OWN, "GET", "/nowhere").await.expect(404);
}

async fn a_refused_preflight_is_204_without_allow_headers(app: &App) {
    for origin in [EVIL, "null", "http://app.acme.example"] {
        expect_unreadable(&preflight(&app.anonymous(), origin, "POST", "/auth/login").await.expect(204));
    }
}

async fn a_preflight_needs_no_slug_and_knows_every_active_organization(app: &App) {
    let elsewhere = "https://app.globex.example";
    expect_readable(&preflight(&app.anonymous(), elsewhere, "POST", "/auth/login").await.expect(204), elsewhere);
    let admin = app.other_org().admin().logged_in().await;
    admin.patch("/org", json!({ "allowedOrigins": ["https://extra.globex.example"] })).await.expect(200);
    expect_readable(
        &preflight(&app.anonymous(), "https://extra.globex.example", "POST", "/auth/login").await.expect(204),
        "https://extra.globex.example",
    );
    app.other_org().suspend().await;
    expect_unreadable(&preflight(&app.anonymous(), elsewhere, "POST", "/auth/login").await.expect(204));
    expect_unreadable(&preflight(&app.anonymous(), "https://extra.globex.example", "POST", "/auth/login").await.expect(204));
}

async fn an_api_key_is_never_allowed_in_a_preflight(app: &App) {
    let asked = preflight(&app.anonymous(), OWN, "POST", "/public/verify")
        .header("Access-Control-Request-Headers", "x-api-key, x-org-slug");
    let answer = asked.await.expect(204);
    let headers = answer.headers_named("Access-Control-Allow-Headers").join(",").to_lowercase();
    assert!(!headers.contains("x-api-key") && !headers.contains('*'), "{headers}");
}

async fn no_page_reads_what_is_for_backends(app: &App) {
    for origin in [OWN, PUBLIC_URL] {
        expect_unreadable(&preflight(&app.anonymous(), origin, "POST", "/public/verify").await.expect(204));
        expect_unreadable(&app.backend().verify("x").from_origin(origin).await.expect(200));
    }
}

/// Sign-up concerns no organization yet.
async fn an_organizations_page_cannot_sign_up(app: &App) {
    expect_unreadable(&preflight(&app.anonymous(), OWN, "POST", "/auth/sign-up").await.expect(204));
    expect_readable(&preflight(&app.anonymous(), PUBLIC_URL, "POST", "/auth/sign-up").await.expect(204), PUBLIC_URL);
}

async fn the_origin_is_judged_between_slug_and_caller(app: &App) {
    let page = app.anonymous();
    page.clone().at_org("nowhere").refresh().from_origin(EVIL).await.expect_error(404, "unknown_organization");
    page.refresh().from_origin(EVIL).await.expect_error(403, "forbidden_origin");
    page.post_nothing("/auth/login").text("{").from_origin(EVIL).await.expect_error(403, "forbidden_origin");
}
