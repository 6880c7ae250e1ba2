//! Tenant Auth before the host's own routes: a layer that puts a visitor beside each request, and the extractor that asks it.

use std::{fmt, future::Future, net::SocketAddr, pin::Pin};

use axum::{
    body::Body,
    extract::{ConnectInfo, FromRequestParts, OriginalUri, Request, State},
    http::request::Parts,
    middleware::{self, FromFnLayer, Next},
    response::{IntoResponse, Response},
};
use tenant_auth_core::{
    Error,
    http::{Admission, Gate, Refused, Visitor},
};

type GuardFuture = Pin<Box<dyn Future<Output = Response> + Send>>;

/// What [`guard`] returns: a layer for `Router::layer`.
pub type Guard = FromFnLayer<fn(State<Gate>, Request, Next) -> GuardFuture, Gate, (State<Gate>, Request)>;

/// A layer that lets the routes under it use [`Auth`], and hands the browser the cookies of a session that was refreshed on the
/// way. It refuses no request by itself: routes without `Auth` stay open.
///
/// Who was admitted can be read in other layers: the [`Visitor`] is among the extensions of the request, for layers within, and of the
/// response, for layers further out.
///
/// ```
/// use axum::{extract::Request, middleware::Next, response::Response};
/// use tenant_auth_core::http::Visitor;
///
/// /// An access log, for `.layer(axum::middleware::from_fn(log))` after `.layer(guard(&gate))`.
/// async fn log(request: Request, next: Next) -> Response {
///     let response = next.run(request).await;
///     let who = response.extensions().get::<Visitor>().and_then(Visitor::known);
///     println!("{} {:?}", response.status(), who.map(|who| who.user.id));
///     response
/// }
/// ```
pub fn guard(gate: &Gate) -> Guard {
    middleware::from_fn_with_state(gate.clone(), |State(gate), request, next| Box::pin(keep(gate, request, next)))
}

async fn keep(gate: Gate, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
    let mut shown = axum::http::Request::new(());
    *shown.method_mut() = parts.method.clone();
    *shown.uri_mut() = parts.extensions.get::<OriginalUri>().map_or_else(|| parts.uri.clone(), |OriginalUri(full)| full.clone());
    *shown.headers_mut() = parts.headers.clone();
    let visitor = gate.visitor(shown, peer);
    let mut request = Request::from_parts(parts, body);
    request.extensions_mut().insert(visitor.clone());
    let mut response = next.run(request).await;
    visitor.depart().await;
    visitor.settle(response.headers_mut());
    // For layers further out, such as an access log: `response.extensions().get::<Visitor>()`. Of nested guards the innermost knows who
    // was admitted.
    if response.extensions().get::<Visitor>().is_none() {
        response.extensions_mut().insert(visitor);
    }
    response
}

/// An extractor: the caller of the route, admitted as a `C`. A caller who is not admitted gets a refusal, and the handler does not
/// run.
///
/// To cover a whole router: `.route_layer(axum::middleware::from_extractor::<Auth<Member>>())`, below [`guard`]. To answer
/// differently in one handler take `Result<Auth<C>, Rejection>`; for all of them see [`Gate::on_refusal`].
#[derive(Debug, Clone, Copy)]
pub struct Auth<C>(pub C);

impl<C: Admission, S: Send + Sync> FromRequestParts<S> for Auth<C> {
    type Rejection = Rejection;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Rejection> {
        match parts.extensions.get::<Visitor>() {
            Some(visitor) => Ok(Self(visitor.admit().await?)),
            None => Err(Refused::not_set_up("add .layer(tenant_auth_axum::guard(&gate)) to the router, after its routes").into()),
        }
    }
}

/// A refusal as axum answers it. Every [`Error`] of the core becomes one, so that handlers may use `?`.
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

impl IntoResponse for Rejection {
    fn into_response(self) -> Response {
        self.0.response().map(Body::from)
    }
}
