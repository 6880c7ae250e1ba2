//! A refusal at the gate, as the host gets it: a fact with a status, answered in the JSON envelope unless the host answers
//! otherwise.

use std::fmt;

use ::http::{HeaderValue, Response, StatusCode, header};
use bytes::Bytes;

use super::Mapper;
use crate::{
    error::Error,
    http::{
        answered::{Answered, Unable},
        refusal::{Refusal, envelope_of_host},
        request_id,
    },
    ports::OsEntropy,
};

/// A refusal at the gate. Every [`Error`] of the core converts to one, so that a handler may use `?`; a right of the host's own refuses
/// in its own words with [`Refused::new`].
pub struct Refused {
    reason: Reason,
    /// Each refusal has one of its own: what stands in the log and in the answer must be the same, wherever it was made.
    request_id: String,
    mapper: Option<Mapper>,
    /// Where the visitor is sent instead.
    /// In a box, as the reason is.
    sign_in: Option<Box<HeaderValue>>,
}

#[derive(Debug)]
enum Reason {
    /// In a box, because every admission's result has room for it.
    Service(Box<Refusal>),
    Host {
        status: StatusCode,
        code: &'static str,
        message: String,
    },
}

impl Refused {
    /// A refusal in the host's own words, for a right of its own ([`Admission`](super::Admission)): the status, the stable word of the
    /// envelope, and a message that says what to do next.
    ///
    /// ```
    /// use tenant_auth_core::http::Refused;
    ///
    /// let refused = Refused::new(http::StatusCode::PAYMENT_REQUIRED, "plan_required", "Reports are part of the plan Pro.");
    /// assert_eq!((refused.status().as_u16(), refused.code()), (402, "plan_required"));
    /// ```
    ///
    /// A status that is no error (below 400) would let somebody in: it is answered with 500, and the log says so.
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        if status.as_u16() < 400 {
            tracing::error!(status = status.as_u16(), code, "a refusal needs the status of an error: it is answered with 500");
            return Self::of(Refusal::not_set_up());
        }
        Self::because(Reason::Host { status, code, message: message.into() })
    }

    pub(super) fn of(refusal: Refusal) -> Self {
        Self::because(Reason::Service(Box::new(refusal)))
    }

    fn because(reason: Reason) -> Self {
        Self { reason, request_id: request_id(&OsEntropy), mapper: None, sign_in: None }
    }

    /// A refusal because the host's set-up is incomplete (500). `fix` says what to add; it goes to the log, not to the client.
    pub fn not_set_up(fix: &str) -> Self {
        let refused = Self::of(Refusal::not_set_up());
        tracing::error!(request_id = %refused.request_id, fix, "a route cannot tell who comes, and lets nobody in");
        refused
    }

    /// The HTTP status.
    pub fn status(&self) -> StatusCode {
        match &self.reason {
            Reason::Service(refusal) => refusal.code().status_code(),
            Reason::Host { status, .. } => *status,
        }
    }

    /// The stable word of the envelope, such as `session_required`.
    pub fn code(&self) -> &'static str {
        match &self.reason {
            Reason::Service(refusal) => refusal.code().as_str(),
            Reason::Host { code, .. } => code,
        }
    }

    /// The message of the envelope.
    pub fn message(&self) -> String {
        match &self.reason {
            Reason::Service(refusal) => refusal.message(),
            Reason::Host { message, .. } => message.clone(),
        }
    }

    /// The core's error, if the refusal has one.
    pub fn error(&self) -> Option<&Error> {
        match &self.reason {
            Reason::Service(refusal) => refusal.fact(),
            Reason::Host { .. } => None,
        }
    }

    /// What identifies the refusal: `X-Request-Id` of the envelope, and `request_id` in the log (a fault is an error; any refusal that is
    /// answered has a line of `tenant_auth::requests` at debug). For the host's own answer
    /// ([`Gate::on_refusal`](super::Gate::on_refusal)).
    pub fn request_id(&self) -> &str {
        &self.request_id
    }

    /// Where the answer sends the visitor, if it does ([`Gate::redirecting`](super::Gate::redirecting)).
    pub fn sign_in(&self) -> Option<&HeaderValue> {
        self.sign_in.as_deref()
    }

    /// The answer: the host's own ([`Gate::on_refusal`](super::Gate::on_refusal)), or else a redirect to sign-in (303,
    /// [`Gate::redirecting`](super::Gate::redirecting)), or else the JSON envelope.
    pub fn response(&self) -> Response<Bytes> {
        let Answered { status, headers, body, cause } = match &self.reason {
            Reason::Service(refusal) => refusal.answered(),
            Reason::Host { status, code, message } => envelope_of_host(*status, code, message),
        };
        if let Some(Unable::Fault(cause)) = cause {
            tracing::error!(request_id = %self.request_id, status = status.as_u16(), error = %cause, "a request failed at the gate");
        } else {
            let (status, code) = (status.as_u16(), self.code());
            tracing::debug!(target: "tenant_auth::requests", request_id = %self.request_id, status, code, "refused at the gate");
        }
        if let Some(response) = self.mapper.as_ref().and_then(|mapper| mapper(self)) {
            return response;
        }
        let mut response = Response::new(body.into_bytes());
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        if let Some(sign_in) = &self.sign_in {
            *response.status_mut() = StatusCode::SEE_OTHER;
            response.headers_mut().remove(header::WWW_AUTHENTICATE);
            response.headers_mut().insert(header::LOCATION, HeaderValue::clone(sign_in));
        }
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if let Ok(id) = HeaderValue::from_str(&self.request_id) {
            response.headers_mut().insert("x-request-id", id);
        }
        response
    }

    pub(super) fn take_cookies(&mut self) -> Vec<HeaderValue> {
        match &mut self.reason {
            Reason::Service(refusal) => refusal.take_cookies(),
            Reason::Host { .. } => Vec::new(),
        }
    }

    pub(super) fn answered_by(self, mapper: Option<Mapper>) -> Self {
        Self { mapper, ..self }
    }

    pub(super) fn or_sent_to(self, sign_in: Option<HeaderValue>) -> Self {
        Self { sign_in: sign_in.map(Box::new), ..self }
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::of(error.into())
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

impl fmt::Debug for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Refused").field(&self.reason).finish()
    }
}

impl std::error::Error for Refused {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let error: &(dyn std::error::Error + 'static) = self.error()?;
        Some(error)
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn a_refusal_tells_the_fact_behind_it() {
        let refused = Refused::from(Error::SlugTaken);
        assert!(refused.source().is_some_and(|fact| matches!(fact.downcast_ref::<Error>(), Some(Error::SlugTaken))));
        assert!(Refused::new(StatusCode::FORBIDDEN, "plan_required", "Not in your plan.").source().is_none());
    }
}
