//! The sentences of error answers. A fact of the core has its own text, unless readers of HTTP know what it speaks of by another
//! name: a header, a parameter or a field of the body.

use crate::error::{Error, InvalidValue};

/// What stands in place of a field where a body is wrong as a whole.
pub(super) const WHOLE_BODY: &str = "body";

pub(super) const NO_SUCH_PATH: &str = "There is no such path. See the API's documentation.";

/// The message for a path that answers only these methods.
pub(super) fn answers_only(methods: &str) -> String {
    format!("This path answers only: {methods}.")
}

/// Why a request is not carried out.
#[derive(Debug)]
pub(super) enum RefusalReason {
    Fact(Error),
    InvalidSlug,
    /// A part of the request that breaks a rule before the core sees it; `field` is its name.
    Malformed {
        field: String,
        reason: String,
    },
    /// The path names an organization that does not exist.
    NoSuchOrganization,
    /// The path contains a malformed id.
    NoSuchId,
    NoLogo,
    ForbiddenOrigin,
    /// A browser shows a deployment key, or it stands beside a stated address.
    DeploymentKeyOfAnother,
    BodyTooLarge,
    RequestTimeout,
    UnsupportedMediaType,
    NotAdmitted,
    NotSetUp,
}

/// The message of a refusal.
pub(super) fn of_refusal(reason: &RefusalReason) -> String {
    let text = match reason {
        RefusalReason::Fact(error) => return of_fact(error),
        RefusalReason::Malformed { field, reason } => return format!("{field}: {reason}"),
        RefusalReason::InvalidSlug => "Send the organization's slug once, exactly as it is, in X-Org-Slug.",
        RefusalReason::NoSuchOrganization => "There is no organization with this slug. List the organizations to see their slugs.",
        RefusalReason::NoLogo => "This deployment has no logo of its own.",
        RefusalReason::NoSuchId => "There is no such id in this organization.",
        RefusalReason::ForbiddenOrigin => {
            "Pages of this origin may not call. Set the organization's appUrl or add the origin to its allowedOrigins."
        }
        RefusalReason::DeploymentKeyOfAnother => {
            "A deployment key belongs on a server: send it without Origin, Sec-Fetch-Site and X-Client-IP."
        }
        RefusalReason::BodyTooLarge => "The body must not be larger than 64 KiB.",
        RefusalReason::RequestTimeout => "The body did not arrive in time. Send the request again.",
        RefusalReason::UnsupportedMediaType => "Send JSON with Content-Type: application/json and without Content-Encoding.",
        RefusalReason::NotAdmitted => "This session gives no access here. Log in again.",
        RefusalReason::NotSetUp => "This route is not set up. The server's log says what is missing.",
    };
    text.to_owned()
}

fn of_fact(error: &Error) -> String {
    let text = match error {
        Error::UnknownOrganization => "There is no organization with this slug. Check the X-Org-Slug header.",
        Error::InvalidApiKey => {
            "The API key is not valid for this organization. Send a live key in X-API-Key with its organization's slug in X-Org-Slug."
        }
        Error::WrongOrganization => "This session belongs to another organization. Log in to the one named in X-Org-Slug.",
        Error::OperatorOrganization => {
            "The operators' own organization cannot be suspended or deleted: every operator would be locked out. Name another one in \
             operator_org first."
        }
        Error::SecondFactorMissing => "Two-factor authentication is not set up. Call setup first.",
        Error::Internal(_) => "Internal error. The request id identifies it in the server's log.",
        Error::Invalid(value) => return of_value(value),
        other => return other.to_string(),
    };
    text.to_owned()
}

/// The part of the request at fault, where it is one: the name of a header or a parameter, or the JSON path of a field.
pub(super) fn field_of(reason: &RefusalReason) -> Option<&str> {
    match reason {
        RefusalReason::Malformed { field, .. } => Some(field.as_str()).filter(|field| ![WHOLE_BODY, ""].contains(field)),
        RefusalReason::InvalidSlug => Some("X-Org-Slug"),
        RefusalReason::Fact(error) => field_of_fact(error),
        _ => None,
    }
}

/// What an error is about, wherever it comes from one field that is called so on every route.
fn field_of_fact(error: &Error) -> Option<&str> {
    match error {
        Error::Invalid(value) => Some(field_of_value(value)),
        Error::WrongPassword => Some("password"),
        Error::WrongCode => Some("code"),
        Error::SlugTaken | Error::SlugReserved => Some("slug"),
        Error::InvalidLink | Error::InvalidInvite => Some("token"),
        Error::AlreadyMember | Error::AlreadyInvited => Some("email"),
        _ => None,
    }
}

/// The parameter or the JSON path of the field, and what it must be.
fn of_value(value: &InvalidValue) -> String {
    let rule = match value {
        InvalidValue::PageLimit => "must be a number from 1 to 1000",
        InvalidValue::PageCursor => "must be a nextCursor of this list",
        InvalidValue::NameRequired | InvalidValue::PasswordRequired => "is required",
        InvalidValue::CodeRequired => "is required: two-factor authentication is enabled",
        InvalidValue::TooManyOrigins { most } => &format!("must name at most {most} origins"),
        InvalidValue::NoScopes => "must name at least one scope",
        InvalidValue::ExpiryPassed => "must be in the future",
        InvalidValue::RangeReversed => "must not be before from",
        InvalidValue::OverlapTooLong { longest } => &format!("must be between 0 and {}", longest.as_secs()),
        InvalidValue::WebhookUrl { rule } => rule,
    };
    format!("{}: {rule}", field_of_value(value))
}

const fn field_of_value(value: &InvalidValue) -> &'static str {
    match value {
        InvalidValue::PageLimit => "limit",
        InvalidValue::PageCursor => "cursor",
        InvalidValue::NameRequired => "name",
        InvalidValue::PasswordRequired => "password",
        InvalidValue::CodeRequired => "code",
        InvalidValue::TooManyOrigins { .. } => "allowedOrigins",
        InvalidValue::NoScopes => "scopes",
        InvalidValue::ExpiryPassed => "expiresAt",
        InvalidValue::RangeReversed => "to",
        InvalidValue::OverlapTooLong { .. } => "overlapSeconds",
        InvalidValue::WebhookUrl { .. } => "url",
    }
}
