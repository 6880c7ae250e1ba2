//! `POST /public/verify` against an endpoint that looks nothing up: with nothing in memory, one statement for each request, and from
//! memory.

use crate::{
    Failure,
    load::{Connection, Load, Round, Verifications},
    report::{Goal, Report},
    roles::{BareTold, Role},
    stage::{Engine, Served, Stage},
    statistics::{median, millis, percentile, ratio},
};

struct Subject {
    name: String,
    load: Load<Verifications>,
    rounds: Vec<Round>,
    _served: Served,
}

pub(crate) async fn measure(stage: &mut Stage, report: &mut Report) -> Result<(), Failure> {
    report.heading("verify");
    let bare = bare(stage, report).await?;
    let mut subjects = vec![subject(stage, "E, a bare axum endpoint".to_owned(), bare, Engine::Sqlite).await?];
    for engine in stage.engines() {
        let people = stage.few(engine).await?;
        let (cold, remembering) = (stage.serve(&people.database)?, stage.serve_remembering(&people.database)?);
        subjects.push(subject(stage, format!("verify, nothing in memory, {engine}"), cold, engine).await?);
        subjects.push(subject(stage, format!("verify, remembered, {engine}"), remembering, engine).await?);
    }
    for _ in 0..stage.options.rounds {
        for subject in &mut subjects {
            let round = subject.load.round().await?;
            subject.rounds.push(round);
        }
    }
    for subject in &subjects {
        report.micros(&subject.name, &subject.rounds);
    }
    let [bare, verified @ ..] = subjects.as_mut_slice() else { return Ok(()) };
    for (subject, goal) in verified.iter().zip([14.0, 75.0, 7.0, 75.0]) {
        let share = 100.0 * ratio(&bare.rounds, &subject.rounds);
        report.ratio(&format!("share of E, {}", subject.name), share, " %", Goal::AtLeast(goal));
    }
    for subject in verified {
        latency(stage, subject, report).await?;
    }
    Ok(())
}

/// At half of what it can do.
async fn latency(stage: &Stage, subject: &mut Subject, report: &mut Report) -> Result<(), Failure> {
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

async fn subject(stage: &mut Stage, name: String, served: Served, engine: Engine) -> Result<Subject, Failure> {
    let requests = stage.few(engine).await?.verifications();
    let scripts = Verifications::scripts(&requests, stage.options.connections);
    Ok(Subject {
        name,
        load: Load::open(served.target, scripts, stage.options.round()).await?,
        rounds: Vec::new(),
        _served: served,
    })
}
