//! Error codes: the stable `code` of error answers, each with its status. `error_map` answers them and rows declare them.

/// A status and the `code` that stands beside it in the envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Code {
    /// The HTTP status.
    pub status: u16,
    /// The stable word.
    pub code: &'static str,
}

macro_rules! codes {
    ($($name:ident = $status:literal $code:literal;)*) => {
        $(pub(crate) const $name: Code = Code { status: $status, code: $code };)*
    };
}

codes! {
    INVALID_SLUG = 400 "invalid_slug";
    INVALID_REQUEST = 400 "invalid_request";
    WEAK_PASSWORD = 400 "weak_password";
    INVALID_INVITE = 400 "invalid_invite";
    INVALID_LINK = 400 "invalid_link";
    WRONG_CODE = 400 "wrong_code";
    LAST_ADMIN = 400 "last_admin";
    CANNOT_TARGET_SELF = 400 "cannot_target_self";
    OPERATOR_ORGANIZATION = 400 "operator_organization";
    INVALID_API_KEY = 401 "invalid_api_key";
    SESSION_REQUIRED = 401 "session_required";
    WRONG_ORGANIZATION = 401 "wrong_organization";
    WRONG_PASSWORD = 401 "wrong_password";
    SECOND_FACTOR_FAILED = 401 "second_factor_failed";
    INVALID_CREDENTIALS = 401 "invalid_credentials";
    MISSING_SCOPE = 403 "missing_scope";
    SUSPENDED = 403 "suspended";
    ADMIN_REQUIRED = 403 "admin_required";
    OPERATOR_REQUIRED = 403 "operator_required";
    NOT_A_MEMBER = 403 "not_a_member";
    NOT_ADMITTED = 403 "not_admitted";
    FORBIDDEN_ORIGIN = 403 "forbidden_origin";
    UNKNOWN_ORGANIZATION = 404 "unknown_organization";
    NOT_FOUND = 404 "not_found";
    METHOD_NOT_ALLOWED = 405 "method_not_allowed";
    REQUEST_TIMEOUT = 408 "request_timeout";
    ALREADY_MEMBER = 409 "already_member";
    ALREADY_INVITED = 409 "already_invited";
    ACCOUNT_EXISTS = 409 "account_exists";
    SECOND_FACTOR_ENABLED = 409 "two_factor_enabled";
    SECOND_FACTOR_MISSING = 409 "two_factor_not_set_up";
    LIMIT_REACHED = 409 "limit_reached";
    ALREADY_ROTATED = 409 "already_rotated";
    WEBHOOK_DISABLED = 409 "webhook_disabled";
    SLUG_TAKEN = 409 "slug_taken";
    EMAIL_TAKEN = 409 "email_taken";
    BODY_TOO_LARGE = 413 "body_too_large";
    UNSUPPORTED_MEDIA_TYPE = 415 "unsupported_media_type";
    RATE_LIMITED = 429 "rate_limited";
    INTERNAL = 500 "internal";
    UNAVAILABLE = 503 "unavailable";
}
