//! The error of an operation, one variant per fact. A text here says the fact and what helps, in words that hold
//! for every caller. What the fact is over HTTP stands in `http/error_code.rs` (status and code) and `http/messages.rs` (sentence).

use std::{error::Error as _, fmt, time::Duration};

use super::facts::{InvalidValue, Thing};

/// What a failure was caused by.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why an operation was refused or could not be done. What was asked for in one transaction has not been done then, with one exception: a
/// write whose COMMIT was not answered may have been ([`Error::is_unsettled`]), so look before you repeat it. An operation of several steps
/// that says that it can be started again may have done a part. What a refusal itself brings about is kept: a failed attempt counts, and
/// a refresh token that was replayed ends its session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No organization has this slug.
    #[error("There is no organization with this slug.")]
    UnknownOrganization,
    /// The API key is missing, malformed, unknown, revoked, expired or another organization's.
    #[error("The API key is not valid for this organization.")]
    InvalidApiKey,
    /// The key is right but was not given this scope.
    #[error("The API key lacks the scope '{0}'. Create a key that has it.")]
    MissingScope(&'static str),
    /// The request has no live session.
    #[error("A session is required. Refresh the session or log in.")]
    SessionRequired,
    /// The session is live, but in another organization.
    #[error("This session belongs to another organization. Log in to this one.")]
    WrongOrganization,
    /// The membership or the organization is suspended.
    #[error(
        "Access is suspended. Ask an administrator of the organization or, if all of it is suspended, whoever provides this service."
    )]
    Suspended,
    /// The caller is a member but not an org_admin.
    #[error("Only an org_admin of this organization may do this.")]
    AdminRequired,
    /// The caller is an org_admin by a session, who may give any scope but this one.
    #[error(
        "The scope '{0}' is given on the server's command line or with a deployment key. Ask the operator of the deployment for such a key."
    )]
    ScopeOfOperators(&'static str),
    /// The caller is no operator of the deployment, or this session does not give the right.
    #[error(
        "Only an operator of the deployment may do this, in the operators' organization, with two-factor authentication, within 12 \
         hours of the login."
    )]
    OperatorRequired,
    /// The operators' own organization cannot be suspended or deleted: no operator could log in to undo it.
    #[error(
        "The operators' own organization cannot be suspended or deleted: every operator would be locked out. Make another one theirs \
         first."
    )]
    OperatorOrganization,
    /// There is no operators' organization, so that nobody can be an operator.
    #[error("No organization is the operators'. Name one in the service's settings first.")]
    NoOperatorOrganization,
    /// There is no such thing where it was looked for: in the organization, or for an account in the deployment.
    #[error("{}", .0.absence())]
    NotFound(Thing),
    /// A value breaks a rule, or one that is needed is missing.
    #[error(transparent)]
    Invalid(#[from] InvalidValue),
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
    #[error("Two-factor authentication is not set up. Set it up first.")]
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
    #[error("This email already belongs to an account. Leave out the name, and for an invite the password too, or log in.")]
    AccountExists,
    /// The organization must keep at least one active org_admin.
    #[error("This is the last active org_admin. Make somebody else org_admin first.")]
    LastAdmin,
    /// An admin cannot remove or suspend themselves.
    #[error("You cannot do this to yourself. Use 'leave', or ask another org_admin.")]
    CannotTargetSelf,
    /// The organization has reached a limit.
    #[error("The limit of {limit} {} is reached. Delete one first.", .what.plural())]
    LimitReached {
        /// What is limited.
        what: Thing,
        /// How many there may be.
        limit: u32,
    },
    /// The key was rotated before; its successor is the one to rotate.
    #[error("This key was rotated already. Rotate its successor.")]
    AlreadyRotated,
    /// The webhook is disabled: nothing is sent to it.
    #[error("This webhook is disabled. Enable it first.")]
    WebhookDisabled,
    /// The organization is to be deleted, and is not opened before that is undone.
    #[error("This organization is to be deleted. Cancel the deletion first.")]
    DeletionScheduled,
    /// The slug belongs to another organization, or did until that was deleted.
    #[error("This slug is taken. Choose another.")]
    SlugTaken,
    /// The slug is kept for the service or the product.
    #[error("This slug is reserved. Choose another.")]
    SlugReserved,
    /// Nobody makes an organization by sign-up here.
    #[error("Sign-up is closed. Ask whoever runs the service for an organization.")]
    SignUpClosed,
    /// An account with this address exists.
    #[error("An account with this email address exists already.")]
    EmailTaken,
    /// Events that were asked for are gone, or the place is none that there was: the database was restored from a backup.
    #[error("These events are gone. Read the list of members again, and the events after its sequence.")]
    EventsExpired,
    /// Too many attempts.
    #[error("Too many attempts. Try again in {} seconds.", retry_after.as_secs())]
    RateLimited {
        /// When to try again; whole seconds.
        retry_after: Duration,
    },
    /// The database is away or a queue is full; nothing was decided, unless [`Error::is_unsettled`]. The cause is for the log
    /// ([`Error::causes`]).
    #[error("The service is temporarily unavailable. Try again shortly.")]
    Unavailable(#[source] Cause),
    /// A defect or corrupt data. The cause is for the log ([`Error::causes`]).
    #[error("An internal error occurred. The log says more.")]
    Internal(#[source] Cause),
}

impl Error {
    /// [`Error::Unavailable`]: nothing was decided, for this cause; the caller may try again.
    pub fn unavailable(cause: impl Into<Cause>) -> Self {
        Self::Unavailable(cause.into())
    }

    /// [`Error::Internal`]: a defect of our own code or data.
    pub fn internal(cause: impl Into<Cause>) -> Self {
        Self::Internal(cause.into())
    }

    /// [`Error::Unavailable`] where it is a COMMIT that was not answered.
    pub(crate) fn unsettled(cause: impl Into<Cause>) -> Self {
        Self::unavailable(UnansweredCommit(cause.into()))
    }

    /// Whether a write may have been done all the same, because its COMMIT was not answered. Look before you repeat it. A refresh
    /// may be repeated in any case: within the reuse grace the same token gets the tokens that there are.
    pub fn is_unsettled(&self) -> bool {
        let is_unavailable = matches!(self, Self::Unavailable(_));
        is_unavailable
            && std::iter::successors(self.source(), |cause| (*cause).source()).any(|cause| cause.is::<UnansweredCommit>())
    }

    /// The text for a log: the error with all that caused it. Causes may name what callers must not learn (hosts, tables, files).
    pub const fn causes(&self) -> Causes<'_> {
        Causes(self)
    }

    /// The same as the cause of another [`Error::Unavailable`], which says itself that nothing was decided.
    pub(crate) fn reason(&self) -> String {
        let causes = self.causes().to_string();
        causes.strip_prefix(UNAVAILABLE).and_then(|causes| causes.strip_prefix(": ")).map_or_else(|| causes.clone(), str::to_owned)
    }

    /// [`Error::RateLimited`]. Seconds are rounded up: a client that waits exactly as long as it is told must not be refused again.
    pub(crate) fn rate_limited(wait: Duration) -> Self {
        let seconds = wait.as_millis().div_ceil(1_000).try_into().unwrap_or(u64::MAX);
        Self::RateLimited { retry_after: Duration::from_secs(seconds) }
    }
}

/// A COMMIT was sent and not answered.
#[derive(Debug, thiserror::Error)]
#[error("a COMMIT was not answered")]
struct UnansweredCommit(#[source] Cause);

/// How the log names an [`Error::Unavailable`], before its cause.
const UNAVAILABLE: &str = "unavailable";

/// Displays an error and, after a colon each, the causes behind it. Made by [`Error::causes`].
#[derive(Debug, Clone, Copy)]
pub struct Causes<'a>(&'a Error);

impl fmt::Display for Causes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The texts of these two say only that there is a cause.
        match self.0 {
            Error::Unavailable(_) => f.write_str(UNAVAILABLE)?,
            Error::Internal(_) => f.write_str("internal error")?,
            other => write!(f, "{other}")?,
        }
        let (mut cause, mut told) = (self.0.source(), String::new());
        while let Some(error) = cause {
            let text = error.to_string();
            // Many libraries end a text with that of its cause.
            if !told.ends_with(&text) {
                write!(f, ": {text}")?;
            }
            (cause, told) = (error.source(), text);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Error;

    #[test]
    fn only_the_text_for_the_log_tells_the_cause() {
        let error = Error::unavailable("the disk is full");
        assert!(!error.to_string().contains("disk"));
        assert_eq!(error.causes().to_string(), "unavailable: the disk is full");
        assert_eq!(Error::SlugTaken.causes().to_string(), Error::SlugTaken.to_string());
    }

    #[test]
    fn only_a_commit_without_an_answer_leaves_a_write_unsettled() {
        let lost = Error::unsettled("the connection was lost");
        assert!(lost.is_unsettled());
        assert_eq!(lost.causes().to_string(), "unavailable: a COMMIT was not answered: the connection was lost");
        assert!(!Error::unavailable("the connection was lost").is_unsettled());
        assert!(!Error::SlugTaken.is_unsettled());
    }

    #[test]
    fn an_error_that_causes_another_is_told_once() {
        let error = Error::unavailable(Error::unavailable("the disk is full").reason());
        assert_eq!(error.causes().to_string(), "unavailable: the disk is full");
        assert_eq!(Error::internal("a defect").reason(), "internal error: a defect");
    }
}
