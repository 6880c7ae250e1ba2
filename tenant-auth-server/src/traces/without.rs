//! A program that was built without the feature `otlp`: no span leaves it.

use axum::Router;
use url::Url;

use crate::{failure::Failure, logging::SpanLayer};

/// No export.
#[derive(Debug)]
pub(crate) struct Traces;

impl Traces {
    /// Nothing; the settings refuse a collector in such a program.
    ///
    /// # Errors
    /// None.
    pub(crate) fn to(_: Option<&Url>) -> Result<Self, Failure> {
        Ok(Self)
    }

    /// Nothing.
    pub(crate) fn layer(&self) -> Option<SpanLayer> {
        None
    }

    /// Nothing.
    #[expect(clippy::unused_async, reason = "with the feature, the last spans are waited for")]
    pub(crate) async fn flush(self) {}
}

/// The routes as they are.
pub(crate) fn continued(routes: Router) -> Router {
    routes
}
