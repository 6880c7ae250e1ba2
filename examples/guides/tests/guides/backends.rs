//! The guide for backends: its middlewares are the programs it prints, and do what it says.

use std::{
    io::{Read, Write},
    net::TcpStream,
    process::Command,
};

use tenant_auth_conformance::{
    PASSWORD, Process, ScriptedServer,
    walks::{self, Deployed, between, blocks, pasted},
};

use super::{LISTENS, commands, is_runnable, of_the_repository};

/// The middleware in other languages.
const BACKENDS: [(&str, &str, &str); 2] = [("python", "python3", "tenant_auth.py"), ("ts", "node", "tenant-auth.ts")];

#[test]
fn the_guide_prints_the_backends() {
    for (language, _, name) in BACKENDS {
        let program = std::fs::read_to_string(of_the_repository("examples/guides/backends").join(name)).expect("a program");
        let printed = blocks(&of_the_repository("tenant-auth-core/guides/backends.md"), language);
        assert_eq!(printed, [program], "backends.md does not print {name} as it is");
    }
}

/// Those that can be run here, with what runs them.
fn runnable() -> impl Iterator<Item = (&'static str, &'static str)> {
    BACKENDS
        .into_iter()
        .filter(|(_, interpreter, name)| is_runnable(interpreter, name))
        .map(|(_, interpreter, name)| (interpreter, name))
}

/// What a browser says that opens a page.
const NAVIGATION: &str = "Sec-Fetch-Mode: navigate";

