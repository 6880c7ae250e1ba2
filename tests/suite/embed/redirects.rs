//! `Gate::redirecting()`: a person who opens a host's page without a session is sent to sign in, and comes back (behaviour.md, B223).
//! Nothing of the address is the sender's but the path, and nobody is sent round in a circle.

use std::collections::HashMap;

use tenant_auth_conformance::{App, Caller, Host, PUBLIC_URL, Request, Response, scenarios};
use tenant_auth_core::{
    http::{Gate, OrganizationFrom, RemoteVerifier},
    value::Origin,
};

use crate::suite::embed::gate::Refuses;

scenarios![
    a_page_without_a_session_leads_to_sign_in_and_back,
    scripts_and_programs_get_the_refusal,
    an_older_browser_asks_for_html,
    who_is_signed_in_is_never_sent_to_sign_in,
    a_session_that_is_over_is_cleared_on_the_way,
    a_forged_host_changes_nothing,
    the_sign_in_page_is_never_sent_to_itself,
    the_hosts_own_answer_goes_first,
    a_gate_that_asks_from_afar_redirects_alike,
    the_way_back_leads_to_the_organizations_subdomain,
    a_way_back_that_is_too_long_is_left_out,
    without_it_nobody_is_redirected,
];

fn origin(text: &str) -> Origin {
    text.parse().expect("an origin")
}

fn fixed() -> OrganizationFrom {
    OrganizationFrom::Fixed("acme".parse().expect("a slug"))
}

/// A host of one organization that embeds the service, and redirects.
fn redirecting(app: &App) -> Gate {
    Gate::new(app.auth.clone()).organization(fixed()).redirecting().reached_at(origin("https://app.acme.example"))
}

fn host(app: &App, gate: Gate) -> Host {
    Host::start(app.cell.adapter, gate, None)
}

fn browser(app: &App, host: &Host) -> Caller {
    app.anonymous().without_slug().at_host(host)
}

/// What a browser sends when somebody follows a link.
fn opened(request: Request) -> Request {
    request.header("Sec-Fetch-Mode", "navigate").header("Sec-Fetch-Site", "none").header("Accept", "text/html,*/*;q=0.8")
}

/// Where a redirect leads, and what its fragment says.
#[track_caller]
fn sent(response: Response) -> (String, HashMap<String, String>) {
    let response = response.expect(303);
    assert_eq!(response.header("Cache-Control"), Some("no-store"), "{}", response.shown());
    assert_eq!(response.header("WWW-Authenticate"), None, "{}", response.shown());
    let (page, said) = response.header("Location").and_then(|to| to.split_once('#')).expect("a fragment");
    (page.to_owned(), url::form_urlencoded::parse(said.as_bytes()).into_owned().collect())
}

#[track_caller]
fn expect_sign_in(response: Response, next: Option<&str>) {
    let (page, said) = sent(response);
    assert_eq!(page, format!("{PUBLIC_URL}/sign-in"));
    let said: (Option<&str>, Option<&str>) = (said.get("org").map(String::as_str), said.get("next").map(String::as_str));
    assert_eq!(said, (Some("acme"), next));
}

async fn a_page_without_a_session_leads_to_sign_in_and_back(app: &App) {
    let host = host(app, redirecting(app));
    let nobody = browser(app, &host);
    for path in ["/app/who", "/app/member", "/app/covered/page", "/app/keys?page=2&x=%26%23", "/app/who?next=https://evil.example/"]
    {
        let next = format!("https://app.acme.example{path}");
        expect_sign_in(opened(nobody.visit(path)).await, Some(&next));
    }
    let (_, said) = sent(opened(nobody.visit("/app/who?x=1")).await);
    let member = app.member();
    let body = serde_json::json!({ "email": member.email(), "password": tenant_auth_conformance::PASSWORD, "next": said["next"] });
    assert_eq!(member.post("/auth/login", body).await.expect_ok()["next"], said["next"].as_str(), "the service sends them back");
    let back = member.without_slug().at_host(&host);
    opened(back.visit("/app/who?x=1")).await.expect(200);
}

