//! The answer of a handler: data for the success envelope and the cookies it sets.

use std::marker::PhantomData;

use ::http::{HeaderValue, StatusCode, header};
use bytes::Bytes;
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use super::{
    answered::{Answered, json_headers},
    openapi::{AnswerFacts, Schemas},
    refusal::Refusal,
};
use crate::error::Error;

/// Data for the success envelope.
#[derive(Debug)]
pub(crate) struct Reply<T> {
    data: T,
    cookies: Vec<HeaderValue>,
}

/// What a handler returns.
pub(crate) type Outcome<T> = Result<Reply<T>, Refusal>;

impl<T> Reply<T> {
    pub(crate) const fn new(data: T) -> Self {
        Self { data, cookies: Vec::new() }
    }

    pub(crate) fn with_cookies(mut self, cookies: Vec<HeaderValue>) -> Self {
        self.cookies = cookies;
        self
    }
}

impl<T> From<T> for Reply<T> {
    fn from(data: T) -> Self {
        Self::new(data)
    }
}

/// `{message}`.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Message {
    message: &'static str,
}

/// An answer that only confirms that the operation is done.
pub(crate) fn done(message: &'static str) -> Reply<Message> {
    Reply::new(Message { message })
}

/// Becomes a response with the row's status.
pub(crate) trait IntoAnswered {
    /// The facts for the OpenAPI document.
    fn describe(schemas: &mut Schemas) -> AnswerFacts;

    fn into_answered(self, status: StatusCode) -> Result<Answered, Refusal>;
}

#[derive(Serialize)]
struct Envelope<T> {
    status: &'static str,
    data: T,
}

/// The success envelope around data, as it is sent.
///
/// # Errors
/// [`Error::Internal`] when the data cannot be written as JSON.
pub(crate) fn enveloped(data: &impl Serialize) -> Result<Bytes, Error> {
    let written = serde_json::to_vec(&Envelope { status: "success", data }).map_err(Error::internal)?;
    Ok(written.into())
}

/// A `T` in the success envelope that is written already.
pub(crate) struct Written<T> {
    body: Bytes,
    data: PhantomData<fn() -> T>,
}

impl<T> From<Bytes> for Written<T> {
    fn from(body: Bytes) -> Self {
        Self { body, data: PhantomData }
    }
}

impl<T: Serialize + ToSchema> IntoAnswered for Written<T> {
    fn describe(schemas: &mut Schemas) -> AnswerFacts {
        Reply::<T>::describe(schemas)
    }

    fn into_answered(self, status: StatusCode) -> Result<Answered, Refusal> {
        Ok(Answered { status, headers: json_headers(), body: self.body.into(), cause: None })
    }
}

impl<T: Serialize + ToSchema> IntoAnswered for Reply<T> {
    fn describe(schemas: &mut Schemas) -> AnswerFacts {
        AnswerFacts::Enveloped(json!(schemas.answer::<T>()))
    }

    fn into_answered(self, status: StatusCode) -> Result<Answered, Refusal> {
        Ok(json_answer(status, self.cookies, enveloped(&self.data)?))
    }
}

fn json_answer(status: StatusCode, cookies: Vec<HeaderValue>, body: Bytes) -> Answered {
    let mut headers = json_headers();
    for cookie in cookies {
        headers.append(header::SET_COOKIE, cookie);
    }
    Answered { status, headers, body: body.into(), cause: None }
}
