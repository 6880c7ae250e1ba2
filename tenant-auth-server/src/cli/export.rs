//! The command `org export`: an organization in a file, sealed for another deployment or, with `--portable`, for its people to have. The
//! file is for its owner's eyes (mode 0600), takes no other file's place, and has its name only once the export succeeded.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use tenant_auth_core::{
    operator::{ExportError, ExportStep, Exported, FileKey, SealedExport},
    value::Slug,
};
use tokio::io::BufWriter;

use super::{
    Links,
    export_files::{NewFile, key_for_export},
    operator,
    progress::Progress,
    report::Format,
};
use crate::{failure::Failure, logging, settings::Input};

#[derive(Debug, Args)]
pub(super) struct Export {
    /// The organization's slug
    #[arg(long = "org", visible_alias = "slug", value_name = "SLUG")]
    slug: Slug,
    /// The file to write; there must be none of that name
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Leave out what opens anything (hashes, second factors, digests, secrets), and do not seal the file
    #[arg(long, conflicts_with_all = ["key_file", "all_credentials", "close"])]
    portable: bool,
    /// The key that the file is sealed under: read from here or, where there is none, made and written here. Without this option the
    /// key is made and printed once
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Also the credentials of people who belong to another organization here: for a deployment of your own that moves as a whole
    #[arg(long)]
    all_credentials: bool,
    /// Suspend the organization here with the export, so that nothing changes that the file does not hold
    #[arg(long)]
    close: bool,
    #[command(flatten)]
    format: Format,
}

impl Export {
    pub(super) async fn run(self, input: &Input) -> Result<(), Failure> {
        let operator = operator(input, Links::None).await?;
        let file = NewFile::create(&self.out)?;
        let sink = BufWriter::with_capacity(1 << 20, file.handle()?);
        let mut progress = Progress::of(1);
        let mut tell = |step: ExportStep| progress.show_of(step.members, step.of, "members");
        let (exported, mut key) = if self.portable {
            (operator.export_portable(&self.slug, sink, &mut tell).await, None)
        } else {
            let key = key_for_export(self.key_file.as_deref())?;
            let how = SealedExport { key: key.key.clone(), all_credentials: self.all_credentials, close: self.close };
            (operator.export_organization(&self.slug, sink, &how, &mut tell).await, Some(key))
        };
        progress.end();
        let exported = exported.map_err(failure)?;
        file.keep()?;
        if let Some(key) = &mut key {
            key.keep();
        }
        self.print(&exported, key.as_ref().filter(|_| self.key_file.is_none()).map(|key| &key.key))
    }

    fn print(&self, exported: &Exported, key: Option<&FileKey>) -> Result<(), Failure> {
        if let Some(key) = key {
            logging::remark(&format!("The file's key, shown once: {}", *key.expose()));
        }
        let Exported { members, invites, api_keys, webhooks, entries, .. } = exported;
        let text = format!(
            "Organization '{}' is exported to {}: {members} members, {invites} invites, {api_keys} API keys, {webhooks} webhooks, \
             {entries} entries of the audit log.{}",
            self.slug,
            self.out.display(),
            if self.close { " It is suspended here." } else { "" },
        );
        let counts = json!({
            "members": members, "invites": invites, "apiKeys": api_keys, "webhooks": webhooks, "entries": entries,
        });
        self.format.print(&json!({ "exported": counts }), &text)
    }
}

fn failure(error: ExportError) -> Failure {
    match error {
        ExportError::Service(error) => error.into(),
        other => Failure::Service(other.to_string()),
    }
}
