//! The command `migrate`: creates or updates the tables. `serve` does the same by itself; this command lets a job without the
//! master key do it first. With `--freshness` it also lowers the number that the deployment's servers only ever raise.

use std::time::Duration;

use clap::Args;
use serde_json::json;
use tenant_auth_core::{Store, operator::Survey};

use super::report::Format;
use crate::{
    database_mark::DatabaseMark,
    failure::Failure,
    logging,
    settings::{self, Input, LogFormat},
};

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Lower the deployment's freshness to so many milliseconds (20 to 1000, or 0 when no server remembers any more)
    #[arg(long, value_name = "MS", value_parser = millis)]
    freshness: Option<Duration>,
    #[command(flatten)]
    format: Format,
}

/// The values of the setting, and 0.
fn millis(text: &str) -> Result<Duration, String> {
    let number = text.parse().ok().filter(|number| *number == 0 || (20..=1_000).contains(number));
    number.map(Duration::from_millis).ok_or_else(|| "must be 0, or a whole number from 20 to 1000".to_owned())
}

impl Options {
    pub(super) async fn run(self, input: &Input) -> Result<(), Failure> {
        let database = settings::for_migrate(input)?;
        logging::start("warn", LogFormat::Text);
        let mark = DatabaseMark::of(&database)?;
        let store = Store::open_with(&database.url, database.options()).await.map_err(Failure::of_opening)?;
        let before = store.schema().await?;
        store.migrate().await?;
        let version = store.schema().await?.version;
        mark.keep();
        let is_lowered = match self.freshness {
            Some(freshness) => store.lower_freshness(freshness).await?,
            None => true,
        };
        store.close().await;
        if !is_lowered {
            let setting = settings::FRESHNESS.variable();
            return Err(Failure::Service(format!(
                "A server that has just started uses more. Lower {setting} of every server first, then run this again."
            )));
        }
        let text = match version {
            Some(version) if !before.pending.is_empty() => outcome(&before, version),
            _ => "The database is up to date.".to_owned(),
        };
        self.format.print(&json!({ "migrated": true, "version": version, "ran": before.pending }), &text)
    }
}

/// What was done to a database that was found like this.
fn outcome(before: &Survey, version: i64) -> String {
    match before.version {
        None => format!("The tables are created, of schema version {version}."),
        Some(former) => {
            format!("The database is migrated from schema version {former} to {version}: {}.", before.pending.join(", "))
        }
    }
}
