//! Logging, to stderr: stdout is for the output of commands. With the format `json` every line is one JSON object, also at the
//! start, at a refusal to start and at a panic, so that a log collector needs one parser. A server writes through a queue, so that whoever
//! reads the log holds no request up.

mod queue;

use std::{
    backtrace::{Backtrace, BacktraceStatus},
    io::{self, IsTerminal, Write},
    panic::PanicHookInfo,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
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
        std::panic::set_hook(Box::new(|panic| tell_panic(&told(panic))));
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

/// Writes what a panic says, and what was logged before it: an abort may follow, which waits for nobody.
fn tell_panic(text: &str) {
    tell("ERROR", text);
    queue::flush();
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
    std::panic::set_hook(Box::new(|panic| tell_panic(&panic.to_string())));
}

/// Has the warnings of the start written: in a terminal they stand before what is printed to stdout. Once in a start, because each wait
/// for a reader of the log that stands still is as long.
pub(crate) fn settle() {
    queue::flush();
}

/// Prints to stdout where the server listens. When stdout is closed, the log tells it. Whoever reads it may stand still, as the log's reader
/// may and often is the same one: after a bounded time the start goes on.
pub(crate) fn announce(lines: &[String]) {
    let text: String = lines.iter().map(|line| told_as("INFO", line)).collect();
    let (done, written) = mpsc::channel();
    let writing = move || {
        let _ = io::stdout().write_all(text.as_bytes());
        let _ = done.send(());
    };
    if thread::Builder::new().name("stdout".to_owned()).spawn(writing).is_ok() {
        let _ = written.recv_timeout(queue::PATIENCE);
    }
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

#[cfg(test)]
mod tests {
    use std::{env, process};

    use super::*;

    /// Set for the process that dies.
    const DIES: &str = "DIES_AFTER_A_PANIC";

    #[test]
    fn an_abort_after_a_panic_loses_no_line() {
        if env::var_os(DIES).is_some() {
            die();
        }
        let mut this = process::Command::new(env::current_exe().expect("the tests"));
        let this = this.args(["--exact", "logging::tests::an_abort_after_a_panic_loses_no_line"]).env(DIES, "1");
        let died = this.output().expect("it runs");
        let said = String::from_utf8_lossy(&died.stderr);
        assert!(!died.status.success() && said.contains("the last words"), "{}: {said}", died.status);
    }

    /// Leaves more in the queue than a pipe takes at once.
    fn die() -> ! {
        start_serving(None, "info", LogFormat::Text);
        for _ in 0..5_000 {
            remark(&"before".repeat(20));
        }
        let _ = std::panic::catch_unwind(|| {
            panic!("the last words");
        });
        process::abort()
    }
}
