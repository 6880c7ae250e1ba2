//! A refusal at the gate, as the host gets it: a fact with a status, answered in the JSON envelope unless the host answers
//! otherwise.

use std::fmt;

use ::http::{HeaderValue, Response, StatusCode, header};
use bytes::Bytes;

use super::Mapper;
use crate::{
    error::Error,
    http::{answered::Answered, refusal::Refusal},
};

/// A refusal at the gate. Every [`Error`] of the core converts to one, so that a handler may use `?`.
pub struct Refused {
    refusal: Refusal,
    mapper: Option<Mapper>,
}

impl Refused {
    pub(super) fn new(refusal: Refusal) -> Self {
        Self { refusal, mapper: None }
    }

    /// A refusal because the host's set-up is incomplete (500). `fix` says what to add; it goes to the log, not to the client.
    pub fn not_set_up(fix: &str) -> Self {
        tracing::error!(fix, "a route cannot tell who comes, and lets nobody in");
        Self::new(Refusal::not_set_up())
    }

    /// The HTTP status.
    pub fn status(&self) -> StatusCode {
        self.refusal.code().status_code()
    }

    /// The stable word of the envelope, such as `session_required`.
    pub fn code(&self) -> &'static str {
        self.refusal.code().as_str()
    }

    /// The message of the envelope.
    pub fn message(&self) -> String {
        self.refusal.message()
    }

    /// The core's error, if the refusal has one.
    pub fn error(&self) -> Option<&Error> {
        self.refusal.fact()
    }

    /// The answer: the host's own ([`Gate::on_refusal`](super::Gate::on_refusal)), or else the JSON envelope.
    pub fn response(&self) -> Response<Bytes> {
        let Answered { status, headers, body, cause } = self.refusal.answered();
        if let Some(cause) = cause {
            tracing::error!(status = status.as_u16(), error = %cause, "a request failed at the gate");
        }
        if let Some(response) = self.mapper.as_ref().and_then(|mapper| mapper(self)) {
            return response;
        }
        let mut response = Response::new(body.into_bytes());
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        response
    }

    pub(super) fn take_cookies(&mut self) -> Vec<HeaderValue> {
        self.refusal.take_cookies()
    }

    pub(super) fn answered_by(self, mapper: Option<Mapper>) -> Self {
        Self { mapper, ..self }
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::new(error.into())
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

impl fmt::Debug for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Refused").field(&self.refusal).finish()
    }
}

impl std::error::Error for Refused {}
