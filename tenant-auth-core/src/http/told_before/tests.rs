use std::{
    net::IpAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use ::http::{HeaderValue, Response, StatusCode, request::Builder};
use bytes::Bytes;
use tracing_subscriber::layer::SubscriberExt;

use super::super::{AnswerBody, Body, Request, Service};
use crate::{
    backend::NewApiKey,
    budget::Permit,
    model::{Scope, Status},
    operator::NewOrganization,
    secret::ApiKeyText,
    testing::{SLUG, TestAuth},
    value::Plan,
};

const PEER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(203, 0, 113, 7));
const PATH: &str = "/api/v1/public/verify";

/// A service, a key of its organization with the scope `verify`, and a member's token.
struct Asking {
    test: TestAuth,
    service: Service,
    key: ApiKeyText,
    token: String,
}

impl Asking {
    async fn new() -> Self {
        let test = TestAuth::new().await;
        let (service, key) = (Service::new(&test.auth), test.api_key(&[Scope::Verify]).await);
        let token = test.login(&test.member).await.access.expose().to_owned();
        Self { test, service, key, token }
    }

    fn builder(&self) -> Builder {
        let request = ::http::Request::post(PATH).header("x-org-slug", SLUG).header("x-api-key", self.key.expose());
        request.header("content-type", "application/json").header("user-agent", "a backend")
    }

