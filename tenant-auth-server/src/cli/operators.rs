//! The commands `operator grant`, `operator revoke` and `operator list`: who may create and change organizations over HTTP. Only this
//! command line decides that; a revoked operator's next request is refused.

use clap::{Args, Subcommand};
use serde_json::json;
use tenant_auth_core::{Error, model::User, value::Email, view::UserView};

use super::{Links, operator, report::Format};
use crate::{
    failure::Failure,
    settings::{Input, InvalidSettings, OPERATOR_ORG},
};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Make a member of the operators' organization an operator of the deployment
    Grant(Whom),
    /// Take that back, at once
    Revoke(Whom),
    /// List all who are appointed
    List(Format),
}

#[derive(Debug, Args)]
pub(super) struct Whom {
    /// The account's address
    #[arg(long)]
    email: Email,
    #[command(flatten)]
    format: Format,
}

impl Command {
    pub(super) async fn run(self, input: &Input) -> Result<(), Failure> {
        match self {
            Self::Grant(Whom { email, format }) => {
                let user = operator(input, Links::None).await?.appoint(&email).await.map_err(|error| refusal(error, &email))?;
                let text = format!(
                    "{} is an operator of the deployment, in sessions with two-factor authentication, for 12 hours each.",
                    user.email
                );
                format.print(&json!({ "user": UserView::from(&user) }), &text)
            }
            Self::Revoke(Whom { email, format }) => {
                let user = operator(input, Links::None).await?.dismiss(&email).await?;
                format
                    .print(&json!({ "user": UserView::from(&user) }), &format!("{} is no operator of the deployment.", user.email))
            }
            Self::List(format) => print_list(&format, &operator(input, Links::None).await?.operators().await?),
        }
    }
}

fn print_list(format: &Format, operators: &[User]) -> Result<(), Failure> {
    let text: String = operators.iter().map(|user| format!("{:<40} {}  {}\n", user.email.as_str(), user.id, user.name)).collect();
    let none = "There are no operators. Appoint one with: tenant-auth-server operator grant";
    let operators: Vec<UserView> = operators.iter().map(UserView::from).collect();
    format.print(&json!({ "operators": operators }), if text.is_empty() { none } else { &text })
}

/// What stands in the way of an appointment, and what to do about it.
fn refusal(error: Error, email: &Email) -> Failure {
    match error {
        Error::NoOperatorOrganization => {
            InvalidSettings::setting(&OPERATOR_ORG, "must name the organization whose members may be operators").into()
        }
        Error::UnknownOrganization => InvalidSettings::setting(&OPERATOR_ORG, "names an organization that there is not").into(),
        Error::NotAMember => Failure::Service(format!(
            "{email} is not a member of the organization that {} names. Invite them there first.",
            OPERATOR_ORG.variable()
        )),
        other => other.into(),
    }
}
