//! The command `keys rotate`: the next signing keys become active, the old ones still verify the tokens they signed, and every
//! sealed value is sealed again under the first master key. Running it again is safe; a running server notices within seconds. Where a
//! value opens under no master key the command does everything else, names it and fails: the old key is needed as long as it stands there.

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use tenant_auth_core::operator::{RotatedKeys, SealedPlace};

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
        let rotated = operator(input, Links::None).await?.rotate_keys(compromised).await?;
        let sessions = if compromised { " Every session has ended." } else { "" };
        let sealed = match rotated.resealed {
            0 if rotated.unopened > 0 => "Everything else that is sealed was under the first master key already.".to_owned(),
            0 => "Everything sealed was under the first master key already.".to_owned(),
            some => format!("Sealed values that are under the first master key now and were not: {some}."),
        };
        let text = format!("The signing keys were rotated. {sealed}{sessions}");
        let named: Vec<_> = rotated.unopened_at.iter().map(named).collect();
        let data = json!({
            "rotated": true, "resealed": rotated.resealed, "compromised": compromised, "unopened": rotated.unopened, "unopenedAt": named,
        });
        format.print(&data, &text)?;
        if rotated.unopened == 0 { Ok(()) } else { Err(Failure::Service(told(&rotated))) }
    }
}

fn named(place: &SealedPlace) -> Value {
    json!({ "table": place.table, "column": place.column, "row": place.row, "organizationId": place.organization })
}

/// What no master key opens, a line each.
fn told(rotated: &RotatedKeys) -> String {
    let places = rotated.unopened_at.iter().map(|place| {
        let of = place.organization.as_ref().map(|id| format!(" of organization {id}")).unwrap_or_default();
        format!("{}.{} of row {}{of}", place.table, place.column, place.row)
    });
    let most = format!(
        "Values that no master key opens were left as they are: {}. Add the key that they are sealed under, or make anew what they hold.",
        rotated.unopened
    );
    [most].into_iter().chain(places).collect::<Vec<_>>().join("\n")
}
