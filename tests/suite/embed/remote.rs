//! A host that asks a deployed service: what it tells, and what happens when there is no clear answer. Only a session that is over
//! ends; a busy, absent, slow or confused service refuses this request and clears no cookies.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::json;
use tenant_auth_conformance::{App, Caller, Host, ScriptedServer, scenarios};
use tenant_auth_core::{
    http::{Gate, RemoteVerifier, Verifier},
    model::DeploymentScope,
    secret::SignedToken,
};

use crate::suite::embed::{
    gate::{Refuses, expect_cookies_kept, expect_text},
    refresh::remote,
};
use crate::suite::public::deployment_keys::{made, new_key};

scenarios![
    a_remote_principal_is_what_the_service_knows,
    a_session_ended_elsewhere_is_401_here_at_once,
    a_suspended_organization_is_401_and_ends_at_the_host,
    another_organizations_session_is_401_and_stays,
    an_organization_without_a_key_is_404,
    a_deployment_key_serves_every_organization,
    a_deployment_key_may_be_narrowed,
    a_deployment_key_states_nobodys_address,
    rights_that_change_something_are_not_given_from_afar,
    a_refused_key_is_the_hosts_fault_and_nobodys_session,
    the_persons_address_is_told_where_the_key_is_a_proxys,
    no_clear_answer_is_503_and_clears_nothing,
    a_server_that_hangs_is_not_asked_by_everybody,
    connections_that_died_in_silence_cost_one_question,
    too_many_questions_are_429_with_the_delay,
    a_refresh_without_an_answer_clears_nothing,
    a_fresh_token_that_is_not_valid_is_403,
    a_foreign_cookie_is_not_passed_on,
];

/// A member's browser at a host that asks this server.
async fn browser_at(app: &App, server: &ScriptedServer) -> (Host, Caller) {
    browser_of(app, server, Duration::from_millis(300)).await
}

/// The same, with the verifier's patience.
async fn browser_of(app: &App, server: &ScriptedServer, patience: Duration) -> (Host, Caller) {
    let remote = RemoteVerifier::new(&server.url()).expect("loopback").patience(patience);
    let gate = Gate::new(remote.key("acme", app.org().api_key()).expect("a key"));
    let host = Host::start(app.cell.adapter, gate, None);
    let member = app.member().logged_in().await.at_host(&host);
    (host, member)
}

pub(super) fn http(status: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}")
        .into_bytes()
}

const INVALID: &str = r#"{"status":"success","data":{"valid":false}}"#;

async fn a_remote_principal_is_what_the_service_knows(app: &App) {
    let member = app.member().logged_in().await;
    let metadata = json!({ "department": "ops", "big": 12345678901234567890_u64 });
    app.admin().logged_in().await.set_metadata(member.id(), metadata).await.expect(200);
    let (acme, token) = ("acme".parse().expect("a slug"), SignedToken::new(member.access_token()));
    let there = remote(app).verify(&acme, &token).await.expect("it answers").expect("a live token");
    let here = app.auth.verify(&acme, &token).await.expect("it answers").expect("a live token");
    let data = app.backend().verify(&member.access_token()).await.expect_ok();
    for principal in [there, here] {
        let mut told = serde_json::to_value(&principal).expect("it serializes");
        told["valid"] = true.into();
        assert_eq!(told, data);
        assert!(principal.is_active() && !principal.is_admin());
    }
}

async fn a_session_ended_elsewhere_is_401_here_at_once(app: &App) {
    let host = Host::start(app.cell.adapter, Gate::new(remote(app)), None);
    let member = app.member().logged_in().await;
    let tab = member.copied().at_host(&host);
    expect_text(tab.visit("/app/who").await, "max@acme.example member acme");
    member.logout().await.expect(200);
    tab.visit("/app/who").await.expect_refused(401, "session_required");
}

/// The server tells of it no more than that nothing is live there.
async fn a_suspended_organization_is_401_and_ends_at_the_host(app: &App) {
    let host = Host::start(app.cell.adapter, Gate::new(remote(app)), None);
    let member = app.member().logged_in().await.at_host(&host);
    expect_text(member.visit("/app/who").await, "max@acme.example member acme");
    app.org().suspend().await;
    let refused = member.visit("/app/who").await.expect_refused(401, "session_required");
    assert!(refused.cookie("access_token").is_cleared() && refused.cookie("refresh_token").is_cleared());
}

async fn another_organizations_session_is_401_and_stays(app: &App) {
    let host = Host::start(app.cell.adapter, Gate::new(remote(app)), None);
    let stranger = app.other_org().member().logged_in().await.at_host(&host).at_org("acme");
    expect_cookies_kept(&stranger.visit("/app/who").await.expect_refused(401, "wrong_organization"));
    let bearer = stranger.elsewhere().with_bearer(&stranger.access_token());
    bearer.visit("/app/who").await.expect_refused(401, "session_required");
}

