//! The service as strangers reach it: whatever they send, the answer is one of ours, and only the genuine opens anything.

use std::net::IpAddr;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use ipnet::IpNet;
use serde_json::Value;
use tenant_auth_core::{
    Verification,
    http::{AnswerBody, Body, Service},
    model::Scope,
    testing::{TestAuth, internals::client_address},
};
use tokio::runtime::Runtime;

use super::{Attack, Target, kind, size};

/// Stands for the genuine token or key in an input.
const GENUINE: &str = "$T";

/// A service with a session, on a runtime of its own.
struct Scene {
    runtime: Runtime,
    test: TestAuth,
    service: Service,
    token: String,
}

/// What the service answered.
struct Answer {
    status: u16,
    body: Value,
}

impl Scene {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let (test, token) = runtime.block_on(async {
            let test = TestAuth::new().await;
            let token = test.login(&test.admin).await.access.expose().to_owned();
            (test, token)
        });
        let service = Service::new(&test.auth);
        Self { runtime, test, service, token }
    }

    /// The input with the genuine token in its places.
    fn told(&self, input: &[u8]) -> String {
        String::from_utf8_lossy(input).replace(GENUINE, &self.token)
    }

    /// `None` when it is no HTTP request.
    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Option<Answer> {
        let uri = format!("{}{path}", self.service.base_path());
        let mut request = http::Request::builder().method(Method::from_bytes(method.as_bytes()).ok()?).uri(uri);
        for (name, value) in headers {
            let name = HeaderName::from_bytes(name.trim().as_bytes()).ok()?;
            request = request.header(name, HeaderValue::from_bytes(value.trim().as_bytes()).ok()?);
        }
        let request = request.body(Body::Complete(Bytes::copy_from_slice(body.as_bytes()))).ok()?;
        let answering = self.service.call(request, Some(IpAddr::from([203, 0, 113, 7])));
        let response = self.runtime.block_on(answering).map(AnswerBody::into_bytes);
        let status = response.status().as_u16();
        assert!(response.headers().contains_key("x-request-id"), "{status} without a request id");
        let is_json = response.headers().get("content-type").is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
        let body: Value = if is_json { serde_json::from_slice(response.body()).expect("JSON") } else { Value::Null };
        assert!(status < 500, "{status}: {body}");
        assert!(
            status < 400 || body["status"] == "error" && body["code"].is_string() && body["message"].is_string(),
            "{status}: {body}"
        );
        assert!(!body.to_string().contains("panicked"), "{body}");
        Some(Answer { status, body })
    }
}

impl Answer {
    fn kind(&self) -> u64 {
        let code = self.body["code"].as_str().unwrap_or_default();
        kind(&[u64::from(self.status), kind(&code.bytes().map(u64::from).collect::<Vec<_>>())])
    }
}

/// `X-Forwarded-For`, a line each: what stands left of the client's own hop changes nothing.
pub(crate) const FORWARDED: Target = Target {
    name: "forwarded",
    weight: 0.1,
    dictionary: &["10.0.0.2", "198.51.100.1", ",", "[2001:db8::1]:443", "::ffff:10.0.0.3", "unknown", ":80"],
    make: || {
        let trusted: Vec<IpNet> = vec!["10.0.0.0/8".parse().expect("a network")];
        let peer = IpAddr::from([10, 0, 0, 1]);
        Attack::new(&["198.51.100.1, 10.0.0.2", "1.2.3.4\n198.51.100.1:4711", "x, 10.9.9.9", "[2001:db8::1]"], move |input| {
            let values: Vec<_> = input.split(|byte| *byte == b'\n').filter_map(|line| HeaderValue::from_bytes(line).ok()).collect();
            let of = |values: &[HeaderValue]| {
                let mut headers = HeaderMap::new();
                for value in values {
                    headers.append("x-forwarded-for", value.clone());
                }
                client_address(&trusted, peer, &headers).expect("the peer is known")
            };
            let address = of(&values);
            let is_ours = trusted.iter().any(|network| network.contains(&address));
            if !is_ours {
                let forged: Vec<_> =
                    [HeaderValue::from_static("1.1.1.1, 8.8.8.8")].into_iter().chain(values.iter().cloned()).collect();
                assert_eq!(of(&forged), address, "a client chose its address: {values:?}");
            }
            assert_eq!(client_address(&[], peer, &HeaderMap::new()), Some(peer));
            kind(&[u64::from(is_ours), u64::from(address.is_ipv6()), u64::from(address == peer), values.len() as u64])
        })
    },
};

/// Access tokens: the genuine one is valid, and no other.
pub(crate) const TOKENS: Target = Target {
    name: "tokens",
    weight: 0.02,
    dictionary: &[".", "eyJhbGciOiJub25lIn0", "eyJhbGciOiJIUzI1NiJ9", "$T", "="],
    make: || {
        let scene = Scene::new();
        let seeds = [GENUINE, "eyJhbGciOiJub25lIiwidHlwIjoiYXQrand0In0.e30.", "a.b.c"];
        let expanded: Vec<String> = seeds.iter().map(|seed| seed.replace(GENUINE, &scene.token)).collect();
        let seeds: Vec<&str> = expanded.iter().map(String::as_str).collect();
        Attack::new(&seeds, move |input| {
            let text = scene.told(input);
            let answer = scene.runtime.block_on(scene.test.org.verify(&text)).expect("the database is there");
            let is_valid = matches!(answer, Verification::Valid(_));
            assert_eq!(is_valid, text == scene.token, "{text}");
            kind(&[u64::from(is_valid), text.matches('.').count() as u64, size(text.len())])
        })
    },
};

