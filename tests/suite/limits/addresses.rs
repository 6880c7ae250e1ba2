//! Whose address counts (behaviour.md, B87): the socket's; what a trusted proxy forwards; what a backend-for-frontend states
//! beside its key; and nothing else.

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, PASSWORD, logs, scenarios};
use tenant_auth_core::{
    http::{Body, Service},
    model::Scope,
};

use crate::suite::support::authenticator::{SecondFactor, guarded_member};

scenarios![
    each_address_has_a_count_of_its_own,
    an_untrusted_socket_forwards_nothing,
    the_rightmost_untrusted_hop_counts,
    addresses_of_one_ipv6_network_count_as_one,
    a_mapped_address_is_the_ipv4_it_maps,
    a_proxy_keys_stated_address_counts,
    a_stated_address_counts_for_confirmations_too,
    a_stated_address_counts_when_the_second_step_completes,
    wrong_codes_from_a_stated_address_lock_nobody_out_elsewhere,
    without_the_right_key_a_stated_address_is_ignored,
    outside_auth_a_stated_address_is_ignored,
    a_stated_address_that_is_none_is_ignored,
    a_proxy_key_opens_nothing_by_itself,
    without_an_address_nothing_is_counted_by_it_and_the_log_says_so_once,
];

const WRONG: &str = "not-the-password";
const SOCKET: &str = "127.0.0.1";

/// A server that believes the proxy in front of it.
pub(crate) async fn behind_proxy(app: &App) -> App {
    app.beside(|setup| setup.config.network.trusted_proxies = vec!["127.0.0.0/8".parse().expect("a network")]).await
}

/// A caller whom the proxy saw at this address.
pub(crate) fn at(caller: Caller, ip: &str) -> Caller {
    caller.with("X-Forwarded-For", ip)
}

/// Five wrong passwords for the member, each judged; the next try of this caller would be refused.
async fn shut_out(app: &App, caller: &Caller) {
    for _ in 0..5 {
        caller.login_with(app.member().email(), WRONG).await.expect_error(401, "invalid_credentials");
    }
    caller.login_with(app.member().email(), PASSWORD).await.expect_error(429, "rate_limited");
}

async fn each_address_has_a_count_of_its_own(app: &App) {
    let app = behind_proxy(app).await;
    shut_out(&app, &at(app.anonymous(), "203.0.113.1")).await;
    shut_out(&app, &at(app.anonymous(), "203.0.113.2")).await;
    at(app.member(), "203.0.113.3").login().await.expect(200);
    app.member().login().await.expect(200);
    at(app.member(), "203.0.113.1").login().await.expect_error(429, "rate_limited");
}

async fn an_untrusted_socket_forwards_nothing(app: &App) {
    for n in 0..5 {
        let caller = at(app.anonymous(), &format!("203.0.113.{n}"))
            .with("X-Real-IP", "203.0.113.77")
            .with("Forwarded", "for=203.0.113.77")
            .with("X-Client-IP", "203.0.113.77");
        caller.login_with(app.member().email(), WRONG).await.expect(401);
    }
    at(app.member(), "203.0.113.99").login().await.expect_error(429, "rate_limited");
    app.member().login().await.expect_error(429, "rate_limited");
}

async fn the_rightmost_untrusted_hop_counts(app: &App) {
    let app = behind_proxy(app).await;
    for n in 0..5 {
        let caller = at(app.anonymous(), &format!("198.51.100.{n}, 203.0.113.1, 127.0.0.9"));
        caller.login_with(app.member().email(), WRONG).await.expect(401);
    }
    at(app.member(), "203.0.113.1").login().await.expect_error(429, "rate_limited");
    at(app.member(), "203.0.113.1").with("X-Real-IP", "203.0.113.2").login().await.expect_error(429, "rate_limited");
    at(app.member(), "198.51.100.0").login().await.expect(200);
}

