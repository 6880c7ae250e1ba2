//! The mapping of core errors to HTTP statuses and codes; it is in this file alone.

use super::codes::{self, Code};
use crate::error::Error;

/// The status and code of a fact.
pub(crate) fn code_of(error: &Error) -> Code {
    match error {
        Error::UnknownOrganization => codes::UNKNOWN_ORGANIZATION,
        Error::InvalidApiKey => codes::INVALID_API_KEY,
        Error::MissingScope(_) => codes::MISSING_SCOPE,
        Error::SessionRequired => codes::SESSION_REQUIRED,
        Error::WrongOrganization => codes::WRONG_ORGANIZATION,
        Error::Suspended => codes::SUSPENDED,
        Error::AdminRequired => codes::ADMIN_REQUIRED,
        Error::OperatorRequired => codes::OPERATOR_REQUIRED,
        Error::OperatorOrganization => codes::OPERATOR_ORGANIZATION,
        Error::NoSuchOrganization | Error::NotFound(_) => codes::NOT_FOUND,
        Error::Invalid { .. } => codes::INVALID_REQUEST,
        Error::WeakPassword(_) => codes::WEAK_PASSWORD,
        Error::WrongPassword => codes::WRONG_PASSWORD,
        Error::WrongCode => codes::WRONG_CODE,
        Error::SecondFactorFailed => codes::SECOND_FACTOR_FAILED,
        Error::SecondFactorEnabled => codes::SECOND_FACTOR_ENABLED,
        Error::SecondFactorMissing => codes::SECOND_FACTOR_MISSING,
        Error::InvalidLink => codes::INVALID_LINK,
        Error::InvalidCredentials => codes::INVALID_CREDENTIALS,
        Error::NotAMember => codes::NOT_A_MEMBER,
        Error::AlreadyMember => codes::ALREADY_MEMBER,
        Error::AlreadyInvited => codes::ALREADY_INVITED,
        Error::InvalidInvite => codes::INVALID_INVITE,
        Error::AccountExists => codes::ACCOUNT_EXISTS,
        Error::LastAdmin => codes::LAST_ADMIN,
        Error::CannotTargetSelf => codes::CANNOT_TARGET_SELF,
        Error::LimitReached { .. } => codes::LIMIT_REACHED,
        Error::AlreadyRotated => codes::ALREADY_ROTATED,
        Error::WebhookDisabled => codes::WEBHOOK_DISABLED,
        Error::SlugTaken => codes::SLUG_TAKEN,
        Error::EmailTaken => codes::EMAIL_TAKEN,
        Error::RateLimited { .. } => codes::RATE_LIMITED,
        Error::Unavailable => codes::UNAVAILABLE,
        Error::Internal(_) => codes::INTERNAL,
    }
}

/// Seconds for `Retry-After`, where the fact has one.
pub(crate) fn retry_after(error: &Error) -> Option<u64> {
    match error {
        Error::RateLimited { retry_after } => Some(retry_after.as_secs().max(1)),
        Error::Unavailable => Some(2),
        _ => None,
    }
}
