//! The port for sending webhooks. The worker vets the target (SSRF protection), hands a [`WebhookRequest`] over and records the
//! outcome; the retry schedule, signatures and the choice of addresses are the worker's. A sender returns a status and a
//! `Retry-After`, never a body, so that no one can use a webhook to read what an internal service says.

use std::{fmt, net::SocketAddr, time::Duration};

use async_trait::async_trait;
use url::Url;

use super::RetryAfter;

/// One attempt at one delivery: a POST of JSON.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookRequest {
    /// The URL; http or https.
    pub url: Url,
    /// Headers beside `Host`, `Content-Length` and `User-Agent`.
    pub headers: Vec<(&'static str, String)>,
    /// The payload, byte for byte as it was signed.
    pub body: String,
    /// The time limit of the whole attempt: connecting, TLS, writing and the answer.
    pub timeout: Duration,
    /// The addresses of the URL's host that were vetted for this attempt, with its port. Connect to nothing else.
    pub addresses: Vec<SocketAddr>,
}

impl fmt::Debug for WebhookRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookRequest([redacted])") // personal data, and URLs that hold a credential in their path
    }
}

/// A receiver's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebhookResponse {
    /// The HTTP status; the caller decides which ones are a success.
    pub status: u16,
    /// The `Retry-After` of the answer, if it has one that can be read.
    pub retry_after: Option<RetryAfter>,
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// SSRF protection forbids the target; nothing was sent.
    #[error("blocked")]
    Blocked,
    /// The name has no address, no server listens there, or the connection ended without an HTTP answer.
    #[error("unreachable")]
    Unreachable,
    /// The answer did not come in time.
    #[error("timeout")]
    Timeout,
    /// The certificate is not trusted, or the two sides cannot agree on TLS.
    #[error("tls")]
    Tls,
}

impl SendError {
    /// The text of the error in `lastError` (behaviour.md, B109).
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Blocked => "blocked",
            Self::Unreachable => "unreachable",
            Self::Timeout => "timeout",
            Self::Tls => "tls",
        }
    }
}

/// Sends webhooks.
#[async_trait]
pub trait Sender: fmt::Debug + Send + Sync {
    /// Makes one attempt and follows no redirect. Any status is an answer.
    ///
    /// # Errors
    /// [`SendError`] when there was no answer.
    async fn send(&self, request: WebhookRequest) -> Result<WebhookResponse, SendError>;
}

/// A test double: keeps the newest 1,000 requests and answers as a test told it.
#[cfg(feature = "testing")]
#[derive(Debug, Default)]
pub struct RecordingSender {
    script: std::sync::Mutex<Script>,
    released: tokio::sync::Notify,
}

#[cfg(feature = "testing")]
#[derive(Debug, Default)]
struct Script {
    sent: std::collections::VecDeque<WebhookRequest>,
    answers: std::collections::HashMap<String, std::collections::VecDeque<Result<WebhookResponse, SendError>>>,
    held: std::collections::HashSet<String>,
}

#[cfg(feature = "testing")]
impl RecordingSender {
    /// All requests so far, oldest first; attempts that are held included.
    pub fn sent(&self) -> Vec<WebhookRequest> {
        self.script().sent.iter().cloned().collect()
    }

    /// Appends an answer of `url`: each answer is given once, the last one for ever. Without any, the answer is 200.
    pub fn answer(&self, url: &str, answer: Result<WebhookResponse, SendError>) {
        self.script().answers.entry(url.to_owned()).or_default().push_back(answer);
    }

    /// Makes `url` hang: attempts at it do not end, however long their timeout, until [`RecordingSender::release`].
    pub fn hold(&self, url: &str) {
        self.script().held.insert(url.to_owned());
    }

    /// Answers the attempts at `url` that hang, and all later ones.
    pub fn release(&self, url: &str) {
        self.script().held.remove(url);
        self.released.notify_waiters();
    }

    fn script(&self) -> std::sync::MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    async fn until_released(&self, url: &str) {
        loop {
            let mut released = std::pin::pin!(self.released.notified());
            released.as_mut().enable(); // before the look, or a release between the two would be missed
            if !self.script().held.contains(url) {
                return;
            }
            released.await;
        }
    }
}

#[cfg(feature = "testing")]
#[async_trait]
impl Sender for RecordingSender {
    async fn send(&self, request: WebhookRequest) -> Result<WebhookResponse, SendError> {
        let url = request.url.to_string();
        {
            let mut script = self.script();
            if script.sent.len() == 1_000 {
                script.sent.pop_front();
            }
            script.sent.push_back(request);
        }
        self.until_released(&url).await;
        let mut script = self.script();
        let next = script.answers.get_mut(&url).and_then(|answers| match answers.len() {
            0 | 1 => answers.front().copied(),
            _ => answers.pop_front(),
        });
        next.unwrap_or(Ok(WebhookResponse { status: 200, retry_after: None }))
    }
}

#[cfg(all(test, feature = "testing"))]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_double_answers_in_order_and_hangs_when_told() {
        let sender = RecordingSender::default();
        let url = "https://example.com/";
        let request = WebhookRequest {
            url: url.parse().expect("a URL"),
            headers: Vec::new(),
            body: String::new(),
            timeout: Duration::from_secs(1),
            addresses: Vec::new(),
        };
        assert_eq!(sender.send(request.clone()).await.map(|answer| answer.status), Ok(200));
        sender.answer(url, Err(SendError::Tls));
        sender.answer(url, Ok(WebhookResponse { status: 410, retry_after: None }));
        assert_eq!(sender.send(request.clone()).await, Err(SendError::Tls));
        sender.hold(url);
        let (answer, ()) = tokio::join!(sender.send(request), async {
            assert_eq!(sender.sent().len(), 3, "an attempt that hangs is seen");
            sender.release(url);
        });
        assert_eq!(answer.map(|answer| answer.status), Ok(410));
    }
}
