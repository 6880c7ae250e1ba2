//! The command `org import`: an organization out of the sealed file of another deployment, all of it or nothing.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use tenant_auth_core::{
    operator::{ExistingAccounts, ImportedOrganization, OrganizationImport, OrganizationImportError, OrganizationImportStep},
    value::Plan,
    view::OrganizationView,
};
use tokio::{fs::File, io::BufReader};

use super::{Links, export_files::key_in, operator_of_new, progress::Progress, report::Format, word};
use crate::{failure::Failure, logging, settings::Input};

#[derive(Debug, Args)]
pub(super) struct Import {
    /// The file that 'org export' wrote
    #[arg(long = "in", value_name = "FILE")]
    file: PathBuf,
    /// The key that the file is sealed under
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
    /// Write nothing; say what the import would come to, and exit as it would. On SQLite everybody who writes waits for it, as for the import
    #[arg(long)]
    dry_run: bool,
    /// Vouch for the source: addresses that it calls verified are, and the plan is the file's
    #[arg(long)]
    trust: bool,
    /// The plan; without it the default, or with --trust the file's
    #[arg(long)]
    plan: Option<Plan>,
    /// What becomes of people whose address has an account here: refuse the import, or link them: invite the account, where it proved
    /// the address, to the role and the metadata that it has in the file; join (with --trust) links, too, but an account of the same id
    /// is a member at once
    #[arg(long, value_name = "refuse|link|join", default_value = "refuse", value_parser = existing)]
    existing: ExistingAccounts,
    /// Leave passwords that were hashed with a pepper that is not ours to reset links
    #[arg(long)]
    reset_passwords: bool,
    #[command(flatten)]
    format: Format,
}

impl Import {
    pub(super) async fn run(self, input: &Input) -> Result<(), Failure> {
        let Self { file: path, key_file, dry_run, trust, plan, existing, reset_passwords, format } = self;
        let mut import = OrganizationImport::new(key_in(&key_file)?);
        (import.dry_run, import.trust, import.plan, import.reset_passwords) = (dry_run, trust, plan, reset_passwords);
        import.existing = existing;
        let reading = || format!("Reading {}", path.display());
        let file = File::open(&path).await.map_err(Failure::system(reading()))?;
        let size = file.metadata().await.map_err(Failure::system(reading()))?.len();
        let operator = operator_of_new(input, Links::Printed).await?;
        let mut progress = Progress::of(size);
        let mut tell = |step: OrganizationImportStep| progress.show(step.bytes, &format!("members: {}", step.members));
        let outcome = operator.import_organization(BufReader::new(file), &import, &mut tell).await;
        progress.end();
        let done = outcome.map_err(|error| match error {
            OrganizationImportError::Service(error) => error.into(),
            OrganizationImportError::Refused(reasons) => Failure::Service(format!("Nothing was imported:\n{}", reasons.join("\n"))),
            other => Failure::Service(other.to_string()),
        })?;
        print(&format, &done, dry_run)
    }
}

fn existing(text: &str) -> Result<ExistingAccounts, String> {
    let parse = |text: &str| match text {
        "refuse" => Some(ExistingAccounts::Refuse),
        "link" => Some(ExistingAccounts::Link),
        "join" => Some(ExistingAccounts::Join),
        _ => None,
    };
    word(text, parse, &["refuse", "link", "join"])
}

fn print(format: &Format, done: &ImportedOrganization, dry_run: bool) -> Result<(), Failure> {
    if done.source_lives {
        logging::remark("The source was not suspended when the file was made: what changed there since is not in it.");
    }
    if done.lacks_pepper {
        logging::remark(
            "One of the source's peppers is missing here: whoever's hash was made with it sets a password by a reset link.",
        );
    }
    let verb = if dry_run { "would be" } else { "is" };
    if done.lacks_admin {
        let then = if dry_run { "after the import " } else { "" };
        logging::remark(&format!(
            "No member {verb} an active org_admin: {then}'org invite-admin --org {}' invites one, unless somebody who is invited \
             accepts as one.",
            done.org.slug,
        ));
    }
    let ImportedOrganization { org, members, linked, invites, api_keys, webhooks, entries, without_password, .. } = done;
    let text = format!(
        "Organization '{}' {verb} imported, {}. Members: {members} (who set a password by a reset link: {without_password}), with an account \
         here: {linked}, invites mailed: {invites}, API keys: {api_keys}, webhooks (disabled): {webhooks}, entries of the audit log: {entries}.",
        org.slug,
        org.status.as_str(),
    );
    let counts = json!({
        "members": members, "linked": linked, "withoutPassword": without_password, "invites": invites, "apiKeys": api_keys, "webhooks": webhooks,
        "entries": entries,
    });
    let data = json!({
        "org": OrganizationView::from(org), "imported": counts, "sourceLives": done.source_lives, "lacksAdmin": done.lacks_admin,
        "dryRun": dry_run,
    });
    format.print(&data, &text)
}
