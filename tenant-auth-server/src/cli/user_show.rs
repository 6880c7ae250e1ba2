//! What `user show` prints.

use serde::Serialize;
use tenant_auth_core::{
    Timestamp,
    id::OrgId,
    model::{Role, Status},
    operator::{AccountBlock, AccountMembership, AccountState, Blocked},
    value::Slug,
    view::UserView,
};

use super::report::Format;
use crate::failure::Failure;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Output<'a> {
    user: UserView,
    second_factor: bool,
    recovery_codes_remaining: u32,
    memberships: Vec<MembershipOutput<'a>>,
    sessions: usize,
    blocks: Vec<BlockOutput>,
}

#[derive(Serialize)]
struct MembershipOutput<'a> {
    org: OrgOutput<'a>,
    role: Role,
    status: Status,
}

#[derive(Serialize)]
struct OrgOutput<'a> {
    id: &'a OrgId,
    slug: &'a Slug,
    status: Status,
}

#[derive(Serialize)]
struct BlockOutput {
    of: &'static str,
    until: Timestamp,
}

pub(super) fn print(format: &Format, account: &AccountState) -> Result<(), Failure> {
    let output = Output {
        user: UserView::from(&account.user),
        second_factor: account.has_second_factor,
        recovery_codes_remaining: account.recovery_codes_remaining,
        memberships: account.memberships.iter().map(membership).collect(),
        sessions: account.sessions,
        blocks: account.blocks.iter().map(|block| BlockOutput { of: block.of.as_str(), until: block.until }).collect(),
    };
    format.print(&output, &text(account))
}

fn membership(AccountMembership { org_id, slug, org_status, role, status, .. }: &AccountMembership) -> MembershipOutput<'_> {
    MembershipOutput { org: OrgOutput { id: org_id, slug, status: *org_status }, role: *role, status: *status }
}

fn text(account: &AccountState) -> String {
    let user = &account.user;
    let address = if user.is_email_verified { "verified" } else { "not verified" };
    let factor = match (account.has_second_factor, account.recovery_codes_remaining) {
        (true, codes) => format!("in force, recovery codes left: {codes}"),
        (false, _) => "none".to_owned(),
    };
    let mut text = format!(
        "{}  {} ({})\nAddress: {address}\nSecond factor: {factor}\nSessions: {}\n",
        user.id, user.email, user.name, account.sessions
    );
    for AccountMembership { slug, org_status, role, status, .. } in &account.memberships {
        let org = if *org_status == Status::Suspended { "; the organization is suspended" } else { "" };
        text.push_str(&format!("Organization '{slug}': {}, {}{org}\n", role.as_str(), status.as_str()));
    }
    if account.memberships.is_empty() {
        text.push_str("No organization\n");
    }
    for block in &account.blocks {
        text.push_str(&line(block));
    }
    text
}

fn line(block: &AccountBlock) -> String {
    let what = match block.of {
        Blocked::PasswordsOfNetwork => "Passwords from one network",
        Blocked::Codes => "Codes",
        _ => "Passwords from where the account is not known",
    };
    format!("{what} are refused until {}; 'user unlock' ends that\n", block.until.to_iso())
}
