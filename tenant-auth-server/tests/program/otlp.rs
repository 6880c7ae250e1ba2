//! Traces, as an OpenTelemetry collector receives them. `cargo test -p tenant-auth-server --features otlp --test program otlp`.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use tenant_auth_conformance::{free_port, smtp::SmtpSink};

use crate::{
    MASTER_KEY, Program, json,
    running::{DEADLINE, Running, answer},
};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";
const PASSWORD: &str = "mauve-otter-plinth";
/// A span's kind (`SpanKind` of `trace.proto`).
const SERVER: u64 = 2;
const CLIENT: u64 = 3;

/// A collector: takes batches of spans over HTTP.
struct Collector {
    address: String,
    bodies: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Collector {
    /// Listens until the tests end.
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("a bound socket").to_string();
        let bodies = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&bodies);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let kept = Arc::clone(&kept);
                std::thread::spawn(move || while take(&stream, &kept).is_some() {});
            }
        });
        Self { address, bodies }
    }

    /// Every byte that came, and every span in it.
    fn received(&self) -> (Vec<u8>, Vec<Span>) {
        let bodies = self.bodies.lock().unwrap_or_else(PoisonError::into_inner);
        (bodies.concat(), bodies.iter().flat_map(|body| spans(body)).collect())
    }
}

/// Reads one request and answers it; `None` when the sender is gone.
fn take(stream: &TcpStream, kept: &Mutex<Vec<Vec<u8>>>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        (reader.read_line(&mut head).ok()? > 0).then_some(())?;
    }
    let head = head.to_lowercase();
    assert!(head.starts_with("post /v1/traces http/1.1") && head.contains("content-type: application/x-protobuf"), "{head}");
    let length = head.split_once("content-length: ")?.1.split("\r\n").next()?.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    kept.lock().unwrap_or_else(PoisonError::into_inner).push(body);
    let mut stream = stream;
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n").ok()
}

/// A span, of which the tests ask these things.
#[derive(Debug, Default)]
struct Span {
    trace: String,
    id: String,
    parent: String,
    name: String,
    kind: u64,
    attributes: BTreeMap<String, String>,
}

/// The spans of an `ExportTraceServiceRequest` (opentelemetry-proto, `trace/v1/trace.proto`).
fn spans(request: &[u8]) -> Vec<Span> {
    let resources = fields(request).into_iter().filter(|(number, _)| *number == 1);
    let scopes = resources.flat_map(|(_, resource)| fields(resource.bytes()));
    let of_scopes = scopes.filter(|(number, _)| *number == 2).flat_map(|(_, scope)| fields(scope.bytes()));
    of_scopes.filter(|(number, _)| *number == 2).map(|(_, span)| span_of(span.bytes())).collect()
}

fn span_of(message: &[u8]) -> Span {
    let mut span = Span::default();
    for (number, value) in fields(message) {
        match number {
            1 => span.trace = hex(value.bytes()),
            2 => span.id = hex(value.bytes()),
            4 => span.parent = hex(value.bytes()),
            5 => span.name = value.text(),
            6 => span.kind = value.number(),
            9 => {
                let [(1, key), (2, value)] = fields(value.bytes())[..] else { panic!("a KeyValue") };
                let told = fields(value.bytes()).first().map(|(_, value)| value.text()).unwrap_or_default();
                span.attributes.insert(key.text(), told);
            }
            _ => {}
        }
    }
    span
}

/// A value of a protobuf message.
#[derive(Clone, Copy)]
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    fn bytes(self) -> &'a [u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Number(number) => panic!("{number} is no message"),
        }
    }

    fn number(self) -> u64 {
        match self {
            Self::Number(number) => number,
            Self::Bytes(bytes) => panic!("{bytes:?} are no number"),
        }
    }

    fn text(self) -> String {
        match self {
            Self::Bytes(bytes) => String::from_utf8(bytes.to_vec()).expect("text"),
            Self::Number(number) => number.to_string(),
        }
    }
}

/// The fields of a protobuf message, by their numbers.
fn fields(mut rest: &[u8]) -> Vec<(u64, Value<'_>)> {
    let mut found = Vec::new();
    while !rest.is_empty() {
        let tag = varint(&mut rest);
        let value = match tag & 7 {
            0 => Value::Number(varint(&mut rest)),
            1 => Value::Bytes(rest.split_off(..8).expect("eight bytes")),
            2 => {
                let length = usize::try_from(varint(&mut rest)).expect("a length");
                Value::Bytes(rest.split_off(..length).expect("as many bytes"))
            }
            5 => Value::Bytes(rest.split_off(..4).expect("four bytes")),
            other => panic!("wire type {other}"),
        };
        found.push((tag >> 3, value));
    }
    found
}

