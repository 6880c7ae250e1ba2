//! A host's program as it runs in production, walked from outside: a person is invited by mail, opens a page of the host's in a browser
//! and is sent to sign in, and a signal ends the program without losing a mail.

use std::{net::SocketAddr, process::Command, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use tenant_auth_core::{
    Config, MasterKeys, Store, TenantAuth,
    ports::{Clock, MockClock, SmtpMailer, SystemClock},
};

use crate::{
    Caller, PASSWORD, PUBLIC_URL, Process, Request,
    smtp::{Mood, SmtpSink},
    template::public_url,
    walks::between,
};

const ADMIN: &str = "ada@example.com";
const SENDER: &str = "Acme <no-reply@example.com>";
/// How long a program may take to end: mails that are being sent have three seconds.
const ENDS_WITHIN: Duration = Duration::from_secs(15);

/// A program with what is around it.
struct Stage<'a> {
    program: &'a str,
    database_url: &'a str,
    master_key: String,
    sink: SmtpSink,
}

/// A program that takes its settings from the variables of the guide `embed.md`, and has the page `/reports` for members.
///
/// # Panics
/// Where it answers otherwise than it should.
pub async fn walked(program: &str, database_url: &str) {
    let stage = Stage { program, database_url, master_key: MasterKeys::generate_text(), sink: SmtpSink::start().await };
    let mut process = stage.start();
    let admin = Caller::at(process.address, "acme");
    for path in ["/health/live", "/health/ready"] {
        admin.visit(path).await.expect(200);
    }
    let invite = stage.token_mailed_to(ADMIN).await;
    admin.accept(&invite, "Ada Admin").await.expect(200);
    pages_lead_to_sign_in(&admin).await;

    let refused = admin.elsewhere().login_with(ADMIN, "a wrong password").await.expect(401);
    let line = process.line_with("login failed");
    let id = refused.header("x-request-id").expect("an id");
    assert!(line.contains(id), "{id} is not in {line}");

    admin.login_with(ADMIN, PASSWORD).header("X-Forwarded-For", "198.51.100.7").await.expect(200);
    let log = admin.get("/org/audit").await.expect_ok();
    let entries = log["entries"].as_array().expect("a list");
    assert!(entries.iter().any(|entry| entry["context"]["ip"] == "198.51.100.7"), "the proxy is trusted: {log}");
    stage.sink.be(Mood::Silent);
    let under_way = Inviting::begin(&admin, process.address, "bob@example.com").await;
    process.signal("TERM");
    until_refused(process.address).await;
    let answer = under_way.end().await;
    assert!(answer.starts_with("HTTP/1.1 201"), "what is under way is answered: {answer}");
    assert!(process.ended(ENDS_WITHIN).success(), "{}", process.printed);
    stage.sink.be(Mood::Taking);
    stage.tick_an_hour_later().await;
    stage.token_mailed_to("bob@example.com").await;

    let mut process = stage.start();
    let browser = admin.at_address(process.address);
    assert_eq!(navigated(&browser, "/reports").await.expect(200).body, "Reports for Ada Admin of Acme\n");
    process.signal("INT");
    assert!(process.ended(ENDS_WITHIN).success(), "{}", process.printed);
    assert_eq!(stage.mails_to(ADMIN).len(), 1, "the second start invites nobody");
}

