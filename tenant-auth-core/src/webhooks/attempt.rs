//! One delivery attempt and the retry schedule: vet the target again (SSRF protection), sign the payload with every live secret,
//! send it, and decide when to retry. The schedule, `Retry-After` and the disabling of an endpoint: behaviour.md, B104 and B105.

use std::{future::Future, sync::Arc, time::Duration};

use tokio::sync::Semaphore;
use tracing::{Instrument, Span, field::Empty};

use super::{SigningSecret, secrets, slots::QUICK};
use crate::{
    error::Error,
    id::WebhookId,
    model::{DeliveryAttempt, DeliveryError, DeliveryStatus, Webhook},
    ports::{RetryAfter, SendError, WebhookRequest, WebhookResponse},
    service::TenantAuth,
    store::{Attempted, ClaimedDelivery, SealedSecret, Tx},
    time::Timestamp,
};

/// The longest `Retry-After` that is honoured.
const MOST_PATIENCE: Duration = Duration::from_secs(24 * 3_600);
/// Jitter of the retry schedule, in percent up or down, so that deliveries that failed together are not retried together.
const JITTER_PERCENT: u64 = 15;
/// How long after the timeout an attempt is abandoned, in case a host's own sender does not keep to the timeout.
const SENDER_GRACE: Duration = Duration::from_secs(1);
/// How long a claimed delivery stands in line for a lane of its endpoint. What waits longer is given back: its lease is running.
const LINE: Duration = Duration::from_millis(250);
/// HTTP 410 Gone: the receiver says that the endpoint is removed for good.
const GONE: u16 = 410;

/// A webhook and the secrets that sign its deliveries.
#[derive(Debug)]
pub(super) struct Endpoint {
    pub(super) webhook: Webhook,
    pub(super) secrets: Vec<SigningSecret>,
}

/// The result of one attempt, not yet recorded.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) claim: ClaimedDelivery,
    pub(super) attempted: Attempted,
    /// Whether the endpoint answered 410 Gone.
    pub(super) gone: bool,
}

/// How a claim ended.
#[derive(Debug)]
pub(super) enum Ended {
    Attempted(Outcome),
    /// Nothing was sent: the endpoint has become slow, or fails, while this stood in line for it, or the worker stops.
    GivenBack(WebhookId, ClaimedDelivery),
}

impl Outcome {
    pub(super) fn succeeded(&self) -> bool {
        self.attempted.status == DeliveryStatus::Succeeded
    }
}

impl Endpoint {
    /// Opens the secrets that are live now.
    ///
    /// # Errors
    /// [`Error::Internal`] when one does not open, or there is none: nothing is sent unsigned.
    pub(super) fn open(tx: &Tx, webhook: Webhook, stored: &[SealedSecret]) -> Result<Self, Error> {
        let secrets =
            stored.iter().map(|stored| secrets::open_secret(tx, &webhook.org_id, stored)).collect::<Result<Vec<_>, _>>()?;
        if secrets.is_empty() {
            return Err(Error::internal("a webhook without a secret"));
        }
        Ok(Self { webhook, secrets })
    }
}

/// Makes one attempt as soon as one of the endpoint's lanes is free, in a span of its own below the one that is current now. The span
/// holds no URL, because a receiver's URL may hold a secret. An error means that nothing was sent and no outcome is known: the
/// delivery's lease runs out and a worker tries again.
pub(super) fn attempt(
    auth: TenantAuth,
    lanes: Arc<Semaphore>,
    endpoint: Arc<Endpoint>,
    claim: ClaimedDelivery,
) -> impl Future<Output = Result<Ended, Error>> + Send + 'static {
    let round = Span::current();
    async move {
        let Ok(Ok(_lane)) = tokio::time::timeout(LINE, lanes.acquire()).await else {
            return Ok(Ended::GivenBack(endpoint.webhook.id.clone(), claim));
        };
        let (webhook, organization) = (&endpoint.webhook.id, &endpoint.webhook.org_id);
        let span = tracing::info_span!(
            target: "tenant_auth::deliveries", parent: &round, "delivery",
            delivery = %claim.id, webhook = %webhook, organization_id = %organization, attempt = claim.attempt,
            outcome = Empty, status = Empty,
        );
        let outcome = make(&auth, endpoint, claim).instrument(span.clone()).await?;
        let made = outcome.attempted.made;
        if made.error.is_some() || made.took > QUICK {
            lanes.close();
        }
        span.record("outcome", made.error.map_or("succeeded", DeliveryError::as_str));
        span.record("status", made.status_code);
        Ok(Ended::Attempted(outcome))
    }
}

async fn make(auth: &TenantAuth, endpoint: Arc<Endpoint>, mut claim: ClaimedDelivery) -> Result<Outcome, Error> {
    let began = auth.now();
    let payload = claim.payload.take().ok_or_else(|| Error::internal("a delivery's event is gone"))?;
    let answer = match auth.targets().vet(&endpoint.webhook.url, auth.resolver()).await {
        Ok(addresses) => {
            let headers = headers(&endpoint, &claim, &payload, auth.now());
            let (url, timeout) = (endpoint.webhook.url.to_url(), auth.config().webhooks.timeout);
            if claim.lease_until.since(auth.now()) < timeout {
                return Err(Error::internal("it came so late that somebody else might begin before its end"));
            }
            send(auth, WebhookRequest { url, headers, body: payload, timeout, addresses }).await?
        }
        Err(refused) => Err(refused),
    };
    let gone = matches!(&answer, Ok(response) if response.status == GONE);
    let now = auth.now();
    let (status_code, error, patience) = told(&answer);
    let made = DeliveryAttempt { at: began, status_code, error, took: now.since(began) };
    let attempted = judge(auth, claim.attempt, made, patience);
    Ok(Outcome { endpoint, claim, attempted, gone })
}

