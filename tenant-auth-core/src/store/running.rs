//! The running of a statement inside a span, with its name.

use std::future::Future;

use tracing::{Instrument, field::Empty};

use crate::error::Error;

/// The name of a statement, by its path.
pub(in crate::store) fn name_of(path: &'static str) -> &'static str {
    path.rsplit_once("::sql::").map_or(path, |(_, name)| name)
}

/// Runs a statement inside a span with its name and, once it has answered, the number of its rows. `failed` says what its failure means.
pub(in crate::store) async fn traced<T>(
    path: &'static str,
    rows: fn(&T) -> u64,
    failed: fn(&'static str, sqlx::Error) -> Error,
    running: impl Future<Output = sqlx::Result<T>> + Unpin,
) -> Result<T, Error> {
    // Named only where it is told: finding the name costs more than a span that nobody hears.
    let span = tracing::debug_span!(target: "tenant_auth::statements", "statement", name = name_of(path), rows = Empty);
    let outcome = running.instrument(span.clone()).await;
    match outcome {
        Ok(answer) => {
            span.record("rows", rows(&answer));
            Ok(answer)
        }
        Err(error) => Err(failed(name_of(path), error)),
    }
}
