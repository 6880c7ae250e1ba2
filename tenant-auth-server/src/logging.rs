//! Logging, to stderr: stdout is for the output of commands. With the format `json` every line is one JSON object, also at the
//! start, at a refusal to start and at a panic, so that a log collector needs one parser.

use std::{
    io::{self, IsTerminal, Write},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

use serde_json::json;

use tracing_subscriber::{EnvFilter, Layer, Registry, layer::SubscriberExt, util::SubscriberInitExt};

use crate::settings::LogFormat;

/// A layer beside the log that takes spans.
pub(crate) type SpanLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// Starts logging. Does nothing when logging has already started.
pub(crate) fn start(filter: &str, format: LogFormat) {
    start_beside(None, filter, format);
}

/// The same, with a layer that takes the spans whatever the log's filter says.
pub(crate) fn start_beside(spans: Option<SpanLayer>, filter: &str, format: LogFormat) {
    let filter = EnvFilter::new(filter);
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(std::io::stderr().is_terminal())
        // Told on stderr, a line that cannot be written to stderr would panic and end the server.
        .log_internal_errors(false)
        .with_writer(|| CountingLosses(io::stderr()));
    let registry = tracing_subscriber::registry().with(spans);
    let is_json = format == LogFormat::Json || speaks_json();
    // An error means that there is a subscriber already; lines go there then.
    let _ = match is_json {
        true => registry.with(lines.json().with_filter(filter)).try_init(),
        false => registry.with(lines.with_filter(filter)).try_init(),
    };
}

/// How many log lines could not be written, because the volume is full or whoever reads them is gone.
pub(crate) fn lost_lines() -> u64 {
    LOST.load(Ordering::Relaxed)
}

static LOST: AtomicU64 = AtomicU64::new(0);

/// A writer of log lines, of which each comes as one write.
struct CountingLosses<W>(W);

impl<W: Write> Write for CountingLosses<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.write(line).inspect_err(|_| {
            LOST.fetch_add(1, Ordering::Relaxed);
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Whether lines outside the log (refusals, remarks, panics) are JSON objects, too.
static IS_JSON: AtomicBool = AtomicBool::new(false);

/// Makes these lines JSON objects from now on.
pub(crate) fn speak_json() {
    IS_JSON.store(true, Ordering::Relaxed);
    std::panic::set_hook(Box::new(|panic| tell(io::stderr(), "ERROR", &panic.to_string())));
}

/// Prints to stdout where the server listens. When stdout is closed, the log tells it.
pub(crate) fn announce(line: &str) {
    tell(io::stdout(), "INFO", line);
}

/// Whether lines outside the log are JSON objects.
pub(crate) fn speaks_json() -> bool {
    IS_JSON.load(Ordering::Relaxed)
}

/// Prints to stderr what a command says beside its outcome.
pub(crate) fn remark(line: &str) {
    tell(io::stderr(), "INFO", line);
}

/// Asks on stderr for what is typed on stdin.
pub(crate) fn ask(question: &str) {
    match speaks_json() {
        true => remark(question),
        false => drop(write!(io::stderr(), "{question} ")),
    }
}

/// Prints to stderr why the program ends. When stderr is closed, the exit code still tells it.
pub(crate) fn complain(text: &str) {
    for line in text.lines() {
        match speaks_json() {
            true => tell(io::stderr(), "ERROR", line),
            false => tell(io::stderr(), "ERROR", &format!("error: {line}")),
        }
    }
}

/// Writes a line. A line that cannot be written is lost, without further effect.
fn tell(mut to: impl Write, level: &str, line: &str) {
    let _ = match speaks_json() {
        true => writeln!(to, "{}", json!({ "level": level, "fields": { "message": line }, "target": "tenant_auth_server" })),
        false => writeln!(to, "{line}"),
    };
}

/// Logs warnings.
pub(crate) fn warn_of(warnings: &[String]) {
    for warning in warnings {
        tracing::warn!("{warning}");
    }
}
