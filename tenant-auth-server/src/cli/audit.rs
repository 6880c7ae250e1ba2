//! The commands `audit export` and `audit verify`: an organization's audit log, or the deployment's own, as a file, and the judgement of such a file. Verifying
//! opens no database and reads no setting: it is for whoever was given a file.

use std::{
    fs::File,
    io::BufReader,
    os::fd::AsFd,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use serde_json::json;
use tenant_auth_core::{
    Timestamp,
    audit::{AuditExport, AuditExportError, AuditFileError, AuditKeySet, AuditRange, AuditVerifier, VerifiedAuditFile},
    value::{Slug, is_loopback_for_secrets},
};
use tokio::io::BufWriter;
use url::Url;

use super::{Links, export_files::NewFile, operator, report::Format};
use crate::{failure::Failure, logging, settings::Input};

/// How long the keys may take to arrive.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);
/// The largest set of keys that is read: some thousand.
const LARGEST_KEYS: usize = 1 << 20;
/// The name of stdout.
const STDOUT: &str = "-";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Write an organization's audit log, or the deployment's own, to a file that can be verified without the service
    Export(Export),
    /// Verify such a file: exit code 0 good, 1 tampered with, 2 not verified
    Verify(Verify),
}

#[derive(Debug, Args)]
pub(super) struct Export {
    /// The organization's slug
    #[arg(long, visible_alias = "slug", required_unless_present = "deployment")]
    org: Option<Slug>,
    /// The deployment's own log: deployment keys, operators, rotations of keys, what is done to organizations from outside and to accounts by command
    #[arg(long, conflicts_with = "org")]
    deployment: bool,
    /// The first time, such as 2026-11-20T08:21:00Z; from the oldest entry that is kept when left out
    #[arg(long, value_parser = time)]
    from: Option<Timestamp>,
    /// The time before which entries lie; to the newest when left out
    #[arg(long, value_parser = time)]
    to: Option<Timestamp>,
    /// The file to write; there must be none of that name. - is stdout
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
pub(super) struct Verify {
    /// The file
    file: PathBuf,
    /// The keys: a file, or the URL that publishes them (https, or http on loopback), which ends in /.well-known/audit-keys.json
    #[arg(long, value_name = "FILE|URL")]
    keys: String,
    /// An earlier file of the same organization: each entry of it must still be there
    #[arg(long, value_name = "FILE")]
    since: Option<PathBuf>,
    /// The 'jws' of an audit.checkpoint event that was kept elsewhere; may be repeated
    #[arg(long = "checkpoint", value_name = "JWS")]
    checkpoints: Vec<String>,
    #[command(flatten)]
    format: Format,
}

const UNCOMPARED: &str = "Whether the log is what it was in the earlier file is not known: the two neither overlap nor adjoin.";

fn time(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text).ok_or_else(|| "must be a time such as 2026-11-20T08:21:00Z".to_owned())
}

impl Export {
    pub(super) async fn run(self, input: &Input) -> Result<(), Failure> {
        let Self { org, from, to, out, format, .. } = self;
        let range = AuditRange { from, to };
        if out.as_os_str() == STDOUT {
            let export = begun(input, org.as_ref(), range).await?;
            let stdout = std::io::stdout().as_fd().try_clone_to_owned().map_err(Failure::system("Writing to stdout"))?;
            export.write(tokio::fs::File::from_std(stdout.into())).await.map_err(failure)?;
            return Ok(());
        }
        let file = NewFile::create(&out)?;
        let export = begun(input, org.as_ref(), range).await?;
        let entries = export.write(BufWriter::with_capacity(1 << 20, file.handle()?)).await.map_err(failure)?;
        file.keep()?;
        let whose = org.map_or_else(|| "the deployment".to_owned(), |org| format!("organization '{org}'"));
        let text = format!("The audit log of {whose} is exported to {}. Entries: {entries}.", out.display());
        format.print(&json!({ "entries": entries }), &text)
    }
}

/// Begins the export of an organization's log, or without one of the deployment's own.
async fn begun(input: &Input, org: Option<&Slug>, range: AuditRange) -> Result<AuditExport, Failure> {
    let operator = operator(input, Links::None).await?;
    Ok(match org {
        Some(org) => operator.export_audit(org, range).await?,
        None => operator.export_deployment_audit(range).await?,
    })
}

