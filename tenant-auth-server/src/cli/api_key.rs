//! The commands `api-key`: the keys of an organization's backends, also where nobody can sign in there or the server is down. A key is shown
//! once.

use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::json;
use tenant_auth_core::{
    Page, Timestamp,
    backend::{CreatedApiKey, NewApiKey},
    id::ApiKeyId,
    model::{ApiKey, Scope},
    value::{DisplayName, Slug},
    view::ApiKeyView,
};

use super::{Links, operator, pages, report::Format, time};
use crate::{failure::Failure, settings::Input};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Create a key
    Create(Create),
    /// List an organization's live keys, without their secrets
    List(List),
    /// Replace a key by a successor; the old one works on for a while
    Rotate(Rotate),
    /// End a key at once
    Revoke(Revoke),
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
    /// When the key dies by itself, such as 2027-01-31T00:00:00Z
    #[arg(long, value_name = "TIME", value_parser = time)]
    expires_at: Option<Timestamp>,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
pub(super) struct List {
    /// The organization's slug
    #[arg(long, visible_alias = "slug")]
    org: Slug,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
pub(super) struct Rotate {
    /// The organization's slug
    #[arg(long, visible_alias = "slug")]
    org: Slug,
    /// The key's id, key_…
    #[arg(long)]
    id: ApiKeyId,
    /// How long the old key works on, at most 30 days
    #[arg(long, default_value_t = 86_400)]
    overlap_seconds: u32,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
pub(super) struct Revoke {
    /// The organization's slug
    #[arg(long, visible_alias = "slug")]
    org: Slug,
    /// The key's id, key_…
    #[arg(long)]
    id: ApiKeyId,
    #[command(flatten)]
    format: Format,
}

impl Command {
    pub(super) async fn run(self, input: &Input) -> Result<(), Failure> {
        match self {
            Self::Create(Create { org, name, scopes, expires_at, format }) => {
                let scopes = if scopes.is_empty() { NewApiKey::default_scopes() } else { scopes };
                let new = NewApiKey { name, scopes, expires_at };
                let created = operator(input, Links::None).await?.create_api_key(&org, new).await?;
                print_created(&format, &created, &format!("of organization '{org}' is created"))
            }
            Self::List(List { org, format }) => {
                let admin = operator(input, Links::None).await?.in_organization(&org).await?;
                let keys = pages(async |page: Page| admin.api_keys(&page).await).await?;
                print_list(&format, &org, &keys)
            }
            Self::Rotate(Rotate { org, id, overlap_seconds, format }) => {
                let admin = operator(input, Links::None).await?.in_organization(&org).await?;
                let rotated = admin.rotate_api_key(&id, Duration::from_secs(overlap_seconds.into())).await?;
                print_created(&format, &rotated, &format!("replaces {id}, which works for at most {overlap_seconds} seconds more"))
            }
            Self::Revoke(Revoke { org, id, format }) => {
                operator(input, Links::None).await?.in_organization(&org).await?.revoke_api_key(&id).await?;
                format.print(&json!({ "id": id }), &format!("API key {id} of organization '{org}' is revoked."))
            }
        }
    }
}

fn print_created(format: &Format, created: &CreatedApiKey, what: &str) -> Result<(), Failure> {
    let CreatedApiKey { api_key, key, .. } = created;
    let text = format!(
        "API key '{}' ({}) {what}:\n  {}\nIt is shown once. Keep it on the backend, away from browsers.",
        api_key.name,
        api_key.id,
        key.expose(),
    );
    format.print(&json!({ "apiKey": ApiKeyView::from(api_key), "key": key.expose() }), &text)
}

fn print_list(format: &Format, org: &Slug, keys: &[ApiKey]) -> Result<(), Failure> {
    let line = |key: &ApiKey| {
        let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.as_str()).collect();
        let end = key.expires_at.map_or_else(|| "for ever".to_owned(), |end| format!("until {}", end.to_iso()));
        let used = key.last_used_at.map_or_else(|| "never used".to_owned(), |at| format!("used {}", at.to_iso()));
        let (shown, name, scopes) = (format!("{}…{}", key.prefix, key.last_four), key.name.as_str(), scopes.join(","));
        format!("{}  {shown}  {name:<24} {scopes}  {end}  {used}\n", key.id)
    };
    let text: String = keys.iter().map(line).collect();
    let none = format!("Organization '{org}' has no API keys. Create one with: tenant-auth-server api-key create --org {org}");
    let keys: Vec<ApiKeyView> = keys.iter().map(ApiKeyView::from).collect();
    format.print(&json!({ "apiKeys": keys }), if text.is_empty() { &none } else { &text })
}
