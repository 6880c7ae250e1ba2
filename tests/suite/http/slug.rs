//! X-Org-Slug, on every row of the route table: exactly once, exact, and of an organization there is.

use tenant_auth_conformance::{App, Request, routes, scenarios};

scenarios![
    a_missing_slug_is_400_on_every_route,
    a_malformed_slug_is_400_on_every_route,
    a_slug_sent_twice_is_400,
    a_slug_is_never_folded,
    an_unknown_organization_is_404_outside_public,
    an_unknown_organization_is_a_bad_key_inside_public,
    the_slug_is_judged_before_the_caller,
];

const MALFORMED: [&str; 14] =
    ["", "a", "-acme", "acme-", "ac--me", "ac_me", "ac.me", "acme/", "ac me", "ACME", "acme,acme", "%61cme", "*", "../acme"];

/// A request for each row that needs a slug.
fn everywhere(app: &App) -> Vec<Request> {
    let caller = app.anonymous().without_slug();
    let rows = routes::table().iter().filter(|row| !row.is_exempt());
    rows.map(|row| caller.request(&row.method, &row.path_with("x"))).collect()
}

async fn a_missing_slug_is_400_on_every_route(app: &App) {
    for request in everywhere(app) {
        request.await.expect_error(400, "invalid_slug");
    }
}

async fn a_malformed_slug_is_400_on_every_route(app: &App) {
    for (place, request) in everywhere(app).into_iter().enumerate() {
        let slug = MALFORMED[place % MALFORMED.len()];
        request.header("X-Org-Slug", slug).await.expect_error(400, "invalid_slug");
    }
    let member = app.member().logged_in().await;
    let long = "a".repeat(64);
    for slug in MALFORMED.iter().copied().chain([long.as_str(), "acmé", "acme\u{a0}"]) {
        member.get("/org").replacing("X-Org-Slug", slug).await.expect_error(400, "invalid_slug");
    }
    member.get("/org").replacing("X-Org-Slug", b"ac\xffme").await.expect_error(400, "invalid_slug");
    member.get("/org").replacing("X-Org-Slug", "a".repeat(63)).await.expect_error(404, "unknown_organization");
}

async fn a_slug_sent_twice_is_400(app: &App) {
    let member = app.member().logged_in().await;
    member.get("/org").header("X-Org-Slug", "acme").await.expect_error(400, "invalid_slug");
    member.get("/org").header("x-org-slug", "globex").await.expect_error(400, "invalid_slug");
    app.backend().verify("x").header("X-Org-Slug", "acme").await.expect_error(400, "invalid_slug");
}

async fn a_slug_is_never_folded(app: &App) {
    let member = app.member().logged_in().await;
    for slug in ["Acme", "ACME", "acme ", "ａｃｍｅ"] {
        let answer = member.get("/org").replacing("X-Org-Slug", slug).await;
        // White space around a header's value is not part of it (RFC 9110, section 5.5).
        if slug.trim() == "acme" {
            answer.expect(200)
        } else {
            answer.expect_error(400, "invalid_slug")
        };
    }
}

async fn an_unknown_organization_is_404_outside_public(app: &App) {
    let rows = routes::table().iter().filter(|row| !row.is_exempt() && !row.is_public());
    for row in rows {
        app.anonymous().at_org("nowhere").request(&row.method, &row.path_with("x")).await.expect_error(404, "unknown_organization");
    }
    app.member().logged_in().await.at_org("nowhere").get("/org").await.expect_error(404, "unknown_organization");
}

async fn an_unknown_organization_is_a_bad_key_inside_public(app: &App) {
    let known = app.anonymous().verify("x").await.expect_error(401, "invalid_api_key").body;
    for row in routes::table().iter().filter(|row| row.is_public()) {
        let answer = app.backend().at_org("nowhere").request(&row.method, &row.path_with("x")).await;
        assert_eq!(answer.expect_error(401, "invalid_api_key").body, known);
    }
}

async fn the_slug_is_judged_before_the_caller(app: &App) {
    let stranger = app.anonymous().without_slug();
    stranger.get("/org").await.expect_error(400, "invalid_slug");
    stranger
        .post_nothing("/org/members/invite")
        .text("{")
        .from_origin("https://evil.example")
        .await
        .expect_error(400, "invalid_slug");
    stranger.post_nothing("/public/verify").text("{").await.expect_error(400, "invalid_slug");
}
