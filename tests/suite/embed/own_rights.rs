//! What a host builds on the gate: pages for everybody that know who is logged in, rights with words of their own, the organization of
//! the session, an access log, and what identifies a refusal.

use tenant_auth_conformance::{Adapter, App, Host, PUBLIC_URL, logs, scenarios, walks::SharedFile};
use tenant_auth_core::{
    Config, Error, MasterKeys, Page, Sqlite, TenantAuth,
    http::{Body, Gate, OrganizationFrom, RemoteVerifier, Service},
};

use crate::suite::embed::{
    gate::{Refuses, expect_cookies_kept, expect_text},
    refresh::remote,
};

scenarios![
    a_page_for_everybody_knows_who_is_logged_in,
    an_optional_right_clears_the_cookies_of_a_session_that_is_over,
    an_optional_right_refuses_everything_but_401,
    a_right_of_the_hosts_own_refuses_in_its_own_words,
    an_access_log_around_the_guard_tells_who_was_let_in,
    a_rejection_is_an_error_that_tells_the_fact_behind_it,
    each_refusal_has_a_request_id_which_the_log_names,
    the_session_names_the_organization,
    an_expired_session_still_names_its_organization,
    a_session_that_is_over_names_nothing_and_its_cookies_go,
    from_afar_the_session_names_the_only_organization,
    routes_that_are_nested_by_hand_are_explained_once,
    a_host_that_blocks_its_worker_after_a_call_keeps_no_connection,
    a_service_that_nobody_sends_mail_for_says_so_once,
    a_service_at_an_http_address_says_that_no_browser_can_sign_in,
];

fn by_session(app: &App) -> Host {
    let gate = Gate::new(app.auth.clone()).organization(OrganizationFrom::Session);
    Host::start(app.cell.adapter, gate, Some(app.auth.clone()))
}

fn expire(app: &App) {
    app.clock.advance(app.config.sessions.access_token_ttl);
}

async fn a_page_for_everybody_knows_who_is_logged_in(app: &App) {
    for host in [Host::embedding(app), Host::start(app.cell.adapter, Gate::new(remote(app)), None)] {
        expect_text(app.anonymous().at_host(&host).visit("/app/greeting").await, "hello, stranger");
        let member = app.member().logged_in().await.at_host(&host);
        expect_text(member.visit("/app/greeting").await, "max@acme.example member acme");
        let stranger = app.other_org().member().logged_in().await.at_host(&host).at_org("acme");
        let page = stranger.visit("/app/greeting").await;
        expect_cookies_kept(&page);
        expect_text(page, "hello, stranger");
        expire(app);
        let renewed = member.visit("/app/greeting").await;
        assert!(!renewed.cookie("access_token").is_cleared(), "{}", renewed.shown());
        expect_text(renewed, "max@acme.example member acme");
    }
}

async fn an_optional_right_clears_the_cookies_of_a_session_that_is_over(app: &App) {
    let host = Host::embedding(app);
    let member = app.member().logged_in().await;
    let tab = member.copied().at_host(&host);
    member.logout().await.expect(200);
    let page = tab.visit("/app/greeting").await;
    assert!(page.cookie("access_token").is_cleared() && page.cookie("refresh_token").is_cleared(), "{}", page.shown());
    expect_text(page, "hello, stranger");
}

async fn an_optional_right_refuses_everything_but_401(app: &App) {
    let host = Host::embedding(app);
    let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
    let browser = member.at_host(&host);
    admin.set_status(member.id(), "suspended").await.expect(200);
    browser.visit("/app/greeting").await.expect_refused(403, "suspended");
    browser.clone().without_slug().visit("/app/greeting").await.expect_refused(400, "invalid_slug");
    browser.clone().at_org("nobody").visit("/app/greeting").await.expect_refused(404, "unknown_organization");
    let away = RemoteVerifier::new("http://127.0.0.1:9").expect("loopback").key("acme", app.org().api_key()).expect("a key");
    let host = Host::start(app.cell.adapter, Gate::new(away), None);
    expect_cookies_kept(&member.at_host(&host).visit("/app/greeting").await.expect_refused(503, "unavailable"));
}

async fn a_right_of_the_hosts_own_refuses_in_its_own_words(app: &App) {
    let host = Host::embedding(app);
    let member = app.member().logged_in().await.at_host(&host);
    let refused = member.visit("/app/paid").await.expect_refused(402, "plan_required");
    assert_eq!(refused.message(), "Reports are part of the plan Enterprise.");
    app.anonymous().at_host(&host).visit("/app/paid").await.expect_refused(401, "session_required");
}

