//! The errors of all operations, one variant per fact. The HTTP status of each is decided in `http/error_map.rs` alone.

use std::time::Duration;

/// Why an operation was refused or could not be done. Nothing has been changed when one of these is returned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No organization has this slug.
    #[error("There is no organization with this slug. Check the X-Org-Slug header.")]
    UnknownOrganization,
    /// The API key is missing, malformed, unknown, revoked, expired or another organization's.
    #[error(
        "The API key is not valid for this organization. Send a live key in X-API-Key with its organization's slug in X-Org-Slug."
    )]
    InvalidApiKey,
    /// The key is right but was not given this scope.
    #[error("The API key lacks the scope '{0}'. Create a key that has it.")]
    MissingScope(&'static str),
    /// The request has no live session.
    #[error("A session is required. Refresh the session or log in.")]
    SessionRequired,
    /// The session is live, but in another organization.
    #[error("This session belongs to another organization. Log in to the one named in X-Org-Slug.")]
    WrongOrganization,
    /// The membership or the organization is suspended.
    #[error("Access is suspended. Ask an administrator of the organization.")]
    Suspended,
    /// The caller is a member but not an org_admin.
    #[error("Only an org_admin of this organization may do this.")]
    AdminRequired,
    /// The caller is no operator of the deployment, or this session does not give the right.
    #[error(
        "Only an operator of the deployment may do this, in the operators' organization, with two-factor authentication, within 12 \
         hours of the login."
    )]
    OperatorRequired,
    /// The operators' own organization cannot be suspended: no operator could log in to reactivate it.
    #[error(
        "The operators' own organization cannot be suspended: every operator would be locked out. Name another one in operator_org first."
    )]
    OperatorOrganization,
    /// No organization has the slug that an operator named.
    #[error("There is no organization with this slug. List the organizations to see their slugs.")]
    NoSuchOrganization,
    /// No such thing in this organization.
    #[error("There is no such {0} in this organization.")]
    NotFound(&'static str),
    /// A value is missing, of the wrong type or out of range.
    #[error("{field}: {reason}")]
    Invalid {
        /// The field as the request names it.
        field: String,
        /// What it must be.
        reason: String,
    },
    /// The new password breaks these rules.
    #[error("The new password {}.", .0.join(", and "))]
    WeakPassword(Vec<String>),
    /// The password given to confirm an operation is wrong.
    #[error("The current password is wrong.")]
    WrongPassword,
    /// The code given to confirm an operation is wrong, or was used before.
    #[error("The code is wrong or was used before. Enter a fresh one.")]
    WrongCode,
    /// The second step of a login failed: no such login waits, or the code is wrong, used or too late.
    #[error("The second factor was not accepted. Try a fresh code, or log in again.")]
    SecondFactorFailed,
    /// A second factor is in force already.
    #[error("Two-factor authentication is enabled already. Disable it first.")]
    SecondFactorEnabled,
    /// There is no second factor to do this with.
    #[error("Two-factor authentication is not set up. Call setup first.")]
    SecondFactorMissing,
    /// The link of a mail is unknown, used or expired.
    #[error("The link is invalid, was used or has expired. Ask for a new one.")]
    InvalidLink,
    /// Unknown address or wrong password; the error does not tell which, so that it does not reveal accounts.
    #[error("Invalid email or password.")]
    InvalidCredentials,
    /// Right password, but no membership here.
    #[error("This account is not a member of the organization. Ask one of its administrators for an invite.")]
    NotAMember,
    /// The address already belongs to a member.
    #[error("This email address already belongs to a member of the organization.")]
    AlreadyMember,
    /// The address already has a pending invite.
    #[error("This email address already has a pending invite. Resend or revoke that one.")]
    AlreadyInvited,
    /// The invite is unknown, used, revoked, expired or another organization's.
    #[error("The invite is invalid or has expired. Ask for a new one.")]
    InvalidInvite,
    /// Registration fields were sent for an address that has an account.
    #[error("This email already belongs to an account. Accept without name and password, or log in.")]
    AccountExists,
    /// The organization must keep at least one active org_admin.
    #[error("This is the last active org_admin. Make somebody else org_admin first.")]
    LastAdmin,
    /// An admin cannot remove or suspend themselves.
    #[error("You cannot do this to yourself. Use 'leave', or ask another org_admin.")]
    CannotTargetSelf,
    /// The organization has reached a limit.
    #[error("The limit of {limit} {what} is reached. Delete one first.")]
    LimitReached {
        /// What is limited, in the plural.
        what: &'static str,
        /// How many there may be.
        limit: u32,
    },
    /// The key was rotated before; its successor is the one to rotate.
    #[error("This API key was rotated already. Rotate its successor.")]
    AlreadyRotated,
    /// The webhook is disabled: nothing is sent to it.
    #[error("This webhook is disabled. Enable it first.")]
    WebhookDisabled,
    /// The slug belongs to another organization.
    #[error("This slug is taken. Choose another.")]
    SlugTaken,
    /// An account with this address exists.
    #[error("An account with this email address exists already.")]
    EmailTaken,
    /// Too many attempts.
    #[error("Too many attempts. Try again in {} seconds.", retry_after.as_secs())]
    RateLimited {
        /// When to try again; whole seconds.
        retry_after: Duration,
    },
    /// The database is away or the hashing queue is full; nothing was decided.
    #[error("The service is temporarily unavailable. Try again shortly.")]
    Unavailable,
    /// A defect or corrupt data; details go to the log only.
    #[error("Internal error. The request id identifies it in the server's log.")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// [`Error::Invalid`] for a field, by the name the request gives it.
    pub fn invalid(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Invalid { field: field.into(), reason: reason.into() }
    }

    /// [`Error::RateLimited`]. Seconds are rounded up: a client that waits exactly as long as it is told must not be refused again.
    pub(crate) fn rate_limited(wait: Duration) -> Self {
        let seconds = wait.as_millis().div_ceil(1_000).try_into().unwrap_or(u64::MAX);
        Self::RateLimited { retry_after: Duration::from_secs(seconds) }
    }

    /// [`Error::Internal`]: a defect of our own code or data.
    pub(crate) fn internal(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Internal(cause.into())
    }
}
