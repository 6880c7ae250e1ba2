//! The transparent refresh before the host's routes (behaviour.md, B135), with the service in the same process and with
//! a deployed one: the same sentences are true of both. And who may send a session's cookies along at all (CSRF).

use std::time::Duration;

use tenant_auth_conformance::{App, CDN_CACHE_HEADERS, Caller, Host, scenarios, together};
use tenant_auth_core::{
    Member, Principal,
    http::{Admission, Gate, RemoteVerifier, Visitor},
};

use crate::suite::embed::gate::{Refuses, expect_cookies_kept};

scenarios![
    an_expired_access_token_is_renewed_on_the_way,
    a_missing_access_token_is_renewed_on_the_way,
    a_bearer_is_never_renewed,
    two_questions_about_one_request_refresh_once,
    a_slow_route_refreshes_when_it_answers,
    beside_a_slow_route_another_tab_may_refresh,
    a_slow_route_that_asks_again_makes_nobody_a_thief,
    a_session_that_ends_beside_a_slow_route_takes_its_cookies_along,
    a_token_whose_requests_are_all_given_up_is_soon_refreshed_before_the_route,
    who_gives_up_a_page_and_opens_another_has_lost_nothing,
    a_session_that_is_over_clears_its_cookies,
    a_suspended_member_cannot_refresh,
    parallel_requests_of_one_browser_all_succeed,
    a_login_that_waits_for_its_second_step_keeps_its_cookie,
    new_cookies_come_before_the_hosts_own_and_are_never_cached,
    without_refresh_an_expired_token_is_401_and_nothing_is_cleared,
    only_the_hosts_own_pages_may_change_something_with_cookies,
    a_page_that_may_not_send_cookies_refreshes_nothing,
];

/// The host with the service inside, and the host that asks a deployed one.
fn hosts(app: &App) -> [Host; 2] {
    [Host::embedding(app), Host::start(app.cell.adapter, Gate::new(remote(app)), None)]
}

/// Asks the scenario's service over its socket.
pub(super) fn remote(app: &App) -> RemoteVerifier {
    let remote = RemoteVerifier::new(&format!("http://{}", app.address())).expect("loopback");
    remote.key("acme", app.org().api_key()).expect("a well-formed key")
}

fn expire(app: &App) {
    app.clock.advance(app.config.sessions.access_token_ttl);
}

async fn an_expired_access_token_is_renewed_on_the_way(app: &App) {
    for host in hosts(app) {
        let member = app.member().logged_in().await.at_host(&host);
        let before = (member.access_token(), member.refresh_token());
        expire(app);
        let response = member.visit("/app/who").await.expect(200);
        assert_eq!(response.body, "max@acme.example member acme");
        assert!(response.cookie("access_token").attributes.contains(&"HttpOnly".to_owned()), "{}", response.shown());
        assert_ne!((member.access_token(), member.refresh_token()), before, "the browser has the next ones");
        expect_cookies_kept(&member.visit("/app/who").await.expect(200));
    }
}

async fn a_missing_access_token_is_renewed_on_the_way(app: &App) {
    for host in hosts(app) {
        let member = app.member().logged_in().await.at_host(&host);
        member.jar().forget("access_token");
        member.request_at("POST", "/app/who").await.expect(200);
        assert!(member.jar().value("access_token").is_some());
    }
}

async fn a_bearer_is_never_renewed(app: &App) {
    for host in hosts(app) {
        let member = app.member().logged_in().await.at_host(&host);
        expire(app);
        let stale = member.visit("/app/who").header("Authorization", format!("Bearer {}", member.access_token()));
        expect_cookies_kept(&stale.await.expect_refused(401, "session_required"));
        member.visit("/app/who").await.expect(200);
    }
}

async fn two_questions_about_one_request_refresh_once(app: &App) {
    let host = Host::embedding(app);
    let member = app.member().logged_in().await.at_host(&host);
    expire(app);
    let response = member.visit("/app/twice").await.expect(200);
    assert_eq!(response.cookies().len(), 2, "{}", response.shown());
    expect_cookies_kept(&member.visit("/app/twice").await.expect(200));
}

