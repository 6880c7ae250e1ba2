//! The OpenAPI 3.1 document of the service, derived from its own route table, and the page that shows it to people. Who may call,
//! what comes in, what goes out and every refusal come from the types of a row's handler and from [`Row::refusals`]; the
//! descriptions stand in the row. What must stay true: the document says what the code does. It is derived once, by a test, which
//! keeps it as `openapi.json` beside the sources and fails where it is stale; a program carries that file and not what derives it,
//! which would be a tenth of it. The conformance harness holds every answer against it, and CI lets schemathesis look for requests for
//! which it is wrong.
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

pub(crate) use facts::{ANYBODY, AnswerFacts, BodyFacts, CallerFacts, Cookies, Credential, InputFacts, OrgSlug};
pub(crate) use schemas::Schemas;

use std::io::Read;

use flate2::read::GzDecoder;
use serde_json::{Value, json};

#[cfg(doc)]
use super::Row;
use super::{documents::RenderedDocuments, route::Describing, table::table};
use crate::{config::Config, error::Error};

/// `openapi.json`, as the build packed it.
const KEPT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/openapi.json.gz"));

/// The document. `server` is where the routes lie: `https://auth.example.com/api/v1`, or a path alone.
pub fn document(server: &str) -> Value {
    let mut document = kept();
    document["servers"] = json!([{ "url": server }]);
    document
}

/// What this build packed can be unpacked; a test reads it.
fn kept() -> Value {
    let mut text = Vec::new();
    let unpacked = GzDecoder::new(KEPT).read_to_end(&mut text);
    unpacked.ok().and_then(|_| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

/// The same as [`document`], derived from the route table: what the kept one is made of, and compared with. Needed by nobody who only
/// wants to read it.
pub fn derived(server: &str) -> Value {
    document::of(&table::<Describing>(), server)
}

/// The same for the service itself, whose public URL says where.
pub fn document_of(config: &Config) -> Value {
    document(&format!("{}/api/v1", config.issuer()))
}

/// The document and its page, as the service sends them.
pub(crate) fn made(config: &Config) -> Result<RenderedDocuments, Error> {
    let document = document_of(config);
    Ok(RenderedDocuments { json: document.to_string().into(), page: page::render(&document)?.into() })
}
