//! Two adapters, one service: odd requests, byte for byte the same, get answers that are byte for byte the same, less what belongs to
//! the connection or differs from one answer to the next.

use tenant_auth_conformance::{Adapter, App, Raw, exchange, scenarios};

scenarios![on each database:
    both_adapters_answer_odd_requests_alike,
];

/// Of the connection, or of the moment.
const MOVING: [&str; 6] = ["date", "x-request-id", "connection", "keep-alive", "server", "transfer-encoding"];

/// A request without its end: request line and headers, what follows the head.
type Odd = (String, Vec<u8>);

fn odd(head: &str, body: &[u8]) -> Odd {
    (head.replace('\n', "\r\n"), body.to_vec())
}

/// Lines of a head around a path.
fn get(path: &str) -> Odd {
    odd(&format!("GET {path} HTTP/1.1\nX-Org-Slug: acme\n"), b"")
}

fn post(path: &str, headers: &str, body: &[u8]) -> Odd {
    odd(&format!("POST {path} HTTP/1.1\nX-Org-Slug: acme\nContent-Length: {}\n{headers}", body.len()), body)
}

fn odd_requests(token: &str, key: &str) -> Vec<Odd> {
    let login = "/api/v1/auth/login";
    let json = "Content-Type: application/json\n";
    let bearer = format!("Authorization: Bearer {token}\n");
    let mut requests: Vec<Odd> = [
        "/api/v1",
        "/api/v1/",
        "/api/v1?x",
        "/api/v1//org",
        "/api/v1/org/",
        "/api/v1/org;x=1",
        "/api/v1/%6Frg",
        "/api/v1/org%2Fmembers",
        "/api/v1/org/members/%",
        "/api/v1/org/members/%zz",
        "/api/v1/org/members/%FF",
        "/api/v1/org/members/%00",
        "/api/v1/org/members/%2E%2E",
        "/api/v1/org/../org",
        "/api/v1/./org",
        "/api/v1/org?limit=%FF&&==",
        "/api/v1/org/members?limit=0",
        "/api/v1/nowhere",
        "/api/v1/auth/login",
        "/api/v1/.well-known/jwks.json",
        "/api/v1/org/invites/a/b/c",
        "/api/v1/org/members/a+b%20c",
        "/api/v1/org/webhooks/%00/deliveries/%2F/redeliver",
        "/api/v1/org/webhooks/a/deliveries/b/c",
        "/api/v1/public/verify",
    ]
    .into_iter()
    .map(get)
    .collect();
    for path in [
        "/api/v1/org",
        "/api/v1/org/members",
        "/api/v1/org/members?limit=1001",
        "/api/v1/org/invites",
        "/api/v1/org/webhooks",
        "/api/v1/auth/profile",
    ] {
        requests.push(odd(&format!("GET {path} HTTP/1.1\nX-Org-Slug: acme\n{bearer}"), b""));
        requests.push(odd(&format!("HEAD {path} HTTP/1.1\nX-Org-Slug: acme\n{bearer}"), b""));
        requests.push(odd(&format!("GET {path} HTTP/1.0\nX-Org-Slug: acme\n{bearer}"), b""));
    }
    requests.extend([
        odd("HEAD /api/v1/nowhere HTTP/1.1\n", b""),
        odd("HEAD /api/v1/auth/login HTTP/1.1\n", b""),
        odd("HEAD /api/v1/.well-known/jwks.json HTTP/1.1\n", b""),
        odd("GET http://auth.example.com/api/v1/org HTTP/1.1\nX-Org-Slug: acme\n", b""),
        odd("get /api/v1/org HTTP/1.1\nX-Org-Slug: acme\n", b""),
        odd("PROPFIND /api/v1/org HTTP/1.1\nX-Org-Slug: acme\n", b""),
        odd("TRACE /api/v1/org HTTP/1.1\nX-Org-Slug: acme\n", b""),
        odd("OPTIONS /api/v1/org HTTP/1.1\n", b""),
        odd("OPTIONS /api/v1/org HTTP/1.1\nOrigin: https://app.acme.example\nAccess-Control-Request-Method: PATCH\n", b""),
        odd("OPTIONS /api/v1/org HTTP/1.1\nOrigin: https://evil.example\nAccess-Control-Request-Method: PATCH\n", b""),
        odd("OPTIONS /api/v1/nowhere HTTP/1.1\nOrigin: https://app.acme.example\nAccess-Control-Request-Method: GET\n", b""),
        odd("DELETE /api/v1/org HTTP/1.1\nX-Org-Slug: acme\n", b""),
        odd("GET /api/v1/org HTTP/1.1\nX-Org-Slug: acme\nX-Org-Slug: acme\n", b""),
        odd("GET /api/v1/org HTTP/1.1\nX-Org-Slug: acme, acme\n", b""),
        odd("GET /api/v1/org HTTP/1.1\nX-Org-Slug:\n", b""),
        odd("GET /api/v1/org HTTP/1.1\nx-oRG-sLUG:acme\n", b""),
        odd("GET /api/v1/org HTTP/1.1\nX-Org-Slug: acm\u{e9}\n", b""),
        odd(&format!("GET /api/v1/org HTTP/1.1\nX-Org-Slug: acme\n{bearer}{bearer}"), b""),
        odd(&format!("GET /api/v1/org HTTP/1.1\nX-Org-Slug: acme\nCookie: access_token={token}; access_token=x\n"), b""),
        odd(&format!("GET /api/v1/org HTTP/1.1\nX-Org-Slug: acme\nCookie: access_token={token}\nCookie: access_token=x\n"), b""),
        odd(&format!("GET /api/v1/org HTTP/1.1\nX-Org-Slug: acme\nCookie: a=1\nCookie: access_token={token}\n"), b""),
        odd(&format!("GET /api/v1/org HTTP/1.1\nX-Org-Slug: acme\nOrigin: https://app.acme.example\n{bearer}"), b""),
        odd(&format!("GET /api/v1/org HTTP/1.1\nX-Org-Slug: acme\nContent-Length: 3\n{bearer}"), b"{{{"),
        odd(&format!("GET /api/v1/public/members HTTP/1.1\nX-Org-Slug: acme\nX-API-Key: {key}\n"), b""),
        odd(&format!("GET /api/v1/public/members HTTP/1.1\nX-Org-Slug: acme\nX-API-Key: {key}\nX-API-Key: {key}\n"), b""),
        odd(&format!("GET /api/v1/public/members HTTP/1.1\nX-Org-Slug: globex\nX-API-Key: {key}\n"), b""),
        post(login, json, b"{}"),
        post(login, json, b""),
        post(login, "", b""),
        post(login, "", b"{}"),
        post(login, json, b"{"),
        post(login, json, b"[1,2]"),
        post(login, json, b"{\"email\":\"\xff\"}"),
        post(login, json, br#"{"email":"max@acme.example","email":"x","password":"y"}"#),
        post(login, json, br#"{"email":"max@acme.example","password":"wrong-one"}"#),
        post(login, "Content-Type: text/plain\n", b"{}"),
        post(login, "Content-Type: application/json\nContent-Type: text/plain\n", b"{}"),
        post(login, "Content-Type: application/json; charset=latin1\n", b"{}"),
        post(login, "Content-Type: application/json\nContent-Encoding: gzip\n", b"{}"),
        post(login, "Content-Type: application/json\nContent-Encoding: \n", b"{}"),
        post(login, "Content-Type: application/json\nExpect: 100-continue\n", b"{}"),
        post(login, "Content-Type: application/json\nOrigin: null\n", b"{}"),
        post(login, "Content-Type: application/json\nSec-Fetch-Site: cross-site\n", b"{}"),
        post(login, json, &vec![b' '; 64 * 1024]),
        post(login, json, &vec![b' '; 64 * 1024 + 1]),
        post(login, json, &vec![b'x'; 1024 * 1024]),
        odd(
            &format!("POST {login} HTTP/1.1\nX-Org-Slug: acme\nTransfer-Encoding: chunked\n{json}"),
            b"2;ext=1\r\n{}\r\n0\r\nTrailer: x\r\n\r\n",
        ),
        odd(&format!("POST {login} HTTP/1.1\nX-Org-Slug: acme\nTransfer-Encoding: chunked\n{json}"), b"0\r\n\r\n"),
        odd(&format!("POST {login} HTTP/1.1\nX-Org-Slug: acme\n{json}"), b""),
        post("/api/v1/auth/refresh", json, b"{"),
        post("/api/v1/auth/logout", "", b""),
        post("/api/v1/auth/logout", "", b"x"),
        post("/api/v1/org/invites/x%2Fy/accept", json, b"{}"),
        post("/api/v1/org/invites/%00/accept", "", b""),
        post("/api/v1/public/verify", &format!("X-API-Key: {key}\n{json}"), br#"{"token":"x"}"#),
        post("/api/v1/public/verify", &format!("X-API-Key: {key}\n{json}"), b"{\"token\":\"\\u0000\"}"),
    ]);
    requests
}

async fn both_adapters_answer_odd_requests_alike(app: &App) {
    let twin = app.served_by(Adapter::Actix);
    let token = app.member().logged_in().await.access_token();
    let mut different = Vec::new();
    for (head, body) in odd_requests(&token, app.org().api_key()) {
        let full = format!("{head}Host: auth.example.com\r\nConnection: close\r\n\r\n");
        // The header with a character beyond ASCII is meant as one byte.
        let bytes: Vec<u8> = full.chars().map(|c| u8::try_from(u32::from(c)).expect("Latin-1")).collect();
        let headless = head.starts_with("HEAD");
        let one = exchange(app.address(), &bytes, &body, headless).await.map(comparable);
        let two = exchange(twin.address(), &bytes, &body, headless).await.map(comparable);
        if one != two {
            different.push(format!("{}\n  axum:  {one:?}\n  actix: {two:?}", head.lines().next().unwrap_or_default()));
        }
        assert!(one.as_ref().is_ok_and(|answer| answer.0 < 500), "{head}: {one:?}");
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

fn comparable(raw: Raw) -> (u16, Vec<(String, String)>, String) {
    let mut headers: Vec<(String, String)> = raw.headers.into_iter().map(|(name, value)| (name.to_lowercase(), value)).collect();
    headers.retain(|(name, _)| !MOVING.contains(&name.as_str()));
    headers.sort();
    (raw.status, headers, String::from_utf8_lossy(&raw.body).into_owned())
}
