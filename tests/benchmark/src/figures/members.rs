//! The list of an organization's members, ten and a thousand of them, against a bare endpoint that looks nothing up.

use super::verify;
use crate::{
    Failure,
    load::{Listings, Load, Round, Verifications},
    report::Report,
    stage::{Engine, Served, Stage},
    statistics::median,
};

/// How many members an answer holds.
const SIZES: [u32; 2] = [10, 1_000];

struct Subject {
    name: String,
    load: Load<Listings>,
    rounds: Vec<Round>,
}

pub(crate) async fn measure(stage: &mut Stage, report: &mut Report) -> Result<(), Failure> {
    report.heading("a list of members, of an organization of a thousand");
    let (connections, round) = (stage.options.connections, stage.options.round());
    let served: Served = verify::bare(stage, report).await?;
    let scripts = Verifications::scripts(&stage.few(Engine::Sqlite).await?.verifications(), connections);
    let mut bare = Load::open(served.target, scripts, round).await?;
    let (mut bare_rounds, mut services, mut subjects) = (Vec::new(), Vec::new(), Vec::new());
    for engine in stage.engines() {
        let crowd = stage.crowd(engine).await?;
        let served = stage.serve(&crowd.database)?;
        for size in SIZES {
            let scripts = Listings::scripts(&crowd.listings(size), connections);
            let load = Load::open(served.target, scripts, round).await?;
            subjects.push(Subject { name: format!("{size} members, {engine}"), load, rounds: Vec::new() });
        }
        services.push(served);
    }
    for _ in 0..stage.options.rounds {
        bare_rounds.push(bare.round().await?);
        for subject in &mut subjects {
            subject.rounds.push(subject.load.round().await?);
        }
    }
    report.micros("E, a bare axum endpoint", &bare_rounds);
    let of = |rounds: &[Round]| median(rounds.iter().map(|round| round.micros));
    for subject in &subjects {
        report.micros(&subject.name, &subject.rounds);
        report.note(&format!("that is {:.1} E", of(&subject.rounds) / of(&bare_rounds)));
    }
    Ok(())
}