async fn an_access_log_around_the_guard_tells_who_was_let_in(app: &App) {
    let host = Host::embedding(app);
    let member = app.member().logged_in().await.at_host(&host);
    for path in ["/app/who", "/app/member", "/app/greeting", "/app/covered/page", "/app/nested/who"] {
        assert_eq!(member.visit(path).await.expect(200).header("x-seen"), Some("max@acme.example"), "{path}");
    }
    for path in ["/app/keys", "/app/paid"] {
        let refused = member.visit(path).await;
        assert_eq!(
            refused.header("x-seen"),
            Some("max@acme.example"),
            "known, and refused for another reason: {}",
            refused.shown()
        );
    }
    let open = member.visit("/app/tenant").await.expect(200);
    assert_eq!(open.header("x-seen"), Some("nobody"), "nobody asked who it is");
    assert_eq!(app.anonymous().at_host(&host).visit("/app/greeting").await.expect(200).header("x-seen"), Some("nobody"));
}

async fn a_rejection_is_an_error_that_tells_the_fact_behind_it(app: &App) {
    let rejection: Box<dyn std::error::Error + Send + Sync> = match app.cell.adapter {
        Adapter::Axum => Box::new(tenant_auth_axum::Rejection::from(Error::SlugTaken)),
        Adapter::Actix => Box::new(tenant_auth_actix::Rejection::from(Error::SlugTaken)),
    };
    assert!(matches!(rejection.source().and_then(|fact| fact.downcast_ref::<Error>()), Some(Error::SlugTaken)));
}

async fn each_refusal_has_a_request_id_which_the_log_names(app: &App) {
    let host = Host::embedding(app);
    let mut ids = Vec::new();
    for path in ["/app/who", "/app/member", "/unguarded"] {
        let refused = app.anonymous().at_host(&host).visit(path).await;
        ids.push(refused.header("X-Request-Id").expect("a request id").to_owned());
    }
    ids.sort();
    ids.dedup();
    assert!(ids.len() == 3 && ids.iter().all(|id| id.starts_with("req_")), "{ids:?}");
    assert!(ids.iter().any(|id| logs::lines_with(id).iter().any(|line| line.contains("guard(&gate)"))), "{ids:?}");
    let is_told =
        |id: &String| logs::lines_with(id).iter().any(|line| line.contains("at the gate") || line.contains("guard(&gate)"));
    assert!(ids.iter().all(is_told), "each has its line: {ids:?}");
    let away = RemoteVerifier::new("http://127.0.0.1:9").expect("loopback").key("acme", app.org().api_key()).expect("a key");
    let host = Host::start(app.cell.adapter, Gate::new(away), None);
    let refused = app.member().logged_in().await.at_host(&host).visit("/app/who").await.expect_refused(503, "unavailable");
    let id = refused.header("X-Request-Id").expect("a request id");
    assert!(logs::lines_with(id).iter().any(|line| line.contains("failed at the gate")), "{:?}", logs::lines_with(id));
}

async fn the_session_names_the_organization(app: &App) {
    let host = by_session(app);
    let max = app.member().logged_in().await.without_slug().at_host(&host);
    let gus = app.other_org().member().logged_in().await.without_slug().at_host(&host);
    for path in ["/app/who", "/app/member", "/app/greeting"] {
        expect_text(max.visit(path).await, "max@acme.example member acme");
        expect_text(gus.visit(path).await, "gus@globex.example member globex");
        expect_text(
            max.elsewhere().without_slug().with_bearer(&max.access_token()).visit(path).await,
            "max@acme.example member acme",
        );
    }
    expect_text(max.visit("/app/tenant").await, "Acme Rockets");
    // What the header says is not looked at.
    expect_text(max.clone().at_org("globex").visit("/app/who").await, "max@acme.example member acme");
    let anybody = app.anonymous().without_slug().at_host(&host);
    for path in ["/app/who", "/app/member", "/app/tenant"] {
        expect_cookies_kept(&anybody.visit(path).await.expect_refused(401, "session_required"));
        anybody.clone().with_bearer("rubbish").visit(path).await.expect_refused(401, "session_required");
    }
    expect_text(anybody.visit("/app/greeting").await, "hello, stranger");
    expect_text(app.backend().at_host(&host).visit("/app/backend").await, "a backend of acme");
    let evil = max.request_at("POST", "/app/who").header("Origin", "https://evil.example");
    evil.await.expect_refused(403, "forbidden_origin");
}

async fn an_expired_session_still_names_its_organization(app: &App) {
    let host = by_session(app);
    for path in ["/app/who", "/app/member", "/app/tenant"] {
        let gus = app.other_org().member().logged_in().await.without_slug().at_host(&host);
        expire(app);
        let page = gus.visit(path).await.expect(200);
        let renews = path != "/app/tenant"; // which asks who it is of nobody
        assert_eq!(!page.cookies().is_empty(), renews, "{path}: {}", page.shown());
    }
}

