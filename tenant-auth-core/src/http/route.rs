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

type Answering<'a> = Pin<Box<dyn Future<Output = Result<Answered, Refusal>> + Send + 'a>>;

type Handler = Box<dyn for<'a> Fn(&'a Context, StatusCode) -> Answering<'a> + Send + Sync>;

/// One operation: a method, a path, and the handler that answers.
pub struct Row {
    /// The method.
    pub method: Method,
    /// The path below the base path, parameters in braces: `/org/members/{userId}`.
    pub path: &'static str,
    status: StatusCode,
    may: Vec<ErrorCode>,
    handler: Handler,
    describe: fn() -> Described,
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
pub(crate) struct Group {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) rows: Vec<Row>,
}

/// Makes a group.
pub(crate) const fn group(name: &'static str, about: &'static str, rows: Vec<Row>) -> Group {
    Group { name, about, rows }
}

/// An operation without its words, which becomes a row by [`Unworded::says`].
pub(crate) struct Unworded(Row);

impl Unworded {
    /// Adds the words: the operation's id, which is stable for generators of clients; a summary; and a description.
    pub(crate) fn says(self, id: &'static str, summary: &'static str, description: &'static str) -> Row {
        Row { words: Words { id, summary, description }, ..self.0 }
    }
}

/// Makes a row that answers 200.
pub(crate) fn route<C, I, A, F, Fut>(method: Method, path: &'static str, handler: F) -> Unworded
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
    let describe = Described::of::<C, I, A>;
    Unworded(Row { method, path, status: StatusCode::OK, may, handler, describe, words: Words::default() })
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
    let caller = C::identify(context).await?;
    let input = I::read(context)?;
    context.free_body();
    handler(caller, input).await?.into_answered(status)
}

impl Row {
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

    /// The facts that the handler's types state.
    pub(crate) fn described(&self) -> Described {
        (self.describe)()
    }

    pub(crate) async fn handle(&self, context: &Context) -> Result<Answered, Refusal> {
        (self.handler)(context, self.status).await
    }
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}