/// A request to a route that takes its time, admitted with an access token that has expired.
async fn at_a_slow_route<C: Admission>(app: &App, member: &Caller) -> Visitor {
    let visitor = admitted::<C>(app, member).await;
    assert!(!visitor.leaves_something(), "nothing is refreshed yet");
    visitor
}

async fn admitted<C: Admission>(app: &App, member: &Caller) -> Visitor {
    let request = http::Request::get("/slow").header("X-Org-Slug", "acme").header("Cookie", member.jar().header());
    let visitor = Gate::new(app.auth.clone()).visitor(request.body(()).expect("a request"), None);
    visitor.admit::<C>().await.map(drop).expect("the session is live");
    assert_eq!(visitor.known().expect("somebody").user.email.as_str(), "max@acme.example");
    visitor
}

/// The names and values of the cookies that leave with the answer.
async fn answered(visitor: &Visitor) -> Vec<(String, String)> {
    visitor.depart().await;
    let mut headers = http::HeaderMap::new();
    visitor.settle(&mut headers);
    let cookies = headers.get_all("set-cookie").iter().map(|cookie| cookie.to_str().expect("text").to_owned());
    let pair = |cookie: String| cookie.split(';').next()?.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    cookies.filter_map(pair).collect()
}

async fn a_slow_route_refreshes_when_it_answers(app: &App) {
    let member = app.member().logged_in().await;
    for round in 0..2 {
        expire(app);
        let visitor = if round == 0 {
            at_a_slow_route::<Principal>(app, &member).await
        } else {
            at_a_slow_route::<Member>(app, &member).await
        };
        app.clock.advance(app.config.sessions.refresh_grace * 2);
        for (name, value) in answered(&visitor).await {
            member.jar().put(&name, &value);
        }
        member.get("/org").await.expect(200);
        assert_eq!(answered(&visitor).await, [], "once");
    }
}

async fn beside_a_slow_route_another_tab_may_refresh(app: &App) {
    let member = app.member().logged_in().await;
    expire(app);
    let visitor = at_a_slow_route::<Principal>(app, &member).await;
    member.refresh().await.expect(200);
    app.clock.advance(app.config.sessions.refresh_grace * 2);
    assert_eq!(answered(&visitor).await, [], "the browser has newer ones, and nobody is taken for a thief");
    member.get("/org").await.expect(200);
    member.refresh().await.expect(200);
}

async fn a_slow_route_that_asks_again_makes_nobody_a_thief(app: &App) {
    let member = app.member().logged_in().await;
    expire(app);
    let visitor = at_a_slow_route::<Member>(app, &member).await;
    visitor.admit::<Member>().await.map(drop).expect("as true as before");
    member.refresh().await.expect(200);
    visitor.admit::<Member>().await.map(drop).expect("within the grace");
    let visitor = {
        expire(app);
        at_a_slow_route::<Member>(app, &member).await
    };
    member.refresh().await.expect(200);
    app.clock.advance(app.config.sessions.refresh_grace * 2);
    let refused = visitor.admit::<Member>().await.map(drop).expect_err("its tokens are former ones");
    assert_eq!(refused.status(), 401);
    assert_eq!(answered(&visitor).await, [], "the browser keeps the newer ones");
    member.get("/org").await.expect(200);
    member.refresh().await.expect(200);
}

async fn a_session_that_ends_beside_a_slow_route_takes_its_cookies_along(app: &App) {
    let member = app.member().logged_in().await;
    expire(app);
    let visitor = at_a_slow_route::<Member>(app, &member).await;
    member.logout().await.expect(200);
    let names = answered(&visitor).await;
    assert_eq!(names, [("access_token".to_owned(), String::new()), ("refresh_token".to_owned(), String::new())]);
}

