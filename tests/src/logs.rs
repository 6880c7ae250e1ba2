//! A capture of everything the process logs, and of every value that a span holds, so that a scenario can look for what must never be
//! there.

use std::{
    collections::BTreeSet,
    fmt::Debug,
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError},
};

use memchr::memmem;
use tracing::{
    Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};
use tracing_subscriber::{
    Layer,
    filter::{LevelFilter, Targets},
    fmt,
    layer::{Context, SubscriberExt},
};

static LINES: Mutex<Pages> = Mutex::new(Pages::NONE);
static VALUES: Mutex<Values> = Mutex::new(Values { known: BTreeSet::new(), pages: Pages::NONE });

/// How long a page becomes before the next one is begun, in bytes.
const PAGE: usize = 1 << 20;

/// A text of hundreds of MB that many write while one searches it. The pages that are full are shared with who searches, so that
/// nobody waits for a search: every scenario logs, and one that waited for seconds would fail by that alone.
#[derive(Clone)]
struct Pages {
    full: Vec<Arc<[u8]>>,
    last: Vec<u8>,
}

/// What the service and the libraries under it say at their most talkative. The frameworks' own chatter is the host's business, and the
/// span of a statement holds the statement's name and a number, of which each test has hundreds.
const TALKATIVE: [(&str, LevelFilter); 7] = [
    ("tenant_auth", LevelFilter::TRACE),
    ("tenant_auth::statements", LevelFilter::OFF),
    ("tenant_auth_core", LevelFilter::TRACE),
    ("tenant_auth_axum", LevelFilter::TRACE),
    ("tenant_auth_actix", LevelFilter::TRACE),
    ("sqlx", LevelFilter::INFO),
    ("lettre", LevelFilter::TRACE),
];

/// Keeps what is logged from now on.
pub(crate) fn keep() {
    let lines = fmt::layer().with_ansi(false).with_writer(|| Keeper);
    let subscriber = tracing_subscriber::registry().with(Targets::new().with_targets(TALKATIVE)).with(lines).with(Spans);
    tracing::subscriber::set_global_default(subscriber).expect("nobody else keeps the log");
}

/// Whether a text was logged so far, or stood in a span.
pub fn mention(text: &str) -> bool {
    !mentioned(&[text]).is_empty()
}

/// Which of these texts were logged so far, or stood in a span.
pub fn mentioned<'a>(texts: &[&'a str]) -> Vec<&'a str> {
    let (lines, values) = (lines(), values());
    let finders: Vec<_> = texts.iter().map(|text| (*text, memmem::Finder::new(*text))).collect();
    let pages = values.iter().chain(lines.iter());
    let found = pages.flat_map(|page| finders.iter().filter(|(_, finder)| finder.find(page).is_some()).map(|(text, _)| *text));
    found.collect::<BTreeSet<_>>().into_iter().collect()
}

/// The lines with this text.
pub fn lines_with(text: &str) -> Vec<String> {
    let (finder, lines) = (memmem::Finder::new(text), lines());
    let pages = lines.iter().filter(|page| finder.find(page).is_some());
    let lines = pages.flat_map(|page| page.split(|byte| *byte == b'\n'));
    lines.filter(|line| finder.find(line).is_some()).map(|line| String::from_utf8_lossy(line).into_owned()).collect()
}

impl Pages {
    const NONE: Self = Self { full: Vec::new(), last: Vec::new() };

    /// Adds a line, which is never divided.
    fn write(&mut self, line: &[u8]) {
        self.last.extend_from_slice(line);
        if self.last.len() >= PAGE {
            self.full.push(std::mem::take(&mut self.last).into());
        }
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.full.iter().map(|page| &**page).chain([&*self.last])
    }
}

/// The values of spans, each once: a span that no line is written in would leave no trace in [`LINES`].
struct Values {
    /// A statement has the same name every time.
    known: BTreeSet<String>,
    pages: Pages,
}

/// Notes the values of spans.
struct Spans;

impl<S: Subscriber> Layer<S> for Spans {
    fn on_new_span(&self, attributes: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
        attributes.record(&mut Self);
    }

    fn on_record(&self, _: &Id, record: &Record<'_>, _: Context<'_, S>) {
        record.record(&mut Self);
    }
}

impl Visit for Spans {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let line = format!("{field}={value:?}\n");
        let mut values = VALUES.lock().unwrap_or_else(PoisonError::into_inner);
        if !values.known.contains(&line) {
            values.pages.write(line.as_bytes());
            values.known.insert(line);
        }
    }
}

struct Keeper;

impl Write for Keeper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LINES.lock().unwrap_or_else(PoisonError::into_inner).write(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn lines() -> Pages {
    LINES.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

fn values() -> Pages {
    VALUES.lock().unwrap_or_else(PoisonError::into_inner).pages.clone()
}
