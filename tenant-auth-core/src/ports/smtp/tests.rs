//! The shipped mailer against settings that cannot work, and against servers that take their time.

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpListener,
    task::JoinHandle,
    time::sleep,
};

use super::*;
use crate::value::{Email, Language};

/// The URL of a server that takes one mail, and waits so long before it says each word: the greeting, and that it has the mail.
async fn slow_server(greeting: Duration, acknowledgement: Duration) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
    let url = format!("smtp://127.0.0.1:{}", listener.local_addr().expect("bound").port());
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.expect("somebody comes");
        let (mut stream, mut line, mut is_content) = (BufReader::new(stream), String::new(), false);
        sleep(greeting).await;
        let mut word = "220 slow";
        loop {
            if !word.is_empty() && stream.write_all(format!("{word}\r\n").as_bytes()).await.is_err() {
                return;
            }
            line.clear();
            if stream.read_line(&mut line).await.is_ok_and(|read| read == 0) {
                return;
            }
            word = match line.trim_end() {
                "." => {
                    sleep(acknowledgement).await;
                    is_content = false;
                    "250 taken"
                }
                _ if is_content => "",
                "DATA" => {
                    is_content = true;
                    "354 go on"
                }
                _ => "250 yes",
            };
        }
    });
    url
}

async fn sent_to(url: &str, until_content: Duration) -> Result<(), MailError> {
    let mut mailer = SmtpMailer::from_url(url, "a@example.com").expect("usable settings");
    (mailer.until_content, mailer.until_taken) = (until_content, Duration::from_secs(30));
    mailer.send(&message()).await
}

fn message() -> Message {
    Message {
        id: "mail_1".to_owned(),
        to: Email::parse("b@example.com").expect("an address"),
        subject: String::new(),
        text: "text".to_owned(),
        html: "html".to_owned(),
        logo: None,
        kind: String::new(),
        language: Language::ENGLISH,
        link: None,
        values: std::collections::BTreeMap::new(),
    }
}

/// The URL of a server that offers a login and no STARTTLS, and what it is told.
async fn clear_server() -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
    let url = format!("smtp://user:secret@127.0.0.1:{}", listener.local_addr().expect("bound").port());
    let told = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.expect("somebody comes");
        let (mut stream, mut told, mut word) = (BufReader::new(stream), Vec::new(), "220 clear");
        loop {
            let mut line = String::new();
            let is_told = stream.write_all(format!("{word}\r\n").as_bytes()).await.is_ok();
            if !is_told || !stream.read_line(&mut line).await.is_ok_and(|read| read > 0) {
                return told;
            }
            word = if line.starts_with("EHLO ") { "250-clear\r\n250 AUTH PLAIN LOGIN" } else { "250 yes" };
            told.push(line);
        }
    });
    (url, told)
}

/// Whoever sits in between can take STARTTLS out of the server's offer.
#[tokio::test]
async fn nothing_is_told_in_the_clear_where_tls_is_required() {
    let mailer_of = |url: &str| SmtpMailer::from_url(url, "a@example.com").expect("usable settings");
    let required = mailer_of("smtp://mail.example.com").tls;
    assert!(matches!(required, Tls::Required(_)) && matches!(mailer_of("smtp://localhost").tls, Tls::None));
    let (url, told) = clear_server().await;
    let mut mailer = mailer_of(&url);
    mailer.tls = required;
    assert!(matches!(mailer.send(&message()).await, Err(MailError::Transient(_))));
    let told = told.await.expect("it ends");
    assert!(!told.is_empty() && told.iter().all(|line| line.starts_with("EHLO ") || line == "QUIT\r\n"), "{told:?}");
}

/// Given up, the mail would be sent again, and arrive twice.
#[tokio::test]
async fn a_server_may_take_longer_over_a_mail_than_over_a_command() {
    let (at_once, ample, little) = (Duration::ZERO, Duration::from_secs(3), Duration::from_secs(1));
    sent_to(&slow_server(at_once, ample + little).await, ample).await.expect("it is taken");
    let slow = slow_server(ample, at_once).await;
    let Err(MailError::Transient(reason)) = sent_to(&slow, little).await else { panic!("it is slow") };
    assert!(reason.starts_with("the mail server did not answer in time (127.0.0.1:"), "{reason}");
}

#[test]
fn an_attempt_is_given_the_minutes_of_the_standard() {
    let mailer = SmtpMailer::from_url("smtp://localhost", "a@example.com").expect("usable settings");
    assert!(mailer.time_limit() >= Duration::from_secs(10 * 60));
}

#[tokio::test]
async fn urls_that_cannot_work_are_refused() {
    for url in ["mail.example.com", "http://mail.example.com", "smtp://"] {
        assert!(SmtpMailer::from_url(url, "a@example.com").is_err(), "{url}");
    }
    assert!(SmtpMailer::from_url("smtp://localhost", "not a mailbox").is_err());
    assert!(SmtpMailer::from_url("smtps://us%40er:p%3Aw@mail.example.com:465", "Acme <a@example.com>").is_ok());
}

#[test]
fn a_machine_calls_itself_by_a_name_with_a_domain() {
    let from = mailbox("Acme <no-reply@münchen.example>").expect("a sender");
    let told = |system: &str| hello_name(ClientId::Domain(system.to_owned()), &from).to_string();
    assert_eq!([told("3f2a1b9c"), told("auth-1.example.com")], ["xn--mnchen-3ya.example", "auth-1.example.com"]);
}

#[test]
fn a_sender_is_one_to_every_mail_server() {
    for (given, sent) in
        [("Büro <no-reply@münchen.example>", "no-reply@xn--mnchen-3ya.example"), ("a@EXAMPLE.com", "a@EXAMPLE.com")]
    {
        assert_eq!(mailbox(given).expect("a sender").email.to_string(), sent);
    }
    let refused = SmtpMailer::check_sender("Acme <büro@example.com>").expect_err("RFC 6531 is not everywhere");
    assert!(refused.to_string().ends_with("not every mail server takes what is not ASCII before the @"), "{refused}");
}
