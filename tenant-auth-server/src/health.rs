//! Health checks for load balancers and supervisors. Liveness: this process answers, even while the database does not, so that a
//! supervisor does not restart a healthy server because of its database. Readiness: the process can serve now (database,
//! migrations, keys) and is not about to stop.

use axum::{
    Router,
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::Response,
    routing::get,
};
use serde_json::json;
use tenant_auth_core::TenantAuth;

use crate::{answer, drain::Drain};

/// The same as of any other request that is not served for now (behaviour.md, B16), in seconds.
const RETRY_AFTER: &str = "2";

#[derive(Clone)]
struct Health {
    auth: TenantAuth,
    drain: Drain,
}

/// The routes `/health/live` and `/health/ready`.
pub(crate) fn routes(auth: TenantAuth, drain: Drain) -> Router {
    Router::new().route("/health/live", get(live)).route("/health/ready", get(ready)).with_state(Health { auth, drain })
}

async fn live() -> Response {
    answer::success(json!({ "live": true }))
}

async fn ready(State(health): State<Health>) -> Response {
    let not_ready = |message| {
        let mut response = answer::error(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message);
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER));
        response
    };
    if health.drain.has_begun() {
        return not_ready("The server is shutting down. Use another one.");
    }
    match health.auth.ready().await {
        Ok(()) => answer::success(json!({ "ready": true })),
        Err(_) => not_ready(
            "The database does not answer, is not migrated or takes no writes; or the signing keys cannot be read, or changes not be \
             looked for. The server's log says which.",
        ),
    }
}
