//! `POST /public/verify` against an endpoint that looks nothing up: with nothing in memory, one statement for each request, and from
//! memory.

use crate::{
    Failure,
    load::{Connection, Load, Round, Target, Verifications},
    report::{Goal, Report},
    roles::{BareTold, Role},
    stage::{Engine, Served, Stage},
    statistics::{median, millis, percentile, ratio},
};

/// The name of what the others are shares of.
pub(super) const E: &str = "E, a bare axum endpoint";

/// A server that is asked in turn with others.
pub(super) struct Subject<S> {
    name: String,
    load: Load<Verifications>,
    rounds: Vec<Round>,
    _served: S,
}

impl<S> Subject<S> {
    /// Opens the load on what is served there.
    pub(super) async fn of(stage: &mut Stage, name: String, target: Target, served: S, engine: Engine) -> Result<Self, Failure> {
        let requests = stage.few(engine).await?.verifications();
        let scripts = Verifications::scripts(&requests, stage.options.connections);
        Ok(Self { name, load: Load::open(target, scripts, stage.options.round()).await?, rounds: Vec::new(), _served: served })
    }
}

/// Asks each in turn, round by round, and reports what a request of each costs.
pub(super) async fn interleaved<S>(stage: &Stage, report: &mut Report, subjects: &mut [Subject<S>]) -> Result<(), Failure> {
    for _ in 0..stage.options.rounds {
        for subject in &mut *subjects {
            let round = subject.load.round().await?;
            subject.rounds.push(round);
        }
    }
    for subject in subjects {
        report.micros(&subject.name, &subject.rounds);
    }
    Ok(())
}

/// What a subject does, as a share of what the first one does.
pub(super) fn share<S>(report: &mut Report, bare: &Subject<S>, subject: &Subject<S>, goal: f64) {
    let share = 100.0 * ratio(&bare.rounds, &subject.rounds);
    report.ratio(&format!("share of E, {}", subject.name), share, " %", Goal::AtLeast(goal));
}

pub(crate) async fn measure(stage: &mut Stage, report: &mut Report) -> Result<(), Failure> {
    report.heading("verify");
    let bare = bare(stage, report).await?;
    let mut subjects = vec![Subject::of(stage, E.to_owned(), bare.target, bare, Engine::Sqlite).await?];
    for engine in stage.engines() {
        let people = stage.few(engine).await?;
        let (cold, remembering) = (stage.serve(&people.database)?, stage.serve_remembering(&people.database)?);
        subjects.push(Subject::of(stage, format!("verify, nothing in memory, {engine}"), cold.target, cold, engine).await?);
        subjects.push(Subject::of(stage, format!("verify, remembered, {engine}"), remembering.target, remembering, engine).await?);
    }
    interleaved(stage, report, &mut subjects).await?;
    let [bare, verified @ ..] = subjects.as_mut_slice() else { return Ok(()) };
    for (subject, goal) in verified.iter().zip([14.0, 75.0, 7.0, 75.0]) {
        share(report, bare, subject, goal);
    }
    for subject in verified {
        latency(stage, subject, report).await?;
    }
    Ok(())
}

/// At half of what it can do.
async fn latency(stage: &Stage, subject: &mut Subject<Served>, report: &mut Report) -> Result<(), Failure> {
    let rate = median(subject.rounds.iter().map(|round| round.rate)) / 2.0;
    let latencies = subject.load.steady(rate, stage.options.round() * 2).await?;
    let (half, most) = (millis(percentile(&latencies, 0.5)), millis(percentile(&latencies, 0.99)));
    report.note(&format!("{} at {rate:.0} requests a second, half of its capacity: p50 {half:.2} ms", subject.name));
    report.ratio(&format!("p99, {}", subject.name), most, " ms", Goal::AtMost(20.0));
    Ok(())
}

/// The bare endpoint, which gives the service's own answer.
pub(super) async fn bare(stage: &mut Stage, report: &mut Report) -> Result<Served, Failure> {
    let people = stage.few(Engine::Sqlite).await?;
    let (served, requests) = (stage.serve(&people.database)?, people.verifications());
    let request = requests.first().ok_or("nobody is logged in")?;
    let mut connection = Connection::open(served.target.address).await?;
    let answer = connection.exchange(request).await?;
    report.note(&format!("a request of {} bytes, an answer of {}", request.len(), answer.head.len() + answer.body.len()));
    let headers = answer.head.lines().skip(1).filter_map(|line| line.split_once(": "));
    // The server adds these two by itself.
    let headers = headers.filter(|(name, _)| !matches!(*name, "content-length" | "date"));
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Served::start(Role::Bare, &BareTold { headers, body: answer.body.to_owned() }, None)
}
