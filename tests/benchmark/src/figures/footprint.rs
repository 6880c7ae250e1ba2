//! What the program itself needs: its size, how soon it answers, its memory at rest and under load, and what a remembered session
//! takes. The program is the one that lies beside this one.

use std::time::Duration;

use crate::{
    Failure, cores,
    load::{Load, Logins, Verifications},
    program::{self, Program},
    report::{Goal, Report},
    stage::{People, Stage},
};

const MIB: f64 = 1024.0 * 1024.0;
/// Until what the start needed is given back.
const REST: Duration = Duration::from_secs(3);

pub(crate) async fn measure(stage: &mut Stage, report: &mut Report) -> Result<(), Failure> {
    report.heading("footprint of tenant-auth-server");
    let path = program::built()?;
    let Ok(file) = path.metadata() else {
        report.note(&format!("there is none beside this program: {}", program::BUILD));
        return Ok(());
    };
    report.ratio("the program, stripped", file.len() as f64 / MIB, " MiB", Goal::AtMost(20.0));
    for engine in stage.engines() {
        let people = stage.few(engine).await?;
        let server = Program::start(cores::on_both(&path), &people.database.url, None, &stage.master_key)?;
        let ready = server.until_it_answers().await?;
        report.ratio(
            &format!("from its start to the first answer, {engine}"),
            ready.as_secs_f64() * 1e3,
            " ms",
            Goal::AtMost(50.0),
        );
        tokio::time::sleep(REST).await;
        report.ratio(&format!("memory at rest, {engine}"), server.resident()?, " MiB", Goal::AtMost(25.0));
        load(stage, &people, &server).await?;
        report.ratio(&format!("memory under load, {engine}"), server.resident()?, " MiB", Goal::AtMost(64.0));
        if let Some(bytes) = server.bytes_of_a_session().await? {
            report.ratio(&format!("a remembered session and its token, {engine}"), bytes, " bytes", Goal::AtMost(1_024.0));
        }
    }
    Ok(())
}

/// Questions about everybody, and logins: what a busy server has in its memory.
async fn load(stage: &Stage, people: &People, server: &Program) -> Result<(), Failure> {
    let (target, round) = (server.target(), stage.options.round());
    let verify = Verifications::scripts(&people.verifications(), stage.options.connections);
    Load::open(target, verify, round).await?.round().await?;
    Load::open(target, Logins::scripts(&people.logins(), 4), round).await?.round().await?;
    Ok(())
}
