//! The metrics listener: beside the public one, for metrics only, and never in the way.

use std::{
    net::{TcpListener, TcpStream},
    time::{Duration, Instant},
};

use crate::{
    Program, error,
    running::{DEADLINE, Running, get},
};

/// Where a server that was just started tells its metrics.
pub(crate) fn metrics_address(server: &Running) -> String {
    let line = server.printed.lines().find_map(|line| line.strip_prefix("metrics are at http://"));
    line.and_then(|address| address.strip_suffix("/metrics")).expect("it says where").to_owned()
}

/// The database has two seconds to answer a scrape, and a loaded machine takes longer now and then.
fn once_the_database_is_up(address: &str) -> (u16, String) {
    let deadline = Instant::now() + DEADLINE;
    loop {
        let (status, text) = get(address, "/metrics");
        if text.contains("\ntenant_auth_database_up 1\n") {
            return (status, text);
        }
        assert!(Instant::now() < deadline, "{text}");
    }
}

#[test]
fn metrics_are_told_on_a_listener_of_their_own() {
    let program = Program::new().with("METRICS_LISTEN", "127.0.0.1:0");
    let mut server = Running::start(&program, &["serve"]);
    let address = metrics_address(&server);
    server.get("/api/v1/nowhere");
    let (status, text) = once_the_database_is_up(&address);
    assert_eq!(status, 200);
    let (head, body) = text.split_once("\r\n\r\n").expect("head and body");
    let common = ["cache-control: no-store", "x-content-type-options: nosniff", "x-request-id: req_"];
    for header in [&["content-type: application/openmetrics-text; version=1.0.0; charset=utf-8"][..], &common].concat() {
        assert!(head.to_lowercase().contains(header), "{header}: {head}");
    }
    assert!(body.contains("\ntenant_auth_http_requests_total{method=\"GET\",route=\"none\",status=\"404\"} 1\n"), "{body}");
    assert!(body.ends_with("# EOF\n"), "{body}");

    for name in ["resident_memory_bytes", "open_fds", "max_fds", "threads", "start_time_seconds", "cpu_seconds_total"] {
        assert!(body.contains(&format!("\nprocess_{name} ")), "{name}: {body}");
    }

    assert_eq!(get(&address, "/health/live").0, 200);
    for path in ["/", "/metrics/", "/api/v1/.well-known/jwks.json"] {
        assert_eq!(get(&address, path).0, 404, "the listener for metrics has {path}");
    }
    for path in ["/metrics", "/api/v1/metrics"] {
        let (status, text) = server.get(path);
        assert!(status == 404 && text.contains("not_found"), "the public one has {path}: {text}");
    }
    server.terminate();
    assert!(server.ended().success(), "{}", server.log());
    assert!(TcpStream::connect_timeout(&address.parse().expect("an address"), Duration::from_secs(1)).is_err());
}

#[test]
fn a_metrics_port_in_use_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("bound").to_string();
    let said = error(&Program::new().with("METRICS_LISTEN", &address).run(&["serve"]));
    assert!(said.contains("in use") && said.contains("TENANT_AUTH_METRICS_LISTEN"), "{said}");
}

#[test]
fn none_is_no_listener() {
    let program = Program::new();
    let server = Running::start(&program, &["serve"]);
    assert!(!server.printed.contains("metrics"), "{}", server.printed);
}
