//! The command `org export`: an organization in a file, sealed for another deployment or, with `--portable`, for its people to have. The
//! file is for its owner's eyes (mode 0600), takes no other file's place, and has its name only once the export succeeded.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use tenant_auth_core::{
    operator::{ExportError, ExportStep, Exported, SealedExport},
    value::Slug,
};
use tokio::io::BufWriter;

use super::{
    Links,
    export_files::{ExportKey, NewFile, key_for_export},
    operator, operator_beside_a_held,
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
        let operator =
            if self.close { operator_beside_a_held(input, Links::None).await } else { operator(input, Links::None).await }?;
        let mut file = NewFile::create(&self.out)?;
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
        let is_whole = matches!(exported, Ok(_) | Err(ExportError::Unsettled(_)));
        if self.close && is_whole {
            // The organization is suspended by now, or may be: an export that is made again is another, for it tells so.
            file.stay();
            self.keep(key.as_mut());
        }
        let exported = exported.map_err(|error| self.failure(error))?;
        file.keep()?;
        if !self.close {
            self.keep(key.as_mut());
        }
        self.print(&exported)
    }

    /// Keeps the key; shows it where no file has it.
    fn keep(&self, key: Option<&mut ExportKey>) {
        let Some(key) = key else { return };
        key.keep();
        if self.key_file.is_none() {
            logging::remark(&format!("The file's key, shown once: {}", *key.key.expose()));
        }
    }

    fn print(&self, exported: &Exported) -> Result<(), Failure> {
        let Exported { members, invites, api_keys, webhooks, entries, .. } = exported;
        let text = format!(
            "Organization '{}' is exported to {}. Members: {members}, invites: {invites}, API keys: {api_keys}, webhooks: {webhooks}, \
             entries of the audit log: {entries}.{}",
            self.slug,
            self.out.display(),
            if self.close { " It is suspended here." } else { "" },
        );
        let counts = json!({
            "members": members, "invites": invites, "apiKeys": api_keys, "webhooks": webhooks, "entries": entries,
        });
        self.format.print(&json!({ "exported": counts }), &text)
    }

    fn failure(&self, error: ExportError) -> Failure {
        match error {
            ExportError::Service(error) => error.into(),
            ExportError::Unsettled(error) => Failure::Service(format!(
                "The export is whole, but the database did not answer whether it has suspended '{}'. Where 'tenant-auth-server org list' \
                 shows it as suspended, take {}.partial; otherwise give the command again. What it came to: {}",
                self.slug,
                self.out.display(),
                error.causes(),
            )),
            other => Failure::Service(other.to_string()),
        }
    }
}
