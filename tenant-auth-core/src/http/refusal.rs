//! The HTTP refusal: why a request is not carried out, as a core error or a fact that only HTTP knows. Either becomes the error
//! envelope.

use ::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use serde::Serialize;

use super::{
    answered::{Answered, json_headers},
    codes::{self, Code},
    error_map,
};
use crate::error::Error;

/// A refusal on its way to the client, with the cookies it sets.
#[derive(Debug)]
pub(crate) struct Refusal {
    reason: Reason,
    cookies: Vec<HeaderValue>,
}

#[derive(Debug)]
enum Reason {
    Fact(Error),
    InvalidSlug,
    ForbiddenOrigin,
    BodyTooLarge,
    RequestTimeout,
    UnsupportedMediaType,
    NotAdmitted,
    NotSetUp,
}

#[derive(Serialize)]
struct ErrorEnvelope<'a> {
    status: &'static str,
    code: &'static str,
    message: &'a str,
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self { reason: Reason::Fact(error), cookies: Vec::new() }
    }
}

impl Refusal {
    pub(crate) const fn invalid_slug() -> Self {
        Self { reason: Reason::InvalidSlug, cookies: Vec::new() }
    }

    pub(crate) const fn forbidden_origin() -> Self {
        Self { reason: Reason::ForbiddenOrigin, cookies: Vec::new() }
    }

    pub(crate) const fn body_too_large() -> Self {
        Self { reason: Reason::BodyTooLarge, cookies: Vec::new() }
    }

    pub(crate) const fn request_timeout() -> Self {
        Self { reason: Reason::RequestTimeout, cookies: Vec::new() }
    }

    pub(crate) const fn unsupported_media_type() -> Self {
        Self { reason: Reason::UnsupportedMediaType, cookies: Vec::new() }
    }

    /// A session that was just refreshed is not live all the same.
    pub(crate) const fn not_admitted() -> Self {
        Self { reason: Reason::NotAdmitted, cookies: Vec::new() }
    }

    /// A host's route lacks what it needs; what that is stands in the log.
    pub(crate) const fn not_set_up() -> Self {
        Self { reason: Reason::NotSetUp, cookies: Vec::new() }
    }

    /// Sets cookies beside the refusal.
    pub(crate) fn with_cookies(mut self, cookies: Vec<HeaderValue>) -> Self {
        self.cookies = cookies;
        self
    }

    /// The fact, when it is one of the core's.
    pub(crate) fn fact(&self) -> Option<&Error> {
        match &self.reason {
            Reason::Fact(error) => Some(error),
            _ => None,
        }
    }

    /// The cookies it sets.
    pub(crate) fn take_cookies(&mut self) -> Vec<HeaderValue> {
        std::mem::take(&mut self.cookies)
    }

    /// Its status, its stable word, and a sentence.
    pub(crate) fn told(&self) -> (Code, String) {
        match &self.reason {
            Reason::Fact(error) => (error_map::code_of(error), error.to_string()),
            Reason::InvalidSlug => {
                (codes::INVALID_SLUG, "Send the organization's slug once, exactly as it is, in X-Org-Slug.".to_owned())
            }
            Reason::ForbiddenOrigin => (
                codes::FORBIDDEN_ORIGIN,
                "Pages of this origin may not call. Set the organization's appUrl or add the origin to its allowedOrigins."
                    .to_owned(),
            ),
            Reason::BodyTooLarge => (codes::BODY_TOO_LARGE, "The body must not be larger than 64 KiB.".to_owned()),
            Reason::RequestTimeout => {
                (codes::REQUEST_TIMEOUT, "The body did not arrive in time. Send the request again.".to_owned())
            }
            Reason::UnsupportedMediaType => (
                codes::UNSUPPORTED_MEDIA_TYPE,
                "Send JSON with Content-Type: application/json and without Content-Encoding.".to_owned(),
            ),
            Reason::NotAdmitted => (codes::NOT_ADMITTED, "This session gives no access here. Log in again.".to_owned()),
            Reason::NotSetUp => (codes::INTERNAL, "This route is not set up. The server's log says what is missing.".to_owned()),
        }
    }

    pub(crate) fn into_answered(self) -> Answered {
        self.answered()
    }

    /// The answer.
    pub(crate) fn answered(&self) -> Answered {
        let (code, message) = self.told();
        let mut answered = envelope(code, &message);
        if let Reason::Fact(error) = &self.reason {
            if let Some(seconds) = error_map::retry_after(error) {
                answered.headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
            }
            if let Error::Internal(cause) = error {
                answered.cause = Some(cause.to_string());
            }
        }
        for cookie in &self.cookies {
            answered.headers.append(header::SET_COOKIE, cookie.clone());
        }
        answered
    }
}

fn envelope(code: Code, message: &str) -> Answered {
    let body = serde_json::to_vec(&ErrorEnvelope { status: "error", code: code.code, message });
    Answered {
        status: StatusCode::from_u16(code.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
        headers: json_headers(),
        body: body.unwrap_or_default().into(),
        cause: None,
    }
}

/// No row answers: there is no such path, or not with this method.
#[derive(Debug)]
pub(crate) enum Unrouted {
    NoSuchPath,
    /// The path is there, for these methods.
    WrongMethod {
        path: &'static str,
        methods: Vec<Method>,
    },
}

impl From<Unrouted> for Answered {
    fn from(unrouted: Unrouted) -> Self {
        match unrouted {
            Unrouted::NoSuchPath => envelope(codes::NOT_FOUND, "There is no such path. See the API's documentation."),
            Unrouted::WrongMethod { methods, .. } => {
                let allow = method_list(&methods);
                let mut answered = envelope(codes::METHOD_NOT_ALLOWED, &format!("This path answers only: {allow}."));
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

/// `GET, HEAD, POST`.
pub(crate) fn method_list(methods: &[Method]) -> String {
    methods.iter().map(Method::as_str).collect::<Vec<_>>().join(", ")
}
