//! The metrics text that Prometheus scrapes: the counters of `metrics` and, looked up at each scrape, whether the database answers,
//! its connections and the lengths of the queues. The database has two seconds. When it does not answer, the text says so and
//! leaves out what only the database knows, so that the scrape itself is never late.

use std::{sync::atomic::AtomicU64, time::Duration};

use prometheus_client::{
    encoding::{EncodeLabelSet, text},
    metrics::{family::Family, gauge::Gauge},
    registry::{Registry, Unit},
};

use crate::{
    error::Error,
    memory::Holding,
    metrics::{Label, PREFIX, WorkerLoop},
    service::{Metrics, TenantAuth},
    store::Pool,
    time::Timestamp,
};

/// The time limit of the database queries.
const PATIENCE: Duration = Duration::from_secs(2);

/// The length of a queue and the age of its oldest row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Queue {
    pub(crate) waiting: u64,
    pub(crate) oldest: Option<Timestamp>,
}

type Fraction = Gauge<f64, AtomicU64>;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Connections {
    engine: &'static str,
    pool: &'static str,
    state: &'static str,
}

impl TenantAuth {
    /// The metrics of this process as OpenMetrics text (media type `application/openmetrics-text; version=1.0.0; charset=utf-8`).
    /// It is written within about two seconds, also while the database does not answer. Names and label values are listed in
    /// `operations.md`; no label ever holds a value that came with a request.
    ///
    /// # Errors
    /// [`Error::Internal`] when the text cannot be written, which is a defect.
    pub async fn metrics_text(&self) -> Result<String, Error> {
        let (queues, tried) = tokio::join!(tokio::time::timeout(PATIENCE, self.queues()), self.readiness());
        let queues = match queues {
            Ok(read) => read.ok(),
            Err(_) => None,
        };
        let metrics = self.metrics();
        let now = self.now();
        let mut seen = Registry::with_prefix(PREFIX);
        let up: Gauge = Gauge::default();
        up.set(i64::from(queues.is_some()));
        seen.register("database_up", "Whether the database answers", up);
        let writable: Gauge = Gauge::default();
        writable.set(i64::from(tried.is_writable));
        seen.register("database_writable", "Whether the database takes writes, tried once a second at most", writable);
        let ready: Gauge = Gauge::default();
        ready.set(i64::from(tried.is_ready()));
        let help = "Whether requests can be served: writes, the signing keys and the look for changes, tried once a second at most";
        seen.register("ready", help, ready);
        pools(&mut seen, &self.store().pools());
        memory(&mut seen, &self.memory().holdings());
        for (name, waiting) in queues.into_iter().flatten() {
            queue(&mut seen, name, waiting, now);
        }
        times(&mut seen, metrics);
        rounds(&mut seen, metrics, self.steady());
        let leap = Fraction::default();
        leap.set(self.clock_leap().unwrap_or_default().as_secs_f64());
        seen.register_with_unit("clock_leap", "How far the clock was set forward since the start", Unit::Seconds, leap);
        let mut written = String::new();
        metrics.write(&mut written).map_err(Error::internal)?;
        text::encode_registry(&mut written, &seen).map_err(Error::internal)?;
        text::encode_eof(&mut written).map_err(Error::internal)?;
        Ok(written)
    }

