//! The HTTP service, independent of any web framework: bytes and the peer's address in, a complete response out. Routing,
//! percent-decoding, HEAD, 404 and 405, body rules, the envelope, cookies, CORS, CSRF protection and the catching of panics all
//! happen here, so that adapters translate and decide nothing.
//!
//! Every request is judged in one order (behaviour.md, B1): route and method, `X-Org-Slug`, browser origin, caller, path,
//! body, rule.

#[cfg(feature = "service")]
mod answer;
mod answer_body;
mod answered;
#[cfg(feature = "service")]
mod at_once;
#[cfg(feature = "service")]
mod body;
#[cfg(feature = "service")]
mod body_stream;
#[cfg(feature = "service")]
mod browser;
pub(crate) mod client_ip;
#[cfg(feature = "service")]
mod context;
mod cookies;
#[cfg(feature = "service")]
mod cursor;
#[cfg(feature = "service")]
mod documents;
#[cfg(feature = "service")]
mod endpoints;
mod error_code;
mod gate;
#[cfg(feature = "service")]
mod input;
#[cfg(feature = "service")]
mod listing;
mod messages;
#[cfg(feature = "service")]
mod nul;
#[cfg(feature = "service")]
pub mod openapi;
#[cfg(feature = "panel")]
mod pages;
mod presented;
#[cfg(feature = "service")]
mod query;
mod refusal;
#[cfg(feature = "service")]
mod request_span;
#[cfg(feature = "service")]
mod route;
#[cfg(feature = "service")]
mod router;
#[cfg(feature = "service")]
mod service;
#[cfg(feature = "service")]
mod session_cookies;
#[cfg(feature = "service")]
mod table;
#[cfg(feature = "service")]
mod told_before;

#[cfg(all(test, feature = "testing", feature = "sqlite"))]
mod tests;

pub use answer_body::AnswerBody;
pub use cookies::CookieStyle;
pub use error_code::ErrorCode;
#[cfg(feature = "testing")]
pub use gate::TestVerifier;
pub use gate::{Admission, Gate, OrganizationFrom, Refused, Renewed, RequestReader, Verifier, Visitor};
#[cfg(feature = "remote")]
pub use gate::{RemoteSetupError, RemoteVerifier};
#[cfg(feature = "panel")]
pub use pages::Pages;
#[cfg(feature = "service")]
pub use {
    body::{BODY_LIMIT, BODY_TIMEOUT, Body, Request},
    body_stream::{BodyStream, BrokenBody},
    route::Row,
    service::Service,
    session_cookies::{cleared_cookies, partial_cookies, session_cookies},
    table::routes,
};

use crate::{ports::Entropy, secret::random_text};

/// What identifies a request in the log and in its answer.
fn request_id(entropy: &dyn Entropy) -> String {
    let mut text = random_text(entropy);
    text.truncate(22);
    format!("req_{text}")
}
