//! The host's own routes behind the gate, with the service in the same process: who is let in, who is not, and how.

use serde_json::json;
use tenant_auth_conformance::{App, Caller, Host, PASSWORD, PUBLIC_URL, Response, scenarios};
use tenant_auth_core::http::{Gate, OrganizationFrom};

scenarios![
    a_member_is_let_in_by_cookie_and_by_bearer,
    get_and_head_and_every_other_method_are_judged,
    a_role_is_a_right,
    a_logout_is_seen_by_the_next_request,
    a_suspended_member_is_403_at_once_and_keeps_the_cookies,
    a_suspended_organization_is_403,
    another_organizations_session_is_401_and_stays,
    a_request_names_its_organization_once_and_exactly,
    two_different_cookies_are_no_session,
    two_authorization_headers_are_400,
    a_key_is_let_in_as_a_backend_with_its_scopes,
    a_key_of_a_suspended_organization_is_403,
    a_whole_router_is_covered_by_one_line,
    open_routes_and_the_hosts_404_stay_the_hosts,
    the_services_own_routes_lie_beside,
    a_route_without_the_layer_lets_nobody_in,
    a_handler_may_meet_a_refusal_itself,
    the_host_may_answer_refusals_itself,
    the_organization_may_stand_in_the_path_or_be_fixed,
    a_public_url_with_a_path_moves_the_service_and_nothing_else,
    a_gate_of_one_organization_knows_no_other,
    a_gate_of_one_organization_stands_in_the_services_process_all_the_same,
];

/// The refusal of a host's route: the envelope, and nothing that a cache would keep.
pub(super) trait Refuses {
    fn expect_refused(self, status: u16, code: &str) -> Response;
}

impl Refuses for Response {
    #[track_caller]
    fn expect_refused(self, status: u16, code: &str) -> Response {
        let refused = self.expect_error(status, code);
        assert_eq!(refused.header("Cache-Control"), Some("no-store"), "{}", refused.shown());
        assert_eq!(refused.json()["status"], "error", "{}", refused.shown());
        assert_eq!(refused.header("WWW-Authenticate"), (status == 401).then_some("Bearer"), "{}", refused.shown());
        refused
    }
}

/// 200 and this text.
#[track_caller]
pub(super) fn expect_text(response: Response, text: &str) {
    let response = response.expect(200);
    assert_eq!(response.body, text, "{}", response.shown());
}

/// Browsers keep what they have.
#[track_caller]
pub(super) fn expect_cookies_kept(response: &Response) {
    assert!(response.cookies().is_empty(), "{}", response.shown());
}

async fn a_member_is_let_in_by_cookie_and_by_bearer(app: &App) {
    let host = Host::embedding(app);
    let member = app.member().logged_in().await.at_host(&host);
    for path in ["/app/who", "/app/member"] {
        expect_text(member.visit(path).await, "max@acme.example member acme");
        expect_text(member.elsewhere().with_bearer(&member.access_token()).visit(path).await, "max@acme.example member acme");
        member.elsewhere().visit(path).await.expect_refused(401, "session_required");
        // An invalid Bearer beside good cookies: the caller is unknown, and the session is not refreshed for it.
        let rude = member.visit(path).header("Authorization", "Bearer rubbish");
        expect_cookies_kept(&rude.await.expect_refused(401, "session_required"));
    }
    expect_text(member.visit("/app/twice").await, "max@acme.example max@acme.example member acme");
}

async fn get_and_head_and_every_other_method_are_judged(app: &App) {
    let host = Host::embedding(app);
    let member = app.member().logged_in().await.at_host(&host);
    for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] {
        member.request_at(method, "/app/member").await.expect(200);
        member.elsewhere().request_at(method, "/app/member").await.expect(401);
        member.elsewhere().request_at(method, "/app/covered/page").await.expect(401);
    }
}

async fn a_role_is_a_right(app: &App) {
    let host = Host::embedding(app);
    let admin = app.admin().logged_in().await.at_host(&host);
    expect_text(admin.visit("/app/keys").await, "1 keys");
    app.member().logged_in().await.at_host(&host).visit("/app/keys").await.expect_refused(403, "admin_required");
    app.anonymous().at_host(&host).visit("/app/keys").await.expect_refused(401, "session_required");
}

