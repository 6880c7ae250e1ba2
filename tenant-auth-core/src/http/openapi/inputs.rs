//! What a request brings, for each kind of input.

use utoipa::{
    ToSchema,
    openapi::{RefOr, Schema},
};

use super::schemas::Schemas;
use crate::{
    http::input::{Json, OptionalJson, Path, Paths, TokenJson},
    page::Page,
};

/// What is known of a handler's input.
#[derive(Default)]
pub(crate) struct InputFacts {
    /// The types of the path's parameters, in order.
    pub(crate) path: Vec<RefOr<Schema>>,
    /// Whether `?limit=` and `?cursor=` are read.
    pub(crate) pages: bool,
    pub(crate) body: Option<BodyFacts>,
}

/// What is known of a body.
pub(crate) struct BodyFacts {
    pub(crate) schema: RefOr<Schema>,
    /// Whether no bytes at all are refused.
    pub(crate) required: bool,
}

/// A kind of input that can be described.
pub(crate) trait DescribedInput {
    /// Adds what is known of it.
    fn describe(facts: &mut InputFacts, schemas: &mut Schemas);
}

impl DescribedInput for () {
    fn describe(_: &mut InputFacts, _: &mut Schemas) {}
}

impl<A: DescribedInput, B: DescribedInput> DescribedInput for (A, B) {
    fn describe(facts: &mut InputFacts, schemas: &mut Schemas) {
        A::describe(facts, schemas);
        B::describe(facts, schemas);
    }
}

impl<T: ToSchema> DescribedInput for Path<T> {
    fn describe(facts: &mut InputFacts, schemas: &mut Schemas) {
        facts.path.push(schemas.reference::<T>());
    }
}

impl<A: ToSchema, B: ToSchema> DescribedInput for Paths<A, B> {
    fn describe(facts: &mut InputFacts, schemas: &mut Schemas) {
        facts.path.push(schemas.reference::<A>());
        facts.path.push(schemas.reference::<B>());
    }
}

impl DescribedInput for Page {
    fn describe(facts: &mut InputFacts, _: &mut Schemas) {
        facts.pages = true;
    }
}

impl<T: ToSchema> DescribedInput for Json<T> {
    fn describe(facts: &mut InputFacts, schemas: &mut Schemas) {
        facts.body = Some(BodyFacts { schema: schemas.request::<T>(), required: true });
    }
}

impl<T: ToSchema> DescribedInput for OptionalJson<T> {
    fn describe(facts: &mut InputFacts, schemas: &mut Schemas) {
        facts.body = Some(BodyFacts { schema: schemas.request::<T>(), required: false });
    }
}

impl<T: ToSchema> DescribedInput for TokenJson<T> {
    fn describe(facts: &mut InputFacts, schemas: &mut Schemas) {
        facts.body = Some(BodyFacts { schema: schemas.request_with_any_token::<T>(), required: true });
    }
}
