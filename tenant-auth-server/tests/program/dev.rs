//! `dev` keeps its promise: nothing to set up, and what it prints works when pasted.

use std::{
    io::Write,
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{
    Program, error,
    running::{DEADLINE, Running},
};

fn started(program: &Program) -> Running {
    Running::start(program, &["dev", "--listen", "127.0.0.1:0"])
}

/// The lines from the first command on.
fn commands(printed: &str) -> &str {
    printed
        .split_once("one shell:\n")
        .map_or("", |(_, rest)| rest)
        .split_once("\ntenant-auth-server ")
        .map_or("", |(lines, _)| lines)
}

#[test]
fn the_printed_lines_work_in_one_shell_again_and_again() {
    let program = Program::without_settings();
    let dev = started(&program);
    let twice = commands(&dev.printed).repeat(2);
    for name in ["sh", "bash"] {
        let mut shell = Command::new(name);
        let output = shell.args(["-eu", "-c", &twice]).stdin(Stdio::null()).current_dir(program.path()).output();
        let output = output.expect("the shell runs");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said}{}{}", String::from_utf8_lossy(&output.stderr), dev.log());
        for told in ["\"valid\":true", "\"refreshToken\":\""] {
            assert_eq!(said.matches(told).count(), 2, "{told}: {said}\n{}", dev.log());
        }
        assert!(!said.contains("\"error\""), "{said}");
    }
}

#[test]
fn the_next_start_prints_the_same_credentials_from_a_private_file() {
    let program = Program::without_settings();
    let credentials = |printed: &str| {
        let kept = |line: &&str| ["  Password ", "  API key "].iter().any(|name| line.starts_with(name));
        printed.lines().filter(kept).map(str::to_owned).collect::<Vec<_>>()
    };
    let first = started(&program);
    let mut second = started(&program);
    assert_eq!(credentials(&first.printed), credentials(&second.printed));
    assert_eq!(credentials(&first.printed).len(), 2);
    for file in ["tenant-auth-dev.json", "tenant-auth-dev.db"] {
        let mode = program.path().join(file).metadata().expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    second.terminate();
    assert!(second.ended().success());

    std::fs::remove_file(program.path().join("tenant-auth-dev.json")).expect("it can be removed");
    assert!(error(&program.run(&["dev", "--listen", "127.0.0.1:0"])).contains("start afresh"));
}

#[test]
fn mails_are_shown_as_text_to_this_machine_only() {
    let program = Program::without_settings();
    let dev = started(&program);
    let (status, page) = dev.get("/dev/mail");
    assert_eq!(status, 200);
    assert!(page.to_lowercase().contains("content-security-policy: default-src 'none'"), "{page}");
    let port = dev.address.rsplit(':').next().unwrap_or_default().to_owned();
    let mut stream = dev.connect();
    let request = format!("GET /dev/mail.json HTTP/1.1\r\nHost: evil.example:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("it reads");
    assert_eq!(crate::running::answer(stream).0, 403);
}

#[test]
fn the_panel_is_at_the_printed_address_with_a_ready_sign_in() {
    let program = Program::without_settings();
    let dev = started(&program);
    let line = dev.printed.lines().find(|line| line.starts_with("  Panel ")).expect("the panel's address");
    assert!(line.ends_with(&format!("http://{}/sign-in#org=acme&email=admin@acme.example", dev.address)), "{line}");
    let (status, page) = dev.get("/sign-in");
    assert!(status == 200 && page.to_lowercase().contains("content-type: text/html"), "{page}");
    assert_eq!(dev.get("/").0, 200, "the panel itself");
}

#[test]
fn it_listens_on_loopback_only_and_says_when_the_port_is_taken() {
    let program = Program::without_settings();
    assert!(error(&program.run(&["dev", "--listen", "0.0.0.0:0"])).contains("loopback"));
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("bound").to_string();
    let said = error(&program.run(&["dev", "--listen", &address]));
    assert!(said.contains("in use") && said.contains("--listen"), "{said}");
    assert!(!program.path().join("tenant-auth-dev.db").exists(), "nothing is made in vain");
}

/// Sends JSON with these headers, each a whole line.
fn post(dev: &Running, path: &str, headers: &str, body: &serde_json::Value) -> (u16, serde_json::Value) {
    data_of(sent(dev, path, headers, body))
}

/// The same, with the answer as it came.
fn sent(dev: &Running, path: &str, headers: &str, body: &serde_json::Value) -> (u16, String) {
    let (address, body) = (&dev.address, body.to_string());
    let length = body.len();
    let mut stream = dev.connect();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\n{headers}Content-Type: application/json\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).expect("it reads");
    crate::running::answer(stream)
}

fn list(dev: &Running, path: &str) -> serde_json::Value {
    data_of(dev.get(path)).1
}

/// The status and the body of an answer with its head.
fn data_of((status, answer): (u16, String)) -> (u16, serde_json::Value) {
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    (status, serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}")))
}

/// What stands behind a name in the printed credentials.
fn printed<'a>(dev: &'a Running, name: &str) -> &'a str {
    dev.printed.lines().find_map(|line| line.trim().strip_prefix(name)).unwrap_or_else(|| panic!("no {name}")).trim()
}

