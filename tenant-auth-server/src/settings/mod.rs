//! What the operator decided, read and checked before anything starts. Each kind of command reads only what it needs: a
//! migration the database, a command the master key too, one that prints a link the public URL, and the server everything.
//! Nothing here opens a connection or a file (but the master key's); what must stay true is that a server which should not
//! run does not start (behaviour.md, B120).

mod effective;
mod example;
mod input;
mod invalid;
mod parse;
mod reading;
#[cfg(test)]
mod reference;
mod row;
mod rules;
mod sanity;
mod table;
#[cfg(test)]
mod tests;
mod values;

use std::{net::SocketAddr, time::Duration};

use tenant_auth_core::{
    Config, MasterKeys, StoreOptions,
    ports::{SmtpMailer, SmtpSetupError},
};
use url::Url;

pub(crate) use effective::Effective;
pub(crate) use example::example;
pub(crate) use input::Input;
pub(crate) use invalid::InvalidSettings;
use reading::Reading;
use row::{Fault, Row};
#[cfg(feature = "otlp")]
pub(crate) use table::OTLP_ENDPOINT;
use table::Part;
pub(crate) use table::{CONNECTIONS, DATABASE_URL, FRESHNESS, LISTEN, METRICS_LISTEN, OPERATOR_ORG, SQLITE_MUST_EXIST};
pub(crate) use values::LogFormat;
use values::Values;

/// Which database, and how much of it.
#[derive(Debug)]
pub(crate) struct Database {
    /// `sqlite:…` or `postgres:…`; may hold a password.
    pub(crate) url: String,
    /// The most connections this process may have.
    pub(crate) connections: u32,
    /// Whether a SQLite file is there already, and must not be made.
    pub(crate) must_exist: bool,
}

/// What every command that works on organizations needs.
#[derive(Debug)]
pub(crate) struct Deployment {
    /// Where the data is.
    pub(crate) database: Database,
    /// What protects it.
    pub(crate) master_keys: MasterKeys,
    /// The setting that gave them.
    pub(crate) master_keys_from: Row,
    /// How the service behaves.
    pub(crate) config: Config,
    /// What is worth a look.
    pub(crate) warnings: Vec<String>,
}

/// What `dev` needs to listen.
#[derive(Debug)]
pub(crate) struct DevFront {
    /// Where it listens, unless the command line says otherwise.
    pub(crate) listen: SocketAddr,
    /// The most connections of clients at once.
    pub(crate) connections: u32,
    /// How long it goes on answering once it was told to stop.
    pub(crate) drain_notice: Duration,
    /// Which log lines are written.
    pub(crate) log_filter: String,
    /// How.
    pub(crate) log_format: LogFormat,
}

/// What `dev` serves.
#[derive(Debug)]
pub(crate) struct DevService {
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
    /// The most connections of clients at once.
    pub(crate) connections: u32,
    /// How long it goes on answering once it was told to stop.
    pub(crate) drain_notice: Duration,
    /// Which log lines are written.
    pub(crate) log_filter: String,
    /// How.
    pub(crate) log_format: LogFormat,
    /// Where spans go, if anywhere.
    pub(crate) otlp_endpoint: Option<Url>,
    mail: Option<Mail>,
}

#[derive(Debug)]
struct Mail {
    smtp_url: String,
    from: String,
}

/// Where the server of these settings listens.
///
/// # Errors
/// [`InvalidSettings`], with everything that is wrong about how it is reached.
pub(crate) fn for_health(input: &Input) -> Result<SocketAddr, InvalidSettings> {
    let mut reading = Reading::of(input);
    reading.read(&[Part::Server]);
    reading.finish(|values| Some(values.listen))
}

/// The database alone, for `migrate`.
///
/// # Errors
/// [`InvalidSettings`], with everything that is wrong.
pub(crate) fn for_migrate(input: &Input) -> Result<Database, InvalidSettings> {
    let mut reading = Reading::of(input);
    reading.read(&[Part::Database]);
    reading.finish(|values| database(&values))
}

/// The public URL's settings alone, for who has stated one.
///
/// # Errors
/// [`InvalidSettings`], when what was stated cannot be used.
pub(crate) fn for_document(input: &Input) -> Result<Option<Config>, InvalidSettings> {
    let mut reading = Reading::of(input);
    if reading.given(&table::PUBLIC_URL).is_none() {
        return Ok(None);
    }
    reading.read(&[Part::Service]);
    rules::check_service(&mut reading);
    reading.finish(|values| Some(values.config)).map(Some)
}

/// For a command. One that prints no link does without the public URL.
///
/// # Errors
/// [`InvalidSettings`], with everything that is wrong.
pub(crate) fn for_command(input: &Input, prints_link: bool) -> Result<Deployment, InvalidSettings> {
    let mut reading = Reading::of(input);
    if !prints_link {
        reading.assume(&table::PUBLIC_URL, "http://localhost");
    }
    reading.read(&[Part::Database, Part::MasterKeys, Part::Service]);
    rules::check_master_keys(&mut reading);
    rules::check_service(&mut reading);
    let warnings = reading.take_warnings();
    reading.finish(|mut values| {
        values.config.memory.mebibytes = 0; // a command asks once; on SQLite the server beside it remembers
        deployment(values, warnings)
    })
}

