//! The service behind an adapter: a request in, a complete response out.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use ::http::{HeaderMap, HeaderValue, Response, header};
use tracing::Instrument;

use super::{
    answer_body::AnswerBody,
    answered::{Answered, Unable},
    at_once,
    body::Request,
    browser, client_ip,
    context::Context,
    documents::Documents,
    openapi,
    refusal::{Refusal, RoutingError},
    request_id,
    request_span::{RequestSpan, log_answer},
    router::{Matched, Table},
    told_before::ToldBefore,
};
use crate::{deadline, service::TenantAuth, unsent};

/// The service behind an adapter. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Service(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    auth: TenantAuth,
    table: Table,
    base: Box<str>,
    told_before: ToldBefore,
    documents: Documents,
    /// Whether the log has said that the routes are mounted where the public URL does not lead.
    told_of_mount: AtomicBool,
}

impl Service {
    /// Serves what `auth` is.
    pub fn new(auth: &TenantAuth) -> Self {
        let base = auth.config().base_path();
        Self(Arc::new(Parts {
            auth: auth.clone(),
            table: Table::new(auth.metrics().requests()),
            told_before: ToldBefore::new(&base, auth.metrics().requests()),
            base: base.into(),
            documents: Documents::new(openapi::made),
            told_of_mount: AtomicBool::new(false),
        }))
    }

    /// Says once where the routes belong, when a host nested them below a path that the public URL does not have: every answer is 404
    /// then. The path itself is a stranger's text and stays out of the log.
    fn hint_at_mount(&self, path: &str) {
        let is_elsewhere = path.find(&*self.0.base).is_some_and(|at| at > 0);
        if is_elsewhere && !self.0.told_of_mount.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                base = &*self.0.base,
                "a request came below another path than the public URL's, and gets 404: mount the routes at the root of the application, \
                 and give the public URL the path that they shall lie below"
            );
        }
    }

    /// The path below which every route lies, such as `/api/v1`: the path of the public URL and the version.
    pub fn base_path(&self) -> &str {
        &self.0.base
    }

    /// Answers one request that came from the socket address `peer`.
    ///
    /// What has to wait runs as a task of its own on the runtime the service was built on: a client that disconnects cannot stop it
    /// between a commit and what follows. A panic becomes a 500. All its waits together end after 30 seconds, and where too many
    /// requests are in flight it is refused before it begins, unless it repeats a question of verify (behaviour.md, B241). Its span,
    /// `request`, is a child of the span that the call is made in.
    pub async fn call(&self, request: Request, peer: Option<IpAddr>) -> Response<AnswerBody> {
        let request_id = request_id(self.0.auth.entropy());
        let traced = RequestSpan::begin(&request_id, request.method());
        let told_before = || self.0.told_before.answer(&self.0.auth, &request, &traced, &request_id);
        if let Some(answered) = traced.span().in_scope(told_before) {
            return complete(answered, &request_id);
        }
        let page = browser::Page::of(&request, &self.0.base);
        let client = client_ip::of(&self.0.auth.config().network.trusted_proxies, peer, request.headers());
        let place = match self.0.auth.in_flight().take(client) {
            Ok(place) => place,
            Err(error) => {
                let answered = Refusal::from(error).into_answered();
                self.count_overload(&answered);
                self.0.auth.metrics().requests().watch(request.method()).answered(answered.status.as_u16());
                traced.answered(answered.status.as_u16());
                return complete(page.reads(answered, self.0.auth.config()), &request_id);
            }
        };
        let (service, id, known) = (self.clone(), request_id.clone(), traced.clone());
        let answering = async move {
            let context = Context::new(&service.0.auth, &service.0.documents, request, peer, known);
            deadline::of_request(service.answer(context.holding(place), &id)).await
        };
        let answering = Box::pin(answering.instrument(traced.span().clone()));
        let answered = at_once::or_in_a_task(self.0.auth.runtime(), answering).await.unwrap_or_else(|panic| {
            traced.span().in_scope(|| tracing::error!(request_id = %request_id, error = %panic, "a handler panicked"));
            let answered = Refusal::from(crate::Error::internal("panic")).into_answered();
            traced.answered(answered.status.as_u16());
            page.reads(answered, self.0.auth.config())
        });
        complete(answered, &request_id)
    }

    /// The answer to what a framework took for a request and HTTP's own types do not.
    pub fn unreadable() -> Response<AnswerBody> {
        let refusal = Refusal::invalid("request", "is no HTTP request");
        complete(refusal.into_answered(), "unreadable")
    }

    async fn answer(&self, context: Context, request_id: &str) -> Answered {
        let (method, traced) = (context.method().clone(), context.traced.clone());
        let mut watched = self.0.auth.metrics().requests().watch(&method);
        let answered = match self.0.table.find(&self.0.base, &context) {
            Ok(Matched { row, params, counts }) => {
                watched.matched(row.path, counts);
                traced.matched(row.path);
                let context = context.on_route(row.path, params);
                let answered = row.handle(&context).await.and_then(|answered| self.until_sent(answered, &context));
                let answered = answered.unwrap_or_else(Refusal::into_answered);
                browser::cors(answered, &context, row.path)
            }
            Err(RoutingError::WrongMethod { path, methods }) if browser::is_preflight(&context) => {
                watched.matched(path, None);
                traced.matched(path);
                Box::pin(browser::preflight(&context, path, &methods)).await
            }
            Err(error) => {
                self.hint_at_mount(context.path());
                browser::cors(error.into(), &context, "")
            }
        };
        let status = answered.status.as_u16();
        watched.answered(status);
        traced.answered(status);
        let template = watched.route();
        log_answer(&watched, request_id, &method, status);
        self.count_overload(&answered);
        if let Some(Unable::Fault(cause)) = &answered.cause {
            tracing::error!(%request_id, %method, route = template, status, error = %cause, "a request failed");
        }
        answered
    }

    /// Counts a refusal that load alone explains; every refusal comes through here once.
    fn count_overload(&self, answered: &Answered) {
        if let Some(Unable::Overload(what)) = answered.cause {
            self.0.auth.metrics().overload(what);
        }
    }

    /// Counts a large answer until it is sent. One that tells of a change is told in any case.
    fn until_sent(&self, answered: Answered, context: &Context) -> Result<Answered, Refusal> {
        let body = match answered.body {
            AnswerBody::Whole(bytes) if bytes.len() > unsent::SMALL && context.method().is_safe() => {
                self.0.auth.unsent().count(bytes, context.sender().ip)?.into()
            }
            AnswerBody::Stream(stream) => AnswerBody::Stream(stream.counted(self.0.auth.unsent(), context.sender().ip)?),
            body => body,
        };
        Ok(Answered { body, ..answered })
    }
}

/// Adds what every answer carries. A HEAD is given the body of its GET: every HTTP server keeps it to itself and sends its length.
fn complete(answered: Answered, request_id: &str) -> Response<AnswerBody> {
    let Answered { status, mut headers, body, .. } = answered;
    set_default(&mut headers, header::CACHE_CONTROL, "no-store");
    set_default(&mut headers, header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    if let Ok(id) = HeaderValue::from_str(request_id) {
        headers.insert("x-request-id", id);
    }
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

fn set_default(headers: &mut HeaderMap, name: header::HeaderName, value: &'static str) {
    headers.entry(name).or_insert(HeaderValue::from_static(value));
}