/// Everything of it that a GET reaches.
pub(crate) const PAGES: [&str; 8] = [
    "/dev",
    "/dev/mail",
    "/dev/mail.json",
    "/dev/clock",
    "/dev/webhooks",
    "/dev/webhooks.json",
    "/dev/requests",
    "/dev/requests.json",
];

const ORG: &str = "X-Org-Slug: acme\r\n";

fn logged_in(dev: &Running) -> String {
    let login = json!({ "email": printed(dev, "Admin"), "password": printed(dev, "Password") });
    let (status, answer) = post(dev, "/api/v1/auth/login", ORG, &login);
    assert_eq!(status, 200, "{answer}");
    answer["data"]["accessToken"].as_str().expect("a token").to_owned()
}

/// Asks until it is so; deliveries come a moment after what caused them.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn the_clock_goes_forward_and_everything_follows_it() {
    let program = Program::without_settings();
    let dev = started(&program);
    let key = format!("{ORG}X-API-Key: {}\r\n", printed(&dev, "API key"));
    let token = json!({ "token": logged_in(&dev) });
    let is_valid = || post(&dev, "/api/v1/public/verify", &key, &token).1["data"]["valid"].as_bool();
    assert_eq!(is_valid(), Some(true));
    for bad in [json!({}), json!({ "advance": "-8d" }), json!({ "advance": "8" }), json!({ "advance": "4000d" })] {
        let (status, answer) = post(&dev, "/dev/clock", "", &bad);
        assert_eq!((status, &answer["code"]), (400, &json!("invalid_request")), "{answer}");
        assert!(answer["message"].as_str().is_some_and(|message| message.starts_with("advance: ")), "{answer}");
    }
    assert_eq!((is_valid(), &list(&dev, "/dev/clock")["data"]["advancedBySeconds"]), (Some(true), &json!(0)), "nothing moved");
    let (status, moved) = post(&dev, "/dev/clock", "", &json!({ "advance": "1d" }));
    assert_eq!((status, &moved["data"]["advancedBySeconds"]), (200, &json!(86_400)));
    assert_eq!(is_valid(), Some(false), "the token has expired");
    logged_in(&dev);
}

#[test]
fn the_receiver_gets_the_demo_organizations_deliveries_and_judges_their_signatures() {
    let program = Program::without_settings();
    let dev = started(&program);
    let bearer = format!("{ORG}Authorization: Bearer {}\r\n", logged_in(&dev));
    let (status, answer) = post(&dev, "/api/v1/org/members/invite", &bearer, &json!({ "email": "guest@example.com" }));
    assert_eq!(status, 201, "{answer}");
    let deliveries = |dev: &Running| list(dev, "/dev/webhooks.json")["data"]["deliveries"].clone();
    let is_told = |dev: &Running, signature: &str| {
        let all = deliveries(dev);
        all.as_array().expect("a list").iter().any(|one| one["body"]["type"] == "invite.created" && one["signature"] == signature)
    };
    until("the invite is delivered", || is_told(&dev, "valid"));
    let forged = json!({ "type": "invite.created", "data": "</pre><script>" });
    let signed = "webhook-id: evt_1\r\nwebhook-timestamp: 1\r\nwebhook-signature: v1,bm9uZQ==\r\n";
    assert_eq!(post(&dev, "/dev/webhooks", signed, &forged).0, 400);
    assert!(is_told(&dev, "the delivery's timestamp is missing, malformed or too far from now"), "{}", deliveries(&dev));
    assert!(!dev.get("/dev/webhooks").1.contains("<script>"), "shown as text");
    drop(dev);

    let again = started(&program);
    let bearer = format!("{ORG}Authorization: Bearer {}\r\n", logged_in(&again));
    post(&again, "/api/v1/org/members/invite", &bearer, &json!({ "email": "another@example.com" }));
    until("the receiver has moved to the other port", || is_told(&again, "valid"));
    let of_length = |length: usize| json!("x".repeat(length - 2)); // and its quotes
    assert_eq!(sent(&again, "/dev/webhooks", "", &of_length(64 * 1024)).0, 400, "the longest, without a signature");
    assert_eq!(sent(&again, "/dev/webhooks", "", &of_length(64 * 1024 + 1)).0, 413, "a longer one is not kept");
    drop(again);

    let refusing = program.with("WEBHOOK_ALLOW_PRIVATE_NETWORKS", "false");
    let dev = started(&refusing);
    assert!(dev.log().contains("the receiver of /dev/webhooks is not subscribed"), "{}", dev.log());
}

