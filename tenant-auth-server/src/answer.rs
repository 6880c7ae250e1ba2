//! Responses of the program itself rather than of the service: health, the developer's mailbox, and paths outside the API. They
//! have the API's envelope and headers (behaviour.md, B2 and B3).

use axum::{
    body::Body,
    http::{StatusCode, header},
    response::Response,
};
use serde::Serialize;
use tenant_auth_core::{ports::OsEntropy, secret::LinkToken};

/// The API's envelope.
#[derive(Serialize)]
#[serde(tag = "status", rename_all = "lowercase")]
enum Envelope<'a, T> {
    Success { data: T },
    Error { code: &'a str, message: &'a str },
}

/// `{status: "success", data}`.
pub(crate) fn success(data: impl Serialize) -> Response {
    json(StatusCode::OK, &Envelope::Success { data })
}

/// `{status: "error", code, message}`.
pub(crate) fn error(status: StatusCode, code: &str, message: &str) -> Response {
    let refusal: Envelope<'_, ()> = Envelope::Error { code, message };
    json(status, &refusal)
}

/// 404: the path has no route.
pub(crate) async fn not_found() -> Response {
    error(StatusCode::NOT_FOUND, "not_found", "There is nothing at this path. The API lies below /api/v1 of the public URL.")
}

/// 405: the path has routes for other methods. The router adds `Allow`.
pub(crate) async fn method_not_allowed() -> Response {
    error(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "This path does not answer this method. See the Allow header.")
}

/// A page; `policy` is its Content-Security-Policy.
pub(crate) fn page(html: String, policy: &'static str) -> Response {
    let mut response = bare(StatusCode::OK, "text/html; charset=utf-8", html);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, header::HeaderValue::from_static(policy));
    headers.insert(header::REFERRER_POLICY, header::HeaderValue::from_static("no-referrer"));
    response
}

/// A document that programs read.
pub(crate) fn document(content_type: &'static str, text: String) -> Response {
    bare(StatusCode::OK, content_type, text)
}

fn json(status: StatusCode, body: &Envelope<'_, impl Serialize>) -> Response {
    match serde_json::to_string(body) {
        Ok(text) => bare(status, "application/json", text),
        Err(_) => bare(StatusCode::INTERNAL_SERVER_ERROR, "application/json", r#"{"status":"error","code":"internal"}"#.to_owned()),
    }
}

fn bare(status: StatusCode, content_type: &'static str, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static(content_type));
    headers.insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, header::HeaderValue::from_static("nosniff"));
    if let Ok(id) = request_id().parse() {
        headers.insert("x-request-id", id);
    }
    response
}

fn request_id() -> String {
    format!("req_{:.22}", LinkToken::generate(&OsEntropy).expose())
}
