//! The HTTP client of the isolation check: requests as a stranger would send them. No redirect is followed and no cookie kept.

use std::time::Duration;

use reqwest::{Client, Method, redirect::Policy};
use serde_json::Value;
use tenant_auth_core::value::is_loopback_for_secrets;
use url::Url;

use crate::failure::Failure;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// Where the API lies when the URL does not say.
const BASE: &str = "/api/v1";

/// A deployment.
pub(super) struct Service {
    client: Client,
    base: String,
}

/// One request.
#[derive(Debug, Clone)]
pub(super) struct Ask {
    pub(super) method: Method,
    /// Below the base path, with its query.
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Option<Value>,
}

/// What came back.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// The envelope's `code`; empty without one.
    pub(super) code: String,
    pub(super) text: String,
    pub(super) cookies: Vec<String>,
}

impl Ask {
    pub(super) fn new(method: &str, path: impl Into<String>) -> Self {
        let method = method.parse().unwrap_or(Method::GET);
        Self { method, path: path.into(), headers: Vec::new(), body: None }
    }

    pub(super) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    pub(super) fn with_all(mut self, headers: &[(String, String)]) -> Self {
        self.headers.extend_from_slice(headers);
        self
    }

    pub(super) fn json(mut self, body: Option<Value>) -> Self {
        self.body = body;
        self
    }

    /// Whether the request itself says this: an answer that repeats it gives nothing away.
    pub(super) fn says(&self, text: &str) -> bool {
        let in_headers = self.headers.iter().any(|(_, value)| value.contains(text));
        in_headers || self.path.contains(text) || self.body.as_ref().is_some_and(|body| body.to_string().contains(text))
    }
}

impl Answer {
    /// The envelope's `data`; null without one.
    pub(super) fn data(&self) -> Value {
        let envelope: Value = serde_json::from_str(&self.text).unwrap_or_default();
        envelope["data"].clone()
    }
}

impl Service {
    /// The service at a URL: over https, or over http on this machine, because credentials are sent.
    ///
    /// # Errors
    /// [`Failure::Unchecked`] for another URL.
    pub(super) fn at(url: &Url) -> Result<Self, Failure> {
        if url.scheme() != "https" && !(url.scheme() == "http" && is_loopback_for_secrets(url)) {
            return Err(Failure::Unchecked("--url must be https, or http on this machine: credentials are sent there.".to_owned()));
        }
        let path = url.path().trim_end_matches('/');
        let base = format!("{}{}", url.origin().ascii_serialization(), if path.is_empty() { BASE } else { path });
        let client = Client::builder().redirect(Policy::none()).timeout(PATIENCE).no_proxy().build();
        let client = client.map_err(|error| Failure::Unchecked(format!("There is no HTTP client: {error}")))?;
        Ok(Self { client, base })
    }

    /// `https://auth.example.com/api/v1`
    pub(super) fn base(&self) -> String {
        self.base.clone()
    }

    /// `auth.example.com`, with the port where it is not the usual one.
    pub(super) fn host(&self) -> &str {
        let (_, rest) = self.base.split_once("://").unwrap_or_default();
        rest.split('/').next().unwrap_or_default()
    }

    /// Sends a request.
    ///
    /// # Errors
    /// Why there was no answer.
    pub(super) async fn answer(&self, ask: &Ask) -> Result<Answer, String> {
        let mut request = self.client.request(ask.method.clone(), format!("{}{}", self.base, ask.path));
        for (name, value) in &ask.headers {
            request = request.header(name, value);
        }
        if let Some(body) = &ask.body {
            request = request.header("Content-Type", "application/json").body(body.to_string());
        }
        let answer = request.send().await.map_err(|error| error.without_url().to_string())?;
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        let text = answer.text().await.map_err(|error| error.without_url().to_string())?;
        let envelope: Value = serde_json::from_str(&text).unwrap_or_default();
        let cookies = headers.get_all("set-cookie").iter().filter_map(|value| value.to_str().ok()).map(str::to_owned).collect();
        Ok(Answer { status, code: envelope["code"].as_str().unwrap_or_default().to_owned(), text, cookies })
    }

    /// What an answer of 200 holds.
    ///
    /// # Errors
    /// [`Failure::Unchecked`] for any other; `what` says what was tried.
    pub(super) async fn data(&self, ask: &Ask, what: &str) -> Result<Value, Failure> {
        match self.answer(ask).await {
            Ok(answer) if answer.status == 200 => Ok(answer.data()),
            Ok(Answer { status, code, .. }) => Err(Failure::Unchecked(format!("{what}: the answer was {status} {code}"))),
            Err(reason) => Err(Failure::Unchecked(format!("{what}: {reason}"))),
        }
    }
}
