//! `/dev/requests`: the last requests, and why those that were refused were. Kept in memory, without bodies; whatever may be a
//! credential is masked before it is kept.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{
    Router,
    body::{self, Body},
    extract::{Request, State},
    http::header,
    middleware::{self, Next},
    response::Response,
    routing::get,
};
use serde::Serialize;
use serde_json::json;
use tenant_auth_core::{Timestamp, ports::Clock};

use super::{
    clock::MovableClock,
    explain::Explanation,
    local::{Site, escaped},
    seen::Seen,
};
use crate::answer;

const KEPT: usize = 200;

/// The last requests, newest first.
#[derive(Debug)]
pub(super) struct Requests {
    kept: Mutex<VecDeque<Kept>>,
    clock: Arc<MovableClock>,
    site: Site,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Kept {
    at: Timestamp,
    method: String,
    path: String,
    organization: Option<String>,
    status: u16,
    request_id: Option<String>,
    /// Of a refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<Explanation>,
}

impl Requests {
    pub(super) fn new(clock: Arc<MovableClock>, site: Site) -> Arc<Self> {
        Arc::new(Self { kept: Mutex::default(), clock, site })
    }

    /// The router, each request to whose API is kept.
    pub(super) fn around(self: &Arc<Self>, router: Router) -> Router {
        router.layer(middleware::from_fn_with_state(Arc::clone(self), watch))
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<Kept>> {
        // Nothing under the lock can panic half-way.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn watch(State(requests): State<Arc<Requests>>, request: Request, next: Next) -> Response {
    if !request.uri().path().contains("/api/v1/") {
        return next.run(request).await;
    }
    let (at, seen) = (requests.clock.now(), Seen::of(&request));
    let response = next.run(request).await;
    let (response, refusal) = refusal_of(response, &seen, &requests.site, at).await;
    let request_id = response.headers().get("x-request-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
    let Seen { method, path, organization, .. } = seen;
    let mut kept = requests.kept();
    kept.push_front(Kept { at, method, path, organization, status: response.status().as_u16(), request_id, refusal });
    kept.truncate(KEPT);
    drop(kept);
    response
}

/// Why it was refused, if it was.
async fn refusal_of(response: Response, seen: &Seen, site: &Site, at: Timestamp) -> (Response, Option<Explanation>) {
    let is_json = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if !(response.status().is_client_error() || response.status().is_server_error()) || !is_json {
        return (response, None);
    }
    let (parts, answered) = response.into_parts();
    // Made in memory, as every refusal; it must reach the client whole, however long a message it has.
    let bytes = body::to_bytes(answered, usize::MAX).await.unwrap_or_default();
    let explanation = serde_json::from_slice(&bytes).ok().map(|answered| Explanation::of(seen, &answered, site, at));
    (Response::from_parts(parts, Body::from(bytes)), explanation)
}

/// `/dev/requests` and `/dev/requests.json`.
pub(super) fn routes(requests: Arc<Requests>) -> Router {
    Router::new().route("/dev/requests", get(page)).route("/dev/requests.json", get(list)).with_state(requests)
}

async fn list(State(requests): State<Arc<Requests>>) -> Response {
    let kept: Vec<Kept> = requests.kept().iter().cloned().collect();
    answer::success(json!({ "requests": kept }))
}

async fn page(State(requests): State<Arc<Requests>>) -> Response {
    let rows: String = requests.kept().iter().map(row).collect();
    if rows.is_empty() {
        return requests.site.page("Requests", "<p>Nothing was asked of the API yet. Reload this page after something was.</p>");
    }
    let head = "<tr><th>When</th><th>Request</th><th>Organization</th><th>Status</th><th>Why</th></tr>";
    requests
        .site
        .page("Requests", &format!("<article class=\"scroll\"><table><thead>{head}</thead><tbody>{rows}</tbody></table></article>"))
}

fn row(kept: &Kept) -> String {
    let (at, method, path) = (kept.at.to_iso(), escaped(&kept.method), escaped(&kept.path));
    let organization = escaped(kept.organization.as_deref().unwrap_or("–"));
    let why = kept.refusal.as_ref().map(|refusal| {
        let Explanation { code, check, saw, would_pass } = refusal;
        let (code, check, saw, would_pass) = (escaped(code), escaped(check), escaped(saw), escaped(would_pass));
        format!("<b>{code}</b> by the check of {check}<br>saw: {saw}<br>would pass: {would_pass}")
    });
    let (status, why) = (kept.status, why.unwrap_or_default());
    format!("<tr><td>{at}</td><td>{method} <code>{path}</code></td><td>{organization}</td><td>{status}</td><td>{why}</td></tr>")
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;

    use super::*;

    #[tokio::test]
    async fn a_long_refusal_reaches_the_client_whole() {
        let seen = Seen::of(&Request::new(Body::empty()));
        let message = "x".repeat(64 * 1024);
        let response = answer::error(StatusCode::BAD_REQUEST, "invalid_request", &message);
        let site = Site::of(&"http://localhost".parse().expect("a URL"));
        let (response, refusal) = refusal_of(response, &seen, &site, Timestamp::from_millis(0)).await;
        assert!(refusal.is_some());
        let bytes = body::to_bytes(response.into_body(), usize::MAX).await.expect("a body");
        assert!(String::from_utf8_lossy(&bytes).contains(&message));
    }
}
