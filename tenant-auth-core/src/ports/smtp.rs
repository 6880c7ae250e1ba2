//! The shipped mailer: SMTP through lettre, text and HTML alternatives. Each mail has a connection of its own: a connection that
//! was interrupted in the middle of a conversation would answer the next mail with the replies it still owes the last.

use std::{error::Error, io, sync::Arc, time::Duration};

use async_trait::async_trait;
use lettre::{
    message::{
        Attachment, Mailbox, MultiPart, SinglePart,
        header::{Header, HeaderName, HeaderValue},
    },
    transport::smtp::{
        authentication::{Credentials, DEFAULT_MECHANISMS},
        client::{AsyncSmtpConnection, Tls, TlsParameters},
        extension::ClientId,
    },
};
use percent_encoding::percent_decode_str;
use tokio::{sync::Semaphore, time::timeout};
use url::Url;

use super::{MailError, Mailer, Message};
use crate::value::is_loopback_for_secrets;

/// The time limit for connecting; the worker limits the whole conversation.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The time limit for taking leave of the server (QUIT).
const FAREWELL: Duration = Duration::from_secs(5);
/// How many connections wait for it at a time; others end without.
const FAREWELLS: usize = 8;

/// A mailer that sends through one SMTP server.
#[derive(Debug)]
pub struct SmtpMailer {
    host: String,
    port: u16,
    tls: Tls,
    credentials: Option<Credentials>,
    /// What this machine calls itself (EHLO).
    hello_name: ClientId,
    /// Its host and port, for those who look for a failure.
    server: String,
    from: Mailbox,
    farewells: Arc<Semaphore>,
}

/// The SMTP settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SmtpSetupError {
    /// Not `smtp://[user:password@]host[:port]` or `smtps://…`.
    #[error("the SMTP URL must be smtp://[user:password@]host[:port] or smtps://…: {0}")]
    Url(String),
    /// The sender is not a mailbox such as `Acme <no-reply@example.com>`.
    #[error("the sender must be an address such as 'Acme <no-reply@example.com>': {0}")]
    From(String),
}

impl SmtpMailer {
    /// From `smtp://[user:password@]host[:port]` (port 587; STARTTLS is required unless the host is loopback) or `smtps://…`
    /// (port 465, TLS from the first byte). Connects at the first mail, not here.
    ///
    /// # Errors
    /// [`SmtpSetupError`], naming the part that cannot be used.
    pub fn from_url(url: &str, from: &str) -> Result<Self, SmtpSetupError> {
        let url = parsed(url)?;
        let host = url.host_str().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let tls = || TlsParameters::new(host.to_owned()).map_err(|error| SmtpSetupError::Url(error.to_string()));
        let (tls, default_port) = match url.scheme() {
            "smtps" => (Tls::Wrapper(tls()?), 465),
            "smtp" if is_loopback_for_secrets(&url) => (Tls::None, 587),
            _ => (Tls::Required(tls()?), 587),
        };
        let port = url.port().unwrap_or(default_port);
        let credentials = || Credentials::new(decoded(url.username()), decoded(url.password().unwrap_or("")));
        Ok(Self {
            host: host.to_owned(),
            port,
            tls,
            credentials: (!url.username().is_empty()).then(credentials),
            hello_name: ClientId::default(),
            server: format!("{}:{port}", url.host_str().unwrap_or(host)),
            from: mailbox(from)?,
            farewells: Arc::new(Semaphore::new(FAREWELLS)),
        })
    }

    /// Whether this names a mail server; the system's root certificates are not looked for.
    ///
    /// # Errors
    /// [`SmtpSetupError::Url`].
    pub fn check_url(url: &str) -> Result<(), SmtpSetupError> {
        parsed(url).map(drop)
    }

    /// Whether mails can have this sender.
    ///
    /// # Errors
    /// [`SmtpSetupError::From`].
    pub fn check_sender(from: &str) -> Result<(), SmtpSetupError> {
        mailbox(from).map(drop)
    }

    /// Connects and logs in as before a mail, and sends none.
    ///
    /// # Errors
    /// [`MailError::Transient`] with the server's status code or the kind of failure.
    pub async fn try_connecting(&self) -> Result<(), MailError> {
        let mut connection = self.connect().await.map_err(|error| MailError::Transient(self.cause(&error)))?;
        let is_there = connection.test_connected().await;
        end(connection).await;
        let ended = || MailError::Transient(format!("the mail server ended the conversation ({})", self.server));
        is_there.then_some(()).ok_or_else(ended)
    }

    /// A connection of its own, encrypted and logged in as the settings say.
    async fn connect(&self) -> Result<AsyncSmtpConnection, lettre::transport::smtp::Error> {
        let from_the_first_byte = if let Tls::Wrapper(tls) = &self.tls { Some(tls.clone()) } else { None };
        let server = (self.host.as_str(), self.port);
        let connecting = AsyncSmtpConnection::connect_tokio1(server, Some(TIMEOUT), &self.hello_name, from_the_first_byte, None);
        let mut connection = connecting.await?;
        if let Tls::Required(tls) = &self.tls {
            connection.starttls(tls.clone(), &self.hello_name).await?;
        }
        if let Some(credentials) = &self.credentials {
            connection.auth(DEFAULT_MECHANISMS, credentials).await?;
        }
        Ok(connection)
    }

