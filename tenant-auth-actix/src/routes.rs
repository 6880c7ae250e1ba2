//! The service's own routes and pages, translated: nothing is decided here.

#[cfg(feature = "panel")]
use actix_web::Resource;
use actix_web::{HttpRequest, HttpResponse, Scope, http::ConnectionType, rt::time::timeout, web};
#[cfg(feature = "panel")]
use tenant_auth_core::http::Pages;
use tenant_auth_core::{
    TenantAuth,
    http::{AnswerBody, BODY_LIMIT, Body, Service},
};

use crate::convert;

/// Every operation of the service, to be added to the host's app at its root. Only paths below [`Service::base_path`] are taken.
pub fn routes(auth: &TenantAuth) -> Scope {
    let service = Service::new(auth);
    web::scope(service.base_path()).app_data(web::Data::new(service.clone())).default_service(web::to(carry))
}

/// The admin panel and the hosted pages that mails link to, to be added to the host's app at its root beside [`routes`]. Only the
/// exact paths of [`Pages::paths`] are taken.
#[cfg(feature = "panel")]
pub fn panel(auth: &TenantAuth) -> Resource {
    let pages = Pages::new(auth);
    web::resource(pages.paths()).app_data(web::Data::new(pages)).to(show)
}

/// Translates a request for a page.
#[cfg(feature = "panel")]
async fn show(pages: web::Data<Pages>, request: HttpRequest) -> HttpResponse {
    match convert::request(&request, Body::Complete(web::Bytes::new())) {
        Some(request) => convert::response(pages.answer(&request)),
        None => answer(Service::unreadable()),
    }
}

/// Translates one request and its answer.
async fn carry(service: web::Data<Service>, request: HttpRequest, payload: web::Payload) -> HttpResponse {
    let peer = request.peer_addr().map(|peer| peer.ip());
    let announced = request.headers().get("content-length").and_then(|length| length.to_str().ok()?.parse().ok());
    let (body, is_late) = read(payload, announced).await;
    let mut response = match convert::request(&request, body) {
        Some(request) => answer(service.call(request, peer).await),
        None => answer(Service::unreadable()),
    };
    if is_late {
        // What still comes of the body would be taken for the next request.
        response.head_mut().set_connection_type(ConnectionType::Close);
    }
    response
}

/// Reads at most the limit and no longer than a body may take; what is longer or slower is not read to its end.
/// Whether it was late comes beside it.
async fn read(payload: web::Payload, announced: Option<u64>) -> (Body, bool) {
    match timeout(Body::patience(announced), payload.to_bytes_limited(BODY_LIMIT)).await {
        Err(_) => (Body::late(announced), true),
        Ok(Ok(Ok(bytes))) => (Body::Complete(bytes), false),
        Ok(Ok(Err(_))) => (Body::Broken, false),
        Ok(Err(_)) => (Body::TooLarge, false),
    }
}

fn answer(from: http::Response<AnswerBody>) -> HttpResponse {
    let (parts, body) = from.into_parts();
    let mut response = convert::head(&parts);
    match body {
        AnswerBody::Stream(stream) => response.streaming(stream),
        whole => response.body(whole.into_bytes()),
    }
}
