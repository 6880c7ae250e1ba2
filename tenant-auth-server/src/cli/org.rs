//! The commands `org`: creating, listing, changing, suspending, reactivating and deleting organizations.

use clap::{Args, Subcommand};
use serde::Serialize;
use tenant_auth_core::{
    Timestamp,
    model::{Organization, Status},
    operator::{Invited, NewOrganization, OrganizationChange},
    org::Patch,
    ports::{Clock, SystemClock},
    value::{AppUrl, DisplayName, Email, Plan, Slug},
    view::{InviteView, ManagedOrganizationView},
};

use super::{
    Links, confirmation::confirm_in_terminal, export::Export, import_org::Import, operator, operator_of_new,
    org_invite_admin::InviteAdmin, report::Format,
};
use crate::{failure::Failure, settings::Input};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Create an organization and invite its first org_admin
    Create(Create),
    /// List all organizations
    List(Format),
    /// Change an organization's name, plan, application or trust
    Change(Box<Change>),
    /// Suspend an organization: nobody gets in until it is reactivated
    Suspend(Which),
    /// Let the people of a suspended organization in again
    Reactivate(Which),
    /// Delete an organization: it is suspended at once, and removed TENANT_AUTH_PURGE_AFTER days later (without a question at once, where that is 0)
    Delete(Delete),
    /// Cancel the deletion of an organization, which stays suspended
    CancelDeletion(Which),
    /// Let the slug of a removed organization be given out again
    ReleaseSlug(Which),
    /// Invite an org_admin, also where nobody is one any more
    InviteAdmin(InviteAdmin),
    /// Write an organization to a file: sealed, for another deployment, or portable, for its people
    Export(Export),
    /// Import an organization out of the sealed file of another deployment
    Import(Import),
}