    fn body(&self) -> Body {
        Body::Complete(format!(r#"{{"token":"{}"}}"#, self.token).into())
    }

    fn question(&self) -> Request {
        self.builder().body(self.body()).expect("a request")
    }

    async fn ask(&self, request: Request) -> Response<AnswerBody> {
        self.service.call(request, Some(PEER)).await
    }

    /// Asks until the short way knows the answer.
    async fn warm(&self) {
        for _ in 0..500 {
            let crowd = self.crowd();
            let is_short = self.ask(self.question()).await.status() == StatusCode::OK;
            drop(crowd);
            if is_short {
                return;
            }
            self.ask(self.question()).await;
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        panic!("the short way never knew the answer");
    }

    /// Takes every place in flight: from now on the whole way ends with 503 before it begins.
    fn crowd(&self) -> Vec<Permit> {
        let networks = (0..=u8::MAX).map(|network| IpAddr::from([198, 18, network, 1]));
        let place_of = |client| std::iter::from_fn(move || self.test.auth.in_flight().take(Some(client)).ok());
        networks.flat_map(place_of).collect()
    }

    /// Whether the answer came by the short way. The change log is looked at first, so that what is remembered counts.
    async fn goes_short(&self, request: Request) -> bool {
        self.test.auth.memory().view_from_now().await.expect("the database is there");
        let crowd = self.crowd();
        let status = self.ask(request).await.status();
        drop(crowd);
        assert!([200, 503].contains(&status.as_u16()), "{status}");
        status == StatusCode::OK
    }
}

fn told(response: Response<AnswerBody>) -> (StatusCode, Vec<(String, String)>, Bytes) {
    let (mut parts, body) = response.into_parts();
    assert!(parts.headers.remove("x-request-id").is_some());
    let headers = parts.headers.iter().map(|(name, value)| (name.to_string(), value.to_str().expect("text").to_owned()));
    let mut headers: Vec<_> = headers.collect();
    headers.sort();
    (parts.status, headers, body.into_bytes())
}

#[tokio::test]
async fn both_ways_say_the_same_and_are_counted_alike() {
    let asking = Asking::new().await;
    let whole = told(asking.ask(asking.question()).await);
    asking.warm().await;
    let crowd = asking.crowd();
    let before = asking.test.auth.metrics_text().await.expect("metrics");
    let short = told(asking.ask(asking.question()).await);
    let after = asking.test.auth.metrics_text().await.expect("metrics");
    drop(crowd);
    assert_eq!(short, whole);
    let requests = r#"tenant_auth_http_requests_total{method="POST",route="/public/verify",status="200"}"#;
    for series in [requests, r#"tenant_auth_verifications_total{outcome="valid"}"#] {
        assert_eq!(count(&after, series), count(&before, series) + 1, "{series}");
    }
    assert_eq!(count(&after, HITS), count(&before, HITS) + 2, "the key and the session");
}

const HITS: &str = "tenant_auth_memory_hits_total";
const MISSES: &str = "tenant_auth_memory_misses_total";

fn count(text: &str, series: &str) -> u64 {
    let line = text.lines().find(|line| line.starts_with(series)).unwrap_or_else(|| panic!("{series} in {text}"));
    line.rsplit(' ').next().and_then(|number| number.parse().ok()).expect("a number")
}

#[tokio::test]
async fn what_the_short_way_leaves_to_the_whole_one_is_counted_once() {
    let asking = Asking::new().await;
    asking.warm().await;
    asking.test.set_status(&asking.test.member, Status::Suspended).await;
    asking.ask(asking.question()).await; // keeps the suspended session, which decides nothing
    asking.test.auth.memory().view_from_now().await.expect("the database is there");
    let before = asking.test.auth.metrics_text().await.expect("metrics");
    asking.ask(asking.question()).await;
    let after = asking.test.auth.metrics_text().await.expect("metrics");
    let asked = |series| count(&after, series) - count(&before, series);
    assert_eq!((asked(HITS), asked(MISSES)), (1, 1), "the key was remembered; the session has to be read");
}

#[tokio::test]
async fn what_is_asked_in_another_form_goes_the_whole_way() {
    let asking = Asking::new().await;
    asking.warm().await;
    let with = |body: Vec<u8>| asking.builder().body(Body::Complete(body.into())).expect("a request");
    let token = &asking.token;
    assert!(asking.goes_short(with(format!(r#"{{"token": "{token}" }}"#).into())).await, "spaces mean nothing");
    for name in ["origin", "authorization", "sec-fetch-site", "x-client-ip", "content-encoding", "cookie", "x-anything"] {
        let request = asking.builder().header(name, "identity").body(asking.body()).expect("a request");
        assert!(!asking.goes_short(request).await, "with {name}");
    }
    for name in ["x-org-slug", "x-api-key", "content-type"] {
        let mut twice = asking.question();
        let value = twice.headers()[name].clone();
        twice.headers_mut().append(name, value);
        assert!(!asking.goes_short(twice).await, "{name} twice");
        let mut without = asking.question();
        without.headers_mut().remove(name);
        assert!(!asking.goes_short(without).await, "without {name}");
    }
    for body in [
        format!(r#"{{"token":"{token}","after":"x"}}"#),
        format!(r#"{{"token":"{token}"}}x"#),
        format!(r#"{{"token":"{token}","token":"{token}"}}"#),
        format!(r#"["{token}"]"#),
        format!("{{\"token\":\u{c}\"{token}\"}}"),
        format!(r#"{{"token":"{}"}}"#, &token[..token.len() - 1]),
        String::new(),
    ] {
        assert!(!asking.goes_short(with(body.clone().into())).await, "{body}");
    }
    for body in [Body::TooLarge, Body::TimedOut, Body::Broken] {
        assert!(!asking.goes_short(asking.builder().body(body).expect("a request")).await);
    }
    for (method, uri) in [("GET", PATH), ("POST", "/api/v1/public/verify?x=1"), ("POST", "/public/verify")] {
        let mut request = asking.question();
        *request.method_mut() = method.parse().expect("a method");
        *request.uri_mut() = uri.parse().expect("a URI");
        assert!(!asking.goes_short(request).await, "{method} {uri}");
    }
    for (name, value) in [("x-org-slug", "other"), ("x-api-key", "pk_live_nonsense"), ("content-type", "text/plain")] {
        let mut request = asking.question();
        request.headers_mut().insert(name, value.parse().expect("a header"));
        assert!(!asking.goes_short(request).await, "{name}: {value}");
    }
    assert!(asking.goes_short(asking.question()).await, "it is known all the while");
}

#[tokio::test]
async fn what_changed_since_is_never_told_as_before() {
    let asking = Asking::new().await;
    asking.warm().await;
    let deaf = asking.test.api_key(&[Scope::UsersRead]).await;
    let mut unscoped = asking.question();
    unscoped.headers_mut().insert("x-api-key", deaf.expose().parse().expect("a header"));
    assert_eq!(asking.ask(unscoped.clone()).await.status(), StatusCode::FORBIDDEN);
    assert!(!asking.goes_short(unscoped).await, "a key without the scope");
    asking.test.set_status(&asking.test.member, Status::Suspended).await;
    assert!(!asking.goes_short(asking.question()).await, "a suspended member");

    let again = Asking::new().await;
    again.warm().await;
    let listed = again.test.org_admin().await.api_keys(&crate::page::Page::default()).await.expect("a list");
    let key = listed.items.iter().find(|key| again.key.expose().contains(&key.id.as_str()[4..])).expect("the key");
    again.test.org_admin().await.revoke_api_key(&key.id).await.expect("it is there");
    assert!(!again.goes_short(again.question()).await, "a revoked key");

    let late = Asking::new().await;
    late.warm().await;
    late.test.clock.advance(late.test.auth.config().sessions.access_token_ttl);
    assert!(!late.goes_short(late.question()).await, "an expired token");
}

#[tokio::test]
async fn another_organization_is_not_told_what_its_own_was() {
    let asking = Asking::new().await;
    asking.warm().await;
    let new = NewOrganization {
        name: "Umbrella".parse().expect("a name"),
        slug: "umbrella".parse().expect("a slug"),
        plan: Plan::default(),
        app_url: None,
        admin_email: "first@umbrella.example".parse().expect("an address"),
    };
    let operator = asking.test.auth.operator();
    operator.create_organization(new).await.expect("the organization is new");
    let key = NewApiKey { name: "test".parse().expect("a name"), scopes: vec![Scope::Verify], expires_at: None };
    let key = operator.create_api_key(&"umbrella".parse().expect("a slug"), key).await.expect("a key can be made").key;
    let mut question = asking.question();
    question.headers_mut().insert("x-org-slug", HeaderValue::from_static("umbrella"));
    question.headers_mut().insert("x-api-key", key.expose().parse().expect("a header"));
    let answer = told(asking.ask(question.clone()).await);
    assert_eq!(answer.2, Bytes::from_static(br#"{"status":"success","data":{"valid":false}}"#));
    assert!(!asking.goes_short(question).await, "now that key and session are both remembered");
    for (name, value) in [("x-org-slug", "umbrella"), ("x-api-key", key.expose())] {
        let mut mixed = asking.question();
        mixed.headers_mut().insert(name, value.parse().expect("a header"));
        assert!(!asking.goes_short(mixed).await, "a key beside another organization's slug, by {name}");
    }
}

#[tokio::test]
async fn what_is_logged_lies_below_the_request() {
    let asking = Asking::new().await;
    asking.warm().await;
    let crowd = asking.crowd();
    let log = Log::default();
    let lines = log.clone();
    let layer = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(move || lines.clone());
    let listening = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));
    assert_eq!(asking.ask(asking.question()).await.status(), StatusCode::OK);
    drop((listening, crowd));
    let text = String::from_utf8(log.0.lock().expect("nobody panicked").clone()).expect("text");
    let line = text.lines().find(|line| line.contains("answered")).expect("a line");
    for part in ["request{request_id=\"req_", "route=\"/public/verify\"", "organization=\"acme\"", "status=200}"] {
        assert!(line.contains(part), "{part} in {line}");
    }
}

/// Keeps what is written.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("nobody panicked").extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