async fn a_logout_is_seen_by_the_next_request(app: &App) {
    let host = Host::embedding(app);
    let member = app.member().logged_in().await;
    let tab = member.copied().at_host(&host);
    tab.visit("/app/member").await.expect(200);
    member.logout().await.expect(200);
    for path in ["/app/member", "/app/who", "/app/covered/page"] {
        let refused = tab.copied().visit(path).await.expect_refused(401, "session_required");
        assert!(refused.cookie("access_token").is_cleared() && refused.cookie("refresh_token").is_cleared());
    }
}

async fn a_suspended_member_is_403_at_once_and_keeps_the_cookies(app: &App) {
    let host = Host::embedding(app);
    let member = app.member().logged_in().await;
    let (admin, browser) = (app.admin().logged_in().await, member.at_host(&host));
    browser.visit("/app/who").await.expect(200);
    admin.set_status(member.id(), "suspended").await.expect(200);
    for path in ["/app/who", "/app/member", "/app/covered/page"] {
        expect_cookies_kept(&browser.visit(path).await.expect_refused(403, "suspended"));
    }
    admin.set_status(member.id(), "active").await.expect(200);
    browser.visit("/app/who").await.expect(200);
}

async fn a_suspended_organization_is_403(app: &App) {
    let host = Host::embedding(app);
    let browser = app.member().logged_in().await.at_host(&host);
    app.org().suspend().await;
    for path in ["/app/who", "/app/member"] {
        expect_cookies_kept(&browser.visit(path).await.expect_refused(403, "suspended"));
    }
}

async fn another_organizations_session_is_401_and_stays(app: &App) {
    let host = Host::embedding(app);
    let stranger = app.other_org().member().logged_in().await.at_host(&host).at_org("acme");
    for path in ["/app/who", "/app/member"] {
        expect_cookies_kept(&stranger.visit(path).await.expect_refused(401, "wrong_organization"));
    }
    stranger.jar().forget("access_token");
    for path in ["/app/who", "/app/member"] {
        expect_cookies_kept(&stranger.visit(path).await.expect_refused(401, "wrong_organization"));
    }
    stranger.at_org("globex").visit("/app/who").await.expect(200);
}

async fn a_request_names_its_organization_once_and_exactly(app: &App) {
    let host = Host::embedding(app);
    let member = app.member().logged_in().await.at_host(&host);
    for path in ["/app/who", "/app/member", "/app/backend", "/app/tenant"] {
        member.clone().without_slug().visit(path).await.expect_refused(400, "invalid_slug");
        member.clone().at_org("Acme").visit(path).await.expect_refused(400, "invalid_slug");
        member.visit(path).header("X-Org-Slug", "acme").await.expect_refused(400, "invalid_slug");
    }
    for path in ["/app/who", "/app/member", "/app/tenant"] {
        member.clone().at_org("nobody").visit(path).await.expect_refused(404, "unknown_organization");
    }
    expect_text(app.anonymous().at_host(&host).visit("/app/tenant").await, "Acme Rockets");
}

async fn two_different_cookies_are_no_session(app: &App) {
    let app = &app.beside(|setup| setup.config.browser.cookie_domain = Some("example.com".to_owned())).await;
    let host = Host::embedding(app);
    let member = app.member().logged_in().await.at_host(&host);
    let good = member.access_token();
    for path in ["/app/who", "/app/member"] {
        member.visit(path).cookies(format!("access_token={good}; access_token={good}")).await.expect(200);
        let refused = member.visit(path).cookies(format!("access_token={good}; access_token=planted")).await;
        let refused = refused.expect_refused(401, "session_required");
        assert!(refused.cookies().iter().all(|cookie| cookie.is_cleared() && cookie.domain().is_none()), "the host-only ones go");
        assert_eq!(refused.cookies().len(), 3, "{}", refused.shown());
    }
}

async fn two_authorization_headers_are_400(app: &App) {
    let host = Host::embedding(app);
    let member = app.member().logged_in().await.at_host(&host);
    let bearer = format!("Bearer {}", member.access_token());
    let twice = member.visit("/app/who").header("Authorization", &bearer).header("Authorization", &bearer);
    twice.await.expect_refused(400, "invalid_request");
}

