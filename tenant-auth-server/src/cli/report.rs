//! The output of a command, printed once on stdout. It may hold the only copy of a secret, so a failure to print is a failure.

use std::io::Write;

use clap::Args;
use serde::Serialize;

use crate::failure::Failure;

/// How to print.
#[derive(Debug, Args)]
pub(super) struct Format {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Format {
    /// Prints the outcome: `data` for programs, `text` for people.
    ///
    /// # Errors
    /// When stdout does not take it.
    pub(super) fn print(&self, data: &impl Serialize, text: &str) -> Result<(), Failure> {
        let shown = if self.json {
            serde_json::to_string(data)
                .map_err(|error| Failure::Service(format!("The outcome cannot be shown as JSON: {error}")))?
        } else {
            text.trim_end().to_owned()
        };
        let mut stdout = std::io::stdout().lock();
        writeln!(stdout, "{shown}")
            .and_then(|()| stdout.flush())
            .map_err(Failure::system("The command was carried out, but printing its outcome to stdout"))
    }

    /// Prints what a check found, and passes its verdict on. The exit code is a verdict, too: a bad one holds whether it could be printed or
    /// not, and a report that nobody got is none of a good one.
    ///
    /// # Errors
    /// The verdict's; [`Failure::Unchecked`] when stdout does not take the report of a good one.
    pub(super) fn print_check(&self, data: &impl Serialize, text: &str, verdict: Result<(), Failure>) -> Result<(), Failure> {
        let printed = self.print(data, text);
        verdict?;
        printed.map_err(|failure| Failure::Unchecked(failure.to_string()))
    }

    /// Whether the outcome is asked for as JSON.
    pub(super) const fn is_json(&self) -> bool {
        self.json
    }
}
