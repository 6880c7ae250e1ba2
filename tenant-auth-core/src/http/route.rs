//! A row of the route table: a handler's signature is its contract. From the types of its caller and its input the row knows who
//! may call, what comes in, and how either can be refused.

use std::{future::Future, pin::Pin};

use ::http::{Method, StatusCode};

#[cfg(feature = "openapi")]
use super::openapi::{Described, DescribedAnswer, DescribedCaller, DescribedInput};
use super::{
    answer::{Answered, IntoAnswered},
    codes::{self, Code},
    context::Context,
    input::Input,
    refusal::Refusal,
};

/// Who may call.
pub(crate) trait Caller: Sized + Send {
    /// How finding out can be refused.
    const MAY: &'static [Code];

    /// Finds out who calls; `X-Org-Slug` and the browser's origin are judged on the way.
    fn identify(context: &Context) -> impl Future<Output = Result<Self, Refusal>> + Send;
}

type Answering<'a> = Pin<Box<dyn Future<Output = Result<Answered, Refusal>> + Send + 'a>>;

/// Nothing needs a description where there is no document.
#[cfg(not(feature = "openapi"))]
mod undescribed {
    pub(crate) trait DescribedCaller {}
    impl<T> DescribedCaller for T {}
    pub(crate) trait DescribedInput {}
    impl<T> DescribedInput for T {}
    pub(crate) trait DescribedAnswer {}
    impl<T> DescribedAnswer for T {}
}
#[cfg(not(feature = "openapi"))]
use undescribed::{DescribedAnswer, DescribedCaller, DescribedInput};

type Handler = Box<dyn for<'a> Fn(&'a Context, StatusCode) -> Answering<'a> + Send + Sync>;

/// One operation: a method, a path, and what answers it.
pub struct Row {
    /// The method.
    pub method: Method,
    /// The path below the base path, parameters in braces: `/org/members/{userId}`.
    pub path: &'static str,
    status: StatusCode,
    may: Vec<Code>,
    handler: Handler,
    #[cfg(feature = "openapi")]
    describe: fn() -> Described,
}

/// Makes a row that answers 200.
pub(crate) fn route<C, I, A, F, Fut>(method: Method, path: &'static str, handler: F) -> Row
where
    C: Caller + DescribedCaller + 'static,
    I: Input + DescribedInput + 'static,
    A: IntoAnswered + DescribedAnswer + 'static,
    F: Fn(C, I) -> Fut + Copy + Send + Sync + 'static,
    Fut: Future<Output = Result<A, Refusal>> + Send + 'static,
{
    let may = [C::MAY, &I::may(), &[codes::INTERNAL, codes::UNAVAILABLE]].concat();
    let handler: Handler = Box::new(move |context, status| Box::pin(run(context, status, handler)));
    Row {
        method,
        path,
        status: StatusCode::OK,
        may,
        handler,
        #[cfg(feature = "openapi")]
        describe: Described::of::<C, I, A>,
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
    let caller = C::identify(context).await?;
    let input = I::read(context)?;
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

    /// Declares how the rule itself can refuse.
    pub(crate) fn may(mut self, codes: &[Code]) -> Self {
        self.may.extend_from_slice(codes);
        self
    }

    /// The status of success.
    pub fn success(&self) -> u16 {
        self.status.as_u16()
    }

    /// Every refusal this operation can answer with.
    pub fn refusals(&self) -> &[Code] {
        &self.may
    }

    /// What its types say of it.
    #[cfg(feature = "openapi")]
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
