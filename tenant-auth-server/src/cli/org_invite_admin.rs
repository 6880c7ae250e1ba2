//! The command `org invite-admin`: inviting an org_admin, also when none is left.

use clap::Args;
use tenant_auth_core::{
    Error, OrgAdmin, Page,
    model::{Invite, Role},
    value::{Email, SearchText, Slug},
};

use super::{Links, operator, org::print_invited, report::Format};
use crate::{failure::Failure, settings::Input};

#[derive(Debug, Args)]
pub(super) struct InviteAdmin {
    /// The organization
    #[arg(long = "org", visible_alias = "slug", value_name = "SLUG")]
    slug: Slug,
    /// Whom to invite
    #[arg(long)]
    email: Email,
    /// Revoke a pending invite of this address as org_admin first, whoever sent it: its link stops working
    #[arg(long)]
    replace: bool,
    #[command(flatten)]
    format: Format,
}

impl InviteAdmin {
    pub(super) async fn run(self, input: &Input) -> Result<(), Failure> {
        let Self { slug, email, replace, format } = self;
        let operator = operator(input, Links::Printed).await?;
        let invited = match operator.invite_admin(&slug, &email).await {
            Err(Error::AlreadyInvited) => {
                let admin = operator.in_organization(&slug).await?;
                take_back(&admin, &pending(&admin, &email).await?, replace).await?;
                operator.invite_admin(&slug, &email).await?
            }
            invited => invited?,
        };
        print_invited(&format, &invited, "")
    }
}

/// How many invites are read at once.
const MOST_INVITES: u32 = 1_000;

/// The pending invites of this address.
async fn pending(admin: &OrgAdmin, email: &Email) -> Result<Vec<Invite>, Failure> {
    let address = SearchText::parse(email.as_str()).ok();
    let (mut page, mut pending) = (Page::default(), Vec::new());
    loop {
        let found = admin.invites_like(address.as_ref(), &page).await?;
        pending.extend(found.items.into_iter().filter(|invite| invite.email == *email));
        match found.next {
            Some(next) => page = Page::after(next, MOST_INVITES)?,
            None => return Ok(pending),
        }
    }
}

/// Revokes what an invite as org_admin takes the place of. An invite of another role is not replaced: whoever only sends a mail again would
/// make a member an administrator.
async fn take_back(admin: &OrgAdmin, pending: &[Invite], replace: bool) -> Result<(), Failure> {
    if let Some(other) = pending.iter().find(|invite| invite.role != Role::OrgAdmin) {
        let role = other.role.as_str();
        return Err(Failure::Service(format!(
            "This email address has a pending invite as {role}, which is not replaced by one as org_admin. Let an administrator \
             send it again, or revoke it first ({}) if its person shall be an administrator.",
            other.id
        )));
    }
    if !replace {
        let why = "This email address already has a pending invite. Give --replace to revoke it and send another.";
        return Err(Failure::Service(why.to_owned()));
    }
    for invite in pending {
        match admin.revoke_invite(&invite.id).await {
            Ok(()) | Err(Error::NotFound(_)) => {} // it was accepted or has ended meanwhile
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