async fn scripts_and_programs_get_the_refusal(app: &App) {
    let host = host(app, redirecting(app));
    let nobody = browser(app, &host);
    nobody.visit("/app/who").await.expect_refused(401, "session_required");
    for mode in ["cors", "same-origin", "no-cors", "websocket", "Navigate", ""] {
        let request = nobody.visit("/app/who").header("Sec-Fetch-Mode", mode).header("Accept", "text/html");
        request.await.expect_refused(401, "session_required");
    }
    let twice = nobody.visit("/app/who").header("Sec-Fetch-Mode", "navigate").header("Sec-Fetch-Mode", "navigate");
    twice.await.expect_refused(401, "session_required");
    for method in ["POST", "PUT", "PATCH", "DELETE"] {
        opened(nobody.request_at(method, "/app/who")).await.expect_refused(401, "session_required");
    }
    opened(nobody.request_at("HEAD", "/app/who")).await.expect(401);
    let bearer = nobody.visit("/app/who").header("Authorization", "Bearer rubbish");
    opened(bearer).await.expect_refused(401, "session_required");
    opened(nobody.visit("/app/backend")).await.expect_refused(401, "invalid_api_key");
    opened(nobody.visit("/t/nobody/missing")).await.expect(404);
    opened(nobody.visit("/open")).await.expect(200);
    opened(nobody.visit("/app/greeting")).await.expect(200);
}

async fn an_older_browser_asks_for_html(app: &App) {
    let host = host(app, redirecting(app));
    let nobody = browser(app, &host);
    let asked = |accept: &str| nobody.visit("/app/who").header("Accept", accept);
    for html in ["text/html", "application/xml;q=0.9, TEXT/HTML;q=0.1;level=1", "text/html;charset=utf-8,*/*"] {
        expect_sign_in(asked(html).await, Some("https://app.acme.example/app/who"));
    }
    for other in ["*/*", "application/json", "text/*", "text/html;q=0", "text/html; q=0.0", "application/xhtml+xml"] {
        asked(other).await.expect_refused(401, "session_required");
    }
}

async fn who_is_signed_in_is_never_sent_to_sign_in(app: &App) {
    let host = host(app, redirecting(app));
    let member = app.member().logged_in().await.without_slug().at_host(&host);
    opened(member.visit("/app/keys")).await.expect_refused(403, "admin_required");
    opened(member.visit("/app/paid")).await.expect_refused(402, "plan_required");
    app.admin().logged_in().await.set_status(app.member().id(), "suspended").await.expect(200);
    opened(member.visit("/app/who")).await.expect_refused(403, "suspended");
    // A session of another organization opens nothing here, and signing in does.
    let gus = app.other_org().member().logged_in().await.without_slug().at_host(&host);
    let answer = opened(gus.visit("/app/who")).await;
    assert!(answer.cookies().is_empty(), "their session stays: {}", answer.shown());
    expect_sign_in(answer, Some("https://app.acme.example/app/who"));
}

async fn a_session_that_is_over_is_cleared_on_the_way(app: &App) {
    let host = host(app, redirecting(app));
    let member = app.member().logged_in().await;
    member.logout().await.expect(200);
    let tab = member.without_slug().at_host(&host);
    let answer = opened(tab.visit("/app/who").cookies("access_token=x; refresh_token=y")).await;
    assert!(answer.cookie("access_token").is_cleared() && answer.cookie("refresh_token").is_cleared(), "{}", answer.shown());
    expect_sign_in(answer, Some("https://app.acme.example/app/who"));
}

async fn a_forged_host_changes_nothing(app: &App) {
    // Without an own origin it is the public URL's, where an embedded service usually lies.
    let host = host(app, Gate::new(app.auth.clone()).organization(fixed()).redirecting());
    let nobody = browser(app, &host);
    for forged in ["evil.example", "auth.example.com.evil.example", "acme.evil.example:8443"] {
        let request = nobody.visit("/app/who").replacing("Host", forged).header("X-Forwarded-Host", forged);
        expect_sign_in(opened(request).await, Some(&format!("{PUBLIC_URL}/app/who")));
    }
    // A path is only a path.
    for path in ["//evil.example/app", "/app//evil.example", "/app/@evil.example"] {
        let answer = opened(nobody.visit(path)).await;
        assert!([303, 404].contains(&answer.status), "{}", answer.shown());
        let leads_away = answer.header("Location").is_some_and(|to| !to.starts_with(&format!("{PUBLIC_URL}/sign-in#")));
        assert!(!leads_away, "{}", answer.shown());
    }
}

