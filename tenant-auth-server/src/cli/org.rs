//! The commands `org`: creating, suspending and reactivating organizations, and inviting an org_admin when none is left.

use clap::{Args, Subcommand};
use serde::Serialize;
use tenant_auth_core::{
    model::{Organization, Status},
    operator::{Invited, NewOrganization},
    value::{AppUrl, DisplayName, Email, Plan, Slug},
    view::{InviteView, OrganizationView},
};

use super::{Links, operator, report::Format};
use crate::{failure::Failure, settings::Input};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Create an organization and invite its first org_admin
    Create(Create),
    /// List all organizations
    List(Format),
    /// Close an organization: nobody gets in until it is reactivated
    Suspend(Which),
    /// Reopen a suspended organization
    Reactivate(Which),
    /// Invite an org_admin, also where nobody is one any more
    InviteAdmin(InviteAdmin),
}

#[derive(Debug, Args)]
pub(super) struct Create {
    /// The name people see
    #[arg(long)]
    name: DisplayName,
    /// What X-Org-Slug will carry: a-z, 0-9 and hyphens
    #[arg(long)]
    slug: Slug,
    /// Who gets the invite as the first org_admin
    #[arg(long)]
    admin_email: Email,
    /// Not interpreted by the service
    #[arg(long, default_value_t = Plan::default())]
    plan: Plan,
    /// The customer's application; invitation mails link to it
    #[arg(long)]
    app_url: Option<AppUrl>,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
pub(super) struct Which {
    /// The organization
    #[arg(long)]
    slug: Slug,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
pub(super) struct InviteAdmin {
    /// The organization
    #[arg(long)]
    slug: Slug,
    /// Whom to invite
    #[arg(long)]
    email: Email,
    #[command(flatten)]
    format: Format,
}

impl Command {
    pub(super) async fn run(self, input: &Input) -> Result<(), Failure> {
        match self {
            Self::Create(create) => create.run(input).await,
            Self::List(format) => list(input, &format).await,
            Self::Suspend(which) => set_status(input, which, Status::Suspended).await,
            Self::Reactivate(which) => set_status(input, which, Status::Active).await,
            Self::InviteAdmin(invite) => {
                let invited = operator(input, Links::Printed).await?.invite_admin(&invite.slug, &invite.email).await?;
                print_invited(&invite.format, &invited, "")
            }
        }
    }
}

impl Create {
    async fn run(self, input: &Input) -> Result<(), Failure> {
        let Self { name, slug, admin_email, plan, app_url, format } = self;
        let new = NewOrganization { name, slug, plan, app_url, admin_email };
        let invited = operator(input, Links::Printed).await?.create_organization(new).await?;
        let org = &invited.org;
        print_invited(&format, &invited, &format!("Organization '{}' ({}) is created.\n", org.slug, org.name))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InvitedOutput<'a> {
    org: OrganizationView,
    invite: InviteView,
    invite_token: &'a str,
    invite_url: &'a str,
}

fn print_invited(format: &Format, invited: &Invited, before: &str) -> Result<(), Failure> {
    let Invited { org, invite, token, url, .. } = invited;
    let text = format!(
        "{before}{} is invited as {} until {}:\n  {url}\nThis link is shown once; it is mailed too when the server has an SMTP server.",
        invite.email,
        invite.role.as_str(),
        invite.expires_at.to_iso(),
    );
    format.print(&InvitedOutput { org: org.into(), invite: invite.into(), invite_token: token.expose(), invite_url: url }, &text)
}

async fn list(input: &Input, format: &Format) -> Result<(), Failure> {
    let organizations = operator(input, Links::None).await?.organizations().await?;
    let line = |org: &Organization| {
        format!(
            "{:<24} {:<10} {:<12} {}  {}\n",
            org.slug.as_str(),
            org.status.as_str(),
            org.plan.as_str(),
            org.created_at.to_iso(),
            org.name
        )
    };
    let text: String = organizations.iter().map(line).collect();
    let text =
        if text.is_empty() { "There are no organizations yet. Create one with: tenant-auth-server org create" } else { &text };
    let organizations: Vec<OrganizationView> = organizations.iter().map(OrganizationView::from).collect();
    format.print(&serde_json::json!({ "organizations": organizations }), text)
}

async fn set_status(input: &Input, which: Which, status: Status) -> Result<(), Failure> {
    let org = operator(input, Links::None).await?.set_organization_status(&which.slug, status).await?;
    let text = format!("Organization '{}' is {}.", org.slug, org.status.as_str());
    which.format.print(&serde_json::json!({ "org": OrganizationView::from(&org) }), &text)
}
