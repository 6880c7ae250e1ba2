//! Paths and methods: what is there, what is not, and that everything that parses as HTTP gets the envelope.

use tenant_auth_conformance::{App, routes, scenarios};

scenarios![
    an_unknown_path_is_404,
    a_wrong_method_is_405_with_the_right_ones,
    route_and_method_come_before_everything_else,
    head_answers_like_get_without_a_body,
    head_states_the_length_that_get_would_have,
    head_is_405_where_there_is_no_get,
    an_odd_method_is_405,
    a_query_string_does_not_matter_where_none_is_read,
    a_parameter_is_decoded_once,
    each_answer_has_a_request_id_of_its_own,
];

const ODD: [&str; 16] = [
    "/",
    "",
    "/nowhere",
    "/org/",
    "//org",
    "/org//members",
    "/ORG",
    "/org/members/",
    "/auth",
    "/auth/login/",
    "/public",
    "/org/./members",
    "/org/../org",
    "/%6frg",
    "/org%2Fmembers",
    "/.well-known/",
];

async fn an_unknown_path_is_404(app: &App) {
    let member = app.member().logged_in().await;
    for path in ODD {
        member.get(path).await.expect_error(404, "not_found");
        member.clone().without_slug().get(path).await.expect_error(404, "not_found");
    }
}

async fn a_wrong_method_is_405_with_the_right_ones(app: &App) {
    for row in routes::table() {
        let path = row.path_with("x");
        let right: Vec<&str> =
            routes::table().iter().filter(|other| other.path_with("x") == path).map(|other| other.method.as_str()).collect();
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
            if routes::row_for(method, &path).is_some() {
                continue;
            }
            let refused = app.anonymous().request(method, &path).await.expect_error(405, "method_not_allowed");
            let allow = refused.header("Allow").expect("Allow").to_owned();
            let allowed: Vec<&str> = allow.split(',').map(str::trim).collect();
            for method in &right {
                assert!(allowed.contains(method), "{method} {path}: {allow}");
            }
            assert!(!allowed.contains(&method), "{method} {path}: {allow}");
        }
    }
}

async fn route_and_method_come_before_everything_else(app: &App) {
    let nobody = app.anonymous().without_slug();
    nobody.request("DELETE", "/org").await.expect(405);
    nobody.request("POST", "/nowhere").text("{").from_origin("https://evil.example").await.expect(404);
    nobody.request("PATCH", "/auth/login").body("text/plain", "x").from_origin("https://evil.example").await.expect(405);
    nobody.request("GET", "/public/verify").await.expect(405);
}

async fn head_answers_like_get_without_a_body(app: &App) {
    let admin = app.admin().logged_in().await.with("X-API-Key", app.org().api_key());
    for row in routes::table().iter().filter(|row| row.method == "GET") {
        let path = row.path_with(admin.id());
        let (get, head) = (admin.get(&path).await, admin.request("HEAD", &path).await);
        assert_eq!(head.status, get.status, "{path}");
        for name in ["Content-Type", "Cache-Control", "Vary"] {
            assert_eq!(head.headers_named(name), get.headers_named(name), "{name} of {path}");
        }
        let (get, head) = (app.anonymous().get(&path).await, app.anonymous().request("HEAD", &path).await);
        assert_eq!(head.status, get.status, "{path} for a stranger");
    }
}

/// Or states none (RFC 9110, section 8.6); nothing else is true.
async fn head_states_the_length_that_get_would_have(app: &App) {
    let member = app.member().logged_in().await;
    for path in ["/org", "/auth/profile", "/org/invites", "/.well-known/jwks.json"] {
        let (get, head) = (member.get(path).await, member.request("HEAD", path).await);
        let stated = head.header("Content-Length").map(str::to_owned);
        assert!(stated.is_none_or(|length| length == get.body.len().to_string()), "{}", head.shown());
    }
}

async fn head_is_405_where_there_is_no_get(app: &App) {
    for path in ["/auth/login", "/public/verify", "/org/leave"] {
        app.anonymous().request("HEAD", path).await.expect(405);
    }
}

async fn an_odd_method_is_405(app: &App) {
    for method in ["PURGE", "get", "OPTIONS", "PROPFIND", "X"] {
        let refused = app.anonymous().request(method, "/org").await.expect(405);
        assert!(refused.header("Allow").is_some_and(|allow| allow.contains("GET") && allow.contains("PATCH")));
    }
}

async fn a_query_string_does_not_matter_where_none_is_read(app: &App) {
    let member = app.member().logged_in().await;
    for query in ["?", "?x=1", "?x=%00", "?limit=rubbish&&&=", "?%FF"] {
        member.get(&format!("/org{query}")).await.expect(200);
    }
}

async fn a_parameter_is_decoded_once(app: &App) {
    let admin = app.admin().logged_in().await;
    let id = app.member().id().to_owned();
    let encoded: String = id.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let twice = encoded.replace('%', "%25");
    app.backend().get(&format!("/public/members/{encoded}")).await.expect(200);
    app.backend().get(&format!("/public/members/{twice}")).await.expect_error(404, "not_found");
    admin.set_metadata(&encoded, serde_json::json!({ "a": 1 })).await.expect(200);
    for path in [
        "/org/members/%2F",
        "/org/members/a%2Frole",
        "/org/members/%00",
        "/org/members/%FF%FE",
        "/org/members/%",
        "/org/members/%zz",
    ] {
        admin.delete(path).await.expect_error(404, "not_found");
    }
}

async fn each_answer_has_a_request_id_of_its_own(app: &App) {
    let mut seen = std::collections::HashSet::new();
    for path in ["/org", "/nowhere", "/auth/login", "/.well-known/jwks.json"] {
        for _ in 0..3 {
            let answer = app.anonymous().get(path).header("X-Request-Id", "forged").await;
            let id = answer.header("X-Request-Id").expect("an id").to_owned();
            assert_ne!(id, "forged", "a stranger cannot choose what the log says");
            assert!(seen.insert(id));
        }
    }
}
