//! Errors that end the program. The text goes to stderr and says what to do; it names causes that the API hides from clients,
//! because its reader is the operator.

use std::{io, net::SocketAddr, process::ExitCode};

use tenant_auth_core::{Error, SchemaError};

use crate::settings::{DATABASE_URL, InvalidSettings, OPERATOR_ORG};

/// Why the program stopped.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// Settings that cannot be used.
    #[error(transparent)]
    Settings(#[from] InvalidSettings),
    /// The database did not answer.
    #[error(
        "{} names a database that does not answer. Check that it runs and is reachable, that its file or \
         directory exists and is writable, and that host, user and password are right. What it came to: {}", DATABASE_URL.variable(), .0.causes()
    )]
    DatabaseAway(Error),
    /// The service could not be set up, or an operation failed, for a reason that is no fault of the caller's.
    #[error("{0}")]
    Service(String),
    /// An operation was refused.
    #[error(transparent)]
    Refused(Error),
    /// Another process listens on this address.
    #[error("{0} is in use by another program. Stop that one or choose another address with {1}.")]
    AddressInUse(SocketAddr, String),
    /// The operating system refused an operation.
    #[error("{doing} failed: {cause}")]
    System {
        /// The operation, with the name of its object.
        doing: String,
        /// The system's answer.
        cause: io::Error,
    },
    /// A check found what must not be.
    #[error("{0}")]
    Hole(String),
    /// A check could not be made, or not as a whole.
    #[error("{0}")]
    Unchecked(String),
    /// The command line asks for something impossible.
    #[error("{0}")]
    Usage(String),
}

impl Failure {
    /// 2 where a check could not be made, so that nobody takes it for a finding; 1 for everything else.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(if matches!(self, Self::Unchecked(_)) { 2 } else { 1 })
    }

    /// For `map_err`: the system refused what was being done.
    pub(crate) fn system(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::System { doing: doing.into(), cause }
    }
}

impl From<Error> for Failure {
    /// What the core says holds here too; the command line adds what only its reader can do, and the causes.
    fn from(error: Error) -> Self {
        match &error {
            Error::Unavailable(_) => Self::DatabaseAway(error),
            Error::Internal(cause) if cause.is::<SchemaError>() => {
                InvalidSettings::setting(&DATABASE_URL, cause.to_string()).into()
            }
            Error::Internal(_) => Self::Service(error.causes().to_string()),
            Error::UnknownOrganization => Self::Service(format!("{error} 'tenant-auth-server org list' shows them.")),
            Error::DeletionScheduled => Self::Service(format!("{error} With: tenant-auth-server org cancel-deletion")),
            Error::OperatorOrganization => Self::Service(format!("{error} {} names theirs.", OPERATOR_ORG.variable())),
            _ => Self::Refused(error),
        }
    }
}
