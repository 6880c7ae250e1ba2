//! Webhooks from the acknowledgement of a change to the arrival of its event: one at a time, a thousand beside endpoints that hang
//! and fail, and one event with a thousand subscriptions; what that costs in CPU time and memory, and what an idle worker costs.

use std::time::{Duration, Instant};

use crate::{
    Failure, cpu,
    load::{Arrivals, Connection, Mood, Receiver, Target},
    report::{Goal, Report},
    stage::{Engine, Stage, Subscribers},
    statistics::{millis, percentile},
};

/// Events one at a time.
const ALONE: usize = 100;
/// Events as fast as one client makes them.
const EVENTS: usize = 1_000;
/// Endpoints that are well beside the one that hangs and the one that fails.
const WELL: usize = 8;
/// Subscriptions of one event.
const WIDE: usize = 1_000;
/// How long the idle worker is watched.
const IDLE: Duration = Duration::from_secs(20);
/// What has not arrived then is late, and said to be missing.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) async fn measure(stage: &mut Stage, report: &mut Report) -> Result<(), Failure> {
    report.heading(&format!(
        "webhooks over plain http; {EVENTS} events to {WELL} endpoints beside one that hangs and one that fails"
    ));
    for engine in stage.engines() {
        of(stage, engine, report).await?;
    }
    Ok(())
}

async fn of(stage: &Stage, engine: Engine, report: &mut Report) -> Result<(), Failure> {
    let database = stage.database(engine, "deliveries").await?;
    let (well, ill) = (Arrivals::default(), Arrivals::default());
    let mut receivers = Vec::new();
    for _ in 0..WELL {
        receivers.push(Receiver::start(Mood::Well, &well).await?);
    }
    let ailing = [Receiver::start(Mood::Hanging, &ill).await?, Receiver::start(Mood::Failing, &ill).await?];
    let urls = |count: usize| (0..count).map(|index| receivers[index % WELL].url(&index.to_string())).collect::<Vec<_>>();
    let settle = async |slug: &str, urls: &[String]| Subscribers::settle(&database, &stage.master_key, slug, urls).await;
    let silent = settle("silent", &[]).await?;
    let quiet = settle("quiet", &urls(1)).await?;
    let wide = settle("wide", &urls(WIDE)).await?;
    let mut all = urls(WELL);
    all.extend(ailing.iter().map(|receiver| receiver.url("")));
    let busy = settle("busy", &all).await?;

    let served = stage.serve_without_hash(&database)?;
    let target = served.target;
    let mut client = Connection::open(target.address).await?;
    for counter in 0..ALONE {
        change(&mut client, &silent, counter).await?; // warms up
    }
    idle(target, engine, report).await?;
    one_at_a_time(&mut client, &quiet, &well, engine, report).await?;
    to_many(&mut client, &wide, &well, (target, engine), report).await?;
    let (before, started) = (target.watched.used()?, Instant::now());
    for counter in 0..EVENTS {
        change(&mut client, &silent, counter).await?;
    }
    let changes = target.watched.used()?.since(&before);
    report.note(&format!("{engine}: changes nobody hears of: {:.0}/s", EVENTS as f64 / started.elapsed().as_secs_f64()));
    storm(&mut client, &busy, [&well, &ill], (target, engine, changes), report).await
}

