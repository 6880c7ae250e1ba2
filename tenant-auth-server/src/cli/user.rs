//! The commands `user show` and `user unlock`, for whoever cannot get in; `user reset-2fa` and `user delete`, for a device and an account
//! that are gone; `user list`, for accounts that nobody needs; `user set-email`, for an account that was taken over; `user create`: an
//! account with a password and a membership, its address unverified; and `user export`: what is kept about a person. The password comes on
//! stdin, where neither the process list nor the shell's history sees it.

use std::io::{BufRead, IsTerminal, Read};

use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::json;
use tenant_auth_core::{
    Error, Timestamp,
    model::Role,
    operator::{AccountWithoutOrganization, DeletedUser, NewUser},
    secret::Password,
    value::{DisplayName, Email, Slug},
    view::{MembershipView, UserView},
};

use super::{Links, confirmation::confirm_in_terminal, operator, report::Format, role, user_show};
use crate::{failure::Failure, logging, settings::Input};

/// Longer than any password may be; what stands beyond is not read.
const MAX_LINE: u64 = 8 * 1024;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Create an account and its membership; the password is read from stdin
    Create(Create),
    /// Show how an account stands: its organizations, its second factor, and what blocks its logins
    Show(Whom),
    /// Forget an account's wrong passwords and codes, which block its logins for a while
    Unlock(Whom),
    /// Remove a lost second factor; every session of the account ends
    #[command(name = "reset-2fa")]
    ResetSecondFactor(Whom),
    /// Give an account that was taken over another address: nobody gets in until its holder chose a password by a mailed link
    SetEmail(SetEmail),
    /// List accounts: those that belong to no organization, so that nothing but 'user delete' ends them
    List(List),
    /// Delete an account with all its memberships, and erase the person; an address without an account is erased, too
    Delete(Delete),
    /// Print all that is kept about a person as one JSON document, without secrets
    Export(Whom),
}

#[derive(Debug, Args)]
pub(super) struct Whom {
    /// The account's address
    #[arg(long)]
    email: Email,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
pub(super) struct List {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    format: Format,
}

/// All accounts together are no list that anybody reads.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Which {
    /// Those that belong to no organization
    #[arg(long)]
    without_organization: bool,
}

#[derive(Debug, Args)]
pub(super) struct Delete {
    /// The address of the account, or of whoever has none
    #[arg(long)]
    email: Email,
    /// Do not ask, in a terminal either
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
pub(super) struct SetEmail {
    /// The account's address now
    #[arg(long)]
    email: Email,
    /// The address that you know to be the owner's
    #[arg(long)]
    to: Email,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
pub(super) struct Create {
    /// The organization's slug
    #[arg(long, visible_alias = "slug")]
    org: Slug,
    /// The person's address
    #[arg(long)]
    email: Email,
    /// The person's name
    #[arg(long)]
    name: DisplayName,
    /// member or org_admin
    #[arg(long, default_value = "member", value_parser = role)]
    role: Role,
    #[command(flatten)]
    format: Format,
}

#[derive(Serialize)]
struct CreatedOutput {
    user: UserView,
    membership: MembershipView,
}

impl Command {
    pub(super) async fn run(self, input: &Input) -> Result<(), Failure> {
        match self {
            Self::Create(create) => create.run(input).await,
            Self::Show(Whom { email, format }) => {
                let account = operator(input, Links::None).await?.account(&email).await?;
                user_show::print(&format, &account)
            }
            Self::Unlock(Whom { email, format }) => {
                let user = operator(input, Links::None).await?.unlock(&email).await?;
                let text = format!("Nothing is counted against {} any more.", user.email);
                format.print(&json!({ "user": UserView::from(&user) }), &text)
            }
            Self::ResetSecondFactor(Whom { email, format }) => {
                let user = match operator(input, Links::None).await?.reset_second_factor(&email).await {
                    Err(Error::SecondFactorMissing) => {
                        let why = format!("{email} has no second factor in force. There is nothing to remove.");
                        return Err(Failure::Service(why));
                    }
                    user => user?,
                };
                let text = format!("{} logs in with the password alone now. Every session of the account has ended.", user.email);
                format.print(&json!({ "user": UserView::from(&user) }), &text)
            }
            Self::SetEmail(SetEmail { email, to, format }) => {
                let given = operator(input, Links::Printed).await?.set_email(&email, &to).await?;
                let link = match given.is_link_mailed {
                    true => {
                        "A link to choose a password is mailed there; it works for 30 minutes, and 'Forgot password' mails another."
                    }
                    false => {
                        "No link is mailed: no organization of the account is active. Reactivate one, and have its holder ask for \
                         a link by 'Forgot password' there."
                    }
                };
                let text = format!(
                    "{} is the account's address now. Its password is void, and every session has ended. {link}",
                    given.user.email
                );
                format.print(&json!({ "user": UserView::from(&given.user), "linkMailed": given.is_link_mailed }), &text)
            }
            Self::Export(Whom { email, format }) => {
                let person = operator(input, Links::None).await?.export_person(&email).await?;
                if !person.has_account() {
                    logging::remark(&format!("The address {email} has no account."));
                }
                let text = serde_json::to_string_pretty(person.as_json());
                let text = text.map_err(|error| Failure::Service(format!("The document cannot be shown as JSON: {error}")))?;
                format.print(person.as_json(), &text)
            }
            Self::List(list) => list.run(input).await,
            Self::Delete(delete) => delete.run(input).await,
        }
    }
}

impl List {
    async fn run(self, input: &Input) -> Result<(), Failure> {
        let Self { which: Which { without_organization: _ }, format } = self;
        let operator = operator(input, Links::None).await?;
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let found = operator.accounts_without_organization(after.as_ref()).await?;
            all.extend(found.accounts);
            after = found.next;
            if after.is_none() {
                break;
            }
        }
        let text: String = all.iter().map(|account| format!("{}\n", line(account))).collect();
        let text = if text.is_empty() { "Every account belongs to an organization." } else { &text };
        let accounts: Vec<_> = all.iter().map(ListedOutput::from).collect();
        format.print(&json!({ "accounts": accounts }), text)
    }
}

fn line(account: &AccountWithoutOrganization) -> String {
    let AccountWithoutOrganization { user, created_at, is_invited, .. } = account;
    let invited = if *is_invited { "  (invited)" } else { "" };
    format!("{:<40} {}  {}{invited}", user.email.as_str(), created_at.to_iso(), user.name)
}

/// An account of `user list`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListedOutput {
    user: UserView,
    created_at: Timestamp,
    is_invited: bool,
}