/// Where `dev` listens and how it logs. Unless the settings say otherwise, it has connections enough for every tab of one developer,
/// and stops at once.
///
/// # Errors
/// [`InvalidSettings`], with everything that is wrong.
pub(crate) fn for_dev_front(input: &Input) -> Result<DevFront, InvalidSettings> {
    let mut reading = Reading::of(input);
    reading.assume(&table::CONNECTIONS, "256");
    reading.assume(&table::DRAIN_NOTICE, "0");
    reading.read(&[Part::Server]);
    reading.finish(|values| {
        Some(DevFront {
            listen: values.listen,
            connections: values.connections,
            drain_notice: values.drain_notice,
            log_filter: values.log_filter,
            log_format: values.log_format,
        })
    })
}

/// How the service of `dev` behaves: as the settings say, at this public URL unless they state another. A developer runs webhook
/// receivers on the same machine, so they are allowed unless the settings refuse them.
///
/// # Errors
/// [`InvalidSettings`], with everything that is wrong.
pub(crate) fn for_dev(input: &Input, public_url: &str) -> Result<DevService, InvalidSettings> {
    let mut reading = Reading::of(input);
    reading.assume(&table::PUBLIC_URL, public_url);
    reading.assume(&table::WEBHOOK_ALLOW_PRIVATE_NETWORKS, "true");
    reading.read(&[Part::Service]);
    rules::check_service(&mut reading);
    for row in table::rows_without_effect_on_dev() {
        if reading.given(row).is_some() {
            reading.warn(format!("{} has no effect on 'dev', which has its own; use 'serve'", row.variable()));
        }
    }
    let warnings = reading.take_warnings();
    reading.finish(|values| Some(DevService { config: values.config, warnings }))
}

/// For the server.
///
/// # Errors
/// [`InvalidSettings`], with everything that is wrong.
pub(crate) fn for_server(input: &Input) -> Result<Server, InvalidSettings> {
    let mut reading = read_all(input);
    let from = rules::sender(&mut reading);
    let warnings = reading.take_warnings();
    reading.finish(|mut values| {
        let mail = values.smtp_url.take().map(|smtp_url| Mail { smtp_url, from });
        Some(Server {
            listen: values.listen,
            metrics_listen: values.metrics_listen,
            connections: values.connections,
            drain_notice: values.drain_notice,
            log_filter: std::mem::take(&mut values.log_filter),
            log_format: values.log_format,
            otlp_endpoint: values.otlp_endpoint.take(),
            mail,
            deployment: deployment(values, warnings)?,
        })
    })
}

/// Everything, and every rule that a server must keep.
fn read_all(input: &Input) -> Reading {
    let mut reading = Reading::of(input);
    reading.read(&[Part::Database, Part::MasterKeys, Part::Service, Part::Server]);
    rules::check_master_keys(&mut reading);
    rules::check_service(&mut reading);
    rules::require_stated_proxies(&mut reading);
    rules::check_listeners(&mut reading);
    reading
}

fn database(values: &Values) -> Option<Database> {
    Some(Database {
        url: values.database_url.clone()?,
        connections: values.database_connections,
        must_exist: values.sqlite_must_exist,
    })
}

fn deployment(values: Values, warnings: Vec<String>) -> Option<Deployment> {
    let (database, master_keys_from) = (database(&values)?, values.master_keys_from);
    Some(Deployment { database, master_keys: values.master_keys?, master_keys_from, config: values.config, warnings })
}

impl Database {
    /// Whether it is another process, which may come up later than this one.
    pub(crate) fn is_remote(&self) -> bool {
        !self.url.starts_with("sqlite:")
    }

    /// How it is opened.
    pub(crate) const fn options(&self) -> StoreOptions {
        StoreOptions::with_connections(self.connections)
    }
}

impl Server {
    /// The mailer, when there is an SMTP server.
    ///
    /// # Errors
    /// [`InvalidSettings`], naming the setting that cannot be used.
    pub(crate) fn mailer(&self) -> Result<Option<SmtpMailer>, InvalidSettings> {
        let Some(mail) = &self.mail else { return Ok(None) };
        SmtpMailer::from_url(&mail.smtp_url, &mail.from).map(Some).map_err(unusable_mail)
    }
}

/// Names the setting that mails cannot be sent with.
fn unusable_mail(error: SmtpSetupError) -> InvalidSettings {
    let (row, fault) = match error {
        SmtpSetupError::Url(reason) => (table::SMTP_URL, Fault::because(reason)),
        SmtpSetupError::From(reason) => (table::MAIL_FROM, Fault::because(reason)),
        // Nothing is wrong with the value.
        other => (table::SMTP_URL, Fault::Instead(format!("cannot be used: {other}"))),
    };
    InvalidSettings::setting(&row, row.reason(fault))
}
