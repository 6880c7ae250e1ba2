//! The command `settings`: every setting with its value and where the value comes from, also when `serve` would refuse to start; or
//! a settings file to start from. It opens no database and no port.

use clap::Args;
use serde_json::json;

use super::report::Format;
use crate::{
    failure::Failure,
    settings::{self, Effective, Input},
};

/// What to print.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Print a settings file (tenant-auth.toml) with every setting as a comment
    #[arg(long)]
    example: bool,
    #[command(flatten)]
    format: Format,
}

impl Options {
    pub(super) fn run(&self, input: &Input) -> Result<(), Failure> {
        if self.example {
            let example = settings::example();
            return self.format.print(&json!({ "example": example }), &example);
        }
        let effective = Effective::of(input);
        self.format.print(&effective, &effective.to_text())
    }
}