async fn a_session_that_is_over_names_nothing_and_its_cookies_go(app: &App) {
    let host = by_session(app);
    let member = app.member().logged_in().await;
    let tab = member.copied().without_slug().at_host(&host);
    member.logout().await.expect(200);
    let refused = tab.visit("/app/who").await.expect_refused(401, "session_required");
    assert!(refused.cookie("access_token").is_cleared() && refused.cookie("refresh_token").is_cleared(), "{}", refused.shown());
}

async fn from_afar_the_session_names_the_only_organization(app: &App) {
    let by_session = |verifier| Host::start(app.cell.adapter, Gate::new(verifier).organization(OrganizationFrom::Session), None);
    let host = by_session(remote(app));
    let member = app.member().logged_in().await.without_slug().at_host(&host);
    expect_text(member.visit("/app/who").await, "max@acme.example member acme");
    let several = remote(app).key("globex", app.other_org().api_key()).expect("a well-formed key");
    let host = by_session(several);
    expect_cookies_kept(&member.at_host(&host).visit("/app/who").await.expect_refused(500, "internal"));
    assert!(logs::mention("serves several organizations"));
}

async fn routes_that_are_nested_by_hand_are_explained_once(app: &App) {
    // A path that no other scenario has, by which its log lines are found.
    let path = format!("/nested-{}", app.address().port());
    let moved = app.beside(|setup| setup.config.public_url = format!("{PUBLIC_URL}{path}").parse().expect("a URL")).await;
    let service = Service::new(&moved.auth);
    let asked = [format!("{path}/api/v1/nowhere"), format!("/auth{path}/api/v1/org"), format!("/auth{path}/api/v1/auth/login")];
    for (asked, said) in asked.iter().zip([0, 1, 1]) {
        let request = http::Request::get(asked).body(Body::Complete(bytes::Bytes::new())).expect("a request");
        assert_eq!(service.call(request, None).await.status().as_u16(), 404, "{asked}");
        let lines = logs::lines_with(&path);
        assert_eq!(lines.iter().filter(|line| line.contains("mount the routes at the root")).count(), said, "{lines:?}");
    }
}

/// More workers than the service has connections.
const WORKERS: usize = 8;

async fn a_host_that_blocks_its_worker_after_a_call_keeps_no_connection(app: &App) {
    let token = app.admin().logged_in().await.access_token();
    let acme = app.auth.tenant(&"acme".parse().expect("a slug")).await.expect("acme exists");
    let admin = acme.authenticate(&token).await.expect("logged in").into_admin().expect("an admin");
    let mut blocked = Vec::new();
    for _ in 0..WORKERS {
        let (release, held) = std::sync::mpsc::channel::<()>();
        let (told, has_read) = tokio::sync::oneshot::channel();
        let admin = admin.clone();
        let worker = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let read = admin.api_keys(&Page::default()).await;
                told.send(read.is_ok()).expect("somebody waits");
                let _ = held.recv(); // blocks this runtime, with every task that it has
            });
        });
        assert!(has_read.await.expect("the worker lives"), "there was a connection");
        blocked.push((release, worker));
    }
    app.member().logged_in().await;
    for (release, worker) in blocked {
        drop(release);
        worker.join().expect("the worker ends");
    }
}

async fn a_service_that_nobody_sends_mail_for_says_so_once(app: &App) {
    let file = SharedFile::new();
    let built = async |host: &str, is_sent_elsewhere: bool| {
        let store = Sqlite::open(&file.path().display().to_string()).await.expect("a file");
        let keys = MasterKeys::parse(&file.master_key).expect("a generated key");
        let config = Config::new(format!("https://{host}.example").parse().expect("a URL"));
        let builder = TenantAuth::builder().store(store).master_keys(keys).config(config);
        let builder = if is_sent_elsewhere { builder.mails_leave_elsewhere() } else { builder };
        builder.build().await.expect("it builds");
        logs::lines_with(host).iter().filter(|line| line.contains("nobody sends mail")).count()
    };
    // Names that no other scenario has, by which the log lines are found.
    let name = format!("silent-{}", app.address().port());
    assert_eq!(built(&format!("{name}-a"), false).await, 1);
    assert_eq!(built(&format!("{name}-b"), true).await, 0);
}

async fn a_service_at_an_http_address_says_that_no_browser_can_sign_in(app: &App) {
    let file = SharedFile::new();
    let port = app.address().port();
    for (url, said) in [
        (format!("http://plain-{port}.example"), 1),
        (format!("https://plain-{port}-a.example"), 0),
        (format!("http://localhost:{port}/plain-b"), 0),
    ] {
        let store = Sqlite::open(&file.path().display().to_string()).await.expect("a file");
        let keys = MasterKeys::parse(&file.master_key).expect("a generated key");
        let config = Config::new(url.parse().expect("a URL"));
        TenantAuth::builder().store(store).master_keys(keys).config(config).build().await.expect("it builds");
        let lines = logs::lines_with(&url);
        assert_eq!(lines.iter().filter(|line| line.contains("nobody can sign in")).count(), said, "{url}: {lines:?}");
    }
}
