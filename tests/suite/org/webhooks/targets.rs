//! SSRF protection of webhooks: an admin who chooses the URL lets our server call it from inside the operator's network. The URL is
//! judged when it is chosen and again before each attempt, and every refusal has the same words.

use std::net::IpAddr;

use serde_json::{Value, json};
use tenant_auth_conformance::{App, scenarios};

use crate::suite::support::hooks::{Hook, RECEIVER, hooking};

scenarios![
    a_bad_target_is_refused_with_one_message,
    a_public_target_is_taken_and_written_normally,
    a_url_is_required,
    the_ports_are_a_setting,
    private_networks_are_allowed_by_a_setting,
    a_name_that_moved_to_a_private_address_is_blocked_until_it_is_back,
    a_name_with_one_private_address_is_blocked,
    an_attempt_may_only_connect_to_the_vetted_addresses,
    a_name_without_addresses_is_unreachable,
];

/// What must not be called, in the spellings of those who try.
const BAD: [&str; 62] = [
    "http://hooks.example.com/",
    "HTTP://hooks.example.com/",
    "ftp://hooks.example.com/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "data:,x",
    "not a url",
    "",
    "/in",
    "//hooks.example.com/",
    "hooks.example.com",
    "https://",
    "https://hooks.example.com:80/",
    "https://hooks.example.com:444/",
    "https://hooks.example.com:0/",
    "https://hooks.example.com:65536/",
    "https://hooks.example.com:22/",
    "https://user@hooks.example.com/",
    "https://user:password@hooks.example.com/",
    "https://:password@hooks.example.com/",
    "https://hooks.example.com/#fragment",
    "https://hooks.example.com/#",
    "https://hooks.example.com/\tin",
    " https://hooks.example.com/",
    "https://hooks.example.com/\n",
    "https://hooks.example.com/a b",
    "https://127.0.0.1/",
    "https://127.1/",
    "https://127.255.255.254:8443/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0x7f.1/",
    "https://0177.0.0.1/",
    "https://１２７.0.0.1/",
    "https://127。0。0。1/",
    "https://0/",
    "https://0.0.0.0/",
    "https://10.0.0.1/",
    "https://172.16.0.1/",
    "https://192.168.0.1/",
    "https://100.64.0.1/",
    "https://169.254.169.254/latest/meta-data",
    "https://198.18.0.1/",
    "https://224.0.0.1/",
    "https://255.255.255.255/",
    "https://[::1]/",
    "https://[::]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:a00:1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[2002:7f00:1::]/",
    "https://[2001:0:7f00:1::]/",
    "https://[fe80::1]/",
    "https://[fd00:ec2::254]/",
    "https://[fc00::1]/",
    "https://localhost/",
    "https://LOCALHOST/",
    "https://localhost./",
    "https://app.localhost:8443/",
    "https://private.example.com/",
    "https://mixed.example.com/",
    "https://no-such-name.example.com/",
];

