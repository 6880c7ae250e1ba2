//! Sign-up through the running program: from the form to the mail, and from its link to a session.

use std::{
    io::Write,
    time::{Duration, Instant},
};

use serde_json::{Value, json as body};
use tenant_auth_conformance::smtp::SmtpSink;

use crate::{
    Program,
    running::{DEADLINE, Running, answer},
};

/// Status and body of the answer to a POST.
fn post(server: &Running, path: &str, body: &Value) -> (u16, Value) {
    let (mut stream, body) = (server.connect(), body.to_string());
    let head = "Host: localhost\r\nConnection: close\r\nContent-Type: application/json";
    let length = body.len();
    write!(stream, "POST /api/v1{path} HTTP/1.1\r\n{head}\r\nContent-Length: {length}\r\n\r\n{body}").expect("it reads");
    let (status, text) = answer(stream);
    let (_, answered) = text.split_once("\r\n\r\n").expect("a body");
    (status, serde_json::from_str(answered).unwrap_or_else(|_| panic!("no JSON: {text}")))
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_signs_up_and_has_a_session() {
    let smtp = SmtpSink::start().await;
    let program = Program::new().with("SMTP_URL", &smtp.url()).with("MAIL_FROM", "no-reply@example.com").with("SIGN_UP", "open");
    let server = Running::start(&program, &["serve"]);
    let (status, told) = post(&server, "/auth/sign-up", &body!({ "email": "rita@rockets.example" }));
    assert_eq!(status, 200, "{told}");
    let deadline = Instant::now() + DEADLINE;
    let mail = loop {
        if let Some(mail) = smtp.taken().into_iter().next() {
            break mail.part("text/plain");
        }
        assert!(Instant::now() < deadline, "no mail was sent: {}", server.log());
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    let (_, rest) = mail.split_once("/sign-up#token=").unwrap_or_else(|| panic!("no link: {mail}"));
    let token: String = rest.chars().take_while(|c| !c.is_whitespace()).collect();
    let organization = body!({ "name": "Rockets", "slug": "rockets" });
    let made = body!({ "token": token, "organization": organization, "name": "Rita", "password": "mauve-otter-plinth-42" });
    let (status, told) = post(&server, "/auth/sign-up/complete", &made);
    assert_eq!(status, 201, "{told}");
    assert!(told["data"]["accessToken"].is_string(), "{told}");
    let (status, told) = post(&server, "/auth/sign-up/complete", &made);
    assert_eq!((status, &told["code"]), (400, &body!("invalid_link")));
    let (status, page) = server.get("/sign-up");
    assert!(status == 200 && page.contains("text/html"), "{page}");
}

#[test]
fn it_is_closed_by_default() {
    let program = Program::new();
    let server = Running::start(&program, &["serve"]);
    let (status, told) = post(&server, "/auth/sign-up", &body!({ "email": "rita@rockets.example" }));
    assert_eq!((status, &told["code"]), (403, &body!("sign_up_closed")));
}