async fn a_key_is_let_in_as_a_backend_with_its_scopes(app: &App) {
    let host = Host::embedding(app);
    expect_text(app.backend().at_host(&host).visit("/app/backend").await, "a backend of acme");
    app.anonymous().at_host(&host).visit("/app/backend").await.expect_refused(401, "invalid_api_key");
    app.backend().at_host(&host).at_org("globex").visit("/app/backend").await.expect_refused(401, "invalid_api_key");
    let (_, narrow) = app.admin().logged_in().await.created_key(json!({ "name": "narrow", "scopes": ["verify"] })).await;
    let narrow = app.anonymous().with("X-API-Key", &narrow).at_host(&host);
    narrow.visit("/app/backend").await.expect_refused(403, "missing_scope");
    narrow.visit("/app/member").await.expect_refused(401, "session_required");
}

async fn a_key_of_a_suspended_organization_is_403(app: &App) {
    let host = Host::embedding(app);
    let backend = app.backend().at_host(&host);
    expect_text(backend.visit("/app/backend").await, "a backend of acme");
    app.org().suspend().await;
    backend.visit("/app/backend").await.expect_refused(403, "suspended");
    app.org().reactivate().await;
    expect_text(backend.visit("/app/backend").await, "a backend of acme");
}

async fn a_whole_router_is_covered_by_one_line(app: &App) {
    let host = Host::embedding(app);
    expect_text(app.member().logged_in().await.at_host(&host).visit("/app/covered/page").await, "covered");
    app.anonymous().at_host(&host).visit("/app/covered/page").await.expect_refused(401, "session_required");
}

async fn open_routes_and_the_hosts_404_stay_the_hosts(app: &App) {
    let host = Host::embedding(app);
    let anybody = app.anonymous().without_slug().at_host(&host);
    expect_text(anybody.visit("/open").await, "open");
    for path in ["/", "/nowhere", "/app/nowhere", "/open/", "/api", "/api/v2/org", "/api/v1x"] {
        let missing = anybody.visit(path).await.expect(404);
        assert_ne!(missing.code(), "not_found", "the service answered for the host: {}", missing.shown());
    }
    for path in ["/", "/nowhere", "/open/"] {
        assert_eq!(anybody.visit(path).await.expect(404).body, "the host's own 404", "{path}");
    }
}

async fn the_services_own_routes_lie_beside(app: &App) {
    let host = Host::embedding(app);
    let member = app.member().logged_in().await.at_host(&host);
    let org = member.get("/org").await;
    assert_eq!(org.expect_ok()["org"]["slug"], "acme");
    for path in ["/api/v1", "/api/v1/", "/api/v1/nowhere", "/api/v1/org/"] {
        member.visit(path).await.expect_error(404, "not_found");
    }
}

async fn a_route_without_the_layer_lets_nobody_in(app: &App) {
    let host = Host::embedding(app);
    let refused = app.member().logged_in().await.at_host(&host).visit("/unguarded").await.expect_refused(500, "internal");
    assert!(refused.message().contains("log"), "{}", refused.shown());
    assert!(tenant_auth_conformance::logs::mention("guard(&gate)"), "the log says what to add");
}

async fn a_handler_may_meet_a_refusal_itself(app: &App) {
    let host = Host::embedding(app);
    expect_text(app.anonymous().at_host(&host).visit("/app/choice").await, "nobody: 401 session_required");
    expect_text(app.member().logged_in().await.at_host(&host).visit("/app/choice").await, "max@acme.example member acme");
}

async fn the_host_may_answer_refusals_itself(app: &App) {
    let gate = Gate::new(app.auth.clone()).on_refusal(|refused| {
        (refused.code() == "session_required").then(|| {
            let mut response = http::Response::new("go and log in".into());
            *response.status_mut() = http::StatusCode::SEE_OTHER;
            response.headers_mut().insert("location", http::HeaderValue::from_static("/login"));
            response
        })
    });
    let host = Host::start(app.cell.adapter, gate, None);
    let sent_away = app.anonymous().at_host(&host).visit("/app/who").await.expect(303);
    assert_eq!((sent_away.header("location"), sent_away.body.as_str()), (Some("/login"), "go and log in"));
    app.anonymous().at_host(&host).visit("/app/backend").await.expect_refused(401, "invalid_api_key");
    // What the gate found out about the cookies leaves with the host's own answer.
    let member = app.member().logged_in().await;
    member.logout().await.expect(200);
    let tab: Caller = member.at_host(&host);
    let refused = tab.visit("/app/who").cookies("access_token=x; refresh_token=y").await.expect(303);
    assert!(refused.cookie("refresh_token").is_cleared());
}

