//! A row of the route table, in which a handler's signature is its contract. From the types of its caller, its input and its answer
//! the row knows who may call, what comes in, what goes out, and how it can be refused.

use std::{future::Future, pin::Pin};

use ::http::{Method, StatusCode};

use super::{
    answer::IntoAnswered,
    answered::Answered,
    context::Context,
    error_code::ErrorCode,
    input::Input,
    openapi::{AnswerFacts, CallerFacts, InputFacts, Schemas},
    refusal::Refusal,
};

/// A kind of caller: how it is authenticated, and what the documentation says of it.
pub(crate) trait Caller: Sized + Send {
    /// The facts for the OpenAPI document.
    const FACTS: CallerFacts;

    /// The refusals of [`Caller::identify`], as lists that callers share.
    const MAY: &'static [&'static [ErrorCode]];

    /// Authenticates the caller; judges `X-Org-Slug` and the browser's origin before the credential.
    fn identify(context: &Context) -> impl Future<Output = Result<Self, Refusal>> + Send;
}

/// The facts of a row for the OpenAPI document, derived from the types of its handler.
pub(crate) struct Described {
    pub(crate) caller: CallerFacts,
    pub(crate) input: InputFacts,
    pub(crate) answer: AnswerFacts,
    /// The components that these facts refer to.
    pub(crate) schemas: Schemas,
}

impl Described {
    /// The facts of a handler with a caller `C`, an input `I` and an answer `A`.
    pub(crate) fn of<C: Caller, I: Input, A: IntoAnswered>() -> Self {
        let (mut schemas, mut input) = (Schemas::default(), InputFacts::default());
        I::describe(&mut input, &mut schemas);
        let answer = A::describe(&mut schemas);
        Self { caller: C::FACTS, input, answer, schemas }
    }
}

/// What the table is made for. Serving needs none of the code that describes, which is a tenth of a program: only a table that was
/// made for describing refers to it.
pub(crate) trait Purpose {
    /// What a row keeps for it.
    type Facts;

    fn facts<C: Caller, I: Input, A: IntoAnswered>() -> Self::Facts;

    /// Makes a row that answers 200.
    fn route<C, I, A, F, Fut>(method: Method, path: &'static str, handler: F) -> Unworded<Self::Facts>
    where
        C: Caller + 'static,
        I: Input + 'static,
        A: IntoAnswered + 'static,
        F: Fn(C, I) -> Fut + Copy + Send + Sync + 'static,
        Fut: Future<Output = Result<A, Refusal>> + Send + 'static,
    {
        let mut may = [C::MAY.concat(), I::may(), vec![ErrorCode::Internal, ErrorCode::Unavailable]].concat();
        if C::FACTS.takes_proxy_key(path) {
            may.push(ErrorCode::RateLimited); // for guesses at such a key
        }
        let handler: Handler = Box::new(move |context, status| Box::pin(run(context, status, handler)));
        let facts = Self::facts::<C, I, A>();
        Unworded(Row { method, path, status: StatusCode::OK, may, handler, facts, words: Words::default() })
    }
}

/// To answer requests.
pub(crate) enum Serving {}

impl Purpose for Serving {
    type Facts = ();

    fn facts<C: Caller, I: Input, A: IntoAnswered>() {}
}

/// To derive the OpenAPI document.
pub(crate) enum Describing {}

impl Purpose for Describing {
    type Facts = Described;

    fn facts<C: Caller, I: Input, A: IntoAnswered>() -> Described {
        Described::of::<C, I, A>()
    }
}

type Answering<'a> = Pin<Box<dyn Future<Output = Result<Answered, Refusal>> + Send + 'a>>;

type Handler = Box<dyn for<'a> Fn(&'a Context, StatusCode) -> Answering<'a> + Send + Sync>;

/// One operation: a method, a path, and the handler that answers.
pub struct Row<F = ()> {
    /// The method.
    pub method: Method,
    /// The path below the base path, parameters in braces: `/org/members/{userId}`.
    pub path: &'static str,
    status: StatusCode,
    may: Vec<ErrorCode>,
    handler: Handler,
    facts: F,
    words: Words,
}

/// The words of an operation: what the documentation calls it and says of it.
#[derive(Debug, Default)]
pub(crate) struct Words {
    /// `operationId`: stable, for generators of clients.
    pub(crate) id: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) description: &'static str,
}

/// Operations that the documentation shows together: a tag.
pub(crate) struct Group<F = ()> {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) rows: Vec<Row<F>>,
}

/// Makes a group.
pub(crate) const fn group<F>(name: &'static str, about: &'static str, rows: Vec<Row<F>>) -> Group<F> {
    Group { name, about, rows }
}

/// An operation without its words, which becomes a row by [`Unworded::says`].
pub(crate) struct Unworded<F>(Row<F>);

impl<F> Unworded<F> {
    /// Adds the words: the operation's id, which is stable for generators of clients; a summary; and a description.
    pub(crate) fn says(self, id: &'static str, summary: &'static str, description: &'static str) -> Row<F> {
        Row { words: Words { id, summary, description }, ..self.0 }
    }
}

/// The order of the checks: caller, then path and body, then the rule.
async fn run<C: Caller, I: Input, A: IntoAnswered, Fut>(
    context: &Context,
    status: StatusCode,
    handler: impl Fn(C, I) -> Fut + Send,
) -> Result<Answered, Refusal>
where
    Fut: Future<Output = Result<A, Refusal>> + Send,
{
    let caller = identified::<C>(context).await?;
    let input = I::read(context)?;
    context.free_body();
    handler(caller, input).await?.into_answered(status)
}

/// Compiled once for a kind of caller, and not within each row that has it.
#[inline(never)]
fn identified<'a, C: Caller + 'a>(context: &'a Context) -> Pin<Box<dyn Future<Output = Result<C, Refusal>> + Send + 'a>> {
    Box::pin(C::identify(context))
}

impl<F> Row<F> {
    /// Answers 201 instead of 200.
    pub(crate) fn created(mut self) -> Self {
        self.status = StatusCode::CREATED;
        self
    }

    /// Answers 202: what was asked for is on its way.
    pub(crate) fn accepted(mut self) -> Self {
        self.status = StatusCode::ACCEPTED;
        self
    }

    /// Declares the refusals of the handler itself, beyond those of its caller and its input.
    pub(crate) fn may(mut self, codes: &[ErrorCode]) -> Self {
        self.may.extend_from_slice(codes);
        self
    }

    /// The status of success.
    pub fn success(&self) -> u16 {
        self.status.as_u16()
    }

    /// Every refusal this operation can answer with.
    pub fn refusals(&self) -> &[ErrorCode] {
        &self.may
    }

    /// The words of the operation.
    pub(crate) const fn words(&self) -> &Words {
        &self.words
    }

    /// What the handler's types state.
    pub(crate) const fn facts(&self) -> &F {
        &self.facts
    }

    pub(crate) async fn handle(&self, context: &Context) -> Result<Answered, Refusal> {
        (self.handler)(context, self.status).await
    }
}

impl<F> std::fmt::Debug for Row<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}