async fn addresses_of_one_ipv6_network_count_as_one(app: &App) {
    let app = behind_proxy(app).await;
    for address in ["2001:db8:1:2::1", "2001:db8:1:2::2", "2001:db8:1:2:ffff::", "2001:db8:1:2:3:4:5:6", "[2001:db8:1:2::9]:443"] {
        at(app.anonymous(), address).login_with(app.member().email(), WRONG).await.expect(401);
    }
    at(app.member(), "2001:db8:1:2:aaaa::1").login().await.expect_error(429, "rate_limited");
    at(app.member(), "2001:db8:1:3::1").login().await.expect(200);
}

async fn a_mapped_address_is_the_ipv4_it_maps(app: &App) {
    let app = behind_proxy(app).await;
    shut_out(&app, &at(app.anonymous(), "::ffff:203.0.113.1")).await;
    at(app.member(), "203.0.113.1").login().await.expect_error(429, "rate_limited");
    at(app.member(), "::ffff:203.0.113.2").login().await.expect(200);
}

/// A key of `acme` with the scope `proxy`.
async fn proxy_key(app: &App) -> String {
    app.org().operators_key(&[Scope::Proxy]).await
}

/// The id of the only key with that scope.
async fn proxy_key_id(admin: &Caller) -> String {
    let key = admin.api_keys().await.into_iter().find(|key| key["scopes"] == json!(["proxy"])).expect("it is listed");
    key["id"].as_str().expect("an id").to_owned()
}

/// Where the caller's session came from, as their list of sessions shows it.
async fn seen_from(caller: &Caller) -> Value {
    let sessions = caller.get("/auth/sessions").await.expect_ok()["sessions"].as_array().expect("a list").clone();
    sessions.iter().find(|session| session["current"] == true).expect("the current one")["ip"].clone()
}

async fn a_proxy_keys_stated_address_counts(app: &App) {
    let key = proxy_key(app).await;
    let from = |ip: &str| app.member().with("X-API-Key", &key).with("X-Client-IP", ip);
    shut_out(app, &from("203.0.113.1")).await;
    let elsewhere = from("203.0.113.2").logged_in().await;
    assert_eq!(seen_from(&elsewhere).await, "203.0.113.2");
    assert_eq!(seen_from(&app.member().logged_in().await).await, SOCKET);
    let six = from("2001:db8:1:2::1");
    shut_out(app, &six).await;
    from("2001:db8:1:2::2").login().await.expect_error(429, "rate_limited");
}

async fn a_stated_address_counts_for_confirmations_too(app: &App) {
    let key = app.org().operators_key(&[Scope::Proxy, Scope::Verify]).await;
    let from = |ip: &str| app.member().with("X-API-Key", &key).with("X-Client-IP", ip);
    let member = from("203.0.113.1").logged_in().await;
    for _ in 0..5 {
        member.change_password(WRONG, "velvet-anchor-93-comet").await.expect_error(401, "wrong_password");
    }
    from("203.0.113.1").login().await.expect_error(429, "rate_limited");
    from("203.0.113.2").login().await.expect(200);
    app.member().login().await.expect(200);
}

async fn a_stated_address_counts_when_the_second_step_completes(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    let key = proxy_key(app).await;
    let from = |ip: &str| app.member().with("X-API-Key", &key).with("X-Client-IP", ip);
    for _ in 0..4 {
        from("203.0.113.1").login_with(app.member().email(), WRONG).await.expect(401);
    }
    let device = from("203.0.113.1").waiting().await;
    device.enter(&authenticator.code(app)).await.expect(200);
    assert_eq!(seen_from(&device).await, "203.0.113.1");
    shut_out(app, &from("203.0.113.1")).await;
}

async fn wrong_codes_from_a_stated_address_lock_nobody_out_elsewhere(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    let key = proxy_key(app).await;
    let proxied = || app.member().with("X-API-Key", &key).with("X-Client-IP", "203.0.113.1");
    for _ in 0..2 {
        let device = proxied().waiting().await;
        for _ in 0..5 {
            device.enter(&authenticator.wrong_code(app)).await.expect_error(401, "second_factor_failed");
        }
    }
    proxied().waiting().await.enter(&authenticator.code(app)).await.expect_error(429, "rate_limited");
    app.member().waiting().await.enter(&authenticator.code(app)).await.expect(200);
}

