//! The codes of error answers: the stable word of each with its status, and which of them a fact of the core has.

use ::http::StatusCode;
use serde::{Serialize, Serializer};

use crate::error::Error;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $status:literal $code:literal;)*) => {
        /// The `code` of an error answer. It never changes its word or its status.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $($(#[$doc])* $name,)*
        }

        impl ErrorCode {
            /// Every code there is.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The word of each.
            const WORDS: &[&str] = &[$($code),*];

            /// The HTTP status.
            pub const fn status(self) -> u16 {
                match self {
                    $(Self::$name => $status,)*
                }
            }

            /// The word that stands in the envelope.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)*
                }
            }

            /// The code with this word.
            pub fn parse(word: &str) -> Option<Self> {
                match word {
                    $($code => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

codes! {
    /// The request does not say which organization it is sent to.
    InvalidSlug = 400 "invalid_slug";
    /// A part of the request breaks a rule.
    InvalidRequest = 400 "invalid_request";
    /// [`Error::WeakPassword`].
    WeakPassword = 400 "weak_password";
    /// [`Error::InvalidInvite`].
    InvalidInvite = 400 "invalid_invite";
    /// [`Error::InvalidLink`].
    InvalidLink = 400 "invalid_link";
    /// [`Error::WrongCode`].
    WrongCode = 400 "wrong_code";
    /// [`Error::LastAdmin`].
    LastAdmin = 400 "last_admin";
    /// [`Error::CannotTargetSelf`].
    CannotTargetSelf = 400 "cannot_target_self";
    /// [`Error::OperatorOrganization`].
    OperatorOrganization = 400 "operator_organization";
    /// [`Error::SlugReserved`].
    SlugReserved = 400 "slug_reserved";
    /// [`Error::InvalidApiKey`].
    InvalidApiKey = 401 "invalid_api_key";
    /// [`Error::SessionRequired`].
    SessionRequired = 401 "session_required";
    /// [`Error::WrongOrganization`].
    WrongOrganization = 401 "wrong_organization";
    /// [`Error::WrongPassword`].
    WrongPassword = 401 "wrong_password";
    /// [`Error::SecondFactorFailed`].
    SecondFactorFailed = 401 "second_factor_failed";
    /// [`Error::InvalidCredentials`].
    InvalidCredentials = 401 "invalid_credentials";
    /// [`Error::MissingScope`].
    MissingScope = 403 "missing_scope";
    /// [`Error::Suspended`].
    Suspended = 403 "suspended";
    /// [`Error::AdminRequired`], [`Error::ScopeOfOperators`].
    AdminRequired = 403 "admin_required";
    /// [`Error::OperatorRequired`].
    OperatorRequired = 403 "operator_required";
    /// [`Error::NotAMember`].
    NotAMember = 403 "not_a_member";
    /// A session that was just refreshed gives no access.
    NotAdmitted = 403 "not_admitted";
    /// [`Error::SignUpClosed`].
    SignUpClosed = 403 "sign_up_closed";
    /// Pages of this origin may not call.
    ForbiddenOrigin = 403 "forbidden_origin";
    /// [`Error::UnknownOrganization`], of the organization that the request is sent to.
    UnknownOrganization = 404 "unknown_organization";
    /// There is no such path, or nothing is at it.
    NotFound = 404 "not_found";
    /// The path does not answer this method.
    MethodNotAllowed = 405 "method_not_allowed";
    /// The body was not whole within [`BODY_TIMEOUT`](super::BODY_TIMEOUT).
    RequestTimeout = 408 "request_timeout";
    /// [`Error::AlreadyMember`].
    AlreadyMember = 409 "already_member";
    /// [`Error::AlreadyInvited`].
    AlreadyInvited = 409 "already_invited";
    /// [`Error::AccountExists`].
    AccountExists = 409 "account_exists";
    /// [`Error::SecondFactorEnabled`].
    SecondFactorEnabled = 409 "two_factor_enabled";
    /// [`Error::SecondFactorMissing`].
    SecondFactorMissing = 409 "two_factor_not_set_up";
    /// [`Error::LimitReached`].
    LimitReached = 409 "limit_reached";
    /// [`Error::AlreadyRotated`].
    AlreadyRotated = 409 "already_rotated";
    /// [`Error::WebhookDisabled`].
    WebhookDisabled = 409 "webhook_disabled";
    /// [`Error::DeletionScheduled`].
    DeletionScheduled = 409 "deletion_scheduled";
    /// [`Error::SlugTaken`].
    SlugTaken = 409 "slug_taken";
    /// [`Error::EmailTaken`].
    EmailTaken = 409 "email_taken";
    /// [`Error::EventsExpired`].
    EventsExpired = 410 "events_expired";
    /// The body is longer than [`BODY_LIMIT`](super::BODY_LIMIT).
    BodyTooLarge = 413 "body_too_large";
    /// The body is not said to be JSON, or is encoded.
    UnsupportedMediaType = 415 "unsupported_media_type";
    /// [`Error::RateLimited`].
    RateLimited = 429 "rate_limited";
    /// [`Error::Internal`], or a route that is not set up.
    Internal = 500 "internal";
    /// [`Error::Unavailable`].
    Unavailable = 503 "unavailable";
}

// One enum for all operations: generators of clients make a type of each schema, and an operation's own codes would be hundreds.
crate::schema::text_schema!(
    ErrorCode,
    Text {
        means: "What a refusal is by. Never changes its meaning; a later version may know more of them.",
        words: Some(ErrorCode::WORDS),
        ..Text::default()
    }
);

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl ErrorCode {
    pub(crate) fn status_code(self) -> StatusCode {
        StatusCode::from_u16(self.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

impl From<&Error> for ErrorCode {
    fn from(error: &Error) -> Self {
        match error {
            Error::UnknownOrganization => Self::UnknownOrganization,
            Error::InvalidApiKey => Self::InvalidApiKey,
            Error::MissingScope(_) => Self::MissingScope,
            Error::SessionRequired => Self::SessionRequired,
            Error::WrongOrganization => Self::WrongOrganization,
            Error::Suspended => Self::Suspended,
            Error::AdminRequired | Error::ScopeOfOperators(_) => Self::AdminRequired,
            Error::OperatorRequired => Self::OperatorRequired,
            Error::OperatorOrganization => Self::OperatorOrganization,
            Error::NotFound(_) => Self::NotFound,
            Error::Invalid(_) | Error::NoOperatorOrganization => Self::InvalidRequest,
            Error::WeakPassword(_) => Self::WeakPassword,
            Error::WrongPassword => Self::WrongPassword,
            Error::WrongCode => Self::WrongCode,
            Error::SecondFactorFailed => Self::SecondFactorFailed,
            Error::SecondFactorEnabled => Self::SecondFactorEnabled,
            Error::SecondFactorMissing => Self::SecondFactorMissing,
            Error::InvalidLink => Self::InvalidLink,
            Error::InvalidCredentials => Self::InvalidCredentials,
            Error::NotAMember => Self::NotAMember,
            Error::AlreadyMember => Self::AlreadyMember,
            Error::AlreadyInvited => Self::AlreadyInvited,
            Error::InvalidInvite => Self::InvalidInvite,
            Error::AccountExists => Self::AccountExists,
            Error::LastAdmin => Self::LastAdmin,
            Error::CannotTargetSelf => Self::CannotTargetSelf,
            Error::LimitReached { .. } => Self::LimitReached,
            Error::AlreadyRotated => Self::AlreadyRotated,
            Error::WebhookDisabled => Self::WebhookDisabled,
            Error::DeletionScheduled => Self::DeletionScheduled,
            Error::SlugTaken => Self::SlugTaken,
            Error::SlugReserved => Self::SlugReserved,
            Error::SignUpClosed => Self::SignUpClosed,
            Error::EmailTaken => Self::EmailTaken,
            Error::EventsExpired => Self::EventsExpired,
            Error::RateLimited { .. } => Self::RateLimited,
            Error::Unavailable(_) => Self::Unavailable,
            Error::Internal(_) => Self::Internal,
        }
    }
}
