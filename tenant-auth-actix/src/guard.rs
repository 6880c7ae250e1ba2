//! Tenant Auth before the host's own routes: a middleware that puts a visitor beside each request, and the extractor that asks it.

use std::{fmt, future::Future, pin::Pin};

use actix_web::{
    Error as ActixError, FromRequest, HttpMessage, HttpRequest, HttpResponse, ResponseError,
    body::{EitherBody, MessageBody},
    dev::{Payload, Service, ServiceRequest, ServiceResponse, Transform},
    error::InternalError,
    http::{StatusCode, header::HeaderMap},
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
) -> impl Transform<S, ServiceRequest, Response = ServiceResponse<EitherBody<B>>, Error = ActixError, InitError = ()> + use<S, B>
where
    S: Service<ServiceRequest, Response = ServiceResponse<B>, Error = ActixError> + 'static,
    B: MessageBody + 'static,
{
    let gate = gate.clone();
    middleware::from_fn(move |request: ServiceRequest, next: Next<B>| keep(gate.clone(), request, next))
}

async fn keep<B: MessageBody>(
    gate: Gate,
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, ActixError> {
    let peer = request.peer_addr().map(|peer| peer.ip());
    let Some(shown) = convert::request(request.request(), ()) else {
        return next.call(request).await.map(ServiceResponse::map_into_left_body);
    };
    let visitor = gate.visitor(shown, peer);
    request.extensions_mut().insert(visitor.clone());
    let answered = next.call(request).await;
    visitor.depart().await;
    match answered {
        Ok(response) => {
            let raised = response.response().error();
            let own = raised.and_then(|error| reworded(&visitor, error, response.headers()));
            let mut response = match own {
                Some(own) => response.into_response(own).map_into_right_body(),
                None => response.map_into_left_body(),
            };
            if visitor.leaves_something() {
                convert::settle(&visitor, response.headers_mut());
            }
            Ok(response)
        }
        Err(error) => {
            let own = reworded(&visitor, &error, &HeaderMap::new());
            if own.is_none() && !visitor.leaves_something() {
                return Err(error);
            }
            let mut response = own.unwrap_or_else(|| error.error_response());
            convert::settle(&visitor, response.headers_mut());
            Err(InternalError::from_response(error, response).into())
        }
    }
}

/// The gate's own answer in the place of what a handler refused with by itself.
fn reworded(visitor: &Visitor, raised: &ActixError, headers: &HeaderMap) -> Option<HttpResponse> {
    let Rejection(refused) = raised.as_error::<Rejection>()?;
    visitor.reworded(refused, &convert::headers(headers)?).map(convert::response)
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

/// A refusal as actix-web answers it. Every [`Error`] of the core becomes one, so that handlers may use `?`. [`guard`] answers such
/// a one, too, as the gate says ([`Gate::on_refusal`], [`Gate::redirecting`]).
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
