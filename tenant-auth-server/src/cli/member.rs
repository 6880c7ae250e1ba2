//! The commands `member`: what an org_admin can do to a member, for an organization in which nobody can. Members are named by their
//! addresses, which is what a support desk knows.

use clap::{Args, Subcommand};
use serde_json::json;
use tenant_auth_core::{
    OrgAdmin, Page,
    model::{MemberEntry, MemberFilter, Role, Status},
    value::{Email, SearchText, Slug},
    view::{MemberView, MembershipView},
};

use super::{Links, operator, pages, report::Format, role};
use crate::{failure::Failure, settings::Input};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List an organization's members
    List(List),
    /// Let a member in no more until they are reactivated; their sessions end
    Suspend(Whom),
    /// Let a suspended member in again
    Reactivate(Whom),
    /// Make a member an org_admin, or an org_admin a member
    Role(SetRole),
    /// Remove a member from the organization; their account and their other memberships stay
    Remove(Whom),
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
pub(super) struct Whom {
    /// The organization's slug
    #[arg(long, visible_alias = "slug")]
    org: Slug,
    /// The member's address
    #[arg(long)]
    email: Email,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
pub(super) struct SetRole {
    #[command(flatten)]
    whom: Whom,
    /// member or org_admin
    #[arg(long, value_parser = role)]
    role: Role,
}

impl Command {
    pub(super) async fn run(self, input: &Input) -> Result<(), Failure> {
        match self {
            Self::List(List { org, format }) => {
                let admin = operator(input, Links::None).await?.in_organization(&org).await?;
                let members = pages(async |page: Page| admin.members(&page).await).await?;
                print_list(&format, &org, &members)
            }
            Self::Suspend(whom) => set_status(input, whom, Status::Suspended).await,
            Self::Reactivate(whom) => set_status(input, whom, Status::Active).await,
            Self::Role(SetRole { whom: Whom { org, email, format }, role }) => {
                let admin = operator(input, Links::None).await?.in_organization(&org).await?;
                let membership = admin.set_role(&known(&admin, &email).await?.membership.user_id, role).await?;
                let text = format!("{email} is {} of organization '{org}'.", membership.role.as_str());
                format.print(&json!({ "membership": MembershipView::from(&membership) }), &text)
            }
            Self::Remove(Whom { org, email, format }) => {
                let admin = operator(input, Links::None).await?.in_organization(&org).await?;
                let member = known(&admin, &email).await?;
                admin.remove_member(&member.membership.user_id).await?;
                let text = format!("{email} is no member of organization '{org}' any more.");
                format.print(&json!({ "member": MemberView::from(&member) }), &text)
            }
        }
    }
}

async fn set_status(input: &Input, whom: Whom, status: Status) -> Result<(), Failure> {
    let Whom { org, email, format } = whom;
    let admin = operator(input, Links::None).await?.in_organization(&org).await?;
    let membership = admin.set_status(&known(&admin, &email).await?.membership.user_id, status).await?;
    let text = format!("{email} is {} in organization '{org}'.", membership.status.as_str());
    format.print(&json!({ "membership": MembershipView::from(&membership) }), &text)
}

/// The member with this address.
async fn known(admin: &OrgAdmin, email: &Email) -> Result<MemberEntry, Failure> {
    // A longer address than one may search for: then all are looked through.
    let filter = MemberFilter { search: SearchText::parse(email.as_str()).ok(), ..MemberFilter::default() };
    let mut page = Page::default();
    loop {
        let found = admin.members_like(&filter, &page).await?;
        if let Some(member) = found.items.into_iter().find(|member| member.email == *email) {
            return Ok(member);
        }
        page = match found.next {
            Some(next) => Page::after(next, super::MOST_ON_A_PAGE)?,
            None => return Err(Failure::Service(format!("{email} is no member of this organization."))),
        };
    }
}

fn print_list(format: &Format, org: &Slug, members: &[MemberEntry]) -> Result<(), Failure> {
    let line = |member: &MemberEntry| {
        let MemberEntry { membership, name, email, .. } = member;
        let (role, status, joined) = (membership.role.as_str(), membership.status.as_str(), membership.joined_at.to_iso());
        format!("{:<32} {role:<10} {status:<10} {joined}  {name}\n", email.as_str())
    };
    let text: String = members.iter().map(line).collect();
    let none =
        format!("Organization '{org}' has no members. Invite an admin with: tenant-auth-server org invite-admin --org {org}");
    let members: Vec<MemberView> = members.iter().map(MemberView::from).collect();
    format.print(&json!({ "members": members }), if text.is_empty() { &none } else { &text })
}
