//! The command `openapi`: prints the document that the server serves, for generating a client. It opens no database and no port.

use tenant_auth_core::http::openapi;

use super::report::Format;
use crate::{
    failure::Failure,
    settings::{self, Input},
};

/// The server URL in the document when no public URL is set.
const ANY_HOST: &str = "/api/v1";

pub(super) fn run(input: &Input, format: &Format) -> Result<(), Failure> {
    let config = settings::for_document(input)?;
    let document = config.map_or_else(|| openapi::document(ANY_HOST), |config| openapi::document_of(&config));
    format.print(&document, &format!("{document:#}"))
}
