//! Logging, to stderr: stdout is for the output of commands. With the format `json` every line is one JSON object, also at the
//! start, at a refusal to start and at a panic, so that a log collector needs one parser. A server writes through a queue, so that whoever
//! reads the log holds no request up.

mod queue;

use std::{
    backtrace::{Backtrace, BacktraceStatus},
    io::{self, IsTerminal, Write},
    panic::PanicHookInfo,
    sync::atomic::{AtomicBool, Ordering},
};

use serde_json::json;

use tracing_subscriber::{EnvFilter, Layer, Registry, layer::SubscriberExt, util::SubscriberInitExt};

use crate::settings::LogFormat;
use queue::Lines;
pub(crate) use queue::lost_lines;

/// A layer beside the log that takes spans.
pub(crate) type SpanLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// Starts the logging of a command that does one thing. Does nothing when logging has already started.
pub(crate) fn start(filter: &str, format: LogFormat) {
    subscribe(None, filter, format);
}

/// Starts the logging of a server, through the queue, with a layer that takes the spans whatever the log's filter says.
pub(crate) fn start_serving(spans: Option<SpanLayer>, filter: &str, format: LogFormat) {
    queue::begin();
    if !speaks_json() {
        // The standard hook writes to stderr by itself, and a thread that panics would wait for the log's reader.
        std::panic::set_hook(Box::new(|panic| tell("ERROR", &told(panic))));
    }
    subscribe(spans, filter, format);
}

fn subscribe(spans: Option<SpanLayer>, filter: &str, format: LogFormat) {
    let filter = EnvFilter::new(filter);
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(io::stderr().is_terminal())
        // Told on stderr, a line that cannot be written to stderr would panic and end the server.
        .log_internal_errors(false)
        .with_writer(|| Lines);
    let registry = tracing_subscriber::registry().with(spans);
    let is_json = format == LogFormat::Json || speaks_json();
    // An error means that there is a subscriber already; lines go there then.
    let _ = match is_json {
        true => registry.with(lines.json().with_filter(filter)).try_init(),
        false => registry.with(lines.with_filter(filter)).try_init(),
    };
}

/// Has what was logged written before the program ends, however it ends: held by what runs the program.
pub(crate) struct WrittenAtTheEnd;

impl Drop for WrittenAtTheEnd {
    fn drop(&mut self) {
        queue::flush();
    }
}

/// A panic as the standard hook tells it.
fn told(panic: &PanicHookInfo<'_>) -> String {
    let thread = std::thread::current();
    let text = format!("thread '{}' {panic}", thread.name().unwrap_or("<unnamed>"));
    let backtrace = Backtrace::capture();
    match backtrace.status() {
        BacktraceStatus::Captured => format!("{text}\nstack backtrace:\n{backtrace}"),
        _ => text,
    }
}

/// Whether lines outside the log (refusals, remarks, panics) are JSON objects, too.
static IS_JSON: AtomicBool = AtomicBool::new(false);

/// Makes these lines JSON objects from now on.
pub(crate) fn speak_json() {
    IS_JSON.store(true, Ordering::Relaxed);
    std::panic::set_hook(Box::new(|panic| tell("ERROR", &panic.to_string())));
}

/// Prints to stdout where the server listens. When stdout is closed, the log tells it. In a terminal, the warnings of the start stand
/// before it.
pub(crate) fn announce(line: &str) {
    queue::flush();
    let _ = io::stdout().write_all(told_as("INFO", line).as_bytes());
}

/// Whether lines outside the log are JSON objects.
pub(crate) fn speaks_json() -> bool {
    IS_JSON.load(Ordering::Relaxed)
}

/// Prints to stderr what a command says beside its outcome.
pub(crate) fn remark(line: &str) {
    tell("INFO", line);
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
            true => tell("ERROR", line),
            false => tell("ERROR", &format!("error: {line}")),
        }
    }
}

/// Writes a line to stderr, behind those of the log. A line that cannot be written is lost, without further effect.
fn tell(level: &str, line: &str) {
    let _ = Lines.write_all(told_as(level, line).as_bytes());
}

fn told_as(level: &str, line: &str) -> String {
    match speaks_json() {
        true => format!("{}\n", json!({ "level": level, "fields": { "message": line }, "target": "tenant_auth_server" })),
        false => format!("{line}\n"),
    }
}

/// Logs warnings.
pub(crate) fn warn_of(warnings: &[String]) {
    for warning in warnings {
        tracing::warn!("{warning}");
    }
}