/// Whoever stole a refresh token and never waits for an answer would never be found out.
async fn a_token_whose_requests_are_all_given_up_is_soon_refreshed_before_the_route(app: &App) {
    let member = app.member().logged_in().await;
    expire(app);
    let unanswered = at_a_slow_route::<Principal>(app, &member).await;
    app.clock.advance(app.config.sessions.access_token_ttl);
    drop(at_a_slow_route::<Principal>(app, &member).await);
    app.clock.advance(app.config.sessions.access_token_ttl - Duration::from_secs(1));
    drop((unanswered, at_a_slow_route::<Member>(app, &member).await));
    app.clock.advance(Duration::from_secs(1));
    assert!(admitted::<Member>(app, &member).await.leaves_something(), "refreshed before the route runs");
    assert!(admitted::<Principal>(app, &member).await.leaves_something(), "within the grace");
    app.clock.advance(app.config.sessions.refresh_grace);
    member.refresh().await.expect_error(401, "session_required");
}

async fn who_gives_up_a_page_and_opens_another_has_lost_nothing(app: &App) {
    let member = app.member().logged_in().await;
    for _ in 0..3 {
        expire(app);
        drop(at_a_slow_route::<Member>(app, &member).await);
        let another = at_a_slow_route::<Member>(app, &member).await;
        app.clock.advance(app.config.sessions.access_token_ttl * 2);
        for (name, value) in answered(&another).await {
            member.jar().put(&name, &value);
        }
        member.get("/org").await.expect(200);
    }
}

async fn a_session_that_is_over_clears_its_cookies(app: &App) {
    for host in hosts(app) {
        let member = app.member().logged_in().await;
        let tab = member.copied().at_host(&host);
        member.logout().await.expect(200);
        let refused = tab.visit("/app/who").await.expect_refused(401, "session_required");
        let cleared: Vec<String> =
            refused.cookies().into_iter().filter(|cookie| cookie.is_cleared()).map(|cookie| cookie.name).collect();
        assert_eq!(cleared, ["access_token", "refresh_token"]);
        assert!(tab.jar().value("refresh_token").is_none());
        expect_cookies_kept(&tab.visit("/app/who").await.expect_refused(401, "session_required"));
    }
}

async fn a_suspended_member_cannot_refresh(app: &App) {
    let admin = app.admin().logged_in().await;
    for host in hosts(app) {
        let member = app.member().logged_in().await;
        let tab = member.at_host(&host);
        admin.refresh().await.expect(200);
        admin.set_status(member.id(), "suspended").await.expect(200);
        expect_cookies_kept(&tab.visit("/app/who").await.expect_refused(403, "suspended"));
        expire(app);
        tab.visit("/app/who").await.expect_refused(401, "session_required");
        admin.refresh().await.expect(200);
        admin.set_status(member.id(), "active").await.expect(200);
    }
}

async fn parallel_requests_of_one_browser_all_succeed(app: &App) {
    for host in hosts(app) {
        let member = app.member().logged_in().await.at_host(&host);
        expire(app);
        let answers = together((0..8).map(|_| member.copied().visit("/app/who")).collect()).await;
        let tokens: Vec<String> = answers.into_iter().map(|answer| answer.expect(200).cookie("access_token").value).collect();
        assert!(tokens.iter().all(|token| *token == tokens[0]), "one generation for all");
    }
}

async fn a_login_that_waits_for_its_second_step_keeps_its_cookie(app: &App) {
    for host in hosts(app) {
        let waiting: Caller = app.member().at_host(&host);
        waiting.jar().put("partial_token", "waiting");
        waiting.jar().put("access_token", "stale");
        waiting.jar().put("refresh_token", "stale");
        waiting.visit("/app/who").await.expect_refused(401, "session_required");
        assert_eq!(waiting.jar().header(), "partial_token=waiting");
    }
}

