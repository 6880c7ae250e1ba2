//! A response in parts: the form of answers and refusals before the headers that every response carries are added.

use ::http::{HeaderMap, HeaderValue, StatusCode, header};

use super::answer_body::AnswerBody;
use crate::error::Overload;

/// A response in parts, before the headers that every response carries are added.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: AnswerBody,
    /// Why nothing could be done; it must never reach the client.
    pub(crate) cause: Option<Unable>,
}

/// Why a request that nothing is wrong with could not be done.
#[derive(Debug)]
pub(crate) enum Unable {
    /// A fault and its causes, for the log.
    Fault(String),
    /// Something was full, for the metrics.
    Overload(Overload),
}

/// The headers of a JSON body.
pub(crate) fn json_headers() -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(8);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers
}
