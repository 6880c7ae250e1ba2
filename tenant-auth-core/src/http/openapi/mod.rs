//! The OpenAPI 3.1 document of the service, derived from its own route table, and the page that shows it to people. Who may
//! call, what comes in, what goes out and every refusal come from the types of a row's handler and from [`Row::refusals`]; only
//! the words (`operations.rs`) are written by hand. What must stay true: the document says what the code does. A test of the
//! core compares it with the table, the conformance harness holds every answer against it, and CI lets schemathesis look for
//! requests for which it is wrong.
//!
//! # What a new row needs
//!
//! 1. **A line in `operations.rs`**: tag, method, path, operation id, summary, description.
//! 2. **A derive** on each new request and answer type (the `…Request` and `…Data` of an endpoint, and what they contain):
//!    `#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]`. Without it the row does not compile. Then say what the type
//!    alone does not:
//!    - an `Option` of an answer is taken to be always there, as null when empty (contract section 1); one that is left out
//!      (`skip_serializing_if`) says so: `#[cfg_attr(feature = "openapi", schema(nullable = false))]`;
//!    - limits that a handler checks by hand: `schema(minimum = 0, maximum = 2_592_000)`, `schema(min_items = 1)`;
//!    - a field with `deserialize_with` names what it reads: `schema(value_type = Option<AppUrl>)`.
//! 3. **A new value type** (a checked text, a word of the model, a kind of id) is a line in `values.rs`; **a new kind of caller**
//!    states who it is in `callers.rs`; **a new kind of input** is an impl in `inputs.rs`. None of them compiles without.
//! 4. **Refresh the file** that is kept for readers and generators of clients: the test that finds it stale says how.
//!
//! Names of types are names of components: a test fails when two types share one.

mod answers;
mod callers;
mod document;
mod inputs;
mod operation;
mod operations;
mod page;
mod page_fields;
mod publish;
mod schemas;
#[cfg(test)]
mod tests;
mod values;

pub(crate) use answers::DescribedAnswer;
pub(crate) use callers::DescribedCaller;
pub(crate) use inputs::DescribedInput;
pub(crate) use publish::{Document, Made, Page, Published, Style};

use answers::AnswerFacts;
use callers::CallerFacts;
use inputs::InputFacts;
use schemas::Schemas;

#[cfg(doc)]
use super::Row;
use crate::config::Config;

/// The document. `server` is where the routes lie: `https://auth.example.com/api/v1`, or a path alone.
pub fn document(server: &str) -> serde_json::Value {
    document::of(super::routes(), server)
}

/// The same for the service itself, whose public URL says where.
pub fn document_of(config: &Config) -> serde_json::Value {
    document(&format!("{}/api/v1", config.issuer()))
}

/// Everything a row knows of itself, read from the types of its handler.
pub(crate) struct Described {
    pub(crate) caller: CallerFacts,
    pub(crate) input: InputFacts,
    pub(crate) answer: AnswerFacts,
    /// The components all of these refer to.
    pub(crate) schemas: Schemas,
}

impl Described {
    /// Of a handler that takes a `C` and an `I` and answers an `A`.
    pub(crate) fn of<C: DescribedCaller, I: DescribedInput, A: DescribedAnswer>() -> Self {
        let (mut schemas, mut input) = (Schemas::default(), InputFacts::default());
        I::describe(&mut input, &mut schemas);
        let answer = A::describe(&mut schemas);
        Self { caller: C::FACTS, input, answer, schemas }
    }
}
