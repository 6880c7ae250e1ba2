//! The shipped mailer: SMTP through lettre, text and HTML alternatives. Each mail has a connection of its own: a connection that
//! was interrupted in the middle of a conversation would answer the next mail with the replies it still owes the last.

mod failure;
mod message;
#[cfg(test)]
mod tests;

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use lettre::{
    Address,
    address::Envelope,
    message::Mailbox,
    transport::smtp::{
        authentication::{Credentials, DEFAULT_MECHANISMS},
        client::{AsyncSmtpConnection, Tls, TlsParameters},
        commands::{Data, Mail, Rcpt},
        extension::ClientId,
    },
};
use percent_encoding::percent_decode_str;
use tokio::{sync::Semaphore, time::timeout};
use url::Url;

use self::failure::Phase;
use super::{MailError, Mailer, Message};
use crate::{error::Cause, value::is_loopback_for_secrets};

/// The time limit of a conversation until the server asks for the mail's content.
const UNTIL_CONTENT: Duration = Duration::from_secs(30);
/// The time limit of the content and of the server's word that it has it (RFC 5321, section 4.5.3.2.6). Servers look for viruses and for
/// spam meanwhile, or let their clients wait on purpose, and who gives up before gets the mail delivered again with each attempt.
const UNTIL_TAKEN: Duration = Duration::from_secs(10 * 60);
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
    until_content: Duration,
    until_taken: Duration,
    farewells: Arc<Semaphore>,
}

