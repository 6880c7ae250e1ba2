//! Log lines go to stderr: stdout belongs to what a command was asked for. With the format `json` every line is one JSON object, those
//! of the start, of a refusal to start and of a panic included, so that whatever collects them needs one parser.

use std::{
    io::{self, IsTerminal, Write},
    sync::atomic::{AtomicBool, Ordering},
};

use serde_json::json;

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
    let _ =
        if format == LogFormat::Json || IS_JSON.load(Ordering::Relaxed) { builder.json().try_init() } else { builder.try_init() };
}

/// Whether lines that are no log lines are JSON objects, too.
static IS_JSON: AtomicBool = AtomicBool::new(false);

/// From here on lines are JSON objects.
pub(crate) fn speak_json() {
    IS_JSON.store(true, Ordering::Relaxed);
    std::panic::set_hook(Box::new(|panic| tell(io::stderr(), "ERROR", &panic.to_string())));
}

/// Tells something on stdout: where the server listens. Where stdout is closed, the log tells.
pub(crate) fn announce(line: &str) {
    tell(io::stdout(), "INFO", line);
}

/// Tells why the program ends. Where stderr is closed, the exit code still tells.
pub(crate) fn complain(text: &str) {
    for line in text.lines() {
        match IS_JSON.load(Ordering::Relaxed) {
            true => tell(io::stderr(), "ERROR", line),
            false => tell(io::stderr(), "ERROR", &format!("error: {line}")),
        }
    }
}

/// A line that cannot be written is lost and nothing else.
fn tell(mut to: impl Write, level: &str, line: &str) {
    let _ = match IS_JSON.load(Ordering::Relaxed) {
        true => writeln!(to, "{}", json!({ "level": level, "fields": { "message": line }, "target": "tenant_auth_server" })),
        false => writeln!(to, "{line}"),
    };
}

/// Says what is worth a look.
pub(crate) fn warn_of(warnings: &[String]) {
    for warning in warnings {
        tracing::warn!("{warning}");
    }
}
