//! The HTTP refusal: why a request is not carried out, as a core error or a fact that only HTTP knows. Either becomes the error
//! envelope.

use ::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use serde::Serialize;

use super::{
    answered::{Answered, Unable, json_headers},
    error_code::ErrorCode,
    messages::{self, RefusalReason},
};
use crate::error::Error;

/// A refusal: its reason, the field at fault where the reason does not name it, and the cookies that its answer sets.
#[derive(Debug)]
pub(crate) struct Refusal {
    reason: RefusalReason,
    field: Option<&'static str>,
    cookies: Vec<HeaderValue>,
}

#[derive(Serialize)]
struct ErrorEnvelope<'a> {
    status: &'static str,
    code: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'a str>,
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::because(RefusalReason::Fact(error))
    }
}

impl Refusal {
    const fn because(reason: RefusalReason) -> Self {
        Self { reason, field: None, cookies: Vec::new() }
    }

    pub(crate) const fn invalid_slug() -> Self {
        Self::because(RefusalReason::InvalidSlug)
    }

    /// Refuses a malformed part of the request. `field` is its name as the client knows it; `reason` says what the part must be.
    pub(crate) fn invalid(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::because(RefusalReason::Malformed { field: field.into(), reason: reason.into() })
    }

    pub(crate) const fn no_such_organization() -> Self {
        Self::because(RefusalReason::NoSuchOrganization)
    }

    pub(crate) const fn no_such_id() -> Self {
        Self::because(RefusalReason::NoSuchId)
    }

    /// Refuses where the deployment has no logo of its own.
    pub(crate) const fn no_logo() -> Self {
        Self::because(RefusalReason::NoLogo)
    }

    pub(crate) const fn forbidden_origin() -> Self {
        Self::because(RefusalReason::ForbiddenOrigin)
    }

    /// Refuses a deployment key that a browser shows, or that stands beside a stated address.
    pub(crate) const fn deployment_key_of_another() -> Self {
        Self::because(RefusalReason::DeploymentKeyOfAnother)
    }

    pub(crate) const fn body_too_large() -> Self {
        Self::because(RefusalReason::BodyTooLarge)
    }

    pub(crate) const fn request_timeout() -> Self {
        Self::because(RefusalReason::RequestTimeout)
    }

    pub(crate) const fn unsupported_media_type() -> Self {
        Self::because(RefusalReason::UnsupportedMediaType)
    }

    /// Refuses a session that was just refreshed and is not live all the same.
    pub(crate) const fn not_admitted() -> Self {
        Self::because(RefusalReason::NotAdmitted)
    }

    /// Refuses because the host's route is not set up; the log says what is missing.
    pub(crate) const fn not_set_up() -> Self {
        Self::because(RefusalReason::NotSetUp)
    }

    /// Sets cookies beside the refusal.
    pub(crate) fn with_cookies(mut self, cookies: Vec<HeaderValue>) -> Self {
        self.cookies = cookies;
        self
    }

    /// The core's error, if the reason is one.
    pub(crate) fn fact(&self) -> Option<&Error> {
        match &self.reason {
            RefusalReason::Fact(error) => Some(error),
            _ => None,
        }
    }

    /// Takes the cookies out of the refusal.
    pub(crate) fn take_cookies(&mut self) -> Vec<HeaderValue> {
        std::mem::take(&mut self.cookies)
    }

    /// The refusal's code.
    pub(crate) fn code(&self) -> ErrorCode {
        match &self.reason {
            RefusalReason::Fact(error) => error.into(),
            RefusalReason::InvalidSlug => ErrorCode::InvalidSlug,
            RefusalReason::Malformed { .. } => ErrorCode::InvalidRequest,
            RefusalReason::NoSuchOrganization | RefusalReason::NoSuchId | RefusalReason::NoLogo => ErrorCode::NotFound,
            RefusalReason::ForbiddenOrigin | RefusalReason::DeploymentKeyOfAnother => ErrorCode::ForbiddenOrigin,
            RefusalReason::BodyTooLarge => ErrorCode::BodyTooLarge,
            RefusalReason::RequestTimeout => ErrorCode::RequestTimeout,
            RefusalReason::UnsupportedMediaType => ErrorCode::UnsupportedMediaType,
            RefusalReason::NotAdmitted => ErrorCode::NotAdmitted,
            RefusalReason::NotSetUp => ErrorCode::Internal,
        }
    }

