//! The OpenAPI 3.1 document of the service, derived from its own route table, and the page that shows it to people. Who may call,
//! what comes in, what goes out and every refusal come from the types of a row's handler and from [`Row::refusals`]; the
//! descriptions stand in the row. What must stay true: the document says what the code does. A test of the core compares it with
//! the table, the conformance harness holds every answer against it, and CI lets schemathesis look for requests for which it is
//! wrong.
//!
//! What a new row needs stands at the top of `table.rs`. A new kind of caller, input or answer states its facts where it is
//! defined, and a new kind of value its schema beside its parser; none of them compiles without.

mod document;
mod events;
mod facts;
mod flat;
mod operation;
pub(crate) mod page;
mod page_fields;
mod schemas;
#[cfg(test)]
mod tests;

pub(crate) use facts::{ANYBODY, AnswerFacts, BodyFacts, CallerFacts, Cookies, Credential, InputFacts};
pub(crate) use schemas::Schemas;

#[cfg(doc)]
use super::Row;
use super::{documents::RenderedDocuments, table::groups};
use crate::{config::Config, error::Error};

/// The document. `server` is where the routes lie: `https://auth.example.com/api/v1`, or a path alone.
pub fn document(server: &str) -> serde_json::Value {
    document::of(groups(), server)
}

/// The same for the service itself, whose public URL says where.
pub fn document_of(config: &Config) -> serde_json::Value {
    document(&format!("{}/api/v1", config.issuer()))
}

/// The document and its page, as the service sends them.
pub(crate) fn made(config: &Config) -> Result<RenderedDocuments, Error> {
    let document = document_of(config);
    Ok(RenderedDocuments { json: document.to_string().into(), page: page::render(&document)?.into() })
}
