//! The command `import users`: people of another system with their password hashes, one JSON object a line. Refused rows are told on
//! stderr, and the command fails when there was one; running it again imports nobody twice.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::json;
use tenant_auth_core::{
    operator::{ExistingPeople, ImportStep, ImportedUsers, UserImport},
    value::Slug,
};
use tokio::{fs::File, io::BufReader};

use super::{Links, operator, progress::Progress, report::Format, word};
use crate::{failure::Failure, settings::Input};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Import people into an organization, with their password hashes
    Users(Users),
}

#[derive(Debug, Args)]
pub(super) struct Users {
    /// The organization's slug
    #[arg(long, visible_alias = "slug")]
    org: Slug,
    /// A file with one JSON object a line: {"email", "name", "hash", "role", "metadata", "emailVerified", "totpSecret"}; the first two are
    /// needed
    #[arg(long, value_name = "FILE")]
    file: PathBuf,
    /// Believe the file's emailVerified, and take the second factors of people who have it
    #[arg(long)]
    trust: bool,
    /// Mail everybody who is imported a link to choose a password
    #[arg(long)]
    invite: bool,
    /// What becomes of people who have an account in another organization: refuse the row, or invite the account, where it proved the
    /// address, to the row's role and metadata
    #[arg(long, value_name = "refuse|invite", default_value = "refuse", value_parser = existing)]
    existing: ExistingPeople,
    #[command(flatten)]
    format: Format,
}

impl Command {
    pub(super) async fn run(self, input: &Input) -> Result<(), Failure> {
        let Self::Users(users) = self;
        users.run(input).await
    }
}

impl Users {
    async fn run(self, input: &Input) -> Result<(), Failure> {
        let Self { org, file: path, trust, invite, existing, format } = self;
        let reading = || format!("Reading {}", path.display());
        let file = File::open(&path).await.map_err(Failure::system(reading()))?;
        let size = file.metadata().await.map_err(Failure::system(reading()))?.len();
        let links = if invite || existing == ExistingPeople::Invite { Links::Printed } else { Links::None };
        let operator = operator(input, links).await?;
        let mut progress = Progress::of(size);
        let mut tell = |step: ImportStep<'_>| match step {
            ImportStep::Refused { line, reason, .. } => progress.say(&format!("line {line}: {reason}")),
            ImportStep::Written { so_far, bytes, .. } => progress.show(bytes, &text(&so_far)),
            _ => {}
        };
        let import = UserImport { trust, invite, existing };
        let outcome = operator.import_users(&org, BufReader::new(file), import, &mut tell).await;
        progress.end();
        let done = outcome?;
        let counts = json!({ "imported": done.imported, "invited": done.invited, "refused": done.refused });
        format.print(&counts, &format!("{}.", text(&done)))?;
        match done.refused {
            0 => Ok(()),
            refused => Err(Failure::Service(format!("Rows refused: {refused}; the lines above say why."))),
        }
    }
}

fn text(done: &ImportedUsers) -> String {
    format!("People imported: {}, with an account and invited: {}, rows refused: {}", done.imported, done.invited, done.refused)
}

fn existing(text: &str) -> Result<ExistingPeople, String> {
    let parse = |text: &str| match text {
        "refuse" => Some(ExistingPeople::Refuse),
        "invite" => Some(ExistingPeople::Invite),
        _ => None,
    };
    word(text, parse, &["refuse", "invite"])
}