#[derive(Debug, Args)]
pub(super) struct Create {
    /// The name people see
    #[arg(long)]
    name: DisplayName,
    /// What X-Org-Slug will carry: a-z, 0-9 and hyphens
    #[arg(long, visible_alias = "org")]
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
pub(super) struct Change {
    /// The organization
    #[arg(long = "org", visible_alias = "slug", value_name = "SLUG")]
    slug: Slug,
    #[command(flatten)]
    values: Values,
    #[command(flatten)]
    format: Format,
}

/// At least one of them.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
struct Values {
    /// The name people see
    #[arg(long)]
    name: Option<DisplayName>,
    /// Not interpreted by the service
    #[arg(long)]
    plan: Option<Plan>,
    /// The customer's application; mails link to it
    #[arg(long)]
    app_url: Option<AppUrl>,
    /// The customer has no application any more
    #[arg(long, conflicts_with = "app_url")]
    no_app_url: bool,
    /// Whether it may send as many invites as any other: one that sign-up made may not until somebody says so
    #[arg(long, value_name = "TRUE|FALSE")]
    trusted: Option<bool>,
}

#[derive(Debug, Args)]
pub(super) struct Which {
    /// The organization
    #[arg(long = "org", visible_alias = "slug", value_name = "SLUG")]
    slug: Slug,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
pub(super) struct Delete {
    /// The organization
    #[arg(long = "org", visible_alias = "slug", value_name = "SLUG")]
    slug: Slug,
    /// Remove it at once: nothing brings it back. A terminal is asked for the slug once more
    #[arg(long)]
    now: bool,
    /// With --now: do not ask, in a terminal either
    #[arg(long, requires = "now")]
    yes: bool,
    #[command(flatten)]
    format: Format,
}

impl Command {
    pub(super) async fn run(self, input: &Input) -> Result<(), Failure> {
        match self {
            Self::Create(create) => create.run(input).await,
            Self::List(format) => list(input, &format).await,
            Self::Change(change) => change.run(input).await,
            Self::Suspend(which) => set_status(input, which, Status::Suspended).await,
            Self::Reactivate(which) => set_status(input, which, Status::Active).await,
            Self::Export(export) => export.run(input).await,
            Self::Import(import) => import.run(input).await,
            Self::Delete(delete) => delete.run(input).await,
            Self::CancelDeletion(Which { slug, format }) => {
                let org = operator(input, Links::None).await?.cancel_deletion(&slug).await?;
                print_managed(&format, &org, &format!("Organization '{slug}' is not deleted. It is {}.", org.status.as_str()))
            }
            Self::ReleaseSlug(Which { slug, format }) => {
                if !operator(input, Links::None).await?.release_slug(&slug).await? {
                    return Err(Failure::Service(format!("No organization that was removed had the slug '{slug}'.")));
                }
                format
                    .print(&serde_json::json!({ "slug": slug }), &format!("The slug '{slug}' can be given to a new organization."))
            }
            Self::InviteAdmin(invite) => invite.run(input).await,
        }
    }
}

impl Create {
    async fn run(self, input: &Input) -> Result<(), Failure> {
        let Self { name, slug, admin_email, plan, app_url, format } = self;
        let new = NewOrganization { name, slug, plan, app_url, admin_email };
        let invited = operator_of_new(input, Links::Printed).await?.create_organization(new).await?;
        let org = &invited.org;
        print_invited(&format, &invited, &format!("Organization '{}' ({}) is created.\n", org.slug, org.name))
    }
}

impl Change {
    async fn run(self, input: &Input) -> Result<(), Failure> {
        let Self { slug, values: Values { name, plan, app_url, no_app_url, trusted }, format } = self;
        let app_url = match app_url {
            Some(url) => Patch::Set(url),
            None if no_app_url => Patch::Clear,
            None => Patch::Keep,
        };
        let change = OrganizationChange { name, plan, app_url, is_trusted: trusted, ..OrganizationChange::default() };
        let org = operator(input, Links::None).await?.change_organization(&slug, change).await?;
        print_managed(&format, &org, &format!("Organization '{slug}' is changed:\n{}", line(&org)))
    }
}

impl Delete {
    async fn run(self, input: &Input) -> Result<(), Failure> {
        let Self { slug, now, yes, format } = self;
        let operator = operator(input, Links::None).await?;
        if !now {
            let org = operator.delete_organization(&slug).await?;
            let text = match org.deletes_at {
                Some(at) if at > SystemClock.now() => {
                    let at = at.to_iso();
                    format!("Organization '{slug}' is suspended, and removed at {at}. Until then: org cancel-deletion --org {slug}")
                }
                at => removed_or_kept(&slug, at),
            };
            return print_managed(&format, &org, &text);
        }
        if !yes {
            confirm_in_terminal(slug.as_str(), "slug", &format!("This removes '{slug}' and its people for good."))?;
        }
        let org = operator.delete_organization_now(&slug).await?;
        print_managed(&format, &org, &removed_or_kept(&slug, org.deletes_at))
    }
}

/// What to say of a removal at once: without a time of removal, somebody cancelled it meanwhile.
fn removed_or_kept(slug: &Slug, deletes_at: Option<Timestamp>) -> String {
    match deletes_at {
        Some(_) => format!("Organization '{slug}' is gone. The server deletes what is left of it."),
        None => format!("Organization '{slug}' stays: its deletion was cancelled meanwhile."),
    }
}

fn print_managed(format: &Format, org: &Organization, text: &str) -> Result<(), Failure> {
    format.print(&serde_json::json!({ "org": ManagedOrganizationView::from(org) }), text)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InvitedOutput<'a> {
    org: ManagedOrganizationView,
    invite: InviteView,
    invite_token: &'a str,
    invite_url: &'a str,
}

pub(super) fn print_invited(format: &Format, invited: &Invited, before: &str) -> Result<(), Failure> {
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
    let text: String = organizations.iter().map(line).collect();
    let text =
        if text.is_empty() { "There are no organizations yet. Create one with: tenant-auth-server org create" } else { &text };
    let organizations: Vec<_> = organizations.iter().map(ManagedOrganizationView::from).collect();
    format.print(&serde_json::json!({ "organizations": organizations }), text)
}

fn line(org: &Organization) -> String {
    format!(
        "{:<24} {:<10} {:<12} {}  {}{}{}\n",
        org.slug.as_str(),
        org.status.as_str(),
        org.plan.as_str(),
        org.created_at.to_iso(),
        org.name,
        if org.is_trusted { "" } else { "  not trusted" },
        org.deletes_at.map_or_else(String::new, |at| format!("  to be deleted at {}", at.to_iso()))
    )
}

async fn set_status(input: &Input, which: Which, status: Status) -> Result<(), Failure> {
    let org = operator(input, Links::None).await?.set_organization_status(&which.slug, status).await?;
    let text = format!("Organization '{}' is {}.", org.slug, org.status.as_str());
    print_managed(&which.format, &org, &text)
}
