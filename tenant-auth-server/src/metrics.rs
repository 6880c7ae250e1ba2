//! What Prometheus asks. It has a listener of its own, which answers nothing else, so that the metrics are not where the public
//! is, and the API is not where the metrics are. It stops with the server.

use axum::{
    Router,
    body::Body,
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::Response,
    routing::get,
};
use tenant_auth_core::TenantAuth;

use crate::answer;

/// The format in which the core writes.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// `GET /metrics`, and nothing else.
pub(crate) fn routes(auth: TenantAuth) -> Router {
    Router::new()
        .route("/metrics", get(metrics))
        .fallback(answer::not_found)
        .method_not_allowed_fallback(answer::method_not_allowed)
        .with_state(auth)
}

async fn metrics(State(auth): State<TenantAuth>) -> Response {
    match auth.metrics_text().await {
        Ok(text) => {
            let mut response = Response::new(Body::from(text));
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(OPEN_METRICS));
            response
        }
        Err(error) => {
            tracing::error!(%error, "the metrics cannot be written");
            answer::error(StatusCode::INTERNAL_SERVER_ERROR, "internal", "The metrics cannot be written. The log says why.")
        }
    }
}
