//! The commands `deployment-key`: the credentials of the product that runs the deployment. They are made here only, never over HTTP,
//! and shown once.

use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::json;
use tenant_auth_core::{
    Timestamp,
    id::DeploymentKeyId,
    model::{DeploymentKey, DeploymentScope},
    operator::{CreatedDeploymentKey, NewDeploymentKey},
    value::{DisplayName, Network},
    view::DeploymentKeyView,
};

use super::{Links, operator, operator_of_new, report::Format, time};
use crate::{failure::Failure, settings::Input};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Create a key
    Create(Create),
    /// List the live keys, without their secrets
    List(Format),
    /// Replace a key by a successor; the old one works on for a while
    Rotate(Rotate),
    /// End a key at once
    Revoke(Revoke),
}

#[derive(Debug, Args)]
pub(super) struct Create {
    /// The name people will know the key by
    #[arg(long)]
    name: DisplayName,
    /// What the key may do in every organization: verify, users:read, members:read, events:read; whatever an org_admin may:
    /// admin; or create and change organizations: organizations; may be repeated
    #[arg(long = "scope", value_name = "SCOPE", value_delimiter = ',', required = true)]
    scopes: Vec<DeploymentScope>,
    /// When the key dies by itself, such as 2027-01-31T00:00:00Z
    #[arg(long, value_name = "TIME", value_parser = time)]
    expires_at: Option<Timestamp>,
    /// From where the key may be used: a network such as 203.0.113.0/24, or an address; may be repeated. Everywhere when left out
    #[arg(long = "from", value_name = "CIDR", value_delimiter = ',')]
    networks: Vec<Network>,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
pub(super) struct Rotate {
    /// The key's id, dpk_…
    #[arg(long)]
    id: DeploymentKeyId,
    /// How long the old key works on, at most 30 days
    #[arg(long, default_value_t = 86_400)]
    overlap_seconds: u32,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
pub(super) struct Revoke {
    /// The key's id, dpk_…
    #[arg(long)]
    id: DeploymentKeyId,
    #[command(flatten)]
    format: Format,
}

impl Command {
    pub(super) async fn run(self, input: &Input) -> Result<(), Failure> {
        match self {
            Self::Create(Create { name, scopes, expires_at, networks, format }) => {
                let new = NewDeploymentKey { name, scopes, networks, expires_at };
                let created = operator_of_new(input, Links::None).await?.create_deployment_key(new).await?;
                print_created(&format, &created, "is created")
            }
            Self::List(format) => print_list(&format, &operator(input, Links::None).await?.deployment_keys().await?),
            Self::Rotate(Rotate { id, overlap_seconds, format }) => {
                let overlap = Duration::from_secs(overlap_seconds.into());
                let rotated = operator(input, Links::None).await?.rotate_deployment_key(&id, overlap).await?;
                print_created(&format, &rotated, &format!("replaces {id}, which works for at most {overlap_seconds} seconds more"))
            }
            Self::Revoke(Revoke { id, format }) => {
                let key = operator(input, Links::None).await?.revoke_deployment_key(&id).await?;
                let text = format!("Deployment key '{}' ({id}) is revoked.", key.name);
                format.print(&json!({ "deploymentKey": DeploymentKeyView::from(&key) }), &text)
            }
        }
    }
}

fn print_created(format: &Format, created: &CreatedDeploymentKey, what: &str) -> Result<(), Failure> {
    let CreatedDeploymentKey { deployment_key, key, .. } = created;
    let text = format!(
        "Deployment key '{}' ({}) {what}:\n  {}\nIt is shown once. It opens every organization: keep it on the product's servers, away from \
         browsers.",
        deployment_key.name,
        deployment_key.id,
        key.expose(),
    );
    format.print(&json!({ "deploymentKey": DeploymentKeyView::from(deployment_key), "key": key.expose() }), &text)
}

fn print_list(format: &Format, keys: &[DeploymentKey]) -> Result<(), Failure> {
    let line = |key: &DeploymentKey| {
        let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.as_str()).collect();
        let end = key.expires_at.map_or_else(|| "for ever".to_owned(), |end| format!("until {}", end.to_iso()));
        let used = key.last_used_at.map_or_else(|| "never used".to_owned(), |at| format!("used {}", at.to_iso()));
        let networks: Vec<&str> = key.networks.iter().map(Network::as_str).collect();
        let from = if networks.is_empty() { "from everywhere".to_owned() } else { format!("from {}", networks.join(",")) };
        let (shown, name, scopes) = (format!("{}…{}", key.prefix, key.last_four), key.name.as_str(), scopes.join(","));
        format!("{}  {shown}  {name:<24} {scopes}  {from}  {end}  {used}\n", key.id)
    };
    let text: String = keys.iter().map(line).collect();
    let none = "There are no deployment keys. Create one with: tenant-auth-server deployment-key create";
    let keys: Vec<DeploymentKeyView> = keys.iter().map(DeploymentKeyView::from).collect();
    format.print(&json!({ "deploymentKeys": keys }), if text.is_empty() { none } else { &text })
}
