//! Request bodies: how large, how encoded, of what type, and what is wrong with the JSON in them. Size comes before encoding and
//! type, type before JSON, and all of them after the caller.

use serde_json::json;
use tenant_auth_conformance::{App, Caller, Request, id_of, routes, scenarios};

scenarios![
    sixty_four_kibibytes_are_the_limit,
    ten_megabytes_are_refused_too,
    chunked_bodies_are_counted_as_well,
    the_size_comes_before_encoding_and_type,
    an_encoded_body_is_415,
    a_body_that_is_not_json_is_415,
    a_body_that_is_announced_too_large_need_not_come,
    every_route_with_a_body_judges_its_size_and_type,
    every_route_waits_half_a_minute_for_its_body_and_then_decides,
    json_with_parameters_is_json,
    malformed_json_is_400,
    a_field_given_twice_is_400,
    a_body_must_be_an_object,
    a_wrong_type_is_400_naming_the_field,
    a_nul_anywhere_is_400,
    a_nul_names_the_field_whatever_its_type,
    a_nul_beside_the_token_of_verify_is_400,
    invalid_utf8_is_400,
    routes_without_a_body_ignore_one,
    a_bare_get_needs_no_content_type,
    nothing_is_parsed_for_a_plain_member,
];

const LIMIT: usize = 64 * 1024;

/// A login whose body is exactly `bytes` long.
fn login_of(caller: &Caller, bytes: usize) -> Request {
    let body = json!({ "email": caller.email(), "password": caller.person().password }).to_string();
    caller.post_nothing("/auth/login").text(format!("{body}{}", " ".repeat(bytes - body.len())))
}

async fn sixty_four_kibibytes_are_the_limit(app: &App) {
    login_of(&app.member(), LIMIT).await.expect(200);
    login_of(&app.member(), LIMIT + 1).await.expect_error(413, "body_too_large");
}

async fn ten_megabytes_are_refused_too(app: &App) {
    login_of(&app.member(), 10 * 1024 * 1024).await.expect_error(413, "body_too_large");
    login_of(&app.member(), 10 * 1024 * 1024).chunked().await.expect_error(413, "body_too_large");
    let admin = app.admin().logged_in().await;
    admin.request("PATCH", "/org").text(vec![b'x'; 10 * 1024 * 1024]).await.expect_error(413, "body_too_large");
}

async fn chunked_bodies_are_counted_as_well(app: &App) {
    login_of(&app.member(), LIMIT).chunked().await.expect(200);
    login_of(&app.member(), LIMIT + 1).chunked().await.expect_error(413, "body_too_large");
}

async fn the_size_comes_before_encoding_and_type(app: &App) {
    let ask = || app.anonymous().post_nothing("/auth/login");
    ask().body("text/plain", vec![b'x'; LIMIT + 1]).await.expect_error(413, "body_too_large");
    ask().text(vec![b'x'; LIMIT + 1]).header("Content-Encoding", "gzip").await.expect_error(413, "body_too_large");
}

async fn an_encoded_body_is_415(app: &App) {
    for encoding in ["gzip", "br", "deflate", "zstd", "gzip, identity", "rubbish"] {
        login_of(&app.member(), 100).header("Content-Encoding", encoding).await.expect_error(415, "unsupported_media_type");
    }
    login_of(&app.member(), 100).header("Content-Encoding", "identity").await.expect(200);
}