async fn the_organization_may_stand_in_the_path_or_be_fixed(app: &App) {
    let named = |from| Host::start(app.cell.adapter, Gate::new(app.auth.clone()).organization(from), None);
    let (by_path, fixed) =
        (named(OrganizationFrom::PathSegment(1)), named(OrganizationFrom::Fixed("acme".parse().expect("a slug"))));
    let member = app.member().logged_in().await.without_slug();
    expect_text(member.at_host(&by_path).visit("/t/acme/app/member").await, "max@acme.example member acme");
    member.at_host(&by_path).visit("/t/globex/app/member").await.expect_refused(401, "wrong_organization");
    member.at_host(&by_path).visit("/t/nobody/app/member").await.expect_refused(404, "unknown_organization");
    member.at_host(&by_path).visit("/app/member").await.expect_refused(404, "unknown_organization");
    expect_text(member.clone().at_org("globex").at_host(&fixed).visit("/app/member").await, "max@acme.example member acme");
}

async fn a_public_url_with_a_path_moves_the_service_and_nothing_else(app: &App) {
    let moved = app.beside(|setup| setup.config.public_url = format!("{PUBLIC_URL}/auth").parse().expect("a URL")).await;
    let host = Host::embedding(&moved);
    let member = moved.member().at_host(&host);
    let credentials = json!({ "email": member.email(), "password": PASSWORD });
    member.request_at("POST", "/auth/api/v1/auth/login").json(&credentials).await.expect(200);
    member.visit("/auth/api/v1/org").await.expect(200);
    expect_text(member.visit("/app/member").await, "max@acme.example member acme");
    assert_eq!(member.visit("/api/v1/org").await.expect(404).body, "the host's own 404");
}

async fn a_gate_of_one_organization_knows_no_other(app: &App) {
    let acme = app.auth.tenant(&"acme".parse().expect("a slug")).await.expect("acme exists");
    let host = Host::start(app.cell.adapter, Gate::new(acme), None);
    let member = app.member().logged_in().await.at_host(&host);
    expect_text(member.visit("/app/who").await, "max@acme.example member acme");
    app.advance(15 * 60);
    expect_text(member.visit("/app/who").await, "max@acme.example member acme");
    let stranger = app.other_org().member().logged_in().await.at_host(&host);
    expect_cookies_kept(&stranger.visit("/app/who").await.expect_refused(404, "unknown_organization"));
    member.visit("/app/member").await.expect_refused(500, "internal");
}

async fn a_gate_of_one_organization_stands_in_the_services_process_all_the_same(app: &App) {
    let proxied = app.beside(|setup| setup.config.network.trusted_proxies = vec!["10.0.0.0/8".parse().expect("a network")]).await;
    let acme = proxied.auth.tenant(&"acme".parse().expect("a slug")).await.expect("acme exists");
    let gate = Gate::new(acme).redirecting();

    let mut request = http::Request::new(());
    request.headers_mut().insert("x-forwarded-for", http::HeaderValue::from_static("203.0.113.7"));
    let visitor = gate.visitor(request, Some([10, 0, 0, 1].into()));
    assert_eq!(visitor.client_ip(), Some([203, 0, 113, 7].into()), "the settings trust the proxy");

    let host = Host::start(app.cell.adapter, gate, None);
    let page = proxied.anonymous().at_host(&host).visit("/app/who").header("Sec-Fetch-Mode", "navigate");
    let sent = page.await.expect(303);
    let (_, said) = sent.header("Location").and_then(|to| to.split_once('#')).expect("a fragment");
    let next = url::form_urlencoded::parse(said.as_bytes()).find(|(name, _)| name == "next").map(|(_, next)| next.into_owned());
    assert_eq!(next, Some(format!("{PUBLIC_URL}/app/who")), "the way back is known");
}