    async fn hand_over(&self, mail: &lettre::Message) -> Result<(), lettre::transport::smtp::Error> {
        let mut connection = self.connect().await?;
        connection.send(mail.envelope(), &mail.formatted()).await?;
        // The server has the mail. Were its leave waited for, a server that takes none would be sent the mail again and again.
        // And it is waited for at few connections, for a server allows a client only so many.
        if let Ok(place) = Arc::clone(&self.farewells).try_acquire_owned() {
            tokio::spawn(async move {
                end(connection).await;
                drop(place);
            });
        }
        Ok(())
    }

    /// The server's status code, or the kind of failure, with the server's name and port.
    fn cause(&self, error: &lettre::transport::smtp::Error) -> String {
        format!("{} ({})", cause(error), self.server)
    }
}

/// The URL of a mail server.
fn parsed(url: &str) -> Result<Url, SmtpSetupError> {
    let url = Url::parse(url).map_err(|error| SmtpSetupError::Url(error.to_string()))?;
    if url.host_str().is_none_or(str::is_empty) {
        return Err(SmtpSetupError::Url("no host".to_owned()));
    }
    match url.scheme() {
        "smtp" | "smtps" => Ok(url),
        other => Err(SmtpSetupError::Url(format!("unknown scheme '{other}'"))),
    }
}

/// Takes leave of the server and closes the connection; a server that does not answer is not waited for any longer then.
async fn end(mut connection: AsyncSmtpConnection) {
    let _ = timeout(FAREWELL, connection.abort()).await;
}

fn mailbox(from: &str) -> Result<Mailbox, SmtpSetupError> {
    from.parse().map_err(|error| SmtpSetupError::From(format!("{error}")))
}

fn decoded(part: &str) -> String {
    percent_decode_str(part).decode_utf8_lossy().into_owned()
}

#[async_trait]
impl Mailer for SmtpMailer {
    async fn send(&self, message: &Message) -> Result<(), MailError> {
        match self.hand_over(&mail(&self.from, message)?).await {
            Ok(()) => Ok(()),
            Err(error) if is_of_the_mail(&error) => Err(MailError::Permanent(self.cause(&error))),
            Err(error) => Err(MailError::Transient(self.cause(&error))),
        }
    }
}

/// No person wrote it, so that no absent one's program answers it (RFC 3834, section 5).
#[derive(Debug, Clone)]
struct AutoSubmitted;

impl Header for AutoSubmitted {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("Auto-Submitted")
    }

    fn parse(_: &str) -> Result<Self, Box<dyn Error + Send + Sync>> {
        Ok(Self)
    }

    fn display(&self) -> HeaderValue {
        HeaderValue::new(Self::name(), "auto-generated".to_owned())
    }
}

/// The mail as it is sent. Receivers refuse one without an id, and it must not tell this machine's name (RFC 5322, section 3.6.4).
fn mail(from: &Mailbox, message: &Message) -> Result<lettre::Message, MailError> {
    let to = message.to.as_str().parse().map_err(|error| MailError::Permanent(format!("recipient: {error}")))?;
    let domain = idna::domain_to_ascii(from.email.domain()).map_err(|error| MailError::Permanent(format!("sender: {error}")))?;
    lettre::Message::builder()
        .message_id(Some(format!("<{}@{domain}>", message.id)))
        .header(AutoSubmitted)
        .from(from.clone())
        .to(Mailbox::new(None, to))
        .subject(message.subject.clone())
        .multipart(content(message)?)
        .map_err(|error| MailError::Permanent(error.to_string()))
}

/// The text, and the HTML with the picture that it shows (RFC 2387).
fn content(message: &Message) -> Result<MultiPart, MailError> {
    let Some(logo) = &message.logo else {
        return Ok(MultiPart::alternative_plain_html(message.text.clone(), message.html.clone()));
    };
    let kind = logo.content_type().parse().map_err(|error| MailError::Permanent(format!("logo: {error}")))?;
    let logo = Attachment::new_inline("logo".to_owned()).body(logo.as_bytes().to_vec(), kind);
    let html = MultiPart::related().singlepart(SinglePart::html(message.html.clone())).singlepart(logo);
    Ok(MultiPart::alternative().singlepart(SinglePart::plain(message.text.clone())).multipart(html))
}

/// Whether the refusal is of this mail or its recipient for good (RFC 5321, section 4.2.3). Other permanent answers are of the session:
/// a password that was changed (535), a command that the server does not know (502). An operator mends those, and no mail is lost
/// until then.
fn is_of_the_mail(error: &lettre::transport::smtp::Error) -> bool {
    error.status().is_some_and(|code| (550..=559).contains(&u16::from(code)))
}