/// The `Cookie` header.
pub(crate) const COOKIES: Target = Target {
    name: "cookies",
    weight: 0.02,
    dictionary: &["access_token=", "refresh_token=", "; ", "$T", "\"", "=", ",", "partial_token="],
    make: || {
        let scene = Scene::new();
        Attack::new(
            &["access_token=$T", "a=b; access_token=$T; c", "access_token=x; access_token=$T", "access_token=\"$T\""],
            move |input| {
                let cookies = scene.told(input);
                let asked = scene.ask("GET", "/auth/profile", &[("x-org-slug", "acme"), ("cookie", &cookies)], "");
                let Some(answer) = asked else { return 0 };
                // White space and quotes around a value are none of it (RFC 6265).
                let bare = cookies.replace([' ', '\t', '"'], "");
                let is_there = bare.contains(&format!("access_token={}", scene.token));
                assert!(answer.status != 200 || is_there, "{cookies}");
                answer.kind()
            },
        )
    },
};

/// API keys: one answer for all that are none.
pub(crate) const KEYS: Target = Target {
    name: "keys",
    weight: 0.02,
    dictionary: &["pk_live_", "$K", "dk_live_", " "],
    make: || {
        let scene = Scene::new();
        let key = scene.runtime.block_on(scene.test.api_key(&[Scope::Verify])).expose().to_owned();
        let body = format!("{{\"token\":\"{}\"}}", scene.token);
        let mut refused = None;
        Attack::new(&[&key.clone(), "pk_live_", "pk_live_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"], move |input| {
            let text = String::from_utf8_lossy(input);
            let headers = [("x-org-slug", "acme"), ("x-api-key", &*text), ("content-type", "application/json")];
            let Some(answer) = scene.ask("POST", "/public/verify", &headers, &body) else { return 0 };
            assert_eq!(answer.status == 200, text.trim() == key, "{text}: {}", answer.body);
            if answer.status == 401 {
                assert_eq!(refused.get_or_insert_with(|| answer.body.to_string()), &answer.body.to_string(), "two answers");
            }
            answer.kind()
        })
    },
};

/// The query of a list.
pub(crate) const CURSORS: Target = Target {
    name: "cursors",
    weight: 0.02,
    dictionary: &["limit=", "cursor=", "order=desc", "q=", "role=org_admin", "status=", "&", "%00", "%", "999999999999999999999"],
    make: || {
        let scene = Scene::new();
        let bearer = format!("Bearer {}", scene.token);
        let headers = [("x-org-slug", "acme"), ("authorization", bearer.as_str())];
        let first = scene.ask("GET", "/org/members?limit=1", &headers, "").expect("a request");
        let cursor = format!("limit=1&cursor={}", first.body["data"]["nextCursor"].as_str().expect("there are more"));
        let bearer = bearer.clone();
        Attack::new(&[&cursor, "limit=2", "order=asc&q=ada", ""], move |input| {
            let query = String::from_utf8_lossy(input);
            let headers = [("x-org-slug", "acme"), ("authorization", bearer.as_str())];
            let Some(answer) = scene.ask("GET", &format!("/org/members?{query}"), &headers, "") else { return 0 };
            assert!([200, 400].contains(&answer.status), "{query}: {}", answer.body);
            let listed = answer.body["data"]["members"].as_array().map_or(0, Vec::len) as u64;
            kind(&[answer.kind(), listed])
        })
    },
};

/// Whole requests: a method, a path, headers up to an empty line, a body.
pub(crate) const REQUESTS: Target = Target {
    name: "requests",
    weight: 0.02,
    dictionary: &[
        "x-org-slug: acme",
        "authorization: Bearer $T",
        "content-type: application/json",
        "origin: https://evil.example",
        "/org",
        "/auth/login",
        "/public/verify",
        "/org/members",
        "POST",
        "PATCH",
        "OPTIONS",
        "{}",
        "\"email\":",
        "sec-fetch-site: cross-site",
        "content-encoding: gzip",
        "x-client-ip: 1.2.3.4",
        "\\u0000",
        "..",
        "%2f",
    ],
    make: || {
        let scene = Scene::new();
        let json = "x-org-slug: acme\ncontent-type: application/json\n";
        let seeds = [
            "GET\n/org\nx-org-slug: acme\nauthorization: Bearer $T\n\n".to_owned(),
            format!("POST\n/auth/login\n{json}\n{{\"email\":\"ada@acme.example\",\"password\":\"wrong horse\"}}"),
            format!(
                "POST\n/org/members/invite\n{json}authorization: Bearer $T\n\n{{\"email\":\"x@example.com\",\"role\":\"member\"}}"
            ),
            format!("PUT\n/auth/profile\n{json}authorization: Bearer $T\n\n{{\"name\":\"Ada\",\"bio\":null}}"),
            format!("PATCH\n/org\n{json}authorization: Bearer $T\n\n{{\"appUrl\":\"https://app.example\",\"allowedOrigins\":[]}}"),
            format!("POST\n/auth/reset-password\n{json}\n{{\"token\":\"x\",\"newPassword\":\"mauve-otter-plinth\"}}"),
            "OPTIONS\n/auth/login\norigin: https://app.example\naccess-control-request-method: POST\n\n".to_owned(),
            "GET\n/.well-known/jwks.json\n\n".to_owned(),
        ];
        let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
        Attack::new(&seeds, move |input| {
            let text = scene.told(input);
            let (head, body) = text.split_once("\n\n").unwrap_or((&text, ""));
            let mut lines = head.split('\n');
            let (method, path) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
            let headers: Vec<_> = lines.filter_map(|line| line.split_once(':')).collect();
            scene.ask(method, path, &headers, body).map_or(0, |answer| kind(&[answer.kind(), size(path.len())]))
        })
    },
};
