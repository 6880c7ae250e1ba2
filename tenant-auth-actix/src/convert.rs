//! actix-web speaks http 0.2, the core http 1: methods, headers and URIs are rebuilt from their bytes, bodies cross uncopied.

use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder, http::StatusCode, web};
use http::{HeaderName, HeaderValue, Method, Uri};
use tenant_auth_core::http::{BODY_LIMIT, Body, Request};

/// The raw URI, not actix's decoded match: the core decodes, once. `None` only for what cannot be a request in http 1.
pub(crate) fn request(from: &HttpRequest, body: Body) -> Option<Request> {
    let mut request = http::Request::new(body);
    *request.method_mut() = Method::from_bytes(from.method().as_str().as_bytes()).ok()?;
    *request.uri_mut() = from.uri().to_string().parse::<Uri>().ok()?;
    for (name, value) in from.headers() {
        let name = HeaderName::from_bytes(name.as_str().as_bytes()).ok()?;
        request.headers_mut().append(name, HeaderValue::from_bytes(value.as_bytes()).ok()?);
    }
    Some(request)
}

/// Reads at most the limit; what is longer is not read to its end.
pub(crate) async fn body(payload: web::Payload) -> Body {
    match payload.to_bytes_limited(BODY_LIMIT).await {
        Ok(Ok(bytes)) => Body::Complete(bytes),
        Ok(Err(_)) => Body::Broken,
        Err(_) => Body::TooLarge,
    }
}

/// Appends every header: there may be several cookies.
pub(crate) fn response(from: http::Response<web::Bytes>) -> HttpResponse {
    let status = StatusCode::from_u16(from.status().as_u16()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = HttpResponseBuilder::new(status);
    for (name, value) in from.headers() {
        response.append_header((name.as_str(), value.as_bytes()));
    }
    response.body(from.into_body())
}