    /// Refuses because of an error of an operation that takes a new password in this field.
    pub(crate) fn of_new_password(error: Error, field: &'static str) -> Self {
        let is_weak = matches!(error, Error::WeakPassword(_));
        Self { field: is_weak.then_some(field), ..error.into() }
    }

    /// The same at the acceptance of an invite, which the path names.
    pub(crate) fn of_acceptance(error: Error) -> Self {
        match error {
            Error::AlreadyMember => Self { field: Some("token"), ..error.into() },
            other => Self::of_new_password(other, "password"),
        }
    }

    /// The same where the current one comes along.
    pub(crate) fn of_changed_password(error: Error) -> Self {
        match error {
            Error::WrongPassword => Self { field: Some("currentPassword"), ..error.into() },
            other => Self::of_new_password(other, "newPassword"),
        }
    }

    /// Refuses because of an error of a sign-up, naming the field at fault.
    pub(crate) fn of_sign_up(error: Error) -> Self {
        let field = match error {
            Error::WeakPassword(_) => Some("password"),
            Error::SlugTaken | Error::SlugReserved => Some("organization.slug"),
            _ => None,
        };
        Self { field, ..error.into() }
    }

    /// The refusal's message.
    pub(crate) fn message(&self) -> String {
        messages::of_refusal(&self.reason)
    }

    pub(crate) fn into_answered(self) -> Answered {
        self.answered()
    }

    /// The error envelope with its headers and cookies. A fault's cause is for the log and never stands in the envelope.
    pub(crate) fn answered(&self) -> Answered {
        let field = self.field.or_else(|| messages::field_of(&self.reason));
        let mut answered = envelope(self.code(), &self.message(), field);
        if let RefusalReason::Fact(error) = &self.reason {
            if let Some(seconds) = retry_after(error) {
                answered.headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
            }
            answered.cause = unable(error);
        }
        for cookie in &self.cookies {
            answered.headers.append(header::SET_COOKIE, cookie.clone());
        }
        answered
    }
}

fn unable(error: &Error) -> Option<Unable> {
    let is_fault = matches!(error, Error::Internal(_) | Error::Unavailable(_));
    let fault = || is_fault.then(|| Unable::Fault(error.causes().to_string()));
    error.overload().map(Unable::Overload).or_else(fault)
}

/// The seconds for `Retry-After`; `None` when trying again later does not help.
fn retry_after(error: &Error) -> Option<u64> {
    match error {
        Error::RateLimited { retry_after } => Some(retry_after.as_secs().max(1)),
        Error::Unavailable(_) => Some(2),
        _ => None,
    }
}

fn envelope(code: ErrorCode, message: &str, field: Option<&str>) -> Answered {
    written(code.status_code(), &ErrorEnvelope { status: "error", code: code.as_str(), message, field })
}

/// The envelope of a refusal in a host's own words.
pub(crate) fn envelope_of_host(status: StatusCode, code: &str, message: &str) -> Answered {
    written(status, &ErrorEnvelope { status: "error", code, message, field: None })
}

fn written(status: StatusCode, envelope: &ErrorEnvelope<'_>) -> Answered {
    let body = serde_json::to_vec(envelope).unwrap_or_default();
    let mut headers = json_headers();
    // Some HTTP clients take a 401 without a challenge for a broken answer. Browsers ask nobody for a Bearer.
    if status == StatusCode::UNAUTHORIZED {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    Answered { status, headers, body: body.into(), cause: None }
}

/// Why no row of the route table answers a request.
#[derive(Debug)]
pub(crate) enum RoutingError {
    NoSuchPath,
    /// The path exists, for these methods only.
    WrongMethod {
        path: &'static str,
        methods: Vec<Method>,
    },
}

impl From<RoutingError> for Answered {
    fn from(error: RoutingError) -> Self {
        match error {
            RoutingError::NoSuchPath => envelope(ErrorCode::NotFound, messages::NO_SUCH_PATH, None),
            RoutingError::WrongMethod { methods, .. } => {
                let allow = method_list(&methods);
                let mut answered = envelope(ErrorCode::MethodNotAllowed, &messages::answers_only(&allow), None);
                let mut headers = HeaderMap::new();
                if let Ok(allow) = HeaderValue::from_str(&allow) {
                    headers.insert(header::ALLOW, allow);
                }
                answered.headers.extend(headers);
                answered
            }
        }
    }
}

/// The value of an `Allow` header: `GET, HEAD, POST`.
pub(crate) fn method_list(methods: &[Method]) -> String {
    methods.iter().map(Method::as_str).collect::<Vec<_>>().join(", ")
}