/// Makes a change; when it was acknowledged.
async fn change(client: &mut Connection, subscribers: &Subscribers, counter: usize) -> Result<Instant, Failure> {
    client.exchange(&subscribers.change(counter)).await?.expect(r#"{"status":"success""#)?;
    Ok(Instant::now())
}

async fn idle(target: Target, engine: Engine, report: &mut Report) -> Result<(), Failure> {
    let before = target.watched.used()?;
    tokio::time::sleep(IDLE).await;
    let [server, database] = target.watched.used()?.since(&before).map(|micros| micros / 1e3 / IDLE.as_secs_f64());
    report.note(&format!("{engine}: an idle service with its worker: {server:.2} ms of CPU a second, its database {database:.2}"));
    Ok(())
}

async fn one_at_a_time(
    client: &mut Connection,
    subscribers: &Subscribers,
    arrivals: &Arrivals,
    engine: Engine,
    report: &mut Report,
) -> Result<(), Failure> {
    let mut latencies = Vec::new();
    for counter in 0..ALONE {
        let acknowledged = change(client, subscribers, counter).await?;
        arrivals.reach(1, PATIENCE).await;
        latencies.extend(arrivals.take().iter().map(|(_, arrived)| arrived.saturating_duration_since(acknowledged)));
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    let missing = ALONE - latencies.len();
    report.note(&format!("{engine}: one at a time: {}, {missing} missing", spread(&latencies)));
    report.ratio(&format!("its p95, {engine}"), millis(percentile(&latencies, 0.95)), " ms", Goal::AtMost(250.0));
    Ok(())
}

async fn to_many(
    client: &mut Connection,
    subscribers: &Subscribers,
    arrivals: &Arrivals,
    (target, engine): (Target, Engine),
    report: &mut Report,
) -> Result<(), Failure> {
    let (memory, before) = (cpu::resident(target.watched.server)?, target.watched.used()?);
    let acknowledged = change(client, subscribers, 0).await?;
    arrivals.reach(WIDE, PATIENCE).await;
    let (took, grown) = (acknowledged.elapsed(), cpu::resident(target.watched.server)? - memory);
    let missing = WIDE.saturating_sub(arrivals.take().len());
    let each: f64 = target.watched.used()?.since(&before).iter().sum::<f64>() / WIDE as f64;
    report.note(&format!(
        "{engine}: one event with {WIDE} subscriptions: {:.0} ms to the last, {missing} missing, {each:.0} µs each, memory {grown:+.1} MiB",
        millis(took)
    ));
    Ok(())
}

/// `changes` is what the changes alone cost.
async fn storm(
    client: &mut Connection,
    subscribers: &Subscribers,
    [well, ill]: [&Arrivals; 2],
    (target, engine, changes): (Target, Engine, [f64; 2]),
    report: &mut Report,
) -> Result<(), Failure> {
    let (memory, before, started) = (cpu::resident(target.watched.server)?, target.watched.used()?, Instant::now());
    let mut acknowledged = Vec::with_capacity(EVENTS);
    for counter in 0..EVENTS {
        acknowledged.push(change(client, subscribers, counter).await?);
    }
    let rate = EVENTS as f64 / started.elapsed().as_secs_f64();
    well.reach(EVENTS * WELL, PATIENCE).await;
    let used = target.watched.used()?.since(&before);
    let now = cpu::resident(target.watched.server)?;
    let (arrived, attempts) = (well.take(), ill.count());
    let late = |(counter, arrived): &(usize, Instant)| {
        arrived.saturating_duration_since(acknowledged.get(*counter).copied().unwrap_or(started))
    };
    let latencies: Vec<Duration> = arrived.iter().map(late).collect();
    let deliveries = (arrived.len() + attempts) as f64;
    let missing = (EVENTS * WELL).saturating_sub(arrived.len());
    report.note(&format!("{engine}: {rate:.0} changes/s: {}, {missing} missing", spread(&latencies)));
    report.ratio(&format!("its p95, {engine}"), percentile(&latencies, 0.95).as_secs_f64(), " s", Goal::AtMost(2.0));
    let [server, database] = [0, 1].map(|part| (used[part] - changes[part]) / deliveries);
    report.ratio(&format!("CPU for each delivery, {engine}"), server + database, " µs", Goal::AtMost(80.0));
    report.note(&format!(
        "{engine}: of that the server {server:.1} µs, its database {database:.1}; memory {memory:.1} MiB, then {now:.1} MiB"
    ));
    Ok(())
}

fn spread(latencies: &[Duration]) -> String {
    let at = |share| millis(percentile(latencies, share));
    format!("p50 {:.1} ms, p95 {:.1} ms, max {:.1} ms", at(0.5), at(0.95), at(1.0))
}