impl From<&AccountWithoutOrganization> for ListedOutput {
    fn from(account: &AccountWithoutOrganization) -> Self {
        Self { user: (&account.user).into(), created_at: account.created_at, is_invited: account.is_invited }
    }
}

impl Delete {
    async fn run(self, input: &Input) -> Result<(), Failure> {
        let Self { email, yes, format } = self;
        let operator = operator(input, Links::None).await?;
        if !yes {
            let warning = format!("This deletes {email} and erases the person everywhere, for good.");
            confirm_in_terminal(email.as_str(), "address", &warning)?;
        }
        let DeletedUser { user, without_admin, is_complete, .. } = operator.delete_user(&email).await?;
        let mut text = match &user {
            Some(user) => format!("The account {} and all its memberships are deleted.", user.email),
            None => format!("{email} has no account. What was kept about the address is erased."),
        };
        for org in &without_admin {
            text.push_str(&format!(
                "\nOrganization '{org}' has no active org_admin any more: org invite-admin --org {org} --email …"
            ));
        }
        let data = json!({
            "user": user.as_ref().map(UserView::from),
            "organizationsWithoutAdmin": without_admin,
            "isComplete": is_complete,
        });
        format.print(&data, &text)?;
        if is_complete {
            return Ok(());
        }
        Err(Failure::Service(format!(
            "Something that is kept by the address {email} could not be deleted, such as a mail that waits. Give the command again."
        )))
    }
}

impl Create {
    async fn run(self, input: &Input) -> Result<(), Failure> {
        let Self { org, email, name, role, format } = self;
        let operator = operator(input, Links::None).await?;
        let password = password_from_stdin()?;
        let created = operator.create_user(&org, NewUser { email, name, role, password }).await?;
        let text = format!(
            "{} ({}) is {} of organization '{org}'. The address is not verified.",
            created.user.email,
            created.user.name,
            created.membership.role.as_str(),
        );
        format.print(&CreatedOutput { user: (&created.user).into(), membership: (&created.membership).into() }, &text)
    }
}

/// The first line, without its end.
fn password_from_stdin() -> Result<Password, Failure> {
    let stdin = std::io::stdin().lock();
    if stdin.is_terminal() {
        // The terminal shows what is typed; a prompt that says so beats one that surprises.
        logging::ask("Password (shown while typed):");
    }
    let mut line = String::new();
    stdin.take(MAX_LINE).read_line(&mut line).map_err(Failure::system("Reading the password from stdin as UTF-8 text"))?;
    let password = Password::new(line.trim_end_matches(['\n', '\r']));
    if password.expose().is_empty() {
        return Err(Failure::Usage("No password was given. Write it to stdin, such as: … user create … < password.txt".to_owned()));
    }
    Ok(password)
}