fn address(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

async fn a_bad_target_is_refused_with_one_message(app: &App) {
    let admin = app.admin().logged_in().await;
    app.resolver.answer("private.example.com", [address("10.1.2.3")]);
    app.resolver.answer("mixed.example.com", [address("93.184.215.14"), address("::1")]);
    let hook = Hook::new(&admin, RECEIVER, &["*"]).await;
    let reference = hooking(&admin, "http://hooks.example.com/", &["*"]).await.expect_invalid("url").body;
    let long = format!("https://hooks.example.com/{}", "x".repeat(2_048 - 25));
    let grows = format!("https://hooks.example.com/{}", "ü".repeat(500));
    for bad in BAD.into_iter().chain([long.as_str(), grows.as_str()]) {
        let made = hooking(&admin, bad, &["*"]).await;
        assert_eq!((made.status, &made.body), (400, &reference), "{bad}");
        let moved = admin.patch(&hook.path(), json!({ "url": bad })).await;
        assert_eq!((moved.status, &moved.body), (400, &reference), "{bad}");
    }
    assert_eq!(admin.get("/org/webhooks").await.expect_ok()["webhooks"], json!([hook.shown(&admin).await]));
    assert_eq!(hook.shown(&admin).await["url"], RECEIVER);
}

async fn a_public_target_is_taken_and_written_normally(app: &App) {
    let admin = app.admin().logged_in().await;
    let longest = format!("https://hooks.example.com/{}", "x".repeat(2_048 - 26));
    for (given, shown) in [
        ("https://hooks.example.com", "https://hooks.example.com/"),
        ("HTTPS://Hooks.Example.COM:443/In?a=B", "https://hooks.example.com/In?a=B"),
        ("https://hooks.example.com:8443/in", "https://hooks.example.com:8443/in"),
        ("https://hooks.example.com/a/../b", "https://hooks.example.com/b"),
        ("https://hooks.example.com/ü", "https://hooks.example.com/%C3%BC"),
        ("https://93.184.215.14/", "https://93.184.215.14/"),
        ("https://[2606:2800:21f::1]/", "https://[2606:2800:21f::1]/"),
        (&longest, &longest),
    ] {
        assert_eq!(hooking(&admin, given, &["*"]).await.expect(201).data()["webhook"]["url"], shown);
    }
}

async fn a_url_is_required(app: &App) {
    let admin = app.admin().logged_in().await;
    admin.post("/org/webhooks", json!({ "events": ["*"] })).await.expect_invalid("url");
    for bad in [json!(null), json!(5), json!([RECEIVER]), json!({}), json!("https://hooks.example.com/\0")] {
        admin.post("/org/webhooks", json!({ "url": bad, "events": ["*"] })).await.expect_invalid("url");
    }
}

async fn the_ports_are_a_setting(app: &App) {
    let own = app.beside(|setup| setup.config.webhooks.ports = vec![9_443]).await;
    let admin = own.admin().logged_in().await;
    hooking(&admin, RECEIVER, &["*"]).await.expect_invalid("9443");
    let hook = Hook::new(&admin, "https://hooks.example.com:9443/in", &["*"]).await;
    hook.test(&admin).await;
    own.tick().await;
    assert_eq!(hook.sent(&own).len(), 1);
    own.advance(1);
    hook.test(&admin).await;
    app.tick().await;
    assert_eq!(hook.sent(app).len(), 1, "whoever no longer allows the port does not call it");
    assert_eq!(hook.log(&admin).await[1]["lastError"], "blocked");
}

async fn private_networks_are_allowed_by_a_setting(app: &App) {
    let own = app.beside(|setup| setup.config.webhooks.allow_private_networks = true).await;
    let admin = own.admin().logged_in().await;
    for bad in ["http://169.254.169.254/", "http://0.0.0.0/", "http://224.0.0.1/", "http://[fe80::1]/", "http://u@10.0.0.1/"] {
        hooking(&admin, bad, &["*"]).await.expect_invalid("url");
    }
    for good in ["http://127.0.0.1:9999/in", "http://[::1]:1/", "https://10.0.0.1/", "http://192.168.1.1:8080/"] {
        let hook = Hook::new(&admin, good, &["*"]).await;
        hook.test(&admin).await;
        own.tick().await;
        assert_eq!(hook.sent(&own).len(), 1, "{good}");
    }
}

/// The name moves after the webhook was made: what matters is where it leads when something is sent.
async fn a_name_that_moved_to_a_private_address_is_blocked_until_it_is_back(app: &App) {
    let admin = app.admin().logged_in().await;
    for moved in ["93.184.215.14", "127.0.0.1", "169.254.169.254", "::ffff:10.0.0.1", "93.184.215.15"] {
        app.resolver.answer("moving.example.com", [address(moved)]);
    }
    let hook = Hook::new(&admin, "https://moving.example.com/in", &["org.updated"]).await;
    hook.test(&admin).await;
    for attempts in 1..=3 {
        app.tick().await;
        let delivery = hook.delivery(&app.admin().logged_in().await).await;
        assert_eq!((&delivery["lastError"], &delivery["attempts"]), (&"blocked".into(), &attempts.into()), "{delivery}");
        assert_eq!((&delivery["status"], &delivery["lastStatusCode"]), (&"pending".into(), &Value::Null));
        assert!(app.webhooks.sent().is_empty(), "nothing connects");
        app.advance(2_400);
    }
    app.tick().await;
    let delivery = hook.delivery(&app.admin().logged_in().await).await;
    assert_eq!((&delivery["status"], &delivery["lastError"]), (&"succeeded".into(), &Value::Null));
    assert_eq!(hook.sent(app)[0].addresses, ["93.184.215.15:443".parse().expect("an address")]);
}

async fn a_name_with_one_private_address_is_blocked(app: &App) {
    let admin = app.admin().logged_in().await;
    app.resolver.answer("moving.example.com", [address("93.184.215.14")]);
    app.resolver.answer("moving.example.com", [address("93.184.215.14"), address("192.168.0.1")]);
    let hook = Hook::new(&admin, "https://moving.example.com/in", &["org.updated"]).await;
    hook.test(&admin).await;
    app.tick().await;
    assert_eq!(hook.delivery(&admin).await["lastError"], "blocked");
    assert!(app.webhooks.sent().is_empty());
}

async fn an_attempt_may_only_connect_to_the_vetted_addresses(app: &App) {
    let admin = app.admin().logged_in().await;
    app.resolver.answer("wide.example.com", [address("93.184.215.14"), address("2606:2800:21f::1")]);
    for (url, expected) in [
        ("https://wide.example.com:8443/in", vec!["93.184.215.14:8443", "[2606:2800:21f::1]:8443"]),
        ("https://93.184.215.99/in", vec!["93.184.215.99:443"]),
    ] {
        let hook = Hook::new(&admin, url, &["org.updated"]).await;
        hook.test(&admin).await;
        app.tick().await;
        let addresses: Vec<String> = hook.sent(app)[0].addresses.iter().map(ToString::to_string).collect();
        assert_eq!(addresses, expected);
        assert_eq!(hook.sent(app)[0].timeout, app.config.webhooks.timeout);
    }
}

async fn a_name_without_addresses_is_unreachable(app: &App) {
    let admin = app.admin().logged_in().await;
    app.resolver.answer("moving.example.com", [address("93.184.215.14")]);
    app.resolver.answer("moving.example.com", []);
    app.resolver.answer("moving.example.com", [address("93.184.215.14")]);
    let hook = Hook::new(&admin, "https://moving.example.com/", &["org.updated"]).await;
    hook.test(&admin).await;
    app.tick().await;
    assert_eq!(hook.delivery(&admin).await["lastError"], "unreachable");
    assert!(app.webhooks.sent().is_empty());
    app.advance(6);
    app.tick().await;
    assert_eq!(hook.delivery(&admin).await["status"], "succeeded");
}
