//! The command `sessions revoke`: ends sessions at once, as after a leak: all, one organization's or one person's.

use clap::{Args, Subcommand};
use serde_json::json;
use tenant_auth_core::{
    operator::SessionsOf,
    value::{Email, Slug},
};

use super::{Links, operator, report::Format};
use crate::{failure::Failure, settings::Input};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// End sessions at once
    Revoke(Revoke),
}

#[derive(Debug, Args)]
pub(super) struct Revoke {
    #[command(flatten)]
    whose: Whose,
    #[command(flatten)]
    format: Format,
}

/// Exactly one of the three: ending everybody's sessions is never what happens for want of an argument.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Whose {
    /// Everybody's
    #[arg(long)]
    all: bool,
    /// Those in the organization with this slug
    #[arg(long, visible_alias = "slug", value_name = "SLUG")]
    org: Option<Slug>,
    /// Those of the person with this address, in all organizations
    #[arg(long)]
    email: Option<Email>,
}

impl Command {
    pub(super) async fn run(self, input: &Input) -> Result<(), Failure> {
        let Self::Revoke(Revoke { whose, format }) = self;
        let whose = match whose {
            Whose { org: Some(slug), .. } => SessionsOf::Organization(slug),
            Whose { email: Some(email), .. } => SessionsOf::User(email),
            Whose { all: _, org: None, email: None } => SessionsOf::All,
        };
        let revoked = operator(input, Links::None).await?.revoke_sessions(whose).await?;
        format.print(&json!({ "revoked": revoked }), &format!("Sessions ended: {revoked}."))
    }
}
