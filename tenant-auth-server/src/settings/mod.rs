//! What the operator decided, read and checked before anything starts. Each kind of command reads only what it needs: a
//! migration the database, a command the master key too, one that prints a link the public URL, and the server everything.
//! Nothing here opens a connection or a file (but the master key's); what must stay true is that a server which should not
//! run does not start (behaviour.md, B120).

mod input;
mod names;
mod reading;
mod refusal;
mod service;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;

use tenant_auth_core::{
    Config, MasterKeys,
    ports::{SmtpMailer, SmtpSetupError},
};
use url::Url;

pub(crate) use input::Input;
use reading::Reading;
pub(crate) use refusal::Refused;

/// Which database, and how much of it.
#[derive(Debug)]
pub(crate) struct Database {
    /// `sqlite:…` or `postgres:…`; may hold a password.
    pub(crate) url: String,
    /// The most connections this process may have.
    pub(crate) connections: u32,
}

/// What every command that works on organizations needs.
#[derive(Debug)]
pub(crate) struct Deployment {
    /// Where the data is.
    pub(crate) database: Database,
    /// What protects it.
    pub(crate) master_keys: MasterKeys,
    /// How the service behaves.
    pub(crate) config: Config,
    /// What is worth a look.
    pub(crate) warnings: Vec<String>,
}

/// What the server needs.
#[derive(Debug)]
pub(crate) struct Server {
    /// What it shares with the commands.
    pub(crate) deployment: Deployment,
    /// Where it listens.
    pub(crate) listen: SocketAddr,
    /// Where it tells its metrics, if anywhere.
    pub(crate) metrics_listen: Option<SocketAddr>,
    /// Which log lines are written.
    pub(crate) log_filter: String,
    /// How.
    pub(crate) log_format: LogFormat,
    mail: Option<Mail>,
}

/// How a log line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

#[derive(Debug)]
struct Mail {
    smtp_url: String,
    from: String,
}

/// The database alone, for `migrate`.
///
/// # Errors
/// [`Refused`], with everything that is wrong.
pub(crate) fn for_migrate(input: &Input) -> Result<Database, Refused> {
    let mut reading = Reading::of(input);
    let database = service::database(&mut reading);
    reading.finish(database)
}

/// The public URL's settings alone, for who has stated one.
///
/// # Errors
/// [`Refused`], when what was stated cannot be used.
pub(crate) fn for_document(input: &Input) -> Result<Option<Config>, Refused> {
    let mut reading = Reading::of(input);
    if reading.text("public_url").is_none() {
        return Ok(None);
    }
    let config = service::config(&mut reading);
    reading.finish(config).map(Some)
}

/// For a command. One that prints no link does without the public URL.
///
/// # Errors
/// [`Refused`], with everything that is wrong.
pub(crate) fn for_command(input: &Input, prints_link: bool) -> Result<Deployment, Refused> {
    let mut reading = Reading::of(input);
    if !prints_link {
        reading.assume("public_url", "http://localhost");
    }
    let deployment = service::deployment(&mut reading, input.read_file);
    reading.finish(deployment)
}

/// For the server.
///
/// # Errors
/// [`Refused`], with everything that is wrong.
pub(crate) fn for_server(input: &Input) -> Result<Server, Refused> {
    let mut reading = Reading::of(input);
    let deployment = service::deployment(&mut reading, input.read_file);
    service::require_stated_proxies(&mut reading);
    let listen = service::listen(&mut reading);
    let metrics_listen = service::metrics_listen(&mut reading);
    let (log_filter, log_format) = service::log(&mut reading);
    let mail = mail(&mut reading);
    let warnings = reading.take_warnings();
    let server = deployment.map(|mut deployment| {
        deployment.warnings.extend(warnings);
        Server { deployment, listen, metrics_listen, log_filter, log_format, mail }
    });
    reading.finish(server)
}

fn mail(reading: &mut Reading) -> Option<Mail> {
    let Some(smtp_url) = reading.text("smtp_url") else {
        reading.warn("TENANT_AUTH_SMTP_URL is not set: mail waits in the outbox until it is");
        return None;
    };
    let from = reading.text("mail_from").unwrap_or_else(|| {
        let host = reading.text("public_url").and_then(|url| Url::parse(&url).ok());
        let from = format!("no-reply@{}", host.as_ref().and_then(Url::domain).unwrap_or("localhost"));
        reading.warn(format!("TENANT_AUTH_MAIL_FROM is not set: mail is sent from {from}"));
        from
    });
    Some(Mail { smtp_url, from })
}

impl Database {
    /// Whether it is another process, which may come up later than this one.
    pub(crate) fn is_remote(&self) -> bool {
        !self.url.starts_with("sqlite:")
    }
}

impl Server {
    /// The mailer, when there is an SMTP server. It lives on the runtime, so it is made here and not while reading.
    ///
    /// # Errors
    /// [`Refused`], naming the setting that cannot be used.
    pub(crate) fn mailer(&self) -> Result<Option<SmtpMailer>, Refused> {
        let Some(mail) = &self.mail else { return Ok(None) };
        SmtpMailer::from_url(&mail.smtp_url, &mail.from).map(Some).map_err(|error| match error {
            SmtpSetupError::Url(reason) => {
                Refused::setting("smtp_url", format!("must be smtp://[user:password@]host[:port] or smtps://…: {reason}"))
            }
            SmtpSetupError::From(reason) => {
                Refused::setting("mail_from", format!("must be an address such as 'Acme <no-reply@example.com>': {reason}"))
            }
        })
    }
}