async fn a_body_that_is_not_json_is_415(app: &App) {
    let types = [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
        "text/json",
        "application/xml",
        "json",
        "",
    ];
    for kind in types {
        login_of(&app.member(), 100).replacing("Content-Type", kind).await.expect_error(415, "unsupported_media_type");
    }
    login_of(&app.member(), 100).without("Content-Type").await.expect_error(415, "unsupported_media_type");
    let admin = app.admin().logged_in().await;
    admin.request("PATCH", "/org").body("text/plain", r#"{"name":"x"}"#).await.expect_error(415, "unsupported_media_type");
    app.backend()
        .post_nothing("/public/verify")
        .body("text/plain", r#"{"token":"x"}"#)
        .await
        .expect_error(415, "unsupported_media_type");
}

async fn a_body_that_is_announced_too_large_need_not_come(app: &App) {
    let refused = login_of(&app.member(), LIMIT).unfinished().await.expect_error(413, "body_too_large");
    let stranger = app.anonymous().request("PATCH", "/org").text(vec![b'x'; LIMIT]).unfinished();
    for answer in [refused, stranger.await.expect_error(401, "session_required")] {
        // What may come of the body would be taken for the next request.
        assert_eq!(answer.header("Connection").map(str::to_ascii_lowercase).as_deref(), Some("close"), "{}", answer.shown());
    }
}

/// By the table: every row that declares 413 answers it, to a caller who has every right.
async fn every_route_with_a_body_judges_its_size_and_type(app: &App) {
    let (app, operator, _) = crate::suite::admin::operators::operator(app).await;
    let admin = operator.with("X-API-Key", app.org().api_key());
    // Its caller holds the cookie of a pending login, which no caller here has.
    let rows = routes::table().iter().filter(|row| row.statuses.contains(&413) && row.template != "/auth/verify-2fa");
    for row in rows {
        let ask = || admin.request(&row.method, &row.plausible_path(app.member().id()));
        ask().text(vec![b' '; LIMIT + 1]).await.expect_error(413, "body_too_large");
        ask().text("{}").header("Content-Encoding", "gzip").await.expect_error(415, "unsupported_media_type");
        ask().body("text/plain", "{}").await.expect_error(415, "unsupported_media_type");
        ask().text("{").await.expect_error(400, "invalid_request");
    }
}

/// All at once, for each takes its half minute. Who would have been refused before is refused so all the same.
async fn every_route_waits_half_a_minute_for_its_body_and_then_decides(app: &App) {
    let (app, operator, _) = crate::suite::admin::operators::operator(app).await;
    let admin = operator.with("X-API-Key", app.org().api_key());
    let rows = routes::table().iter().filter(|row| row.statuses.contains(&408) && row.template != "/auth/verify-2fa");
    let since = std::time::Instant::now();
    let mut waiting = tokio::task::JoinSet::new();
    for row in rows {
        let request = admin.request(&row.method, &row.plausible_path(app.member().id()));
        waiting.spawn(async move { request.text("{").unfinished().await.expect_error(408, "request_timeout") });
    }
    let stranger = app.anonymous().request("PATCH", "/org").text("{").unfinished();
    waiting.spawn(async move { stranger.await.expect_error(401, "session_required") });
    while let Some(answered) = waiting.join_next().await {
        let answered = answered.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
        assert_eq!(answered.header("Connection").map(str::to_ascii_lowercase).as_deref(), Some("close"), "{}", answered.shown());
    }
    assert!(since.elapsed() >= std::time::Duration::from_secs(30), "{:?}", since.elapsed());
}

async fn json_with_parameters_is_json(app: &App) {
    for kind in ["application/json; charset=utf-8", "Application/JSON;charset=UTF-8", "application/json ; charset=utf-8"] {
        login_of(&app.member(), 100).replacing("Content-Type", kind).await.expect(200);
    }
}

async fn malformed_json_is_400(app: &App) {
    let admin = app.admin().logged_in().await;
    for text in [
        "{",
        "{]",
        "{\"email\":}",
        "{'email':'x'}",
        "nul",
        "{\"email\":\"x\",}",
        "{} {}",
        "{}x",
        "\u{feff}{}",
        "// {}\n{}",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\n\"}",
    ] {
        app.anonymous().post_nothing("/auth/login").text(text).await.expect_error(400, "invalid_request");
        admin.request("PATCH", "/org").text(text).await.expect_error(400, "invalid_request");
        app.backend().post_nothing("/public/verify").text(text).await.expect_error(400, "invalid_request");
    }
    let deep = format!("{{\"email\":{}", "[".repeat(60_000));
    app.anonymous().post_nothing("/auth/login").text(deep).await.expect_error(400, "invalid_request");
}

async fn a_field_given_twice_is_400(app: &App) {
    let member = app.member();
    let login = |text: String| member.post_nothing("/auth/login").text(text);
    let (email, password) = (member.email(), &member.person().password);
    login(format!(r#"{{"email":"{email}","email":"{email}","password":"{password}"}}"#)).await.expect_invalid("email");
    login(format!(r#"{{"email":"{email}","password":"x","pass\u0077ord":"{password}"}}"#)).await.expect_invalid("password");
    let admin = app.admin().logged_in().await;
    admin.request("PATCH", "/org").text(r#"{"name":"a","name":"b"}"#).await.expect_invalid("name");
    app.backend().post_nothing("/public/verify").text(r#"{"token":"a","token":"a"}"#).await.expect_invalid("token");
}

async fn a_body_must_be_an_object(app: &App) {
    let admin = app.admin().logged_in().await;
    for text in ["[]", "\"x\"", "1", "null", "true", "[{\"email\":\"a\"}]"] {
        app.anonymous().post_nothing("/auth/login").text(text).await.expect_error(400, "invalid_request");
        admin.request("PATCH", "/org").text(text).await.expect_error(400, "invalid_request");
        admin.post_nothing("/org/members/invite").text(text).await.expect_error(400, "invalid_request");
    }
    let fields_in_order = json!([app.member().email(), app.member().person().password]).to_string();
    app.anonymous().post_nothing("/auth/login").text(fields_in_order).await.expect_error(400, "invalid_request");
}

async fn a_wrong_type_is_400_naming_the_field(app: &App) {
    let (admin, member) = (app.admin().logged_in().await, app.member());
    for odd in [json!(1), json!(null), json!(true), json!({}), json!([1])] {
        admin.put(&format!("/org/members/{}/role", member.id()), json!({ "role": odd })).await.expect_invalid("role");
        admin.put(&format!("/org/members/{}/status", member.id()), json!({ "status": odd })).await.expect_invalid("status");
        admin.create_key("Odd").json(&json!({ "name": "Odd", "scopes": [odd] })).await.expect_invalid("scopes");
        admin.create_key("Odd").json(&json!({ "name": odd })).await.expect_invalid("name");
        app.backend().post("/public/verify", json!({ "token": odd })).await.expect_invalid("token");
    }
    for odd in [json!(1), json!(true), json!({}), json!([1])] {
        admin.post("/org/members/invite", json!({ "email": "nora@acme.example", "role": odd })).await.expect_invalid("role");
    }
}

async fn a_nul_anywhere_is_400(app: &App) {
    let admin = app.admin().logged_in().await;
    admin.patch("/org", json!({ "name": "a\0" })).await.expect_invalid("name");
    admin.patch("/org", json!({ "an unknown field": "\0" })).await.expect_error(400, "invalid_request");
    admin.patch("/org", json!({ "\0": 1 })).await.expect_error(400, "invalid_request");
    // The whole path of the place is named, and a field that comes again hides none.
    let deep = admin.patch("/org", json!({ "note": { "lines": ["a", { "b": "\0" }] } })).await.expect_invalid("note.lines[1].b");
    assert_eq!(deep.field(), Some("note.lines[1].b"));
    let nobody = app.anonymous().without_slug();
    let second = nobody.post("/keys/leaked", json!({ "keys": ["x", "y\0"] })).await.expect_invalid("keys[1]");
    assert_eq!(second.field(), Some("keys[1]"));
    for twice in [r#"{"note":"\u0000","note":"a"}"#, r#"{"note":{"a":"\u0000","a":1},"name":"Acme"}"#] {
        admin.request("PATCH", "/org").text(twice).await.expect_invalid("note");
    }
    admin.create_key("a\0").await.expect_invalid("name");
    admin.invite("a\0@acme.example").await.expect_invalid("email");
    admin.put("/auth/profile", json!({ "name": "Ada", "bio": "\0" })).await.expect_invalid("bio");
    app.anonymous().login_with("max\0@acme.example", "x").await.expect_invalid("email");
    app.anonymous().login_with("max@acme.example", "a\0b").await.expect_error(400, "invalid_request");
    admin.change_password("mauve-otter-plinth-42", "velvet\0anchor-93-comet").await.expect_error(400, "invalid_request");
}

async fn a_nul_names_the_field_whatever_its_type(app: &App) {
    app.anonymous().login_with("max@acme.example", "a\0b").await.expect_invalid("password");
    let admin = app.admin().logged_in().await;
    admin.change_password("mauve-otter-plinth-42", "velvet\0anchor-93-comet").await.expect_invalid("newPassword");
    admin.change_password("mauve\0otter", "velvet-anchor-93-comet").await.expect_invalid("currentPassword");
    let token = app.invited(&admin, "nora@acme.example").await;
    let body = json!({ "name": "Nora", "password": "velvet\0anchor-93-comet" });
    app.anonymous().post(&format!("/org/invites/{token}/accept"), body).await.expect_invalid("password");
}

/// The exception is the token that is asked about, not the body around it.
async fn a_nul_beside_the_token_of_verify_is_400(app: &App) {
    app.backend().post("/public/verify", json!({ "token": "x", "note": "\0" })).await.expect_error(400, "invalid_request");
    app.backend().post("/public/verify", json!({ "token": "\0" })).await.expect(200);
}

async fn invalid_utf8_is_400(app: &App) {
    for bytes in [&b"{\"email\":\"\xff\"}"[..], b"\xff\xfe{\0}\0", b"{\"email\":\"\xed\xa0\x80\"}", b"{\"\xc0\xaf\":1}"] {
        app.anonymous().post_nothing("/auth/login").text(bytes).await.expect_error(400, "invalid_request");
    }
}

async fn routes_without_a_body_ignore_one(app: &App) {
    let admin = app.admin().logged_in().await;
    admin.invite("nora@acme.example").await.expect(201);
    let invite = id_of(&admin.pending_invites().await[0]).to_owned();
    let ignored = |request: Request| {
        [request.clone().text("{"), request.clone().body("text/plain", "x"), request.text("[]").header("Content-Encoding", "gzip")]
    };
    for request in [
        admin.get("/org"),
        admin.get("/org/members"),
        admin.refresh(),
        admin.post_nothing(&format!("/org/invites/{invite}/resend")),
    ] {
        for with_body in ignored(request) {
            with_body.await.expect(200);
        }
    }
    admin.delete(&format!("/org/invites/{invite}")).text("{").await.expect(200);
    admin.get("/.well-known/jwks.json").text("{").await.expect(200);
    app.member().logged_in().await.post_nothing("/org/leave").body("text/plain", "bye").await.expect(200);
}

async fn a_bare_get_needs_no_content_type(app: &App) {
    app.member().logged_in().await.get("/org").await.expect(200);
}

async fn nothing_is_parsed_for_a_plain_member(app: &App) {
    let member = app.member().logged_in().await;
    member.post_nothing("/org/members/invite").text("{").await.expect_error(403, "admin_required");
    member.request("PATCH", "/org").body("text/plain", "x").await.expect_error(403, "admin_required");
    member.request("PATCH", "/org").text(vec![b' '; LIMIT + 1]).await.expect_error(403, "admin_required");
}
