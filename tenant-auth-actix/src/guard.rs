//! Tenant Auth before the host's own routes: a middleware that puts a visitor beside each request, and the extractor that asks it.

use std::{fmt, future::Future, pin::Pin};

use actix_web::{
    Error as ActixError, FromRequest, HttpMessage, HttpRequest, HttpResponse, ResponseError,
    body::MessageBody,
    dev::{Payload, Service, ServiceRequest, ServiceResponse, Transform},
    error::InternalError,
    http::StatusCode,
    middleware::{self, Next},
};
use tenant_auth_core::{
    Error,
    http::{Admission, Gate, Refused, Visitor},
};

use crate::convert;

/// A middleware that lets the routes under it use [`Auth`], and hands the browser the cookies of a session that was refreshed on
/// the way: for `App::wrap` or `Scope::wrap`. It refuses no request by itself: routes without `Auth` stay open.
///
/// Who was admitted can be read in other middleware: the [`Visitor`] is among the request's extensions, which the response still has.
///
/// ```
/// use actix_web::{Error, HttpMessage, body::MessageBody, dev::{ServiceRequest, ServiceResponse}, middleware::Next};
/// use tenant_auth_core::http::Visitor;
///
/// /// An access log, for `.wrap(actix_web::middleware::from_fn(log))`, before or after `.wrap(guard(&gate))`.
/// async fn log(request: ServiceRequest, next: Next<impl MessageBody>) -> Result<ServiceResponse<impl MessageBody>, Error> {
///     let response = next.call(request).await?;
///     let who = response.request().extensions().get::<Visitor>().and_then(Visitor::known);
///     println!("{} {:?}", response.status(), who.map(|who| who.user.id));
///     Ok(response)
/// }
/// ```
pub fn guard<S, B>(
    gate: &Gate,
) -> impl Transform<S, ServiceRequest, Response = ServiceResponse<B>, Error = ActixError, InitError = ()> + use<S, B>
where
    S: Service<ServiceRequest, Response = ServiceResponse<B>, Error = ActixError> + 'static,
    B: MessageBody + 'static,
{
    let gate = gate.clone();
    middleware::from_fn(move |request: ServiceRequest, next: Next<B>| keep(gate.clone(), request, next))
}

async fn keep<B: MessageBody>(gate: Gate, request: ServiceRequest, next: Next<B>) -> Result<ServiceResponse<B>, ActixError> {
    let peer = request.peer_addr().map(|peer| peer.ip());
    let Some(shown) = convert::request(request.request(), ()) else { return next.call(request).await };
    let visitor = gate.visitor(shown, peer);
    request.extensions_mut().insert(visitor.clone());
    let answered = next.call(request).await;
    visitor.depart().await;
    if !visitor.leaves_something() {
        return answered;
    }
    match answered {
        Ok(mut response) => {
            convert::settle(&visitor, response.headers_mut());
            Ok(response)
        }
        Err(error) => {
            let mut response = error.error_response();
            convert::settle(&visitor, response.headers_mut());
            Err(InternalError::from_response(error, response).into())
        }
    }
}

/// Lets only those through who are admitted as a `C`, for a whole scope: `.wrap(from_fn(require::<Member, _>))`, below [`guard`],
/// which is the `wrap` that comes after it.
///
/// # Errors
/// [`Rejection`], and the errors of the routes.
pub async fn require<C: Admission, B: MessageBody>(
    Auth(_): Auth<C>,
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<B>, ActixError> {
    next.call(request).await
}

/// An extractor: the caller of the route, admitted as a `C`. A caller who is not admitted gets a refusal, and the handler does not
/// run.
///
/// To cover a whole scope see [`require`]. To answer differently in one handler take `Result<Auth<C>, Rejection>`; for all of
/// them see [`Gate::on_refusal`].
///
/// For a page that shows more to those who are logged in take `Auth<Option<C>>`, never `Option<Auth<C>>`: actix-web makes the latter of any
/// extractor, and it is `None` for every refusal, also for somebody suspended (403) and while the service is away (503).
#[derive(Debug, Clone, Copy)]
pub struct Auth<C>(pub C);

impl<C: Admission> FromRequest for Auth<C> {
    type Error = Rejection;
    type Future = Pin<Box<dyn Future<Output = Result<Self, Rejection>>>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let visitor = request.extensions().get::<Visitor>().cloned();
        Box::pin(async move {
            match visitor {
                Some(visitor) => Ok(Self(visitor.admit().await?)),
                None => Err(Refused::not_set_up("add .wrap(tenant_auth_actix::guard(&gate)) to the app or scope").into()),
            }
        })
    }
}

/// A refusal as actix-web answers it. Every [`Error`] of the core becomes one, so that handlers may use `?`.
#[derive(Debug)]
pub struct Rejection(pub Refused);

impl From<Refused> for Rejection {
    fn from(refused: Refused) -> Self {
        Self(refused)
    }
}

impl From<Error> for Rejection {
    fn from(error: Error) -> Self {
        Self(error.into())
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Rejection {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

impl ResponseError for Rejection {
    fn status_code(&self) -> StatusCode {
        convert::status(self.0.status())
    }

    fn error_response(&self) -> HttpResponse {
        convert::response(self.0.response())
    }
}
