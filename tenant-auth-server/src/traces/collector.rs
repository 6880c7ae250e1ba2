//! The pipeline from the service's `tracing` spans to a collector. Spans are batched on a thread of their own, in a queue of bounded
//! length: where the collector is slow or away, spans are lost and no request waits.

use std::time::Duration;

use opentelemetry::{KeyValue, trace::TracerProvider};
use opentelemetry_sdk::{
    Resource,
    resource::EnvResourceDetector,
    trace::{Sampler, SdkTracerProvider},
};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::{Layer, filter::filter_fn};
use url::Url;

use super::exporter;
use crate::{failure::Failure, logging::SpanLayer};

/// How long a stopping program waits for the collector to take the last spans.
const PATIENCE: Duration = Duration::from_secs(3);

/// The export of this program's spans, if there is a collector.
#[derive(Debug)]
pub(crate) struct Traces(Option<SdkTracerProvider>);

impl Traces {
    /// To the collector at this URL. Nothing is sent yet, so a collector that is away is no reason not to start.
    ///
    /// # Errors
    /// [`Failure::Settings`] for a URL that cannot be used.
    pub(crate) fn to(endpoint: Option<&Url>) -> Result<Self, Failure> {
        let Some(endpoint) = endpoint else { return Ok(Self(None)) };
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter::to(endpoint)?)
            // Every trace, whatever a caller's `traceparent` says of sampling: strangers must not switch traces on or off.
            .with_sampler(Sampler::AlwaysOn)
            .with_resource(resource())
            .build();
        Ok(Self(Some(provider)))
    }

    /// The layer that exports our spans, at every level. Log lines stay in the log: a span has no text that was made for one.
    pub(crate) fn layer(&self) -> Option<SpanLayer> {
        let tracer = self.0.as_ref()?.tracer("tenant-auth");
        let is_ours = filter_fn(|metadata| metadata.is_span() && metadata.target().starts_with("tenant_auth"));
        let layer = tracing_opentelemetry::layer().with_tracer(tracer);
        let layer = layer.with_location(false).with_threads(false).with_tracked_inactivity(false).with_target(false);
        Some(layer.with_filter(is_ours.with_max_level_hint(LevelFilter::DEBUG)).boxed())
    }

    /// Sends the spans that are still here. To be called last: a span that ends later is lost.
    pub(crate) async fn flush(self) {
        let Some(provider) = self.0 else { return };
        let flushed = tokio::task::spawn_blocking(move || provider.shutdown_with_timeout(PATIENCE)).await;
        if !matches!(flushed, Ok(Ok(()))) {
            tracing::warn!("the last spans did not reach the collector");
        }
    }
}

/// What the program says of itself. `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` override it.
fn resource() -> Resource {
    let own = [KeyValue::new("service.name", "tenant-auth"), KeyValue::new("service.version", env!("CARGO_PKG_VERSION"))];
    let named = std::env::var("OTEL_SERVICE_NAME").ok().filter(|name| !name.is_empty());
    let named = named.map(|name| KeyValue::new("service.name", name));
    Resource::builder_empty()
        .with_attributes(own)
        .with_detector(Box::new(EnvResourceDetector::new()))
        .with_attributes(named)
        .build()
}
