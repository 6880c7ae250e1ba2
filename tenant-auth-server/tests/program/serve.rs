//! The running server: its health, its log, and how it stops.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use crate::{
    Program, json,
    running::{DEADLINE, Running, answer},
};

#[test]
fn it_is_live_and_ready_and_ends_with_0() {
    let program = Program::new();
    let mut server = Running::start(&program, &["serve"]);
    for (path, status) in [("/health/live", 200), ("/health/ready", 200), ("/nowhere", 404), ("/api/v2/org", 404)] {
        let (found, text) = server.get(path);
        assert_eq!(found, status, "{path}: {text}");
        assert!(text.contains("\"status\":"), "{text}");
        assert!(text.to_lowercase().contains("\r\nx-request-id: "), "{text}");
    }
    assert!(server.log().contains("TENANT_AUTH_SMTP_URL is not set"), "{}", server.log());
    server.terminate();
    assert!(server.ended().success(), "{}", server.log());
}

#[test]
fn commands_work_beside_it() {
    let program = Program::new();
    let server = Running::start(&program, &["serve"]);
    json(&program.run(&["org", "create", "--name", "Acme", "--slug", "acme", "--admin-email", "ada@example.com", "--json"]));
    let key = json(&program.run(&["api-key", "create", "--org", "acme", "--name", "ci", "--json"]));
    let mut stream = server.connect();
    let body = "{\"token\":\"x\"}";
    let request = format!(
        "POST /api/v1/public/verify HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Org-Slug: acme\r\nX-API-Key: {}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        key["key"].as_str().expect("a key"),
        body.len(),
    );
    stream.write_all(request.as_bytes()).expect("it reads");
    let (status, text) = answer(stream);
    assert!(status == 200 && text.contains("\"valid\":false"), "{text}");
}

#[test]
fn a_request_in_flight_is_finished_while_it_says_that_it_is_not_ready() {
    stops_behind_a_request(&Program::new(), &["-TERM"]);
}

/// The shell says so, and the kernel once more.
#[test]
fn a_closed_terminal_stops_it_in_the_same_way() {
    let program = Program::new().run_by(&["env", "--default-signal=HUP"]); // where the tests run below nohup, too
    stops_behind_a_request(&program, &["-HUP", "-HUP"]);
}

#[test]
fn below_nohup_it_outlives_its_terminal() {
    let program = Program::new().run_by(&["nohup"]);
    let mut server = Running::start(&program, &["serve"]);
    server.signal("-HUP");
    std::thread::sleep(Duration::from_millis(300)); // nothing tells that nothing happens
    assert_eq!(server.get("/health/ready").0, 200);
    server.terminate();
    assert!(server.ended().success(), "{}", server.log());
}

#[track_caller]
fn stops_behind_a_request(program: &Program, signals: &[&str]) {
    let mut server = Running::start(program, &["serve"]);
    // The server asks for the body once it handles the request: from there on it is in flight.
    let mut slow = server.connect();
    let head = "POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nX-Org-Slug: acme\r\nContent-Type: application/json\r\n\
                Content-Length: 2\r\nExpect: 100-continue\r\n\r\n";
    slow.write_all(head.as_bytes()).expect("it reads");
    let mut asked = [0; 25];
    slow.read_exact(&mut asked).expect("it answers");
    assert_eq!(&asked, b"HTTP/1.1 100 Continue\r\n\r\n");

    let (first, others) = signals.split_first().expect("a signal");
    server.signal(first);
    let deadline = Instant::now() + DEADLINE;
    let not_ready = loop {
        let (status, text) = server.get("/health/ready");
        if status != 200 {
            break text;
        }
        assert!(Instant::now() < deadline, "{text}");
    };
    assert!(not_ready.contains(" 503 ") && not_ready.contains("shutting down"), "{not_ready}");

    for signal in others {
        server.signal(signal);
    }
    slow.write_all(b"{}").expect("it still reads");
    let (status, text) = answer(slow);
    assert!((400..500).contains(&status) && text.contains("\"status\":\"error\""), "{text}");
    assert!(server.ended().success(), "{}", server.log());
    assert!(TcpStream::connect_timeout(&server.address.parse().expect("an address"), Duration::from_secs(1)).is_err());
}

#[test]
fn logs_are_json_when_asked_and_stay_off_stdout() {
    let program = Program::new().with("LOG_FORMAT", "json").with("LOG", "info");
    let server = Running::start(&program, &["serve"]);
    server.get("/health/live");
    let log = server.log();
    assert!(!log.is_empty() && log.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{log}");
    assert_eq!(server.printed.lines().count(), 1);
    assert!(serde_json::from_str::<serde_json::Value>(server.printed.trim()).is_ok(), "{}", server.printed);
}

/// It would hold the master key.
#[cfg(target_os = "linux")]
#[test]
fn a_crash_leaves_no_core_dump() {
    let wanted = "ulimit -S -c $(ulimit -H -c) && exec \"$0\" \"$@\"";
    let program = Program::new().run_by(&["sh", "-c", wanted]);
    let server = Running::start(&program, &["serve"]);
    let bounds = |process: &str| -> Vec<String> {
        let limits = std::fs::read_to_string(format!("/proc/{process}/limits")).expect("the limits");
        let core = limits.lines().find_map(|line| line.strip_prefix("Max core file size")).expect("one of them");
        core.split_whitespace().take(2).map(str::to_owned).collect()
    };
    let bounded = bounds(&server.id().to_string());
    // Where the tests may have none either, it can only be raised by root.
    let is_forbidden = bounds("self")[1] == "0";
    assert!(bounded == ["1", "1"] || (is_forbidden && bounded == ["0", "0"]), "{bounded:?}");
}

#[test]
fn nothing_of_dev_is_there() {
    let program = Program::new();
    let server = Running::start(&program, &["serve"]);
    for path in crate::dev::PAGES {
        assert_eq!(server.get(path).0, 404, "{path}");
    }
}
