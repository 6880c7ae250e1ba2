//! The command line (behaviour.md, B128). Each command opens the same database as the server, beside it if it runs, does one
//! thing through the core's `Operator`, and prints the outcome for people or, with `--json`, as one JSON object.

mod api_key;
mod audit;
mod confirmation;
mod deployment_key;
mod export;
mod export_files;
mod health;
mod import;
mod import_org;
mod isolation_check;
mod keys;
mod member;
mod migrate;
mod openapi;
mod operators;
mod org;
mod org_invite_admin;
mod progress;
mod report;
mod serve;
mod sessions;
mod shell;
mod show_settings;
mod user;
mod user_show;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use tenant_auth_core::{Error, List, Page, StoreOptions, Timestamp, model::Role, operator::Operator};

use crate::{
    dev,
    failure::Failure,
    logging,
    settings::{self, Deployment, Input, LogFormat},
};

/// Multi-tenant authentication: one binary, SQLite or PostgreSQL.
#[derive(Debug, Parser)]
#[command(name = "tenant-auth-server", version, about, max_term_width = 100)]
struct Cli {
    /// A TOML file with settings; environment variables TENANT_AUTH_… override it
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Try it here and now: SQLite, a demo organization, mails at /dev/mail; no set-up
    Dev(dev::Options),
    /// Run the production server, or try whether it could
    Serve(serve::Options),
    /// Ask the server on this machine whether it is ready, for a container's health check
    Health,
    /// Create or update the database's tables
    Migrate(migrate::Options),
    /// Manage organizations
    #[command(subcommand)]
    Org(org::Command),
    /// Manage an organization's members
    #[command(subcommand)]
    Member(member::Command),
    /// Manage API keys
    #[command(subcommand)]
    ApiKey(api_key::Command),
    /// Manage deployment keys, with which the product's own backend asks about every organization
    #[command(subcommand)]
    DeploymentKey(deployment_key::Command),
    /// Manage people's accounts
    #[command(subcommand)]
    User(user::Command),
    /// Bring people from another system
    #[command(subcommand)]
    Import(import::Command),
    /// Appoint operators of the deployment
    #[command(subcommand)]
    Operator(operators::Command),
    /// Manage sessions
    #[command(subcommand)]
    Sessions(sessions::Command),
    /// Manage signing keys and what is sealed
    #[command(subcommand)]
    Keys(keys::Command),
    /// Export audit logs, and verify such exports
    #[command(subcommand)]
    Audit(audit::Command),
    /// Show every setting, its value and where the value comes from; exit code 1 if 'serve' would refuse one
    Settings(show_settings::Options),
    /// Try whether one organization's credentials reach anything of another, at a live deployment
    IsolationCheck(Box<isolation_check::Options>),
    /// Print the OpenAPI document; with settings, for their public URL
    Openapi(report::Format),
    /// Print what completes these commands in a shell
    Completions(shell::Completions),
    /// Write the man pages of these commands into a directory
    Man(shell::Man),
}

/// Runs the command that was asked for.
///
/// # Errors
/// [`Failure`], to be printed.
pub(crate) async fn run() -> Result<(), Failure> {
    let Cli { config, command } = Cli::parse();
    // What needs no settings must work where they are wrong, or not there yet.
    let command = match command {
        Command::IsolationCheck(options) => return options.run().await,
        Command::Audit(audit::Command::Verify(options)) => return options.run().await,
        Command::Completions(options) => return options.run(),
        Command::Man(options) => return options.run(),
        command => command,
    };
    // Already for a file that cannot be read.
    if Input::environment_wants_json() == Some(true) {
        logging::speak_json();
    }
    let input = Input::gather(config.as_ref())?;
    if input.wants_json() {
        logging::speak_json();
    }
    match command {
        Command::Dev(options) => dev::run(&options, &input).await,
        Command::Serve(options) => options.run(&input).await,
        Command::Health => health::run(&input).await,
        Command::Migrate(options) => options.run(&input).await,
        Command::Org(command) => command.run(&input).await,
        Command::Member(command) => command.run(&input).await,
        Command::ApiKey(command) => command.run(&input).await,
        Command::DeploymentKey(command) => command.run(&input).await,
        Command::User(command) => command.run(&input).await,
        Command::Import(command) => command.run(&input).await,
        Command::Operator(command) => command.run(&input).await,
        Command::Sessions(command) => command.run(&input).await,
        Command::Keys(command) => command.run(&input).await,
        Command::Audit(audit::Command::Export(options)) => options.run(&input).await,
        Command::Settings(options) => options.run(&input),
        Command::Openapi(format) => openapi::run(&input, &format),
        Command::IsolationCheck(_) | Command::Audit(audit::Command::Verify(_)) | Command::Completions(_) | Command::Man(_) => {
            Ok(())
        }
    }
}

