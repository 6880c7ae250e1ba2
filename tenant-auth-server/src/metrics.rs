//! The metrics endpoint for Prometheus. It has a listener of its own, so that the public cannot reach the metrics. The listener
//! also answers health checks, which must get through when the public listener has reached its connection limit.

use std::{fmt::Write, sync::Arc};

use axum::{Router, extract::State, http::StatusCode, response::Response, routing::get};
use tenant_auth_core::TenantAuth;

use crate::{answer, connections::ConnectionSlots, logging, process};

/// The format in which the core writes.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Clone)]
struct Metrics {
    auth: TenantAuth,
    slots: Arc<ConnectionSlots>,
}

/// `GET /metrics`, beside `health`. `slots` are the public listener's.
pub(crate) fn routes(auth: TenantAuth, slots: Arc<ConnectionSlots>, health: Router) -> Router {
    Router::new()
        .route("/metrics", get(metrics))
        .with_state(Metrics { auth, slots })
        .merge(health)
        .fallback(answer::not_found)
        .method_not_allowed_fallback(answer::method_not_allowed)
}

async fn metrics(State(Metrics { auth, slots }): State<Metrics>) -> Response {
    match auth.metrics_text().await {
        Ok(mut text) => {
            add(&mut text, &slots);
            answer::document(OPEN_METRICS, text)
        }
        Err(error) => {
            tracing::error!(error = %error.causes(), "the metrics cannot be written");
            answer::error(StatusCode::INTERNAL_SERVER_ERROR, "internal", "The metrics cannot be written. The log says why.")
        }
    }
}

/// Adds what only the program knows before the end of the core's text.
fn add(text: &mut String, slots: &ConnectionSlots) {
    let end = "# EOF\n";
    text.truncate(text.len() - if text.ends_with(end) { end.len() } else { 0 });
    let [most, taken, displaced, refused] = slots.told();
    for (name, kind, help, value) in [
        ("connections_max", "gauge", "The most connections of clients at once.", most),
        ("connections", "gauge", "Connections of clients.", taken),
        ("connections_displaced", "counter", "Connections closed for a newcomer of another network.", displaced),
        ("connections_refused", "counter", "Newcomers closed because all connections were taken.", refused),
        ("log_lines_lost", "counter", "Log lines that could not be written.", logging::lost_lines()),
    ] {
        let suffix = if kind == "counter" { "_total" } else { "" };
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "# HELP tenant_auth_{name} {help}\n# TYPE tenant_auth_{name} {kind}\ntenant_auth_{name}{suffix} {value}\n"
        );
    }
    text.push_str(&process::metrics());
    text.push_str(end);
}