async fn new_cookies_come_before_the_hosts_own_and_are_never_cached(app: &App) {
    for host in hosts(app) {
        let member = app.member().logged_in().await.at_host(&host);
        let untouched = member.visit("/app/cached").await.expect(200);
        assert_eq!(untouched.header("Cache-Control"), Some("public, max-age=60"));
        assert!(CDN_CACHE_HEADERS.iter().all(|name| untouched.header(name) == Some("max-age=60")), "{}", untouched.shown());
        expire(app);
        let response = member.visit("/app/cached").await.expect(200);
        let names: Vec<String> = response.cookies().into_iter().map(|cookie| cookie.name).collect();
        assert_eq!(names, ["access_token", "refresh_token", "theme"]);
        assert_eq!(response.header("Cache-Control"), Some("no-store"), "a cache would hand the session to the next");
        assert!(CDN_CACHE_HEADERS.iter().all(|name| response.header(name).is_none()), "{}", response.shown());
    }
}

async fn without_refresh_an_expired_token_is_401_and_nothing_is_cleared(app: &App) {
    for gate in [Gate::new(app.auth.clone()), Gate::new(remote(app))] {
        let host = Host::start(app.cell.adapter, gate.without_refresh(), None);
        let member = app.member().logged_in().await.at_host(&host);
        expire(app);
        expect_cookies_kept(&member.visit("/app/who").await.expect_refused(401, "session_required"));
        member.via(app).refresh().await.expect(200);
        member.visit("/app/who").await.expect(200);
    }
}

async fn only_the_hosts_own_pages_may_change_something_with_cookies(app: &App) {
    const FRIEND: &str = "https://friend.example";
    let gates = [Gate::new(app.auth.clone()), Gate::new(remote(app))];
    for gate in gates.map(|gate| gate.allow_origin(FRIEND.parse().expect("an origin"))) {
        let host = Host::start(app.cell.adapter, gate, None);
        let member = app.member().logged_in().await.at_host(&host);
        let own = format!("http://{}", host.address());
        let post = || member.request_at("POST", "/app/who");
        for allowed in [
            post(),
            post().from_origin(&own),
            post().from_origin(FRIEND),
            post().from_origin("https://app.example.com").header("Sec-Fetch-Site", "same-origin"),
            post().header("Sec-Fetch-Site", "none"),
            member.visit("/app/who").from_origin("https://evil.example"),
        ] {
            allowed.await.expect(200);
        }
        for refused in [
            post().from_origin("https://evil.example"),
            post().from_origin("null"),
            post().from_origin(&own).header("Sec-Fetch-Site", "cross-site"),
            post().from_origin(&own).from_origin(&own),
            post().header("Sec-Fetch-Site", "same-site"),
            post().header("Sec-Fetch-Site", "cross-site"),
            member.visit("/app/who").from_origin("https://evil.example").header("Upgrade", "websocket"),
            member.request_at("DELETE", "/app/who").from_origin("https://evil.example"),
        ] {
            expect_cookies_kept(&refused.await.expect_refused(403, "forbidden_origin"));
        }
        let bearer = member.elsewhere().with_bearer(&member.access_token());
        bearer.request_at("POST", "/app/who").from_origin("https://evil.example").await.expect(200);
    }
    let host = Host::embedding(app);
    let member = app.member().logged_in().await.at_host(&host);
    for path in ["/app/who", "/app/member"] {
        let of_organization = member.request_at("POST", path).from_origin("https://app.acme.example");
        of_organization.await.expect(200);
        member.request_at("POST", path).from_origin("https://app.globex.example").await.expect_refused(403, "forbidden_origin");
    }
}

async fn a_page_that_may_not_send_cookies_refreshes_nothing(app: &App) {
    for host in hosts(app) {
        let member = app.member().logged_in().await.at_host(&host);
        let before = member.refresh_token();
        expire(app);
        let forged = member.request_at("POST", "/app/who").from_origin("https://evil.example");
        expect_cookies_kept(&forged.await.expect_refused(403, "forbidden_origin"));
        assert_eq!(member.refresh_token(), before);
    }
}
