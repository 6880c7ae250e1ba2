//! The exporter: sends batches of spans over HTTP, and says once that a collector does not take them.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{SpanData, SpanExporter},
};
use reqwest::redirect;
use tokio::runtime::Handle;
use url::Url;

use super::conventions::conventional;
use crate::{
    failure::Failure,
    settings::{InvalidSettings, OTLP_ENDPOINT},
};

/// How long the collector may take for one batch, retries included.
const TIMEOUT: Duration = Duration::from_secs(10);

/// An exporter to the collector at this URL. Request headers, such as a collector's key, come from `OTEL_EXPORTER_OTLP_HEADERS`.
///
/// # Errors
/// [`Failure::Settings`] for a URL that cannot be used.
pub(super) fn to(endpoint: &Url) -> Result<impl SpanExporter + 'static, Failure> {
    let unusable = |reason: String| Failure::from(InvalidSettings::setting(&OTLP_ENDPOINT, format!("cannot be used: {reason}")));
    let client = reqwest::Client::builder().timeout(TIMEOUT).redirect(redirect::Policy::none()).no_proxy().build();
    let client = Client { http: client.map_err(|error| unusable(error.to_string()))?, runtime: Handle::current() };
    let exporter = opentelemetry_otlp::SpanExporter::builder()
        .with_http()
        .with_http_client(client)
        .with_protocol(Protocol::HttpBinary)
        .with_timeout(TIMEOUT)
        .with_endpoint(format!("{}/v1/traces", endpoint.as_str().trim_end_matches('/')))
        .build()
        .map_err(|error| unusable(error.to_string()))?;
    Ok(Outspoken { exporter, is_failing: AtomicBool::new(false) })
}

/// The HTTP client on the program's runtime. The thread that exports has none, and reqwest needs one.
#[derive(Debug)]
struct Client {
    http: reqwest::Client,
    runtime: Handle,
}

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let http = self.http.clone();
        self.runtime.spawn(async move { http.send_bytes(request).await }).await?
    }
}

/// An exporter of spans with conventional names, that logs when exports begin to fail, and when they succeed again: not each failure,
/// because a collector may be away for days.
#[derive(Debug)]
struct Outspoken<E> {
    exporter: E,
    is_failing: AtomicBool,
}

impl<E: SpanExporter> SpanExporter for Outspoken<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let outcome = self.exporter.export(batch.into_iter().map(conventional).collect()).await;
        let was_failing = self.is_failing.swap(outcome.is_err(), Ordering::Relaxed);
        match &outcome {
            Err(error) if !was_failing => {
                tracing::warn!(%error, "the collector does not take spans; they are lost until it does, which will be said");
            }
            Ok(()) if was_failing => tracing::info!("the collector takes spans again"),
            Ok(()) | Err(_) => {}
        }
        outcome
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}