/// An example that mails the invite of its admin, has the panel at its root and this page for members.
///
/// # Panics
/// Where it answers otherwise than it should.
pub async fn of_an_example(mut process: Process, sink: &SmtpSink, page: &str) {
    let stranger = Caller::at(process.address, "acme");
    let sent = navigated(&stranger, page).await.expect(303);
    assert!(sent.header("location").is_some_and(|to| to.contains("/sign-in#next=http")), "{}", sent.shown());
    navigated(&stranger, "/").await.expect(200);
    for _ in 0..200 {
        if !sink.taken().is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(sink.taken().len(), 1, "the invite");
    process.signal("TERM");
    assert!(process.ended(ENDS_WITHIN).success(), "{}", process.printed);
}

/// As a browser opens a page: it names no organization, and says that it navigates.
fn navigated(browser: &Caller, path: &str) -> Request {
    browser.clone().without_slug().visit(path).header("Sec-Fetch-Mode", "navigate").header("Accept", "text/html")
}

/// The host's page and the service's beside it, before a session, with one and after it.
async fn pages_lead_to_sign_in(admin: &Caller) {
    let leads_to_sign_in = async |browser: &Caller| {
        let sent = navigated(browser, "/reports?year=2026").await.expect(303);
        let next = format!("{PUBLIC_URL}/sign-in#next=https%3A%2F%2Fauth.example.com%2Freports%3Fyear%3D2026");
        assert_eq!(sent.header("location"), Some(next.as_str()));
    };
    let stranger = admin.elsewhere().without_slug();
    leads_to_sign_in(&stranger).await;
    assert_eq!(stranger.visit("/reports").await.expect(401).code(), "session_required", "what a script is told");
    for page in ["/", "/sign-in", "/invite"] {
        let shown = navigated(&stranger, page).await.expect(200);
        assert!(shown.body.contains("Acme Reports") || page == "/", "{page} bears the product's name");
    }
    let tab = admin.copied();
    assert_eq!(navigated(&tab, "/reports").await.expect(200).body, "Reports for Ada Admin of Acme\n");
    admin.logout().await.expect(200);
    leads_to_sign_in(&tab).await;
}

/// A request of which the last byte has not been sent.
struct Inviting {
    connection: TcpStream,
    last: u8,
}

impl Inviting {
    async fn begin(admin: &Caller, to: SocketAddr, invited: &str) -> Self {
        let (token, body) = (admin.access_token(), format!(r#"{{"email":"{invited}"}}"#));
        let request = format!(
            "POST /api/v1/org/members/invite HTTP/1.1\r\nHost: {to}\r\nX-Org-Slug: acme\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut connection = TcpStream::connect(to).await.expect("it listens");
        let (last, first) = request.as_bytes().split_last().expect("a request");
        connection.write_all(first).await.expect("it reads");
        // Accepted connections are served; one that waits to be accepted would be lost with the listener.
        tokio::time::sleep(Duration::from_millis(300)).await;
        Self { connection, last: *last }
    }

    async fn end(mut self) -> String {
        self.connection.write_all(&[self.last]).await.expect("it reads");
        let mut answer = Vec::new();
        let read = tokio::time::timeout(ENDS_WITHIN, self.connection.read_to_end(&mut answer)).await;
        read.expect("the connection is closed after the answer").expect("an answer");
        String::from_utf8_lossy(&answer).into_owned()
    }
}

/// Waits until nobody accepts connections there.
async fn until_refused(address: SocketAddr) {
    for _ in 0..100 {
        if TcpStream::connect(address).await.is_err() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{address} takes connections");
}

impl Stage<'_> {
    fn start(&self) -> Process {
        let mut command = Command::new(self.program);
        command.env("LISTEN", "127.0.0.1:0").env("PUBLIC_URL", PUBLIC_URL).env("TRUSTED_PROXIES", "127.0.0.1/32 ::1/128");
        command.env("DATABASE_URL", self.database_url).env("MASTER_KEY", &self.master_key).env_remove("RUST_LOG");
        command.env("SMTP_URL", self.sink.url()).env("MAIL_FROM", SENDER).env("ADMIN_EMAIL", ADMIN);
        Process::start(&mut command, "http://")
    }

    fn mails_to(&self, recipient: &str) -> Vec<String> {
        let taken = self.sink.taken().into_iter().filter(|mail| mail.to == recipient);
        taken.map(|mail| mail.part("text/plain")).collect()
    }

    /// The token of the first link that was mailed to this address, or will be soon.
    async fn token_mailed_to(&self, recipient: &str) -> String {
        for _ in 0..200 {
            if let Some(text) = self.mails_to(recipient).first() {
                let rest = between(text, "token=", "\n");
                return rest.trim_end().to_owned();
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("no mail to {recipient}");
    }

    /// Sends what the program left behind: a mail that was being sent is tried again after its lease.
    async fn tick_an_hour_later(&self) {
        let clock = MockClock::at(SystemClock.now().plus(Duration::from_secs(3_600)));
        let mailer = SmtpMailer::from_url(&self.sink.url(), SENDER).expect("the sink's URL");
        let store = Store::open(self.database_url).await.expect("the program's database");
        let auth = TenantAuth::builder()
            .store(store.clone())
            .master_keys(MasterKeys::parse(&self.master_key).expect("a generated key"))
            .config(Config::new(public_url()))
            .clock(Arc::new(clock))
            .mailer(Arc::new(mailer))
            .build()
            .await
            .expect("it opens");
        auth.worker().tick().await.expect("the database answers");
        store.close().await;
    }
}
