//! `POST /public/verify` from memory by the program itself, whose build is smaller than the benchmark's services, against the bare
//! endpoint. Beside a former build both are measured in one run, with PostgreSQL: of a SQLite file one process at a time remembers.

use std::path::PathBuf;

use super::verify;
use crate::{
    Failure, cores,
    load::{Load, Round, Verifications},
    program::{self, Program},
    report::{Goal, Report},
    stage::{Engine, Stage},
    statistics::ratio,
};

struct Subject {
    name: String,
    load: Load<Verifications>,
    rounds: Vec<Round>,
    _program: Option<Program>,
}

pub(crate) async fn measure(stage: &mut Stage, report: &mut Report) -> Result<(), Failure> {
    report.heading("verify by the program");
    let path = program::built()?;
    if !path.exists() {
        report.note(&format!("there is none beside this program: {}", program::BUILD));
        return Ok(());
    }
    let builds: Vec<(&str, PathBuf)> =
        [("", path)].into_iter().chain(stage.options.former.clone().map(|former| (", former build", former))).collect();
    let bare = verify::bare(stage, report).await?;
    let scripts = Verifications::scripts(&stage.few(Engine::Sqlite).await?.verifications(), stage.options.connections);
    let load = Load::open(bare.target, scripts, stage.options.round()).await?;
    let mut subjects = vec![Subject { name: "E, a bare axum endpoint".to_owned(), load, rounds: Vec::new(), _program: None }];
    for engine in stage.engines() {
        let at_once = if engine == Engine::Sqlite { 1 } else { builds.len() };
        for (build, path) in &builds[..at_once] {
            subjects.push(subject(stage, engine, build, path).await?);
        }
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
    let [bare, verified @ ..] = subjects.as_slice() else { return Ok(()) };
    for subject in verified {
        let share = 100.0 * ratio(&bare.rounds, &subject.rounds);
        report.ratio(&format!("share of E, {}", subject.name), share, " %", Goal::AtLeast(75.0));
    }
    Ok(())
}

async fn subject(stage: &mut Stage, engine: Engine, build: &str, path: &PathBuf) -> Result<Subject, Failure> {
    let people = stage.few(engine).await?;
    let program = Program::start(cores::on_servers(path), &people.database.url, stage.postmaster(engine), &stage.master_key)?;
    program.until_it_answers().await?;
    let scripts = Verifications::scripts(&people.verifications(), stage.options.connections);
    Ok(Subject {
        name: format!("verify, remembered, {engine}{build}"),
        load: Load::open(program.target(), scripts, stage.options.round()).await?,
        rounds: Vec::new(),
        _program: Some(program),
    })
}