async fn the_sign_in_page_is_never_sent_to_itself(app: &App) {
    let page = |path: &str| format!("https://app.acme.example{path}").parse().expect("a URL");
    let gate = redirecting(app).sign_in_page(page("/app/who?a=b#old"));
    let host = host(app, gate);
    let nobody = browser(app, &host);
    opened(nobody.visit("/app/who")).await.expect_refused(401, "session_required");
    opened(nobody.visit("/app/who?next=x")).await.expect_refused(401, "session_required");
    let (page, said) = sent(opened(nobody.visit("/app/member")).await);
    assert_eq!(
        (page.as_str(), said["next"].as_str()),
        ("https://app.acme.example/app/who?a=b", "https://app.acme.example/app/member")
    );
}

async fn the_hosts_own_answer_goes_first(app: &App) {
    let gate = redirecting(app).on_refusal(|refused| {
        let leads = refused.sign_in().is_some();
        assert_eq!(refused.status(), 401);
        leads.then(|| http::Response::new("a page that explains".into()))
    });
    let host = host(app, gate);
    assert_eq!(opened(browser(app, &host).visit("/app/who")).await.expect(200).body, "a page that explains");
    browser(app, &host).visit("/app/who").await.expect_refused(401, "session_required");
}

async fn a_gate_that_asks_from_afar_redirects_alike(app: &App) {
    let remote = || {
        let url = format!("http://{}", app.address());
        RemoteVerifier::new(&url).and_then(|remote| remote.key("acme", app.org().api_key())).expect("a key")
    };
    let server = format!("http://{}/sign-in", app.address());
    let unknown = host(app, Gate::new(remote()).organization(fixed()).redirecting());
    let (page, said) = sent(opened(browser(app, &unknown).visit("/app/who")).await);
    assert_eq!((page, said.get("next")), (server.clone(), None), "nobody said where browsers reach this host");
    let known = Gate::new(remote()).organization(fixed()).redirecting().reached_at(origin("https://app.acme.example"));
    let known = host(app, known);
    let (page, said) = sent(opened(browser(app, &known).visit("/app/who?x")).await);
    assert_eq!((page, said["org"].as_str(), said["next"].as_str()), (server, "acme", "https://app.acme.example/app/who?x"));
    let member = app.member().logged_in().await.without_slug().at_host(&known);
    opened(member.visit("/app/who")).await.expect(200);
    browser(app, &known).visit("/app/who").await.expect_refused(401, "session_required");
    // The service answers nothing: that is no reason to sign in.
    let away = RemoteVerifier::new("http://127.0.0.1:9").and_then(|remote| remote.key("acme", app.org().api_key())).expect("a key");
    let away = host(app, Gate::new(away).organization(fixed()).redirecting());
    opened(browser(app, &away).visit("/app/who").cookies("access_token=x")).await.expect_refused(503, "unavailable");
}

async fn the_way_back_leads_to_the_organizations_subdomain(app: &App) {
    let from = OrganizationFrom::SubdomainOf("example.org".to_owned());
    let gate = Gate::new(app.auth.clone()).organization(from).redirecting().reached_at(origin("https://example.org:8443"));
    let host = host(app, gate);
    let nobody = browser(app, &host);
    let at = |name: &str| opened(nobody.visit("/app/who").replacing("Host", name));
    expect_sign_in(at("acme.example.org").await, Some("https://acme.example.org:8443/app/who"));
    let (_, said) = sent(at("nobody.example.org").await);
    assert_eq!(said["next"], "https://nobody.example.org:8443/app/who", "the sign-in page says that there is none");
    at("acme.evil.example").await.expect_refused(404, "unknown_organization");
}

async fn a_way_back_that_is_too_long_is_left_out(app: &App) {
    let host = host(app, redirecting(app));
    let nobody = browser(app, &host);
    let path = |extra: usize| format!("/app/who?{}", "x".repeat(2048 - "https://app.acme.example/app/who?".len() + extra));
    expect_sign_in(opened(nobody.visit(&path(0))).await, Some(&format!("https://app.acme.example{}", path(0))));
    expect_sign_in(opened(nobody.visit(&path(1))).await, None);
}

async fn without_it_nobody_is_redirected(app: &App) {
    let gate = Gate::new(app.auth.clone()).organization(fixed()).reached_at(origin("https://app.acme.example"));
    let host = host(app, gate);
    opened(browser(app, &host).visit("/app/who")).await.expect_refused(401, "session_required");
}