async fn an_organization_without_a_key_is_404(app: &App) {
    let host = Host::start(app.cell.adapter, Gate::new(remote(app)), None);
    let member = app.other_org().member().logged_in().await.at_host(&host);
    expect_cookies_kept(&member.visit("/app/who").await.expect_refused(404, "unknown_organization"));
}

async fn with_deployment_key(app: &App) -> RemoteVerifier {
    let key = made(app, new_key(&[DeploymentScope::Verify])).await.1;
    RemoteVerifier::new(&format!("http://{}", app.address())).expect("loopback").deployment_key(key).expect("a well-formed key")
}

async fn a_deployment_key_serves_every_organization(app: &App) {
    let gate = Gate::new(with_deployment_key(app).await.key("acme", app.org().api_key()).expect("a key of its own"));
    let host = Host::start(app.cell.adapter, gate, None);
    for (org, shown) in [(app.org(), "max@acme.example member acme"), (app.other_org(), "gus@globex.example member globex")] {
        let member = org.member().logged_in().await.at_host(&host);
        expect_text(member.visit("/app/who").await, shown);
        expire(app);
        expect_text(member.visit("/app/who").await, shown);
    }
    let nowhere = app.member().logged_in().await.at_host(&host).at_org("nowhere");
    expect_cookies_kept(&nowhere.visit("/app/who").await.expect_refused(404, "unknown_organization"));
}

async fn a_deployment_key_may_be_narrowed(app: &App) {
    let gate = Gate::new(with_deployment_key(app).await.only(["globex"]).expect("slugs"));
    let host = Host::start(app.cell.adapter, gate, None);
    let member = app.other_org().member().logged_in().await.at_host(&host);
    expect_text(member.visit("/app/who").await, "gus@globex.example member globex");
    let member = app.member().logged_in().await.at_host(&host);
    expect_cookies_kept(&member.visit("/app/who").await.expect_refused(404, "unknown_organization"));
    expire(app);
    expect_cookies_kept(&member.visit("/app/who").await.expect_refused(404, "unknown_organization"));
    assert!(with_deployment_key(app).await.only(["Acme"]).is_err());
}

async fn a_deployment_key_states_nobodys_address(app: &App) {
    let remote = with_deployment_key(app).await.states_client_ip();
    let everybody = Gate::new(app.auth.clone()).trust_proxies(["::/0".parse().expect("a network")]);
    assert!(everybody.is_err_and(|rejected| rejected.to_string().contains("every address")));
    let gate = Gate::new(remote).trust_proxies(["127.0.0.1/32".parse().expect("a network")]).expect("not everybody");
    let host = Host::start(app.cell.adapter, gate, None);
    let member = app.member().logged_in().await.at_host(&host);
    expire(app);
    expect_text(member.visit("/app/who").header("X-Forwarded-For", "203.0.113.9").await, "max@acme.example member acme");
}

fn expire(app: &App) {
    app.clock.advance(app.config.sessions.access_token_ttl);
}

async fn rights_that_change_something_are_not_given_from_afar(app: &App) {
    let host = Host::start(app.cell.adapter, Gate::new(remote(app)), None);
    let admin = app.admin().logged_in().await.at_host(&host);
    for path in ["/app/member", "/app/keys", "/app/tenant", "/app/backend", "/app/covered/page"] {
        admin.visit(path).header("X-API-Key", app.org().api_key()).await.expect_refused(500, "internal");
    }
    assert!(tenant_auth_conformance::logs::mention("take a Principal instead"));
}

async fn a_refused_key_is_the_hosts_fault_and_nobodys_session(app: &App) {
    let admin = app.admin().logged_in().await;
    let (key, text) = admin.created_key(json!({ "name": "host", "scopes": ["users:read"] })).await;
    let url = format!("http://{}", app.address());
    let gate = Gate::new(RemoteVerifier::new(&url).expect("loopback").key("acme", text.as_str()).expect("a key"));
    let host = Host::start(app.cell.adapter, gate, None);
    let member = app.member().logged_in().await.at_host(&host);
    expect_cookies_kept(&member.visit("/app/who").await.expect_refused(500, "internal"));
    admin.delete(&format!("/org/api-keys/{}", key["id"].as_str().expect("an id"))).await.expect(200);
    expect_cookies_kept(&member.visit("/app/who").await.expect_refused(500, "internal"));
    assert!(!tenant_auth_conformance::logs::mention(&text), "the key is never logged");
}

