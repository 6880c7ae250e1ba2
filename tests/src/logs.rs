//! A capture of everything the process logs, and of every value that a span holds, so that a scenario can look for what must never be
//! there.

use std::{
    collections::BTreeSet,
    fmt::Debug,
    io::{self, Write},
    sync::{Mutex, MutexGuard, PoisonError},
};

use tracing::{
    Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};
use tracing_subscriber::{
    EnvFilter, Layer, fmt,
    layer::{Context, SubscriberExt},
};

static KEPT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
/// Each once: a statement has the same name every time.
static VALUES: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// What the service and the libraries under it say at their most talkative. The frameworks' own chatter is the host's business.
const FILTER: &str =
    "off,tenant_auth=trace,tenant_auth_core=trace,tenant_auth_axum=trace,tenant_auth_actix=trace,sqlx=info,lettre=trace";

/// Keeps what is logged from now on.
pub(crate) fn keep() {
    let lines = fmt::layer().with_ansi(false).with_writer(|| Keeper);
    let subscriber = tracing_subscriber::registry().with(EnvFilter::new(FILTER)).with(lines).with(Values);
    tracing::subscriber::set_global_default(subscriber).expect("nobody else keeps the log");
}

/// Whether a text was logged so far, or stood in a span.
pub fn mention(text: &str) -> bool {
    values().iter().any(|value| value.contains(text)) || kept().windows(text.len()).any(|window| window == text.as_bytes())
}

/// The lines with this text.
pub(crate) fn lines_with(text: &str) -> Vec<String> {
    String::from_utf8_lossy(&kept()).lines().filter(|line| line.contains(text)).map(str::to_owned).collect()
}

/// Everything logged so far, and every value of a span.
pub fn all() -> Vec<u8> {
    let values: Vec<String> = values().iter().cloned().collect();
    [kept().clone(), values.join("\n").into_bytes()].concat()
}

/// Keeps the values of spans: a span that no line is written in would leave no trace in [`KEPT`].
struct Values;

impl<S: Subscriber> Layer<S> for Values {
    fn on_new_span(&self, attributes: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
        attributes.record(&mut Self);
    }

    fn on_record(&self, _: &Id, record: &Record<'_>, _: Context<'_, S>) {
        record.record(&mut Self);
    }
}

impl Visit for Values {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        values().insert(format!("{field}={value:?}"));
    }
}

struct Keeper;

impl Write for Keeper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        kept().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn values() -> MutexGuard<'static, BTreeSet<String>> {
    VALUES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn kept() -> MutexGuard<'static, Vec<u8>> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}
