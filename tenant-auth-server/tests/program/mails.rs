//! Mails of the running program in words and templates of its operator.

use std::{
    fs,
    io::Write,
    path::PathBuf,
    time::{Duration, Instant},
};

use tenant_auth_conformance::smtp::SmtpSink;

use crate::{
    Program, error, json,
    running::{DEADLINE, Running, answer},
};

/// A folder beside the program's database, with one file.
fn folder(program: &Program, name: &str, file: &str, content: &str) -> PathBuf {
    let folder = program.path().join(name);
    fs::create_dir(&folder).expect("a folder can be made");
    fs::write(folder.join(file), content).expect("it can be written");
    folder
}

#[tokio::test(flavor = "multi_thread")]
async fn a_language_and_a_template_of_the_operators_reach_the_mailbox() {
    let smtp = SmtpSink::start().await;
    let program = Program::new().with("SMTP_URL", &smtp.url()).with("MAIL_FROM", "no-reply@example.com").with("SIGN_UP", "open");
    let english = include_str!("../../../tenant-auth-core/languages/en.json");
    let words = folder(&program, "words", "it.json", &english.replace("Create your organization", "Crea la tua organizzazione"));
    let templates = folder(&program, "templates", "sign_up.it.txt", "Ciao! {{ link }}\n{% include \"support.txt\" %}");
    let program = program.with("LANGUAGES", &words.display().to_string());
    let program = program.with("MAIL_TEMPLATES", &templates.display().to_string());
    let server = Running::start(&program, &["serve"]);

    let (mut stream, body) = (server.connect(), r#"{"email":"rita@rockets.example"}"#);
    let head = "Host: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nAccept-Language: it-IT, en;q=0.5";
    write!(stream, "POST /api/v1/auth/sign-up HTTP/1.1\r\n{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
        .expect("it reads");
    assert_eq!(answer(stream).0, 200);
    let deadline = Instant::now() + DEADLINE;
    let mail = loop {
        if let Some(mail) = smtp.taken().into_iter().next() {
            break mail;
        }
        assert!(Instant::now() < deadline, "no mail was sent: {}", server.log());
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(mail.header("Subject").as_deref(), Some("Crea la tua organizzazione"));
    let text = mail.part("text/plain");
    assert!(text.starts_with("Ciao! http") && text.contains("/sign-up#token="), "{text}");
    let html = mail.part("text/html");
    assert!(html.contains("<html lang=\"it\" dir=\"ltr\">") && html.contains("<h1"), "ours, in the added language: {html}");
}

#[test]
fn what_a_template_is_called_and_given_is_listed_and_a_wrong_one_refuses_the_start() {
    let program = Program::new();
    let listed = json(&program.run(&["settings", "--templates", "--json"]));
    let mails = listed["mails"].as_array().expect("a list");
    let invite = mails.iter().find(|mail| mail["mail"] == "invite").expect("is one");
    assert!(invite["values"].as_array().expect("a list").contains(&"organization".into()), "{listed}");
    let text = program.run(&["settings", "--templates"]);
    let text = String::from_utf8_lossy(&text.stdout);
    assert!(text.contains("invite.de.html") && text.contains("webhook_disabled"), "{text}");

    let templates = folder(&program, "templates", "invite.en.html", "<p>\n{{ organisation }}</p>");
    let refused = error(&program.with("MAIL_TEMPLATES", &templates.display().to_string()).run(&["serve"]));
    assert!(refused.contains("TENANT_AUTH_MAIL_TEMPLATES names ") && refused.contains("invite.en.html:2"), "{refused}");
}
