//! The command `serve`, and its `--check`: tries what the server would need, database, master key, mail server, names and addresses, says
//! what a start would do, and changes nothing (behaviour.md, B220). Every part is tried, also when one before it failed.

use std::{net::SocketAddr, time::Duration};

use clap::Args;
use serde::Serialize;
use tenant_auth_core::{Store, operator::Survey, ports::MailError};
use tokio::time::timeout;
use url::Url;

use super::report::Format;
use crate::{
    connections,
    database_mark::DatabaseMark,
    failure::Failure,
    logging, serve,
    settings::{self, Deployment, Input, LogFormat, Server},
};

/// How long a name server may take.
const NAMES: Duration = Duration::from_secs(10);
/// How long the mail server may take, its greeting and login included.
const MAIL: Duration = Duration::from_secs(40);

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Try database, mail, names and addresses, say what a start would do, and change nothing
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    format: Format,
}

/// What came of trying one part.
#[derive(Debug, Serialize)]
struct Tried {
    part: &'static str,
    verdict: Verdict,
    /// What was found, and what a start would do.
    found: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Ok,
    /// The server starts, and something will not work.
    Warning,
    /// The server would not start, or would never send a mail.
    Failed,
}

#[derive(Debug, Serialize)]
struct Report {
    starts: bool,
    parts: Vec<Tried>,
}

impl Options {
    pub(super) async fn run(self, input: &Input) -> Result<(), Failure> {
        if !self.check {
            if self.format.is_json() {
                return Err(Failure::Usage("--json goes with --check.".to_owned()));
            }
            return serve::run(input).await;
        }
        let settings = settings::for_server(input)?;
        logging::start("error", LogFormat::Text);
        let mut parts: Vec<Tried> =
            settings.deployment.warnings.iter().map(|warning| Tried::new("settings", Verdict::Warning, warning)).collect();
        parts.extend(database(&settings).await);
        parts.push(mail(&settings).await);
        parts.push(public_name(&settings.deployment.config.public_url).await);
        for (part, address) in [("address", Some(settings.listen)), ("metrics", settings.metrics_listen)] {
            parts.extend(address.map(|address| listening(part, address)));
        }
        let starts = parts.iter().all(|tried| tried.verdict != Verdict::Failed);
        let text: String = parts.iter().map(Tried::line).collect();
        self.format.print(&Report { starts, parts }, &text)?;
        if starts { Ok(()) } else { Err(Failure::Hole("Not everything is in order: see the parts that failed.".to_owned())) }
    }
}

impl Tried {
    fn new(part: &'static str, verdict: Verdict, found: impl Into<String>) -> Self {
        Self { part, verdict, found: found.into() }
    }

    fn line(&self) -> String {
        let verdict = match self.verdict {
            Verdict::Ok => "ok",
            Verdict::Warning => "warning",
            Verdict::Failed => "FAILED",
        };
        format!("{:<10} {verdict:<8} {}\n", self.part, self.found)
    }
}

/// The database, and whether the master keys open what is sealed in it.
async fn database(settings: &Server) -> Vec<Tried> {
    let database = &settings.deployment.database;
    let found = match DatabaseMark::of(database) {
        Ok(_) => Store::survey(&database.url).await.map_err(Failure::of_opening),
        Err(lost) => Err(lost.into()),
    };
    match found {
        Ok(survey) => {
            let opens = survey.opened_by(&settings.deployment.master_keys).map(|opens| master_key(opens, &settings.deployment));
            std::iter::once(Tried::new("database", Verdict::Ok, intention(&survey))).chain(opens).collect()
        }
        Err(failure) => vec![Tried::new("database", Verdict::Failed, failure.to_string())],
    }
}

fn master_key(opens: bool, deployment: &Deployment) -> Tried {
    match opens {
        true => Tried::new("master key", Verdict::Ok, "opens the signing keys in this database"),
        false => Tried::new("master key", Verdict::Failed, serve::wrong_master_key(deployment).to_string()),
    }
}

/// What a start would do to the database.
fn intention(survey: &Survey) -> String {
    let pending = survey.pending.join(", ");
    match (survey.exists, survey.version) {
        (false, _) => "is not there; a start creates it".to_owned(),
        (true, None) => "is there, without tables; a start creates them".to_owned(),
        (true, Some(version)) if survey.pending.is_empty() => format!("is at schema version {version}; a start changes nothing"),
        (true, Some(version)) => format!("is at schema version {version}; a start migrates it: {pending}"),
    }
}

async fn mail(settings: &Server) -> Tried {
    let mailer = match settings.mailer() {
        Ok(Some(mailer)) => mailer,
        Ok(None) => return Tried::new("mail", Verdict::Warning, "no mail server is set; mails wait in the outbox"),
        Err(invalid) => return Tried::new("mail", Verdict::Failed, invalid.to_string()),
    };
    match timeout(MAIL, mailer.try_connecting()).await {
        Ok(Ok(())) => Tried::new("mail", Verdict::Ok, "the mail server answers and lets us in; nothing was sent"),
        Ok(Err(MailError::Transient(reason))) => Tried::new("mail", Verdict::Failed, reason),
        Ok(Err(error)) => Tried::new("mail", Verdict::Failed, error.to_string()),
        Err(_) => Tried::new("mail", Verdict::Failed, "the mail server did not answer in time"),
    }
}

/// Whether the name under which people reach the service leads anywhere, as seen from this machine.
async fn public_name(url: &Url) -> Tried {
    let (host, port) = (url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or(443));
    let looked_up = timeout(NAMES, tokio::net::lookup_host((host.trim_matches(['[', ']']), port))).await;
    let addresses: Vec<String> = match looked_up {
        Ok(Ok(found)) => found.map(|address| address.ip().to_string()).collect(),
        Ok(Err(error)) => return Tried::new("names", Verdict::Warning, format!("{host} leads nowhere from here: {error}")),
        Err(_) => return Tried::new("names", Verdict::Warning, format!("no name server answered about {host}")),
    };
    Tried::new("names", Verdict::Ok, format!("{host} is {}", addresses.join(", ")))
}

fn listening(part: &'static str, address: SocketAddr) -> Tried {
    match connections::bind(address) {
        Ok(_) => Tried::new(part, Verdict::Ok, format!("{address} is free")),
        Err(cause) if cause.kind() == std::io::ErrorKind::AddrInUse => {
            Tried::new(part, Verdict::Warning, format!("{address} is in use: by the server that runs already?"))
        }
        Err(cause) => Tried::new(part, Verdict::Failed, format!("{address} cannot be listened on: {cause}")),
    }
}
