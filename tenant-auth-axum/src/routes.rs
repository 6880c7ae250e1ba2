//! The service's own routes and pages, translated: nothing is decided here.

use std::net::SocketAddr;

use axum::{
    Router,
    body::{self, Body, HttpBody},
    extract::{ConnectInfo, OriginalUri, Request},
    http::{HeaderValue, header},
    response::Response,
    routing,
};
use tenant_auth_core::{
    TenantAuth,
    http::{AnswerBody, BODY_LIMIT, Body as CoreBody, Service},
};
use tokio::time::timeout;

/// Every operation of the service, to be merged into the host's router at its root. Only paths below [`Service::base_path`] are
/// taken.
pub fn routes<S: Clone + Send + Sync + 'static>(auth: &TenantAuth) -> Router<S> {
    let service = Service::new(auth);
    let base = service.base_path().to_owned();
    let carry = move |request: Request| carry(service.clone(), request);
    Router::new()
        .route(&base, routing::any(carry.clone()))
        .route(&format!("{base}/"), routing::any(carry.clone()))
        .route(&format!("{base}/{{*rest}}"), routing::any(carry))
}

/// The admin panel and the hosted pages that mails link to, to be merged into the host's router at its root beside [`routes`].
/// With the feature `panel`. Only the exact paths of [`Pages::paths`](tenant_auth_core::http::Pages::paths) are taken.
#[cfg(feature = "panel")]
pub fn panel<S: Clone + Send + Sync + 'static>(auth: &TenantAuth) -> Router<S> {
    let pages = tenant_auth_core::http::Pages::new(auth);
    pages.paths().iter().fold(Router::new(), |router, path| {
        let pages = pages.clone();
        router.route(path, routing::any(async move |request: Request| pages.answer(&with_full_path(request)).map(Body::from)))
    })
}

/// Translates one request and its answer.
async fn carry(service: Service, request: Request) -> Response {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
    let (parts, body) = with_full_path(request).into_parts();
    let body = read(body).await;
    let is_late = matches!(body, CoreBody::TimedOut);
    let mut response = service.call(axum::http::Request::from_parts(parts, body), peer).await.map(sent);
    if is_late {
        // What still comes of the body would be taken for the next request.
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

fn sent(body: AnswerBody) -> Body {
    match body {
        AnswerBody::Stream(stream) => Body::from_stream(stream),
        whole => Body::from(whole.into_bytes()),
    }
}

/// A router that nests ours may have shortened the path.
fn with_full_path(mut request: Request) -> Request {
    if let Some(OriginalUri(uri)) = request.extensions_mut().remove() {
        *request.uri_mut() = uri;
    }
    request
}

/// Reads at most the limit and no longer than a body may take; what is longer or slower is not read to its end.
async fn read(body: Body) -> CoreBody {
    let announced = body.size_hint().exact();
    match timeout(CoreBody::patience(announced), body::to_bytes(body, BODY_LIMIT)).await {
        Err(_) => CoreBody::late(announced),
        Ok(Ok(bytes)) => CoreBody::Complete(bytes),
        Ok(Err(error)) if is_too_long(&error) => CoreBody::TooLarge,
        Ok(Err(_)) => CoreBody::Broken,
    }
}

fn is_too_long(error: &axum::Error) -> bool {
    std::error::Error::source(error).is_some_and(|source| source.is::<http_body_util::LengthLimitError>())
}