fn failure(error: AuditExportError) -> Failure {
    match error {
        AuditExportError::Service(error) => error.into(),
        other => Failure::Service(other.to_string()),
    }
}

impl Verify {
    /// Verifies, and says on stderr what was found.
    ///
    /// # Errors
    /// [`Failure::Hole`] for a file that was tampered with, [`Failure::Unchecked`] where it cannot be verified.
    pub(super) async fn run(self) -> Result<(), Failure> {
        let Self { file: path, keys, since, checkpoints, format } = self;
        let keys = keys_of(&keys).await?;
        let plain = AuditVerifier::new(&keys);
        let earlier = since.map(|path| verified(&plain, &path)).transpose()?;
        let verifier = checkpoints.iter().fold(plain, |verifier, jws| verifier.checkpoint(jws));
        let verifier = earlier.iter().fold(verifier, AuditVerifier::since);
        let found = verified(&verifier, &path)?;
        for remark in found.findings.iter().chain(&found.uncompared).chain(&found.notes) {
            logging::remark(&remark.to_string());
        }
        // The file may be anybody's, and a terminal obeys control characters.
        let (org, entries) = (found.org.escape_debug().to_string(), found.entries);
        let told = |remarks: &[_]| remarks.iter().map(ToString::to_string).collect::<Vec<String>>();
        let data = json!({
            "good": found.is_good(), "org": org, "entries": entries, "findings": told(&found.findings),
            "uncompared": told(&found.uncompared), "notes": told(&found.notes),
        });
        let (verdict, outcome) = match (found.findings.is_empty(), found.is_good()) {
            (_, true) => ("is whole and unchanged", Ok(())),
            (true, false) => {
                ("is whole, and cannot be compared with the earlier one", Err(Failure::Unchecked(UNCOMPARED.to_owned())))
            }
            (false, _) => ("is NOT good", Err(Failure::Hole("The file was tampered with, or is not whole.".to_owned()))),
        };
        format.print_check(&data, &format!("{}: entries of {org}: {entries}; the file {verdict}.", path.display()), outcome)
    }
}

fn verified(verifier: &AuditVerifier<'_>, path: &Path) -> Result<VerifiedAuditFile, Failure> {
    let named = |error: AuditFileError| Failure::Unchecked(format!("{}: {error}", path.display()));
    let file = File::open(path).map_err(|error| named(error.into()))?;
    verifier.verify(BufReader::with_capacity(1 << 20, file)).map_err(named)
}

async fn keys_of(place: &str) -> Result<AuditKeySet, Failure> {
    let unusable = |why: &str| Failure::Unchecked(format!("{place}: {why}"));
    let text = match Url::parse(place) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => fetched(&url).await.map_err(|why| unusable(&why))?,
        _ => std::fs::read_to_string(place).map_err(|error| unusable(&format!("The keys cannot be read: {error}")))?,
    };
    AuditKeySet::parse(&text).ok_or_else(|| unusable("There is no audit key in it."))
}

async fn fetched(url: &Url) -> Result<String, String> {
    if url.scheme() == "http" && !is_loopback_for_secrets(url) {
        return Err("Keys that came over http prove nothing. Use https.".to_owned());
    }
    let failed = |error: reqwest::Error| format!("The keys cannot be fetched: {error}");
    let client =
        reqwest::Client::builder().timeout(PATIENCE).redirect(reqwest::redirect::Policy::none()).build().map_err(failed)?;
    let mut answer = client.get(url.clone()).send().await.and_then(reqwest::Response::error_for_status).map_err(failed)?;
    let mut text = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(failed)? {
        text.extend_from_slice(&chunk);
        if text.len() > LARGEST_KEYS {
            return Err("This is too large to be a set of keys.".to_owned());
        }
    }
    String::from_utf8(text).map_err(|_| "This is no text.".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name below `localhost` is asked of the system's resolver, which may send this process anywhere.
    #[tokio::test]
    async fn keys_over_http_come_from_this_machine_alone() {
        for place in ["http://keys.localhost/audit-keys.json", "http://keys.example/audit-keys.json"] {
            let Err(refused) = keys_of(place).await else { panic!("{place} was asked") };
            assert!(matches!(&refused, Failure::Unchecked(why) if why.ends_with("Use https.")), "{place}");
        }
    }
}
