//! `/dev/webhooks`: a receiver that the demo organization is subscribed to. It keeps each delivery with the verdict on its signature, as
//! a receiver of one's own should judge it.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    Extension, Router,
    body::Bytes,
    extract::{DefaultBodyLimit, State},
    http::{HeaderMap, StatusCode},
    response::Response,
    routing::get,
};
use serde::Serialize;
use serde_json::{Value, json};
use tenant_auth_core::{
    Error, TenantAuth, Timestamp,
    model::EventSelection,
    operator::Operator,
    ports::Clock,
    value::{Description, Slug},
    webhooks::{NewWebhook, SignedHeaders, SigningSecret, WebhookUpdate, verify_webhook},
};

use super::{
    clock::MovableClock,
    files::{Demo, DemoWebhook},
    local::{Site, escaped},
};
use crate::{answer, failure::Failure};

const KEPT: usize = 200;
/// Bounds what is kept.
const LONGEST_BODY: usize = 64 * 1024;
/// The verdict on a signature that is right.
const VALID: &str = "valid";
/// How far a delivery's timestamp may be from now, as Standard Webhooks recommends.
const TOLERANCE: Duration = Duration::from_secs(300);

/// The deliveries received so far, newest first.
#[derive(Debug)]
pub(super) struct Receiver {
    kept: Mutex<VecDeque<Delivery>>,
    secret: Option<SigningSecret>,
    clock: Arc<MovableClock>,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Delivery {
    received_at: Timestamp,
    /// `webhook-id`; every attempt has the same.
    id: String,
    /// `valid`, or why not.
    signature: String,
    /// As it came; a text when it is no JSON.
    body: Value,
}

impl Receiver {
    /// The receiver of the demo organization's webhook.
    pub(super) fn of(demo: &Demo, clock: Arc<MovableClock>) -> Arc<Self> {
        let secret = demo.webhook.as_ref().and_then(|webhook| SigningSecret::parse(&webhook.secret).ok());
        Arc::new(Self { kept: Mutex::default(), secret, clock })
    }

    fn judged(&self, headers: &HeaderMap, body: &[u8]) -> Result<(), String> {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let signed =
            SignedHeaders { id: text("webhook-id"), timestamp: text("webhook-timestamp"), signature: text("webhook-signature") };
        let secret = self.secret.as_ref().ok_or("the secret is not kept any more")?;
        verify_webhook(secret, signed, body, self.clock.now(), TOLERANCE).map_err(|error| error.to_string())
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<Delivery>> {
        // Nothing under the lock can panic half-way.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Subscribes the demo organization to everything, or moves its subscription to where the receiver is now. One that was deleted or
/// disabled stays so. Returns whether `demo` is to be kept anew.
///
/// # Errors
/// [`Failure`] when the database cannot be used.
pub(super) async fn subscribe(auth: &TenantAuth, demo: &mut Demo, local_url: &str) -> Result<bool, Failure> {
    let url = format!("{local_url}/dev/webhooks");
    let operator: Operator = auth.operator();
    let slug: Slug = demo.organization.parse().map_err(Error::internal)?;
    let admin = match operator.in_organization(&slug).await {
        Err(Error::UnknownOrganization) => return Ok(false), // the developer deleted it
        admin => admin?,
    };
    let Some(kept) = &demo.webhook else {
        let new = NewWebhook {
            url,
            events: EventSelection::parse(&["*"]).map_err(Error::internal)?,
            description: Description::parse("The receiver of dev").map_err(Error::internal)?,
        };
        return match admin.create_webhook(new).await {
            Ok(created) => {
                let secret = created.secret.expose().to_string();
                demo.webhook = Some(DemoWebhook { id: created.webhook.id.to_string(), secret });
                Ok(true)
            }
            Err(error) => unsubscribed(error).map(|()| false),
        };
    };
    let id = kept.id.parse().map_err(Error::internal)?;
    match admin.webhook(&id).await {
        Ok(webhook) if webhook.url.as_str() != url => {
            let moved = admin.update_webhook(&id, WebhookUpdate { url: Some(url), ..WebhookUpdate::default() }).await;
            moved.map(drop).or_else(unsubscribed)?;
        }
        Ok(_) | Err(Error::NotFound(_)) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(false)
}

/// The settings may refuse a receiver on this machine, which is no reason not to start.
fn unsubscribed(error: Error) -> Result<(), Failure> {
    if !matches!(error, Error::Invalid(_) | Error::LimitReached { .. }) {
        return Err(error.into());
    }
    tracing::warn!(%error, "the receiver of /dev/webhooks is not subscribed");
    Ok(())
}

/// `/dev/webhooks` and `/dev/webhooks.json`.
pub(super) fn routes(receiver: Arc<Receiver>) -> Router {
    let receiving = get(page).post(receive).layer(DefaultBodyLimit::max(LONGEST_BODY));
    Router::new().route("/dev/webhooks", receiving).route("/dev/webhooks.json", get(list)).with_state(receiver)
}

async fn receive(State(receiver): State<Arc<Receiver>>, headers: HeaderMap, body: Bytes) -> Response {
    let judged = receiver.judged(&headers, &body);
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let delivery = Delivery {
        received_at: receiver.clock.now(),
        id: text("webhook-id"),
        signature: judged.as_ref().err().cloned().unwrap_or_else(|| VALID.to_owned()),
        body: serde_json::from_slice(&body).unwrap_or_else(|_| String::from_utf8_lossy(&body).into()),
    };
    let mut kept = receiver.kept();
    kept.push_front(delivery);
    kept.truncate(KEPT);
    drop(kept);
    match judged {
        Ok(()) => answer::success(json!({})),
        Err(why) => answer::error(StatusCode::BAD_REQUEST, "invalid_signature", &why),
    }
}

async fn list(State(receiver): State<Arc<Receiver>>) -> Response {
    let kept: Vec<Delivery> = receiver.kept().iter().cloned().collect();
    answer::success(json!({ "deliveries": kept }))
}

async fn page(State(receiver): State<Arc<Receiver>>, Extension(site): Extension<Site>) -> Response {
    let shown: String = receiver.kept().iter().map(article).collect();
    let nothing = "<p>Nothing was delivered yet. Invite somebody, and reload this page.</p>";
    site.page("Webhooks", if shown.is_empty() { nothing } else { &shown })
}

fn article(delivery: &Delivery) -> String {
    let Delivery { received_at, id, signature, body } = delivery;
    let (at, id) = (received_at.to_iso(), escaped(id));
    let old = " (judged by the secret that the webhook was made with; one of a later rotate-secret is not known here)";
    let doubt = if signature == VALID { "" } else { old };
    let signature = escaped(signature);
    let kind = escaped(body.get("type").and_then(Value::as_str).unwrap_or("no event"));
    let body = escaped(&serde_json::to_string_pretty(body).unwrap_or_default());
    format!(
        "<article><h2>{kind}</h2><p><code>{id}</code>, <time datetime=\"{at}\">{at}</time>, signature: <b>{signature}</b>{doubt}</p>\
         <pre>{body}</pre></article>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delivery_is_shown_as_text() {
        let html = article(&Delivery {
            received_at: Timestamp::from_millis(0),
            id: "<i>".to_owned(),
            signature: "\"bad\"".to_owned(),
            body: json!({ "type": "<b>", "data": "</pre><script>" }),
        });
        assert!(html.contains("rotate-secret"), "{html}");
        assert!(!html.contains("<script>") && html.contains("<h2>&lt;b&gt;</h2>") && html.contains("<code>&lt;i&gt;"), "{html}");
    }
}
