//! actix-web speaks http 0.2, the core http 1: methods, headers and URIs are rebuilt from their bytes, bodies cross uncopied.

use actix_web::{
    HttpRequest, HttpResponse, HttpResponseBuilder,
    http::{StatusCode, header as actix},
    web::Bytes,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use tenant_auth_core::http::Visitor;

/// The raw URI, not actix's decoded match: the core decodes, once. `None` only for what cannot be a request in http 1.
pub(crate) fn request<B>(from: &HttpRequest, body: B) -> Option<Request<B>> {
    let mut request = Request::new(body);
    *request.method_mut() = Method::from_bytes(from.method().as_str().as_bytes()).ok()?;
    *request.uri_mut() = from.uri().to_string().parse::<Uri>().ok()?;
    *request.headers_mut() = headers(from.headers())?;
    Some(request)
}

fn headers(from: &actix::HeaderMap) -> Option<HeaderMap> {
    let mut headers = HeaderMap::with_capacity(from.len());
    for (name, value) in from {
        let name = HeaderName::from_bytes(name.as_str().as_bytes()).ok()?;
        headers.append(name, HeaderValue::from_bytes(value.as_bytes()).ok()?);
    }
    Some(headers)
}

/// Adds what leaves with an answer.
pub(crate) fn settle(visitor: &Visitor, answer: &mut actix::HeaderMap) {
    let Some(mut settled) = headers(answer) else { return };
    visitor.settle(&mut settled);
    answer.clear();
    for (name, value) in &settled {
        let name = actix::HeaderName::from_bytes(name.as_str().as_bytes());
        if let (Ok(name), Ok(value)) = (name, actix::HeaderValue::from_bytes(value.as_bytes())) {
            answer.append(name, value);
        }
    }
}

pub(crate) fn status(from: http::StatusCode) -> StatusCode {
    StatusCode::from_u16(from.as_u16()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// Appends every header: there may be several cookies.
pub(crate) fn response(from: http::Response<Bytes>) -> HttpResponse {
    let (parts, body) = from.into_parts();
    head(&parts).body(body)
}

/// The status and the headers of an answer.
pub(crate) fn head(from: &http::response::Parts) -> HttpResponseBuilder {
    let mut response = HttpResponseBuilder::new(status(from.status));
    for (name, value) in &from.headers {
        response.append_header((name.as_str(), value.as_bytes()));
    }
    response
}