async fn the_persons_address_is_told_where_the_key_is_a_proxys(app: &App) {
    let server =
        ScriptedServer::start(|_| Some(http("401 Unauthorized", "", r#"{"status":"error","code":"session_required"}"#))).await;
    let remote = RemoteVerifier::new(&server.url()).expect("loopback").states_client_ip();
    let gate = Gate::new(remote.key("acme", app.org().api_key()).expect("a key"));
    let gate = gate.trust_proxies(["127.0.0.1/32".parse().expect("a network")]).expect("not everybody");
    let host = Host::start(app.cell.adapter, gate, None);
    let browser = app.anonymous().at_host(&host);
    let visit = browser.visit("/app/who").cookies("refresh_token=r").header("X-Forwarded-For", "203.0.113.9");
    visit.await.expect_refused(401, "session_required");
    let asked = server.asked().pop().expect("one question").to_lowercase();
    assert!(asked.starts_with("post /api/v1/auth/refresh ") && asked.contains("x-client-ip: 203.0.113.9\r\n"), "{asked}");
    assert!(asked.contains("cookie: refresh_token=r\r\n") && asked.contains("x-api-key: pk_live_"), "{asked}");
}

async fn no_clear_answer_is_503_and_clears_nothing(app: &App) {
    let long = format!(r#"{{"status":"success","data":{{"valid":true,"x":"{}"}}}}"#, "x".repeat(10 * 1024 * 1024));
    let gus = app.other_org().member().logged_in().await;
    let principal = app.other_org().backend().verify(&gus.access_token()).await.expect_ok();
    let of_another = json!({ "status": "success", "data": principal }).to_string();
    let answers: Vec<Option<Vec<u8>>> = vec![
        None,
        Some(Vec::new()),
        Some(b"rubbish\r\n\r\n".to_vec()),
        Some(http("200 OK", "", "<html>")),
        Some(http("200 OK", "", "{}")),
        Some(http("200 OK", "", r#"{"status":"success","data":{"valid":true}}"#)),
        Some(http("200 OK", "", &long)),
        Some(http("200 OK", "", &of_another)),
        Some(http("200 OK", "Content-Encoding: gzip\r\n", "{}")),
        Some(http("204 No Content", "", "")),
        Some(http("302 Found", "Location: http://127.0.0.1:1/\r\n", "")),
        Some(http("401 Unauthorized", "WWW-Authenticate: Basic\r\n", "a proxy's own page")),
        Some(http("404 Not Found", "", "a proxy's own page")),
        Some(http("503 Service Unavailable", "Retry-After: 7\r\n", r#"{"status":"error","code":"unavailable"}"#)),
        Some(http("500 Internal Server Error", "", r#"{"status":"error","code":"internal"}"#)),
        Some(http("500 Internal Server Error", "", r#"{"status":"error","code":"session_required"}"#)),
        Some(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"status\"".to_vec()),
    ];
    for answer in answers {
        let shown = answer.as_ref().map(|bytes| String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned());
        let server = ScriptedServer::start(move |_| answer.clone()).await;
        let (_host, member) = browser_at(app, &server).await;
        let refused = member.visit("/app/who").await;
        assert_eq!((refused.status, refused.code()), (503, "unavailable"), "{shown:?}: {}", refused.shown());
        assert!(refused.header("Retry-After").is_some_and(|value| value.parse::<u32>().is_ok()));
        expect_cookies_kept(&refused);
    }
    let gone = ScriptedServer::start(|_| None).await;
    let (_host, member) = browser_at(app, &gone).await;
    drop(gone);
    expect_cookies_kept(&member.visit("/app/who").await.expect_refused(503, "unavailable"));
}

/// Each would wait for its own patience otherwise. The probe is not waited for here: the breaker's own tests move its time.
async fn a_server_that_hangs_is_not_asked_by_everybody(app: &App) {
    let server = ScriptedServer::start(|_| None).await;
    let (_host, member) = browser_at(app, &server).await;
    let mut is_spared = false;
    for _ in 0..20 {
        let before = server.asked().len();
        let refused = member.visit("/app/who").await.expect_refused(503, "unavailable");
        assert!(refused.header("Retry-After").is_some());
        expect_cookies_kept(&refused);
        is_spared = server.asked().len() == before;
        if is_spared {
            break;
        }
    }
    assert!(is_spared, "each request asked: {:?}", server.asked());
    let answering = ScriptedServer::start(|_| Some(http("500 Internal Server Error", "", "{}"))).await;
    let (_host, member) = browser_of(app, &answering, Duration::from_secs(30)).await;
    for _ in 0..3 {
        member.visit("/app/who").await.expect_refused(503, "unavailable");
    }
    assert_eq!(answering.asked().len(), 3, "an answer, however bad, comes from a server that does not hang");
}

/// As after the failover of a machine, or behind a firewall that has forgotten them.
async fn connections_that_died_in_silence_cost_one_question(app: &App) {
    let (first_alive, lost) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (alive, swallowed) = (Arc::clone(&first_alive), Arc::clone(&lost));
    let server = ScriptedServer::start_keeping(move |connection, asked| {
        if connection < alive.load(Ordering::SeqCst) {
            swallowed.fetch_add(1, Ordering::SeqCst);
            return None;
        }
        if asked.contains("slow") {
            std::thread::sleep(Duration::from_millis(100));
        }
        let (head, length) = ("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n", INVALID.len());
        Some(format!("{head}Content-Length: {length}\r\n\r\n{INVALID}").into_bytes())
    })
    .await;
    let remote = RemoteVerifier::new(&server.url()).expect("loopback").patience(Duration::from_secs(2));
    let (remote, acme) = (remote.key("acme", app.org().api_key()).expect("a key"), "acme".parse().expect("a slug"));
    let (slow, quick) = (SignedToken::new("slow"), SignedToken::new("quick"));
    let together = tokio::join!(
        remote.verify(&acme, &slow),
        remote.verify(&acme, &slow),
        remote.verify(&acme, &slow),
        remote.verify(&acme, &slow)
    );
    for answer in [together.0, together.1, together.2, together.3] {
        assert!(answer.expect("an answer").is_none());
    }
    // A connection that was begun and is not needed comes a moment later.
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(server.connections() > 1, "each over a connection of its own");

    first_alive.store(server.connections(), Ordering::SeqCst);
    remote.verify(&acme, &quick).await.expect_err("it is swallowed");
    let began = Instant::now();
    while remote.verify(&acme, &quick).await.is_err() {
        assert!(began.elapsed() < Duration::from_secs(30), "the server answers on every new connection");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(lost.load(Ordering::SeqCst), 1, "the probe asked over a new connection");
}

async fn too_many_questions_are_429_with_the_delay(app: &App) {
    let busy = http("429 Too Many Requests", "Retry-After: 42\r\n", r#"{"status":"error","code":"rate_limited"}"#);
    let server = ScriptedServer::start(move |_| Some(busy.clone())).await;
    let (_host, member) = browser_at(app, &server).await;
    let refused = member.visit("/app/who").await.expect_refused(429, "rate_limited");
    assert_eq!(refused.header("Retry-After"), Some("42"));
    expect_cookies_kept(&refused);
}

async fn a_refresh_without_an_answer_clears_nothing(app: &App) {
    for (status, expected) in [("429 Too Many Requests", 429), ("503 Service Unavailable", 503), ("200 OK", 503)] {
        let server = ScriptedServer::start(move |asked| {
            let verified = asked.starts_with("POST /api/v1/public/verify ");
            Some(if verified { http("200 OK", "", INVALID) } else { http(status, "", "{}") })
        })
        .await;
        let (_host, member) = browser_at(app, &server).await;
        let refused = member.visit("/app/who").await.expect(expected);
        expect_cookies_kept(&refused);
    }
}

async fn a_fresh_token_that_is_not_valid_is_403(app: &App) {
    let server = ScriptedServer::start(|asked| {
        let verified = asked.starts_with("POST /api/v1/public/verify ");
        let cookies = "Set-Cookie: access_token=next; Path=/\r\nSet-Cookie: refresh_token=after; Path=/\r\n";
        Some(if verified { http("200 OK", "", INVALID) } else { http("200 OK", cookies, r#"{"status":"success","data":{}}"#) })
    })
    .await;
    let (_host, member) = browser_at(app, &server).await;
    member.visit("/app/who").await.expect_refused(403, "not_admitted");
    let asked: Vec<String> = server.asked().iter().map(|text| text.lines().next().unwrap_or_default().to_owned()).collect();
    let (verify, refresh) = ("POST /api/v1/public/verify HTTP/1.1", "POST /api/v1/auth/refresh HTTP/1.1");
    assert_eq!(asked, [verify, refresh, verify], "once, and never again");
}

async fn a_foreign_cookie_is_not_passed_on(app: &App) {
    let server = ScriptedServer::start(|asked| {
        let verified = asked.starts_with("POST /api/v1/public/verify ");
        let cookies =
            "Set-Cookie: access_token=next; Path=/\r\nSet-Cookie: balancer=7\r\nSet-Cookie: refresh_token=after; Path=/\r\n";
        Some(if verified { http("200 OK", "", INVALID) } else { http("200 OK", cookies, "{}") })
    })
    .await;
    let (_host, member) = browser_at(app, &server).await;
    let answer = member.visit("/app/who").await.expect(403);
    let names: Vec<String> = answer.cookies().into_iter().map(|cookie| cookie.name).collect();
    assert_eq!(names, ["access_token", "refresh_token"]);
}