async fn without_the_right_key_a_stated_address_is_ignored(app: &App) {
    let admin = app.admin().logged_in().await;
    let revoked = proxy_key(app).await;
    admin.delete(&format!("/org/api-keys/{}", proxy_key_id(&admin).await)).await.expect(200);
    let rotated = proxy_key(app).await;
    let soon = json!({ "overlapSeconds": 1_800 });
    admin.post(&format!("/org/api-keys/{}/rotate", proxy_key_id(&admin).await), soon).await.expect(201);
    let foreign = app.other_org().operators_key(&[Scope::Proxy]).await;
    let plain = app.org().operators_key(&[Scope::Verify, Scope::UsersRead, Scope::MembersRead]).await;
    let nonsense = "pk_live_nonsense".to_owned();
    app.advance(40 * 60);
    for key in [revoked, rotated, foreign, plain, nonsense] {
        let caller = app.member().with("X-API-Key", &key).with("X-Client-IP", "203.0.113.1").logged_in().await;
        assert_eq!(seen_from(&caller.elsewhere().logged_in().await).await, SOCKET);
        assert_eq!(seen_from(&caller).await, SOCKET, "{key}");
    }
    let keyless = app.member().with("X-Client-IP", "203.0.113.1").logged_in().await;
    assert_eq!(seen_from(&keyless).await, SOCKET);
}

async fn outside_auth_a_stated_address_is_ignored(app: &App) {
    let key = proxy_key(app).await;
    let admin = app.admin().logged_in().await;
    let token = app.invited(&admin, "nora@acme.example").await;
    let nora = app.anonymous().with("X-API-Key", &key).with("X-Client-IP", "203.0.113.1");
    nora.accept(&token, "Nora").await.expect(200);
    assert_eq!(seen_from(&nora).await, SOCKET);
}

async fn a_stated_address_that_is_none_is_ignored(app: &App) {
    let key = proxy_key(app).await;
    for odd in ["", "nonsense", "203.0.113.1, 203.0.113.2", "203.0.113.300", "203.0.113.1/32"] {
        let caller = app.member().with("X-API-Key", &key).with("X-Client-IP", odd).logged_in().await;
        assert_eq!(seen_from(&caller).await, SOCKET, "{odd}");
    }
    let twice = app.member().with("X-API-Key", &key).with("X-Client-IP", "203.0.113.1").with("X-Client-IP", "203.0.113.2");
    assert_eq!(seen_from(&twice.logged_in().await).await, SOCKET);
}

async fn a_proxy_key_opens_nothing_by_itself(app: &App) {
    let key = proxy_key(app).await;
    let caller = app.anonymous().with("X-API-Key", &key).with("X-Client-IP", "203.0.113.1");
    caller.get("/auth/profile").await.expect_no_session();
    caller.get("/org").await.expect_no_session();
    caller.verify("x").await.expect_error(403, "missing_scope");
}

/// A host forgot to tell the socket's address, as axum does not by itself.
async fn without_an_address_nothing_is_counted_by_it_and_the_log_says_so_once(app: &App) {
    let service = Service::new(&app.auth);
    let login = async |password: &str| {
        let credentials = json!({ "email": app.member().email(), "password": password }).to_string();
        let request =
            http::Request::post("/api/v1/auth/login").header("x-org-slug", "acme").header("content-type", "application/json");
        service.call(request.body(Body::Complete(credentials.into())).expect("a request"), None).await.status()
    };
    for _ in 0..6 {
        assert_eq!(login(WRONG).await, 401);
    }
    assert_eq!(login(PASSWORD).await, 200, "strangers without an address lock nobody out");
    let told = logs::lines_with("the socket's address of a request is not known");
    let [told] = told.as_slice() else { panic!("once in the life of the process: {told:#?}") };
    assert!(told.contains("ERROR") && told.contains("into_make_service_with_connect_info"), "{told}");
}