/// Whether a command prints a link, and so needs to know where the service is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Links {
    Printed,
    None,
}

/// The operator's operations for a command that names or lists what must be there. It would not be in a new database, and a new one in the
/// place of one whose name was mistyped, or whose volume is not mounted, looks like a service that lost everything.
async fn operator(input: &Input, links: Links) -> Result<Operator, Failure> {
    let deployment = settings_of(input, links)?;
    let options = deployment.database.options().existing();
    operator_of(&deployment, options).await
}

/// The same for a command that reads beside a transaction which it holds from its beginning to its end: on PostgreSQL each takes a connection.
async fn operator_beside_a_held(input: &Input, links: Links) -> Result<Operator, Failure> {
    let deployment = settings_of(input, links)?;
    let mut options = deployment.database.options().existing();
    options.connections = options.connections.max(2);
    operator_of(&deployment, options).await
}

/// The operator's operations for a command that can begin with an empty database: one is made where there is none.
async fn operator_of_new(input: &Input, links: Links) -> Result<Operator, Failure> {
    let deployment = settings_of(input, links)?;
    operator_of(&deployment, deployment.database.options()).await
}

fn settings_of(input: &Input, links: Links) -> Result<Deployment, Failure> {
    let deployment = settings::for_command(input, links == Links::Printed)?;
    logging::start("warn", LogFormat::Text);
    logging::warn_of(&deployment.warnings);
    Ok(deployment)
}

/// Without a mailer: mails that a command causes wait in the outbox for the server's worker.
async fn operator_of(deployment: &Deployment, options: StoreOptions) -> Result<Operator, Failure> {
    Ok(crate::serve::open_by(options, deployment, None).await?.auth.operator())
}

/// Reads one of the few words an enum of the API has.
fn word<T>(text: &str, parse: impl Fn(&str) -> Option<T>, words: &[&str]) -> Result<T, String> {
    parse(text).ok_or_else(|| format!("must be one of: {}", words.join(", ")))
}

fn role(text: &str) -> Result<Role, String> {
    word(text, Role::parse, &["member", "org_admin"])
}

fn time(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text).ok_or_else(|| "must be a time such as 2027-01-31T00:00:00Z".to_owned())
}

/// How many entries of a list are read at once.
const MOST_ON_A_PAGE: u32 = 1_000;

/// A whole list, page by page.
async fn pages<T>(read: impl AsyncFn(Page) -> Result<List<T>, Error>) -> Result<Vec<T>, Failure> {
    let mut all = Vec::new();
    let mut page = Page::first(MOST_ON_A_PAGE)?;
    loop {
        let list = read(page).await?;
        all.extend(list.items);
        match list.next {
            Some(next) => page = Page::after(next, MOST_ON_A_PAGE)?,
            None => return Ok(all),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};

    use super::Cli;

    /// Each command below this one that names an organization, and whether both of its names are taken.
    fn organizations(command: &Command) -> Vec<(String, bool)> {
        let names = |arg: &clap::Arg| {
            let aliases = arg.get_visible_aliases().unwrap_or_default();
            let names: Vec<String> = arg.get_long().into_iter().chain(aliases).map(str::to_owned).collect();
            names
        };
        let own = command.get_arguments().map(names).filter(|names| names.iter().any(|name| ["org", "slug"].contains(&&**name)));
        let own = own.map(|names| (command.get_name().to_owned(), names.len() == 2));
        own.chain(command.get_subcommands().flat_map(organizations)).collect()
    }

    #[test]
    fn an_organization_is_named_by_org_or_by_slug_in_every_command() {
        let found = organizations(&Cli::command());
        assert!(found.len() > 10, "{found:?}");
        assert!(found.iter().all(|(_, has_both)| *has_both), "{found:?}");
    }
}