fn varint(rest: &mut &[u8]) -> u64 {
    let mut number = 0;
    for place in 0.. {
        let byte = *rest.split_off_first().expect("a byte");
        number |= u64::from(byte & 0x7f) << (7 * place);
        if byte < 0x80 {
            break;
        }
    }
    number
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Logs in to `acme` with a wrong password, as part of a trace that the caller began and does not sample.
fn log_in(server: &Running) -> u16 {
    let body = format!("{{\"email\":\"ada@example.com\",\"password\":\"{PASSWORD}\"}}");
    let mut stream = server.connect();
    let request = format!(
        "POST /api/v1/auth/login?hidden=in-the-query HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Org-Slug: acme\r\n\
         Traceparent: 00-{TRACE}-{CALLER}-00\r\nTracestate: strangers=word\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).expect("it reads");
    answer(stream).0
}

#[tokio::test(flavor = "multi_thread")]
async fn spans_reach_the_collector_with_their_attributes_and_without_secrets() {
    let (collector, smtp) = (Collector::start(), SmtpSink::start().await);
    let program = Program::new().with("OTLP_ENDPOINT", &format!("http://{}", collector.address)).with("SMTP_URL", &smtp.url());
    let program = program.with("MAIL_FROM", "no-reply@example.com").with("LOG", "warn");
    let mut server = Running::start(&program, &["serve"]);
    let made =
        json(&program.run(&["org", "create", "--name", "Acme", "--slug", "acme", "--admin-email", "ada@example.com", "--json"]));
    assert_eq!(log_in(&server), 401);
    let deadline = Instant::now() + DEADLINE;
    while smtp.taken().is_empty() {
        assert!(Instant::now() < deadline, "no mail was sent: {}", server.log());
        std::thread::sleep(Duration::from_millis(20));
    }
    server.terminate();
    assert!(server.ended().success(), "{}", server.log());

    let (bytes, spans) = collector.received();
    let named = |name: &str| spans.iter().filter(|span| span.name == name).collect::<Vec<_>>();
    let [request] = named("POST /auth/login")[..] else { panic!("one request: {spans:#?}") };
    assert_eq!((request.trace.as_str(), request.parent.as_str()), (TRACE, CALLER));
    let names = ["http.request.method", "http.route", "organization", "http.response.status_code"];
    assert_eq!(names.map(|name| request.attributes[name].as_str()), ["POST", "/auth/login", "acme", "401"]);
    assert_eq!(request.kind, SERVER);
    assert!(request.attributes["request_id"].starts_with("req_"));
    let below = named("statement").into_iter().filter(|span| span.parent == request.id && span.trace == TRACE);
    let statements: Vec<_> = below.map(|span| span.attributes["name"].as_str()).collect();
    assert!(statements.contains(&"organizations::FIND_BY_SLUG"), "{statements:?}");
    let mails = named("mail");
    let is_sent = |mail: &Span| mail.attributes["outcome"] == "sent" && mail.attributes["attempt"] == "1" && mail.kind == CLIENT;
    assert!(mails.iter().copied().any(is_sent), "{mails:#?}");

    let raw = String::from_utf8_lossy(&bytes);
    let token = made["inviteToken"].as_str().expect("a token");
    for secret in ["ada@example.com", PASSWORD, MASTER_KEY, "in-the-query", "strangers", token] {
        assert!(!raw.contains(secret), "{secret}");
    }
    assert!(raw.contains("service.name") && raw.contains("tenant-auth"));
}

#[test]
fn a_collector_that_is_away_costs_one_line_of_the_log() {
    let program = Program::new().with("OTLP_ENDPOINT", &format!("http://127.0.0.1:{}", free_port()));
    let program = program.run_by(&["env", "OTEL_BSP_SCHEDULE_DELAY=20"]);
    let mut server = Running::start(&program, &["serve"]);
    let line = "the collector does not take spans";
    let deadline = Instant::now() + DEADLINE;
    while !server.log().contains(line) {
        assert_eq!(server.get("/api/v1/org").0, 400, "it goes on answering");
        assert!(Instant::now() < deadline, "{}", server.log());
        std::thread::sleep(Duration::from_millis(20));
    }
    for _ in 0..20 {
        assert_eq!(server.get("/api/v1/org").0, 400);
        std::thread::sleep(Duration::from_millis(100));
    }
    let since = Instant::now();
    server.terminate();
    assert!(server.ended().success(), "{}", server.log());
    assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
    assert_eq!(server.log().matches(line).count(), 1, "{}", server.log());
}
