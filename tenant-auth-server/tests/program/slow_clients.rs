//! Slow clients (Slowloris): each step of a connection has its timeout, and a client that keeps to it is served.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpStream},
    thread,
    time::{Duration, Instant},
};

use crate::{
    Program,
    running::{Running, answer},
};

/// Asks for more than the system buffers.
const LARGE: &[u8] = b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
const LAST: &[u8] = b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
const HOW_MANY: usize = 40;
/// For how much longer than a limit somebody goes on.
const BEYOND: Duration = Duration::from_secs(8);
/// What a busy machine may add; each limit is still told apart from the next longer one.
const SLACK: Duration = Duration::from_secs(18);

/// Writes byte by byte, one every two seconds, until the server has closed; what it answered and after how long.
fn drip(mut stream: TcpStream, head: &str) -> (String, Duration) {
    let since = Instant::now();
    stream.set_read_timeout(Some(Duration::from_secs(2))).expect("a timeout can be set");
    stream.write_all(head.as_bytes()).expect("it reads");
    let mut said = Vec::new();
    let mut buffer = [0; 4_096];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => said.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                assert!(since.elapsed() < Duration::from_secs(60), "it is never closed: {}", String::from_utf8_lossy(&said));
                let _ = stream.write_all(b"x");
            }
            Err(_) => break, // reset: it was closed with bytes unread
        }
    }
    (String::from_utf8_lossy(&said).into_owned(), since.elapsed())
}

#[track_caller]
fn took(seconds: u64, elapsed: Duration) {
    let expected = Duration::from_secs(seconds);
    assert!(elapsed + Duration::from_secs(1) > expected && elapsed < expected + SLACK, "{elapsed:?} instead of {expected:?}");
}

fn post(path: &str) -> String {
    format!(
        "POST /api/v1{path} HTTP/1.1\r\nHost: localhost\r\nX-Org-Slug: acme\r\nContent-Type: application/json\r\n\
         Content-Length: 1000\r\n\r\n{{"
    )
}

#[test]
fn whoever_is_too_slow_is_closed_and_whoever_is_steady_is_not() {
    let program = Program::new();
    let server = Running::start(&program, &["serve"]);
    crate::json(&program.run(&["org", "create", "--name", "Acme", "--slug", "acme", "--admin-email", "a@example.com", "--json"]));
    thread::scope(|threads| {
        let drips = |head: String| threads.spawn(|| drip(server.connect(), Box::leak(head.into_boxed_str())));
        let silent = drips(String::new());
        let head = drips("GET /health/live HTTP/1.1\r\nHost: ".to_owned());
        let second = drips("GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned());
        let (body, stranger) = (drips(post("/auth/login")), drips(post("/org/webhooks")));
        let stuck = threads.spawn(|| {
            let mut stream = server.connect();
            stream.write_all(&LARGE.repeat(HOW_MANY)).expect("it reads");
            thread::sleep(Duration::from_secs(30) + BEYOND);
            let mut text = Vec::new();
            let _ = stream.read_to_end(&mut text);
            answers_in(&text)
        });
        let steady = threads.spawn(|| {
            let mut stream = server.connect();
            stream.write_all(&LARGE.repeat(HOW_MANY - 1)).expect("it reads");
            stream.write_all(LAST).expect("it reads");
            let since = Instant::now();
            // 16 KiB a second. On loopback a segment has 64 KiB, and the system tells the server of room in steps of two.
            let (mut text, mut buffer) = (Vec::new(), [0; 8_192]);
            while since.elapsed() < Duration::from_secs(30) + BEYOND {
                let count = stream.read(&mut buffer).expect("it goes on");
                text.extend_from_slice(&buffer[..count]);
                thread::sleep(Duration::from_millis(500));
            }
            stream.read_to_end(&mut text).expect("the rest comes");
            answers_in(&text)
        });

        for (closed, first_of) in [(silent, ""), (head, ""), (second, "HTTP/1.1 200 OK")] {
            let (said, elapsed) = closed.join().expect("no panic");
            assert!(said.starts_with(first_of) && said.matches("HTTP/1.1").count() == usize::from(!first_of.is_empty()), "{said}");
            // The second head begins with the first drip, two seconds later.
            took(if first_of.is_empty() { 10 } else { 12 }, elapsed);
        }
        for (judged, status, code) in [(body, 408, "request_timeout"), (stranger, 401, "session_required")] {
            let (said, elapsed) = judged.join().expect("no panic");
            assert!(said.starts_with(&format!("HTTP/1.1 {status} ")) && said.contains(&format!("\"{code}\"")), "{said}");
            assert!(said.to_lowercase().contains("\r\nconnection: close\r\n"), "{said}");
            took(30, elapsed);
        }
        let (stuck, steady) = (stuck.join().expect("no panic"), steady.join().expect("no panic"));
        assert!(stuck < HOW_MANY, "an answer that nobody takes is cut; {stuck} came");
        assert_eq!(steady, HOW_MANY, "a steady reader gets all");
    });
}

fn answers_in(text: &[u8]) -> usize {
    String::from_utf8_lossy(text).matches("HTTP/1.1 200 OK").count()
}

#[test]
fn a_client_that_closes_its_half_is_answered() {
    let program = Program::new();
    let server = Running::start(&program, &["serve"]);
    // From memory, from the keys, and after a look into the database.
    for (path, expected) in [("/health/live", 200), ("/api/v1/.well-known/jwks.json", 200), ("/api/v1/org", 404)].repeat(20) {
        let mut stream = server.connect();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nX-Org-Slug: nobody\r\n\r\n").expect("it reads");
        stream.shutdown(Shutdown::Write).expect("it is open");
        let (status, text) = answer(stream);
        assert_eq!(status, expected, "{path}: {text}");
    }
}