/// The SMTP settings cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SmtpSetupError {
    /// Not `smtp://[user:password@]host[:port]` or `smtps://…`.
    #[error("the SMTP URL must be smtp://[user:password@]host[:port] or smtps://…: {0}")]
    Url(String),
    /// The sender is not a mailbox such as `Acme <no-reply@example.com>`.
    #[error("the sender must be an address such as 'Acme <no-reply@example.com>': {0}")]
    From(String),
    /// The system has no root certificates, or rustls refuses its settings.
    #[error("TLS with the mail server cannot be set up (are the system's root certificates installed?): {0}")]
    Tls(#[source] Cause),
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
        let tls = || TlsParameters::new(host.to_owned()).map_err(|error| SmtpSetupError::Tls(error.into()));
        let (tls, default_port) = match url.scheme() {
            "smtps" => (Tls::Wrapper(tls()?), 465),
            "smtp" if is_loopback_for_secrets(&url) => (Tls::None, 587),
            _ => (Tls::Required(tls()?), 587),
        };
        let port = url.port().unwrap_or(default_port);
        let from = mailbox(from)?;
        let credentials = || Credentials::new(decoded(url.username()), decoded(url.password().unwrap_or("")));
        Ok(Self {
            host: host.to_owned(),
            port,
            tls,
            credentials: (!url.username().is_empty()).then(credentials),
            hello_name: hello_name(ClientId::default(), &from),
            server: format!("{}:{port}", url.host_str().unwrap_or(host)),
            from,
            until_content: UNTIL_CONTENT,
            until_taken: UNTIL_TAKEN,
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
        let mut connection = self.connect().await?;
        let is_there = connection.test_connected().await;
        end(connection).await;
        let ended = || MailError::Transient(format!("the mail server ended the conversation ({})", self.server));
        is_there.then_some(()).ok_or_else(ended)
    }

    /// A connection of its own, encrypted and logged in as the settings say. Whatever goes wrong until then is of the session and of no
    /// mail, also where the server's answer is permanent: a greeting of 554 (RFC 5321, section 3.1), a login that is closed with 550.
    async fn connect(&self) -> Result<AsyncSmtpConnection, MailError> {
        self.try_opening().await.map_err(|error| MailError::Transient(self.cause(&error)))
    }

    async fn try_opening(&self) -> Result<AsyncSmtpConnection, lettre::transport::smtp::Error> {
        let from_the_first_byte = if let Tls::Wrapper(tls) = &self.tls { Some(tls.clone()) } else { None };
        let server = (self.host.as_str(), self.port);
        let connecting =
            AsyncSmtpConnection::connect_tokio1(server, Some(self.until_content), &self.hello_name, from_the_first_byte, None);
        let mut connection = connecting.await?;
        if let Tls::Required(tls) = &self.tls {
            connection.starttls(tls.clone(), &self.hello_name).await?;
        }
        if let Some(credentials) = &self.credentials {
            connection.auth(DEFAULT_MECHANISMS, credentials).await?;
        }
        Ok(connection)
    }

    async fn hand_over(&self, mail: &lettre::Message) -> Result<(), MailError> {
        let slow = |_| MailError::Transient(format!("the mail server did not answer in time ({})", self.server));
        let mut connection = timeout(self.until_content, Box::pin(self.offer(mail.envelope()))).await.map_err(slow)??;
        let taken = timeout(self.until_taken, connection.message(&mail.formatted())).await.map_err(slow)?;
        self.take_leave(connection);
        taken.map(drop).map_err(|error| self.refused(&error, Phase::Content))
    }

    /// A connection whose server wants the content of a mail with this envelope. No extension is asked for: addresses and mails are ASCII.
    /// A sender that is refused (550, 553) is every mail's: an operator mends that, and the mails wait until then.
    async fn offer(&self, envelope: &Envelope) -> Result<AsyncSmtpConnection, MailError> {
        let mut connection = self.connect().await?;
        if let Err(error) = connection.command(Mail::new(envelope.from().cloned(), Vec::new())).await {
            self.take_leave(connection);
            return Err(MailError::Transient(self.cause(&error)));
        }
        match self.announce(&mut connection, envelope).await {
            Ok(()) => Ok(connection),
            Err(refused) => {
                self.take_leave(connection);
                Err(refused)
            }
        }
    }

    /// Names the recipient, and asks to send the content.
    async fn announce(&self, connection: &mut AsyncSmtpConnection, envelope: &Envelope) -> Result<(), MailError> {
        for to in envelope.to() {
            let named = connection.command(Rcpt::new(to.clone(), Vec::new())).await;
            named.map_err(|error| self.refused(&error, Phase::Recipient))?;
        }
        connection.command(Data).await.map(drop).map_err(|error| self.refused(&error, Phase::Content))
    }

    /// Takes leave of the server in the background: what became of the mail is known. Were its leave waited for, a server that takes none
    /// would be sent the mail again and again. And it is waited for at few connections, for a server allows a client only so many.
    fn take_leave(&self, connection: AsyncSmtpConnection) {
        if let Ok(place) = Arc::clone(&self.farewells).try_acquire_owned() {
            tokio::spawn(async move {
                end(connection).await;
                drop(place);
            });
        }
    }

    /// Why the server did not take a mail whose sender it let pass so far.
    fn refused(&self, error: &lettre::transport::smtp::Error, phase: Phase) -> MailError {
        let of = if failure::is_of_the_mail(error, phase) { MailError::Permanent } else { MailError::Transient };
        of(self.cause(error))
    }

    /// The server's status code, or the kind of failure, with the server's name and port.
    fn cause(&self, error: &lettre::transport::smtp::Error) -> String {
        format!("{} ({})", failure::cause(error), self.server)
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

/// The sender, with an international domain in its ASCII form (RFC 5891): as it is typed, only servers with SMTPUTF8 (RFC 6531) take it,
/// and others would get no mail at all.
fn mailbox(from: &str) -> Result<Mailbox, SmtpSetupError> {
    let unusable = |reason: &dyn fmt::Display| SmtpSetupError::From(reason.to_string());
    let Mailbox { name, email } = from.parse::<Mailbox>().map_err(|error| unusable(&error))?;
    if !email.user().is_ascii() {
        return Err(unusable(&"not every mail server takes what is not ASCII before the @"));
    }
    if email.domain().is_ascii() {
        return Ok(Mailbox::new(name, email));
    }
    let domain = idna::domain_to_ascii(email.domain()).map_err(|error| unusable(&error))?;
    let email = Address::new(email.user(), domain).map_err(|error| unusable(&error))?;
    Ok(Mailbox::new(name, email))
}

/// What a machine calls itself: the system's name, or the sender's domain where that name has none of its own, such as a container's
/// (RFC 5321, section 4.1.1.1). Servers refuse a bare name (504).
fn hello_name(system: ClientId, from: &Mailbox) -> ClientId {
    match system {
        ClientId::Domain(name) if !name.contains('.') => ClientId::Domain(from.email.domain().to_owned()),
        other => other,
    }
}

fn decoded(part: &str) -> String {
    percent_decode_str(part).decode_utf8_lossy().into_owned()
}

#[async_trait]
impl Mailer for SmtpMailer {
    async fn send(&self, message: &Message) -> Result<(), MailError> {
        self.hand_over(&message::mail(&self.from, message)?).await
    }

    fn time_limit(&self) -> Duration {
        self.until_content + self.until_taken
    }
}
