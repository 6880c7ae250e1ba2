//! The command `keys rotate`: the next signing keys become active, the old ones still verify the tokens they signed, and every
//! sealed value is sealed again under the first master key. Running it again is safe; a running server notices within seconds.

use clap::{Args, Subcommand};
use serde_json::json;

use super::{Links, operator, report::Format};
use crate::{failure::Failure, settings::Input};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Rotate the signing keys, those of the audit log too, and seal everything again under the first master key
    Rotate(Rotate),
}

#[derive(Debug, Args)]
pub(super) struct Rotate {
    /// The old signing keys are known to somebody: they are dead at once, and every session with them; those of the audit log are marked
    #[arg(long)]
    compromised: bool,
    #[command(flatten)]
    format: Format,
}

impl Command {
    pub(super) async fn run(self, input: &Input) -> Result<(), Failure> {
        let Self::Rotate(Rotate { compromised, format }) = self;
        let resealed = operator(input, Links::None).await?.rotate_keys(compromised).await?;
        let sessions = if compromised { " Every session has ended." } else { "" };
        let sealed = match resealed {
            0 => "Everything sealed was under the first master key already.".to_owned(),
            some => format!("Sealed values that are under the first master key now and were not: {some}."),
        };
        let text = format!("The signing keys were rotated. {sealed}{sessions}");
        format.print(&json!({ "rotated": true, "resealed": resealed, "compromised": compromised }), &text)
    }
}
