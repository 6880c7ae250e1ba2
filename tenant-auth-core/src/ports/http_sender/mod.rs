//! The shipped webhook sender: HTTP/1.1 through reqwest, TLS with rustls. A receiver is a stranger that our server was told to call
//! (SSRF), so a connection leads only to an address vetted for this attempt, no redirect and no proxy can change that, and a
//! hostile receiver costs at most the attempt's time and some hundred kilobytes.

mod counted;
mod failure;
mod pinned;
#[cfg(test)]
mod tests;

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use reqwest::{Client, header::RETRY_AFTER, redirect, retry};
use rustls::{
    ClientConfig,
    crypto::{CryptoProvider, aws_lc_rs},
    pki_types::{CertificateDer, pem::PemObject},
};
use rustls_platform_verifier::Verifier;
use tokio::time::{Instant, timeout_at};

use self::{counted::Counting, pinned::Pinned};
use super::{RetryAfter, SendError, Sender, WebhookRequest, WebhookResponse};

const PRODUCT: &str = concat!("tenant-auth/", env!("CARGO_PKG_VERSION"));
/// The time limit for connecting and TLS, for all addresses of a host together. hyper divides it among the addresses, so that an
/// address that swallows packets leaves time for the next one.
const CONNECT_WITHIN: Duration = Duration::from_secs(10);
/// The idle timeout of a connection, and the age of a pool at which it gets no new attempts, however busy it is: a connection's
/// address was vetted for the attempt that opened it, and DNS answers change.
const REUSED_FOR: Duration = Duration::from_secs(30);
/// The most idle connections kept for one receiver: as many attempts as a worker makes at a quick one at once.
const IDLE_PER_HOST: usize = 8;
/// The most connections one pool may open; this also limits how many can be idle.
const OPENED_BY_ONE_POOL: u32 = 256;
/// The most bytes read of an answer's body, only so that the connection can be reused; a connection with a longer body is closed.
const READ_OF_A_BODY: usize = 4 * 1024;
/// The time limit for the body after the status.
const BODY_WITHIN: Duration = Duration::from_millis(500);

/// A sender of webhooks over HTTP. Clone the `Arc` it is in: connections are shared.
#[derive(Debug)]
pub struct HttpSender {
    tls: ClientConfig,
    reused_for: Duration,
    pool: Mutex<Pool>,
}

/// An HTTP client with its connection pool, replaced before its connections grow old or many.
#[derive(Debug, Clone)]
struct Pool {
    client: Client,
    since: Instant,
    opened: Arc<AtomicU32>,
}

/// HTTPS cannot be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SenderSetupError {
    /// The system has no root certificates, or rustls refuses its settings.
    #[error("TLS for webhooks cannot be set up (are the system's root certificates installed?): {0}")]
    Tls(String),
    /// The additional root certificates are not PEM.
    #[error("the root certificates must be PEM blocks of the type CERTIFICATE: {0}")]
    Certificates(String),
    /// The HTTP client refuses its settings.
    #[error("the HTTP client for webhooks cannot be set up: {0}")]
    Client(String),
}

impl HttpSender {
    /// About the most connections that it keeps open between attempts: a few may be opened at the bound, and a pool that was replaced closes
    /// its own once its last attempt is over.
    pub const CONNECTIONS: usize = OPENED_BY_ONE_POOL as usize;

    /// Trusts the operating system's root certificates.
    ///
    /// # Errors
    /// [`SenderSetupError::Tls`] when the system has none.
    pub fn new() -> Result<Self, SenderSetupError> {
        Self::trusting(Vec::new())
    }

    /// Trusts these root certificates (PEM, any number) beside the operating system's; for receivers with a private authority.
    ///
    /// # Errors
    /// [`SenderSetupError::Certificates`] when there is none in `pem` or one cannot be read.
    pub fn with_root_certificates(pem: &[u8]) -> Result<Self, SenderSetupError> {
        let roots: Vec<_> = CertificateDer::pem_slice_iter(pem)
            .collect::<Result<_, _>>()
            .map_err(|error| SenderSetupError::Certificates(error.to_string()))?;
        if roots.is_empty() {
            return Err(SenderSetupError::Certificates("there is none".to_owned()));
        }
        Self::trusting(roots)
    }

    fn trusting(roots: Vec<CertificateDer<'static>>) -> Result<Self, SenderSetupError> {
        let tls = tls_config(roots, Arc::new(aws_lc_rs::default_provider())).map_err(|e| SenderSetupError::Tls(e.to_string()))?;
        let pool = Pool::open(&tls).map_err(|error| SenderSetupError::Client(error.to_string()))?;
        Ok(Self { tls, reused_for: REUSED_FOR, pool: Mutex::new(pool) })
    }

    /// The client to use now. A replaced client closes its connections once its last attempt is over.
    fn client(&self) -> reqwest::Result<Pool> {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        if pool.since.elapsed() >= self.reused_for || pool.opened.load(Ordering::Relaxed) >= OPENED_BY_ONE_POOL {
            *pool = Pool::open(&self.tls)?;
        }
        Ok(pool.clone())
    }

    async fn post(&self, request: WebhookRequest) -> Result<reqwest::Response, SendError> {
        let pool = self.client().map_err(failure::of)?;
        let pinned = Pinned::to(&request)?;
        let mut post = pool.client.post(request.url).body(request.body);
        for (name, value) in request.headers {
            post = post.header(name, value);
        }
        pinned.during(post.send()).await.map_err(failure::of)
    }
}

#[async_trait]
impl Sender for HttpSender {
    async fn send(&self, request: WebhookRequest) -> Result<WebhookResponse, SendError> {
        let deadline = Instant::now() + request.timeout;
        let response = timeout_at(deadline, self.post(request)).await.map_err(|_| SendError::Timeout)??;
        let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()).and_then(RetryAfter::parse);
        let answer = WebhookResponse { status: response.status().as_u16(), retry_after };
        // The status is the answer; how the body ends changes nothing.
        let _ = timeout_at(deadline.min(Instant::now() + BODY_WITHIN), finish(response)).await;
        Ok(answer)
    }
}

/// Reads a short body to its end, so that the connection can be used again; a long one is dropped, and the connection with it.
async fn finish(mut response: reqwest::Response) {
    let mut read = 0;
    while let Ok(Some(chunk)) = response.chunk().await {
        read += chunk.len();
        if read > READ_OF_A_BODY {
            return;
        }
    }
}

impl Pool {
    fn open(tls: &ClientConfig) -> reqwest::Result<Self> {
        let opened = Arc::<AtomicU32>::default();
        let client = Client::builder()
            .tls_backend_preconfigured(tls.clone())
            .dns_resolver(pinned::Addresses)
            .http1_only()
            .no_proxy()
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .referer(false)
            .user_agent(PRODUCT)
            .connect_timeout(CONNECT_WITHIN)
            .pool_idle_timeout(REUSED_FOR)
            .pool_max_idle_per_host(IDLE_PER_HOST)
            .connector_layer(Counting(Arc::clone(&opened)))
            .build()?;
        Ok(Self { client, since: Instant::now(), opened })
    }
}

fn tls_config(roots: Vec<CertificateDer<'static>>, provider: Arc<CryptoProvider>) -> Result<ClientConfig, rustls::Error> {
    let verifier = Verifier::new_with_extra_roots(roots, Arc::clone(&provider))?;
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous() // rustls' word for a verifier of one's own; this one asks the operating system
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
