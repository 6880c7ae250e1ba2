//! The command `isolation-check`: tries, at a live deployment, whether the credentials of one organization reach anything of another.
//! It opens no database, and leaves nothing there but that its own logins were made and ended.

use clap::Args;
use url::Url;

use super::report::Format;
use crate::{
    failure::Failure,
    isolation::{self, Aim, Credentials, Verdict},
};

/// What the command's help says of the environment.
const ENVIRONMENT: &str = "Credentials come from the environment, for A and likewise for B:
  ISOLATION_A_EMAIL, ISOLATION_A_PASSWORD, ISOLATION_A_CODE   an org_admin; the code where a second factor is in force
  ISOLATION_A_TOKEN                                           an org_admin's access token instead
  ISOLATION_A_MEMBER_EMAIL, …_PASSWORD, …_CODE or …_TOKEN     a plain member; may be left out
  ISOLATION_A_API_KEY                                         an API key

Exit code 0: every attempt was refused; 1: a hole; 2: not everything could be checked.";

/// Try whether one organization's credentials reach anything of another
#[derive(Debug, Args)]
#[command(after_help = ENVIRONMENT)]
pub(super) struct Options {
    /// The public URL of the service, with its path if it has one
    #[arg(long)]
    url: Url,
    /// The slug of one organization
    #[arg(long, value_name = "SLUG")]
    org_a: String,
    /// The slug of the other
    #[arg(long, value_name = "SLUG")]
    org_b: String,
    /// Also send what would destroy something if there were a hole; for organizations made for this check
    #[arg(long)]
    at_risk: bool,
    #[command(flatten)]
    format: Format,
}

impl Options {
    /// Checks and prints the report.
    ///
    /// # Errors
    /// [`Failure::Unchecked`] where the check was not whole, [`Failure::Hole`] where something was reached.
    pub(super) async fn run(self) -> Result<(), Failure> {
        let Self { url, org_a, org_b, at_risk, format } = self;
        if org_a == org_b {
            return Err(Failure::Unchecked("--org-a and --org-b name the same organization. Name two.".to_owned()));
        }
        let (a, b) = (Credentials::from_environment("A", org_a)?, Credentials::from_environment("B", org_b)?);
        let report = isolation::check(&Aim { url, at_risk }, a, b).await?;
        let outcome = match report.verdict {
            Verdict::Isolated => Ok(()),
            Verdict::Hole => Err(Failure::Hole("There is a hole between the two organizations; the report says where.".to_owned())),
            Verdict::Incomplete => {
                Err(Failure::Unchecked("Nothing was reached, but not everything could be tried; the report says what.".to_owned()))
            }
        };
        format.print_check(&report, &report.text(), outcome)
    }
}
