//! The command `api-key create`: a key for an organization's backend, shown once.

use clap::{Args, Subcommand};
use serde_json::json;
use tenant_auth_core::{
    backend::NewApiKey,
    model::Scope,
    value::{DisplayName, Slug},
    view::ApiKeyView,
};

use super::{Links, operator, report::Format};
use crate::{failure::Failure, settings::Input};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Create a key
    Create(Create),
}

#[derive(Debug, Args)]
pub(super) struct Create {
    /// The organization's slug
    #[arg(long, visible_alias = "slug")]
    org: Slug,
    /// The name people will know the key by
    #[arg(long)]
    name: DisplayName,
    /// What the key may do: verify, users:read, members:read, events:read, proxy; may be repeated. The first three when left out
    #[arg(long = "scope", value_name = "SCOPE", value_delimiter = ',')]
    scopes: Vec<Scope>,
    #[command(flatten)]
    format: Format,
}

impl Command {
    pub(super) async fn run(self, input: &Input) -> Result<(), Failure> {
        let Self::Create(Create { org, name, scopes, format }) = self;
        let scopes = if scopes.is_empty() { NewApiKey::default_scopes() } else { scopes };
        let created =
            operator(input, Links::None).await?.create_api_key(&org, NewApiKey { name, scopes, expires_at: None }).await?;
        let text = format!(
            "API key '{}' of organization '{org}' is created:\n  {}\nIt is shown once. Keep it on the backend, away from browsers.",
            created.api_key.name,
            created.key.expose(),
        );
        format.print(&json!({ "apiKey": ApiKeyView::from(&created.api_key), "key": created.key.expose() }), &text)
    }
}