/// The server's status code, or the kind of failure. Never the server's text: servers quote addresses, and filters quote links.
fn cause(error: &lettre::transport::smtp::Error) -> String {
    match error.status() {
        Some(code) => format!("the mail server answered {code}"),
        None if error.is_timeout() => "the mail server did not answer in time".to_owned(),
        None => match failure_of_tls(error) {
            Some(reason) => format!("TLS with the mail server failed: {reason}"),
            None => "the mail server could not be reached, or the connection broke off".to_owned(),
        },
    }
}

/// Why TLS failed, in rustls' words, such as that a certificate has expired or that nobody trusts it. The mail library takes it for a
/// connection that failed; what rustls refuses is invalid data there.
fn failure_of_tls(error: &(dyn Error + 'static)) -> Option<String> {
    let mut causes = std::iter::successors(error.source(), |&error| error.source());
    let cause = causes.find_map(|error| error.downcast_ref::<io::Error>())?;
    (cause.kind() == io::ErrorKind::InvalidData).then(|| cause.to_string())
}

#[cfg(test)]
mod tests {
    use lettre::Address;
    use proptest::prelude::*;

    use super::*;
    use crate::value::{Email, Logo};

    proptest! {
        /// A mail to an address that the mail library cannot read would be given up days after it was caused.
        #[test]
        fn every_email_is_an_address_to_the_mail_library(
            local in "[a-zA-Z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}",
            domain in "[a-zA-Z0-9ü-]{1,20}(\\.[a-zA-Z0-9-]{1,63}){0,3}",
        ) {
            if let Ok(email) = Email::parse(&format!("{local}@{domain}")) {
                prop_assert!(email.as_str().parse::<Address>().is_ok(), "{email}");
            }
        }
    }

    #[test]
    fn a_mail_has_an_id_and_its_logo_inline_beside_the_html_that_shows_it() {
        let logo = Logo::parse("<svg xmlns='http://www.w3.org/2000/svg'/>").expect("an SVG");
        let to = Email::parse("a@example.com").expect("an address");
        let html = "<img src=\"cid:logo\">".to_owned();
        let message = Message {
            id: "mail_1".to_owned(),
            to,
            subject: String::new(),
            text: "text".to_owned(),
            html,
            logo: Some(logo),
            kind: String::new(),
            language: crate::value::Language::ENGLISH,
            link: None,
            values: std::collections::BTreeMap::new(),
        };
        let from = mailbox("Acme <no-reply@münchen.example>").expect("a sender");
        let mail = |message: &Message| String::from_utf8(super::mail(&from, message).expect("a mail").formatted()).expect("UTF-8");
        let written = mail(&message);
        let at = |text: &str| written.find(text).unwrap_or_else(|| panic!("{text} in {written}"));
        let order =
            ["multipart/alternative", "text/plain", "multipart/related", "text/html", "cid:logo", "Content-ID: <logo>"].map(at);
        assert!(order.is_sorted(), "{written}");
        assert!(written.contains("image/svg+xml") && written.contains("Content-Disposition: inline"), "{written}");
        let other = mail(&Message { logo: None, ..message });
        assert!(!other.contains("image/"));
        assert!(
            other.contains("\r\nMessage-ID: <mail_1@xn--mnchen-3ya.example>\r\n")
                || other.starts_with("Message-ID: <mail_1@xn--mnchen-3ya.example>\r\n"),
            "{other}"
        );
        assert!(other.contains("\r\nAuto-Submitted: auto-generated\r\n"), "{other}");
    }

    #[tokio::test]
    async fn a_certificate_that_is_not_trusted_is_told_as_such() {
        use tokio_rustls::{TlsAcceptor, rustls};

        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
        let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
        let provider = std::sync::Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|config| config.with_no_client_auth().with_single_cert(vec![made.cert.der().clone()], key))
            .expect("settings");
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let url = format!("smtps://us:secret@localhost:{}", listener.local_addr().expect("bound").port());
        let server = tokio::spawn(async move {
            let (stream, _) = listener.accept().await.expect("somebody comes");
            TlsAcceptor::from(std::sync::Arc::new(config)).accept(stream).await.is_ok()
        });
        let mailer = SmtpMailer::from_url(&url, "a@example.com").expect("usable settings");
        let Err(MailError::Transient(reason)) = mailer.try_connecting().await else { panic!("it is not believed") };
        let at = url.trim_start_matches("smtps://us:secret@");
        assert_eq!(reason, format!("TLS with the mail server failed: invalid peer certificate: UnknownIssuer ({at})"));
        assert!(!server.await.expect("no panic"));
    }

    #[tokio::test]
    async fn urls_that_cannot_work_are_refused() {
        for url in ["mail.example.com", "http://mail.example.com", "smtp://"] {
            assert!(SmtpMailer::from_url(url, "a@example.com").is_err(), "{url}");
        }
        assert!(SmtpMailer::from_url("smtp://localhost", "not a mailbox").is_err());
        assert!(SmtpMailer::from_url("smtps://us%40er:p%3Aw@mail.example.com:465", "Acme <a@example.com>").is_ok());
    }
}
