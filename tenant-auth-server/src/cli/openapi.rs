//! `openapi`: the document that the server serves, for whoever generates a client from it. Nothing is opened for it.

use tenant_auth_core::http::openapi;

use super::report::Format;
use crate::{
    failure::Failure,
    settings::{self, Input},
};

/// Where the routes lie as long as nobody says at which host.
const ANY_HOST: &str = "/api/v1";

pub(super) fn run(input: &Input, format: &Format) -> Result<(), Failure> {
    let config = settings::for_document(input)?;
    let document = config.map_or_else(|| openapi::document(ANY_HOST), |config| openapi::document_of(&config));
    format.print(&document, &format!("{document:#}"))
}
