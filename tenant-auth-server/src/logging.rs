//! Log lines go to stderr: stdout belongs to what a command was asked for.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::settings::LogFormat;

/// Starts writing log lines. Does nothing when it was done before.
pub(crate) fn start(filter: &str, format: LogFormat) {
    let builder = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(filter))
        .with_ansi(std::io::stderr().is_terminal())
        // Told on stderr, a line that cannot be written to stderr would panic and end the server.
        .log_internal_errors(false)
        .with_writer(std::io::stderr);
    // An error means that there is a subscriber already; lines go there then.
    let _ = match format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
}

/// Says what is worth a look.
pub(crate) fn warn_of(warnings: &[String]) {
    for warning in warnings {
        tracing::warn!("{warning}");
    }
}