    /// The queues: mails and links to sign up with that were tried, requests for reset mails, events not yet turned into deliveries, and deliveries. A
    /// delivery waits from the moment it is due.
    async fn queues(&self) -> Result<[(&'static str, Queue); 4], Error> {
        let mut reader = self.store().read().await?;
        let queue = |(waiting, oldest)| Queue { waiting, oldest };
        Ok([
            ("mails", queue(reader.mails().waiting().await?)),
            ("reset_requests", queue(reader.links().waiting_requests().await?)),
            ("events", queue(reader.events().waiting().await?)),
            ("webhook_deliveries", queue(reader.delivery_queue().waiting().await?)),
        ])
    }
}

fn pools(seen: &mut Registry, pools: &[Pool]) {
    let connections = Family::<Connections, Gauge>::default();
    let most = Family::<[(&str, &str); 2], Gauge>::default();
    for Pool { engine, name, most: limit, open, idle } in pools {
        let gauge = |state| connections.get_or_create_owned(&Connections { engine, pool: name, state });
        gauge("idle").set(i64::from(*idle));
        gauge("in_use").set(i64::from(open.saturating_sub(*idle)));
        most.get_or_create(&[("engine", *engine), ("pool", *name)]).set(i64::from(*limit));
    }
    seen.register("database_connections", "Open connections", connections);
    seen.register("database_connections_max", "The most connections a pool opens", most);
}

fn memory(seen: &mut Registry, holdings: &[Holding]) {
    let entries = Family::<[(&str, &str); 1], Gauge>::default();
    let bytes = Family::<[(&str, &str); 1], Gauge>::default();
    for Holding { kind, entries: number, bytes: size } in holdings {
        entries.get_or_create(&[("kind", *kind)]).set(i64::try_from(*number).unwrap_or(i64::MAX));
        bytes.get_or_create(&[("kind", *kind)]).set(i64::try_from(*size).unwrap_or(i64::MAX));
    }
    seen.register("memory_entries", "What is remembered, those included that fell and were not replaced yet", entries);
    seen.register("memory_bytes", "The bytes that they hold, estimated", bytes);
}

fn queue(seen: &mut Registry, name: &str, queue: Queue, now: Timestamp) {
    let waiting: Gauge = Gauge::default();
    waiting.set(i64::try_from(queue.waiting).unwrap_or(i64::MAX));
    seen.register(format!("{name}_waiting"), "How many wait, counted up to 10000", waiting);
    let age = queue.oldest.map_or(Duration::ZERO, |oldest| now.since(oldest));
    let oldest = Fraction::default();
    oldest.set(age.as_secs_f64());
    seen.register_with_unit(format!("{name}_oldest_waiting"), "How long the oldest has waited", Unit::Seconds, oldest);
}

fn times(seen: &mut Registry, metrics: &Metrics) {
    let started = Fraction::default();
    started.set(Duration::from_millis(metrics.started_at().millis().unsigned_abs()).as_secs_f64());
    seen.register_with_unit("process_start_time", "When the service started, since the Unix epoch", Unit::Seconds, started);
}

fn rounds(seen: &mut Registry, metrics: &Metrics, steady: Duration) {
    let ages = Family::<[(&str, &str); 1], Fraction>::default();
    for (of, age) in metrics.rounds().ages(steady) {
        ages.get_or_create(&[(WorkerLoop::NAME, of.as_str())]).set(age.as_secs_f64());
    }
    let help = "How long ago each loop of this process's worker last did what was due";
    seen.register_with_unit("worker_last_round_age", help, Unit::Seconds, ages);
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use super::*;
    use crate::{Config, MasterKeys, Sqlite, metrics::DeliveryOutcome};

    #[tokio::test]
    async fn deliveries_are_counted_and_their_queue_is_told() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("metrics.db");
        let auth = TenantAuth::builder()
            .store(Sqlite::open(path.to_str().expect("a text path")).await.expect("opens"))
            .master_keys(MasterKeys::parse(&MasterKeys::generate_text()).expect("a generated key"))
            .config(Config::new("https://auth.example.com".parse().expect("a URL")))
            .build()
            .await
            .expect("builds");
        auth.metrics().delivery(DeliveryOutcome::Blocked);
        let text = auth.metrics_text().await.expect("is written");
        for line in [
            "tenant_auth_webhook_deliveries_total{outcome=\"blocked\"} 1",
            "tenant_auth_webhook_deliveries_total{outcome=\"succeeded\"} 0",
            "tenant_auth_webhook_deliveries_waiting 0",
            "tenant_auth_webhook_deliveries_oldest_waiting_seconds 0.",
            "tenant_auth_events_waiting 0",
        ] {
            assert!(text.contains(&format!("\n{line}")), "{line} is missing in:\n{text}");
        }
    }
}