#[test]
fn a_refusal_is_explained_without_a_secret() {
    let program = Program::without_settings();
    let dev = started(&program);
    let (password, key) = (printed(&dev, "Password").to_owned(), printed(&dev, "API key").to_owned());
    let token = logged_in(&dev);
    let bearer = format!("X-Org-Slug: other\r\nAuthorization: Bearer {token}\r\nX-API-Key: {key}\r\n");
    let wrong = json!({ "email": "admin@acme.example", "password": password, "token": token });
    post(&dev, "/api/v1/auth/login", "Origin: https://evil.example\r\nX-Org-Slug: acme\r\n", &wrong);
    post(&dev, "/api/v1/public/verify", &bearer, &wrong);
    post(&dev, &format!("/api/v1/org/invites/{token}/accept?{token}={token}"), ORG, &json!({}));
    let requests = list(&dev, "/dev/requests.json")["data"]["requests"].clone();
    let explained = |code: &str| {
        let all = requests.as_array().expect("a list");
        all.iter().find(|one| one["refusal"]["code"] == code).unwrap_or_else(|| panic!("{code}: {requests}"))["refusal"].clone()
    };
    assert_eq!(explained("forbidden_origin")["saw"], "Origin: https://evil.example");
    assert_eq!(explained("forbidden_origin")["check"], "the browser's origin");
    let saw = explained("invalid_api_key")["saw"].as_str().expect("a text").to_owned();
    assert!(saw.starts_with("an API key of ") && saw.ends_with("X-Org-Slug: other"), "{saw}");
    assert!(explained("invalid_api_key")["wouldPass"].as_str().is_some_and(|text| text.contains("live key")));
    let shown = format!("{requests}{}", dev.get("/dev/requests").1);
    for secret in [&password, &key, &token] {
        assert!(!shown.contains(secret.as_str()), "a secret is kept: {shown}");
    }
}

#[test]
fn other_sites_reach_none_of_its_pages() {
    let program = Program::without_settings();
    let dev = started(&program);
    for path in PAGES {
        assert_eq!(dev.get(path).0, 200, "{path}");
        let mut stream = dev.connect();
        let request = format!("GET {path} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("it reads");
        assert_eq!(crate::running::answer(stream).0, 403, "{path}");
    }
    for path in ["/dev/clock", "/dev/webhooks"] {
        let (mut stream, body) = (dev.connect(), r#"{"advance":"8d"}"#);
        let (address, length) = (&dev.address, body.len());
        let head = format!("POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n");
        stream.write_all(format!("{head}Connection: close\r\n\r\n{body}").as_bytes()).expect("it reads");
        assert_eq!(crate::running::answer(stream).0, 415, "{path}: what a page of another site can send");
    }
    assert_eq!(list(&dev, "/dev/clock")["data"]["advancedBySeconds"], 0);
}

/// What a page links to of its own server.
fn links_of(page: &str) -> Vec<String> {
    page.split("href=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .filter(|link| link.starts_with('/'))
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_link_of_its_pages_leads_somewhere() {
    for path in ["", "/base"] {
        let program = Program::without_settings().with("PUBLIC_URL", &format!("http://localhost:8080{path}/"));
        let dev = started(&program);
        let (status, answer) = post(&dev, &format!("{path}/api/v1/nowhere"), ORG, &json!({}));
        assert_eq!(status, 404, "{answer}");
        let told = list(&dev, "/dev/requests.json").to_string();
        assert!(told.contains(&format!("a path of {path}/api/v1/docs,")), "{told}");
        for page in ["/dev", "/dev/mail", "/dev/webhooks", "/dev/requests"] {
            let (status, shown) = dev.get(page);
            let links = links_of(&shown);
            assert!(status == 200 && links.len() >= 6, "{page}: {links:?}");
            for link in links {
                assert_eq!(dev.get(&link).0, 200, "{link} of {page} below {path:?}");
            }
        }
        for name in ["Mails", "To try out"] {
            let (_, at) = printed(&dev, name).rsplit_once(dev.address.as_str()).expect("an address of this machine");
            assert_eq!(dev.get(at).0, 200, "{name}");
        }
    }
}

#[test]
fn the_settings_count_as_they_do_for_the_server() {
    let listen = "127.0.0.1:0";
    let program =
        Program::without_settings().with("LISTEN", listen).with("PASSWORD_MIN_SCORE", "4").with("DATABASE_URL", "sqlite:other.db");
    let dev = Running::start(&program, &["dev"]);
    assert!(dev.log().contains("TENANT_AUTH_DATABASE_URL has no effect on 'dev'"), "{}", dev.log());
    assert!(!program.path().join("other.db").exists());
    let bearer = format!("{ORG}Authorization: Bearer {}\r\n", logged_in(&dev));
    let change = json!({ "currentPassword": printed(&dev, "Password"), "newPassword": "purplecarpet" });
    let (status, answer) = post(&dev, "/api/v1/auth/change-password", &bearer, &change);
    assert_eq!((status, &answer["code"]), (400, &json!("weak_password")), "{answer}");
    assert!(answer["message"].as_str().is_some_and(|message| message.contains("harder to guess")), "{answer}");
    drop(dev);
    let wrong = Program::without_settings().with("SESSION_TTL", "soon");
    assert!(error(&wrong.run(&["dev", "--listen", listen])).contains("TENANT_AUTH_SESSION_TTL"));
    let beyond = Program::without_settings().with("LISTEN", "0.0.0.0:0");
    assert!(error(&beyond.run(&["dev"])).contains("loopback"));
}