fn backend(interpreter: &str, name: &str, url: &str, key: &str) -> Process {
    // With its log, which one of them writes to stderr.
    let mut command = Command::new("sh");
    command.args(["-c", r#"exec "$0" "$1" 2>&1"#, interpreter]).arg(of_the_repository("examples/guides/backends").join(name));
    command.env("PORT", "0").env("AUTH_URL", url).env("API_KEY", key).env("REACHED_AT", "https://app.example.com");
    Process::start(command.env("PYTHONDONTWRITEBYTECODE", "1"), "http://")
}

/// What a backend answers to a request that begins so and has these headers, as text.
fn answered(process: &Process, request: &str, headers: &[&str]) -> String {
    let mut stream = TcpStream::connect(process.address).expect("it listens");
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    stream.write_all(format!("{request} HTTP/1.0\r\nHost: evil.example\r\n{headers}\r\n").as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

#[track_caller]
fn assert_status(answer: &str, status: &str) {
    assert_eq!(answer.split(' ').nth(1), Some(status), "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn protect_a_backend_in_other_languages() {
    for (interpreter, name) in runnable() {
        let deployed = Deployed::start().await;
        let process = backend(interpreter, name, &deployed.url(), &deployed.api_key);
        walks::remote(&deployed, &process, "/reports").await;
        walks::guarded_by_origin(&deployed, &process, "/reports").await;

        let with_another_key = backend(interpreter, name, &deployed.url(), "pk_live_nobodys");
        walks::set_up_badly(&deployed, &with_another_key, "/reports", 500).await;
        // Nobody listens there.
        let alone = backend(interpreter, name, "http://127.0.0.1:9", &deployed.api_key);
        walks::set_up_badly(&deployed, &alone, "/reports", 503).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fresh_token_that_is_not_live_is_403_in_other_languages() {
    for (interpreter, name) in runnable() {
        let server = ScriptedServer::start(|asked| {
            let (headers, data) = match asked.starts_with("POST /api/v1/public/verify ") {
                true => ("", r#"{"valid":false}"#),
                false => ("Set-Cookie: access_token=next; Path=/\r\n", r#"{"accessToken":"next"}"#),
            };
            let body = format!(r#"{{"status":"success","data":{data}}}"#);
            let length = body.len();
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n";
            Some(format!("{head}{headers}Content-Length: {length}\r\n\r\n{body}").into_bytes())
        })
        .await;
        let process = backend(interpreter, name, &server.url(), "pk_live_any");
        let answer = answered(&process, "GET /reports", &["Cookie: access_token=a; refresh_token=b", NAVIGATION]);
        assert!(answer.split(' ').nth(1) == Some("403") && answer.contains("not_admitted"), "{name}: {answer}");
        assert_eq!(server.asked().len(), 3, "verify, refresh, verify, and never again");
    }
}

/// Routes that set cookies and let caches keep their answers, behind the middlewares: what runs each, the program, and its paths.
const ROUTES: [(&str, &str, &str, &[&str]); 2] = [
    (
        "python3",
        "tenant_auth.py",
        r#"
import os, sys
from wsgiref.simple_server import make_server
sys.path.insert(0, os.environ["BACKENDS"])
from tenant_auth import TenantAuth
SET = [("Set-Cookie", "own=1"), ("Cache-Control", "public, max-age=60"), ("CDN-Cache-Control", "max-age=60"),
       ("Vercel-CDN-Cache-Control", "max-age=60"), ("Surrogate-Control", "max-age=60"), ("X-Own", "yes")]
def reports(environ, start_response):
    start_response("200 OK", SET)
    return [b"Reports"]
server = make_server("127.0.0.1", 0, TenantAuth(reports, os.environ["AUTH_URL"], "acme", "pk_live_any"))
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
"#,
        &["/set"],
    ),
    (
        "node",
        "tenant-auth.ts",
        r#"
const { createServer } = await import("node:http");
const { tenantAuth } = await import(`${process.env.BACKENDS}/tenant-auth.ts`);
const set = { "Set-Cookie": "own=1", "Cache-Control": "public, max-age=60", "CDN-Cache-Control": "max-age=60",
  "Vercel-CDN-Cache-Control": "max-age=60", "Surrogate-Control": "max-age=60", "X-Own": "yes" };
const routes = {
  "/set": (response) => { for (const [name, value] of Object.entries(set)) response.setHeader(name, value); response.end("Reports"); },
  "/head": (response) => response.writeHead(200, set).end("Reports"),
  "/message": (response) => response.writeHead(200, "OK", set).end("Reports"),
  "/flat": (response) => response.writeHead(200, Object.entries(set).flat()).end("Reports"),
  "/pairs": (response) => response.writeHead(200, Object.entries(set)).end("Reports"),
};
const guard = tenantAuth({ url: process.env.AUTH_URL, slug: "acme", apiKey: "pk_live_any" });
const server = createServer((request, response) => void guard(request, response, () => routes[request.url](response)));
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
"#,
        &["/set", "/head", "/message", "/flat", "/pairs"],
    ),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refreshed_session_leaves_with_the_answer_and_no_cache_keeps_it_in_other_languages() {
    for (interpreter, name, program, paths) in ROUTES {
        if !is_runnable(interpreter, name) {
            continue;
        }
        let server = ScriptedServer::start(|asked| {
            let (headers, data) = match asked.starts_with("POST /api/v1/public/verify ") {
                true => ("", r#"{"valid":true,"membership":{"status":"active"}}"#),
                false => {
                    let cookies = "Set-Cookie: access_token=next; Path=/\r\nSet-Cookie: refresh_token=after; Path=/\r\n";
                    (cookies, r#"{"accessToken":"next"}"#)
                }
            };
            let body = format!(r#"{{"status":"success","data":{data}}}"#);
            let length = body.len();
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n";
            Some(format!("{head}{headers}Content-Length: {length}\r\n\r\n{body}").into_bytes())
        })
        .await;
        let mut command = Command::new(interpreter);
        if interpreter == "node" {
            command.arg("--input-type=module");
        }
        let in_line = if interpreter == "node" { "-e" } else { "-c" };
        let backends = of_the_repository("examples/guides/backends").canonicalize().expect("the programs");
        command.args([in_line, program]).env("AUTH_URL", server.url()).env("BACKENDS", backends);
        let process = Process::start(command.env("PYTHONDONTWRITEBYTECODE", "1"), "http://");
        for path in paths {
            let answer = answered(&process, &format!("GET {path}"), &["Cookie: refresh_token=b"]);
            assert_status(&answer, "200");
            let head = answer.to_lowercase();
            for said in ["access_token=next", "refresh_token=after", "own=1", "x-own: yes", "cache-control: no-store"] {
                assert_eq!(head.matches(said).count(), 1, "{name}: {path}: {said}: {answer}");
            }
            for dropped in ["max-age=60", "surrogate-control", "cdn-"] {
                assert!(!head.contains(dropped), "{name}: {path}: {answer}");
            }
            let kept = answered(&process, &format!("GET {path}"), &["Authorization: Bearer next"]);
            assert!(kept.contains("public, max-age=60") && kept.contains("own=1"), "{name}: {path}: {kept}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_is_sent_to_sign_in_from_other_languages() {
    for (interpreter, name) in runnable() {
        let deployed = Deployed::start().await;
        let process = backend(interpreter, name, &deployed.url(), &deployed.api_key);
        let page = format!("{}/sign-in#org=acme", deployed.url());
        let sent = |path: &str, headers: &[&str]| {
            let answer = answered(&process, &format!("GET {path}"), headers);
            assert_status(&answer, "303");
            between(&answer, "Location: ", "\r\n").to_owned()
        };
        let to = |next: &str| format!("{page}&next=https%3A%2F%2Fapp.example.com{next}");
        assert_eq!(sent("/reports?page=2", &[NAVIGATION]), to("%2Freports%3Fpage%3D2"), "{name}");
        assert_eq!(sent("/a%20b/@c", &[NAVIGATION]), to("%2Fa%2520b%2F%40c"), "{name}: as it was written");
        assert_eq!(sent("/a//evil.example", &[NAVIGATION]), to("%2Fa%2F%2Fevil.example"), "{name}: a path is only a path");
        assert_eq!(sent(&format!("/{}", "x".repeat(2_048)), &[NAVIGATION]), page, "{name}: the service would refuse it");
        assert_eq!(sent("http://evil.example/reports", &[NAVIGATION]), page, "{name}: no path");
        for html in ["text/html", "application/xml;q=0.9, TEXT/HTML;q=0.1;level=1", "text/html;charset=utf-8,*/*"] {
            assert_eq!(sent("/reports", &[&format!("Accept: {html}")]), to("%2Freports"), "{name}: {html}");
        }
        let over = answered(&process, "GET /reports", &[NAVIGATION, "Cookie: access_token=x; refresh_token=y"]);
        assert_status(&over, "303");
        assert_eq!(over.matches("=; Path=/; Max-Age=0").count(), 2, "{name}: {over}");

        for (request, headers) in [
            ("GET /reports", &[][..]),
            ("GET /reports", &["Sec-Fetch-Mode: cors", "Accept: text/html"]),
            ("GET /reports", &[NAVIGATION, NAVIGATION]),
            ("GET /reports", &[NAVIGATION, "Authorization: Bearer rubbish"]),
            ("GET /reports", &[NAVIGATION, "Authorization: Bearer"]),
            ("GET /reports", &["Accept: */*"]),
            ("GET /reports", &["Accept: text/html; q=0.0"]),
            ("HEAD /reports", &[NAVIGATION]),
            ("POST /reports", &[NAVIGATION]),
            ("GET /sign-in?a", &[NAVIGATION]),
        ] {
            let answer = answered(&process, request, headers);
            assert_status(&answer, "401");
            assert!(!answer.contains("Location"), "{name}: {request} {headers:?}");
            assert!(answer.contains("WWW-Authenticate: Bearer\r\n"), "{name}: {request} {headers:?}: {answer}");
        }
    }
}

#[test]
fn only_plain_paths_are_for_everybody_in_other_languages() {
    for (interpreter, name) in runnable() {
        // Nobody is asked.
        let process = backend(interpreter, name, "http://127.0.0.1:9", "pk_live_any");
        for path in ["/health", "/health?x", "/assets/", "/assets/a.css", "/assets/.well-known/logo@2x.png"] {
            let answer = answered(&process, &format!("GET {path}"), &["Cookie: access_token=x"]);
            assert_status(&answer, "200");
            assert!(answer.contains("For everybody"), "{name}: {path}");
        }
        for path in [
            "/",
            "/healthy",
            "/health/",
            "/health/../reports",
            "/Health",
            "/x/health",
            "/assets",
            "/assets/..",
            "/assets/../reports",
            "/assets/./reports",
            "/assets//reports",
            "/assets/%2e%2e/reports",
            "/assets/..%2freports",
            "/assets/%252e%252e/reports",
            "/assets/..;/reports",
            "/assets/%00",
            "/reports?/assets/",
        ] {
            let answer = answered(&process, &format!("GET {path}"), &[]);
            assert!(answer.split(' ').nth(1) == Some("401") && !answer.contains("everybody"), "{name}: {path}: {answer}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slug_of_no_organization_is_named_in_the_log_in_other_languages() {
    for (interpreter, name) in runnable() {
        // As the service answers beside a deployment key (behaviour.md, B171), and to a refresh.
        let server = ScriptedServer::start(|_| {
            let body = r#"{"status":"error","code":"unknown_organization","message":"There is no organization with this slug."}"#;
            let head = "HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nConnection: close\r\n";
            Some(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes())
        })
        .await;
        let mut process = backend(interpreter, name, &server.url(), "dk_live_any");
        for cookie in ["Cookie: access_token=a", "Cookie: refresh_token=b"] {
            let answer = answered(&process, "GET /reports", &[NAVIGATION, cookie]);
            assert_status(&answer, "500");
            assert!(!answer.contains("Set-Cookie") && !answer.contains("acme"), "{name}: {answer}");
            process.line_with(r#"knows no organization "acme""#);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_commands_of_backends_can_be_pasted() {
    for (interpreter, name) in runnable() {
        let deployed = Deployed::start().await;
        let process = backend(interpreter, name, &deployed.url(), &deployed.api_key);
        let address = process.address.to_string();
        // One of them answers in HTTP/1.0.
        let replaced = [
            (LISTENS, address.as_str()),
            ("admin@acme.example", deployed.admin_email()),
            ("…", PASSWORD),
            ("curl -i", r"curl -s -o /dev/null -w 'HTTP/1.1 %{http_code}\n'"),
        ];
        let statuses = pasted(&commands("backends.md"), &replaced, &[("AUTH_URL", &deployed.url())]);
        assert_eq!(statuses, [200, 303, 200, 401], "{name}");
    }
}