async fn send(auth: &TenantAuth, request: WebhookRequest) -> Result<Result<WebhookResponse, SendError>, Error> {
    let sender = auth.sender().ok_or_else(|| Error::internal("no sender"))?;
    let limit = request.timeout + SENDER_GRACE;
    Ok(tokio::time::timeout(limit, sender.send(request)).await.unwrap_or(Err(SendError::Timeout)))
}

fn headers(endpoint: &Endpoint, claim: &ClaimedDelivery, payload: &str, now: Timestamp) -> Vec<(&'static str, String)> {
    let timestamp = now.secs().to_string();
    let id = claim.event_id.as_str();
    let signatures: Vec<String> = endpoint.secrets.iter().map(|secret| secret.sign(id, &timestamp, payload.as_bytes())).collect();
    vec![
        ("content-type", "application/json".to_owned()),
        ("webhook-id", id.to_owned()),
        ("webhook-signature", signatures.join(" ")),
        ("webhook-timestamp", timestamp),
    ]
}

fn told(answer: &Result<WebhookResponse, SendError>) -> (Option<u16>, Option<DeliveryError>, Option<RetryAfter>) {
    match answer {
        Ok(response) if (200..300).contains(&response.status) => (Some(response.status), None, None),
        Ok(response) => (Some(response.status), Some(DeliveryError::Status), response.retry_after),
        Err(SendError::Blocked) => (None, Some(DeliveryError::Blocked), None),
        Err(SendError::Unreachable) => (None, Some(DeliveryError::Unreachable), None),
        Err(SendError::Timeout) => (None, Some(DeliveryError::Timeout), None),
        Err(SendError::Tls) => (None, Some(DeliveryError::Tls), None),
    }
}

fn judge(auth: &TenantAuth, attempt: i64, made: DeliveryAttempt, patience: Option<RetryAfter>) -> Attempted {
    if made.error.is_none() {
        return Attempted { status: DeliveryStatus::Succeeded, next_attempt_at: None, made };
    }
    let next_attempt_at = next_attempt(auth, attempt, patience, made.at.plus(made.took));
    let status = if next_attempt_at.is_some() { DeliveryStatus::Pending } else { DeliveryStatus::Failed };
    Attempted { status, next_attempt_at, made }
}

/// The retry schedule: when the attempt after number `attempt` is due. `None` after the last.
fn next_attempt(auth: &TenantAuth, attempt: i64, patience: Option<RetryAfter>, now: Timestamp) -> Option<Timestamp> {
    let made = usize::try_from(attempt).unwrap_or(usize::MAX);
    let wait = auth.config().webhooks.retry_schedule.get(made.saturating_sub(1))?;
    let mut dice = [0u8; 8];
    auth.entropy().fill(&mut dice);
    let percent = 100 - JITTER_PERCENT + u64::from_le_bytes(dice) % (2 * JITTER_PERCENT + 1);
    let scheduled = wait.saturating_mul(u32::try_from(percent).unwrap_or(100)) / 100;
    let asked = patience.map_or(Duration::ZERO, |patience| patience.wait(now)).min(MOST_PATIENCE);
    Some(now.plus(scheduled.max(asked)))
}

#[cfg(all(test, feature = "testing", feature = "sqlite"))]
mod tests {
    use super::*;
    use crate::{id::Id, model::EventSelection, ports::OsEntropy, testing::TestAuth, value::Description, webhooks::NewWebhook};

    /// A claim of a webhook that has no lane free, standing in line.
    async fn standing_in_line() -> (TestAuth, Arc<Semaphore>, impl Future<Output = Result<Ended, Error>>) {
        let test = TestAuth::new().await;
        test.resolver.answer("hooks.acme.example", [std::net::Ipv4Addr::new(93, 184, 216, 34).into()]);
        let (url, events) =
            ("https://hooks.acme.example/inbox".to_owned(), EventSelection::parse(&["*"]).expect("kinds there are"));
        let new = NewWebhook { url, events, description: Description::default() };
        let webhook = test.org_admin().await.create_webhook(new).await.expect("a public target").webhook;
        let now = test.auth.now();
        let (id, event_id) = (Id::generate(now, &OsEntropy), Id::generate(now, &OsEntropy));
        let claim = ClaimedDelivery { id, event_id, attempt: 1, payload: Some("{}".to_owned()), lease_until: now };
        let lanes = Arc::new(Semaphore::new(0));
        let endpoint = Arc::new(Endpoint { webhook, secrets: Vec::new() });
        let attempt = attempt(test.auth.clone(), Arc::clone(&lanes), endpoint, claim);
        (test, lanes, attempt)
    }

    #[tokio::test]
    async fn what_gets_no_lane_in_time_is_given_back() {
        let (_test, _lanes, attempt) = standing_in_line().await;
        assert!(matches!(attempt.await, Ok(Ended::GivenBack(_, claim)) if claim.attempt == 1));
    }

    #[tokio::test]
    async fn a_line_that_is_sent_home_is_given_back_at_once() {
        let (_test, lanes, attempt) = standing_in_line().await;
        let standing = tokio::spawn(attempt);
        tokio::task::yield_now().await;
        lanes.close();
        let ended = tokio::time::timeout(LINE / 2, standing).await.expect("at once").expect("no panic");
        assert!(matches!(ended, Ok(Ended::GivenBack(..))));
    }
}
