//! `POST /public/verify` from memory by the program itself, whose build is smaller than the benchmark's services, against the bare
//! endpoint. Beside a former build both are measured in one run, with PostgreSQL: of a SQLite file one process at a time remembers.

use std::path::{Path, PathBuf};

use super::verify::{self, Subject, interleaved, share};
use crate::{
    Failure, cores,
    program::{self, Program},
    report::Report,
    stage::{Engine, Stage},
};

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
    let mut subjects = vec![Subject::of(stage, verify::E.to_owned(), bare.target, None, Engine::Sqlite).await?];
    for engine in stage.engines() {
        let at_once = if engine == Engine::Sqlite { 1 } else { builds.len() };
        for (build, path) in &builds[..at_once] {
            let program = started(stage, engine, path).await?;
            let name = format!("verify, remembered, {engine}{build}");
            subjects.push(Subject::of(stage, name, program.target(), Some(program), engine).await?);
        }
    }
    interleaved(stage, report, &mut subjects).await?;
    let [bare, verified @ ..] = subjects.as_slice() else { return Ok(()) };
    for subject in verified {
        share(report, bare, subject, 75.0);
    }
    Ok(())
}

async fn started(stage: &mut Stage, engine: Engine, path: &Path) -> Result<Program, Failure> {
    let people = stage.few(engine).await?;
    let program = Program::start(cores::on_servers(path), &people.database.url, stage.postmaster(engine), &stage.master_key)?;
    program.until_it_answers().await?;
    Ok(program)
}
